/* SPDX-License-Identifier: BSD-3-Clause */
/* Records that wait: taken in the order of time, with no more memory than they need. */
#include "backend/perf_queue.h"
#include "support/scene.h"
#include "support/unmarked.h"

#include <string.h>

#define RING_BYTES 4096

struct note {
	struct perf_event_header header;
	uint64_t number;
	struct ps__record_trailer trailer;
};

static struct {
	struct perf_event_mmap_page page;
	char data[RING_BYTES];
} memory;

static void put(struct ps__queue *queue, uint64_t number, uint64_t time)
{
	struct note note = {.header = {.type = PERF_RECORD_COMM, .size = sizeof note},
	                    .number = number,
	                    .trailer = {.time = time}};
	struct ps__ring ring = {.page = &memory.page,
	                        .data_offset = offsetof(__typeof__(memory), data),
	                        .data_bytes = RING_BYTES};

	memcpy(memory.data, &note, sizeof note);
	ck_assert(ps__queue_take(&ring, &note.header, queue));
}

static uint64_t number_of(const struct ps__queue *queue, size_t index)
{
	struct note note;

	memcpy(&note, ps__queue_bytes(queue, index), sizeof note);
	return note.number;
}

START_TEST(what_waits_keeps_its_place_and_takes_no_more_and_more_memory)
{
	struct ps__queue queue = {0};

	/* The newest one always waits for the next look. */
	put(&queue, 0, 0);
	for (uint64_t number = 1; number < 10000; number += 2) {
		put(&queue, number + 1, number + 1);
		put(&queue, number, number);
		ps__queue_sort(&queue);
		ck_assert_uint_eq(queue.count, 3);
		for (size_t index = 0; index < 3; index++)
			ck_assert_uint_eq(number_of(&queue, index), number - 1 + index);
		ps__queue_drop(&queue, 2);
	}
	ck_assert_uint_eq(number_of(&queue, 0), 10000);
	ck_assert_uint_le(queue.bytes_room, 64 * sizeof(struct note));
	ps__queue_clear(&queue);
}
END_TEST

START_TEST(times_are_those_of_the_process)
{
	struct ps__queue queue = {.shift_ns = (uint64_t)-5};

	put(&queue, 1, 12);
	ck_assert_uint_eq(queue.records[0].time, 7);
	ps__queue_clear(&queue);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("queue");
	TCase *tests = scene_case(suite, "queue");

	tcase_add_test(tests, what_waits_keeps_its_place_and_takes_no_more_and_more_memory);
	tcase_add_test(tests, times_are_those_of_the_process);
	return scene_run(suite);
}

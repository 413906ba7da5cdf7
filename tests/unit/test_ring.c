/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring whose head is garbage: the kernel never writes more than the ring holds, and whatever
 * stands there, a look at the ring ends, says that records may be missing, and reads nothing beyond
 * it. Good rings are in test_switch_ring.c.
 */
#include "locate/ring.h"
#include "support/scene.h"

#include <stdlib.h>

#define PAGE_BYTES   4096u
#define RING_BYTES   4096u
#define RECORD_BYTES 16u

static struct ps__ring ring;
static size_t taken;

/* Full of good records: only the head tells where they end. */
static void setup_at(uint64_t position)
{
	static const struct perf_event_header header = {.type = PERF_RECORD_SWITCH,
	                                                .size = RECORD_BYTES};
	unsigned char *memory = calloc(1, PAGE_BYTES + RING_BYTES);

	ck_assert_ptr_nonnull(memory);
	for (size_t offset = 0; offset < RING_BYTES; offset += RECORD_BYTES)
		memcpy(memory + PAGE_BYTES + offset, &header, sizeof header);
	ring = (struct ps__ring){.page = (void *)memory,
	                         .data_offset = PAGE_BYTES,
	                         .data_bytes = RING_BYTES,
	                         .seen = position};
	ring.page->data_head = position;
	ring.page->data_tail = position;
	taken = 0;
}

static void teardown(void)
{
	free(ring.page);
}

static bool take(const struct ps__ring *from, const struct perf_event_header *header, void *context)
{
	ck_assert_ptr_eq(from, &ring);
	ck_assert_ptr_null(context);
	ck_assert_uint_le(header->size, RING_BYTES);
	taken++;
	ck_assert_uint_le(taken * RECORD_BYTES, RING_BYTES);
	return true;
}

static void check_next_record_is_found(void)
{
	taken = 0;
	ring.page->data_head += RECORD_BYTES;
	ck_assert(ps__ring_has_records(&ring));
	ck_assert(ps__ring_drain(&ring, RECORD_BYTES, take, NULL));
	ck_assert_uint_eq(taken, 1);
}

static const uint64_t wrong_steps[] = {RING_BYTES + RECORD_BYTES, UINT64_C(1) << 40,
                                       UINT64_C(1) << 63, (uint64_t)0 - RECORD_BYTES};

START_TEST(a_head_that_no_kernel_writes_ends_the_look_and_is_told)
{
	setup_at(RING_BYTES * 5);
	ring.page->data_head += wrong_steps[_i];
	ck_assert(!ps__ring_drain(&ring, RECORD_BYTES, take, NULL));
	ck_assert_uint_eq(taken, 0);
	/* Not again and again. */
	ck_assert(!ps__ring_has_records(&ring));
	ck_assert_uint_eq(ring.page->data_tail, ring.page->data_head);
	check_next_record_is_found();
	teardown();
}
END_TEST

START_TEST(a_record_larger_than_the_ring_is_not_taken)
{
	static const struct perf_event_header large = {.type = PERF_RECORD_SWITCH,
	                                               .size = 2 * RING_BYTES};

	setup_at(0);
	memcpy((char *)ring.page + PAGE_BYTES, &large, sizeof large);
	ring.page->data_head = 2 * RING_BYTES;
	ck_assert(!ps__ring_drain(&ring, RECORD_BYTES, take, NULL));
	ck_assert_uint_eq(taken, 0);
	teardown();
}
END_TEST

START_TEST(a_ring_that_is_full_to_the_last_byte_is_read_once)
{
	setup_at(RING_BYTES - RECORD_BYTES);
	ring.page->data_head += RING_BYTES;
	ck_assert(!ps__ring_drain(&ring, RECORD_BYTES, take, NULL));
	ck_assert_uint_eq(taken, RING_BYTES / RECORD_BYTES);
	check_next_record_is_found();
	teardown();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring");
	TCase *cases = tcase_create("damaged");

	tcase_add_loop_test(cases, a_head_that_no_kernel_writes_ends_the_look_and_is_told, 0,
	                    sizeof wrong_steps / sizeof wrong_steps[0]);
	tcase_add_test(cases, a_record_larger_than_the_ring_is_not_taken);
	tcase_add_test(cases, a_ring_that_is_full_to_the_last_byte_is_read_once);
	suite_add_tcase(suite, cases);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watch's ring, made by hand: records that wrap around, records that were lost or are damaged,
 * and losses that happen while it is read. What can't be told must be said, and nothing beyond the
 * ring is looked at.
 */
#include "locate/switch_ring.h"
#include "support/scene.h"
#include "support/unmarked.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE_BYTES   4096u
#define RING_BYTES   8192u
#define SWITCH_BYTES 24u

/* A ring as the kernel fills it: never over what the reader has not taken yet. */
struct ring {
	struct ps__switch_ring switches;
	unsigned char *memory;
	uint64_t lost;
};

static struct ring ring;

struct visits {
	int cpus[1024];
	size_t count;
};

static void note(const struct ps__visit *visit, void *context)
{
	struct visits *visits = context;

	ck_assert_uint_lt(visits->count, 1024);
	visits->cpus[visits->count++] = visit->cpu;
}

/* Both numbers of the ring begin here: any place is as good as 0. */
static void setup(uint64_t position)
{
	ring.memory = calloc(1, PAGE_BYTES + RING_BYTES);
	ck_assert_ptr_nonnull(ring.memory);
	ring.lost = 0;
	ring.switches = (struct ps__switch_ring){.fd = 3,
	                                         .ring = {.page = (void *)ring.memory,
	                                                  .data_offset = PAGE_BYTES,
	                                                  .data_bytes = RING_BYTES,
	                                                  .seen = position}};
	ring.switches.ring.page->data_head = position;
	ring.switches.ring.page->data_tail = position;
}

static void teardown(void)
{
	free(ring.memory);
}

/* As the kernel: one byte always stays free. */
static bool put(const void *record, size_t size_bytes)
{
	struct perf_event_mmap_page *page = ring.switches.ring.page;

	if (page->data_head + size_bytes - page->data_tail >= RING_BYTES)
		return false;
	for (size_t i = 0; i < size_bytes; i++)
		ring.memory[PAGE_BYTES + (page->data_head + i) % RING_BYTES] =
		    ((const unsigned char *)record)[i];
	page->data_head += size_bytes;
	return true;
}

struct record {
	struct perf_event_header header;
	uint64_t words[7];
};

static void put_switch(int cpu)
{
	struct record record = {.header = {.type = PERF_RECORD_SWITCH, .size = SWITCH_BYTES},
	                        .words = {0, (uint32_t)cpu}};
	struct record lost = {.header = {.type = PERF_RECORD_LOST, .size = 40},
	                      .words = {1, ring.lost}};

	if (ring.lost && put(&lost, 40))
		ring.lost = 0;
	if (ring.lost || !put(&record, SWITCH_BYTES))
		ring.lost++;
}

static void put_record(uint32_t type, uint16_t size_bytes)
{
	struct record record = {.header = {.type = type, .size = size_bytes}};

	ck_assert(put(&record, size_bytes < 8 ? 8 : size_bytes > 64 ? 64 : size_bytes));
}

START_TEST(records_are_visited_oldest_first_and_once)
{
	struct visits visits = {.count = 0};

	setup(0);
	ck_assert(!ps__switch_ring_has_moved(&ring.switches));
	for (int cpu = 5; cpu < 9; cpu++)
		put_switch(cpu);
	ck_assert(ps__switch_ring_has_moved(&ring.switches));
	ck_assert(ps__switch_ring_drain(&ring.switches, note, &visits));
	ck_assert_uint_eq(visits.count, 4);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(visits.cpus[i], 5 + i);
	ck_assert(!ps__switch_ring_has_moved(&ring.switches));
	ck_assert_uint_eq(ring.switches.ring.page->data_tail, ring.switches.ring.page->data_head);
	ck_assert(ps__switch_ring_drain(&ring.switches, note, &visits));
	ck_assert_uint_eq(visits.count, 4);
	teardown();
}
END_TEST

/* _i: where in the ring it begins, so that headers and bodies are cut at every place. */
START_TEST(records_that_wrap_around_are_whole)
{
	struct visits visits = {.count = 0};

	setup((uint64_t)RING_BYTES * 1000000 - (uint64_t)_i);
	for (int cpu = 0; cpu < 8; cpu++)
		put_switch(1000 + cpu);
	ck_assert(ps__switch_ring_drain(&ring.switches, note, &visits));
	ck_assert_uint_eq(visits.count, 8);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(visits.cpus[i], 1000 + i);
	teardown();
}
END_TEST

/* _i: switches. Either all of them were visited, or the answer is that some may be missing. */
START_TEST(a_full_ring_says_so_before_the_kernel_does)
{
	struct visits visits = {.count = 0};

	setup(24);
	for (int i = 0; i < _i; i++)
		put_switch(i);
	bool complete = ps__switch_ring_drain(&ring.switches, note, &visits);
	ck_assert_msg(!complete || visits.count == (size_t)_i, "%zu of %d", visits.count, _i);
	teardown();
}
END_TEST

START_TEST(a_ring_of_ordinary_fullness_is_complete)
{
	struct visits visits = {.count = 0};

	setup(0);
	for (unsigned i = 0; i < RING_BYTES / SWITCH_BYTES - 6; i++)
		put_switch(1);
	ck_assert(ps__switch_ring_drain(&ring.switches, note, &visits));
	teardown();
}
END_TEST

START_TEST(lost_records_are_told_once_and_the_next_ones_are_complete)
{
	struct visits visits = {.count = 0};

	setup(0);
	for (unsigned i = 0; i < 2 * RING_BYTES / SWITCH_BYTES; i++)
		put_switch(1);
	ck_assert(!ps__switch_ring_drain(&ring.switches, note, &visits));
	put_switch(2); /* after the kernel's word of the lost ones, which are those from before */
	ck_assert(ps__switch_ring_drain(&ring.switches, note, &visits));
	ck_assert_int_eq(visits.cpus[visits.count - 1], 2);
	put_switch(3);
	ck_assert(ps__switch_ring_drain(&ring.switches, note, &visits));
	ck_assert_int_eq(visits.cpus[visits.count - 1], 3);
	teardown();
}
END_TEST

START_TEST(lost_records_that_nobody_told_of_are_told)
{
	struct visits visits = {.count = 0};
	struct record lost = {.header = {.type = PERF_RECORD_LOST, .size = 40}, .words = {1, 5}};

	setup(0);
	ck_assert(put(&lost, 40));
	ck_assert(!ps__switch_ring_drain(&ring.switches, note, &visits));
	/* And a second time behind records for which there was room. */
	for (unsigned i = 0; i < 2 * RING_BYTES / SWITCH_BYTES; i++)
		put_switch(1);
	ck_assert(!ps__switch_ring_drain(&ring.switches, note, &visits));
	put_switch(2);
	ck_assert(put(&lost, 40));
	ck_assert(!ps__switch_ring_drain(&ring.switches, note, &visits));
	teardown();
}
END_TEST

/* The task goes on while its records are read: before the reader gives their room free, the ring
 * fills up. */
static void note_and_fill(const struct ps__visit *visit, void *context)
{
	struct visits *visits = context;

	note(visit, visits);
	while (visit->cpu == 77 && ring.lost == 0)
		put_switch(1);
	if (visit->cpu == 77)
		put_switch(66); /* this one is lost as well */
}

START_TEST(what_is_lost_while_the_ring_is_read_is_not_passed_over)
{
	struct visits visits = {.count = 0};
	bool complete;

	setup(0);
	for (unsigned i = 0; i < RING_BYTES / SWITCH_BYTES / 2; i++)
		put_switch(i == 0 ? 77 : 1);
	complete = ps__switch_ring_drain(&ring.switches, note_and_fill, &visits);
	while (ps__switch_ring_has_moved(&ring.switches))
		complete = ps__switch_ring_drain(&ring.switches, note, &visits) && complete;
	ck_assert(!complete);
	teardown();
}
END_TEST

/* _i: the size that the record's header tells. */
START_TEST(a_damaged_size_ends_the_look_and_loses_no_later_record)
{
	struct visits visits = {.count = 0};

	setup(RING_BYTES - 16);
	put_switch(1);
	put_record(PERF_RECORD_SWITCH, (uint16_t)_i);
	ck_assert(!ps__switch_ring_drain(&ring.switches, note, &visits));
	ck_assert_uint_eq(visits.count, 1);
	ck_assert(!ps__switch_ring_has_moved(&ring.switches));
	put_switch(4);
	ck_assert(ps__switch_ring_drain(&ring.switches, note, &visits));
	ck_assert_uint_eq(visits.count, 2);
	ck_assert_int_eq(visits.cpus[1], 4);
	teardown();
}
END_TEST

START_TEST(records_of_other_kinds_are_passed_over_and_leave_open_what_they_mean)
{
	struct visits visits = {.count = 0};

	setup(0);
	put_record(PERF_RECORD_FORK, 48);
	ck_assert(ps__switch_ring_drain(&ring.switches, note, &visits));
	put_record(PERF_RECORD_THROTTLE, 48);
	put_switch(2);
	ck_assert(!ps__switch_ring_drain(&ring.switches, note, &visits));
	ck_assert_uint_eq(visits.count, 1);
	ck_assert(!ring.switches.has_ended);
	put_record(PERF_RECORD_EXIT, 48);
	ps__switch_ring_drain(&ring.switches, note, &visits);
	ck_assert(ring.switches.has_ended);
	teardown();
}
END_TEST

START_TEST(no_ring_is_told_with_its_errno_and_leaves_nothing_open)
{
	static const enum fake_call calls[] = {FAKE_PERF_EVENT_OPEN, FAKE_MMAP};
	struct ps__switch_ring switches = {.fd = -1};

	for (size_t i = 0; i < 2; i++) {
		fake_fail(calls[i], 1, i == 0 ? EACCES : EPERM);
		ck_assert_int_eq(ps__switch_ring_open(&switches, 0, -1), i == 0 ? -EACCES : -EPERM);
		ck_assert_int_eq(switches.fd, -1);
		ck_assert_uint_eq(fake_open_fds(), 0);
	}
	ps__switch_ring_close(&switches, false); /* what isn't open is nothing to close */
	fake_fail(FAKE_PERF_EVENT_OPEN, 2, EMFILE);
	ck_assert_int_eq(ps__switch_ring_open(&switches, 0, 1), -EMFILE);
	ck_assert_int_eq(switches.fd, -1);
	ck_assert_uint_eq(fake_open_fds(), 0);
	ck_assert_int_eq(ps__switch_ring_open(&switches, 0, -1), 0);
	ck_assert_uint_eq(fake_open_fds(), 1);
	ps__switch_ring_close(&switches, false);
	ck_assert_int_eq(ps__switch_ring_open(&switches, 0, 1), 0);
	ck_assert_uint_eq(fake_open_fds(), 2);
	ps__switch_ring_close(&switches, false);
	ck_assert_uint_eq(fake_open_fds(), 0);
	ck_assert_uint_eq(fake_mapped_bytes(), 0);
}
END_TEST

START_TEST(a_signal_while_it_is_opened_is_no_failure)
{
	struct ps__switch_ring switches = {.fd = -1};

	for (unsigned nth = 1; nth <= 2; nth++) {
		fake_fail(FAKE_PERF_EVENT_OPEN, nth, EINTR);
		ck_assert_int_eq(ps__switch_ring_open(&switches, 0, 1), 0);
		ck_assert(fake_fail_happened());
		ps__switch_ring_close(&switches, false);
	}
	fake_fail(FAKE_PERF_EVENT_OPEN, 1, EINTR);
	ck_assert_int_eq(ps__switch_ring_open_migrations(&switches, 0), 0);
	ps__switch_ring_close(&switches, false);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

START_TEST(time_away_from_home_is_told_once)
{
	struct ps__switch_ring switches = {.fd = -1};

	ck_assert_int_eq(ps__switch_ring_open(&switches, 0, 0), 0);
	ck_assert(!ps__switch_ring_was_away(&switches));
	fake_run(1000, 1000);
	ck_assert(!ps__switch_ring_was_away(&switches));
	fake_run(1000, 999);
	ck_assert(ps__switch_ring_was_away(&switches));
	ck_assert(!ps__switch_ring_was_away(&switches));
	fake_fail(FAKE_READ, 1, EIO);
	ck_assert(ps__switch_ring_was_away(&switches)); /* it can't be told */
	/* The program closed the descriptor, and has something else under its number. */
	switches.home_id++;
	fake_count_reset();
	ck_assert(ps__switch_ring_was_away(&switches));
	ck_assert_uint_eq(fake_count(FAKE_READ), 0);
	switches.home_id--;
	ps__switch_ring_close(&switches, false);
	ck_assert_int_eq(ps__switch_ring_open(&switches, 0, -1), 0);
	ck_assert(ps__switch_ring_was_away(&switches));
	ps__switch_ring_close(&switches, false);
}
END_TEST

/* In a forked child the memory is the child's own; so is what it opened under numbers that it
 * closed. */
START_TEST(an_abandoned_watch_closes_its_copies_and_takes_no_memory)
{
	struct ps__switch_ring switches = {.fd = -1};

	ck_assert_int_eq(ps__switch_ring_open(&switches, 0, 1), 0);
	fake_count_reset();
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		ps__switch_ring_close(&switches, true);
		_exit(fake_open_fds() == 0 && fake_count(FAKE_MUNMAP) == 0 && switches.fd == -1
		          ? 0
		          : 1);
	}
	int status = -1;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(fake_open_fds(), 2);
	ps__switch_ring_close(&switches, false);
}
END_TEST

/* A pinned task is counted without its ring, too; the set says what would help. */
START_TEST(a_set_whose_task_can_not_be_watched_tells_the_remedy)
{
	static const struct {
		enum fake_call call;
		int error;
		const char *advice;
	} rows[] = {{FAKE_MMAP, EPERM, "raise kernel.perf_event_mlock_kb"},
	            {FAKE_PERF_EVENT_OPEN, EMFILE, "raise the limit with ulimit -n"},
	            {FAKE_PERF_EVENT_OPEN, EACCES, "can't be watched: Permission denied"}};
	const char *why = NULL;

	fake_set_affinity("2");
	fake_set_cpu(2);
	struct ps_eventset *set = scene_set("page-faults", NULL);
	fake_fail(rows[_i].call, 1, rows[_i].error);
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_msg(strstr(why, rows[_i].advice) != NULL, "%s", why);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watch");
	TCase *tests = tcase_create("ring");
	TCase *kernel = scene_case(suite, "kernel");

	suite_add_tcase(suite, tests);
	tcase_add_test(tests, records_are_visited_oldest_first_and_once);
	tcase_add_loop_test(tests, records_that_wrap_around_are_whole, 0, 100);
	tcase_add_loop_test(tests, a_full_ring_says_so_before_the_kernel_does, 320, 360);
	tcase_add_test(tests, a_ring_of_ordinary_fullness_is_complete);
	tcase_add_test(tests, lost_records_are_told_once_and_the_next_ones_are_complete);
	tcase_add_test(tests, lost_records_that_nobody_told_of_are_told);
	tcase_add_test(tests, what_is_lost_while_the_ring_is_read_is_not_passed_over);
	tcase_add_loop_test(tests, a_damaged_size_ends_the_look_and_loses_no_later_record, 0, 8);
	tcase_add_loop_test(tests, a_damaged_size_ends_the_look_and_loses_no_later_record, 200,
	                    204);
	tcase_add_test(tests, records_of_other_kinds_are_passed_over_and_leave_open_what_they_mean);
	tcase_add_test(kernel, no_ring_is_told_with_its_errno_and_leaves_nothing_open);
	tcase_add_test(kernel, a_signal_while_it_is_opened_is_no_failure);
	tcase_add_test(kernel, time_away_from_home_is_told_once);
	tcase_add_test(kernel, an_abandoned_watch_closes_its_copies_and_takes_no_memory);
	tcase_add_loop_test(kernel, a_set_whose_task_can_not_be_watched_tells_the_remedy, 0, 3);
	return scene_run(suite);
}

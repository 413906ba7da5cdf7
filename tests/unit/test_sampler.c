/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/sampler_next.c on the fake kernel: records at any place of the ring, losses, damage,
 * waiting. */
#include "test_sampler.h"

#include "base/os.h"

#include <errno.h>
#include <poll.h>

/* The record is in the ring, and its place the reader's until the next call. */
START_TEST(a_record_is_not_copied_and_held_until_the_next_call)
{
	struct ps_sampler *sampler = started_sampler(0);
	const char *page = (const char *)page_of(sampler);
	struct ps_record record;

	ck_assert(put_sample(sampler, 10) && put_sample(sampler, 11));
	check_ok(ps_sampler_next(sampler, &record));
	ck_assert_uint_eq(record.addr, 10);
	ck_assert_uint_eq(record.tid, 7);
	ck_assert_uint_eq(record.time, 1010);
	ck_assert_ptr_eq(record.bytes, page + page_of(sampler)->data_offset);
	ck_assert_uint_eq(page_of(sampler)->data_tail, 0);
	check_ok(ps_sampler_next(sampler, &record));
	ck_assert_uint_eq(record.addr, 11);
	ck_assert_uint_eq(page_of(sampler)->data_tail, 32);
	check_fails(ps_sampler_next(sampler, &record), PS_ENOEVST);
	ck_assert_uint_eq(record.addr, 11);
	ck_assert_uint_eq(page_of(sampler)->data_tail, 64);
	ps_sampler_destroy(sampler);
}
END_TEST

/* With a record of 24 bytes first, samples of 32 wrap at every end of the ring. */
START_TEST(records_wrap_at_the_rings_end)
{
	struct ps_sampler *sampler = started_sampler(0);
	uint64_t words[2] = {1, 0};
	struct ps_record record;

	ck_assert(fake_put_record(ps_sampler_fd(sampler), PERF_RECORD_LOST, 0, words, 2));
	check_ok(ps_sampler_next(sampler, &record));
	for (uint64_t i = 0; i < 1000; i++) {
		ck_assert(put_sample(sampler, i));
		check_ok(ps_sampler_next(sampler, &record));
		ck_assert_uint_eq(record.addr, i);
		ck_assert_uint_eq(record.size, 32);
	}
	ps_sampler_destroy(sampler);
}
END_TEST

/* Nothing is lost in silence: what was taken, and what the kernel counts itself. */
START_TEST(lost_records_are_counted)
{
	struct ps_sampler *sampler;
	uint64_t lost[] = {40, 5}, samples[] = {3};
	struct ps_record record;
	struct ps_sampler_count count;

	sampler = started_sampler(0);
	ck_assert_uint_eq(ps_sampler_lost(sampler), 0);
	ck_assert(fake_put_record(ps_sampler_fd(sampler), PERF_RECORD_LOST, 0, lost, 2));
	ck_assert(fake_put_record(ps_sampler_fd(sampler), PERF_RECORD_LOST_SAMPLES, 0, samples, 1));
	check_ok(ps_sampler_next(sampler, &record));
	ck_assert_uint_eq(record.type, PS_RECORD_LOST);
	check_ok(ps_sampler_next(sampler, &record));
	ck_assert_uint_eq(ps_sampler_lost(sampler), 8);
	check_ok(ps_sampler_read(sampler, &count));
	ck_assert_int_eq(count.is_lost_known, 0);
	ck_assert_uint_eq(count.lost, 5);
	ps_sampler_destroy(sampler);
	ck_assert_uint_eq(ps_sampler_lost(NULL), 0);
}
END_TEST

/* A switch record for each time that the task is switched; then the ring is full. */
START_TEST(the_kernels_own_count_of_losses_is_asked_for)
{
	struct ps_attr *attr = new_attr("dummy");
	struct ps_sampler *sampler = NULL;
	struct ps_sampler_count count;
	struct ps_record record;
	uint64_t taken = 0, told = 0;

	fake_count_lost();
	check_ok(ps_attr_set(attr, PS_ATTR_CONTEXT_SWITCH, 1));
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	check_ok(ps_sampler_start(sampler));
	for (int i = 0; i < 400; i++)
		fake_switch_task(0);
	while (ps_sampler_next(sampler, &record) == PS_OK)
		taken += record.type == PS_RECORD_SWITCH;
	ck_assert_uint_gt(ps_sampler_lost(sampler), 0);
	ck_assert_uint_eq(taken + ps_sampler_lost(sampler), 800);
	check_ok(ps_sampler_read(sampler, &count));
	ck_assert_int_eq(count.is_lost_known, 1);
	ck_assert_uint_eq(count.lost, ps_sampler_lost(sampler));
	/* The kernel tells of it with the next record: it isn't added again. */
	fake_switch_task(0);
	while (ps_sampler_next(sampler, &record) == PS_OK)
		told += record.type == PS_RECORD_LOST ? record.body.lost : 0;
	ck_assert_uint_eq(told, count.lost);
	ck_assert_uint_eq(ps_sampler_lost(sampler), told);
	ps_attr_destroy(attr);
	ps_sampler_destroy(sampler);
}
END_TEST

START_TEST(a_damaged_record_is_skipped_and_counted)
{
	struct ps_sampler *sampler = started_sampler(0);
	uint64_t word = 1;
	struct ps_record record = {.addr = 99};

	ck_assert(fake_put_record(ps_sampler_fd(sampler), PERF_RECORD_SAMPLE, 0, &word, 1));
	ck_assert(put_sample(sampler, 5));
	check_fails(ps_sampler_next(sampler, &record), PS_EMISC);
	check_detail("'page-faults'");
	ck_assert_uint_eq(record.addr, 99);
	ck_assert_uint_eq(ps_sampler_damaged(sampler), 1);
	check_ok(ps_sampler_next(sampler, &record));
	ck_assert_uint_eq(record.addr, 5);
	ps_sampler_destroy(sampler);
	ck_assert_uint_eq(ps_sampler_damaged(NULL), 0);
}
END_TEST

/* A size that can't be: where the next record begins isn't known. _i: too small; beyond the head.
 */
START_TEST(a_damaged_size_empties_the_ring)
{
	struct ps_sampler *sampler = started_sampler(0);
	struct perf_event_mmap_page *page = fake_ring_of_fd(ps_sampler_fd(sampler));
	struct perf_event_header *header = (void *)((char *)page + page->data_offset);
	struct ps_record record;

	ck_assert(put_sample(sampler, 5) && put_sample(sampler, 6));
	header->size = _i ? 72 : 4;
	check_fails(ps_sampler_next(sampler, &record), PS_EMISC);
	ck_assert_uint_eq(ps_sampler_damaged(sampler), 1);
	check_fails(ps_sampler_next(sampler, &record), PS_ENOEVST);
	ck_assert(put_sample(sampler, 7));
	check_ok(ps_sampler_next(sampler, &record));
	ck_assert_uint_eq(record.addr, 7);
	/* A head that the kernel can't have written. */
	page->data_head += 2 * page->data_size;
	check_fails(ps_sampler_next(sampler, &record), PS_EMISC);
	ck_assert_uint_eq(ps_sampler_damaged(sampler), 2);
	page->data_head += 4;
	check_fails(ps_sampler_next(sampler, &record), PS_EMISC);
	ps_sampler_destroy(sampler);
}
END_TEST

START_TEST(waiting_takes_what_is_there_and_ends_in_time)
{
	struct ps_sampler *sampler = started_sampler(0);
	struct ps_record record;

	ck_assert(put_sample(sampler, 5));
	check_ok(ps_sampler_wait(sampler, -1, &record));
	ck_assert_uint_eq(record.addr, 5);
	ck_assert_uint_eq(fake_count(FAKE_POLL), 0);
	check_fails(ps_sampler_wait(sampler, 0, &record), PS_ENOEVST);
	ck_assert_uint_eq(fake_count(FAKE_POLL), 0);
	uint64_t before_ns = ps__os_now_ns();
	check_fails(ps_sampler_wait(sampler, 250, &record), PS_ENOEVST);
	check_detail("within 250 ms");
	uint64_t took_ns = ps__os_now_ns() - before_ns;
	ck_assert_uint_ge(took_ns, 250000000);
	ck_assert_uint_le(took_ns, 252000000);
	ck_assert_uint_eq(fake_count(FAKE_POLL), 3);
	ps_sampler_destroy(sampler);
}
END_TEST

static const struct ps_sampler *written;
static int (*next_poll)(struct pollfd *fds, nfds_t count, int timeout_ms);

static int write_and_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	ck_assert(put_sample(written, 77));
	return next_poll(fds, count, timeout_ms);
}

static int stop_and_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	ck_assert(put_sample(written, 78));
	check_ok(ps_sampler_stop((struct ps_sampler *)(uintptr_t)written));
	return next_poll(fds, count, timeout_ms);
}

START_TEST(a_record_that_comes_ends_the_waiting)
{
	struct ps_sampler *sampler = started_sampler(0);
	struct ps_record record;

	written = sampler;
	next_poll = ps__os.poll;
	ps__os.poll = write_and_poll;
	fake_fail(FAKE_POLL, 1, EINTR);
	check_ok(ps_sampler_wait(sampler, -1, &record));
	ck_assert_uint_eq(record.addr, 77);
	ps__os.poll = next_poll;
	ps_sampler_destroy(sampler);
}
END_TEST

/* Records from before the stop are there still. */
START_TEST(a_stop_ends_the_waiting_after_the_last_record)
{
	struct ps_sampler *sampler = started_sampler(0);
	struct ps_record record;

	written = sampler;
	next_poll = ps__os.poll;
	ps__os.poll = stop_and_poll;
	check_ok(ps_sampler_wait(sampler, -1, &record));
	ck_assert_uint_eq(record.addr, 78);
	check_fails(ps_sampler_wait(sampler, -1, &record), PS_ENOTRUN);
	ps__os.poll = next_poll;
	ps_sampler_destroy(sampler);
}
END_TEST

/* While the kernel stops the event: a record of that time comes yet. */
static int (*next_ioctl)(int fd, unsigned long request, unsigned long argument);

static int wait_in_stop(int fd, unsigned long request, unsigned long argument)
{
	struct ps_sampler *sampler = (struct ps_sampler *)(uintptr_t)written;
	struct ps_record record;

	if (request != PERF_EVENT_IOC_DISABLE)
		return next_ioctl(fd, request, argument);
	check_fails(ps_sampler_wait(sampler, 1, &record), PS_ENOEVST);
	check_fails(ps_sampler_stop(sampler), PS_ENOTRUN);
	check_fails(ps_sampler_start(sampler), PS_EISRUN);
	ck_assert(put_sample(written, 79));
	return next_ioctl(fd, request, argument);
}

START_TEST(no_end_is_told_before_the_kernel_has_stopped_the_event)
{
	struct ps_sampler *sampler = started_sampler(0);
	struct ps_record record;

	written = sampler;
	next_ioctl = ps__os.ioctl;
	ps__os.ioctl = wait_in_stop;
	check_ok(ps_sampler_stop(sampler));
	ps__os.ioctl = next_ioctl;
	check_ok(ps_sampler_wait(sampler, -1, &record));
	ck_assert_uint_eq(record.addr, 79);
	check_fails(ps_sampler_wait(sampler, -1, &record), PS_ENOTRUN);
	ps_sampler_destroy(sampler);
}
END_TEST

START_TEST(the_end_of_the_thread_is_told_apart)
{
	struct ps_attr *attr = new_attr("page-faults");
	struct ps_sampler *sampler = NULL;
	struct ps_record record;

	fake_task(4000, "other", 1);
	check_ok(ps_sampler_create(&sampler, attr, 4000, -1, 0));
	check_ok(ps_sampler_start(sampler));
	ck_assert(put_sample(sampler, 3));
	fake_task_end(4000);
	check_ok(ps_sampler_wait(sampler, -1, &record));
	check_fails(ps_sampler_wait(sampler, -1, &record), PS_ESYS);
	check_detail("has ended");
	ps_sampler_destroy(sampler);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_pinned_event_without_a_counter_is_told)
{
	struct ps_attr *attr;
	struct ps_sampler *sampler = NULL;
	struct ps_record record;
	struct ps_sampler_count count;

	fake_add_core_pmu(2);
	attr = new_attr("instructions:D");
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	check_ok(ps_sampler_start(sampler));
	fake_set_error_state(INSTRUCTIONS, true);
	check_fails(ps_sampler_read(sampler, &count), PS_ENOCNTR);
	/* Also if the kernel doesn't report it to poll(2). */
	check_fails(ps_sampler_wait(sampler, 500, &record), PS_ENOCNTR);
	check_detail("pinned");
	fake_hang_up(ps_sampler_fd(sampler), POLLERR);
	check_fails(ps_sampler_wait(sampler, -1, &record), PS_ENOCNTR);
	check_detail("pinned");
	ps_sampler_destroy(sampler);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_failing_poll_is_told)
{
	struct ps_sampler *sampler = started_sampler(0);
	struct ps_record record;

	fake_fail(FAKE_POLL, 1, ENOMEM);
	check_fails(ps_sampler_wait(sampler, -1, &record), PS_ESYS);
	check_detail("poll");
	fake_hang_up(ps_sampler_fd(sampler), POLLNVAL);
	check_fails(ps_sampler_wait(sampler, -1, &record), PS_ECLOST);
	check_detail("closed");
	ps_sampler_destroy(sampler);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampler");
	TCase *tests = scene_case(suite, "sampler");

	tcase_add_test(tests, a_record_is_not_copied_and_held_until_the_next_call);
	tcase_add_test(tests, records_wrap_at_the_rings_end);
	tcase_add_test(tests, lost_records_are_counted);
	tcase_add_test(tests, the_kernels_own_count_of_losses_is_asked_for);
	tcase_add_test(tests, a_damaged_record_is_skipped_and_counted);
	tcase_add_loop_test(tests, a_damaged_size_empties_the_ring, 0, 2);
	tcase_add_test(tests, waiting_takes_what_is_there_and_ends_in_time);
	tcase_add_test(tests, a_record_that_comes_ends_the_waiting);
	tcase_add_test(tests, a_stop_ends_the_waiting_after_the_last_record);
	tcase_add_test(tests, no_end_is_told_before_the_kernel_has_stopped_the_event);
	tcase_add_test(tests, the_end_of_the_thread_is_told_apart);
	tcase_add_test(tests, a_pinned_event_without_a_counter_is_told);
	tcase_add_test(tests, a_failing_poll_is_told);
	return scene_run(suite);
}

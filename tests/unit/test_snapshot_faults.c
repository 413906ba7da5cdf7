/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots when memory is short, or a call was left by a jump: nothing is lost. And what is no
 * interval is refused. */
#include "test_snapshot.h"

#include "base/os.h"
#include "eventset/eventset.h"

#include <errno.h>
#include <setjmp.h>

/* Each allocation fails once; the counts come with the next snapshot. */
START_TEST(a_lack_of_memory_loses_nothing)
{
	for (unsigned nth = 1; nth < 8; nth++) {
		struct ps_eventset *set = scene_started(EVENT, NULL);
		struct ps_snapshot *first = taken(set), *last = NULL;
		struct ps_value values[2];

		scene_count_on(1, 5);
		scene_count_on(2, 6);
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_snapshot_take(set, &last);
		if (result == PS_OK)
			result = ps_snapshot_difference(set, first, last, NULL, values, 2);
		ck_assert(result == PS_OK || result == PS_ENOMEM);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		check_ok(ps_snapshot_take(set, &last));
		ck_assert_int_eq(difference(set, first, last, NULL).value, 11);
		ps_snapshot_destroy(first);
		ps_snapshot_destroy(last);
		ps_eventset_destroy(set);
	}
}
END_TEST

static ssize_t (*real_read)(int fd, void *buffer, size_t size_bytes);
static sigjmp_buf back;

static ssize_t leave(int fd, void *buffer, size_t size_bytes)
{
	(void)fd;
	(void)buffer;
	(void)size_bytes;
	ps__os.read = real_read;
	siglongjmp(back, 1);
}

/* Out of a reading that a signal handler left. */
START_TEST(a_call_that_was_left_loses_nothing)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_snapshot *first = taken(set), *last = NULL;

	real_read = ps__os.read;
	scene_count_on(0, 4);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	scene_count_on(1, 3);
	if (sigsetjmp(back, 1) == 0) {
		ps__os.read = leave;
		ps_accum(set, scene.root, NULL, NULL);
		ck_abort_msg("the reading reads no counters");
	}
	check_ok(ps_snapshot_take(set, &last));
	ck_assert_int_eq(difference(set, first, last, NULL).value, 7);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
}
END_TEST

/* Out of a snapshot; _i: there is a reading, too. */
START_TEST(a_snapshot_that_was_left_loses_nothing)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_snapshot *first = taken(set), *last = NULL;
	uint64_t timestamp = 0;

	real_read = ps__os.read;
	scene_count_on(0, 4);
	if (_i)
		check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	check_ok(ps_snapshot_take(set, &last));
	fake_advance(PAGE_FAULTS, 3);
	if (sigsetjmp(back, 1) == 0) {
		ps__os.read = leave;
		ps_snapshot_take(set, &last);
		ck_abort_msg("the snapshot reads no counters");
	}
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_snapshot_take(set, &last));
	ck_assert_int_eq(difference(set, first, last, NULL).value, 9);
	if (_i) {
		check_ok(ps_stop(set, scene.root, &timestamp, NULL));
		ck_assert_int_eq(scene_sum(EVENT, timestamp), 9);
	}
	scene_check_residual(set);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
}
END_TEST

/* It is refilled by the path of readings, which a later reading has opened: the counter went back,
 * and the second try can't read it. */
START_TEST(a_snapshot_that_fails_is_as_it_was)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_snapshot *first, *last;

	scene_count_on(0, 0);
	for (int reading = 0; reading < 2; reading++)
		check_ok(ps_read(set, scene.root, NULL, NULL));
	first = taken(set);
	fake_advance(PAGE_FAULTS, 100);
	last = taken(set);
	uint64_t timestamp = ps_snapshot_timestamp(last);
	fake_advance(PAGE_FAULTS, 1000);
	check_ok(ps_reset(set));
	for (int reading = 0; reading < 2; reading++)
		check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_ptr_eq(set->fast_path.root, scene.root);
	fake_set_count(PAGE_FAULTS, 0);
	fake_fail(FAKE_READ, 2, EIO);
	check_fails(ps_snapshot_take(set, &last), PS_ESYS);
	ck_assert_int_eq(difference(set, first, last, NULL).value, 100);
	ck_assert_uint_eq(ps_snapshot_timestamp(last), timestamp);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: the call that is left is a reading with a new timestamp; otherwise it is a snapshot. */
START_TEST(a_reading_that_no_call_updates_stays_as_it_is)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_snapshot *snapshot = NULL;
	uint64_t timestamp = 0;

	check_ok(ps_eventset_reserve(set, 10));
	scene_count_on(0, 100);
	for (int reading = 0; reading < 2; reading++)
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	for (int take = 0; take < 2; take++) {
		fake_advance(PAGE_FAULTS, 1000);
		check_ok(ps_snapshot_take(set, &snapshot));
	}
	ck_assert_ptr_eq(set->fast_path.root, scene.root);
	real_read = ps__os.read;
	if (sigsetjmp(back, 1) == 0) {
		ps__os.read = leave;
		if (_i)
			ps_read(set, scene.root, &(uint64_t){0}, NULL);
		else
			ps_snapshot_take(set, &snapshot);
		ck_abort_msg("the call reads no counter");
	}
	check_ok(ps_snapshot_take(set, &snapshot));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 100);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 2100);
	scene_check_residual(set);
	ps_snapshot_destroy(snapshot);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_is_no_interval_is_refused)
{
	struct ps_eventset *set = scene_set(EVENT, NULL), *other;
	struct ps_snapshot *first = NULL, *last = NULL, *foreign;
	struct ps_value value = {.value = 42};

	check_fails(ps_snapshot_take(NULL, &first), PS_EINVAL);
	check_fails(ps_snapshot_take(set, NULL), PS_EINVAL);
	check_fails(ps_snapshot_take(set, &first), PS_ENOTRUN);
	ck_assert_ptr_eq(first, NULL);
	check_ok(ps_start(set));
	first = taken(set);
	last = taken(set);
	other = scene_started(EVENT, NULL);
	foreign = taken(other);
	check_fails(ps_snapshot_difference(set, first, foreign, NULL, &value, 1), PS_EINVAL);
	check_detail("another event set");
	check_fails(ps_snapshot_difference(set, foreign, last, NULL, &value, 1), PS_EINVAL);
	check_fails(ps_snapshot_difference(set, last, first, NULL, &value, 1), PS_EINVAL);
	check_detail("exchange them");
	check_fails(ps_snapshot_difference(set, first, last, NULL, &value, 0), PS_EBUF);
	check_fails(ps_snapshot_difference(NULL, first, last, NULL, &value, 1), PS_EINVAL);
	check_fails(ps_snapshot_difference(set, first, NULL, NULL, &value, 1), PS_EINVAL);
	check_fails(ps_snapshot_difference(set, first, last, NULL, NULL, 1), PS_EINVAL);
	check_fails(ps_snapshot_difference(set, first, last, scene_thread(2), &value, 1),
	            PS_ENOEVST);
	ck_assert_int_eq(value.value, 42);
	/* Where it was, nothing is a count, too: also if the clock stood still. */
	scene_count_on(0, 3);
	check_ok(ps_snapshot_take(set, &last));
	check_ok(ps_snapshot_difference(set, first, last, scene_thread(0), &value, 1));
	ck_assert_int_eq(value.value, 3);
	struct ps_snapshot *same = taken(set);
	check_ok(ps_snapshot_difference(set, last, same, NULL, &value, 1));
	ck_assert_int_eq(value.value, 0);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	check_fails(ps_snapshot_difference(set, last, same, scene_thread(2), &value, 1),
	            PS_ENOEVST);
	/* Other events are another matter. */
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_add(set, "minor-faults"));
	check_ok(ps_start(set));
	struct ps_value two[2];
	check_fails(ps_snapshot_difference(set, first, last, NULL, two, 2), PS_EINVAL);
	check_ok(ps_snapshot_take(set, &last));
	check_fails(ps_snapshot_difference(set, first, last, NULL, two, 2), PS_EINVAL);
	check_detail("of other events");
	ck_assert_uint_eq(ps_snapshot_timestamp(NULL), 0);
	ps_snapshot_destroy(NULL);
	ps_eventset_destroy(set);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_snapshot_destroy(same);
	ps_snapshot_destroy(foreign);
	ps_eventset_destroy(other);
}
END_TEST

static void add_all(TCase *tests)
{
	tcase_add_test(tests, a_lack_of_memory_loses_nothing);
	tcase_add_test(tests, a_call_that_was_left_loses_nothing);
	tcase_add_loop_test(tests, a_snapshot_that_was_left_loses_nothing, 0, 2);
}

int main(void)
{
	Suite *suite = suite_create("snapshot_faults");

	add_all(scene_case_instances(suite, "per-CPU counters"));
	add_all(scene_case_records(suite, "migration records"));
	add_all(scene_case_last_cpu(suite, "last-cpu"));
	TCase *tests = scene_case(suite, "refused");
	tcase_add_test(tests, what_is_no_interval_is_refused);
	tcase_add_test(tests, a_snapshot_that_fails_is_as_it_was);
	tcase_add_loop_test(tests, a_reading_that_no_call_updates_stays_as_it_is, 0, 2);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a reading costs: the measurement must tell the truth on a clock that a test scripts, and
 * leave no trace in the set: neither in its readings, nor in its counts, nor in what it knows of
 * its task.
 */
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ps_eventset *started(void)
{
	struct ps_eventset *set = scene_started("page-faults", "minor-faults", NULL);

	return set;
}

static struct ps_overhead overhead_of(struct ps_eventset *set)
{
	struct ps_overhead overhead = {-1, 99};

	check_ok(ps_eventset_overhead(set, &overhead));
	return overhead;
}

START_TEST(it_is_what_the_clock_says)
{
	struct ps_eventset *set = started();

	/* A look at the clock takes 1000 ns: a batch of 64 readings looks 64 times, and once at its
	 * end. */
	fake_set_clock(5000000000u, 1000);
	ck_assert_double_eq(overhead_of(set).reading_ns, 65 * 1000.0 / 64);
	/* It is kept. */
	fake_set_clock(6000000000u, 5000);
	fake_count_reset();
	ck_assert_double_eq(overhead_of(set).reading_ns, 65 * 1000.0 / 64);
	ck_assert_uint_eq(fake_count(FAKE_READ), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_sets_own_readings_are_counted)
{
	struct ps_eventset *set = started();
	long long counters[2] = {1, 2};
	uint64_t stamp = 0;

	ck_assert_uint_eq(overhead_of(set).readings, 0);
	for (int i = 0; i < 10; i++)
		check_ok(ps_read(set, scene.root, NULL, NULL));
	for (int i = 0; i < 5; i++) {
		stamp = 0;
		check_ok(ps_accum(set, scene.root, &stamp, NULL));
	}
	ck_assert_uint_eq(overhead_of(set).readings, 15);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_store(set, counters, 2, scene.root, NULL, NULL));
	ck_assert_uint_eq(overhead_of(set).readings, 17);
	/* Those before a change of the events, too. */
	check_ok(ps_eventset_add(set, "major-faults"));
	ck_assert_uint_eq(overhead_of(set).readings, 17);
	check_ok(ps_start(set));
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(overhead_of(set).readings, 18);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_printed_tree_tells_what_the_readings_took)
{
	struct ps_eventset *set = started();

	for (int i = 0; i < 10; i++)
		check_ok(ps_read(set, scene.root, NULL, NULL));
	char *before = scene_text(PS_FORMAT_TEXT);
	ck_assert_ptr_null(strstr(before, "cost:"));
	overhead_of(set);
	for (int i = 0; i < 5; i++)
		check_ok(ps_read(set, scene.root, NULL, NULL));
	char *after = scene_text(PS_FORMAT_TEXT);
	ck_assert_ptr_nonnull(
	    strstr(after, "cost: 15 readings of 1016 ns each, 0.015 ms in all\n"));
	free(before);
	free(after);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(readings_in_a_topology_that_is_gone_are_counted)
{
	struct ps_eventset *set = started();
	struct ps_topology *other;

	check_ok(ps_read(set, scene.root, NULL, NULL));
	ps_topology_destroy(scene.topology);
	check_ok(ps_topology_load_synthetic(&other, "pu:2"));
	scene.topology = other;
	scene.root = ps_topology_root(other);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(overhead_of(set).readings, 2);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(no_reading_is_made_or_changed)
{
	struct ps_eventset *set = started();
	uint64_t stamp = 0, same;

	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_read(set, scene.root, &stamp, NULL));
	fake_advance(PAGE_FAULTS, 100);
	overhead_of(set);
	ck_assert_uint_eq(scene_rows(0, "page-faults"), 1);
	ck_assert_int_eq(scene_count(0, "page-faults", stamp), 7);
	ck_assert_int_eq(scene_sum("page-faults", 0), 7);
	/* The next call updates the same one, and finds what was counted before the measurement. */
	same = stamp;
	check_ok(ps_read(set, scene.root, &same, NULL));
	ck_assert_uint_eq(scene_rows(0, "page-faults"), 1);
	ck_assert_int_eq(scene_count(0, "page-faults", 0), 107);
	ps_eventset_destroy(set);
}
END_TEST

/* Each read(2) is work that is counted: a page fault of whoever runs, in a microsecond. */
static ssize_t (*real_read)(int fd, void *buffer, size_t size_bytes);
static unsigned reads, move_at;

static ssize_t read_with_a_fault(int fd, void *buffer, size_t size_bytes)
{
	fake_advance(PAGE_FAULTS, 1);
	fake_run(1000, 1000);
	if (++reads == move_at)
		fake_task(4000, "job", 2);
	return real_read(fd, buffer, size_bytes);
}

static void count_reads(void)
{
	reads = 0;
	move_at = 0;
	real_read = ps__os.read;
	ps__os.read = read_with_a_fault;
}

static struct ps_eventset *started_in(enum ps_attribution_mode mode)
{
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);

	check_ok(ps_eventset_set_attribution(set, mode));
	check_ok(ps_start(set));
	return set;
}

START_TEST(a_set_that_counts_the_caller_leaves_the_measurement_out)
{
	/* Instances, a pinned set, and one of which only the last CPU is known. */
	if (_i == 1)
		fake_set_affinity("0");
	struct ps_eventset *set = started_in(_i == 2 ? PS_ATTRIBUTE_LAST_CPU
	                                     : _i    ? PS_ATTRIBUTE_AUTO
	                                             : PS_ATTRIBUTE_EXACT);
	static const enum ps_attribution labels[] = {PS_ATTRIBUTION_EXACT, PS_ATTRIBUTION_PINNED,
	                                             PS_ATTRIBUTION_LAST_CPU};

	fake_advance(PAGE_FAULTS, 7);
	count_reads();
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("page-faults", 0), 7 + 1);
	overhead_of(set);
	ck_assert_uint_gt(reads, 1000);
	ps__os.read = real_read;
	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	/* The measurement begins with a look at what was counted before it, and ends with one at
	 * each instance. */
	int instances = _i == 0 ? 4 : 1;
	struct ps_value value = scene_part(0, "page-faults", 0);
	ck_assert_int_eq(value.value, 7 + 1 + 1 + (instances - 1) + 100);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)value.attribution, (int)labels[_i]);
	ck_assert_uint_eq(value.enabled_ns, value.running_ns);
	ck_assert_int_eq(scene_sum("page-faults", 0), value.value);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(so_does_one_that_is_attached_to_the_callers_own_thread)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	fake_set_affinity("0");
	check_ok(ps_eventset_attach_tid(set, ps__os.gettid()));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	count_reads();
	overhead_of(set);
	ck_assert_uint_gt(reads, 1000);
	ps__os.read = real_read;
	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	/* One fault is counted by the look before the measurement. */
	ck_assert_int_eq(scene_sum("page-faults", 0), 7 + 1 + 100);
	ps_eventset_destroy(set);
}
END_TEST

static struct ps_eventset *watching(enum ps_attribution_mode mode)
{
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);

	fake_task(4000, "job", 1);
	fake_task_affinity(4000, "0-3");
	check_ok(ps_eventset_attach_tid(set, 4000));
	check_ok(ps_eventset_set_attribution(set, mode));
	check_ok(ps_start(set));
	return set;
}

START_TEST(a_set_that_counts_another_thread_loses_nothing_meanwhile)
{
	struct ps_eventset *set = watching(_i ? PS_ATTRIBUTE_LAST_CPU : PS_ATTRIBUTE_EXACT);

	check_ok(ps_read(set, scene.root, NULL, NULL));
	count_reads();
	move_at = 700;
	overhead_of(set);
	ck_assert_uint_gt(reads, 1000);
	ps__os.read = real_read;
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("page-faults", 0), reads);
	if (_i == 0) {
		ck_assert_int_eq(scene_count(1, "page-faults", 0), 700);
		ck_assert_int_eq((int)scene_part(2, "page-faults", 0).attribution,
		                 PS_ATTRIBUTION_EXACT);
	}
	ps_eventset_destroy(set);
}
END_TEST

/* The records that the measurement took tell nothing of what the task counted meanwhile. */
START_TEST(where_a_bound_thread_counted_that_left_meanwhile_is_not_called_exact)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	fake_task(4000, "job", 1);
	fake_task_affinity(4000, "1");
	check_ok(ps_eventset_attach_tid(set, 4000));
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_PINNED);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	count_reads();
	move_at = 700;
	overhead_of(set);
	ps__os.read = real_read;
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("page-faults", 0), reads);
	ck_assert_int_eq((int)scene_part(2, "page-faults", 0).attribution, PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(by_records_what_was_counted_meanwhile_is_not_called_exact)
{
	struct ps_eventset *set = watching(PS_ATTRIBUTE_EXACT);

	check_ok(ps_read(set, scene.root, NULL, NULL));
	count_reads();
	move_at = 700;
	overhead_of(set);
	ps__os.read = real_read;
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("page-faults", 0), reads);
	ck_assert_int_eq((int)scene_total("page-faults").attribution, PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_stopped_set_that_keeps_tasks_apart_is_not_measured)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	struct ps_overhead overhead;

	fake_task(4711, "solver", 2);
	check_ok(ps_eventset_attach_process(set, 4711));
	check_ok(ps_eventset_set_tasks(set, 1));
	check_fails(ps_eventset_overhead(set, &overhead), PS_ENOSUPP);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_stopped_set_is_started_for_it_and_stopped_again)
{
	struct ps_eventset *set = started_in(_i ? PS_ATTRIBUTE_LAST_CPU : PS_ATTRIBUTE_EXACT);
	int fds[16];

	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	count_reads();
	ck_assert_double_gt(overhead_of(set).reading_ns, 0);
	ps__os.read = real_read;
	ck_assert(!ps_eventset_is_running(set));
	size_t count = fake_counter_fds(fds, 16);
	for (size_t i = 0; i < count && i < 16; i++)
		ck_assert(!fake_enabled_of_fd(fds[i]) || fake_attr_of_fd(fds[i])->context_switch);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("page-faults", 0), 7);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("page-faults", 0), 5);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_set_that_was_never_started_still_was_not)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	ck_assert_double_gt(overhead_of(set).reading_ns, 0);
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_ENOTRUN);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("page-faults", 0), 5);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_must_not_be_asked_is_refused)
{
	struct ps_eventset *set = scene_set("page-faults", NULL), *empty;
	struct ps_overhead overhead = {-1, 99};

	check_ok(ps_eventset_create(&empty));
	check_fails(ps_eventset_overhead(NULL, &overhead), PS_EINVAL);
	check_fails(ps_eventset_overhead(set, NULL), PS_EINVAL);
	check_fails(ps_eventset_overhead(empty, &overhead), PS_EINVAL);
	ck_assert_double_eq(overhead.reading_ns, -1);
	ck_assert_uint_eq(overhead.readings, 99);
	ps_eventset_destroy(empty);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(each_lack_of_memory_leaves_the_set_as_it_was)
{
	struct ps_eventset *set = started_in(PS_ATTRIBUTE_AUTO);
	struct ps_overhead overhead = {-1, 99};
	unsigned n = 0;
	int result;

	check_ok(ps_read(set, scene.root, NULL, NULL));
	do {
		fake_fail(FAKE_ALLOCATE, ++n, ENOMEM);
		result = ps_eventset_overhead(set, &overhead);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		if (result != PS_OK) {
			ck_assert_int_eq(result, PS_ENOMEM);
			ck_assert_double_eq(overhead.reading_ns, -1);
		}
		fake_advance(PAGE_FAULTS, 3);
		check_ok(ps_read(set, scene.root, NULL, NULL));
		ck_assert_int_eq(scene_sum("page-faults", 0), 3 * n);
	} while (result != PS_OK);
	ck_assert_uint_gt(n, 10);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_read_that_fails_leaves_a_stopped_set_stopped)
{
	struct ps_eventset *set = scene_started("page-faults", NULL);
	struct ps_overhead overhead = {-1, 99};

	check_ok(ps_stop(set, scene.root, NULL, NULL));
	fake_fail(FAKE_READ, 100, EIO);
	check_fails(ps_eventset_overhead(set, &overhead), PS_ESYS);
	ck_assert_double_eq(overhead.reading_ns, -1);
	ck_assert(!ps_eventset_is_running(set));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("page-faults", 0), 5);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost");
	TCase *cost = scene_case(suite, "overhead");

	tcase_add_test(cost, it_is_what_the_clock_says);
	tcase_add_test(cost, the_sets_own_readings_are_counted);
	tcase_add_test(cost, the_printed_tree_tells_what_the_readings_took);
	tcase_add_test(cost, readings_in_a_topology_that_is_gone_are_counted);
	tcase_add_test(cost, no_reading_is_made_or_changed);
	tcase_add_loop_test(cost, a_set_that_counts_the_caller_leaves_the_measurement_out, 0, 3);
	tcase_add_test(cost, so_does_one_that_is_attached_to_the_callers_own_thread);
	tcase_add_loop_test(cost, a_set_that_counts_another_thread_loses_nothing_meanwhile, 0, 2);
	tcase_add_test(cost, where_a_bound_thread_counted_that_left_meanwhile_is_not_called_exact);
	tcase_add_loop_test(cost, a_stopped_set_is_started_for_it_and_stopped_again, 0, 2);
	tcase_add_test(cost, a_stopped_set_that_keeps_tasks_apart_is_not_measured);
	tcase_add_test(cost, a_set_that_was_never_started_still_was_not);
	tcase_add_test(cost, what_must_not_be_asked_is_refused);
	tcase_add_test(cost, each_lack_of_memory_leaves_the_set_as_it_was);
	tcase_add_test(cost, a_read_that_fails_leaves_a_stopped_set_stopped);
	tcase_add_test(scene_case_records(suite, "records"),
	               by_records_what_was_counted_meanwhile_is_not_called_exact);
	return scene_run(suite);
}

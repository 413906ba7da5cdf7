/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A control group as a target: which hierarchy it is looked for in, what is opened, what a reading
 * has, and what becomes of it when CPUs come and go. tests/api/test_cgroup.c has the real kernel.
 */
#include "support/scene.h"

#include "eventset/eventset.h"
#include "eventset/parts.h"

#include <errno.h>
#include <fcntl.h>

#define EVENT "page-faults"

static void make_cgroup(void)
{
	fake_file("/proc/self/mounts", "proc /proc proc rw 0 0\n"
	                               "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
	                               "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n");
	fake_file("/sys/fs/cgroup/unified/job/step/cgroup.procs", "");
}

static struct ps_eventset *attached(void)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);

	make_cgroup();
	check_ok(ps_eventset_attach_cgroup(set, "job/step"));
	return set;
}

static void count_on(int cpu, uint64_t amount)
{
	fake_advance_on(PAGE_FAULTS, -1, cpu, amount);
}

/* The program closes a descriptor, as daemons do, and opens a file of its own: under its number. */
static int take_number(int fd)
{
	ps__os.close(fd);
	fake_file("/own", "1");
	ck_assert_int_eq(ps__os.open("/own", O_RDONLY | O_CLOEXEC), fd);
	return fd;
}

START_TEST(a_group_that_the_program_closed_is_told)
{
	struct ps_eventset *set = attached();
	int own = take_number(set->counters.target.cgroup.fd);

	check_fails(ps_start(set), PS_ECLOST);
	check_detail("attach the set again");
	check_ok(ps_eventset_attach_cgroup(set, "job/step"));
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
	ck_assert_int_eq(ps__os.close(own), 0); /* it was still open */
}
END_TEST

START_TEST(a_file_under_its_number_stays_open)
{
	struct ps_eventset *set = attached();

	check_ok(ps_start(set));
	int own = take_number(set->counters.target.cgroup.fd);
	ps_eventset_destroy(set);
	ck_assert_int_eq(ps__os.close(own), 0);
}
END_TEST

START_TEST(counts_are_split_by_cpu_whoever_reads)
{
	struct ps_eventset *set = attached();
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;
	const char *why = NULL;

	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_open_fds(), 1 + 2 * 4); /* the folder, and an event on each CPU */
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_EXACT);
	ck_assert_str_eq(why, "");
	count_on(1, 1000);
	count_on(3, 10);
	fake_set_cpu(2);
	check_ok(ps_read(set, scene.root, &timestamp, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 2); /* the reader's */
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 1000);
	ck_assert_int_eq(scene_count(3, EVENT, timestamp), 10);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 1010);
	ck_assert_int_eq((int)scene_part(2, EVENT, timestamp).attribution, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq((int)scene_part(3, EVENT, timestamp).attribution, PS_ATTRIBUTION_EXACT);
	ck_assert_uint_eq(scene_rows(0, EVENT), 0); /* nothing happened there */
	scene_check_residual(set);
	count_on(0, 5);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	count_on(0, 2);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 7);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 1017);
	ps_eventset_destroy(set);
}
END_TEST

/* What is enabled is the time in which the group's tasks ran: not on the hardware all of it is
 * multiplexing. */
START_TEST(multiplexing_shows_on_the_cpu_where_it_was)
{
	struct ps_eventset *set;
	struct ps_value part;

	fake_add_core_pmu(4);
	set = scene_set("instructions", NULL);
	make_cgroup();
	fake_file("/sys/fs/cgroup/unified/job/cgroup.procs", "");
	check_ok(ps_eventset_attach_cgroup(set, "/sys/fs/cgroup/unified/job"));
	check_ok(ps_start(set));
	fake_run(1000, 500);
	fake_advance_on(INSTRUCTIONS, -1, 2, 100);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	part = scene_part(2, "instructions", 0);
	ck_assert_int_eq((int)part.status, PS_STATUS_SCALED);
	ck_assert_int_eq(part.value, 200);
	ps_eventset_destroy(set);
}
END_TEST

/* Software events wait for no counter: the clock of a group that began to run may be ahead. */
START_TEST(software_events_are_counted_whatever_the_clock_of_the_group_says)
{
	struct ps_eventset *set = attached();
	struct ps_value part;

	check_ok(ps_start(set));
	fake_run(1000, 10);
	count_on(2, 100);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	part = scene_part(2, EVENT, 0);
	ck_assert_int_eq((int)part.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(part.value, 100);
	ck_assert_uint_eq(part.enabled_ns, part.running_ns);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_hierarchy_of_version_1_with_perf_event_comes_first)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	make_cgroup();
	fake_file("/proc/self/mounts",
	          "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
	          "cgroup /sys/fs/cgroup/x cgroup rw,perf_events,cpu 0 0\n"
	          "cgroup /sys/fs/cgroup/perf_event cgroup rw,perf_event 0 0\n");
	check_fails(ps_eventset_attach_cgroup(set, "job/step"), PS_ESYS);
	check_detail("/sys/fs/cgroup/perf_event/job/step");
	fake_file("/sys/fs/cgroup/perf_event/job/step/cgroup.procs", "");
	check_ok(ps_eventset_attach_cgroup(set, "job/step"));
	check_ok(ps_start(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_mount_point_may_have_any_name)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	fake_file("/proc/self/mounts", "cgroup2 /mnt/my\\040groups\\134\\011x\\9 cgroup2 rw 0 0\n");
	fake_file("/mnt/my groups\\\tx\\9/job/cgroup.procs", "");
	check_ok(ps_eventset_attach_cgroup(set, "job"));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_is_no_control_group_is_refused)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	check_fails(ps_eventset_attach_cgroup(NULL, "job"), PS_EINVAL);
	check_fails(ps_eventset_attach_cgroup(set, NULL), PS_EINVAL);
	check_fails(ps_eventset_attach_cgroup(set, ""), PS_EINVAL);
	check_fails(ps_eventset_attach_cgroup(set, "job"), PS_ESYS); /* no list of mounts */
	check_detail("/proc/self/mounts");
	fake_file("/proc/self/mounts", "proc /proc proc rw 0 0\nnonsense\n");
	check_fails(ps_eventset_attach_cgroup(set, "job"), PS_ESYS);
	check_detail("mount -t cgroup2");
	make_cgroup();
	fake_fail(FAKE_OPEN, 1, EMFILE);
	check_fails(ps_eventset_attach_cgroup(set, "job/step"), PS_ECOUNT);
	check_fails(ps_eventset_attach_cgroup(set, "other"), PS_ESYS);
	check_detail("/sys/fs/cgroup/unified/other");
	check_fails(ps_eventset_attach_cgroup(set, "/proc/self/mounts"), PS_ESYS);
	check_ok(ps_eventset_attach_cgroup(set, "/sys/fs"));
	check_fails(ps_start(set), PS_EINVAL);
	check_detail("not a control group");
	ck_assert_uint_eq(fake_open_fds(), 1);
	check_ok(ps_eventset_detach(set));
	ck_assert_uint_eq(fake_open_fds(), 0);
	check_ok(ps_start(set));
	check_fails(ps_eventset_attach_cgroup(set, "job/step"), PS_EISRUN);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_user_without_privileges_is_told_what_it_takes)
{
	struct ps_eventset *set = attached();

	fake_set_paranoid(1, false);
	check_fails(ps_start(set), PS_EPERM);
	check_detail("control group");
	check_detail("sysctl kernel.perf_event_paranoid=0");
	fake_set_paranoid(0, false);
	check_ok(ps_start(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_start_on_a_removed_group_is_refused_and_the_readings_stay)
{
	struct ps_eventset *set = attached();

	check_ok(ps_start(set));
	count_on(1, 30);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(set));
	count_on(1, 4);
	fake_remove_cgroup();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_fails(ps_start(set), PS_ESYS);
	check_detail("was removed");
	ck_assert_int_eq(scene_total(EVENT).value, 4);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(too_few_descriptors_are_told_in_any_mode)
{
	for (int mode = PS_ATTRIBUTE_AUTO; mode <= PS_ATTRIBUTE_LAST_CPU; mode++) {
		struct ps_eventset *set = attached();

		check_ok(ps_eventset_set_attribution(set, (enum ps_attribution_mode)mode));
		fake_set_nofile(3 + 1 + 7);
		check_fails(ps_start(set), PS_ECOUNT);
		check_detail("8");
		check_detail("11");
		ck_assert_uint_eq(fake_open_fds(), 1);
		fake_set_nofile(3 + 1 + 8);
		check_ok(ps_start(set)); /* it is not bound by AUTO's half */
		ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_EXACT);
		ps_eventset_destroy(set);
	}
}
END_TEST

START_TEST(cpus_that_come_are_counted_from_the_next_start)
{
	struct ps_eventset *set = attached();
	uint64_t timestamp = 0;

	fake_set_online(2, false);
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_open_fds(), 1 + 2 * 3);
	count_on(1, 4);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq((int)scene_total(EVENT).status, PS_STATUS_COUNTED);
	fake_set_online(2, true);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq((int)scene_part(1, EVENT, timestamp).status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq((int)scene_total(EVENT).status, PS_STATUS_INCOMPLETE);
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_open_fds(), 1 + 2 * 4);
	count_on(2, 6);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(2, EVENT, timestamp), 6);
	ck_assert_int_eq((int)scene_total(EVENT).status, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_cpu_that_goes_and_comes_back_keeps_its_counts_and_goes_on)
{
	struct ps_eventset *set = attached();
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	count_on(1, 10);
	count_on(3, 100);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	count_on(3, 1);
	fake_set_online(3, false);
	count_on(1, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(3, EVENT, timestamp), 101);
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 20);
	fake_set_online(3, true);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	count_on(3, 7);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(3, EVENT, timestamp), 108);
	ck_assert_uint_ne(scene_part(3, EVENT, timestamp).flags & PS_VALUE_INTERRUPTED, 0);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 128);
	ps_eventset_destroy(set);
}
END_TEST

/* One event, as the kernel can't take it apart from others. _i: a reading sees the CPU offline, or
 * none does. */
START_TEST(a_cpu_that_comes_back_goes_on_with_a_single_event)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	uint64_t timestamp = 0;

	make_cgroup();
	check_ok(ps_eventset_attach_cgroup(set, "job/step"));
	check_ok(ps_start(set));
	count_on(3, 100);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_set_online(3, false);
	if (_i == 1)
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_set_online(3, true);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	count_on(3, 7);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(3, EVENT, timestamp), 107);
	ck_assert_uint_ne(scene_part(3, EVENT, timestamp).flags & PS_VALUE_INTERRUPTED, 0);
	ps_eventset_destroy(set);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

START_TEST(an_interruption_is_told_on_the_cpu_where_it_was)
{
	struct ps_eventset *set = attached();
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	count_on(1, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_set_online(3, false);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_set_online(3, true);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	count_on(1, 5);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 15);
	ck_assert_uint_eq(scene_part(1, EVENT, timestamp).flags & PS_VALUE_INTERRUPTED, 0);
	ck_assert_uint_ne(scene_part(3, EVENT, timestamp).flags & PS_VALUE_INTERRUPTED, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(counts_without_the_tasks_that_left_are_lower_bounds)
{
	struct ps_eventset *set = attached();
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	count_on(1, 10);
	ps__set_note_missing(set);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq((int)scene_part(1, EVENT, timestamp).status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq((int)scene_total(EVENT).status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(scene_total(EVENT).value, 10);
	check_ok(ps_start(set));
	count_on(1, 4);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq((int)scene_part(1, EVENT, timestamp).status, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)scene_total(EVENT).status, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_clone_counts_the_thread_that_starts_it)
{
	struct ps_eventset *model = attached(), *set = NULL;

	check_ok(ps_eventset_clone(&set, model));
	check_ok(ps_start(set));
	fake_set_cpu(1);
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, 0), 3);
	ps_eventset_destroy(set);
	ps_eventset_destroy(model);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

/* Each call fails once, at every place where it can. _i: with one event, or with two. */
START_TEST(whatever_fails_is_told_and_nothing_leaks)
{
	static const enum fake_call calls[] = {FAKE_OPEN,  FAKE_READ,     FAKE_PERF_EVENT_OPEN,
	                                       FAKE_IOCTL, FAKE_ALLOCATE, FAKE_CLOSE};

	for (size_t call = 0; call < sizeof(calls) / sizeof(calls[0]); call++) {
		bool happened = true;

		for (unsigned nth = 1; happened && nth < 500; nth++) {
			struct ps_eventset *set =
			    scene_set(EVENT, _i == 1 ? "minor-faults" : NULL, NULL);
			uint64_t timestamp = 0;

			make_cgroup();
			fake_fail(calls[call], nth, calls[call] == FAKE_ALLOCATE ? ENOMEM : EMFILE);
			int result = ps_eventset_attach_cgroup(set, "job/step");
			result = result == PS_OK ? ps_start(set) : result;
			count_on(1, 5);
			if (result == PS_OK)
				result = ps_stop(set, scene.root, &timestamp, NULL);
			happened = fake_fail_happened();
			fake_fail(calls[call], 0, 0);
			ck_assert_msg(result == PS_OK || *ps_error_detail(), "call %d, use %u",
			              (int)calls[call], nth);
			if (result == PS_OK)
				ck_assert_int_eq(scene_sum(EVENT, timestamp), 5);
			ps_eventset_destroy(set);
			ck_assert_uint_eq(fake_open_fds(), 0);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup");
	TCase *tests = scene_case(suite, "cgroup");

	tcase_add_test(tests, a_group_that_the_program_closed_is_told);
	tcase_add_test(tests, a_file_under_its_number_stays_open);
	tcase_add_test(tests, counts_are_split_by_cpu_whoever_reads);
	tcase_add_test(tests, multiplexing_shows_on_the_cpu_where_it_was);
	tcase_add_test(tests, software_events_are_counted_whatever_the_clock_of_the_group_says);
	tcase_add_test(tests, the_hierarchy_of_version_1_with_perf_event_comes_first);
	tcase_add_test(tests, a_mount_point_may_have_any_name);
	tcase_add_test(tests, what_is_no_control_group_is_refused);
	tcase_add_test(tests, a_user_without_privileges_is_told_what_it_takes);
	tcase_add_test(tests, a_start_on_a_removed_group_is_refused_and_the_readings_stay);
	tcase_add_test(tests, too_few_descriptors_are_told_in_any_mode);
	tcase_add_test(tests, cpus_that_come_are_counted_from_the_next_start);
	tcase_add_test(tests, a_cpu_that_goes_and_comes_back_keeps_its_counts_and_goes_on);
	tcase_add_loop_test(tests, a_cpu_that_comes_back_goes_on_with_a_single_event, 0, 2);
	tcase_add_test(tests, an_interruption_is_told_on_the_cpu_where_it_was);
	tcase_add_test(tests, counts_without_the_tasks_that_left_are_lower_bounds);
	tcase_add_test(tests, a_clone_counts_the_thread_that_starts_it);
	tcase_add_loop_test(tests, whatever_fails_is_told_and_nothing_leaks, 0, 2);
	return scene_run(suite);
}

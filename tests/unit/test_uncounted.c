/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs from which the kernel takes the counters when they begin. Their records are written by
 * hand, as Linux does: an exec (PERF_RECORD_COMM), and the end of the events (PERF_RECORD_EXIT)
 * without the program's code being mapped (PERF_RECORD_MMAP).
 */
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <perfsage/task.h>
#include <stdio.h>
#include <stdlib.h>

#define PROCESS 500
#define CPUS    4
#define EVENTS  2
#define NOW     1000000

static int fds[64];
static uint64_t now;

static struct ps_eventset *make_set(void)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	fake_task(PROCESS, "make", 1);
	fake_file("/proc/500/task/500/stat", "500 (make) R 1\n");
	fake_file("/proc/500/task/500/comm", "make\n");
	check_ok(ps_eventset_attach_process(set, PROCESS));
	fake_set_clock(NOW, 10);
	now = 1000;
	return set;
}

static struct ps_eventset *start_set(void)
{
	struct ps_eventset *set = make_set();

	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_counter_fds(fds, 64), CPUS * EVENTS);
	return set;
}

/* A record of three words in the ring of this descriptor; with the time and the number that
 * sample_id_all appends. */
static void put_at(int fd, uint32_t type, uint16_t misc, const uint64_t words[3], uint64_t time)
{
	uint64_t all[5] = {words[0], words[1], words[2], time};

	ck_assert_int_eq(ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&all[4]), 0);
	ck_assert(fake_put_record(fd, type, misc, all, 5));
}

static int leader(int cpu)
{
	return fds[EVENTS * cpu];
}

static uint64_t pair(pid_t low, pid_t high)
{
	return (uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static void put_name(int fd, uint16_t misc, pid_t pid, const char *name, uint64_t time)
{
	uint64_t words[3] = {pair(pid, pid)};

	memcpy(words + 1, name, strlen(name));
	put_at(fd, PERF_RECORD_COMM, misc, words, time);
}

static void put_exec(int cpu, pid_t pid, const char *name)
{
	put_name(leader(cpu), PERF_RECORD_MISC_COMM_EXEC, pid, name, now++);
}

static void put_mapping_at(int fd, pid_t pid, uint64_t time)
{
	put_at(fd, PERF_RECORD_MMAP, 0, (uint64_t[]){pair(pid, pid), 0x400000, 0x1000}, time);
}

static void put_exit_at(int fd, pid_t pid, uint64_t time)
{
	uint64_t task = pair(pid, PROCESS);

	put_at(fd, PERF_RECORD_EXIT, 0, (uint64_t[]){task, task, 0}, time);
}

static void put_mapping(int cpu, pid_t pid)
{
	put_mapping_at(leader(cpu), pid, now++);
}

static void put_exit(int cpu, pid_t pid)
{
	put_exit_at(leader(cpu), pid, now++);
}

static void count_on(int cpu, uint64_t faults)
{
	fake_task(PROCESS, "make", cpu);
	fake_advance_on(PAGE_FAULTS, PROCESS, cpu, faults);
	fake_advance_on(TASK_CLOCK, PROCESS, cpu, 1000);
}

static void check_none(struct ps_eventset *set)
{
	struct ps_uncounted found = {.programs = 99};

	check_ok(ps_eventset_uncounted(set, &found));
	ck_assert_uint_eq(found.programs, 0);
	ck_assert_int_eq(found.pid, 0);
	ck_assert_str_eq(found.name, "");
}

static void check_one(struct ps_eventset *set, pid_t pid, const char *name)
{
	struct ps_uncounted found;

	check_ok(ps_eventset_uncounted(set, &found));
	ck_assert_uint_eq(found.programs, 1);
	ck_assert_int_eq(found.pid, pid);
	ck_assert_str_eq(found.name, name);
}

START_TEST(a_program_whose_events_end_before_its_code_is_mapped_is_told)
{
	struct ps_eventset *set = start_set();

	check_none(set);
	put_exec(2, 501, "sudo");
	put_exit(2, 501);
	check_one(set, 501, "sudo");
	ps_eventset_destroy(set);
}
END_TEST

/* However short it is: it maps its code before it runs. */
START_TEST(a_program_that_is_counted_is_not_told)
{
	struct ps_eventset *set = start_set();

	for (pid_t pid = 501; pid < 521; pid++) {
		put_exec(pid % CPUS, pid, "true");
		put_mapping(pid % CPUS, pid);
		put_exit(pid % CPUS, pid);
	}
	/* A child that calls no exec; and one that takes a name. */
	put_exit(1, 600);
	put_name(leader(1), 0, 601, "worker", now++);
	put_exit(1, 601);
	check_none(set);
	count_on(1, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total("page-faults").status, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
}
END_TEST

/* It writes each record on the CPU where it is then. */
START_TEST(a_program_that_moves_while_it_begins_is_followed)
{
	struct ps_eventset *set = start_set();

	put_exec(3, 501, "true");
	put_mapping(0, 501);
	put_exit(1, 501);
	put_exec(3, 502, "sudo");
	put_exit(0, 502);
	check_one(set, 502, "sudo");
	ps_eventset_destroy(set);
}
END_TEST

/* While the rings are looked at one after the other, a newer record may come into one of the later
 * ones, and the older one into one that was looked at. */
START_TEST(a_record_that_comes_during_a_look_waits_for_older_ones)
{
	struct ps_eventset *set = start_set();

	put_mapping_at(leader(3), 501, NOW + 50001);
	check_none(set);
	put_name(leader(0), PERF_RECORD_MISC_COMM_EXEC, 501, "true", NOW + 50000);
	put_exit_at(leader(0), 501, NOW + 50002);
	check_none(set);
	fake_set_clock(NOW + 60000, 10);
	check_none(set);
	ps_eventset_destroy(set);
}
END_TEST

/* What it starts isn't seen, so nobody knows when the last of it ends. */
START_TEST(values_are_incomplete_from_the_program_on)
{
	struct ps_eventset *set = start_set();
	uint64_t before = 0, during = 0, after = 0;

	count_on(1, 5);
	check_ok(ps_accum(set, scene.root, &before, NULL));
	put_exec(0, 501, "sudo");
	put_exit(0, 501);
	count_on(2, 7);
	check_ok(ps_accum(set, scene.root, &during, NULL));
	count_on(3, 9);
	check_ok(ps_stop(set, scene.root, &after, NULL));
	ck_assert_int_eq(scene_part(1, "page-faults", before).status, PS_STATUS_COUNTED);
	ck_assert_int_eq(scene_part(2, "page-faults", during).status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(scene_part(2, "page-faults", during).value, 7);
	ck_assert_int_eq(scene_part(3, "page-faults", after).status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(scene_part(3, "task-clock", after).status, PS_STATUS_INCOMPLETE);
	ck_assert_str_eq(ps_status_name(PS_STATUS_INCOMPLETE), "incomplete");
	ps_eventset_destroy(set);
}
END_TEST

/* It may have run on any CPU that the reading tells of, not only where counts are new. */
START_TEST(all_parts_of_a_reading_are_incomplete)
{
	struct ps_eventset *set = start_set();

	count_on(1, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	put_exec(0, 501, "sudo");
	put_exit(0, 501);
	count_on(2, 7);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_part(1, "page-faults", 0).status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(scene_part(2, "page-faults", 0).status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(scene_total("page-faults").status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(scene_total("page-faults").value, 12);
	ps_eventset_destroy(set);
}
END_TEST

static void check_text(enum ps_format format, const char *part)
{
	char *text = scene_text(format);

	ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%s", part, text);
	free(text);
}

/* Of a 0 nothing is known. */
START_TEST(no_format_shows_a_plain_number)
{
	struct ps_eventset *set = start_set();

	put_exec(1, 501, "sudo");
	put_exit(1, 501);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_text(PS_FORMAT_TEXT, " >=0 ");
	check_text(PS_FORMAT_TEXT, "exact, incomplete");
	check_text(
	    PS_FORMAT_JSON,
	    "{\"event\": \"page-faults\", \"value\": null, \"count\": null, \"unit\": \"count\", "
	    "\"status\": \"incomplete\"");
	check_text(PS_FORMAT_CSV, ",page-faults,,count,incomplete,");
	count_on(1, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_text(PS_FORMAT_TEXT, " >=5 ");
	check_text(PS_FORMAT_JSON,
	           "\"value\": 5, \"count\": 5, \"unit\": \"count\", \"status\": \"incomplete\"");
	check_text(PS_FORMAT_CSV, ",page-faults,5,count,incomplete,");
	ps_eventset_destroy(set);
}
END_TEST

/* A rate of what is incomplete is no bound of anything. */
START_TEST(no_metric_is_made_of_incomplete_counts)
{
	struct ps_eventset *set = start_set();
	struct ps_metric_value rate;

	put_exec(1, 501, "sudo");
	put_exit(1, 501);
	count_on(1, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_ok(ps_component_metric(scene.root, "page-fault-rate", &rate));
	ck_assert(rate.value != rate.value);
	ck_assert_int_eq(rate.status, PS_STATUS_INCOMPLETE);
	ps_eventset_destroy(set);
}
END_TEST

/* A mapping may be among what was lost: no program is blamed for that. */
START_TEST(lost_records_are_told_and_blame_nobody)
{
	struct ps_eventset *set = start_set();
	struct ps_uncounted found;

	put_exec(1, 501, "true");
	put_at(leader(1), PERF_RECORD_LOST, 0, (uint64_t[]){1, 1, 0}, now++);
	check_fails(ps_eventset_uncounted(set, &found), PS_PARTIAL);
	check_detail("records");
	put_exit(1, 501);
	check_fails(ps_eventset_uncounted(set, &found), PS_PARTIAL);
	ck_assert_uint_eq(found.programs, 0);
	count_on(1, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total("page-faults").status, PS_STATUS_COUNTED);
	/* What is seen from then on is true. */
	put_exec(1, 502, "sudo");
	put_exit(1, 502);
	check_fails(ps_eventset_uncounted(set, &found), PS_PARTIAL);
	ck_assert_uint_eq(found.programs, 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_set_that_was_stopped_does_not_know)
{
	struct ps_eventset *set = start_set();
	struct ps_uncounted found;

	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_none(set);
	check_ok(ps_start(set));
	check_fails(ps_eventset_uncounted(set, &found), PS_PARTIAL);
	check_detail("stopped");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(without_a_ring_counting_goes_on_and_the_reason_is_told)
{
	struct ps_eventset *set = make_set();
	struct ps_uncounted found;

	fake_fail_always(FAKE_MMAP, EPERM);
	check_ok(ps_start(set));
	fake_fail_always(FAKE_MMAP, 0);
	check_fails(ps_eventset_uncounted(set, &found), PS_PARTIAL);
	check_detail("perf_event_mlock_kb");
	count_on(1, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(1, "page-faults", 0), 5);
	ps_eventset_destroy(set);
}
END_TEST

/* Locked memory may have room for smaller ones. */
START_TEST(a_smaller_ring_is_tried)
{
	struct ps_eventset *set = make_set();
	struct ps_uncounted found;

	fake_fail(FAKE_MMAP, 1, EPERM);
	check_ok(ps_start(set));
	ck_assert(fake_fail_happened());
	check_ok(ps_eventset_uncounted(set, &found));
	ps_eventset_destroy(set);
}
END_TEST

/* The set's own leaders have the rings: on 64 CPUs another inherited event would cost each fork
 * dearly. */
START_TEST(watching_takes_no_event_more)
{
	struct ps_eventset *set = start_set();

	for (int index = 0; index < CPUS * EVENTS; index++) {
		const struct perf_event_attr *attr = fake_attr_of_fd(fds[index]);
		bool is_leader = index % EVENTS == 0;
		ck_assert_int_eq(fake_leader_of_fd(fds[index]), leader(index / EVENTS));
		ck_assert_int_eq(fake_ring_of_fd(fds[index]) != NULL, is_leader);
		ck_assert_int_eq((int)attr->comm_exec, is_leader);
		ck_assert(attr->use_clockid && attr->clockid == CLOCK_MONOTONIC);
	}
	ps_eventset_destroy(set);
}
END_TEST

/* Then their notes have the records: a leader's own ring would get the tasks' counts from other
 * CPUs, too. */
START_TEST(it_is_told_where_tasks_are_told_apart)
{
	struct ps_eventset *set = make_set();

	check_ok(ps_eventset_set_tasks(set, 1));
	check_ok(ps_start(set));
	size_t count = fake_counter_fds(fds, 64);
	ck_assert_uint_eq(count, CPUS * (EVENTS + 2) + 1);
	for (int cpu = 0; cpu < CPUS; cpu++)
		ck_assert_ptr_null(fake_ring_of_fd(leader(cpu)));
	int notes = fds[CPUS * EVENTS + 1];
	put_name(notes, PERF_RECORD_MISC_COMM_EXEC, 501, "true", now++);
	put_mapping_at(notes, 501, now++);
	put_exit_at(notes, 501, now++);
	check_none(set);
	put_name(notes, PERF_RECORD_MISC_COMM_EXEC, 502, "sudo", now++);
	put_exit_at(notes, 502, now++);
	check_one(set, 502, "sudo");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(where_it_cannot_be_known_that_is_said)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	struct ps_uncounted found;

	check_fails(ps_eventset_uncounted(NULL, &found), PS_EINVAL);
	check_fails(ps_eventset_uncounted(set, NULL), PS_EINVAL);
	check_ok(ps_start(set));
	check_fails(ps_eventset_uncounted(set, &found), PS_ENOSUPP);
	ps_eventset_destroy(set);
	set = make_set();
	check_fails(ps_eventset_uncounted(set, &found), PS_ENOTRUN);
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_start(set));
	check_fails(ps_eventset_uncounted(set, &found), PS_ENOSUPP);
	check_detail("LAST_CPU");
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("uncounted");
	TCase *programs = scene_case_instances(suite, "programs");
	TCase *values = scene_case_instances(suite, "values");
	TCase *rings = scene_case_instances(suite, "rings");

	tcase_add_test(programs, a_program_whose_events_end_before_its_code_is_mapped_is_told);
	tcase_add_test(programs, a_program_that_is_counted_is_not_told);
	tcase_add_test(programs, a_program_that_moves_while_it_begins_is_followed);
	tcase_add_test(programs, a_record_that_comes_during_a_look_waits_for_older_ones);
	tcase_add_test(programs, it_is_told_where_tasks_are_told_apart);
	tcase_add_test(values, values_are_incomplete_from_the_program_on);
	tcase_add_test(values, all_parts_of_a_reading_are_incomplete);
	tcase_add_test(values, no_format_shows_a_plain_number);
	tcase_add_test(values, no_metric_is_made_of_incomplete_counts);
	tcase_add_test(rings, lost_records_are_told_and_blame_nobody);
	tcase_add_test(rings, a_set_that_was_stopped_does_not_know);
	tcase_add_test(rings, without_a_ring_counting_goes_on_and_the_reason_is_told);
	tcase_add_test(rings, a_smaller_ring_is_tried);
	tcase_add_test(rings, watching_takes_no_event_more);
	tcase_add_test(rings, where_it_cannot_be_known_that_is_said);
	return scene_run(suite);
}

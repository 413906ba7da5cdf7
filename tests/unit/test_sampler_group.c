/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/sampler_group.c on the fake kernel: events in the group of a sampler's event. */
#include "test_sampler.h"

#include <errno.h>

#define COUNTER 0x1u

static struct ps_attr *attr_of_leader(void)
{
	struct ps_attr *attr = new_attr("page-faults");

	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_TYPE, SAMPLE_TYPE | PERF_SAMPLE_READ));
	check_ok(ps_attr_set(attr, PS_ATTR_READ_FORMAT, PERF_FORMAT_GROUP));
	return attr;
}

static struct ps_sampler *new_leader(void)
{
	struct ps_attr *attr = attr_of_leader();
	struct ps_sampler *sampler = NULL;

	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	ps_attr_destroy(attr);
	return sampler;
}

static struct ps_attr *member(const char *event)
{
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, event));
	return attr;
}

static void add(struct ps_sampler *sampler, const char *event)
{
	struct ps_attr *attr = member(event);

	check_ok(ps_sampler_add(sampler, attr));
	ps_attr_destroy(attr);
}

static void refuse(struct ps_sampler *sampler, const struct ps_attr *attr, int code,
                   const char *sentence)
{
	check_fails(ps_sampler_add(sampler, attr), code);
	check_detail(sentence);
	ck_assert_uint_eq(sampler->member_count, 0);
}

/* Its copies would make forks fail, as those of the sampler's own event would. */
START_TEST(a_probe_by_text_is_no_member_that_tasks_inherit)
{
	struct ps_attr *leader = attr_of_leader(), *probe;
	struct ps_sampler *sampler = NULL;

	fake_add_pmu(7, 1);
	fake_file("/sys/bus/event_source/devices/uprobe/type", "7\n");
	probe = member("uprobe/path=/x,offset=1/");
	check_ok(ps_attr_set(leader, PS_ATTR_INHERIT, 1));
	check_ok(ps_sampler_create(&sampler, leader, 0, 0, 0));
	refuse(sampler, probe, PS_ECOMBO, "fail (EFAULT)");
	ps_sampler_destroy(sampler);
	check_ok(ps_sampler_create(&sampler, leader, -1, 0, 0));
	check_ok(ps_sampler_add(sampler, probe));
	ps_sampler_destroy(sampler);
	ps_attr_destroy(leader);
	ps_attr_destroy(probe);
}
END_TEST

START_TEST(a_member_follows_the_samplers_event)
{
	struct ps_attr *attr = attr_of_leader();
	struct ps_sampler *sampler = NULL;

	fake_count_lost();
	check_ok(ps_attr_set(attr, PS_ATTR_USE_CLOCKID, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_CLOCKID, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_INHERIT, 1));
	check_ok(ps_sampler_create(&sampler, attr, 0, 1, 0));
	ps_attr_destroy(attr);
	add(sampler, "minor-faults");
	const struct perf_event_attr *leader = fake_attr_of_fd(ps_sampler_fd(sampler));
	const struct perf_event_attr *opened = fake_attr_of_fd(sampler->members[0].fd);
	ck_assert_uint_eq(opened->config, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	ck_assert_uint_eq(opened->read_format, leader->read_format);
	ck_assert_int_eq(opened->clockid, 1);
	ck_assert(opened->use_clockid && opened->inherit && !opened->disabled);
	ck_assert_uint_eq(opened->sample_period, 0);
	pid_t tid;
	int cpu;
	fake_target_of_fd(sampler->members[0].fd, &tid, &cpu);
	ck_assert_int_eq(cpu, 1);
	ps_sampler_destroy(sampler);
}
END_TEST

/* With each of the kernel's formats of a group. */
START_TEST(the_group_is_read_in_order)
{
	struct ps_attr *attr = attr_of_leader();
	struct ps_sampler *sampler = NULL;
	struct ps_sampler_count counts[3] = {{.value = 77}};

	if (_i >= 2)
		fake_count_lost();
	check_ok(ps_attr_set(attr, PS_ATTR_READ_FORMAT,
	                     PERF_FORMAT_GROUP | (_i % 2 ? PERF_FORMAT_ID : 0)));
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	ps_attr_destroy(attr);
	add(sampler, "minor-faults");
	add(sampler, "major-faults");
	check_ok(ps_sampler_start(sampler));
	fake_advance(PAGE_FAULTS, 12);
	fake_advance(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 11);
	fake_advance(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1);
	fake_run(500, 400);
	check_fails(ps_sampler_read_group(sampler, counts, 2), PS_EINVAL);
	check_detail("the group has 3 events");
	check_fails(ps_sampler_read_group(sampler, NULL, 3), PS_EINVAL);
	check_fails(ps_sampler_read_group(NULL, counts, 3), PS_EINVAL);
	fake_fail(FAKE_READ, 1, EIO);
	check_fails(ps_sampler_read_group(sampler, counts, 3), PS_ESYS);
	ck_assert_uint_eq(counts[0].value, 77);
	check_ok(ps_sampler_read_group(sampler, counts, 3));
	ck_assert_uint_eq(counts[0].value, 12);
	ck_assert_uint_eq(counts[1].value, 11);
	ck_assert_uint_eq(counts[2].value, 1);
	ck_assert_uint_eq(counts[2].enabled_ns, 500);
	ck_assert_uint_eq(counts[2].running_ns, 400);
	check_ok(ps_sampler_read(sampler, counts));
	ck_assert_uint_eq(counts[0].value, 12);
	ps_sampler_destroy(sampler);
}
END_TEST

START_TEST(what_can_not_be_a_member_is_refused)
{
	struct ps_sampler *plain = new_sampler(0), *sampler = new_leader();
	struct ps_attr *attr = member("minor-faults");

	check_fails(ps_sampler_add(NULL, attr), PS_EINVAL);
	refuse(sampler, NULL, PS_EINVAL, "attr is NULL");
	refuse(plain, attr, PS_ECOMBO, "hold no counts of a group");
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 5));
	refuse(sampler, attr, PS_ECOMBO, "would write records of its own");
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 0));
	check_ok(ps_attr_set(attr, PS_ATTR_PINNED, 1));
	refuse(sampler, attr, PS_ECOMBO, "pinned is for a whole group");
	check_ok(ps_attr_set(attr, PS_ATTR_PINNED, 0));
	check_ok(ps_attr_set(attr, PS_ATTR_CONFIG, 99));
	refuse(sampler, attr, PS_ENOSUPP, "");
	check_ok(ps_attr_set(attr, PS_ATTR_CONFIG, PERF_COUNT_SW_PAGE_FAULTS_MIN));
	check_ok(ps_sampler_start(sampler));
	refuse(sampler, attr, PS_EISRUN, "before ps_sampler_start");
	check_ok(ps_sampler_stop(sampler));
	/* It was on for no time at all. */
	check_ok(ps_sampler_add(sampler, attr));
	ps_attr_destroy(attr);
	ps_sampler_destroy(plain);
	ps_sampler_destroy(sampler);
}
END_TEST

START_TEST(a_member_of_any_cpu_has_one_counter)
{
	struct ps_sampler *sampler;
	struct ps_attr *attr;

	fake_add_hybrid(4, "0-1", 4, "2-3");
	sampler = new_leader();
	attr = member("instructions");
	refuse(sampler, attr, PS_ECOMBO, "for each CPU");
	ps_attr_destroy(attr);
	ps_sampler_destroy(sampler);
}
END_TEST

/* The kernel would give the added event the times from before, too. */
START_TEST(a_sampler_that_was_started_takes_no_more_events)
{
	struct ps_sampler *sampler = new_leader();
	struct ps_attr *attr = member("minor-faults");

	check_ok(ps_sampler_start(sampler));
	fake_run(500, 400);
	check_ok(ps_sampler_stop(sampler));
	refuse(sampler, attr, PS_EISRUN, "was started before");
	ps_attr_destroy(attr);
	ps_sampler_destroy(sampler);
}
END_TEST

/* More hardware events than there are counters. */
START_TEST(a_full_pmu_is_told_from_an_event_that_is_none)
{
	struct ps_sampler *sampler = new_leader();
	struct ps_attr *attr;

	fake_add_pmu(PERF_TYPE_HARDWARE, 2);
	add(sampler, "cycles");
	add(sampler, "instructions");
	attr = member("branches");
	check_fails(ps_sampler_add(sampler, attr), PS_ENOCNTR);
	check_detail("'branches' can be counted alone, and not together with 'page-faults' and "
	             "the 2 events");
	ck_assert_uint_eq(sampler->member_count, 2);
	ps_attr_destroy(attr);
	ps_sampler_destroy(sampler);
}
END_TEST

START_TEST(a_group_has_a_largest_size)
{
	struct ps_sampler *sampler = new_leader();
	struct ps_sampler_count counts[PS_SAMPLER_MOST_EVENTS];
	struct ps_attr *attr = member("minor-faults");

	for (size_t i = 1; i < PS_SAMPLER_MOST_EVENTS; i++)
		check_ok(ps_sampler_add(sampler, attr));
	check_fails(ps_sampler_add(sampler, attr), PS_ECNFLCT);
	check_ok(ps_sampler_read_group(sampler, counts, PS_SAMPLER_MOST_EVENTS));
	ps_attr_destroy(attr);
	ps_sampler_destroy(sampler);
}
END_TEST

/* Each kernel call and each allocation fails once: the sampler is as before. */
START_TEST(a_failure_leaves_the_sampler_as_it_was)
{
	static const struct {
		enum fake_call call;
		int error, code;
	} rows[] = {{FAKE_ALLOCATE, ENOMEM, PS_ENOMEM},
	            {FAKE_PERF_EVENT_OPEN, EMFILE, PS_ECOUNT},
	            {FAKE_PERF_EVENT_OPEN, ENOSPC, PS_ENOCNTR}};
	struct ps_attr *attr = member("minor-faults");

	for (unsigned nth = 1;; nth++) {
		struct ps_sampler *sampler = new_leader();
		size_t fds = fake_open_fds();
		fake_fail(rows[_i].call, nth, rows[_i].error);
		int result = ps_sampler_add(sampler, attr);
		bool happened = fake_fail_happened();
		fake_fail(rows[_i].call, 0, 0);
		ck_assert_int_eq(result, happened ? rows[_i].code : PS_OK);
		ck_assert_uint_eq(fake_open_fds(), fds + !happened);
		ck_assert_uint_eq(sampler->member_count, !happened);
		ps_sampler_destroy(sampler);
		if (!happened)
			break;
	}
	ps_attr_destroy(attr);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampler group");
	TCase *tests = scene_case(suite, "sampler group");

	tcase_add_test(tests, a_member_follows_the_samplers_event);
	tcase_add_test(tests, a_probe_by_text_is_no_member_that_tasks_inherit);
	tcase_add_loop_test(tests, the_group_is_read_in_order, 0, 4);
	tcase_add_test(tests, what_can_not_be_a_member_is_refused);
	tcase_add_test(tests, a_member_of_any_cpu_has_one_counter);
	tcase_add_test(tests, a_sampler_that_was_started_takes_no_more_events);
	tcase_add_test(tests, a_full_pmu_is_told_from_an_event_that_is_none);
	tcase_add_test(tests, a_group_has_a_largest_size);
	tcase_add_loop_test(tests, a_failure_leaves_the_sampler_as_it_was, 0, 3);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/add_attr.c: an event set counts what an attr describes, and keeps its own fields. */
#include "sample/attr.h"
#include "support/scene.h"

#include <errno.h>

static struct ps_attr *new_attr(const char *event)
{
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, event));
	return attr;
}

static struct ps_eventset *new_set(void)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	return set;
}

/* The newest event that is open: it is the set's last one. */
static const struct perf_event_attr *opened(void)
{
	int fds[16];
	size_t count = fake_counter_fds(fds, 16);

	ck_assert_uint_ge(count, 1);
	return fake_attr_of_fd(fds[count - 1]);
}

START_TEST(it_counts_under_the_events_name)
{
	struct ps_eventset *set = new_set();
	struct ps_attr *attr = new_attr("page-faults");

	check_ok(ps_attr_set(attr, PS_ATTR_EXCLUDE_IDLE, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_REMOVE_ON_EXEC, 1));
	check_ok(ps_eventset_add_attr(set, attr));
	ps_attr_destroy(attr);
	ck_assert_uint_eq(ps_eventset_event_count(set), 1);
	check_ok(ps_start(set));
	ck_assert_int_eq(opened()->exclude_idle, 1);
	ck_assert_int_eq(opened()->remove_on_exec, 1);
	scene_count_on(1, 5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(1, "page-faults", 0), 5);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_exclusive_event_leads_a_group)
{
	struct ps_eventset *set = new_set();
	struct ps_attr *attr = new_attr("minor-faults");

	check_ok(ps_eventset_add(set, "page-faults"));
	check_ok(ps_attr_set(attr, PS_ATTR_EXCLUSIVE, 1));
	check_ok(ps_eventset_add_attr(set, attr));
	check_ok(ps_start(set));
	ck_assert_int_eq(ps_eventset_event_group(set, 0), 0);
	ck_assert_int_eq(ps_eventset_event_group(set, 1), 1);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_attr_destroy(attr);
	ps_eventset_destroy(set);
}
END_TEST

static const struct refusal {
	enum ps_attr_field field;
	uint64_t value;
	const char *sentence;
} refusals[] = {
    {PS_ATTR_READ_FORMAT, 1, "the set decides"},
    {PS_ATTR_DISABLED, 0, "ps_start"},
    {PS_ATTR_ENABLE_ON_EXEC, 1, "ps_eventset_set_enable_on_exec"},
    {PS_ATTR_INHERIT, 1, "ps_eventset_attach_process"},
    {PS_ATTR_INHERIT_STAT, 1, "the set"},
    {PS_ATTR_INHERIT_THREAD, 1, "target"},
    {PS_ATTR_SAMPLE_TYPE, 1, "ps_sampler(3)"},
    {PS_ATTR_SAMPLE_PERIOD, 1000, "ps_sampler(3)"},
    {PS_ATTR_SAMPLE_FREQ, 1000, "sample_freq"},
    {PS_ATTR_MMAP, 1, "ps_sampler(3)"},
    {PS_ATTR_CONTEXT_SWITCH, 1, "ps_sampler(3)"},
    {PS_ATTR_PRECISE_IP, 1, "ps_sampler(3)"},
    {PS_ATTR_USE_CLOCKID, 1, "ps_sampler(3)"},
    {PS_ATTR_WAKEUP_EVENTS, 1, "ps_sampler(3)"},
    {PS_ATTR_WAKEUP_WATERMARK, 1, "ps_sampler(3)"},
    {PS_ATTR_AUX_PAUSE, 1, "ps_sampler(3)"},
};

START_TEST(what_the_set_decides_is_refused)
{
	struct ps_eventset *set = new_set();
	struct ps_attr *attr = new_attr("page-faults");

	check_ok(ps_attr_set(attr, refusals[_i].field, refusals[_i].value));
	check_fails(ps_eventset_add_attr(set, attr), PS_EATTR);
	check_detail("'page-faults'");
	check_detail(refusals[_i].sentence);
	ck_assert_uint_eq(ps_eventset_event_count(set), 0);
	ps_attr_destroy(attr);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(with_sigtrap_a_period_may_be_set)
{
	struct ps_eventset *set = new_set();
	struct ps_attr *attr = new_attr("page-faults");

	check_ok(ps_attr_set(attr, PS_ATTR_SIGTRAP, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_REMOVE_ON_EXEC, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 7));
	check_ok(ps_attr_set(attr, PS_ATTR_SIG_DATA, 99));
	check_ok(ps_eventset_add_attr(set, attr));
	check_ok(ps_start(set));
	ck_assert_uint_eq(opened()->sample_period, 7);
	ck_assert_uint_eq(opened()->sig_data, 99);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_attr_destroy(attr);
	ps_eventset_destroy(set);
}
END_TEST

/* Planning lets hardware events count for a moment: not those that would send signals. */
START_TEST(no_signal_comes_before_the_start)
{
	struct ps_eventset *set = new_set();
	struct ps_attr *attr;

	fake_add_core_pmu(4);
	attr = new_attr("instructions");
	check_ok(ps_attr_set(attr, PS_ATTR_SIGTRAP, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_REMOVE_ON_EXEC, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 7));
	check_ok(ps_eventset_add_attr(set, attr));
	check_ok(ps_start(set));
	int fds[4];
	ck_assert_uint_eq(fake_counter_fds(fds, 4), 1);
	ck_assert(fake_attr_of_fd(fds[0])->disabled);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_attr_destroy(attr);
	ps_eventset_destroy(set);
}
END_TEST

static int refuse_both(const struct perf_event_attr *attr)
{
	return attr->remove_on_exec && attr->enable_on_exec ? EINVAL : 0;
}

START_TEST(remove_on_exec_and_enabling_on_exec_exclude_each_other)
{
	struct ps_eventset *set = new_set();
	struct ps_attr *attr = new_attr("page-faults");

	fake_task(4000, "program", 1);
	fake_set_refusal(refuse_both);
	check_ok(ps_attr_set(attr, PS_ATTR_REMOVE_ON_EXEC, 1));
	check_ok(ps_eventset_add_attr(set, attr));
	check_ok(ps_eventset_attach_tid(set, 4000));
	check_ok(ps_eventset_set_enable_on_exec(set, 1));
	check_fails(ps_start(set), PS_ECOMBO);
	check_detail("remove_on_exec");
	ps_attr_destroy(attr);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(errors_are_those_of_adding_a_name)
{
	struct ps_eventset *set = new_set();
	struct ps_attr *attr = new_attr("page-faults");

	check_fails(ps_eventset_add_attr(NULL, attr), PS_EINVAL);
	check_fails(ps_eventset_add_attr(set, NULL), PS_EINVAL);
	check_ok(ps_eventset_add_attr(set, attr));
	check_fails(ps_eventset_add_attr(set, attr), PS_ECNFLCT);
	ps_attr_destroy(attr);
	attr = new_attr("cycles");
	check_fails(ps_eventset_add_attr(set, attr), PS_ENOSUPP);
	ps_attr_destroy(attr);
	attr = new_attr("minor-faults");
	for (unsigned nth = 1;; nth++) {
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_eventset_add_attr(set, attr);
		if (result == PS_OK)
			break;
		ck_assert_int_eq(result, PS_ENOMEM);
	}
	fake_fail(FAKE_ALLOCATE, 0, 0);
	ck_assert_uint_eq(ps_eventset_event_count(set), 2);
	check_ok(ps_start(set));
	ps_attr_destroy(attr);
	attr = new_attr("major-faults");
	check_fails(ps_eventset_add_attr(set, attr), PS_EISRUN);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_attr_destroy(attr);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("add_attr");
	TCase *tests = scene_case(suite, "add_attr");

	tcase_add_test(tests, it_counts_under_the_events_name);
	tcase_add_test(tests, an_exclusive_event_leads_a_group);
	tcase_add_loop_test(tests, what_the_set_decides_is_refused, 0,
	                    sizeof refusals / sizeof *refusals);
	tcase_add_test(tests, with_sigtrap_a_period_may_be_set);
	tcase_add_test(tests, no_signal_comes_before_the_start);
	tcase_add_test(tests, remove_on_exec_and_enabling_on_exec_exclude_each_other);
	tcase_add_test(tests, errors_are_those_of_adding_a_name);
	return scene_run(suite);
}

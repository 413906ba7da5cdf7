/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/attr_check.c and attr_blame.c: which field a kernel refuses, on kernels that refuse
 * one thing or another. */
#include "sample/attr.h"
#include "support/scene.h"

#include <errno.h>

#define NOTHING ((enum ps_attr_field)999)

static struct ps_attr *new_attr(const char *event)
{
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, event));
	return attr;
}

static void set(struct ps_attr *attr, enum ps_attr_field field, uint64_t value)
{
	check_ok(ps_attr_set(attr, field, value));
}

/* A field and others that are taken, so that it has to be searched. */
static void set_much(struct ps_attr *attr)
{
	set(attr, PS_ATTR_SAMPLE_PERIOD, 1000);
	set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	set(attr, PS_ATTR_MMAP, 1);
	set(attr, PS_ATTR_COMM, 1);
	set(attr, PS_ATTR_TASK, 1);
	set(attr, PS_ATTR_EXCLUSIVE, 1);
	set(attr, PS_ATTR_SAMPLE_ID_ALL, 1);
	set(attr, PS_ATTR_WAKEUP_EVENTS, 1);
}

static void check_refused(const struct ps_attr *attr, int code, enum ps_attr_field field)
{
	enum ps_attr_field refused = NOTHING;
	unsigned fds = fake_open_fds();

	check_fails(ps_attr_check(attr, &refused), code);
	check_detail(attr->event.name);
	ck_assert_msg(refused == field, "%s", ps_error_detail());
	ck_assert_uint_eq(fake_open_fds(), fds);
}

/* To a kernel older than the field, the bit is one of the reserved ones. */
static enum ps_attr_field unknown_field;

static int refuse_unknown(const struct perf_event_attr *attr)
{
	union ps__attr words = {.later = {0}};

	memcpy(&words, attr, sizeof *attr);
	return ps__attr_field_read(&words, unknown_field) ? EINVAL : 0;
}

START_TEST(any_field_that_the_kernel_does_not_know_is_found)
{
	static const enum ps_attr_field fields[] = {
	    PS_ATTR_INHERIT,        PS_ATTR_EXCLUSIVE,  PS_ATTR_MMAP2,
	    PS_ATTR_CONTEXT_SWITCH, PS_ATTR_NAMESPACES, PS_ATTR_KSYMBOL,
	    PS_ATTR_BPF_EVENT,      PS_ATTR_CGROUP,     PS_ATTR_TEXT_POKE,
	    PS_ATTR_BUILD_ID,       PS_ATTR_SIGTRAP,    PS_ATTR_REMOVE_ON_EXEC,
	    PS_ATTR_DEFER_OUTPUT,   PS_ATTR_AUX_PAUSE,  PS_ATTR_SAMPLE_STACK_USER};
	struct ps_attr *attr = new_attr("page-faults");

	set_much(attr);
	set(attr, PS_ATTR_EXCLUSIVE, 0);
	unknown_field = fields[_i];
	fake_set_refusal(refuse_unknown);
	check_ok(ps_attr_check(attr, NULL));
	set(attr, unknown_field, 8 % (1 + ps__attr_field_largest(unknown_field)) ? 8 : 1);
	check_refused(attr, PS_ENOSUPP, unknown_field);
	check_detail(ps_attr_field_name(unknown_field));
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(an_attr_that_is_taken_is_opened_once_and_closed)
{
	struct ps_attr *attr = new_attr("page-faults");
	enum ps_attr_field refused = NOTHING;

	set_much(attr);
	fake_count_reset();
	check_ok(ps_attr_check(attr, &refused));
	ck_assert_int_eq(refused, NOTHING);
	ck_assert_uint_eq(fake_count(FAKE_PERF_EVENT_OPEN), 1);
	ck_assert_uint_eq(fake_open_fds(), 0);
	ps_attr_destroy(attr);
}
END_TEST

static int refuse_branches(const struct perf_event_attr *attr)
{
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK && !attr->branch_sample_type)
		return EINVAL;
	return attr->sample_type & PERF_SAMPLE_BRANCH_STACK ? EOPNOTSUPP : 0;
}

START_TEST(the_bit_of_a_mask_is_named)
{
	struct ps_attr *attr = new_attr("page-faults");

	set_much(attr);
	set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_CPU);
	set(attr, PS_ATTR_BRANCH_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_ANY);
	fake_set_refusal(refuse_branches);
	check_refused(attr, PS_ENOSUPP, PS_ATTR_SAMPLE_TYPE);
	check_detail("PERF_SAMPLE_BRANCH_STACK in sample_type");
	check_detail("PMU");
	ps_attr_destroy(attr);
}
END_TEST

/* As Linux: sigtrap needs remove_on_exec, and a PMU may have no branches. */
static int refuse_two(const struct perf_event_attr *attr)
{
	union ps__attr words = {.later = {0}};

	memcpy(&words, attr, sizeof *attr);
	if (ps__attr_field_read(&words, PS_ATTR_SIGTRAP) &&
	    !ps__attr_field_read(&words, PS_ATTR_REMOVE_ON_EXEC))
		return EINVAL;
	if (ps__attr_field_read(&words, PS_ATTR_INHERIT_THREAD) && !attr->inherit)
		return EINVAL;
	return refuse_branches(attr);
}

static int refuse_empty_masks(const struct perf_event_attr *attr)
{
	uint64_t needing = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_BRANCH_STACK;

	return attr->sample_type & needing ? EINVAL : 0;
}

START_TEST(a_bit_whose_mask_is_empty_is_told_with_the_mask)
{
	static const char *const masks[] = {"set sample_regs_user, which is 0",
	                                    "set sample_regs_intr, which is 0",
	                                    "set branch_sample_type, which is 0"};
	static const uint64_t bits[] = {PERF_SAMPLE_REGS_USER, PERF_SAMPLE_REGS_INTR,
	                                PERF_SAMPLE_BRANCH_STACK};
	struct ps_attr *attr = new_attr("page-faults");

	set_much(attr);
	fake_set_refusal(refuse_empty_masks);
	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
		set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_TID | bits[i]);
		check_refused(attr, PS_ENOSUPP, PS_ATTR_SAMPLE_TYPE);
		check_detail(masks[i]);
	}
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_field_that_needs_another_is_not_blamed_for_a_third)
{
	struct ps_attr *attr = new_attr("page-faults");

	set_much(attr);
	set(attr, PS_ATTR_SIGTRAP, 1);
	set(attr, PS_ATTR_REMOVE_ON_EXEC, 1);
	set(attr, PS_ATTR_INHERIT, 1);
	set(attr, PS_ATTR_INHERIT_THREAD, 1);
	set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK);
	set(attr, PS_ATTR_BRANCH_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_ANY);
	fake_set_refusal(refuse_two);
	check_refused(attr, PS_ENOSUPP, PS_ATTR_SAMPLE_TYPE);
	check_detail("PERF_SAMPLE_BRANCH_STACK");
	set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_IP);
	set(attr, PS_ATTR_BRANCH_SAMPLE_TYPE, 0);
	check_ok(ps_attr_check(attr, NULL));
	set(attr, PS_ATTR_REMOVE_ON_EXEC, 0);
	check_refused(attr, PS_ENOSUPP, PS_ATTR_SIGTRAP);
	check_detail("needs remove_on_exec");
	set(attr, PS_ATTR_REMOVE_ON_EXEC, 1);
	set(attr, PS_ATTR_INHERIT, 0);
	check_refused(attr, PS_ENOSUPP, PS_ATTR_INHERIT_THREAD);
	ps_attr_destroy(attr);
}
END_TEST

/* Looked at only with a call chain. */
static int refuse_deep_chains(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_CALLCHAIN && attr->sample_max_stack > 127 ? EOVERFLOW
	                                                                                 : 0;
}

START_TEST(a_call_chain_that_is_too_deep_is_not_blamed_on_call_chains)
{
	struct ps_attr *attr = new_attr("page-faults");

	set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN);
	set(attr, PS_ATTR_SAMPLE_MAX_STACK, 60000);
	fake_set_refusal(refuse_deep_chains);
	check_refused(attr, PS_ENOSUPP, PS_ATTR_SAMPLE_MAX_STACK);
	check_detail("kernel.perf_event_max_stack is the most");
	ps_attr_destroy(attr);
}
END_TEST

static int refuse_pair(const struct perf_event_attr *attr)
{
	return attr->exclusive && attr->inherit ? EINVAL : 0;
}

START_TEST(two_that_exclude_each_other_are_both_named)
{
	struct ps_attr *attr = new_attr("page-faults");

	set_much(attr);
	set(attr, PS_ATTR_INHERIT, 1);
	fake_set_refusal(refuse_pair);
	check_refused(attr, PS_ENOSUPP, PS_ATTR_EXCLUSIVE);
	check_detail("together with inherit");
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(an_older_kernel_refuses_the_word_behind_its_struct)
{
	struct ps_attr *attr = new_attr("page-faults");
	size_t size_bytes = 0;

	set_much(attr);
	set(attr, PS_ATTR_CONFIG3, 1);
	check_ok(ps_attr_kernel_size(&size_bytes));
	ck_assert_uint_eq(size_bytes, 144);
	fake_set_attr_size(128);
	check_ok(ps_attr_kernel_size(&size_bytes));
	ck_assert_uint_eq(size_bytes, 128);
	check_refused(attr, PS_ENOSUPP, PS_ATTR_CONFIG3);
	check_detail("ends after 128 bytes");
	set(attr, PS_ATTR_CONFIG3, 0);
	set(attr, PS_ATTR_SIG_DATA, 1);
	set(attr, PS_ATTR_SIGTRAP, 1);
	check_ok(ps_attr_check(attr, NULL));
	fake_set_attr_size(112);
	check_refused(attr, PS_ENOSUPP, PS_ATTR_SIG_DATA);
	check_detail("ends after 112 bytes");
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(the_kernels_size_may_not_be_told)
{
	size_t size_bytes = 5;

	check_fails(ps_attr_kernel_size(NULL), PS_EINVAL);
	fake_fail(FAKE_PERF_EVENT_OPEN, 1, ENOSYS);
	check_fails(ps_attr_kernel_size(&size_bytes), PS_EPERM);
	check_detail("perf_event_open");
	fake_fail(FAKE_PERF_EVENT_OPEN, 1, EPERM);
	check_fails(ps_attr_kernel_size(&size_bytes), PS_EPERM);
	/* A kernel that knows all that there may be. */
	fake_set_attr_size(4096);
	check_fails(ps_attr_kernel_size(&size_bytes), PS_ESYS);
	ck_assert_uint_eq(size_bytes, 5);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

/* As sets: what the name leaves open falls back to user space. */
START_TEST(the_kernel_is_refused_where_it_is_asked_for)
{
	struct ps_attr *attr = new_attr("page-faults");

	fake_set_paranoid(2, false);
	set_much(attr);
	check_ok(ps_attr_check(attr, NULL));
	ck_assert_int_eq(attr->event.attr.exclude_kernel, 0);
	set(attr, PS_ATTR_EXCLUDE_KERNEL, 0);
	check_refused(attr, PS_EPERM, PS_ATTR_EXCLUDE_KERNEL);
	check_detail("set exclude_kernel to 1");
	set(attr, PS_ATTR_EXCLUDE_KERNEL, 1);
	check_ok(ps_attr_check(attr, NULL));
	ps_attr_destroy(attr);
}
END_TEST

static int refuse_namespaces(const struct perf_event_attr *attr)
{
	return attr->namespaces ? EACCES : 0;
}

START_TEST(a_permission_that_only_a_field_needs_is_the_fields)
{
	struct ps_attr *attr = new_attr("page-faults");

	fake_set_paranoid(2, false);
	fake_set_refusal(refuse_namespaces);
	set_much(attr);
	set(attr, PS_ATTR_NAMESPACES, 1);
	check_refused(attr, PS_EPERM, PS_ATTR_NAMESPACES);
	check_detail("cap_perfmon");
	set(attr, PS_ATTR_EXCLUDE_KERNEL, 0);
	check_refused(attr, PS_EPERM, PS_ATTR_NAMESPACES);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(an_event_that_is_refused_as_such_is_told_as_a_set_tells_it)
{
	struct ps_attr *attr = new_attr("cycles");

	set_much(attr);
	check_refused(attr, PS_ENOSUPP, PS_ATTR_TYPE);
	check_detail("not available on this machine");
	ps_attr_destroy(attr);
	fake_add_msr();
	fake_set_paranoid(2, false);
	attr = new_attr("msr/tsc/");
	check_refused(attr, PS_EPERM, PS_ATTR_TYPE);
	ps_attr_destroy(attr);
	attr = new_attr("page-faults");
	set(attr, PS_ATTR_CONFIG, 77);
	check_refused(attr, PS_ENOSUPP, PS_ATTR_CONFIG);
	check_detail("no PMU has such an event");
	ps_attr_destroy(attr);
}
END_TEST

/* It says nothing about the attr. */
START_TEST(a_lack_of_descriptors_is_no_refusal)
{
	struct ps_attr *attr = new_attr("page-faults");
	enum ps_attr_field refused = NOTHING;

	set_much(attr);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	check_fails(ps_attr_check(attr, &refused), PS_ECOUNT);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	fake_set_refusal(refuse_branches);
	set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_STACK);
	for (unsigned nth = 2; nth < 6; nth++) {
		fake_fail(FAKE_PERF_EVENT_OPEN, nth, ENFILE);
		int result = ps_attr_check(attr, &refused);
		ck_assert_msg(result == PS_ECOUNT, "%u: %d", nth, result);
	}
	ck_assert_int_eq(refused, NOTHING);
	fake_fail(FAKE_PERF_EVENT_OPEN, 0, 0);
	check_fails(ps_attr_check(NULL, &refused), PS_EINVAL);
	ps_attr_destroy(attr);
}
END_TEST

static const struct silent {
	const char *event;
	enum ps_attr_field field;
	uint64_t value;
	int code;
	const char *sentence;
} silent[] = {
    {"page-faults", PS_ATTR_PRECISE_IP, 2, PS_ENOSUPP, "precise_ip has no effect"},
    {"page-faults", PS_ATTR_BRANCH_SAMPLE_TYPE, 8, PS_ECOMBO, "PERF_SAMPLE_BRANCH_STACK"},
    {"page-faults", PS_ATTR_SAMPLE_REGS_USER, 1, PS_ECOMBO, "PERF_SAMPLE_REGS_USER"},
    {"page-faults", PS_ATTR_SAMPLE_STACK_USER, 8, PS_ECOMBO, "PERF_SAMPLE_STACK_USER"},
    {"page-faults", PS_ATTR_SAMPLE_STACK_USER, 0, PS_ECOMBO, "sample_stack_user of 0"},
    {"page-faults", PS_ATTR_SIG_DATA, 1, PS_ECOMBO, "sigtrap"},
    {"page-faults", PS_ATTR_CLOCKID, 1, PS_ECOMBO, "use_clockid"},
    {"page-faults", PS_ATTR_COMM_EXEC, 1, PS_ECOMBO, "comm"},
    {"page-faults", PS_ATTR_BUILD_ID, 1, PS_ECOMBO, "mmap2"},
    {"page-faults", PS_ATTR_MMAP2, 1, PS_ECOMBO, "without mmap or mmap_data"},
    {"page-faults", PS_ATTR_DEFER_CALLCHAIN, 1, PS_ECOMBO, "PERF_SAMPLE_CALLCHAIN"},
    {"context-switches", PS_ATTR_EXCLUDE_KERNEL, 1, PS_EINVAL_DOM, "never happens"},
    {"page-faults:u", PS_ATTR_EXCLUDE_USER, 1, PS_EINVAL_DOM, "never happens"},
};

START_TEST(a_field_that_is_ignored_in_silence_is_refused)
{
	struct ps_attr *attr = new_attr(silent[_i].event);

	check_ok(ps_attr_check(attr, NULL));
	if (silent[_i].field == PS_ATTR_SAMPLE_STACK_USER && silent[_i].value == 0)
		set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_STACK_USER);
	set(attr, silent[_i].field, silent[_i].value);
	check_refused(attr, silent[_i].code, silent[_i].field);
	check_detail(silent[_i].sentence);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(mappings_of_data_have_the_longer_form_too)
{
	struct ps_attr *attr = new_attr("page-faults");

	set(attr, PS_ATTR_MMAP2, 1);
	set(attr, PS_ATTR_MMAP_DATA, 1);
	check_ok(ps_attr_check(attr, NULL));
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(an_uncores_event_is_tried_on_a_cpu)
{
	struct ps_attr *attr;

	fake_add_pmu(30, 2);
	fake_set_pmu_flags(30, FAKE_PMU_CPU_ONLY);
	fake_file("/sys/bus/event_source/devices/energy/type", "30\n");
	fake_file("/sys/bus/event_source/devices/energy/cpumask", "0\n");
	fake_file("/sys/bus/event_source/devices/energy/format/event", "config:0-7\n");
	attr = new_attr("energy/event=1/");
	check_ok(ps_attr_check(attr, NULL));
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(precise_ip_is_the_pmus_to_refuse)
{
	struct ps_attr *attr;

	fake_add_core_pmu(4);
	attr = new_attr("cycles");
	set(attr, PS_ATTR_PRECISE_IP, 2);
	check_ok(ps_attr_check(attr, NULL));
	ps_attr_destroy(attr);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attr_check");
	TCase *tests = scene_case(suite, "check");

	tcase_add_loop_test(tests, any_field_that_the_kernel_does_not_know_is_found, 0, 15);
	tcase_add_test(tests, mappings_of_data_have_the_longer_form_too);
	tcase_add_test(tests, an_attr_that_is_taken_is_opened_once_and_closed);
	tcase_add_test(tests, the_bit_of_a_mask_is_named);
	tcase_add_test(tests, a_bit_whose_mask_is_empty_is_told_with_the_mask);
	tcase_add_test(tests, a_field_that_needs_another_is_not_blamed_for_a_third);
	tcase_add_test(tests, a_call_chain_that_is_too_deep_is_not_blamed_on_call_chains);
	tcase_add_test(tests, two_that_exclude_each_other_are_both_named);
	tcase_add_test(tests, an_older_kernel_refuses_the_word_behind_its_struct);
	tcase_add_test(tests, the_kernels_size_may_not_be_told);
	tcase_add_test(tests, the_kernel_is_refused_where_it_is_asked_for);
	tcase_add_test(tests, a_permission_that_only_a_field_needs_is_the_fields);
	tcase_add_test(tests, an_event_that_is_refused_as_such_is_told_as_a_set_tells_it);
	tcase_add_test(tests, a_lack_of_descriptors_is_no_refusal);
	tcase_add_loop_test(tests, a_field_that_is_ignored_in_silence_is_refused, 0,
	                    sizeof silent / sizeof *silent);
	tcase_add_test(tests, an_uncores_event_is_tried_on_a_cpu);
	tcase_add_test(tests, precise_ip_is_the_pmus_to_refuse);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPUs that there can be, and those that are offline, as the kernel tells them. */
#include "locate/locate.h"
#include "support/scene.h"

#define POSSIBLE "/sys/devices/system/cpu/possible"

START_TEST(possible_cpus_are_counted_and_have_an_end)
{
	fake_file(POSSIBLE, "0-3,8,10-11\n");
	ck_assert_uint_eq(ps__locate_count_possible(), 7);
	ck_assert_uint_eq(ps__locate_possible_end(), 12);
	ck_assert(ps__locate_is_possible(8));
	ck_assert(!ps__locate_is_possible(9));
	ck_assert(!ps__locate_is_possible(12));
	ck_assert(!ps__locate_is_possible(-1));
}
END_TEST

START_TEST(where_the_kernel_does_not_tell_any_cpu_is_possible)
{
	fake_file(POSSIBLE, NULL);
	ck_assert_uint_eq(ps__locate_count_possible(), 0);
	ck_assert_uint_eq(ps__locate_possible_end(), 0);
	ck_assert(ps__locate_is_possible(9));
	ck_assert(!ps__locate_is_possible(-1));
}
END_TEST

static void check_reason(int cpu, const char *wanted)
{
	char why[PS__NO_CPU_BYTES] = "";

	ck_assert(ps__locate_explain_no_cpu(cpu, why) == (*wanted != '\0'));
	ck_assert_str_eq(why, wanted);
}

#define REMEDY "as root, 'echo 1 > /sys/devices/system/cpu/cpu2/online' brings it back"

START_TEST(an_offline_cpu_is_told_from_one_that_there_is_not)
{
	fake_file(POSSIBLE, "0-7\n");
	fake_file("/sys/devices/system/cpu/cpu1/online", "1\n");
	fake_file("/sys/devices/system/cpu/cpu2/online", "0\n");
	check_reason(0, "");
	check_reason(1, "");
	check_reason(2, "CPU 2 is offline: " REMEDY);
	check_reason(7, "this machine has no CPU 7"); /* it could be added */
	check_reason(9, "this machine has no CPU 9");
	check_reason(-1, "this machine has no CPU -1");
	fake_file("/sys/devices/system/cpu/present", NULL);
	check_reason(7, "");
}
END_TEST

/* Attaching to it is no error: it may come online before the start. */
START_TEST(what_counts_on_an_offline_cpu_is_told_the_remedy)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	struct ps_sampler *sampler;
	struct ps_attr *attr;

	fake_file("/sys/devices/system/cpu/online", "0-1,3\n");
	fake_file("/sys/devices/system/cpu/cpu2/online", "0\n");
	check_ok(ps_eventset_attach_cpu(set, 2));
	check_fails(ps_start(set), PS_ENOSUPP);
	ck_assert_str_eq(ps_error_detail(), "'page-faults': CPU 2 is offline: " REMEDY);
	check_ok(ps_attr_create(&attr, "page-faults"));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 1));
	check_fails(ps_sampler_create(&sampler, attr, -1, 2, 65536), PS_ENOSUPP);
	ck_assert_str_eq(ps_error_detail(), "'page-faults': CPU 2 is offline: " REMEDY);
	check_fails(ps_sampler_create(&sampler, attr, -1, 9, 65536), PS_EINVAL);
	ck_assert_str_eq(ps_error_detail(), "'page-faults': this machine has no CPU 9");
	ps_attr_destroy(attr);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("affinity");
	TCase *tests = scene_case(suite, "affinity");

	tcase_add_test(tests, possible_cpus_are_counted_and_have_an_end);
	tcase_add_test(tests, where_the_kernel_does_not_tell_any_cpu_is_possible);
	tcase_add_test(tests, an_offline_cpu_is_told_from_one_that_there_is_not);
	tcase_add_test(tests, what_counts_on_an_offline_cpu_is_told_the_remedy);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of perf_event_attr that <linux/perf_event.h> may be too old to have: they reach the
 * kernel, and an older kernel's refusal names them.
 */
#include "event/attr.h"
#include "support/scene.h"

#define CPU "/sys/bus/event_source/devices/cpu/"

static struct ps_eventset *new_set(void)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	fake_add_core_pmu(4);
	fake_file(CPU "format/acr_mask", "config3:0-63\n");
	fake_file(CPU "format/top", "config4:0-7\n");
	return set;
}

START_TEST(config3_and_config4_reach_the_kernel)
{
	struct ps_eventset *set = new_set();
	int fds[8];

	check_ok(ps_eventset_add(set, "cpu/event=0xc0,acr_mask=0x123456789abcdef0,top=5/"));
	check_ok(ps_eventset_add(set, "cpu/event=0xc1/"));
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_counter_fds(fds, 8), 2);
	ck_assert_uint_eq(fake_attr_of_fd(fds[0])->size, sizeof(union ps__attr));
	ck_assert_uint_eq(fake_later_config_of_fd(fds[0], 3), 0x123456789abcdef0);
	ck_assert_uint_eq(fake_later_config_of_fd(fds[0], 4), 5);
	/* An event that needs none of it is asked for as ever: old kernels and filters see nothing
	 * new. */
	ck_assert_uint_eq(fake_attr_of_fd(fds[1])->size, sizeof(struct perf_event_attr));
	ck_assert_uint_eq(fake_later_config_of_fd(fds[1], 3), 0);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_kernel_that_is_too_old_is_told_with_the_word_and_its_size)
{
	struct ps_eventset *set = new_set();

	fake_set_attr_size(128);
	check_fails(ps_eventset_add(set, "cpu/event=0xc0,acr_mask=1/"), PS_ENOSUPP);
	check_detail("cpu/event=0xc0,acr_mask=1/");
	check_detail("too old for config3 (Linux 6.3)");
	check_detail("ends after 128 bytes");
	fake_set_attr_size(112);
	check_fails(ps_eventset_add(set, "cpu/event=0xc0,top=1/"), PS_ENOSUPP);
	check_detail("too old for config4 (Linux 6.19)");
	check_detail("ends after 112 bytes");
	fake_set_attr_size(136);
	check_ok(ps_eventset_add(set, "cpu/event=0xc0,acr_mask=1/"));
	check_fails(ps_eventset_add(set, "cpu/event=0xc0,acr_mask=1,top=1/"), PS_ENOSUPP);
	check_detail("too old for config4");
	check_detail("ends after 136 bytes");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_word_of_0_asks_no_kernel_for_more)
{
	struct ps_eventset *set = new_set();

	fake_set_attr_size(112);
	check_ok(ps_eventset_add(set, "cpu/event=0xc0,acr_mask=0,top=0/"));
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attr");
	TCase *tests = scene_case(suite, "later words");

	tcase_add_test(tests, config3_and_config4_reach_the_kernel);
	tcase_add_test(tests, a_kernel_that_is_too_old_is_told_with_the_word_and_its_size);
	tcase_add_test(tests, a_word_of_0_asks_no_kernel_for_more);
	return scene_run(suite);
}

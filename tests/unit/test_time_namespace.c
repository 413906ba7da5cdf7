/* SPDX-License-Identifier: BSD-3-Clause */
/* By how much the clock of a time namespace differs from the machine's. */
#include "base/time_namespace.h"
#include "support/scene.h"

#define OFFSETS  "monotonic        -3         500000000\nboottime          7                 0\n"
#define SHIFT_NS ((uint64_t)-2500000000)

START_TEST(a_namespace_s_clock_is_shifted)
{
	ck_assert_uint_eq(ps__time_namespace_shift_ns(), 0);
	fake_file("/proc/self/timens_offsets", OFFSETS);
	ck_assert_uint_eq(ps__time_namespace_shift_ns(), SHIFT_NS);
	fake_file("/proc/self/ns/time", "4026532001");
	fake_file("/proc/self/ns/time_for_children", "4026532001");
	ck_assert_uint_eq(ps__time_namespace_shift_ns(), SHIFT_NS);
	fake_file("/proc/self/timens_offsets", "boottime 1 1\n");
	ck_assert_uint_eq(ps__time_namespace_shift_ns(), 0);
}
END_TEST

START_TEST(a_namespace_of_children_alone_shifts_no_clock_of_ours)
{
	fake_file("/proc/self/timens_offsets", OFFSETS);
	fake_file("/proc/self/ns/time", "4026531834");
	fake_file("/proc/self/ns/time_for_children", "4026532001");
	ck_assert_uint_eq(ps__time_namespace_shift_ns(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("time namespaces");
	TCase *tests = scene_case(suite, "shift");

	tcase_add_test(tests, a_namespace_s_clock_is_shifted);
	tcase_add_test(tests, a_namespace_of_children_alone_shifts_no_clock_of_ours);
	return scene_run(suite);
}

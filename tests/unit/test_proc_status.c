/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of /proc/PID/status: numbers, texts and capabilities; what isn't there is told apart. */
#include "base/proc_status.h"
#include "support/scene.h"

#define STATUS                        \
	"Name:\tCapEff:\n"            \
	"NSeccomp:\t7\n"              \
	"CapEff:\t0000004000000000\n" \
	"Seccomp:\t2\n"               \
	"Seccomp_filters:\t1\n"       \
	"Cpus_allowed_list:\t0-3,8\n" \
	"Speculation:\tnot vulnerable"

START_TEST(lines_that_fit_are_read_whole)
{
	char status[PS__PROC_STATUS_BYTES], longer[2 * PS__PROC_STATUS_BYTES];

	fake_file("/proc/self/status", STATUS "\n");
	ck_assert(ps__proc_status_read(status));
	ck_assert_str_eq(status, STATUS "\n");
	fake_file("/proc/self/status", NULL);
	ck_assert(!ps__proc_status_read(status));
	ck_assert_str_eq(status, "");
	/* The number is longer than the rest of the room. */
	int length = snprintf(longer, sizeof longer, "Name:\tx\nGroups:\t%0*d\n",
	                      PS__PROC_STATUS_BYTES - 40, 0);
	snprintf(longer + length, sizeof longer - (size_t)length, "CapEff:\t%060d\n", 1);
	fake_file("/proc/self/status", longer);
	ck_assert(ps__proc_status_read(status));
	ck_assert_uint_eq(strlen(status), (size_t)length);
	ck_assert_uint_eq(ps__proc_status_number(status, "CapEff", 16, 7), 7);
}
END_TEST

START_TEST(a_number_is_that_of_its_whole_name)
{
	ck_assert_uint_eq(ps__proc_status_number(STATUS, "Seccomp", 10, 9), 2);
	ck_assert_uint_eq(ps__proc_status_number(STATUS, "Seccomp_filters", 10, 9), 1);
	ck_assert_uint_eq(ps__proc_status_number(STATUS, "Tracer", 10, 9), 9);
	ck_assert_uint_eq(ps__proc_status_number(STATUS, "Speculation", 10, 9), 9);
	ck_assert_uint_eq(ps__proc_status_number("", "Seccomp", 10, 9), 9);
}
END_TEST

START_TEST(a_text_goes_to_the_end_of_its_line_if_it_fits)
{
	char text[16];

	ck_assert(ps__proc_status_text(STATUS, "Cpus_allowed_list", text, sizeof text));
	ck_assert_str_eq(text, "0-3,8");
	ck_assert(ps__proc_status_text(STATUS, "Speculation", text, sizeof text));
	ck_assert_str_eq(text, "not vulnerable");
	ck_assert(!ps__proc_status_text(STATUS, "Cpus_allowed_list", text, 5));
	ck_assert(!ps__proc_status_text(STATUS, "Cpus_allowed", text, sizeof text));
}
END_TEST

START_TEST(capabilities_are_bits)
{
	ck_assert(ps__proc_status_has_capability(STATUS, PS__CAP_PERFMON));
	ck_assert(!ps__proc_status_has_capability(STATUS, PS__CAP_SYS_ADMIN));
	ck_assert(!ps__proc_status_has_capability("", PS__CAP_PERFMON));
}
END_TEST

START_TEST(advice_names_the_program_once_it_is_known)
{
	ck_assert_str_eq(ps__proc_advise_capability(false), "setcap cap_perfmon+ep PROGRAM");
	ps__proc_name_program("/opt/perf sage/bin/perfsage");
	ps__proc_name_program("");
	ck_assert_str_eq(ps__proc_advise_capability(true), "setcap cap_bpf,cap_perfmon+ep PROGRAM");
	ps__proc_name_program("/opt/bin/perfsage");
	ck_assert_str_eq(ps__proc_advise_capability(false),
	                 "setcap cap_perfmon+ep /opt/bin/perfsage");
	ck_assert_str_eq(ps__proc_advise_capability(true),
	                 "setcap cap_bpf,cap_perfmon+ep /opt/bin/perfsage");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proc_status");
	TCase *tests = scene_case(suite, "proc_status");

	tcase_add_test(tests, lines_that_fit_are_read_whole);
	tcase_add_test(tests, a_number_is_that_of_its_whole_name);
	tcase_add_test(tests, a_text_goes_to_the_end_of_its_line_if_it_fits);
	tcase_add_test(tests, capabilities_are_bits);
	tcase_add_test(tests, advice_names_the_program_once_it_is_known);
	return scene_run(suite);
}

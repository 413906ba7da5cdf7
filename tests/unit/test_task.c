/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU and the times in the text of a task's stat in /proc: what a name may hold, and texts that
 * tell no CPU or no times. The process of a thread, in its status file. */
#include "locate/locate.h"
#include "support/scene.h"

#include <errno.h>
#include <perfsage/session.h>
#include <stdio.h>
#include <stdlib.h>

/* The fields between the name and the CPU: state to exit_signal. */
#define FIELDS                                                                                   \
	"S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 " \
	"32 33 34 35"

static int parse(const char *text)
{
	return ps__task_parse_cpu(text, strlen(text));
}

START_TEST(the_cpu_is_the_39th_field)
{
	ck_assert_int_eq(parse("500 (make) " FIELDS " 7 0 0 0\n"), 7);
	ck_assert_int_eq(parse("500 (make) " FIELDS " 511 0 0 0\n"), 511);
}
END_TEST

START_TEST(a_name_may_hold_anything)
{
	ck_assert_int_eq(parse("500 (a) R 1 (b) " FIELDS " 7 0\n"), 7);
	ck_assert_int_eq(parse("500 ()) " FIELDS " 7 0\n"), 7);
	ck_assert_int_eq(parse("500 (a\nb c) " FIELDS " 7 0\n"), 7);
	ck_assert_int_eq(parse("500 () " FIELDS " 7 0\n"), 7);
}
END_TEST

/* Half of a number would be another CPU. */
START_TEST(a_text_that_is_cut_tells_no_cpu)
{
	const char *text = "500 (make) " FIELDS " 123 0\n";
	size_t whole = strlen(text) - strlen(" 0\n");

	ck_assert_int_eq(ps__task_parse_cpu(text, whole + 1), 123);
	for (size_t length = 0; length <= whole; length++)
		ck_assert_msg(ps__task_parse_cpu(text, length) == -1, "of %zu bytes", length);
}
END_TEST

START_TEST(a_text_of_another_form_tells_no_cpu)
{
	ck_assert_int_eq(parse("500 make " FIELDS " 7 0\n"), -1);
	ck_assert_int_eq(parse("500 (make) " FIELDS " -1 0\n"), -1);
	ck_assert_int_eq(parse("500 (make) " FIELDS " x 0\n"), -1);
	ck_assert_int_eq(parse("500 (make) " FIELDS " 99999999999999999999 0\n"), -1);
	ck_assert_int_eq(parse("500 (make)" FIELDS " 7"), -1);
}
END_TEST

/* The text has a value in one field, and its own number in all others from the parent (4) on. */
static bool parse_with(int field, const char *value, struct ps__task_stat *out)
{
	char text[512];
	size_t length = (size_t)snprintf(text, sizeof text, "500 (make) S");

	for (int number = 4; number <= 40; number++) {
		char own[16];
		snprintf(own, sizeof own, "%d", number);
		length += (size_t)snprintf(text + length, sizeof text - length, " %s",
		                           number == field ? value : own);
	}
	return ps__task_parse(text, length, out);
}

START_TEST(a_whole_text_tells_what_looks_need)
{
	struct ps__task_stat stat;

	ck_assert(parse_with(5, "-1", &stat)); /* which looks don't need */
	ck_assert_int_eq(stat.parent, 4);
	ck_assert_int_eq(stat.ran_ticks, 14 + 15);
	ck_assert_int_eq(stat.threads, 20);
	ck_assert_int_eq(stat.start_ticks, 22);
	ck_assert_int_eq(stat.cpu, 39);
	ck_assert(!stat.is_ending);
	ck_assert(parse_with(9, "4", &stat)); /* PF_EXITING */
	ck_assert(stat.is_ending);
}
END_TEST

START_TEST(a_text_without_one_of_them_is_refused)
{
	static const int needed[] = {4, 14, 15, 22, 39};
	static const char *const values[] = {"", "-1", "x", "99999999999999999999"};
	const char *text = "500 (make) " FIELDS " 123 0\n";
	size_t whole = strlen(text) - strlen(" 0\n");
	struct ps__task_stat stat;

	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
		for (size_t j = 0; j < sizeof values / sizeof values[0]; j++)
			ck_assert_msg(!parse_with(needed[i], values[j], &stat), "'%s' in field %d",
			              values[j], needed[i]);
	}
	ck_assert(ps__task_parse(text, whole + 1, &stat));
	for (size_t length = 0; length <= whole; length++)
		ck_assert_msg(!ps__task_parse(text, length, &stat), "of %zu bytes", length);
	ck_assert(!ps__task_parse("500 make 1 2 3", strlen("500 make 1 2 3"), &stat));
}
END_TEST

static void put_status(const char *process, size_t groups)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	fprintf(stream, "Name:\tsolver\nUmask:\t0022\nState:\tR (running)\n%s\nGroups:\t", process);
	for (size_t group = 0; group < groups; group++)
		fprintf(stream, "%zu ", 4000000000 + group);
	fprintf(stream, "\nCapEff:\t0\n");
	fclose(stream);
	fake_file("/proc/501/status", text);
	free(text);
}

/* A user may have 65536 groups. */
START_TEST(a_process_is_known_whatever_groups_it_has)
{
	put_status("Tgid:\t500", 1);
	ck_assert_int_eq(ps__locate_process(501), 500);
	put_status("Tgid:\t500", 65536);
	ck_assert_int_eq(ps__locate_process(501), 500);
}
END_TEST

START_TEST(a_task_of_unknown_process_is_not_taken_for_one)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	struct ps_session *session = NULL;

	ck_assert_int_eq(ps__locate_process(501), -ENOENT);
	fake_task(501, "solver", 1);
	put_status("Ngid:\t0", 1);
	ck_assert_int_eq(ps__locate_process(501), -EINVAL);
	check_fails(ps_eventset_attach_process(set, 501), PS_ESYS);
	fake_file_error("/proc/501/status", EACCES);
	ck_assert_int_eq(ps__locate_process(501), -EACCES);
	check_fails(ps_eventset_attach_process(set, 501), PS_ESYS);
	check_detail("the process of 501 is not known (/proc/501/status: Permission denied)");
	check_fails(ps_session_create(&session, 501, NULL), PS_ESYS);
	check_detail("the process of 501 is not known");
	ck_assert_uint_eq(fake_open_fds(), 0);
	check_ok(ps_eventset_attach_tid(set, 501));
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("task");
	TCase *tests = scene_case(suite, "task");

	tcase_add_test(tests, the_cpu_is_the_39th_field);
	tcase_add_test(tests, a_name_may_hold_anything);
	tcase_add_test(tests, a_text_that_is_cut_tells_no_cpu);
	tcase_add_test(tests, a_text_of_another_form_tells_no_cpu);
	tcase_add_test(tests, a_whole_text_tells_what_looks_need);
	tcase_add_test(tests, a_text_without_one_of_them_is_refused);
	tcase_add_test(tests, a_process_is_known_whatever_groups_it_has);
	tcase_add_test(tests, a_task_of_unknown_process_is_not_taken_for_one);
	return scene_run(suite);
}

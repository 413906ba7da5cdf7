/* SPDX-License-Identifier: BSD-3-Clause */
/* The conditions of perfsage log --where: numbers that no double or no integer is equal to, and
 * fields whose names look like conditions. */
#include "support/screen.h"
#include "test_log.h"
#include "tools/command.h"
#include "tools/log.h"

#include <float.h>
#include <limits.h>
#include <math.h>

static bool is_met(const char *text, const struct ps_log_value *value)
{
	struct tool_log_options options = {.path = NULL};

	ck_assert_int_eq(tool_log_add_condition(&options, text), 0);
	ck_assert_msg(options.conditions[0].is_number, "%s", text);
	bool result = tool_log_is_met(&options.conditions[0], value);
	ps__os_free(options.conditions);
	return result;
}

/* A field compares with a number as <, = or >, and with no other of them. */
static void check(const char *number, const struct ps_log_value *value, char wanted)
{
	for (const char *sign = "<=>"; *sign; sign++) {
		char text[128];
		snprintf(text, sizeof text, "x%c%s", *sign, number);
		ck_assert_msg(is_met(text, value) == (*sign == wanted), "%s", text);
	}
}

START_TEST(integers_are_compared_exactly)
{
	static const struct {
		long long integer;
		const char *number;
		char wanted;
	} cases[] = {
	    {9007199254740993, "9007199254740993.0", '='},
	    {9007199254740992, "9007199254740993.0", '<'},
	    {9007199254740993, "9.007199254740993e15", '='},
	    {9007199254740992, "9007199254740993e0", '<'},
	    {9007199254740992, "9007199254740992.5", '<'},
	    {9007199254740993, "9007199254740992.5", '>'},
	    {-9007199254740993, "-9007199254740992.5", '<'},
	    {-9007199254740992, "-9007199254740992.5", '>'},
	    {-9007199254740993, "-90071992547409930e-1", '='},
	    {LLONG_MAX, "9223372036854775807.000", '='},
	    {LLONG_MAX, "9223372036854775808", '<'},
	    {LLONG_MAX, "9223372036854775807.5", '<'},
	    {LLONG_MAX, "1e400", '<'},
	    {LLONG_MAX, "inf", '<'},
	    {LLONG_MIN, "-9223372036854775808.0", '='},
	    {LLONG_MIN, "-1e30", '>'},
	    {LLONG_MIN, "-inf", '>'},
	    {0, "1e-400", '<'},
	    {0, "-1e-400", '>'},
	    {0, "-0.0", '='},
	    {0, "0e999999999999999999999", '='},
	    {1000, "1e3", '='},
	    {1000, "+.1e4", '='},
	    {16, "0x10", '='},
	    {16, "0x10.8", '<'},
	    {0, " -.5", '>'},
	    {-1, "-.5", '<'},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct ps_log_value value = {
		    .kind = PS_LOG_INTEGER, .is_set = 1, .integer = cases[i].integer};
		check(cases[i].number, &value, cases[i].wanted);
	}
}
END_TEST

/* The nearest double is equal to a number, but for numbers beyond all of them. */
START_TEST(reals_are_compared_as_doubles)
{
	static const struct {
		double real;
		const char *number;
		char wanted;
	} cases[] = {
	    {0.1, "0.1", '='},
	    {0.1, "0.10000000000000000001", '='},
	    {(double)INFINITY, "1e400", '>'},
	    {DBL_MAX, "1e400", '<'},
	    {(double)INFINITY, "inf", '='},
	    {-(double)INFINITY, "-1e400", '<'},
	    {-DBL_MAX, "-1e400", '>'},
	    {-(double)INFINITY, "-inf", '='},
	    {0, "1e-400", '<'},
	    {-0.0, "1e-400", '<'},
	    {0, "-1e-400", '>'},
	    {0x1p-1074, "1e-400", '>'},
	    {-0.0, "0", '='},
	    {0.5, "0x1p-1", '='},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct ps_log_value value = {
		    .kind = PS_LOG_REAL, .is_set = 1, .real = cases[i].real};
		check(cases[i].number, &value, cases[i].wanted);
	}
}
END_TEST

static char *shown(const char *condition)
{
	char line[256];

	snprintf(line, sizeof line, "log show %s --where %s", log_path, condition);
	return screen_of(200, tool_log, line, 0);
}

START_TEST(a_name_may_look_like_a_condition)
{
	static const struct ps_log_field fields[] = {
	    {"a", PS_LOG_INTEGER}, {"a=b", PS_LOG_INTEGER}, {"c!", PS_LOG_TEXT}};
	const struct ps_log_type type = {.size = sizeof type,
	                                 .name = "names",
	                                 .points = log_points,
	                                 .point_count = 2,
	                                 .fields = fields,
	                                 .field_count = 3};
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = NULL;

	check_ok(ps_log_stream_create(&stream, log, set, &type));
	for (int number = 0; number < 3; number++) {
		check_ok(ps_log_set_integer(stream, 0, number));
		check_ok(ps_log_set_integer(stream, 1, 10 + number));
		check_ok(ps_log_set_text(stream, 2, number ? "=" : "none"));
		check_ok(ps_log_write(stream));
	}
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
	static const char *const conditions[] = {"a=1", "a=b=11", "a=b!=12", "c!=none"};
	static const int wanted[] = {1, 1, 0, 0};
	for (size_t i = 0; i < 4; i++) {
		char *text = shown(conditions[i]), start[16];
		snprintf(start, sizeof start, "0:%d  a=%d", wanted[i], wanted[i]);
		ck_assert_msg(strstr(text, start) != NULL, "%s: %s", conditions[i], text);
		free(text);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log_condition");
	TCase *tests = scene_case_of(suite, "log_condition", log_setup, log_teardown);

	tcase_add_test(tests, integers_are_compared_exactly);
	tcase_add_test(tests, reals_are_compared_as_doubles);
	if (screen_is_possible())
		tcase_add_test(tests, a_name_may_look_like_a_condition);
	else
		printf("SKIP: a_name_may_look_like_a_condition: there is no terminal here\n");
	return scene_run(suite);
}

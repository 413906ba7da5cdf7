/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of a log as estimates, in a table and in a trace; and the names of a slice's
 * arguments. */
#include "eventset/eventset.h"
#include "support/screen.h"
#include "test_log.h"
#include "tools/command.h"

#include <fcntl.h>

static char *shown(const char *options)
{
	char line[256];

	snprintf(line, sizeof line, "log intervals %s --rows 100 %s", log_path, options);
	return screen_of(80, tool_log, line, 0);
}

/* A record whose task was on two hardware threads, with counts that can't be split. */
static void write_shared(void)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	const uint64_t now_ns = 1000000000;

	set->attribution.cannot_split = true;
	fake_set_clock(now_ns, 0);
	check_ok(ps_start(set));
	check_ok(ps_read(set, scene.root, NULL, NULL));
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	check_ok(ps_log_take(stream, BEGIN));
	fake_set_clock(now_ns + 300000, 0);
	fake_run(300000, 300000);
	fake_set_cpu(2);
	fake_set_clock(now_ns + 1000000, 0);
	fake_run(700000, 700000);
	fake_advance(PAGE_FAULTS, 1000);
	check_ok(ps_log_take(stream, END));
	check_ok(ps_log_write(stream));
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
}

START_TEST(a_share_of_a_mixed_count_is_an_estimate)
{
	write_shared();
	char *text = shown("--by cpu");
	ck_assert_msg(strstr(text, "\nCPU 0  page-faults      ~300 "), "%s", text);
	ck_assert_msg(strstr(text, "\nCPU 2  page-faults      ~700 "), "%s", text);
	free(text);
	text = shown("--by machine");
	ck_assert_msg(strstr(text, " 1000 ") && !strchr(text, '~'), "%s", text);
	free(text);
	text = shown("");
	ck_assert_msg(strstr(text, " 1000 ") && !strchr(text, '~'), "%s", text);
	free(text);
}
END_TEST

/* Counts how often a trace of the log has a text. */
static size_t count_in_trace(const char *what)
{
	char line[256], trace[] = "/tmp/perfsage-test-trace-XXXXXX", bytes[65536];
	size_t count = 0, length = strlen(what);
	int fd = mkstemp(trace);

	ck_assert_int_ge(fd, 0);
	snprintf(line, sizeof line, "log convert %s -o %s", log_path, trace);
	free(screen_of(200, tool_log, line, 0));
	close(fd);
	fd = open(trace, O_RDONLY);
	ssize_t size = read(fd, bytes, sizeof bytes);
	ck_assert_int_gt(size, 0);
	ck_assert_uint_lt((size_t)size, sizeof bytes);
	for (size_t at = 0; at + length <= (size_t)size; at++)
		count += memcmp(bytes + at, what, length) == 0;
	close(fd);
	unlink(trace);
	return count;
}

START_TEST(a_share_in_a_trace_is_a_text)
{
	write_shared();
	ck_assert_uint_eq(count_in_trace("~300"), 1);
	ck_assert_uint_eq(count_in_trace("~700"), 1);
	ck_assert_uint_eq(count_in_trace("~1000"), 0);
}
END_TEST

/* No two arguments of a slice have one name. Each name is in the trace with its length before it.
 */
START_TEST(a_field_with_the_name_of_an_event_is_called_field)
{
	static const struct ps_log_field fields[] = {{EVENT, PS_LOG_INTEGER},
	                                             {"field " EVENT, PS_LOG_INTEGER},
	                                             {"attribution", PS_LOG_INTEGER}};
	const struct ps_log_type type = {.size = sizeof type,
	                                 .name = "request",
	                                 .points = log_points,
	                                 .point_count = 2,
	                                 .fields = fields,
	                                 .field_count = 3};
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = NULL;

	check_ok(ps_log_stream_create(&stream, log, set, &type));
	check_ok(ps_log_set_integer(stream, 1, 1));
	check_ok(ps_log_set_integer(stream, 2, 1));
	log_record(stream, 1);
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
	ck_assert_uint_eq(count_in_trace("\x52\x11"
	                                 "field " EVENT),
	                  2);
	ck_assert_uint_eq(count_in_trace("\x52\x17"
	                                 "field field " EVENT),
	                  2);
	ck_assert_uint_eq(count_in_trace("\x52\x11"
	                                 "field attribution"),
	                  2);
	ck_assert_uint_eq(count_in_trace("\x52\x0b" EVENT), 2);
	ck_assert_uint_eq(count_in_trace("\x52\x0b"
	                                 "attribution"),
	                  2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log convert");
	TCase *tests = scene_case_of(suite, "log convert", log_setup, log_teardown);

	if (!screen_is_possible()) {
		printf("SKIP: log convert: there is no terminal here\n");
		return EXIT_SUCCESS;
	}
	tcase_add_test(tests, a_share_of_a_mixed_count_is_an_estimate);
	tcase_add_test(tests, a_share_in_a_trace_is_a_text);
	tcase_add_test(tests, a_field_with_the_name_of_an_event_is_called_field);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A record that a log has lost: the next one keeps what was taken and set for it, but doesn't pass
 * it off as its own. And a stream with more events than a reader takes: all its records would be
 * lost. */
#include "test_log.h"

/* Writes full records until one is lost. Returns its number. */
static uint64_t lose_record(struct ps_log_stream *stream)
{
	uint64_t number = 0;

	for (;; number++) {
		check_ok(ps_log_take(stream, BEGIN));
		fake_advance(PAGE_FAULTS, 1);
		check_ok(ps_log_take(stream, END));
		check_ok(ps_log_set_integer(stream, 0, (long long)number));
		int result = ps_log_write(stream);
		if (result != PS_OK) {
			ck_assert_int_eq(result, PS_ESYS);
			return number;
		}
	}
}

static void check_next(uint64_t lost)
{
	struct ps_log_reader *reader = log_reader();
	struct ps_log_record record = {.size = sizeof record};

	do
		check_ok(ps_log_next(reader, &record));
	while (record.number < lost);
	ck_assert_uint_eq(record.number, lost + 1);
	ck_assert_uint_eq(record.points, 1u << BEGIN);
	ck_assert_uint_eq(record.fields, 1u << 1);
	/* The lost record's point and field are there, as of an earlier record. */
	ck_assert_int_eq(log_units(reader), (long long)lost);
	ck_assert_int_eq(log_count(reader, PS_LOG_START, END), (long long)lost + 1);
	ck_assert_uint_lt(ps_log_time(reader, END), ps_log_time(reader, BEGIN));
	check_ok(ps_log_next(reader, &record));
	ck_assert_uint_eq(record.points, 0);
	ck_assert_uint_eq(record.fields, 0);
	check_fails(ps_log_next(reader, &record), PS_ENOEVST);
	ps_log_close(reader);
}

START_TEST(the_next_record_keeps_the_points_and_fields_of_a_lost_one)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	limit_files((rlim_t)log_size());
	uint64_t lost = lose_record(stream);
	limit_files(RLIM_INFINITY);
	check_ok(ps_log_take(stream, BEGIN));
	check_ok(ps_log_set_real(stream, 1, 0.5));
	check_ok(ps_log_write(stream));
	/* A second try to write the lost record would write nothing new. */
	check_ok(ps_log_write(stream));
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	check_next(lost);
	ps_eventset_destroy(set);
}
END_TEST

/* Starts a set with an event that is counted, and many that can't be counted here. */
static struct ps_eventset *start_many(size_t events)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	char name[32];

	for (size_t number = 1; number < events; number++) {
		snprintf(name, sizeof name, "r%zx", number);
		check_ok(ps_eventset_add_optional(set, name));
	}
	check_ok(ps_start(set));
	return set;
}

START_TEST(a_stream_takes_as_many_events_as_a_reader)
{
	static const struct ps_log_options large = {.size = sizeof large, .block_bytes = 1 << 20};
	struct ps_eventset *most = start_many(4096), *more = start_many(4097);
	struct ps_log *log = log_of(&large);
	struct ps_log_stream *stream = NULL;

	check_fails(ps_log_stream_create(&stream, log, more, &log_type), PS_ECOUNT);
	check_detail("4097 events");
	stream = log_stream(log, most);
	check_ok(ps_log_take(stream, BEGIN));
	check_ok(ps_log_write(stream));
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	struct ps_log_reader *reader = log_reader();
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
	ck_assert_uint_eq(log_info(reader, 0).event_count, 4096);
	check_ok(ps_log_next(reader, NULL));
	ps_log_close(reader);
	ps_eventset_destroy(most);
	ps_eventset_destroy(more);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log lost");
	TCase *tests = scene_case_of(suite, "log lost", log_setup, log_teardown);

	tcase_add_test(tests, the_next_record_keeps_the_points_and_fields_of_a_lost_one);
	tcase_add_test(tests, a_stream_takes_as_many_events_as_a_reader);
	return scene_run(suite);
}

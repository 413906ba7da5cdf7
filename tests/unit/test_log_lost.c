/* SPDX-License-Identifier: BSD-3-Clause */
/* A record that a log has lost: the next one keeps what was taken and set for it, but doesn't pass
 * it off as its own. */
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

int main(void)
{
	Suite *suite = suite_create("log lost");
	TCase *tests = scene_case_of(suite, "log lost", log_setup, log_teardown);

	tcase_add_test(tests, the_next_record_keeps_the_points_and_fields_of_a_lost_one);
	return scene_run(suite);
}

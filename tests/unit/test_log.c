/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs: what was written is read, record by record, and between any two points stands what
 * snapshots of the same moments tell.
 */
#include "test_log.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <sys/stat.h>

#define CPUS    4
#define MOST    4000 /* rounds */
#define ROUNDS  ((unsigned)ps_test_serial_size(MOST, 400))
#define RECORDS 700 /* more than a block has */

/* Numbers that are the same everywhere. */
static unsigned next_number(unsigned below)
{
	static uint64_t state = 11;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state >> 33) % below;
}

/* Snapshots of a twin set, at the moments of the log's points: what a record holds. */
struct twin {
	struct ps_eventset *set;
	struct ps_snapshot *points[MOST][2]; /* NULL: not taken for this record */
	long long units[MOST];
};

static void take_both(struct ps_log_stream *stream, struct twin *twin, unsigned round,
                      unsigned point)
{
	check_ok(ps_log_take(stream, point));
	check_ok(ps_snapshot_take(twin->set, &twin->points[round][point]));
}

static void write_randomly(struct ps_log_stream *stream, struct twin *twin)
{
	unsigned rounds = ROUNDS;
	long long units = 0;

	for (unsigned round = 0; round < rounds; round++) {
		if (round == 0 || next_number(4))
			take_both(stream, twin, round, BEGIN);
		for (unsigned moves = next_number(3); moves > 0; moves--)
			scene_count_on((int)next_number(CPUS), next_number(50));
		fake_advance(PAGE_FAULTS, next_number(50));
		if (round == 0 || next_number(4))
			take_both(stream, twin, round, END);
		if (next_number(2)) {
			units = (long long)round - 100;
			check_ok(ps_log_set_integer(stream, 0, units));
		}
		twin->units[round] = units;
		check_ok(ps_log_write(stream));
	}
}

static const struct ps_snapshot *snapshot_at(const struct twin *twin, unsigned round,
                                             unsigned point)
{
	while (!twin->points[round][point])
		round--;
	return twin->points[round][point];
}

/* 0 where the task was not. */
static long long count_below(const struct twin *twin, const struct ps_snapshot *from,
                             const struct ps_snapshot *to, const struct ps_component *component)
{
	struct ps_value values[8] = {0};
	int result = ps_snapshot_difference(twin->set, from, to, component, values, 8);

	ck_assert(result == PS_OK || result == PS_ENOEVST);
	return values[0].value;
}

static void check_interval(struct ps_log_reader *reader, const struct twin *twin, unsigned from[2],
                           unsigned to[2], const struct ps_component *component)
{
	const struct ps_snapshot *first = snapshot_at(twin, from[0], from[1]);
	const struct ps_snapshot *last = snapshot_at(twin, to[0], to[1]);
	struct ps_value values[8] = {0};
	unsigned before = from[0] < to[0] ? PS_LOG_PREVIOUS : 0;
	int result = ps_log_interval(reader, from[1] | before, to[1], component, values, 8);

	if (ps_snapshot_timestamp(first) > ps_snapshot_timestamp(last)) {
		ck_assert_int_eq(result, PS_ENOEVST);
		return;
	}
	ck_assert_msg(result == PS_OK || result == PS_ENOEVST, "%s", ps_error_detail());
	ck_assert_int_eq(values[0].value, count_below(twin, first, last, component));
	if (result == PS_OK && values[0].value)
		ck_assert_int_eq((int)values[0].attribution, PS_ATTRIBUTION_EXACT);
}

/* As it was counted since the set began to, also where records are missing. */
static void check_total(struct ps_log_reader *reader, const struct twin *twin, unsigned round,
                        unsigned point, const struct ps_component *component)
{
	const struct ps_snapshot *last = snapshot_at(twin, round, point);
	struct ps_value values[8] = {0};
	int result = ps_log_interval(reader, PS_LOG_START, point, component, values, 8);

	ck_assert_msg(result == PS_OK || result == PS_ENOEVST, "%s", ps_error_detail());
	ck_assert_int_eq(values[0].value, count_below(twin, NULL, last, component));
	check_fails(ps_log_interval(reader, point, PS_LOG_START, component, values, 8), PS_EINVAL);
}

static struct ps_component *component_of(const struct ps_log_reader *reader, unsigned number)
{
	if (number < CPUS)
		return ps_component_find(ps_log_root(reader), PS_COMPONENT_THREAD, (int)number);
	if (number == CPUS)
		return ps_component_find(ps_log_root(reader), PS_COMPONENT_PACKAGE, 1);
	return number == CPUS + 1 ? ps_log_root(reader) : NULL;
}

static void check_record(struct ps_log_reader *reader, const struct twin *twin, unsigned round,
                         const struct ps_log_record *record)
{
	ck_assert_uint_eq(record->number, round);
	ck_assert_uint_eq(record->points, (twin->points[round][BEGIN] ? 1u : 0) |
	                                      (twin->points[round][END] ? 2u : 0));
	ck_assert_int_eq(log_units(reader), twin->units[round]);
	/* The file's tree is another one: below the same objects stands the same. */
	for (unsigned number = 0; number < CPUS + 3; number++) {
		struct ps_component *there = component_of(reader, number);
		check_interval(reader, twin, (unsigned[]){round, BEGIN}, (unsigned[]){round, END},
		               there);
		check_total(reader, twin, round, BEGIN, there);
		check_total(reader, twin, round, END, there);
		if (round)
			check_interval(reader, twin, (unsigned[]){round - 1, END},
			               (unsigned[]){round, BEGIN}, there);
	}
}

START_TEST(all_intervals_are_those_of_snapshots)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct twin *twin = calloc(1, sizeof *twin);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	struct ps_log_record record = {.size = sizeof record};
	unsigned rounds = ROUNDS;

	twin->set = scene_started(EVENT, "minor-faults", NULL);
	write_randomly(stream, twin);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	struct ps_log_reader *reader = log_reader();
	ck_assert_uint_eq(ps_log_stream_count(reader), 1);
	for (unsigned round = 0; round < rounds; round++) {
		check_ok(ps_log_next(reader, &record));
		check_record(reader, twin, round, &record);
	}
	check_fails(ps_log_next(reader, &record), PS_ENOEVST);
	struct ps_log_info info = log_info(reader, 0);
	ck_assert_uint_eq(info.records, rounds);
	ck_assert_uint_eq(info.missing + info.dropped + ps_log_damaged_blocks(reader), 0);
	ps_log_close(reader);
	for (unsigned round = 0; round < rounds; round++) {
		ps_snapshot_destroy(twin->points[round][BEGIN]);
		ps_snapshot_destroy(twin->points[round][END]);
	}
	ps_eventset_destroy(twin->set);
	ps_eventset_destroy(set);
	free(twin);
}
END_TEST

START_TEST(a_stream_says_what_its_records_are)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	log_record(stream, 1);
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	struct ps_log_reader *reader = log_reader();
	struct ps_log_info info = log_info(reader, 0);
	ck_assert_str_eq(info.type, "request");
	ck_assert_int_eq(info.process, (int)getpid());
	ck_assert_uint_eq(info.event_count, 2);
	ck_assert_uint_eq(info.point_count, 2);
	ck_assert_uint_eq(info.field_count, 3);
	ck_assert_str_eq(ps_log_event_name(reader, 0, 1), "minor-faults");
	ck_assert_str_eq(ps_log_point_name(reader, 0, 1), "end");
	ck_assert_str_eq(ps_log_field_name(reader, 0, 2), "phase");
	ck_assert_ptr_null(ps_log_event_name(reader, 0, 2));
	ck_assert_ptr_null(ps_log_point_name(reader, 1, 0));
	ck_assert_ptr_null(ps_log_field_name(NULL, 0, 0));
	ck_assert_uint_eq(ps_component_thread_count(ps_log_root(reader)), CPUS);
	check_fails(ps_log_describe(reader, 1, &info), PS_EINVAL);
	info.size = 1;
	check_fails(ps_log_describe(reader, 0, &info), PS_EINVAL);
	ps_log_close(reader);
	ps_eventset_destroy(set);
}
END_TEST

static void check_fields(struct ps_log_reader *reader, long long units, double share,
                         const char *phase)
{
	struct ps_log_value value;

	ck_assert_int_eq(log_units(reader), units);
	check_ok(ps_log_value(reader, 1, &value));
	ck_assert(value.kind == PS_LOG_REAL);
	ck_assert_double_eq(value.real, share);
	check_ok(ps_log_value(reader, 2, &value));
	ck_assert_int_eq(value.is_set, phase != NULL);
	ck_assert_str_eq(value.text, phase ? phase : "");
}

START_TEST(fields_that_are_not_set_keep_their_values)
{
	char longest[PS_LOG_TEXT_BYTES + 2] = {0};
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	struct ps_log_record record = {.size = sizeof record};

	memset(longest, 'x', PS_LOG_TEXT_BYTES);
	check_ok(ps_log_set_real(stream, 1, -0.125));
	log_record(stream, 3);
	check_ok(ps_log_set_text(stream, 2, "a"));
	check_ok(ps_log_write(stream));
	check_ok(ps_log_set_text(stream, 2, longest));
	check_ok(ps_log_set_integer(stream, 0, INT64_MIN));
	check_ok(ps_log_write(stream));
	check_ok(ps_log_set_text(stream, 2, ""));
	check_ok(ps_log_set_real(stream, 1, 1e300));
	check_ok(ps_log_write(stream));
	check_ok(ps_log_write(stream));
	longest[PS_LOG_TEXT_BYTES] = 'x';
	check_fails(ps_log_set_text(stream, 2, longest), PS_EINVAL);
	longest[PS_LOG_TEXT_BYTES] = '\0';
	struct ps_log_reader *reader = log_reader();
	check_fails(ps_log_value(reader, 0, &(struct ps_log_value){0}), PS_ENOEVST);
	ck_assert(log_next(reader, 0));
	check_fields(reader, 3, -0.125, NULL);
	ck_assert(log_next(reader, 1));
	check_fields(reader, 3, -0.125, "a");
	check_ok(ps_log_next(reader, &record));
	check_fields(reader, INT64_MIN, -0.125, longest);
	ck_assert_uint_eq(record.fields, 5);
	ck_assert_uint_eq(record.points, 0);
	ck_assert(log_next(reader, 3));
	check_fields(reader, INT64_MIN, 1e300, "");
	check_ok(ps_log_next(reader, &record));
	check_fields(reader, INT64_MIN, 1e300, "");
	ck_assert_uint_eq(record.fields + record.points, 0);
	ck_assert_int_eq(log_count(reader, BEGIN, END), 3);
	check_fails(ps_log_value(reader, 3, &(struct ps_log_value){0}), PS_EINVAL);
	ps_log_close(reader);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

/* Streams take blocks in turns; each is read on its own. */
START_TEST(streams_of_a_file_are_kept_apart)
{
	static const char *const points[] = {"only"};
	static const struct ps_log_type other_type = {
	    .size = sizeof other_type, .name = "tick", .points = points, .point_count = 1};
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_eventset *other_set = scene_started("minor-faults", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set), *other;
	uint64_t counts[2] = {0, 0};

	check_ok(ps_log_stream_create(&other, log, other_set, &other_type));
	for (unsigned number = 0; number < 3 * RECORDS; number++) {
		log_record(stream, number);
		check_ok(ps_log_take(other, 0));
		check_ok(ps_log_write(other));
	}
	struct ps_log_reader *reader = log_reader();
	struct ps_log_record record = {.size = sizeof record};
	ck_assert_uint_eq(ps_log_stream_count(reader), 2);
	while (ps_log_next(reader, &record) == PS_OK) {
		ck_assert_uint_eq(record.number, counts[record.stream]++);
		if (record.stream == 0)
			ck_assert_int_eq(log_count(reader, BEGIN, END), (long long)record.number);
	}
	ck_assert_uint_eq(counts[0], 3 * RECORDS);
	ck_assert_uint_eq(counts[1], 3 * RECORDS);
	ck_assert_str_eq(log_info(reader, 1).type, "tick");
	ck_assert_str_eq(ps_log_event_name(reader, 1, 0), "minor-faults");
	ps_log_close(reader);
	ps_log_stream_destroy(other);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	ps_eventset_destroy(other_set);
}
END_TEST

START_TEST(a_ring_keeps_the_last_records)
{
	const struct ps_log_options options = {.size = sizeof options, .ring_bytes = 3 * 65536};
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(&options);
	struct ps_log_stream *stream = log_stream(log, set);
	struct ps_log_record record = {.size = sizeof record};
	struct stat before, after;
	uint64_t next;

	ck_assert_int_eq(stat(log_path, &before), 0);
	for (unsigned number = 0; number < 20 * RECORDS; number++)
		log_record(stream, number % 1000);
	ck_assert_int_eq(stat(log_path, &after), 0);
	ck_assert_int_eq(before.st_size, after.st_size);
	struct ps_log_reader *reader = log_reader();
	check_ok(ps_log_next(reader, &record));
	next = record.number;
	ck_assert_uint_gt(next, 15 * RECORDS);
	ck_assert_uint_eq(log_info(reader, 0).dropped, next);
	/* The record before the first one isn't known. */
	ck_assert_uint_eq(ps_log_time(reader, END | PS_LOG_PREVIOUS), 0);
	do {
		ck_assert_int_eq(log_units(reader), (long long)(next % 1000));
		ck_assert_int_eq(log_count(reader, BEGIN, END), (long long)(next % 1000));
	} while (log_next(reader, ++next));
	ck_assert_uint_eq(next, 20 * RECORDS);
	ck_assert_uint_eq(log_info(reader, 0).missing, 0);
	ck_assert_uint_eq(ps_log_lost(log), 0);
	ps_log_close(reader);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_reader_sees_what_is_there_while_it_is_written)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	for (unsigned number = 0; number < 50; number++) {
		struct ps_log_reader *reader = log_reader();
		uint64_t seen = 0;
		while (log_next(reader, seen))
			seen++;
		ck_assert_uint_eq(seen, number);
		ck_assert_uint_eq(log_info(reader, 0).missing, 0);
		ps_log_close(reader);
		log_record(stream, number);
	}
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(multiplexing_and_what_was_never_scheduled_are_told)
{
	struct ps_value values[2];
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	fake_set_affinity("0");
	set = scene_started("instructions", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	check_ok(ps_log_take(stream, BEGIN));
	fake_run(1000, 500);
	fake_advance(INSTRUCTIONS, 100);
	check_ok(ps_log_take(stream, END));
	check_ok(ps_log_write(stream));
	check_ok(ps_log_take(stream, BEGIN));
	fake_run(1000, 0);
	check_ok(ps_log_take(stream, END));
	check_ok(ps_log_write(stream));
	struct ps_log_reader *reader = log_reader();
	ck_assert(log_next(reader, 0));
	check_ok(ps_log_interval(reader, BEGIN, END, NULL, values, 2));
	ck_assert_int_eq((int)values[0].status, PS_STATUS_SCALED);
	ck_assert_int_eq(values[0].value, 200);
	ck_assert_uint_eq(values[0].raw, 100);
	ck_assert(log_next(reader, 1));
	check_ok(ps_log_interval(reader, BEGIN, END, NULL, values, 2));
	ck_assert_int_eq((int)values[0].status, PS_STATUS_NEVER_SCHEDULED);
	/* A moment has no length, and nothing is unknown in it. */
	check_ok(ps_log_interval(reader, END, END, NULL, values, 2));
	ck_assert_int_eq((int)values[0].status, PS_STATUS_COUNTED);
	ck_assert_int_eq(values[0].value, 0);
	ps_log_close(reader);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

/* In the usual case a record allocates nothing and reads the counters alone. */
START_TEST(a_record_of_a_task_that_stays_is_some_stores)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	for (unsigned number = 0; number < 4; number++)
		log_record(stream, number);
	fake_count_reset();
	for (unsigned number = 0; number < 50; number++)
		log_record(stream, number);
	ck_assert_uint_eq(fake_count(FAKE_ALLOCATE), 0);
	ck_assert_uint_eq(fake_count(FAKE_READ), 100);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log");
	TCase *tests = scene_case_of(suite, "log", log_setup, log_teardown);

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, all_intervals_are_those_of_snapshots);
	tcase_add_test(tests, a_stream_says_what_its_records_are);
	tcase_add_test(tests, fields_that_are_not_set_keep_their_values);
	tcase_add_test(tests, streams_of_a_file_are_kept_apart);
	tcase_add_test(tests, a_ring_keeps_the_last_records);
	tcase_add_test(tests, a_reader_sees_what_is_there_while_it_is_written);
	tcase_add_test(tests, multiplexing_and_what_was_never_scheduled_are_told);
	tcase_add_test(tests, a_record_of_a_task_that_stays_is_some_stores);
	return scene_run(suite);
}

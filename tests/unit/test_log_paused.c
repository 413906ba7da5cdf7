/* SPDX-License-Identifier: BSD-3-Clause */
/* A log tells which events were paused, as snapshots of the same moments do: from the first pause
 * on, also after records of several blocks, and where no part of a point has grown. */
#include "test_log.h"

#define SECOND 1 /* index of the event that is paused */
#define BLOCK  65536

static const char *const many[] = {
    "page-faults",      "minor-faults",   "major-faults",     "task-clock",       "cpu-clock",
    "context-switches", "cpu-migrations", "alignment-faults", "emulation-faults", "page-faults:u",
    "minor-faults:u",   "major-faults:u", "task-clock:u",     "cpu-clock:u",      "page-faults:k",
    "minor-faults:k",   "major-faults:k"};

#define MANY (sizeof many / sizeof many[0])

/* Is the event known to have been paused between two points? */
static bool says_paused(struct ps_log_reader *reader, unsigned from, unsigned to, size_t event)
{
	struct ps_value values[MANY];

	check_ok(ps_log_interval(reader, from, to, NULL, values, MANY));
	return values[event].flags & PS_VALUE_PAUSED;
}

/* A set, and snapshots of it at the moments of the points. */
struct pair {
	struct ps_eventset *set;
	struct ps_log *log;
	struct ps_log_stream *stream;
	struct ps_snapshot *begin[8], *end[8];
	unsigned records;
};

static struct pair pair_begin(struct ps_eventset *set)
{
	struct pair pair = {.set = set, .log = log_of(NULL)};

	pair.stream = log_stream(pair.log, set);
	return pair;
}

static void take_begin(struct pair *pair)
{
	check_ok(ps_log_take(pair->stream, BEGIN));
	check_ok(ps_snapshot_take(pair->set, &pair->begin[pair->records]));
}

static void write_end(struct pair *pair)
{
	check_ok(ps_log_take(pair->stream, END));
	check_ok(ps_snapshot_take(pair->set, &pair->end[pair->records]));
	check_ok(ps_log_write(pair->stream));
	pair->records++;
}

static void check_same(struct pair *pair, struct ps_log_reader *reader,
                       const struct ps_snapshot *from, unsigned begin, const struct ps_snapshot *to,
                       unsigned end)
{
	struct ps_value then[2], now[2];
	int result = ps_snapshot_difference(pair->set, from, to, NULL, then, 2);

	/* A snapshot has no parts before the first count. */
	if (!from && result == PS_ENOEVST)
		return;
	check_ok(result);
	check_ok(ps_log_interval(reader, begin, end, NULL, now, 2));
	for (size_t event = 0; event < 2; event++)
		ck_assert_uint_eq(now[event].flags & PS_VALUE_PAUSED,
		                  then[event].flags & PS_VALUE_PAUSED);
}

static void pair_end(struct pair *pair)
{
	struct ps_log_reader *reader;

	ps_log_stream_destroy(pair->stream);
	ps_log_destroy(pair->log);
	reader = log_reader();
	for (unsigned i = 0; i < pair->records; i++) {
		ck_assert(log_next(reader, i));
		check_same(pair, reader, pair->begin[i], BEGIN, pair->end[i], END);
		check_same(pair, reader, NULL, PS_LOG_START, pair->begin[i], BEGIN);
		check_same(pair, reader, NULL, PS_LOG_START, pair->end[i], END);
		if (i)
			check_same(pair, reader, pair->end[i - 1], END | PS_LOG_PREVIOUS,
			           pair->begin[i], BEGIN);
	}
	ps_log_close(reader);
	for (unsigned i = 0; i < pair->records; i++) {
		ps_snapshot_destroy(pair->begin[i]);
		ps_snapshot_destroy(pair->end[i]);
	}
	ps_eventset_destroy(pair->set);
}

START_TEST(a_pause_in_a_record_concerns_its_later_points)
{
	struct pair pair = pair_begin(scene_started(EVENT, "minor-faults", NULL));

	for (unsigned i = 0; i < 8; i++) {
		take_begin(&pair);
		fake_advance(PAGE_FAULTS, 3);
		if (i == 2)
			check_ok(ps_eventset_pause_event(pair.set, SECOND));
		if (i == 4)
			check_ok(ps_eventset_resume_event(pair.set, SECOND));
		if (i == 6)
			scene_count_on(1, 5);
		write_end(&pair);
	}
	pair_end(&pair);
}
END_TEST

/* Nothing is counted in the records, so no part of a point changes. */
START_TEST(a_pause_is_told_where_nothing_has_grown)
{
	struct pair pair = pair_begin(scene_started(EVENT, "minor-faults", NULL));

	fake_advance(PAGE_FAULTS, 3);
	for (unsigned i = 0; i < 4; i++) {
		take_begin(&pair);
		if (i == 1)
			check_ok(ps_eventset_pause_event(pair.set, SECOND));
		write_end(&pair);
	}
	pair_end(&pair);
}
END_TEST

START_TEST(a_pause_before_the_start_is_told)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);

	check_ok(ps_eventset_pause_event(set, SECOND));
	check_ok(ps_start(set));
	struct pair pair = pair_begin(set);
	take_begin(&pair);
	fake_advance(PAGE_FAULTS, 3);
	write_end(&pair);
	pair_end(&pair);
	struct ps_log_reader *reader = log_reader();
	ck_assert(log_next(reader, 0));
	ck_assert(says_paused(reader, BEGIN, END, SECOND));
	ck_assert(!says_paused(reader, BEGIN, END, 0));
	ps_log_close(reader);
}
END_TEST

/* Each block tells of an earlier pause. Of a ring, the block with the pause is overwritten. */
START_TEST(later_blocks_know_of_the_pause)
{
	const struct ps_log_options options = {
	    .size = sizeof options, .block_bytes = BLOCK, .ring_bytes = 2 * BLOCK};
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_log *log = log_of(&options);
	struct ps_log_stream *stream = log_stream(log, set);
	struct ps_log_record record = {.size = sizeof record};
	size_t records = 0;

	check_ok(ps_eventset_pause_event(set, SECOND));
	check_ok(ps_eventset_resume_event(set, SECOND));
	for (unsigned i = 0; i < 4 * BLOCK / 64; i++)
		log_record(stream, 1);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	struct ps_log_reader *reader = log_reader();
	for (; ps_log_next(reader, &record) == PS_OK; records++) {
		ck_assert(says_paused(reader, BEGIN, END, SECOND));
		ck_assert(!says_paused(reader, BEGIN, END, 0));
	}
	ck_assert_uint_gt(records, 0);
	ck_assert_uint_gt(log_info(reader, 0).dropped, 0);
	ps_log_close(reader);
	ps_eventset_destroy(set);
}
END_TEST

/* Streams of one file: the reader goes from one to the other. */
START_TEST(a_stream_has_no_pause_of_another_one)
{
	struct ps_eventset *first = scene_started(EVENT, "minor-faults", NULL);
	struct ps_eventset *second = scene_started(EVENT, "minor-faults", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *streams[] = {log_stream(log, first), log_stream(log, second)};
	struct ps_log_record record = {.size = sizeof record};
	unsigned records = 0;

	check_ok(ps_eventset_pause_event(first, SECOND));
	log_record(streams[0], 1);
	log_record(streams[1], 1);
	for (unsigned i = 0; i < 2; i++)
		ps_log_stream_destroy(streams[i]);
	ps_log_destroy(log);
	struct ps_log_reader *reader = log_reader();
	for (; ps_log_next(reader, &record) == PS_OK; records++)
		ck_assert_int_eq(says_paused(reader, BEGIN, END, SECOND), record.stream == 0);
	ck_assert_uint_eq(records, 2);
	ps_log_close(reader);
	ps_eventset_destroy(first);
	ps_eventset_destroy(second);
}
END_TEST

/* The format has 15 bits for single events, and one for all others. _i: the paused event. */
START_TEST(further_events_share_a_bit)
{
	struct ps_eventset *set = scene_set(many[0], NULL);

	for (size_t event = 1; event < MANY; event++)
		check_ok(ps_eventset_add(set, many[event]));
	check_ok(ps_start(set));
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	check_ok(ps_eventset_pause_event(set, (size_t)_i));
	log_record(stream, 1);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	struct ps_log_reader *reader = log_reader();
	ck_assert(log_next(reader, 0));
	for (int event = 0; event < (int)MANY; event++)
		ck_assert_int_eq(says_paused(reader, BEGIN, END, (size_t)event),
		                 event == _i || (event >= 15 && _i >= 15));
	ps_log_close(reader);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log paused");
	TCase *tests = scene_case_of(suite, "log paused", log_setup, log_teardown);

	tcase_add_test(tests, a_pause_in_a_record_concerns_its_later_points);
	tcase_add_test(tests, a_pause_is_told_where_nothing_has_grown);
	tcase_add_test(tests, a_pause_before_the_start_is_told);
	tcase_add_test(tests, later_blocks_know_of_the_pause);
	tcase_add_test(tests, a_stream_has_no_pause_of_another_one);
	tcase_add_loop_test(tests, further_events_share_a_bit, 0, (int)MANY);
	return scene_run(suite);
}

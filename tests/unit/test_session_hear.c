/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/session_hear.c on the fake kernel: records with an id of the session, of another
 * reader and of nobody. */
#include "test_session.h"

#include <setjmp.h>
#include <stdlib.h>

/* The latest sample. */
static struct ps_record latest;
static size_t latest_event;

static void keep_sample(void *context, const struct ps_session_record *record)
{
	hear_sample(context, record);
	latest = *record->record;
	latest_event = record->event;
}

static const struct ps_listener keeping = {
    .size = sizeof keeping, .sample = keep_sample, .lost = hear_lost, .other = hear_other};

static void put_sample_at(const struct ps_session *session, uint64_t id, uint64_t time_ns)
{
	uint64_t words[] = {id, UINT64_C(4711) << 32 | 4711, time_ns, 0};

	ck_assert(fake_put_record(session->lists.rings[0].fd, PERF_RECORD_SAMPLE, 0, words, 4));
}

/* Two events, both sampled. */
static struct ps_session *started_with(const char *first, const char *second,
                                       const struct ps_session_options *options)
{
	struct ps_session *session = NULL;
	struct ps_attr *attrs[] = {new_attr(first), new_attr(second)};

	make_process();
	check_ok(ps_session_create(&session, PROCESS, options));
	for (size_t i = 0; i < 2; i++) {
		check_ok(ps_session_add(session, attrs[i]));
		ps_attr_destroy(attrs[i]);
	}
	check_ok(ps_session_start(session));
	return session;
}

static struct ps_session_stats stats_of(const struct ps_session *session)
{
	struct ps_session_stats stats = {.size = sizeof stats};

	check_ok(ps_session_stats(session, &stats));
	return stats;
}

/* The kernel tells the period that begins, and a software event's may be any number. */
START_TEST(a_software_event_with_a_frequency_has_no_sum)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	struct ps_attr *attr = new_attr("page-faults");
	struct ps_value value;

	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 0));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_FREQ, 1000));
	make_process();
	check_ok(start_of(&session, &options, attr));
	ps_attr_destroy(attr);
	uint64_t id = instance_of(session, 0)->id;
	uint64_t words[] = {id, UINT64_C(4711) << 32 | 4711, 1000, 0, UINT64_C(30000000000)};
	ck_assert(fake_put_record(session->lists.rings[0].fd, PERF_RECORD_SAMPLE, 0, words, 5));
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(samples_heard, 1);
	ck_assert_uint_eq(last_period, 0);
	check_fails(ps_session_sum(session, 0, NULL, &value), PS_ENOSUPP);
	check_detail("sample_period");
	check_fails(ps_session_store(session, NULL), PS_ENOEVST);
	ps_session_destroy(session);
}
END_TEST

/* It may have counted there: less than a period. */
START_TEST(an_event_without_a_sample_has_no_reading)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started_with("page-faults", "task-clock", &options);
	const struct ps_thread *other = ps_topology_thread(scene.topology, 1);
	struct ps_value value;

	put_sample_at(session, instance_of(session, 0)->id, 1000);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_store(session, NULL));
	check_ok(ps_component_total(scene.root, "sampled page-faults", &value));
	ck_assert_int_eq(value.value, 5);
	check_fails(ps_component_total(scene.root, "sampled task-clock", &value), PS_ENOEVNT);
	check_fails(ps_component_total(ps_thread_component(other), "sampled page-faults", &value),
	            PS_ENOEVNT);
	char *csv = scene_text(PS_FORMAT_CSV);
	ck_assert_ptr_nonnull(strstr(csv, "\nThread,0,0,Thread 0,Core 0,sampled page-faults,5,"));
	ck_assert_ptr_nonnull(strstr(csv, "\nThread,1,1,Thread 1,Core 1,sampled page-faults,,"));
	free(csv);
	ps_session_destroy(session);
}
END_TEST

static jmp_buf back;

static void leave(void *context, const struct ps_session_record *record)
{
	hear_sample(context, record);
	if (samples_heard == 1)
		longjmp(back, 1);
}

START_TEST(a_sample_whose_listener_was_left_is_counted_once)
{
	const struct ps_listener leaving = {.size = sizeof leaving, .sample = leave};
	struct ps_session_options options = usual();
	struct ps_value value;

	options.listener = &leaving;
	struct ps_session *session = started(&options);
	put_sample(session, instance_of(session, 0)->id, 2);
	if (setjmp(back) == 0) {
		ps_session_poll(session, 0);
		ck_abort_msg("the listener returned");
	}
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(samples_heard, 2);
	check_ok(ps_session_sum(session, 0, NULL, &value));
	ck_assert_uint_eq(value.raw, 1);
	ck_assert_uint_eq(stats_of(session).samples, 1);
	ck_assert_uint_eq(stats_of(session).records, 1);
	ps_session_destroy(session);
}
END_TEST

START_TEST(records_of_nobody_are_counted_as_damaged_and_losses_as_lost)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	uint64_t leader = instance_of(session, 1)->id;
	uint64_t lost[] = {leader, 9, UINT64_C(4711) << 32 | 4711, 1000, 0, leader};
	uint64_t unknown[] = {1, UINT64_C(4711) << 32 | 4711, 1000, 0, leader};
	uint64_t foreign[] = {1, UINT64_C(4711) << 32 | 4711, 1000, 0, leader + 1000};
	int fd = session->lists.rings[1].fd;

	ck_assert(fake_put_record(fd, PERF_RECORD_LOST, 0, lost, 6));
	ck_assert(fake_put_record(fd, 40, 0, unknown, 5));
	ck_assert(fake_put_record(fd, 40, 0, foreign, 5));
	/* A sample of one word, and none of the session's events has so short ones. */
	ck_assert(fake_put_record(fd, PERF_RECORD_SAMPLE, 0, foreign + 4, 1));
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(stats_of(session).damaged, 2);
	ck_assert_uint_eq(stats_of(session).unassigned, 0);
	ck_assert_uint_eq(stats_of(session).lost, 9);
	ck_assert_uint_eq(stats_of(session).records, 2);
	ck_assert_uint_eq(lost_heard, 9);
	ck_assert_uint_eq(others_heard, 1);
	ps_session_destroy(session);
}
END_TEST

/* Only the session's events write there. */
START_TEST(a_sample_with_the_id_of_another_reader_is_of_the_event_that_writes_such)
{
	struct ps_session_options options = usual();
	options.listener = &keeping;
	struct ps_session *session = started_with("cpu-clock", "page-faults", &options);
	struct ps_value value = {.value = 0};

	put_sample_at(session, 1, 1000);
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(samples_heard, 1);
	ck_assert_uint_eq(latest_event, 1);
	ck_assert_uint_eq(last_period, 5);
	ck_assert_uint_eq(stats_of(session).damaged, 0);
	check_ok(ps_session_sum(session, 1, NULL, &value));
	ck_assert_int_eq(value.value, 5);
	check_fails(ps_session_sum(session, 0, NULL, &value), PS_ENOEVST);
	ps_session_destroy(session);
}
END_TEST

START_TEST(a_sample_that_may_be_of_several_events_is_counted_apart)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started_with("minor-faults", "page-faults", &options);
	struct ps_value value = {.value = 0};

	put_sample_at(session, 1, 1000);
	put_sample_at(session, instance_of(session, 0)->id, 1000);
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(samples_heard, 1);
	ck_assert_uint_eq(stats_of(session).unassigned, 1);
	check_ok(ps_session_sum(session, 0, NULL, &value));
	ck_assert_int_eq(value.status, PS_STATUS_INCOMPLETE);
	ck_assert_uint_eq(stats_of(session).damaged, 0);
	ck_assert_uint_eq(stats_of(session).records, 1);
	ps_session_destroy(session);
}
END_TEST

/* Each event has its own ring then. */
START_TEST(with_closed_descriptors_the_ring_tells_the_event)
{
	struct ps_session_options options = usual();
	options.listener = &keeping;
	options.descriptors = CPUS + 4;
	options.shortage = PS_SESSION_CLOSE;
	struct ps_session *session = started_with("minor-faults", "page-faults", &options);

	for (size_t i = 0; i < session->lists.ring_count; i++) {
		struct ps__session_ring *ring = &session->lists.rings[i];
		const struct ps__session_instance *instance = &session->lists.instances[i];
		struct {
			struct perf_event_header header;
			uint64_t words[4];
		} record = {{PERF_RECORD_SAMPLE, 0, sizeof record},
		            {1, UINT64_C(4711) << 32 | 4711, 1000, 0}};
		ck_assert_uint_eq(ring->id, instance->id);
		latest_event = SIZE_MAX;
		ps__session_hear(session, ring, &record, sizeof record);
		/* The leader, which is the last event, writes none. */
		ck_assert_uint_eq(latest_event, instance->event < 2 ? instance->event : SIZE_MAX);
	}
	ck_assert_uint_eq(stats_of(session).damaged, (uint64_t)2 * CPUS);
	ck_assert_uint_eq(stats_of(session).samples, (uint64_t)2 * 2 * CPUS);
	ps_session_destroy(session);
}
END_TEST

/* Another reader, who is given the sample first, may have another clock: its time stays in the
 * sample, if its id does or not. */
START_TEST(a_time_that_is_not_by_the_sessions_clock_is_taken_away)
{
	struct ps_session_options options = usual();
	options.listener = &keeping;
	struct ps_session *session = started(&options);
	const struct ps__session_ring *ring = &session->lists.rings[0];
	uint64_t own = instance_of(session, 0)->id, now_ns = ps__os_now_ns();
	const struct {
		uint64_t id, time_ns;
		bool has_time;
	} rows[] = {{1, now_ns, true},
	            {own, now_ns + 10, true},
	            {1, now_ns + 9, true}, /* written a little later than its time was taken */
	            {1, now_ns - 2000000, false},
	            {own, now_ns - 2000000, false},
	            {1, now_ns + 10, true},
	            {1, UINT64_MAX / 2, false},
	            {own, UINT64_MAX / 2, false},
	            {own, now_ns + 9, true}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t before_ns = ring->last_ns;
		put_sample_at(session, rows[i].id, rows[i].time_ns);
		check_ok(ps_session_poll(session, 0));
		ck_assert_uint_eq(latest.time, rows[i].has_time ? rows[i].time_ns : before_ns);
		ck_assert_int_eq(!!(latest.has & PS_RECORD_HAS_TIME), rows[i].has_time);
	}
	ps_session_destroy(session);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session_hear");
	TCase *tests = scene_case(suite, "session_hear");

	tcase_add_test(tests, records_of_nobody_are_counted_as_damaged_and_losses_as_lost);
	tcase_add_test(tests, a_software_event_with_a_frequency_has_no_sum);
	tcase_add_test(tests, an_event_without_a_sample_has_no_reading);
	tcase_add_test(tests, a_sample_whose_listener_was_left_is_counted_once);
	tcase_add_test(tests,
	               a_sample_with_the_id_of_another_reader_is_of_the_event_that_writes_such);
	tcase_add_test(tests, a_sample_that_may_be_of_several_events_is_counted_apart);
	tcase_add_test(tests, with_closed_descriptors_the_ring_tells_the_event);
	tcase_add_test(tests, a_time_that_is_not_by_the_sessions_clock_is_taken_away);
	return scene_run(suite);
}

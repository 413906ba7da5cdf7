/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/session_store.c on the fake kernel: a session's sums as readings in the tree. */
#include "test_session.h"

#include <string.h>

static long long sampled(const struct ps_component *component, struct ps_value *value)
{
	check_ok(ps_component_total(component, "sampled page-faults", value));
	ck_assert_int_eq(value->status, PS_STATUS_SCALED);
	ck_assert_uint_eq(value->flags & ~(unsigned)PS_VALUE_MERGED, PS_VALUE_SAMPLED);
	ck_assert_int_eq(value->attribution, PS_ATTRIBUTION_EXACT);
	return value->value;
}

START_TEST(sums_are_readings_of_events_of_their_own)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	struct ps_component *root = ps_topology_root(scene.topology);
	const struct ps_thread *thread = ps_topology_thread(scene.topology, 2);
	struct ps_value value, other;
	uint64_t first = 0, second = 0;

	check_fails(ps_session_store(session, &first), PS_ENOEVST);
	put_sample(session, instance_of(session, 0)->id, 2);
	put_sample(session, instance_of(session, 0)->id, 77);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_store(session, &first));
	ck_assert_int_eq(sampled(root, &value), 10);
	ck_assert_uint_eq(value.timestamp, first);
	ck_assert_int_eq(sampled(ps_thread_component(thread), &value), 5);
	/* No total of counts has them. */
	check_fails(ps_component_total(root, "page-faults", &other), PS_ENOEVNT);
	/* A reading holds all sums, and takes the place of the one before. */
	put_sample(session, instance_of(session, 0)->id, 3);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_store(session, &second));
	check_ok(ps_session_store(session, NULL));
	ck_assert_uint_gt(second, first);
	ck_assert_int_eq(sampled(root, &value), 15);
	ps_session_destroy(session);
	ck_assert_int_eq(sampled(root, &value), 15);
	ck_assert_int_eq(sampled(ps_thread_component(thread), &value), 5);
}
END_TEST

static void put_lost_samples(const struct ps_session *session)
{
	uint64_t words[] = {4, UINT64_C(4711) << 32 | 4711, 1000, 0, instance_of(session, 0)->id};

	ck_assert(
	    fake_put_record(session->lists.rings[0].fd, PERF_RECORD_LOST_SAMPLES, 0, words, 5));
}

static void put_lost(const struct ps_session *session)
{
	uint64_t id = instance_of(session, 0)->id;
	uint64_t words[] = {id, 4, UINT64_C(4711) << 32 | 4711, 1000, 0, id};

	ck_assert(fake_put_record(session->lists.rings[0].fd, PERF_RECORD_LOST, 0, words, 6));
}

static void put_throttle(const struct ps_session *session)
{
	uint64_t id = instance_of(session, 0)->id;
	uint64_t words[] = {1000, id, id, UINT64_C(4711) << 32 | 4711, 1000, 0, id};

	ck_assert(fake_put_record(session->lists.rings[0].fd, PERF_RECORD_THROTTLE, 0, words, 7));
}

/* The sample is shorter than the fields of the session's config. */
static void put_damaged(const struct ps_session *session)
{
	uint64_t words[] = {instance_of(session, 0)->id, UINT64_C(4711) << 32 | 4711};

	ck_assert(fake_put_record(session->lists.rings[0].fd, PERF_RECORD_SAMPLE, 0, words, 2));
}

/* The task was made just after its creator was opened: it may not inherit all events. */
static void put_doubtful_fork(const struct ps_session *session)
{
	put_fork(session, 5000, PROCESS, opened_ns(session, PROCESS) + 1);
}

static void (*const losses[])(const struct ps_session *session) = {
    put_lost_samples, put_lost, put_throttle, put_damaged, put_doubtful_fork};

/* Otherwise an estimate that lacks most samples would look like one that lacks none. */
START_TEST(sums_that_lack_samples_are_lower_bounds)
{
	struct ps_session_options options = usual();
	struct ps_component *root = ps_topology_root(scene.topology);
	struct ps_value value;

	options.listener = NULL;
	struct ps_session *session = started(&options);
	put_sample(session, instance_of(session, 0)->id, 2);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_sum(session, 0, NULL, &value));
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	losses[_i](session);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_sum(session, 0, NULL, &value));
	ck_assert_int_eq(value.status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(value.value, 5);
	ck_assert_uint_eq(value.flags, PS_VALUE_SAMPLED);
	check_ok(ps_session_store(session, NULL));
	check_ok(ps_component_total(root, "sampled page-faults", &value));
	ck_assert_int_eq(value.status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(value.value, 5);
	ck_assert_uint_eq(value.flags & ~(unsigned)PS_VALUE_MERGED, PS_VALUE_SAMPLED);
	ps_session_destroy(session);
}
END_TEST

START_TEST(a_topology_that_was_destroyed_takes_no_readings)
{
	struct ps_topology *topology = NULL;
	struct ps_session_options options = usual();

	for (int stored = 0; stored < 2; stored++) {
		check_ok(ps_topology_load_synthetic(&topology, "pack:2 core:2 pu:1"));
		options.root = ps_topology_root(topology);
		struct ps_session *session = started(&options);
		put_sample(session, instance_of(session, 0)->id, 2);
		check_ok(ps_session_poll(session, 0));
		if (stored)
			check_ok(ps_session_store(session, NULL));
		ps_topology_destroy(topology);
		check_fails(ps_session_store(session, NULL), PS_EINVAL);
		check_detail("was destroyed");
		ps_session_destroy(session);
	}
}
END_TEST

START_TEST(a_long_name_is_stored_whole)
{
	struct ps_session_options options = usual();
	struct ps_attr *attr = new_attr("page-faults");
	struct ps_session *session = NULL;
	struct ps_value value;
	char name[1000], stored[1100];

	make_process();
	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	snprintf(stored, sizeof stored, "sampled %s", name);
	ps__os_free(attr->event.name);
	attr->event.name = ps__os_strdup(name);
	check_ok(start_of(&session, &options, attr));
	put_sample(session, instance_of(session, 0)->id, 2);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_store(session, NULL));
	check_ok(ps_component_total(scene.root, stored, &value));
	ck_assert_int_eq(value.value, 5);
	ps_session_destroy(session);
	ps_attr_destroy(attr);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session_store");
	TCase *tests = scene_case(suite, "session_store");

	tcase_add_test(tests, sums_are_readings_of_events_of_their_own);
	tcase_add_loop_test(tests, sums_that_lack_samples_are_lower_bounds, 0,
	                    sizeof losses / sizeof *losses);
	tcase_add_test(tests, a_topology_that_was_destroyed_takes_no_readings);
	tcase_add_test(tests, a_long_name_is_stored_whole);
	return scene_run(suite);
}

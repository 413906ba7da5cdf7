/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/session*.c on the fake kernel: what is opened, what is refused, records of any event
 * of the session, and every failure. Real processes: tests/api/test_session.c. */
#include "sample/session.h"
#include "support/scene.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define CPUS 4

/* Listener and counts of one test. */
static unsigned samples_heard, lost_heard, others_heard;
static uint64_t last_period;
static const struct ps_thread *last_thread;

static void hear_sample(void *context, const struct ps_session_record *heard)
{
	(void)context;
	samples_heard++;
	last_period = heard->period;
	last_thread = heard->thread;
}

static void hear_lost(void *context, const struct ps_session_record *heard)
{
	(void)context;
	lost_heard += (unsigned)heard->record->body.lost;
}

static void hear_other(void *context, const struct ps_session_record *heard)
{
	(void)context;
	ck_assert_uint_eq(heard->event, SIZE_MAX);
	others_heard++;
}

static const struct ps_listener listener = {
    .size = sizeof listener, .sample = hear_sample, .lost = hear_lost, .other = hear_other};

static struct ps_session_options usual(void)
{
	samples_heard = lost_heard = others_heard = 0;
	return (struct ps_session_options){.size = sizeof(struct ps_session_options),
	                                   .root = scene.root,
	                                   .listener = &listener,
	                                   .ring_bytes = 8192};
}

#define PROCESS 4711

static void make_process(void)
{
	fake_task(PROCESS, "solver", 1);
	fake_task(PROCESS + 1, "solver", 2);
	fake_file("/proc/4711/task/4711/stat", "4711 (solver) R 1\n");
	fake_file("/proc/4711/task/4712/stat", "4712 (solver) R 1\n");
}

static struct ps_attr *new_attr(const char *event)
{
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, event));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 5));
	return attr;
}

/* Makes and starts a session of two threads, as far as it comes. */
static int start_of(struct ps_session **out, const struct ps_session_options *options,
                    const struct ps_attr *attr)
{
	int result = ps_session_create(out, PROCESS, options);

	if (result == PS_OK)
		result = ps_session_add(*out, attr);
	if (result == PS_OK)
		result = ps_session_start(*out);
	return result;
}

static int start_with(struct ps_session **out, const struct ps_session_options *options)
{
	struct ps_attr *attr = new_attr("page-faults");
	int result = start_of(out, options, attr);

	ps_attr_destroy(attr);
	return result;
}

static struct ps_session *started(const struct ps_session_options *options)
{
	struct ps_session *session = NULL;

	make_process();
	check_ok(start_with(&session, options));
	return session;
}

/* The instance of an event: 0 is page-faults, 1 the leader. */
static const struct ps__session_instance *instance_of(const struct ps_session *session,
                                                      uint32_t event)
{
	for (size_t i = 0; i < session->lists.instance_count; i++)
		if (session->lists.instances[i].event == event)
			return &session->lists.instances[i];
	return NULL;
}

START_TEST(each_thread_and_cpu_has_each_event_and_each_cpu_one_ring)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	struct ps_session_stats stats = {.size = sizeof stats};
	int fds[64];

	check_ok(ps_session_stats(session, &stats));
	ck_assert_uint_eq(stats.threads, 2);
	ck_assert_uint_eq(stats.rings, CPUS);
	ck_assert_uint_eq(fake_counter_fds(fds, 64), 2 * 2 * CPUS);
	for (int i = 0; i < 2 * 2 * CPUS; i++) {
		const struct perf_event_attr *attr = fake_attr_of_fd(fds[i]);
		bool is_leader = attr->config == PERF_COUNT_SW_DUMMY;
		ck_assert(attr->inherit && attr->sample_id_all && attr->use_clockid);
		ck_assert_int_eq(attr->task, is_leader);
		ck_assert_uint_ne(attr->sample_type & PERF_SAMPLE_IDENTIFIER, 0);
		ck_assert_uint_eq(attr->sample_type & PERF_SAMPLE_PERIOD, 0);
		ck_assert(fake_enabled_of_fd(fds[i]));
	}
	ps_session_destroy(session);
}
END_TEST

START_TEST(a_cpu_that_is_offline_is_opened_for_the_day_it_comes)
{
	struct ps_session_options options = usual();
	fake_set_online(3, false);
	struct ps_session *session = started(&options);

	ck_assert_uint_eq(session->lists.ring_count, CPUS);
	ps_session_destroy(session);
}
END_TEST

static void put_sample(const struct ps_session *session, uint64_t id, uint64_t cpu)
{
	uint64_t words[] = {id, UINT64_C(4711) << 32 | 4711, 1000, cpu};

	ck_assert(fake_put_record(session->lists.rings[0].fd, PERF_RECORD_SAMPLE, 0, words, 4));
}

START_TEST(a_sample_is_known_by_its_id_with_period_and_hardware_thread)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	struct ps_value value = {.value = 0};

	put_sample(session, instance_of(session, 0)->id, 2);
	put_sample(session, instance_of(session, 0)->id, 2);
	put_sample(session, instance_of(session, 0)->id, 77);
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(samples_heard, 3);
	ck_assert_uint_eq(last_period, 5);
	ck_assert_ptr_eq(last_thread, ps_topology_unknown_thread(scene.topology));
	check_ok(ps_session_sum(session, 0, NULL, &value));
	ck_assert_int_eq(value.value, 15);
	ck_assert_uint_eq(value.raw, 3);
	const struct ps_thread *thread = ps_topology_thread(scene.topology, 2);
	check_ok(ps_session_sum(session, 0, ps_thread_component(thread), &value));
	ck_assert_int_eq(value.value, 10);
	ck_assert_uint_eq(value.flags, PS_VALUE_SAMPLED);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	check_fails(ps_session_sum(session, 1, NULL, &value), PS_ENOEVNT);
	ps_session_destroy(session);
}
END_TEST

START_TEST(records_of_nobody_are_counted_as_damaged_and_losses_as_lost)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	struct ps_session_stats stats = {.size = sizeof stats};
	uint64_t leader = instance_of(session, 1)->id;
	uint64_t lost[] = {leader, 9, UINT64_C(4711) << 32 | 4711, 1000, 0, leader};
	uint64_t unknown[] = {1, UINT64_C(4711) << 32 | 4711, 1000, 0, leader};

	put_sample(session, 1, 0);
	put_sample(session, leader + 1000, 0);
	ck_assert(fake_put_record(session->lists.rings[1].fd, PERF_RECORD_LOST, 0, lost, 6));
	ck_assert(fake_put_record(session->lists.rings[1].fd, 40, 0, unknown, 5));
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_stats(session, &stats));
	ck_assert_uint_eq(stats.damaged, 2);
	ck_assert_uint_eq(stats.lost, 9);
	ck_assert_uint_eq(stats.records, 2);
	ck_assert_uint_eq(lost_heard, 9);
	ck_assert_uint_eq(others_heard, 1);
	ps_session_destroy(session);
}
END_TEST

START_TEST(with_few_descriptors_it_is_refused_or_closes_all_but_the_leaders)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	int fds[64];

	make_process();
	options.descriptors = 2 * 2 * CPUS;
	check_fails(start_with(&session, &options), PS_ECOUNT);
	check_detail("PS_SESSION_CLOSE");
	ck_assert_uint_eq(fake_counter_fds(fds, 64), 0);
	ps_session_destroy(session);
	options.shortage = PS_SESSION_CLOSE;
	check_ok(start_with(&session, &options));
	ck_assert_uint_eq(session->lists.ring_count, 2 * 2 * CPUS);
	ck_assert_uint_eq(ps__session_descriptors(session), CPUS + 2);
	ps_session_destroy(session);
}
END_TEST

START_TEST(the_processs_limit_is_told_from_the_systems)
{
	static const struct {
		int error;
		const char *says;
	} rows[] = {{EMFILE, "ulimit -n"}, {ENFILE, "file-max"}};
	struct ps_session_options options = usual();

	make_process();
	for (size_t i = 0; i < 2; i++) {
		struct ps_session *session = NULL;
		unsigned before = fake_open_fds();
		fake_fail(FAKE_PERF_EVENT_OPEN, 9, rows[i].error);
		check_fails(start_with(&session, &options), PS_ECOUNT);
		check_detail(rows[i].says);
		ps_session_destroy(session);
		ck_assert_uint_eq(fake_open_fds(), before);
	}
}
END_TEST

/* _i: PS_SESSION_REFUSE, PS_SESSION_CLOSE. */
START_TEST(whatever_fails_nothing_is_left)
{
	static const struct {
		enum fake_call call;
		int error;
	} faults[] = {{FAKE_ALLOCATE, ENOMEM},
	              {FAKE_PERF_EVENT_OPEN, EINTR},
	              {FAKE_PERF_EVENT_OPEN, ESRCH},
	              {FAKE_PERF_EVENT_OPEN, EMFILE},
	              {FAKE_IOCTL, EIO},
	              {FAKE_MMAP, EPERM},
	              {FAKE_MMAP, ENOMEM},
	              {FAKE_LIST, ENOENT},
	              {FAKE_OPEN, EMFILE},
	              {FAKE_EVENTFD, ENFILE},
	              {FAKE_POLL, EINTR},
	              {FAKE_GETRLIMIT, EINVAL}};
	struct ps_session_options options = usual();

	make_process();
	if (_i)
		options.descriptors = CPUS + 3;
	options.shortage = _i ? PS_SESSION_CLOSE : PS_SESSION_REFUSE;
	struct ps_attr *attr = new_attr("page-faults");
	for (size_t fault = 0; fault < sizeof faults / sizeof *faults; fault++) {
		bool happened = true;
		for (unsigned nth = 1; happened; nth++) {
			struct ps_session *session = NULL;
			unsigned before = fake_open_fds();
			size_t mapped = fake_mapped_bytes();
			unsigned uses = fake_count(faults[fault].call);
			fake_fail(faults[fault].call, nth, faults[fault].error);
			int result = start_of(&session, &options, attr);
			fake_fail(faults[fault].call, 0, 0);
			happened = fake_count(faults[fault].call) - uses >= nth;
			if (!happened)
				ck_assert_int_eq(result, PS_OK);
			ck_assert_int_le(result, 0);
			ps_session_destroy(session);
			ck_assert_uint_eq(fake_open_fds(), before);
			ck_assert_uint_eq(fake_mapped_bytes(), mapped);
			ck_assert_uint_lt(nth, 500);
		}
	}
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_failed_start_can_be_repeated)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;

	make_process();
	fake_fail(FAKE_MMAP, 3, EPERM);
	check_fails(start_with(&session, &options), PS_EPERM);
	check_detail("perf_event_mlock_kb");
	check_fails(ps_session_run(session), PS_ENOTRUN);
	check_ok(ps_session_start(session));
	check_fails(ps_session_start(session), PS_EISRUN);
	put_sample(session, instance_of(session, 0)->id, 0);
	check_ok(ps_session_stop(session));
	check_ok(ps_session_run(session));
	ck_assert_uint_eq(samples_heard, 1);
	ps_session_destroy(session);
}
END_TEST

/* The events that are added later must stand before the leader, and have sums. */
START_TEST(events_can_be_added_after_a_failed_start)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	struct ps_attr *attr = new_attr("minor-faults");
	struct ps_value value = {.value = 0};

	make_process();
	fake_fail(FAKE_MMAP, 3, EPERM);
	check_fails(start_with(&session, &options), PS_EPERM);
	check_ok(ps_session_add(session, attr));
	check_ok(ps_session_start(session));
	put_sample(session, instance_of(session, 1)->id, 2);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_sum(session, 1, NULL, &value));
	ck_assert_int_eq(value.value, 5);
	check_fails(ps_session_sum(session, 0, NULL, &value), PS_ENOEVST);
	check_fails(ps_session_sum(session, 2, NULL, &value), PS_ENOEVNT);
	int fd = instance_of(session, 2)->fd;
	ck_assert_uint_eq(fake_attr_of_fd(fd)->config, PERF_COUNT_SW_DUMMY);
	ps_session_destroy(session);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_run_ends_when_the_process_has_ended)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);

	put_sample(session, instance_of(session, 0)->id, 0);
	fake_task_end(PROCESS + 1);
	fake_task_end(PROCESS);
	check_ok(ps_session_run(session));
	ck_assert_uint_eq(samples_heard, 1);
	ps_session_destroy(session);
}
END_TEST

START_TEST(a_descriptor_that_the_program_closed_is_told)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);

	fake_hang_up(session->lists.rings[2].fd, POLLNVAL);
	check_fails(ps_session_run(session), PS_ECLOST);
	fake_hang_up(session->lists.rings[2].fd, POLLHUP);
	check_ok(ps_session_poll(session, 0));
	ck_assert_int_eq(session->lists.rings[2].fd, -1);
	put_sample(session, instance_of(session, 0)->id, 0);
	check_ok(ps_session_poll(session, 10));
	ck_assert_uint_eq(samples_heard, 1);
	fake_fail(FAKE_POLL, 1, EBADF);
	check_fails(ps_session_poll(session, 10), PS_ESYS);
	fake_fail(FAKE_POLL, 1, EINTR);
	check_ok(ps_session_poll(session, 10));
	ps_session_destroy(session);
}
END_TEST

START_TEST(wrong_arguments_are_named)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	struct ps_attr *attr = new_attr("page-faults");
	struct ps_session_stats stats = {.size = 1};
	struct ps_value value;
	uint64_t count;

	make_process();
	check_fails(ps_session_create(NULL, 0, NULL), PS_EINVAL);
	check_fails(ps_session_create(&session, -1, NULL), PS_EINVAL);
	check_fails(ps_session_create(&session, 9999, NULL), PS_ESYS);
	options.size--;
	check_fails(ps_session_create(&session, 0, &options), PS_EINVAL);
	options = usual();
	options.ring_bytes = SIZE_MAX;
	check_fails(ps_session_create(&session, 0, &options), PS_EINVAL);
	ck_assert_ptr_null(session);
	check_ok(ps_session_create(&session, PROCESS, NULL));
	check_fails(ps_session_add(NULL, attr), PS_EINVAL);
	check_fails(ps_session_add(session, NULL), PS_EINVAL);
	check_ok(ps_attr_set(attr, PS_ATTR_WRITE_BACKWARD, 1));
	check_fails(ps_session_add(session, attr), PS_ECOMBO);
	check_detail("write_backward");
	check_fails(ps_session_stats(session, &stats), PS_EINVAL);
	check_fails(ps_session_sum(session, 0, NULL, &value), PS_EINVAL);
	check_fails(ps_session_count(session, 0, &count), PS_ENOEVNT);
	check_fails(ps_session_poll(NULL, 0), PS_EINVAL);
	check_fails(ps_session_stop(NULL), PS_EINVAL);
	ck_assert_uint_eq(ps_session_missed(NULL, NULL, 0), 0);
	ps_session_destroy(session);
	ps_session_destroy(NULL);
	ps_attr_destroy(attr);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session");
	TCase *tests = scene_case(suite, "session");

	tcase_add_test(tests, each_thread_and_cpu_has_each_event_and_each_cpu_one_ring);
	tcase_add_test(tests, a_cpu_that_is_offline_is_opened_for_the_day_it_comes);
	tcase_add_test(tests, a_sample_is_known_by_its_id_with_period_and_hardware_thread);
	tcase_add_test(tests, records_of_nobody_are_counted_as_damaged_and_losses_as_lost);
	tcase_add_test(tests, with_few_descriptors_it_is_refused_or_closes_all_but_the_leaders);
	tcase_add_test(tests, the_processs_limit_is_told_from_the_systems);
	tcase_add_loop_test(tests, whatever_fails_nothing_is_left, 0, 2);
	tcase_add_test(tests, a_failed_start_can_be_repeated);
	tcase_add_test(tests, events_can_be_added_after_a_failed_start);
	tcase_add_test(tests, a_run_ends_when_the_process_has_ended);
	tcase_add_test(tests, a_descriptor_that_the_program_closed_is_told);
	tcase_add_test(tests, wrong_arguments_are_named);
	return scene_run(suite);
}

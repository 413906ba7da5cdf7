/* SPDX-License-Identifier: BSD-3-Clause */
/* What the suites of sessions on the fake kernel share: a process of two threads, its session, and
 * a listener that counts. */
#ifndef PS_TESTS_TEST_SESSION_H
#define PS_TESTS_TEST_SESSION_H

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

static inline void hear_sample(void *context, const struct ps_session_record *heard)
{
	(void)context;
	samples_heard++;
	last_period = heard->period;
	last_thread = heard->thread;
}

static inline void hear_lost(void *context, const struct ps_session_record *heard)
{
	(void)context;
	lost_heard += (unsigned)heard->record->body.lost;
}

static inline void hear_other(void *context, const struct ps_session_record *heard)
{
	(void)context;
	ck_assert_uint_eq(heard->event, SIZE_MAX);
	others_heard++;
}

static const struct ps_listener listener = {
    .size = sizeof listener, .sample = hear_sample, .lost = hear_lost, .other = hear_other};

static inline struct ps_session_options usual(void)
{
	samples_heard = lost_heard = others_heard = 0;
	return (struct ps_session_options){.size = sizeof(struct ps_session_options),
	                                   .root = scene.root,
	                                   .listener = &listener,
	                                   .ring_bytes = 8192};
}

#define PROCESS 4711

static inline void make_process(void)
{
	fake_task(PROCESS, "solver", 1);
	fake_task(PROCESS + 1, "solver", 2);
	fake_file("/proc/4711/task/4711/stat", "4711 (solver) R 1\n");
	fake_file("/proc/4711/task/4712/stat", "4712 (solver) R 1\n");
}

static inline struct ps_attr *new_attr(const char *event)
{
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, event));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 5));
	return attr;
}

/* Makes and starts a session of two threads, as far as it comes. */
static inline int start_of(struct ps_session **out, const struct ps_session_options *options,
                           const struct ps_attr *attr)
{
	int result = ps_session_create(out, PROCESS, options);

	if (result == PS_OK)
		result = ps_session_add(*out, attr);
	if (result == PS_OK)
		result = ps_session_start(*out);
	return result;
}

static inline int start_with(struct ps_session **out, const struct ps_session_options *options)
{
	struct ps_attr *attr = new_attr("page-faults");
	int result = start_of(out, options, attr);

	ps_attr_destroy(attr);
	return result;
}

static inline struct ps_session *started(const struct ps_session_options *options)
{
	struct ps_session *session = NULL;

	make_process();
	check_ok(start_with(&session, options));
	return session;
}

/* The instance of an event: 0 is page-faults, 1 the leader. */
static inline const struct ps__session_instance *instance_of(const struct ps_session *session,
                                                             uint32_t event)
{
	for (size_t i = 0; i < session->lists.instance_count; i++)
		if (session->lists.instances[i].event == event)
			return &session->lists.instances[i];
	return NULL;
}

static inline void put_sample(const struct ps_session *session, uint64_t id, uint64_t cpu)
{
	uint64_t words[] = {id, UINT64_C(4711) << 32 | 4711, 1000, cpu};

	ck_assert(fake_put_record(session->lists.rings[0].fd, PERF_RECORD_SAMPLE, 0, words, 4));
}

/* The record of a task of the process, in the first ring. */
static inline void put_fork(const struct ps_session *session, uint32_t tid, uint32_t creator,
                            uint64_t time_ns)
{
	uint64_t process = UINT64_C(4711) << 32 | 4711;
	uint64_t words[] = {process, (uint64_t)creator << 32 | tid, time_ns, process, time_ns,
	                    0,       instance_of(session, 1)->id};

	ck_assert(fake_put_record(session->lists.rings[0].fd, PERF_RECORD_FORK, 0, words, 7));
}

/* A session whose threads, 4711 and 4712, were seen in this state. */
static inline struct ps_session *started_in_state(const struct ps_session_options *options,
                                                  char state)
{
	struct ps_session *session = NULL;
	char stat[64];

	make_process();
	snprintf(stat, sizeof stat, "4711 (solver) %c 1 0 0 0 0 0 0 0\n", state);
	fake_file("/proc/4711/task/4711/stat", stat);
	snprintf(stat, sizeof stat, "4712 (a ) b) %c 1 0 0 0 0 0 0 0\n", state);
	fake_file("/proc/4712/task/4712/stat", stat);
	check_ok(start_with(&session, options));
	return session;
}

static inline uint64_t opened_ns(const struct ps_session *session, pid_t tid)
{
	const struct ps__session_task *task = ps__session_find_task(session, tid);

	ck_assert_ptr_nonnull(task);
	return task->since_ns;
}

/* Reads the records; the number of those that are missed, and the first one. */
static inline size_t missed_of(struct ps_session *session, pid_t *first)
{
	check_ok(ps_session_poll(session, 0));
	*first = 0;
	return ps_session_missed(session, first, 1);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tasks of a session, and what FORK records tell about them while the session is started.
 *
 * A thread inherits the events if its creator's events were open when the thread was made; a FORK
 * record in the rings tells this. The kernel first copies the creator's events, and then writes the
 * record. If the creator's events were being opened in between, the thread doesn't inherit them
 * although there is a record. Such a thread is doubtful and is reported as missed: if it were
 * opened, it might be observed twice.
 *
 * The time in between has no limit, because the creator may lose its CPU, or may copy much memory
 * for a new process. So doubtful threads are looked for after the start, too. After a creator's
 * events were opened, the first thread that it makes is doubtful, unless the creator was seen
 * asleep in between, or slept while its events were opened: no task sleeps interruptibly while it
 * makes another task.
 */
#include "sample/session.h"

#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"

#include <stdlib.h>

/* The longest time to make a task, for a creator that was never seen asleep. */
#define LONGEST_MAKING_NS 1000000000u
/* Size of a FORK record, and of a LOST record before it. */
#define FORK_BYTES 128
#define SCANS      3

static int fork_compare_tasks(const void *one, const void *other)
{
	pid_t a = ((const struct ps__session_task *)one)->tid;
	pid_t b = ((const struct ps__session_task *)other)->tid;

	return (a > b) - (a < b);
}

struct ps__session_task *ps__session_find_task(const struct ps_session *session, pid_t tid)
{
	const struct ps__session_lists *lists = &session->lists;
	struct ps__session_task key = {.tid = tid};

	return lists->task_count ? bsearch(&key, lists->tasks, lists->task_count,
	                                   sizeof *lists->tasks, fork_compare_tasks)
	                         : NULL;
}

int ps__session_note_task(struct ps_session *session, pid_t tid, struct ps__session_task **out)
{
	struct ps__session_lists *lists = &session->lists;

	*out = ps__session_find_task(session, tid);
	if (*out)
		return PS_OK;
	if (!PS__VECTOR_GROW(&lists->tasks, lists->task_count, &lists->task_room))
		return ps__fail_memory("the threads of a session");
	size_t at = lists->task_count++;
	for (; at > 0 && lists->tasks[at - 1].tid > tid; at--)
		lists->tasks[at] = lists->tasks[at - 1];
	lists->tasks[at] = (struct ps__session_task){
	    .tid = tid, .since_ns = ps__os_now_ns(), .listing = lists->listings};
	*out = &lists->tasks[at];
	return PS_OK;
}

/* True if the creator may have been making the task while the creator's events were being
 * opened. */
static bool may_be_cut(struct ps__session_task *creator, const struct ps_record *fork)
{
	uint64_t first_ns = creator->first_fork_ns;

	if (fork->time < creator->since_ns)
		return true;
	/* Rings are not read in the order of time. */
	if (first_ns && fork->time > first_ns)
		return false;
	creator->first_fork_ns = fork->time;
	return fork->time <
	       (creator->settled_ns ? creator->settled_ns : creator->since_ns + LONGEST_MAKING_NS);
}

static enum ps__session_known known_by_creator(const struct ps_session *session,
                                               const struct ps_record *fork)
{
	struct ps__session_task *creator =
	    ps__session_find_task(session, (pid_t)fork->body.other.tid);

	/* Checks is_opened instead of `known`: the creator's EXIT record may have been found first,
	 * in another ring. */
	if (creator && creator->is_opened && may_be_cut(creator, fork))
		return PS__KNOWN_DOUBTFUL;
	return PS__KNOWN_INHERITS;
}

static int note_fork(struct ps_session *session, const struct ps_record *fork)
{
	struct ps__session_task *task;
	enum ps__session_known known = known_by_creator(session, fork);
	int result = ps__session_note_task(session, (pid_t)fork->tid, &task);

	if (result != PS_OK)
		return result;
	/* Each event that asks for FORK records writes one: only the first record counts. */
	if (task->known == PS__KNOWN_DOUBTFUL && task->creator == (pid_t)fork->body.other.tid)
		return PS_OK;
	/* If the thread was opened before this record came, it may be observed twice. */
	task->known = task->known == PS__KNOWN_OPENED ? PS__KNOWN_DOUBTFUL : known;
	task->creator = (pid_t)fork->body.other.tid;
	return PS_OK;
}

static int note_record(struct ps_session *session, const void *bytes, size_t size_bytes)
{
	size_t event = ps__session_find_event(session, bytes, size_bytes);
	const struct perf_event_header *header = bytes;
	struct ps_record record;

	if (event == PS__SESSION_NO_EVENT ||
	    (header->type != PERF_RECORD_FORK && header->type != PERF_RECORD_EXIT) ||
	    ps_record_parse(&session->lists.events[event].config, bytes, size_bytes, &record) !=
	        PS_OK)
		return PS_OK;
	if (header->type == PERF_RECORD_FORK)
		return note_fork(session, &record);
	struct ps__session_task *task = ps__session_find_task(session, (pid_t)record.tid);
	/* A doubtful task stays so: the record of a task that it made may come later. */
	if (task && task->known != PS__KNOWN_DOUBTFUL)
		task->known = PS__KNOWN_ENDED;
	return PS_OK;
}

void ps__session_note_fork(struct ps_session *session, const struct ps_record *fork)
{
	struct ps__session_task *task = ps__session_find_task(session, (pid_t)fork->tid);
	struct ps__session_task *creator =
	    ps__session_find_task(session, (pid_t)fork->body.other.tid);

	/* The thread was opened before its record came, so it may be observed twice. A much later
	 * record can be of another thread with the same tid. */
	if (task && task->known == PS__KNOWN_OPENED &&
	    fork->time < task->since_ns + LONGEST_MAKING_NS)
		task->known = PS__KNOWN_DOUBTFUL;
	if (!creator || creator->known != PS__KNOWN_OPENED || !may_be_cut(creator, fork))
		return;
	/* Without memory for the task, its creator is reported as missed. */
	if (ps__session_note_task(session, (pid_t)fork->tid, &task) != PS_OK)
		task = creator;
	task->known = PS__KNOWN_DOUBTFUL;
}

void ps__session_note_exit(struct ps_session *session, const struct ps_record *exit)
{
	struct ps__session_task *task;

	if (!ps__task_has_ended((pid_t)exit->tid) &&
	    ps__session_note_task(session, (pid_t)exit->tid, &task) == PS_OK)
		task->known = PS__KNOWN_DOUBTFUL;
}

/* False for a task that has no FORK record, and for which no events were opened: it may have
 * inherited the leader before the leader had a ring. Such a task writes FORK records when it makes
 * tasks, but it isn't observed. */
static bool is_traced(const struct ps__session_task *task)
{
	return task && (task->creator || task->is_opened);
}

/* Sets may_lack of a task if the task or its creator is doubtful. True if it was not set before. */
static bool take_doubt(const struct ps_session *session, struct ps__session_task *task)
{
	const struct ps__session_task *creator = ps__session_find_task(session, task->creator);
	bool is_new = !task->may_lack;

	if (task->creator && (!is_traced(creator) || creator->may_lack))
		task->may_lack = true;
	if (task->known == PS__KNOWN_DOUBTFUL)
		task->may_lack = true;
	if (task->may_lack && task->known == PS__KNOWN_INHERITS)
		task->known = PS__KNOWN_DOUBTFUL;
	return is_new && task->may_lack;
}

/* The tasks that a doubtful task makes are doubtful, too. Their records are in other rings, and may
 * be found before that of their creator. */
static void fork_spread_doubt(struct ps_session *session)
{
	struct ps__session_lists *lists = &session->lists;
	bool has_spread;

	do {
		has_spread = false;
		for (size_t i = 0; i < lists->task_count; i++)
			has_spread |= take_doubt(session, &lists->tasks[i]);
	} while (has_spread);
}

static bool has_orphan(const struct ps_session *session)
{
	for (size_t i = 0; i < session->lists.task_count; i++) {
		pid_t creator = session->lists.tasks[i].creator;
		if (creator && !is_traced(ps__session_find_task(session, creator)))
			return true;
	}
	return false;
}

/* Reads the new records of all rings once, and leaves them there for the listener. */
static int scan_once(struct ps_session *session)
{
	struct ps__session_lists *lists = &session->lists;
	int result = PS_OK;

	for (size_t i = 0; result == PS_OK && i < lists->ring_count; i++) {
		struct ps__ring ring = lists->rings[i].ring;
		const void *bytes;
		size_t size_bytes;
		ring.seen = lists->rings[i].scanned;
		while (result == PS_OK && ps__ring_first(&ring, session->scratch, &bytes,
		                                         &size_bytes) == PS__RING_RECORD) {
			result = note_record(session, bytes, size_bytes);
			ring.seen += size_bytes;
		}
		lists->rings[i].scanned = ring.seen;
	}
	return result;
}

/* The kernel writes a task's FORK record before the task makes another task. But the record may
 * come to a ring just after this ring was scanned. So the rings are scanned again while a creator
 * is unknown. */
int ps__session_scan_rings(struct ps_session *session)
{
	int result = scan_once(session);

	for (int again = 0; result == PS_OK && again < SCANS && has_orphan(session); again++)
		result = scan_once(session);
	fork_spread_doubt(session);
	return result;
}

bool ps__session_lost_forks(const struct ps_session *session)
{
	for (size_t i = 0; i < session->lists.ring_count; i++) {
		const struct ps__session_ring *ring = &session->lists.rings[i];
		if (ring->scanned - ring->ring.seen + FORK_BYTES > ring->ring.data_bytes)
			return true;
	}
	return false;
}

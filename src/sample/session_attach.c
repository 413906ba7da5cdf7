/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All threads of a process, while it goes on making and ending threads.
 *
 * A thread that is in the list and not known is opened, unless it inherits. It does if its creator
 * was open when it was made; the rings tell, by a FORK record. The kernel writes that record some
 * microseconds after the thread appears in the list. So an unknown thread is only opened when it
 * has been in the list for a while.
 *
 * The kernel copies the creator's events before it writes the record. If the creator was being
 * opened in between, the thread doesn't inherit although a record says so. Such a thread is
 * doubtful, and told as missed: to open it would perhaps observe it twice. There is no limit to the
 * time in between, as the creator may lose its CPU, or copy much memory for a new process; so it is
 * looked for after the start, too. It is the first one that a creator has a record of after it was
 * opened, unless the creator was seen asleep before: no task sleeps interruptibly while it makes
 * another one.
 */
#include "sample/session.h"

#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread in the list has its record by then, unless its creator lost the CPU: that is told. */
#define MAKING_NS 10000000u
/* A creator that was never seen asleep may take so long. */
#define LONGEST_MAKING_NS 1000000000u
/* A FORK record, and one of lost records before it. */
#define FORK_BYTES 128
#define SHARE      2 /* of the descriptors' limit: the rest is the program's */

static int compare_tasks(const void *one, const void *other)
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
	                                   sizeof *lists->tasks, compare_tasks)
	                         : NULL;
}

/* Keeps the order. *out: the task, new or known. */
static int note_task(struct ps_session *session, pid_t tid, struct ps__session_task **out)
{
	struct ps__session_lists *lists = &session->lists;

	*out = ps__session_find_task(session, tid);
	if (*out)
		return PS_OK;
	struct ps__session_task *tasks =
	    ps__vector_reserve(lists->tasks, lists->task_count, lists->task_count + 1,
	                       &lists->task_room, sizeof *tasks);
	if (!tasks)
		return ps__fail_memory("the threads of a session");
	lists->tasks = tasks;
	size_t at = lists->task_count++;
	for (; at > 0 && tasks[at - 1].tid > tid; at--)
		tasks[at] = tasks[at - 1];
	tasks[at] = (struct ps__session_task){
	    .tid = tid, .since_ns = ps__os_now_ns(), .listing = lists->listings};
	*out = &tasks[at];
	return PS_OK;
}

/* The list of threads, as it is now. */
struct listing {
	struct ps_session *session;
	int result;
};

static int note_listed(const char *name, void *context)
{
	struct listing *listing = context;
	struct ps__session_task *task;

	listing->result = note_task(listing->session, (pid_t)strtol(name, NULL, 10), &task);
	if (listing->result == PS_OK)
		task->listing = listing->session->lists.listings;
	return listing->result != PS_OK;
}

static int list_threads(struct ps_session *session)
{
	struct listing listing = {.session = session, .result = PS_OK};
	char path[64];

	session->lists.listings++;
	snprintf(path, sizeof path, "/proc/%d/task", (int)session->pid);
	if (ps__os.list(path, note_listed, &listing) >= 0)
		return listing.result;
	if (errno == EMFILE || errno == ENFILE)
		return ps__fail(PS_ECOUNT, "%s: %s: " PS__ADVICE_DESCRIPTORS, path,
		                strerror(errno));
	if (errno == ENOMEM)
		return ps__fail_memory("the list of a process's threads");
	return ps__fail(PS_ESYS, "the threads of process %d are not known: %s: %s",
	                (int)session->pid, path, strerror(errno));
}

/* Was the task being made when its creator was opened? */
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

	/* Its heirs may lack the events that it may lack. */
	if (creator && creator->known == PS__KNOWN_DOUBTFUL)
		return PS__KNOWN_DOUBTFUL;
	if (creator && creator->known == PS__KNOWN_OPENED && may_be_cut(creator, fork))
		return PS__KNOWN_DOUBTFUL;
	return PS__KNOWN_INHERITS;
}

static int note_fork(struct ps_session *session, const struct ps_record *fork)
{
	struct ps__session_task *task;
	enum ps__session_known known = known_by_creator(session, fork);
	int result = note_task(session, (pid_t)fork->tid, &task);

	/* Opened nevertheless, because the record took so long: it may be observed twice. */
	if (result == PS_OK)
		task->known = task->known == PS__KNOWN_OPENED ? PS__KNOWN_DOUBTFUL : known;
	return result;
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
	/* The record of what a doubtful one made may come later, from another ring. */
	if (task && task->known != PS__KNOWN_DOUBTFUL)
		task->known = PS__KNOWN_ENDED;
	return PS_OK;
}

void ps__session_note_fork(struct ps_session *session, const struct ps_record *fork)
{
	struct ps__session_task *task = ps__session_find_task(session, (pid_t)fork->tid);
	struct ps__session_task *creator =
	    ps__session_find_task(session, (pid_t)fork->body.other.tid);

	/* The record took so long that the thread was opened: it may be observed twice. Later its
	 * number is another one's. */
	if (task && task->known == PS__KNOWN_OPENED &&
	    fork->time < task->since_ns + LONGEST_MAKING_NS)
		task->known = PS__KNOWN_DOUBTFUL;
	if (!creator || creator->known != PS__KNOWN_OPENED || !may_be_cut(creator, fork))
		return;
	/* Without memory for it the creator is named in its place. */
	if (note_task(session, (pid_t)fork->tid, &task) != PS_OK)
		task = creator;
	task->known = PS__KNOWN_DOUBTFUL;
}

void ps__session_note_exit(struct ps_session *session, const struct ps_record *exit)
{
	struct ps__session_task *task;

	if (!ps__task_has_ended((pid_t)exit->tid) &&
	    note_task(session, (pid_t)exit->tid, &task) == PS_OK)
		task->known = PS__KNOWN_DOUBTFUL;
}

/* Looks at what is new in the rings, and leaves it there for the listener. */
static int scan_rings(struct ps_session *session)
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

static size_t descriptors_allowed(const struct ps_session *session)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

	if (session->options.descriptors)
		return session->options.descriptors;
	ps__os.getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur / SHARE;
}

static size_t count_known(const struct ps_session *session, enum ps__session_known known)
{
	size_t count = 0;

	for (size_t i = 0; i < session->lists.task_count; i++)
		count += session->lists.tasks[i].known == known;
	return count;
}

/* PS_ECOUNT: the session may not take so many. */
static int check_budget(const struct ps_session *session)
{
	size_t threads =
	    count_known(session, PS__KNOWN_OPENED) + count_known(session, PS__KNOWN_SEEN);
	size_t needed = ps__session_needs(session, threads);
	size_t allowed = descriptors_allowed(session);

	if (needed <= allowed)
		return PS_OK;
	return ps__fail(PS_ECOUNT,
	                "a session of process %d takes %zu file descriptors, for %zu threads on "
	                "%zu CPUs, and may take %zu: raise ulimit -n%s%s",
	                (int)session->pid, needed, threads, session->lists.cpu_count, allowed,
	                session->options.descriptors ? ", or the program's own limit" : "",
	                session->is_closing ? "; one for each CPU is the least"
	                                    : ", or let the program close them (PS_SESSION_CLOSE)");
}

static int open_task(struct ps_session *session, size_t index)
{
	struct ps__session_task *task = &session->lists.tasks[index];
	size_t before = session->lists.instance_count;
	bool ended;
	int result = ps__session_open_thread(session, task->tid, &ended);

	task->known = PS__KNOWN_OPENED;
	/* A task that it made meanwhile may have a record, and lack the later events. */
	if (ended)
		task->known =
		    session->lists.instance_count > before ? PS__KNOWN_DOUBTFUL : PS__KNOWN_ENDED;
	task->since_ns = ps__os_now_ns();
	return result;
}

/* Looks whether the threads that were opened make a task now; the calling one doesn't. True: some
 * are worth another look. */
static bool settle_opened(struct ps_session *session)
{
	pid_t self = ps__os.gettid();
	bool waits = false;

	for (size_t i = 0; i < session->lists.task_count; i++) {
		struct ps__session_task *task = &session->lists.tasks[i];
		if (task->known != PS__KNOWN_OPENED || task->settled_ns)
			continue;
		char state = task->tid == self ? 'S' : ps__task_state(task->tid);
		if (state == 'S' || state == 'T' || state == 't')
			task->settled_ns = task->tid == self ? task->since_ns : ps__os_now_ns();
		else if (ps__os_now_ns() - task->since_ns < MAKING_NS)
			waits = true;
	}
	return waits;
}

/* The listener takes records only after the start. Once a ring is full, a new thread's FORK record
 * is lost, so that nobody can tell whether the thread inherits. */
static bool is_fork_lost(const struct ps_session *session)
{
	for (size_t i = 0; i < session->lists.ring_count; i++) {
		const struct ps__session_ring *ring = &session->lists.rings[i];
		if (ring->scanned - ring->ring.seen + FORK_BYTES > ring->ring.data_bytes)
			return true;
	}
	return false;
}

static void doubt_seen(struct ps_session *session)
{
	for (size_t i = 0; i < session->lists.task_count; i++) {
		if (session->lists.tasks[i].known == PS__KNOWN_SEEN)
			session->lists.tasks[i].known = PS__KNOWN_DOUBTFUL;
	}
}

/* Those that were seen long enough, or before anything was open. */
static int open_seen(struct ps_session *session, bool is_first)
{
	uint64_t now_ns = ps__os_now_ns();
	int result = PS_OK;

	for (size_t i = 0; result == PS_OK && i < session->lists.task_count; i++) {
		const struct ps__session_task *task = &session->lists.tasks[i];
		if (task->known == PS__KNOWN_SEEN &&
		    (is_first || now_ns - task->since_ns >= MAKING_NS))
			result = open_task(session, i);
	}
	return result;
}

static int attach_rounds(struct ps_session *session)
{
	for (unsigned round = 0; round < session->options.rounds; round++) {
		int result = list_threads(session);
		if (result == PS_OK)
			result = scan_rings(session);
		if (is_fork_lost(session))
			doubt_seen(session);
		if (result == PS_OK)
			result = check_budget(session);
		if (result != PS_OK)
			return result;
		/* The tasks that settled threads make are known to be observed. */
		bool waits = settle_opened(session);
		if (round > 0 && count_known(session, PS__KNOWN_SEEN) == 0 && !waits)
			return PS_OK;
		result = open_seen(session, round == 0);
		if (result != PS_OK)
			return result;
		ps__os.poll(NULL, 0, 1);
	}
	return PS_OK;
}

static bool is_missed(const struct ps__session_task *task)
{
	return task->known == PS__KNOWN_SEEN || task->known == PS__KNOWN_DOUBTFUL;
}

/* Those that ended before the latest list was read are missed by nobody: what they made is in it,
 * or has an heir there. One that has ended since may have made another, which is in no list. */
static size_t drop_ended(struct ps_session *session)
{
	size_t missed = 0;

	for (size_t i = 0; i < session->lists.task_count; i++) {
		struct ps__session_task *task = &session->lists.tasks[i];
		if (is_missed(task) && task->listing != session->lists.listings &&
		    ps__task_has_ended(task->tid))
			task->known = PS__KNOWN_ENDED;
		missed += is_missed(task);
	}
	return missed;
}

size_t ps_session_missed(const struct ps_session *session, pid_t *tids, size_t capacity)
{
	size_t count = 0;

	for (size_t i = 0; session && i < session->lists.task_count; i++) {
		if (!is_missed(&session->lists.tasks[i]))
			continue;
		if (tids && count < capacity)
			tids[count] = session->lists.tasks[i].tid;
		count++;
	}
	return count;
}

/* The records of those that are new in the list have come by the end. */
static int look_again(struct ps_session *session)
{
	int result = list_threads(session);

	if (result != PS_OK)
		return result;
	ps__os.poll(NULL, 0, MAKING_NS / 1000000);
	return scan_rings(session);
}

int ps__session_attach(struct ps_session *session)
{
	int result = attach_rounds(session);

	if (result == PS_ECOUNT && session->options.shortage == PS_SESSION_CLOSE &&
	    !session->is_closing) {
		ps__session_close(session, false);
		session->is_closing = true;
		result = attach_rounds(session);
	}
	if (result != PS_OK)
		return result;
	if (count_known(session, PS__KNOWN_OPENED) == 0)
		return ps__fail(PS_ESYS, "process %d has ended", (int)session->pid);
	if (ps_session_missed(session, NULL, 0) == 0)
		return PS_OK;
	result = look_again(session);
	if (result != PS_OK)
		return result;
	size_t missed = drop_ended(session);
	if (missed == 0)
		return PS_OK;
	return ps__fail(PS_PARTIAL,
	                "%zu tasks of process %d are not known to be observed, nor are those that "
	                "they make: they were made while the session was started "
	                "(ps_session_missed); start it earlier, or with larger rings",
	                missed, (int)session->pid);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens the events for all threads of a process, while the process creates and ends threads.
 *
 * The events are opened for each thread in the process's list, unless the thread inherits them
 * (session_fork.c). A FORK record tells that a thread inherits. The kernel writes this record some
 * microseconds after the thread appears in the list, and before the thread runs. So a thread that
 * was seen asleep has its record. A thread that is never asleep is opened after a while.
 *
 * A thread is opened while it sleeps, if it does: it then makes no task that would inherit some of
 * the events.
 */
#include "sample/session.h"

#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After this time in the list, a thread has its FORK record, unless its creator lost the CPU. That
 * case is found later, and reported (session_fork.c). */
#define MAKING_NS 10000000u
/* Three numbers of at most 20 digits fit. */
#define SCHEDSTAT_BYTES 80
#define SHARE           2 /* a session takes at most 1/SHARE of the descriptor limit */

/* Context of a walk over the list of threads. */
struct listing {
	struct ps_session *session;
	int result;
};

static int note_listed(const char *name, void *context)
{
	struct listing *listing = context;
	struct ps__session_task *task;

	listing->result =
	    ps__session_note_task(listing->session, (pid_t)strtol(name, NULL, 10), &task);
	if (listing->result == PS_OK)
		task->listing = listing->session->lists.listings;
	return listing->result != PS_OK;
}

static int attach_list_threads(struct ps_session *session)
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

/* PS_ECOUNT if the session needs more descriptors than it may take. */
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

/* The running time and the turns of a task. Both grow when it runs. */
struct task_run {
	unsigned long long on_ns;
	unsigned long long slices; /* how often it came to a CPU; 0: not known, or never */
};

static struct task_run read_run(pid_t tid)
{
	unsigned long long on_ns, waited_ns, slices;
	char path[64], text[SCHEDSTAT_BYTES];

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)tid, (int)tid);
	if (ps__os_read_file(path, text, sizeof text) < 0 ||
	    sscanf(text, "%llu %llu %llu", &on_ns, &waited_ns, &slices) != 3)
		return (struct task_run){.slices = 0};
	return (struct task_run){.on_ns = on_ns, .slices = slices};
}

/* True if the thread isn't making a task now: it sleeps interruptibly, is stopped, or is the
 * calling thread. */
static bool is_at_rest(pid_t tid)
{
	char state = tid == ps__os.gettid() ? 'S' : ps__task_state(tid);

	return state == 'S' || state == 'T' || state == 't';
}

/* True if the thread was at rest all the time since `before` was read. Not noticed: a thread that
 * was woken before it had left its CPU. */
static bool has_rested(pid_t tid, const struct task_run *before)
{
	struct task_run now = {.slices = 0};

	if (tid == ps__os.gettid())
		return true;
	if (!before->slices || !is_at_rest(tid))
		return false;
	now = read_run(tid);
	return now.slices == before->slices && now.on_ns == before->on_ns;
}

static int open_task(struct ps_session *session, size_t index)
{
	struct ps__session_task *task = &session->lists.tasks[index];
	struct task_run run = read_run(task->tid);
	bool rests = is_at_rest(task->tid);
	size_t before = session->lists.instance_count;
	bool ended;
	int result = ps__session_open_thread(session, task->tid, &ended);

	task->known = PS__KNOWN_OPENED;
	task->is_opened = session->lists.instance_count > before;
	/* If the thread made a task meanwhile, that task may have a FORK record, but lack the
	 * events that were opened last. */
	if (ended)
		task->known = task->is_opened ? PS__KNOWN_DOUBTFUL : PS__KNOWN_ENDED;
	task->since_ns = ps__os_now_ns();
	if (rests && has_rested(task->tid, &run))
		task->settled_ns = task->since_ns;
	return result;
}

/* Checks whether opened threads may be making a task now. True if some threads must be checked
 * again. */
static bool settle_opened(struct ps_session *session)
{
	bool waits = false;

	for (size_t i = 0; i < session->lists.task_count; i++) {
		struct ps__session_task *task = &session->lists.tasks[i];
		if (task->known != PS__KNOWN_OPENED || task->settled_ns)
			continue;
		if (is_at_rest(task->tid))
			task->settled_ns = ps__os_now_ns();
		else if (ps__os_now_ns() - task->since_ns < MAKING_NS)
			waits = true;
	}
	return waits;
}

/* Finds the threads whose FORK record would be in a ring, if their creator was observed: they have
 * run since they were made, or were made before the first event was opened. */
static void note_made(struct ps_session *session)
{
	for (size_t i = 0; i < session->lists.task_count; i++) {
		struct ps__session_task *task = &session->lists.tasks[i];
		if (task->known == PS__KNOWN_SEEN && !task->is_made)
			task->is_made = session->lists.instance_count == 0 || is_at_rest(task->tid);
	}
}

static void doubt_seen(struct ps_session *session)
{
	for (size_t i = 0; i < session->lists.task_count; i++) {
		if (session->lists.tasks[i].known == PS__KNOWN_SEEN)
			session->lists.tasks[i].known = PS__KNOWN_DOUBTFUL;
	}
}

/* Opens the events for threads that have no FORK record, while they sleep. A thread that was seen
 * MAKING_NS ago isn't waited for: it may run all the time. In the last round no thread is. */
static int open_seen(struct ps_session *session)
{
	uint64_t now_ns = ps__os_now_ns();
	bool is_last = session->lists.rounds_left == 0;
	int result = PS_OK;

	for (size_t i = 0; result == PS_OK && i < session->lists.task_count; i++) {
		const struct ps__session_task *task = &session->lists.tasks[i];
		if (task->known != PS__KNOWN_SEEN)
			continue;
		if (now_ns - task->since_ns >= MAKING_NS ||
		    (task->is_made && (is_last || is_at_rest(task->tid))))
			result = open_task(session, i);
	}
	return result;
}

/* Opens the events for all threads. *is_whole: the latest list had no thread that may lack them. */
static int attach_rounds(struct ps_session *session, bool *is_whole)
{
	*is_whole = false;
	for (bool is_first = true; session->lists.rounds_left > 0; is_first = false) {
		session->lists.rounds_left--;
		int result = attach_list_threads(session);
		note_made(session);
		if (result == PS_OK)
			result = ps__session_scan_rings(session);
		if (ps__session_lost_forks(session))
			doubt_seen(session);
		if (result == PS_OK)
			result = check_budget(session);
		if (result != PS_OK)
			return result;
		/* The tasks that settled threads make are known to be observed. */
		bool waits = settle_opened(session);
		*is_whole = !is_first && count_known(session, PS__KNOWN_SEEN) == 0 && !waits;
		if (*is_whole)
			return PS_OK;
		result = open_seen(session);
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

/* Drops missed tasks that ended before the latest two lists were read: the living tasks that
 * descend from them are in these lists. One list isn't enough: if a thread ends just when the
 * kernel lists it, the list ends there. A missed task that ended later is kept, because it may have
 * made a task that is in no list. Returns the number of missed tasks. */
static size_t attach_drop_ended(struct ps_session *session)
{
	size_t missed = 0;

	for (size_t i = 0; i < session->lists.task_count; i++) {
		struct ps__session_task *task = &session->lists.tasks[i];
		if (is_missed(task) && session->lists.listings - task->listing >= 2 &&
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

/* Reads the list twice and the rings again. After the wait, the records of new threads have come.
 */
static int attach_look_again(struct ps_session *session)
{
	int result = attach_list_threads(session);

	if (result == PS_OK)
		result = attach_list_threads(session);
	if (result != PS_OK)
		return result;
	ps__os.poll(NULL, 0, MAKING_NS / 1000000);
	return ps__session_scan_rings(session);
}

int ps__session_attach(struct ps_session *session)
{
	unsigned rounds = session->lists.rounds_left;
	bool is_whole;
	int result = attach_rounds(session, &is_whole);

	if (result == PS_ECOUNT && session->options.shortage == PS_SESSION_CLOSE &&
	    !session->is_closing) {
		ps__session_close(session, false);
		session->is_closing = true;
		session->lists.rounds_left = rounds;
		result = attach_rounds(session, &is_whole);
	}
	if (result != PS_OK)
		return result;
	if (count_known(session, PS__KNOWN_OPENED) == 0)
		return ps__fail(PS_ESYS, "process %d has ended", (int)session->pid);
	/* After the last round no list was read: what the threads made meanwhile is unknown. */
	if (is_whole && ps_session_missed(session, NULL, 0) == 0)
		return PS_OK;
	result = attach_look_again(session);
	if (result != PS_OK)
		return result;
	size_t missed = attach_drop_ended(session);
	if (missed == 0)
		return PS_OK;
	return ps__fail(PS_PARTIAL,
	                "%zu tasks of process %d are not known to be observed, nor are those that "
	                "they make: they were made while the session was started "
	                "(ps_session_missed); start it earlier, or with larger rings",
	                missed, (int)session->pid);
}

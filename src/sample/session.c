/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes sessions, adds events to them, starts and destroys them. */
#include "sample/session.h"

#include "base/advice.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/list.h"
#include "base/os.h"
#include "base/vector.h"
#include "topology/tree.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_RING      ((size_t)1 << 36)
#define ROUNDS            64
#define MOST_TURNS        4 /* largest number of times that a start opens all events */
#define CPUS_BYTES        8192
#define NS_PER_SECOND     UINT64_C(1000000000)
#define SHORTEST_CLOCK_NS 10000 /* shortest period of the kernel's clocks */
#define ADDED_FIELDS      (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

static int fail_size(const char *name, size_t expected, size_t given)
{
	return ps__fail(PS_EINVAL,
	                "struct %s has %zu bytes, and not %zu: set its size to its "
	                "sizeof",
	                name, expected, given);
}

static int session_check_options(const struct ps_session_options *options)
{
	const struct ps_listener *listener = options->listener;

	if (options->size != sizeof *options)
		return fail_size("ps_session_options", sizeof *options, options->size);
	if (listener && listener->size != sizeof *listener)
		return fail_size("ps_listener", sizeof *listener, listener->size);
	if (options->flags & ~(uint32_t)(PS_SESSION_MAPPINGS | PS_SESSION_SWITCHES))
		return ps__fail(PS_EINVAL,
		                "ps_session_create: the flags 0x%x have a bit that this version "
		                "doesn't know",
		                options->flags);
	if (options->shortage != PS_SESSION_REFUSE && options->shortage != PS_SESSION_CLOSE)
		return ps__fail(PS_EINVAL, "ps_session_create: there is no shortage %d",
		                (int)options->shortage);
	if (options->ring_bytes > LARGEST_RING)
		return ps__fail(PS_EINVAL, "a ring of %zu bytes is too large", options->ring_bytes);
	return PS_OK;
}

static int session_add_cpu(int cpu, void *context)
{
	struct ps__session_lists *lists = context;

	if (!PS__VECTOR_GROW(&lists->cpus, lists->cpu_count, &lists->cpu_room))
		return PS_ENOMEM;
	lists->cpus[lists->cpu_count++] = cpu;
	return 0;
}

static int fail_descriptors(const char *path, ssize_t error)
{
	return ps__fail(PS_ECOUNT, "%s: %s: %s", path, strerror((int)-error),
	                error == -EMFILE ? PS__ADVICE_DESCRIPTORS : PS__ADVICE_FILES);
}

static bool is_for_lack_of_descriptors(ssize_t error)
{
	return error == -EMFILE || error == -ENFILE;
}

/* Lists all CPUs, also those that are offline: an event for such a CPU counts when it comes
 * online. */
static int list_cpus(struct ps__session_lists *lists)
{
	static const char online[] = "/sys/devices/system/cpu/online";
	char text[CPUS_BYTES];
	ssize_t length = ps__os_read_file("/sys/devices/system/cpu/present", text, sizeof text);

	if (length < 0)
		length = ps__os_read_file(online, text, sizeof text);
	if (is_for_lack_of_descriptors(length))
		return fail_descriptors(online, length);
	if (length < 0)
		return ps__fail(PS_ESYS, "the CPUs of this machine are not known: mount /sys");
	int result = ps__list_for_each(text, session_add_cpu, lists);
	if (result == PS_ENOMEM)
		return ps__fail_memory("the CPUs of a session");
	if (result != 0 || lists->cpu_count == 0)
		return ps__fail(PS_ESYS, "the list of CPUs under /sys is no list: '%s'", text);
	return PS_OK;
}

/* Refuses a tid that isn't a process's first thread: /proc/TID/task lists all threads of the
 * process, but the records of new threads have the process's number. */
static int check_process(pid_t pid)
{
	pid_t process = ps__locate_process(pid);

	if (is_for_lack_of_descriptors(process))
		return fail_descriptors("ps_session_create: /proc/PID/status", process);
	/* The numbers in a /proc of another PID namespace belong to other tasks. */
	if ((process == pid || process < 0) && !ps__locate_has_proc())
		return ps__fail(PS_ESYS,
		                "ps_session_create: the threads of process %d can't be listed: no "
		                "/proc of this PID namespace is mounted (mount -t proc proc /proc, "
		                "or unshare --mount-proc)",
		                (int)pid);
	if (process == pid)
		return PS_OK;
	if (process < 0)
		return ps__fail(
		    PS_ESYS,
		    "ps_session_create: the process of %d is not known (/proc/%d/status: "
		    "%s)",
		    (int)pid, (int)pid, strerror(-process));
	return ps__fail(PS_EINVAL,
	                "ps_session_create: %d is a thread of process %d: give the process, or "
	                "observe one thread by a sampler",
	                (int)pid, (int)process);
}

/* If this fails, ps_session_destroy releases what was made. */
static int session_fill(struct ps_session *session, const struct ps_session_options *options)
{
	session->stop.ends[0] = session->stop.ends[1] = session->task.fd = -1;
	session->fork_generation = ps__fork_generation();
	/* The memory of the topology stays for ps_session_store and for the records' threads. */
	if (options && options->root && !ps__topology_hold(options->root->topology))
		return ps__fail(PS_EINVAL, "ps_session_create: the topology was destroyed");
	if (options)
		session->options = *options;
	if (options && options->listener)
		session->listener = *options->listener;
	if (!session->options.rounds)
		session->options.rounds = ROUNDS;
	session->scratch = ps__os_calloc(1, UINT16_MAX);
	if (!session->scratch)
		return ps__fail_memory("a session");
	int result = list_cpus(&session->lists);
	if (result != PS_OK)
		return result;
	if (session->pid != getpid()) {
		result = ps__task_open(&session->task, session->pid);
		if (result == PS_OK)
			result = check_process(session->pid);
		session->task.is_process = true;
	}
	return result == PS_OK ? ps__session_open_stop(session) : result;
}

int ps_session_create(struct ps_session **out, pid_t pid, const struct ps_session_options *options)
{
	if (!out)
		return ps__fail(PS_EINVAL, "ps_session_create: out is NULL");
	if (pid < 0)
		return ps__fail(PS_EINVAL, "ps_session_create: %d is no process", (int)pid);
	int result = options ? session_check_options(options) : PS_OK;
	if (result != PS_OK)
		return result;
	struct ps_session *session = ps__os_calloc(1, sizeof *session);
	if (!session)
		return ps__fail_memory("a session");
	session->pid = pid ? pid : getpid();
	result = session_fill(session, options);
	if (result != PS_OK) {
		ps_session_destroy(session);
		return result;
	}
	*out = session;
	return PS_OK;
}

static int session_check_event(const struct ps_attr *attr)
{
	const struct perf_event_attr *words = &attr->event.attr;
	const char *name = attr->event.name, *field = NULL;

	if (attr->event.klass == PS__EVENT_CLASS_OTHER)
		return ps__fail(PS_ECOMBO,
		                "'%s' counts for a %s, not for a task: a session can't have it",
		                name, ps_scope_name(attr->event.scope));
	/* Tasks inherit the events of a session. */
	int result = ps__sampler_check_probe(attr);
	if (result != PS_OK)
		return result;
	if (words->write_backward)
		field = "write_backward";
	else if (words->enable_on_exec)
		field = "enable_on_exec";
	else if (words->inherit_stat)
		field = "inherit_stat";
	else if (words->read_format & PERF_FORMAT_GROUP)
		field = "PERF_FORMAT_GROUP in read_format";
	if (field)
		return ps__fail(PS_ECOMBO, "'%s': a session can't have an event with %s", name,
		                field);
	return ps__sampler_check_fields(attr);
}

static bool share_an_id(const struct perf_event_attr *one, const struct perf_event_attr *other)
{
	return one->config == other->config && ps__session_shares_samples(one) &&
	       ps__session_shares_samples(other);
}

static int check_others(const struct ps_session *session, const struct ps__event *event)
{
	for (size_t i = 0; i < session->user_events; i++) {
		const struct ps__event *other = &session->lists.events[i].attr->event;
		if (!strcmp(other->name, event->name))
			return ps__fail(PS_ECNFLCT,
			                "'%s' is in the session already, and readings are found "
			                "by the name: add it once",
			                event->name);
		if (share_an_id(&other->attr, &event->attr))
			return ps__fail(PS_ECNFLCT,
			                "'%s' and '%s' are one event of the kernel, which gives "
			                "the samples of both the id of one: sample one of them",
			                other->name, event->name);
	}
	return PS_OK;
}

/* Limits the rate of a clock event to that of the kernel's timers. Otherwise a sample would have
 * the shorter period that was asked for, not the time that has passed. */
static void limit_clock(struct perf_event_attr *words)
{
	if (words->freq && words->sample_freq > NS_PER_SECOND / SHORTEST_CLOCK_NS)
		words->sample_freq = NS_PER_SECOND / SHORTEST_CLOCK_NS;
	else if (!words->freq && words->sample_period && words->sample_period < SHORTEST_CLOCK_NS)
		words->sample_period = SHORTEST_CLOCK_NS;
}

/* True if each occurrence of the event writes a sample with the amount that it adds to a count. For
 * example, the tracepoint for a task's run time adds nanoseconds. Sampling it with a period of 1
 * gives the same number as counting it. */
static bool tells_amounts(const struct perf_event_attr *words)
{
	return words->type == PERF_TYPE_TRACEPOINT && !words->freq && words->sample_period == 1;
}

/* Adds the fields that all events of a session have. */
static void complete_event(struct ps__event *event)
{
	struct perf_event_attr *words = &event->attr;

	/* The event is enabled when it is opened. If it were enabled later, the kernel would not
	 * enable copies that tasks inherit at that moment, nor copies of those copies. */
	words->disabled = 0;
	words->inherit = 1;
	words->sample_id_all = 1;
	words->sample_type |= ADDED_FIELDS;
	/* The field is added only if periods vary. With it a software event of a fixed period would
	 * write a sample each time that it happens, whatever the period is. */
	if (words->freq || tells_amounts(words))
		words->sample_type |= PERF_SAMPLE_PERIOD;
	if (ps__event_is_clock(words))
		limit_clock(words);
	words->use_clockid = 1;
	words->clockid = CLOCK_MONOTONIC;
	words->read_format |=
	    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PS__FORMAT_LOST;
}

static int session_adopt(struct ps_session *session, struct ps_attr *attr)
{
	struct ps__session_lists *lists = &session->lists;

	if (!PS__VECTOR_GROW(&lists->events, lists->event_count, &lists->event_room))
		return ps__fail_memory("the events of a session");
	complete_event(&attr->event);
	lists->events[lists->event_count++] = (struct ps__session_event){.attr = attr};
	return PS_OK;
}

int ps_session_add(struct ps_session *session, const struct ps_attr *attr)
{
	struct ps_attr *copy = NULL;
	int result = ps__session_refuse(session, "ps_session_add");

	if (result != PS_OK)
		return result;
	if (!attr)
		return ps__fail(PS_EINVAL, "ps_session_add: attr is NULL");
	if (session->is_started)
		return ps__fail(PS_EISRUN,
		                "ps_session_add: '%s' comes too late: the session was "
		                "started",
		                attr->event.name);
	result = session_check_event(attr);
	if (result == PS_OK)
		result = check_others(session, &attr->event);
	if (result == PS_OK)
		result = ps_attr_clone(&copy, attr);
	if (result != PS_OK)
		return result;
	result = session_adopt(session, copy);
	if (result != PS_OK)
		ps_attr_destroy(copy);
	else
		session->user_events++;
	return result;
}

/* Gives the leader a name that says what it is for: users see it in errors, and "dummy" is no event
 * of theirs. */
static int name_leader(struct ps__event *leader)
{
	char *name = ps__os_strdup("the records of tasks");

	if (!name)
		return ps__fail_memory("the events of a session");
	ps__os_free(leader->name);
	leader->name = name;
	return PS_OK;
}

/*
 * Adds the leader, a dummy event that writes the records of tasks. It is opened for a thread before
 * all other events: so a task that inherits one of them has a record, and no task is sampled twice.
 */
static int add_leader(struct ps_session *session)
{
	struct ps_attr *dummy = NULL;

	int result = ps_attr_create(&dummy, "dummy");
	if (result != PS_OK)
		return result;
	uint32_t flags = session->options.flags;
	struct perf_event_attr *words = &dummy->event.attr;
	words->task = 1;
	words->comm = 1;
	words->comm_exec = 1;
	words->mmap = words->mmap2 = !!(flags & PS_SESSION_MAPPINGS);
	words->context_switch = !!(flags & PS_SESSION_SWITCHES);
	result = name_leader(&dummy->event);
	if (result == PS_OK)
		result = session_adopt(session, dummy);
	if (result != PS_OK)
		ps_attr_destroy(dummy);
	return result;
}

static int make_sums(struct ps_session *session)
{
	const struct ps_component *root = session->options.root;

	if (!root)
		return PS_OK;
	session->sums = ps__os_calloc(
	    session->lists.event_count * (root->topology->thread_count + 1), sizeof *session->sums);
	return session->sums ? PS_OK : ps__fail_memory("the sums of a session");
}

/* Attaches the events. If tasks are missed, closes all events and opens them again, while as many
 * rounds are left as the last time took: a moment in which no creator runs is then found more
 * often. */
static int session_attach(struct ps_session *session)
{
	session->lists.rounds_left = session->options.rounds;
	for (unsigned turn = 1;; turn++) {
		unsigned before = session->lists.rounds_left;
		int result = ps__session_attach(session);
		if (result != PS_PARTIAL || turn == MOST_TURNS ||
		    session->lists.rounds_left < before - session->lists.rounds_left)
			return result;
		ps__session_close(session, false);
	}
}

static int session_open_all(struct ps_session *session)
{
	int result = add_leader(session);

	if (result == PS_OK)
		result = make_sums(session);
	if (result == PS_OK)
		result = session_attach(session);
	if (result != PS_OK && result != PS_PARTIAL)
		return result;
	session->polled = ps__os_calloc(session->lists.ring_count + 1, sizeof *session->polled);
	return session->polled ? result : ps__fail_memory("the rings of a session");
}

/* Puts the session back to its state before the start. More events can be added then, and the
 * leader must be the last event: so the leader and the sums are removed. */
static void close_all(struct ps_session *session)
{
	struct ps__session_lists *lists = &session->lists;

	ps__session_close(session, false);
	ps__os_free(session->sums);
	session->sums = NULL;
	session->is_closing = false;
	while (lists->event_count > session->user_events)
		ps_attr_destroy(lists->events[--lists->event_count].attr);
}

int ps_session_start(struct ps_session *session)
{
	int result = ps__session_refuse(session, "ps_session_start");

	if (result != PS_OK)
		return result;
	if (session->is_started)
		return ps__fail(PS_EISRUN, "ps_session_start: the session was started before");
	result = session_open_all(session);
	if (result != PS_OK && result != PS_PARTIAL) {
		close_all(session);
		return result;
	}
	session->is_started = true;
	return result;
}

void ps_session_destroy(struct ps_session *session)
{
	if (!session)
		return;
	bool abandon = !ps__fork_is_same(session->fork_generation);
	struct ps__session_lists *lists = &session->lists;

	ps__session_close(session, abandon);
	for (size_t i = 0; i < lists->event_count; i++)
		ps_attr_destroy(lists->events[i].attr);
	ps__session_close_stop(session);
	ps__task_close(&session->task);
	ps__os_free(lists->events);
	ps__os_free(lists->cpus);
	ps__os_free(session->polled);
	ps__os_free(session->sums);
	ps__session_leave_store(session);
	if (session->options.root)
		ps__topology_release(session->options.root->topology);
	ps__os_free(session->scratch);
	ps__os_free(session);
}

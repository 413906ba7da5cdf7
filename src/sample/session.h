/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session inside. session.c makes it, session_attach.c finds the threads, session_fork.c tells
 * which of them inherit, session_open.c opens one of them, session_read.c reads the rings,
 * session_stop.c wakes the reader, session_hear.c gives records to the listener, session_sum.c adds
 * samples up, session_store.c puts the sums in the tree.
 */
#ifndef PS_SAMPLE_SESSION_H
#define PS_SAMPLE_SESSION_H

#include "base/error.h"
#include "base/file_id.h"
#include "base/identity.h"
#include "event/event.h"
#include "locate/locate.h"
#include "locate/ring.h"
#include "sample/sampler.h"

#include <perfsage/session.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One event of the session, as it is opened everywhere. */
struct ps__session_event {
	struct ps_attr *attr; /* owned */
	struct ps_record_config config;
};

/* A read of an event brings the count, the two times, the id and the losses. */
#define PS__SESSION_NUMBERS 5

/* An event on one CPU for one thread. The kernel numbers events as they are opened, so an array of
 * these is sorted by id. */
struct ps__session_instance {
	uint64_t id;
	uint32_t event;
	int fd;        /* -1: closed, and kept alive by its ring */
	uint64_t base; /* counted before its samples had a ring */
};

struct ps__session_ring {
	struct ps__ring ring;
	uint64_t id;          /* of the event that is polled */
	uint64_t last_ns;     /* of its latest record, or when all before were read */
	uint64_t scanned;     /* up to which session_attach.c has looked for new tasks */
	int fd;               /* polled; -1: not, or no more */
	size_t largest_bytes; /* of its records so far */
	uint32_t exec_tid;    /* the task that began a program, with no record since; 0: none */
	/* There may have been no room for a record, and no LOST record has told of it */
	bool may_have_lost;
};

/* A thread that the attaching knows. */
enum ps__session_known {
	PS__KNOWN_SEEN,     /* in the list of threads; it may yet turn out to inherit */
	PS__KNOWN_OPENED,   /* the events were opened for it */
	PS__KNOWN_INHERITS, /* its creator was observed already */
	PS__KNOWN_DOUBTFUL, /* its creator was being opened at that time */
	PS__KNOWN_ENDED
};

struct ps__session_task {
	pid_t tid;
	enum ps__session_known known;
	uint64_t since_ns; /* when it was seen first; OPENED: when its events were open */
	/* OPENED. It was not making a task then, or later; 0: not known */
	uint64_t settled_ns;
	uint64_t first_fork_ns; /* OPENED: its first FORK record since it was open; 0: none */
	unsigned listing;       /* the latest list that had it, or that it was found after */
	pid_t creator;          /* by its FORK record; 0: none was seen */
	bool is_opened;         /* the events were opened for it, whatever is known since */
	bool may_lack;          /* events, or have them twice; and so may all that it makes */
};

/* Arrays that grow: src/base/vector.h. */
struct ps__session_lists {
	struct ps__session_event *events;
	struct ps__session_instance *instances;
	struct ps__session_ring *rings; /* the first one of each CPU in the order of cpus */
	struct ps__session_task *tasks; /* by rising tid */
	int *cpus;
	size_t event_count, event_room;
	size_t instance_count, instance_room;
	size_t ring_count, ring_room;
	size_t task_count, task_room;
	size_t cpu_count, cpu_room;
	unsigned listings; /* of the process's threads, so far */
};

/* The sum of an event's samples on one hardware thread. */
struct ps__session_sum {
	uint64_t samples;
	uint64_t periods;
	uint64_t timestamp; /* of the newest one */
};

/* The readings of an event in the tree; all NULL until the first one. */
struct ps__session_store {
	struct ps__recording *recording;
	struct ps__history **histories; /* by a Thread's place in the topology */
};

/* A pipe, with a byte for each stop that is still to be taken. */
struct ps__session_stop {
	int ends[2]; /* -1: not open */
	struct ps__file_id id;
};

struct ps_session {
	pid_t pid;
	struct ps_session_options options;
	struct ps_listener listener;
	struct ps__task task; /* the process; not open if it is the caller's */
	struct ps__session_lists lists;
	struct ps__session_sum *sums;     /* for each event all Threads of the topology */
	struct ps__session_store *stores; /* of each event; NULL: nothing was stored */
	struct pollfd *polled;            /* the stop, and the rings */
	void *scratch;                    /* for a record that wraps */
	uint64_t fork_generation;
	struct ps__session_stop stop;
	size_t user_events; /* of lists.events: behind them is the leader */
	bool is_started;
	bool is_closing; /* descriptors are closed, and each event has a ring */
	uint64_t records, samples, unassigned, damaged;
	uint64_t lost_by_records; /* of a full ring; the kernel's own count has them, too */
	uint64_t lost_samples;    /* by the hardware; no count of the kernel has them */
};

#define PS__SESSION_NO_EVENT SIZE_MAX

/*
 * When a software event happens, Linux prepares one sample for all events of that config, be they
 * of one session or of several readers, and each writes it into its own ring. The first one's id
 * and time stay in it. The clocks have timers of their own.
 */
static inline bool ps__session_shares_samples(const struct perf_event_attr *words)
{
	return words->type == PERF_TYPE_SOFTWARE && words->sample_period &&
	       !ps__event_is_clock(words);
}

/* A call in a child, or without a session. Async-signal-safe unless it fails. */
static inline int ps__session_refuse(const struct ps_session *session, const char *call)
{
	if (!session)
		return ps__fail(PS_EINVAL, "%s: the session is NULL", call);
	if (!ps__fork_is_same(session->fork_generation))
		return ps__fail(PS_ECLOST,
		                "%s: the session was made by the parent process, and its events "
		                "are the parent's: create a session in this process",
		                call);
	return PS_OK;
}

/* session_attach.c: opens all threads. PS_PARTIAL: some are missed. */
int ps__session_attach(struct ps_session *session);

/* session_fork.c: keeps the order of the tasks. *out: the task, new or known. */
int ps__session_note_task(struct ps_session *session, pid_t tid, struct ps__session_task **out);
/* Looks at what is new in the rings, and leaves it there for the listener. */
int ps__session_scan_rings(struct ps_session *session);
/* The listener takes records only after the start. Once a ring is full, a new thread's FORK record
 * is lost, so that nobody can tell whether the thread inherits. */
bool ps__session_lost_forks(const struct ps_session *session);
/* After the start: FORK says that a task was made, which may be missed. */
void ps__session_note_fork(struct ps_session *session, const struct ps_record *fork);
/* EXIT follows a program's begin: if the task goes on, the kernel doesn't observe the program. */
void ps__session_note_exit(struct ps_session *session, const struct ps_record *exit);
/* NULL if it is not known. */
struct ps__session_task *ps__session_find_task(const struct ps_session *session, pid_t tid);

/* session_open.c: all events of a thread on all CPUs. *ended: there is no such thread. */
int ps__session_open_thread(struct ps_session *session, pid_t tid, bool *ended);
/* The number of descriptors that these threads take, the open ones included. */
size_t ps__session_needs(const struct ps_session *session, size_t threads);
size_t ps__session_descriptors(const struct ps_session *session);
/* The index of the event that has this id; PS__SESSION_NO_EVENT: none of the session. */
size_t ps__session_find_id(const struct ps_session *session, uint64_t id);
/* The same for the id in a record. */
size_t ps__session_find_event(const struct ps_session *session, const void *bytes,
                              size_t size_bytes);
/* Closes events and rings. abandon: in a forked child. */
void ps__session_close(struct ps_session *session, bool abandon);

/* session_stop.c. Asks which end of it is polled; takes one stop: PS_ENOTRUN. PS_OK: there is
 * none. */
int ps__session_open_stop(struct ps_session *session);
int ps__session_take_stop(const struct ps_session *session, short revents);
void ps__session_close_stop(struct ps_session *session);
int ps__session_fail_closed(void);

/* session_hear.c: one record of a ring. */
void ps__session_hear(struct ps_session *session, struct ps__session_ring *ring, const void *bytes,
                      size_t size_bytes);
/* session_sum.c. */
/* The kernel reports the period of the interval that begins with the sample. For a hardware event
 * that is much the same as the one that ends; a frequency of a software event makes it any number.
 */
bool ps__session_knows_period(const struct ps_session *session, size_t event);
/* Are the event's samples of user space alone? */
bool ps__session_is_user_only(const struct ps__event *event);
/* The sum on one hardware thread, by its place in the topology. */
struct ps__session_sum *ps__session_sum_of(const struct ps_session *session, size_t event,
                                           size_t thread);
void ps__session_add_sample(struct ps_session *session, size_t event,
                            const struct ps_record *record, uint64_t period);

/* session_store.c */
void ps__session_leave_store(struct ps_session *session);

#endif

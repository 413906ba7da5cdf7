/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The struct of a session. session.c makes it, session_attach.c finds the threads, session_fork.c
 * finds which of them inherit the events, session_open.c opens the events for one thread,
 * session_read.c reads the rings, session_stop.c wakes the reader, session_hear.c gives records to
 * the listener, session_sum.c adds samples up, session_store.c puts the sums in the tree.
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

/* One event of the session, as it is opened for all threads and CPUs. */
struct ps__session_event {
	struct ps_attr *attr; /* owned */
	struct ps_record_config config;
	bool is_throttled; /* the kernel withheld samples for a while */
};

/* Numbers in a read of an event: the count, the two times, the id and the losses. */
#define PS__SESSION_NUMBERS 5

/* An event on one CPU for one thread. The kernel numbers events as they are opened, so an array of
 * these is sorted by id. */
struct ps__session_instance {
	uint64_t id;
	uint32_t event;
	int fd;        /* -1: closed; its ring keeps the event */
	uint64_t base; /* the count before its samples had a ring */
};

struct ps__session_ring {
	struct ps__ring ring;
	uint64_t id;          /* id of the event that is polled */
	uint64_t last_ns;     /* time of its latest record, or when it was last read empty */
	uint64_t scanned;     /* position up to which session_fork.c has looked for new tasks */
	int fd;               /* descriptor that is polled; -1: none, or no longer */
	size_t largest_bytes; /* size of the largest record so far */
	/* The task that began a program, if it has written no record since; 0: none */
	uint32_t exec_tid;
	/* True if a record may have found no room, and no LOST record has reported this */
	bool may_have_lost;
};

/* What is known of a thread or a task. */
enum ps__session_known {
	PS__KNOWN_SEEN,     /* in the list of threads; it may inherit the events */
	PS__KNOWN_OPENED,   /* the events were opened for it */
	PS__KNOWN_INHERITS, /* it inherits the events: its creator was observed already */
	PS__KNOWN_DOUBTFUL, /* not known: its creator was being opened at that time */
	PS__KNOWN_ENDED
};

struct ps__session_task {
	pid_t tid;
	enum ps__session_known known;
	uint64_t since_ns; /* when it was seen first; OPENED: when its events had been opened */
	/* OPENED: a time, at or after since_ns, at which it was not making a task; 0: not known */
	uint64_t settled_ns;
	/* OPENED: time of the first FORK record of a task that it made afterwards; 0: none */
	uint64_t first_fork_ns;
	unsigned listing; /* the latest list that had it, or that was read before it was found */
	pid_t creator;    /* from its FORK record; 0: none was seen */
	/* SEEN: its FORK record would be in a ring, if its creator was observed */
	bool is_made;
	bool is_opened; /* the events were opened for it; stays true if `known` changes */
	/* It may lack events or have them twice, and so may all tasks that it makes */
	bool may_lack;
};

/* Arrays that grow: src/base/vector.h. */
struct ps__session_lists {
	struct ps__session_event *events;
	struct ps__session_instance *instances;
	/* The first ring of each CPU comes first, in the order of cpus */
	struct ps__session_ring *rings;
	struct ps__session_task *tasks; /* sorted by tid */
	int *cpus;
	size_t event_count, event_room;
	size_t instance_count, instance_room;
	size_t ring_count, ring_room;
	size_t task_count, task_room;
	size_t cpu_count, cpu_room;
	unsigned listings;    /* number of lists of the process's threads that were read */
	unsigned rounds_left; /* of options.rounds, in this start */
};

/* The sum of an event's samples on one hardware thread. */
struct ps__session_sum {
	uint64_t samples;
	uint64_t periods;
	uint64_t timestamp; /* timestamp of the newest sample */
};

/* The readings of an event in the tree; all NULL until the first one. */
struct ps__session_store {
	struct ps__recording *recording;
	struct ps__history **histories; /* index: a Thread's place in the topology */
};

/* A pipe with a byte for each stop that was not taken yet. */
struct ps__session_stop {
	int ends[2]; /* -1: not open */
	struct ps__file_id id;
};

struct ps_session {
	pid_t pid;
	struct ps_session_options options;
	struct ps_listener listener;
	struct ps__task task; /* the process; not open if it is the calling process */
	struct ps__session_lists lists;
	struct ps__session_sum *sums;     /* for each event a sum of each Thread of the topology */
	struct ps__session_store *stores; /* one of each event; NULL: nothing was stored */
	struct pollfd *polled;            /* the stop's pipe, and the rings */
	void *scratch;                    /* for a record that wraps */
	uint64_t fork_generation;
	struct ps__session_stop stop;
	/* Number of the user's events in lists.events; the leader follows them */
	size_t user_events;
	bool is_started;
	bool is_closing; /* PS_SESSION_CLOSE: no descriptors, a ring for each event */
	uint64_t records, samples, unassigned, damaged;
	/* Losses from LOST records; the kernel's own count has these losses, too */
	uint64_t lost_by_records;
	/* Losses from LOST_SAMPLES records; the kernel's own count does not have them */
	uint64_t lost_samples;
};

#define PS__SESSION_NO_EVENT SIZE_MAX

/*
 * True if the samples of an event can have another event's id and time. When a software event
 * happens, Linux prepares one sample for all events of that config, of this session and of other
 * readers, and each event writes it into its own ring. The id and the time of the first event stay
 * in the sample. Clock events don't share samples: each has a timer of its own.
 */
static inline bool ps__session_shares_samples(const struct perf_event_attr *words)
{
	return words->type == PERF_TYPE_SOFTWARE && words->sample_period &&
	       !ps__event_is_clock(words);
}

/* PS_EINVAL for NULL, PS_ECLOST in a child of fork(). Async-signal-safe unless it fails. */
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

/* session_attach.c: opens the events for all threads. PS_PARTIAL: some are missed. */
int ps__session_attach(struct ps_session *session);

/* session_fork.c: finds a task by its tid, or adds it; the order by tid is kept. *out: the task. */
int ps__session_note_task(struct ps_session *session, pid_t tid, struct ps__session_task **out);
/* Reads the new records of the rings, and leaves them there for the listener. */
int ps__session_scan_rings(struct ps_session *session);
/* True if FORK records were lost in a full ring. The listener takes records only after the start,
 * so a ring can fill before. Without its FORK record it isn't known whether a thread inherits. */
bool ps__session_lost_forks(const struct ps_session *session);
/* Notes a FORK record that comes after the start: the new task may be missed. */
void ps__session_note_fork(struct ps_session *session, const struct ps_record *fork);
/* Notes an EXIT record right after the record of an exec. If the task still exists, the kernel
 * doesn't observe the new program. */
void ps__session_note_exit(struct ps_session *session, const struct ps_record *exit);
/* NULL if the task is not known. */
struct ps__session_task *ps__session_find_task(const struct ps_session *session, pid_t tid);

/* session_open.c: opens all events of a thread on all CPUs. *ended: there is no such thread. */
int ps__session_open_thread(struct ps_session *session, pid_t tid, bool *ended);
/* Returns the number of descriptors that the session needs for this number of threads. */
size_t ps__session_needs(const struct ps_session *session, size_t threads);
size_t ps__session_descriptors(const struct ps_session *session);
/* Returns the index of the event with this id; PS__SESSION_NO_EVENT: it isn't the session's. */
size_t ps__session_find_id(const struct ps_session *session, uint64_t id);
/* As ps__session_find_id, for the id in a record. */
size_t ps__session_find_event(const struct ps_session *session, const void *bytes,
                              size_t size_bytes);
/* Closes events and rings. abandon: in a child of fork(). */
void ps__session_close(struct ps_session *session, bool abandon);

/* session_stop.c. take_stop takes one stop from the pipe, and returns PS_ENOTRUN. PS_OK: there is
 * no stop; PS_ECLOST: the program has closed the pipe. revents: the result of the poll for the
 * pipe. */
int ps__session_open_stop(struct ps_session *session);
int ps__session_take_stop(const struct ps_session *session, short revents);
void ps__session_close_stop(struct ps_session *session);
int ps__session_fail_closed(void);

/* session_hear.c: gives one record of a ring to the listener. */
void ps__session_hear(struct ps_session *session, struct ps__session_ring *ring, const void *bytes,
                      size_t size_bytes);
/* session_sum.c. */
/* True if a sample's period tells how many events the sample stands for: those since the last
 * sample. The kernel reports the period of the interval that begins with the sample. For a hardware
 * event both intervals have nearly the same period. For a software event with a frequency the
 * reported period can be any number. */
bool ps__session_knows_period(const struct ps_session *session, size_t event);
/* True if samples of the event may be missing: its sum is then a lower bound. */
bool ps__session_lacks_samples(const struct ps_session *session, size_t event);
/* True if the event's samples are of user space only. */
bool ps__session_is_user_only(const struct ps__event *event);
/* Returns the sum of one hardware thread, by its place in the topology. */
struct ps__session_sum *ps__session_sum_of(const struct ps_session *session, size_t event,
                                           size_t thread);
void ps__session_add_sample(struct ps_session *session, size_t event,
                            const struct ps_record *record, uint64_t period);

/* session_store.c */
void ps__session_leave_store(struct ps_session *session);

#endif

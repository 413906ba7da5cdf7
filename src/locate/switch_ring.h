/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch ring on one task tells which CPUs the task has been on since the last drain, without a
 * system call.
 *
 * A software event writes a record with the CPU into a mapped ring. In a ring of switches, an event
 * that counts nothing (PERF_COUNT_SW_DUMMY) writes a record at every context switch of the task;
 * this needs no privilege. In a ring of migrations, an event of migrations writes a record when the
 * task is switched in on another CPU; kernel-side events must be permitted. If the ring's head has
 * not moved, the task was on no other CPU. (perf_event_open(2): context_switch, sample_id_all.)
 */
#ifndef PS_LOCATE_SWITCH_RING_H
#define PS_LOCATE_SWITCH_RING_H

#include "locate/ring.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ps__switch_ring {
	int fd;      /* -1: not open */
	uint64_t id; /* the kernel's id of the event */
	struct ps__ring ring;
	bool is_of_migrations;
	bool has_ended;   /* the end of the task was among the records */
	int home_fd;      /* for a pinned task: an event on its one CPU; -1: none */
	uint64_t home_id; /* the kernel's id of home_fd's event */
	uint64_t away_ns; /* time on other CPUs, as ps__switch_ring_was_away last read it */
};

/* One record: when and where the task was switched in or out. */
struct ps__visit {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	int cpu;
	bool is_out; /* switched out; always false in a ring of migrations */
};
typedef void ps__switch_ring_visit(const struct ps__visit *visit, void *context);

/* Opens a switch ring. home: the one CPU of a pinned task, for ps__switch_ring_was_away; -1 for
 * other tasks. tid 0: the caller. Returns 0, or -errno: EPERM when the user's locked memory
 * (perf_event_mlock_kb) is used up. */
int ps__switch_ring_open(struct ps__switch_ring *switches, pid_t tid, int home);
/* Opens a ring of migrations. -EACCES if kernel-side events are not permitted. */
int ps__switch_ring_open_migrations(struct ps__switch_ring *switches, pid_t tid);
/* abandon: true in a forked child, as for ps__ring_unmap. */
void ps__switch_ring_close(struct ps__switch_ring *switches, bool abandon);

/* True if the task was switched in or out (in a ring of migrations: moved) or ended since the last
 * ps__switch_ring_drain. Hot; async-signal-safe. */
static inline bool ps__switch_ring_has_moved(const struct ps__switch_ring *switches)
{
	return ps__ring_has_records(&switches->ring);
}

/*
 * Calls visit with each record since the last drain, oldest first. Returns false if records were
 * lost (the ring holds about 340 switches): the task may then have been on any CPU.
 * Async-signal-safe if visit is.
 */
bool ps__switch_ring_drain(struct ps__switch_ring *switches, ps__switch_ring_visit *visit,
                           void *context);
/* Drains the ring, without a look at the records. */
void ps__switch_ring_skip(struct ps__switch_ring *switches);

/* True if the task has been on its home CPU ever since the ring was opened. False if the event
 * can't be read. For any thread. One read(2). */
bool ps__switch_ring_stayed_home(const struct ps__switch_ring *switches);

/* True if the task has run on a CPU other than home since the last call, or if the event can't be
 * read. One read(2). */
bool ps__switch_ring_was_away(struct ps__switch_ring *switches);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch ring on one task: which CPUs it has been on since the last look, without a system call.
 *
 * A software event writes a record with the CPU into a mapped ring: one that counts nothing
 * (PERF_COUNT_SW_DUMMY), at every context switch of the task, which needs no privilege; or one of
 * migrations, when the task is switched in on another CPU, where kernel-side events are permitted.
 * If the ring's head stands where it stood, the task was on no other CPU. (perf_event_open(2):
 * context_switch, sample_id_all.)
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
	uint64_t id; /* the kernel's */
	struct ps__ring ring;
	bool is_of_migrations;
	bool has_ended;   /* the end of the task was among the records */
	int home_fd;      /* of a pinned task: an event on its one CPU; -1: none */
	uint64_t home_id; /* the kernel's */
	uint64_t away_ns; /* how long it had been elsewhere, at the last look */
};

/* One record: the task was switched in, or out. */
struct ps__visit {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	int cpu;
	bool is_out; /* switched out; never of a switch ring of migrations */
};
typedef void ps__switch_ring_visit(const struct ps__visit *visit, void *context);

/* 0, or -errno: EPERM when the user's locked memory (perf_event_mlock_kb) is used up. tid 0: the
 * caller. home: the one CPU of a pinned task, for ps__switch_ring_was_away, or -1. */
int ps__switch_ring_open(struct ps__switch_ring *switches, pid_t tid, int home);
/* A switch ring of migrations. -EACCES where kernel-side events are not permitted. */
int ps__switch_ring_open_migrations(struct ps__switch_ring *switches, pid_t tid);
/* abandon: in a forked child. */
void ps__switch_ring_close(struct ps__switch_ring *switches, bool abandon);

/* Has the task been switched in or out (of migrations: moved), or ended, since
 * ps__switch_ring_drain? Hot; async-signal-safe. */
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
/* The same, without a look at the records. */
void ps__switch_ring_skip(struct ps__switch_ring *switches);

/* Has the task been at home ever since the ring was opened? False if it can't be told. For any
 * thread. One read(2). */
bool ps__switch_ring_stayed_home(const struct ps__switch_ring *switches);

/* Has the task run elsewhere than at home since the last look? True also if it can't be told. One
 * read(2). */
bool ps__switch_ring_was_away(struct ps__switch_ring *switches);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A watch on one task: which CPUs it has been on since the last look, without a system call.
 *
 * A software event that counts nothing (PERF_COUNT_SW_DUMMY) writes a record with the CPU into a mapped ring at every
 * context switch of the task. If the ring's head stands where it stood, the task was on no other CPU. It needs
 * no privilege. (perf_event_open(2): context_switch, sample_id_all.)
 */
#ifndef PS_LOCATE_WATCH_H
#define PS_LOCATE_WATCH_H

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ps__watch {
	int fd; /* -1: not open */
	struct perf_event_mmap_page *page;
	size_t data_offset; /* bytes from the page to the ring's data */
	size_t data_bytes;  /* a power of two */
	uint64_t seen;      /* the head up to which records have been looked at */
	bool has_ended;     /* the end of the task was among them */
	int home_fd;        /* of a pinned task: an event on its one CPU; -1: none */
	uint64_t away_ns;   /* how long it had been elsewhere, at the last look */
};

/* 0, or -errno: EPERM when the user's locked memory (perf_event_mlock_kb) is used up. tid 0: the caller. home: the one CPU
 * of a pinned task, for ps__watch_was_away, or -1. */
int ps__watch_open(struct ps__watch *watch, pid_t tid, int home);
void ps__watch_close(struct ps__watch *watch, bool abandon);

/* Has the task been switched in or out, or ended, since ps__watch_drain? Hot; async-signal-safe. */
static inline bool ps__watch_has_moved(const struct ps__watch *watch)
{
	/* Pairs with the kernel's store of data_head after it wrote a record. */
	return __atomic_load_n(&watch->page->data_head, __ATOMIC_ACQUIRE) != watch->seen;
}

/*
 * Calls visit with the CPU of each record since the last drain, oldest first. Returns false if records were lost (the ring
 * holds about 340 switches): the task may then have been on any CPU. Async-signal-safe if visit is.
 */
bool ps__watch_drain(struct ps__watch *watch, void (*visit)(int cpu, void *context), void *context);

/* Has the task run elsewhere than at home since the last look? True also if it can't be told. One read(2). */
bool ps__watch_was_away(struct ps__watch *watch);

#endif

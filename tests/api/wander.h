/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known work at known places, for the API tests of exact attribution: fresh pages, each of which is
 * one page fault when it is touched, and a thread that is moved from CPU to CPU.
 */
#ifndef PS_TESTS_WANDER_H
#define PS_TESTS_WANDER_H

#include "here.h"

#include <sched.h>

#define WANDER_EVENT "page-faults:u"

/* Fresh pages, taken one after the other. */
struct wander_work {
	unsigned char *pages;
	size_t page_bytes;
	size_t count;
	size_t next;
	long long faults; /* of the thread that touches, when this was last looked at */
	long long strays;
};
void wander_create(struct wander_work *work, size_t pages);
void wander_destroy(struct wander_work *work);
void wander_touch(struct wander_work *work, size_t pages); /* so many page faults, here and now */

/*
 * The kernel may take a page away at any time, such as one of code when memory is short, and the
 * thread then has a fault that no test made. getrusage counts such faults, too. From wander_settle
 * on, both by the thread that touches:
 */
void wander_settle(struct wander_work *work);
long long
wander_strays(struct wander_work *work); /* how many faults it had that weren't wander_touch's */

/* The index'th CPU that this program could use when it began, or -1. */
int wander_cpu(int index);
void wander_move(int cpu); /* the calling thread, by sched_setaffinity */
void wander_unpin(void);   /* to all the CPUs that this program could use when it began */
unsigned wander_random(unsigned *seed, unsigned limit); /* 0 to limit - 1 */

/* Why page faults can't be told apart by CPU here; NULL if they can. */
const char *wander_obstacle(void);
const char *
wander_obstacle_to_means(void); /* why the means can't be had here, or only with other faults */
/* False, with the reason said, where they can't. */
#define wander_is_possible() ps_test_may_run(wander_obstacle())
/* By which means the kernel may split counts; the library finds the other one refused. */
enum wander_means {
	WANDER_PER_CPU,
	WANDER_RECORDS
};
enum wander_means wander_means(void);

bool wander_has_thread_sanitizer(void);

/* A set of page faults, stored for `rows` readings, not started. The caller isn't pinned any
 * more. */
struct ps_eventset *wander_set(enum ps_attribution_mode mode, size_t rows);

/* The part of a reading on a CPU, which must have this label; 0 if the reading has none there. */
long long wander_part(struct ps_topology *topology, int cpu, uint64_t timestamp,
                      enum ps_attribution label);

/* Equal, but for strays; under AddressSanitizer, whose shadow of used memory is faulted in, too, no
 * less. */
void wander_check_count(long long counted, long long expected, long long strays);

/* The kernel counted nothing that the set didn't assign. */
void wander_check_residual(struct ps_eventset *set);

/* main's: a suite of one case, with instances; or of two, the other with migration records (NULL:
 * none). */
typedef void wander_add(TCase *tests);
int wander_run(const char *name, wander_add *add, wander_add *add_with_records);

#endif

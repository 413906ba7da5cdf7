/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI on this machine, for tests of event sets that a user makes with it. papi_pmu.h makes PAPI
 * count. */
#ifndef PS_TESTS_PAPI_HERE_H
#define PS_TESTS_PAPI_HERE_H

#include "here.h"

/* Starts PAPI, once in a process, with support for threads. NULL, or why it can't count here. */
const char *papi_here_start(void);

/* The same at the head of a test: false if it can't, and the reason is printed. */
#define papi_here_may_count() papi_here_check(__func__)
bool papi_here_check(const char *test);

/* An event set of PAPI with these events, up to a NULL. */
int papi_here_create(const char *event, ...) __attribute__((sentinel));
void papi_here_destroy(int set);
struct ps_eventset *papi_here_wrap(int set);
/* What has to be faulted in once is, so that two runs of the same work count alike. Into here's
 * topology. */
void papi_here_rehearse(struct ps_eventset *set);
long long papi_here_count(struct ps_thread *thread, const char *event,
                          uint64_t timestamp); /* of a reading's part */

/* Exactly so many page faults of the calling thread, in user space. */
void papi_here_touch(size_t pages);

#define PAPI_HERE_FAULTS "perf::PAGE-FAULTS"
/* What PAPI calls it: the name of its default PMU is left out. */
const char *papi_here_name(int set, int index);

/* Between these two the kernel's own count of the thread's faults tells of those that nobody
 * touched a page for. */
void papi_here_watch(void);
void papi_here_end_watch(void);

/* Exactly as many, but for those that the watches told of; and sanitizers touch pages of their
 * own. */
void papi_here_expect(long long counted, long long expected);
/* A plain run of the work since the last watch began counted the same. */
void papi_here_expect_same(long long counted, long long plain);
/* So many, and few more of the library's own. */
void papi_here_expect_about(long long counted, long long expected);

/* A call of PAPI must succeed. */
#define papi_ok(call)                                                                     \
	do {                                                                              \
		int result_ = (call);                                                     \
		ck_assert_msg(result_ >= 0, "%s: %s", #call, papi_here_explain(result_)); \
	} while (0)
const char *papi_here_explain(int code);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the API tests share: this machine's topology, short ways to the library, and a page that
 * faults when it is touched. They see <perfsage.h> and the shared library alone, and ask the real
 * kernel.
 */
#ifndef PS_TESTS_HERE_H
#define PS_TESTS_HERE_H

#include "support/skip.h"

#include <check.h>
#include <perfsage.h>
#include <stdbool.h>
#include <stddef.h>

#define check_ok(call)                                                                           \
	do {                                                                                     \
		int result_ = (call);                                                            \
		ck_assert_msg(result_ == PS_OK, "%s: %d %s", #call, result_, ps_error_detail()); \
	} while (0)

/* This machine, as a Check fixture: loaded before each test, destroyed after it. */
struct here {
	struct ps_topology *topology;
	struct ps_component *root;
};
extern struct here here;
void here_setup(void);
void here_teardown(void);
TCase *here_case(Suite *suite, const char *name); /* of tests with that fixture */

int here_run(Suite *suite); /* main's: runs the suite, returns the exit status */
/* The same, of a suite in which all tests count: skipped where nothing may be counted. */
int here_run_if_counted(Suite *suite);

void here_pin(void);           /* the calling thread, to the CPU where it is */
void here_move(unsigned step); /* each step to the next CPU, if it may run on several */
/* Why the event can't be counted here; NULL if it can. */
const char *here_obstacle(const char *event);
size_t here_count_descriptors(void); /* of this process; the count's own is one of them */
long long here_sum(const char *event, uint64_t timestamp); /* of the parts of a reading */

/* False, with the reason said, where the event can't be counted. */
#define here_may_count(event) ps_test_may_run(here_obstacle(event))

/* The kernel counted nothing of the set's two events that the set didn't assign. */
void here_check_residual(struct ps_eventset *set);

extern const enum ps_attribution_mode here_modes[];
#define HERE_MODES 3
/* A set of HERE_FAULTS and another kind of page faults, with storage. */
#define HERE_FAULTS "page-faults:u"
struct ps_eventset *here_faults(enum ps_attribution_mode mode, size_t rows);

void here_map_page(void);
void here_touch(void); /* one page fault: the page is given back first */

#endif

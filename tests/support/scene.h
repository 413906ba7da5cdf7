/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scene of most unit tests: the fake kernel with four CPUs, and a synthetic topology of two
 * packages with two cores each, CPU 0 to 3. As a Check fixture it is built before each test and
 * checked for leaks after it.
 */
#ifndef PS_TESTS_SCENE_H
#define PS_TESTS_SCENE_H

#include "fake.h"

#include <check.h>
#include <perfsage.h>
#include <string.h>

struct scene {
	enum ps_attribution_mode mode; /* for the sets of scene_set */
	enum fake_means means;         /* the methods that the kernel permits */
	struct ps_topology *topology;
	struct ps_component *root;
};
extern struct scene scene;

void scene_setup(void);
void scene_setup_last_cpu(void);  /* the same, with PS_ATTRIBUTE_LAST_CPU */
void scene_setup_instances(void); /* the kernel can't record migrations */
void scene_setup_records(void);   /* the kernel has no descriptors for per-CPU instances */
void scene_teardown(void);        /* the test must have destroyed its event sets */
int scene_run(Suite *suite);      /* for main: runs the suite and returns the exit status */

/* Return a test case on the scene: with the default mode, with PS_ATTRIBUTE_LAST_CPU, and so on. */
TCase *scene_case(Suite *suite, const char *name);
TCase *scene_case_last_cpu(Suite *suite, const char *name);
TCase *scene_case_instances(Suite *suite, const char *name);
TCase *scene_case_records(Suite *suite, const char *name);
TCase *scene_case_of(Suite *suite, const char *name, void (*setup)(void),
                     void (*teardown)(void)); /* with another scene */

struct ps_eventset *scene_set(const char *event, ...)
    __attribute__((sentinel)); /* names, then NULL */
struct ps_eventset *scene_started(const char *event, ...)
    __attribute__((sentinel)); /* the same, started */
/* Returns a started set of page-faults and minor-faults; checks that its attribution is exact. */
struct ps_eventset *scene_started_exact(void);
/* Makes a new reading by ps_accum, after which the counts begin anew. Returns its timestamp. */
uint64_t scene_accum(struct ps_eventset *set);
/* Moves the caller to the CPU, and stores these counters there, one for each event. */
void scene_store(struct ps_eventset *set, int cpu, const long long *counters);

void scene_use(struct ps_topology *topology); /* replaces and destroys the scene's own */
struct ps_component *scene_thread(int cpu);

/* Return the part, or the total, which must exist. Timestamp 0: the latest. */
struct ps_value scene_part(int cpu, const char *event, uint64_t timestamp);
struct ps_value scene_total(const char *event);
long long scene_count(int cpu, const char *event, uint64_t timestamp);
/* Returns the sum of the parts with this timestamp over all Threads, with the unknown one; missing
 * parts are 0. */
long long scene_sum(const char *event, uint64_t timestamp);
size_t scene_rows(int cpu, const char *event); /* number of the event's readings on the Thread; 0 if
                                                * none */
/* Returns the metric of a component, which must exist. */
struct ps_metric_value scene_metric(const struct ps_component *component, const char *name);

void scene_check_part_at(int cpu, const char *event, uint64_t timestamp, long long count,
                         enum ps_attribution attribution);
void scene_check_part(int cpu, const char *event, long long count,
                      enum ps_attribution attribution); /* checks the latest */
void scene_check_residual(struct ps_eventset *set);     /* must be 0 for every event */
char *scene_text(enum ps_format format);                /* the whole tree; the caller frees it */
int scene_formats(void);                                /* number of formats */

/* Moves the caller to the CPU, where it has page faults. */
void scene_count_on(int cpu, uint64_t faults);

/* Moves the clock, which then stands still until the next call. The caller runs all this time, and
 * its events count. */
void scene_pass(uint64_t time_ns);

/* Arguments for fake_advance: type and config. */
#define PAGE_FAULTS  PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS
#define MINOR_FAULTS PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN
#define TASK_CLOCK   PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK
#define INSTRUCTIONS PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS
#define CYCLES       PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES

/* Checks that the call succeeds; or that it fails with this code and sets a detail. */
#define check_ok(call)                                                           \
	do {                                                                     \
		int result_ = (call);                                            \
		ck_assert_msg(result_ == PS_OK, "%s: %d %s: %s", #call, result_, \
		              ps_strerror(result_), ps_error_detail());          \
	} while (0)
#define check_fails(call, code)                                                            \
	do {                                                                               \
		int result_;                                                               \
		ps_eventset_create(NULL);                                                  \
		char before_[1024];                                                        \
		strncpy(before_, ps_error_detail(), sizeof before_ - 1);                   \
		before_[sizeof before_ - 1] = '\0';                                        \
		result_ = (call);                                                          \
		ck_assert_msg(result_ == (code), "%s: %d %s (%s), not %s", #call, result_, \
		              ps_strerror(result_), ps_error_detail(), #code);             \
		ck_assert_msg(*ps_error_detail() && strcmp(ps_error_detail(), before_),    \
		              "%s: no sentence says why", #call);                          \
	} while (0)
/* Checks that the last error detail contains a text. */
#define check_detail(part)                                                                     \
	ck_assert_msg(strstr(ps_error_detail(), (part)) != NULL, "'%s' is not in: %s", (part), \
	              ps_error_detail())

#endif

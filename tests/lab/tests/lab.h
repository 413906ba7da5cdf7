/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the lab's tests share: known work, a quiet moment to do it in, and short ways to the
 * library. They see <perfsage.h> alone, as a user does.
 */
#ifndef PS_TESTS_LAB_H
#define PS_TESTS_LAB_H

#include <check.h>
#include <perfsage.h>
#include <perfsage/hooks.h>
#include <stdbool.h>

#define LAB_INSTRUCTIONS "instructions:u"

/* A CPU set needs no more in any shape. */
#define LAB_CPUS_MAX 64

/* Runs exactly 2 * iterations instructions, and a few around them. */
void lab_loop(unsigned long iterations);

/*
 * Waits until just after a timer tick. The emulator's instruction counter goes on while other CPUs
 * have their turn, and they take it at ticks, every 4 ms of the guest's time: what is shorter than
 * 3 ms is counted exactly then.
 */
void lab_after_tick(void);
void lab_sleep_after_tick(void); /* the same, asleep: it is done while instructions are counted */

/* Of three measurements: a rare one counts some thousands more here (HACKING, "The PMU lab"). */
long long lab_median(long long one, long long two, long long three);

/* 1,000,000 iterations at one nanosecond an instruction, as many as take the same time if it is
 * more. */
unsigned long lab_iterations(void);
unsigned lab_shift(void); /* nanoseconds and cycles of an instruction: 2^shift */
unsigned lab_smp(const char *word,
                 unsigned if_left_out); /* "sockets", "cores", "threads" of this shape */
unsigned lab_cpus(void);                /* hardware threads of this shape */
unsigned lab_nodes(void);               /* NUMA nodes of this shape */

void lab_pin(int cpu); /* the calling thread to one CPU */
void lab_on_cpu(int cpu, void (*work)(void *context),
                void *context); /* in a thread of its own, until it ends */
void lab_write(const char *path, const char *text);
void lab_cpu_online(int cpu, bool online);

/* These fail the test if the library fails, and show its detail. */
#define lab_ok(call) lab_check_ok(call, #call)
void lab_check_ok(int code, const char *call);
struct ps_topology *lab_topology(void);
struct ps_eventset *lab_set(const char *first, ...); /* events, then NULL */
struct ps_value lab_reading(struct ps_thread *thread, const char *event, uint64_t timestamp);
struct ps_value lab_total(struct ps_component *component, const char *event);

/* The value of a row in a file that perfsage stat --csv wrote; -1: there is none. */
double lab_csv_value(const char *path, const char *type, int os_id, const char *event);

/* The real kernel, which refuses all but one of the means by which PS_ATTRIBUTE_EXACT can split
 * counts. */
enum lab_means {
	LAB_PER_CPU,
	LAB_RECORDS,
	LAB_MEANS
};
extern const char *const lab_means_names[LAB_MEANS];
struct ps_hooks lab_hooks(enum lab_means means);

/* Runs the tests of a suite; for main to return. */
int lab_run(Suite *suite);

#endif

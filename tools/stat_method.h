/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods to split a command's counts by hardware thread, their cost, and the choice of one. */
#ifndef PS_TOOLS_STAT_METHOD_H
#define PS_TOOLS_STAT_METHOD_H

#include "output/buffer.h"

#include <perfsage.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

struct ps__event;

enum stat_method {
	STAT_METHOD_AUTO,
	STAT_METHOD_PER_CPU, /* each task has copies of all events for each CPU */
	STAT_METHOD_CGROUP,  /* events on each CPU, for a control group with the tasks */
	STAT_METHOD_WHOLE,   /* each task has copies of all events, which count on any CPU: the
	                      * counts aren't split */
	/* As WHOLE, with a clock for each CPU: counts are divided in proportion to running time */
	STAT_METHOD_TIME_SHARE,
	STAT_METHOD_BPF,  /* events on each CPU, read by a BPF program at each context switch */
	STAT_METHOD_LOOKS /* as WHOLE; counts are divided by where the tasks were seen running */
};

/* The choice for one run. */
struct stat_how {
	enum stat_method method; /* AUTO if there is no choice: for whole CPUs or a given control
	                          * group */
	size_t copies;           /* most copies of events that are made for a new thread */
	size_t exact_copies;     /* copies that per-CPU events would need; for LOOKS and
	                          * TIME_SHARE */
	bool has_clocks;         /* some of the copies are clocks */
	bool is_asked;           /* the user chose the method, so no other is suggested */
	/* Numbers of all processes, of processes whose counts are divided by looks, and of
	 * processes whose counts are divided by clocks */
	size_t processes, by_looks, by_clocks;
	double before_s; /* CPU time of the command's process before it was moved into its group */
	double left_s;   /* CPU time spent outside the control group; NaN: unknown */
	bool has_left;   /* left_s was determined, when the command ended */
	char why[512];   /* why no control group is used; "" if none was tried */
};

/* Returns -1 after a complaint. */
int stat_method_parse(const char *word, enum stat_method *method);
const char *stat_method_name(enum stat_method method);

/* True if the split is an estimate by the tasks' time on each CPU. */
bool stat_method_is_estimate(enum stat_method method);

/* Returns the number of copies of events that a new thread gets. For an estimate, only the started
 * set knows this number. */
size_t stat_method_copies(enum stat_method method, size_t events);

/* Returns why the attribution of a method that the user chose is no better; NULL if the library's
 * reason applies. */
const char *stat_method_why(const struct stat_how *how, enum ps_attribution attribution);

/* Returns the first probe that tasks can't inherit; NULL if there is none. When a task forks, the
 * kernel would look for the probe's text in that task's memory, and the fork would fail. */
const struct ps__event *stat_method_find_probe(const struct ps_eventset *model);

/* Chooses per-CPU events, unless they can't be copied, or have so many copies that creating a
 * thread would take long. */
enum stat_method stat_method_choose(size_t events, bool has_probe);

/* True if a control group isn't taken because it would make lower bounds of all counts. Without the
 * group's CPU time (group_s is NaN) nobody can tell whether a process left it. A probe can't be
 * counted in another way. */
bool stat_method_is_blind(enum stat_method asked, const struct ps_eventset *model, double group_s);

/* Called if no control group can be used, for the reason `why`. Returns true after a complaint if
 * no other method is possible. */
bool stat_method_refuse_others(enum stat_method asked, const struct ps_eventset *model,
                               const char *why);

/* Returns the CPU time of the command and its children that the group's time doesn't include.
 * group_s: the group's time plus the process's time before it joined the group; if NaN, returns
 * NaN. */
double stat_method_left_s(const struct rusage *usage, double group_s);

/* Returns left_s; NaN if it is unknown, not yet determined, or the method has no group. */
double stat_method_found_left_s(const struct stat_how *how);

/* Suggests a method that needs few enough descriptors, for a process that can't be counted for lack
 * of descriptors. Adds nothing if the number of descriptors is unknown. */
void stat_method_suggest(enum stat_method method, size_t events, pid_t pid, struct ps__buffer *out);

/* Adds the footer's lines about the method; nothing if its cost is low. */
void stat_method_show(const struct stat_how *how, struct ps__buffer *out);

#endif

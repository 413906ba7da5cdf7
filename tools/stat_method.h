/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways to split a command's counts by hardware thread, their cost, and the choice. */
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
	STAT_METHOD_WHOLE,   /* each task has copies of all events, for any CPU: no split */
	/* Those, and a clock for each CPU, by which the counts are shared out. */
	STAT_METHOD_TIME_SHARE,
	STAT_METHOD_BPF,  /* events on each CPU, read by a program in the kernel at each switch */
	STAT_METHOD_LOOKS /* as WHOLE, shared out by looks at where the tasks run */
};

/* The choice for one run. */
struct stat_how {
	enum stat_method method; /* AUTO: whole CPUs or a given group, where there is no choice */
	size_t copies;           /* of events, which a thread takes that is created; at most */
	size_t exact_copies;     /* with per-CPU events; of LOOKS and TIME_SHARE */
	bool has_clocks;         /* some of the copies are clocks */
	bool is_asked;           /* --method named it: no other one is to be proposed */
	/* The processes; those whose counts are shared out by looks, and by clocks */
	size_t processes, by_looks, by_clocks;
	double before_s; /* CPU time of the command's process before it came to its group */
	double left_s;   /* CPU time that was spent out of the control group; NaN: unknown */
	bool has_left;   /* left_s was found, at the command's end */
	char why[512];   /* why it is no control group; "" if none was tried */
};

/* Returns -1 after a complaint. */
int stat_method_parse(const char *word, enum stat_method *method);
const char *stat_method_name(enum stat_method method);

/* Is the split an estimate, by the time of the tasks on each CPU? */
bool stat_method_is_estimate(enum stat_method method);

/* The copies of so many events that a created thread takes. Of an estimate the started set knows.
 */
size_t stat_method_copies(enum stat_method method, size_t events);

/* Why the attribution of a method that the user asked for is no better; NULL: the library's reason
 * is the one. */
const char *stat_method_why(const struct stat_how *how, enum ps_attribution attribution);

/* The first probe that tasks can't inherit: the kernel would look for its text in the memory of the
 * task that forks, and the fork would fail. NULL: there is none. */
const struct ps__event *stat_method_find_probe(const struct ps_eventset *model);

/* Per-CPU events, unless these are so many copies that creating threads takes long, or can't be
 * copied. */
enum stat_method stat_method_choose(size_t events, bool has_probe);

/* Without a control group, for this reason: true after a complaint if no other method will do. */
bool stat_method_refuse_others(enum stat_method asked, const struct ps_eventset *model,
                               const char *why);

/* The time of the command and its children that the group's doesn't explain. That has the process's
 * time before it came to the group; NaN where it isn't known, and then so is the result. */
double stat_method_left_s(const struct rusage *usage, double group_s);

/* left_s; NaN if it is unknown, not yet found, or of a method without a group. */
double stat_method_found_left_s(const struct stat_how *how);

/* A process can't be counted for lack of descriptors: which method takes few enough. Adds nothing
 * if that is not known. */
void stat_method_suggest(enum stat_method method, size_t events, pid_t pid, struct ps__buffer *out);

/* The footer's lines of it: nothing if it is as cheap as usual. */
void stat_method_show(const struct stat_how *how, struct ps__buffer *out);

#endif

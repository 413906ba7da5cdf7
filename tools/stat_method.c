/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The methods to count a command, and their cost. The kernel copies each inherited event for each
 * new thread and process; with per-CPU events that is CPUs times events. A control group is counted
 * without copies, if that is permitted. doc/measurements has the costs.
 */
#include "tools/stat_method.h"

#include "backend/bpf.h"
#include "base/os.h"
#include "eventset/parts.h"
#include "output/number.h"
#include "tools/stat_footer.h"
#include "tools/terminal.h"

#include <math.h>
#include <perfsage.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {[STAT_METHOD_AUTO] = "auto",
                                    [STAT_METHOD_PER_CPU] = "per-cpu",
                                    [STAT_METHOD_CGROUP] = "cgroup",
                                    [STAT_METHOD_WHOLE] = "whole",
                                    [STAT_METHOD_TIME_SHARE] = "time-share",
                                    [STAT_METHOD_BPF] = "bpf",
                                    [STAT_METHOD_LOOKS] = "looks"};

/* Number of copies from which on a control group is tried: those of four events on two CPUs. With
 * this many, creating a thread takes a fifth longer than under perf stat; in a control group it
 * takes a tenth less. */
#define MANY_COPIES 8

/* The smallest time and memory of a copy that were measured. */
#define COPY_NS    1000.0
#define COPY_BYTES 1140.0

/* Largest difference between the CPU times of a task and of its group that is taken as rounding.
 * The kernel adds the same times to both. Starting and ending a program takes more than this. */
#define TOLERANCE_S 5e-5

int stat_method_parse(const char *word, enum stat_method *method)
{
	for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
		if (strcmp(word, names[index]) == 0) {
			*method = (enum stat_method)index;
			return 0;
		}
	}
	return tool_complain(
	    "--method: there is no '%s': auto, per-cpu, cgroup, bpf, time-share, looks or whole",
	    word);
}

const char *stat_method_name(enum stat_method method)
{
	return names[method];
}

bool stat_method_is_estimate(enum stat_method method)
{
	return method == STAT_METHOD_TIME_SHARE || method == STAT_METHOD_LOOKS;
}

size_t stat_method_copies(enum stat_method method, size_t events)
{
	if (method == STAT_METHOD_PER_CPU)
		return ps__set_per_cpu_copies(events);
	return method == STAT_METHOD_WHOLE ? events : 0;
}

const struct ps__event *stat_method_find_probe(const struct ps_eventset *model)
{
	for (size_t index = 0; index < ps_eventset_event_count(model); index++) {
		const struct ps__event *event = ps__set_event(model, index);
		if (ps__event_has_text(event))
			return event;
	}
	return NULL;
}

bool stat_method_is_blind(enum stat_method asked, const struct ps_eventset *model, double group_s)
{
	return asked == STAT_METHOD_AUTO && !stat_method_find_probe(model) && isnan(group_s);
}

enum stat_method stat_method_choose(size_t events, bool has_probe)
{
	size_t copies = stat_method_copies(STAT_METHOD_PER_CPU, events);

	return copies < MANY_COPIES && !has_probe ? STAT_METHOD_PER_CPU : STAT_METHOD_CGROUP;
}

bool stat_method_refuse_others(enum stat_method asked, const struct ps_eventset *model,
                               const char *why)
{
	const struct ps__event *probe = stat_method_find_probe(model);

	if (asked == STAT_METHOD_CGROUP)
		tool_complain("--method cgroup: %s", why);
	else if (probe)
		tool_complain("'%s': tasks can't inherit this probe, and --method cgroup isn't "
		              "possible: %s; give --method bpf, or -a",
		              probe->name, why);
	return asked == STAT_METHOD_CGROUP || probe;
}

double stat_method_left_s(const struct rusage *usage, double group_s)
{
	double used_s = stat_seconds(usage->ru_utime) + stat_seconds(usage->ru_stime);

	return used_s - group_s <= TOLERANCE_S ? 0 : used_s - group_s;
}

double stat_method_found_left_s(const struct stat_how *how)
{
	return how->has_left ? how->left_s : (double)NAN;
}

const char *stat_method_why(const struct stat_how *how, enum ps_attribution attribution)
{
	bool is_estimate = how->is_asked && stat_method_is_estimate(how->method);

	if (attribution == PS_ATTRIBUTION_LAST_CPU && how->method == STAT_METHOD_WHOLE)
		return "--method whole: the counts are true, and on which CPU they happened isn't "
		       "known";
	if (attribution == PS_ATTRIBUTION_LAST_CPU && is_estimate)
		return "no task was seen running, so there is no time to share the counts out by";
	if (attribution != PS_ATTRIBUTION_MIXED || !is_estimate)
		return NULL;
	return how->method == STAT_METHOD_LOOKS
	           ? "--method looks: the counts are shared out by looks at the CPUs of the tasks"
	           : "--method time-share: the counts are shared out by the time on each CPU";
}

static void method_add_no_cgroup(const struct stat_how *how, struct ps__buffer *out)
{
	if (!*how->why)
		return;
	ps__buffer_add(out, "; --method cgroup isn't possible: ");
	tool_put(out, how->why);
}

static void method_add_cost(const struct stat_how *how, struct ps__buffer *out)
{
	ps__buffer_add(out, "per-cpu: a thread that is created takes %zu copies of events, ",
	               how->copies);
	ps__number_add_time(out, (double)how->copies * COPY_NS);
	ps__buffer_add(out, " or more and ");
	ps__number_add_si(out, (double)how->copies * COPY_BYTES);
	ps__buffer_add(out, "B; --method looks is cheaper, with an estimated split");
	method_add_no_cgroup(how, out);
}

/* Adds how many processes use weaker methods, because the line itself describes only the weakest
 * one. */
static void method_add_processes(const struct stat_how *how, struct ps__buffer *out)
{
	size_t rest = how->processes - how->by_looks - how->by_clocks;

	if (how->by_looks == how->processes || how->by_clocks == how->processes)
		return;
	ps__buffer_add(out, "; of %zu processes %zu by looks", how->processes, how->by_looks);
	if (how->by_clocks)
		ps__buffer_add(out, ", %zu by time-share", how->by_clocks);
	if (rest)
		ps__buffer_add(out, ", %zu neither", rest);
}

static void method_add_exact(const struct stat_how *how, struct ps__buffer *out)
{
	if (!how->is_asked)
		ps__buffer_add(out, "; --method per-cpu takes %zu, and splits exactly",
		               how->exact_copies);
}

static void method_add_time_share(const struct stat_how *how, struct ps__buffer *out)
{
	ps__buffer_add(out,
	               "time-share: a thread that is created takes %zu copies of events and "
	               "clocks",
	               how->copies);
	method_add_exact(how, out);
	method_add_processes(how, out);
	method_add_no_cgroup(how, out);
}

static void method_add_looks(const struct stat_how *how, struct ps__buffer *out)
{
	ps__buffer_add(
	    out,
	    "looks: a thread that is created takes %zu cop%s of events%s, and the split is "
	    "estimated by looks at where tasks run",
	    how->copies, how->copies == 1 ? "y" : "ies", how->has_clocks ? " and clocks" : "");
	method_add_exact(how, out);
	method_add_processes(how, out);
	method_add_no_cgroup(how, out);
}

static int method_count_one(const char *name, void *context)
{
	(void)name;
	++*(size_t *)context;
	return 0;
}

/* Returns the number of entries in a folder; 0 if it is unknown. */
static size_t method_count_in(const char *folder)
{
	size_t count = 0;

	return ps__os.list(folder, method_count_one, &count) == 0 ? count : 0;
}

static size_t method_count_threads(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	return method_count_in(path);
}

/* Returns the number of descriptors that can be opened. Doesn't count the folder's own
 * descriptor. */
static size_t method_count_free(void)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	size_t open = method_count_in("/proc/self/fd");

	ps__os.getrlimit(RLIMIT_NOFILE, &limit);
	open -= open > 0;
	return open < limit.rlim_cur ? (size_t)limit.rlim_cur - open : 0;
}

static void method_suggest_bpf(size_t needed, struct ps__buffer *out)
{
	bool is_possible = ps__bpf_try() == PS_OK;

	ps__buffer_add(out, "--method bpf %s %zu file descriptors, however many threads there are",
	               is_possible ? "takes" : "would take", needed);
	if (is_possible)
		return;
	ps__buffer_add(out, "; it isn't possible: ");
	tool_put(out, ps_error_detail());
}

void stat_method_suggest(enum stat_method method, size_t events, pid_t pid, struct ps__buffer *out)
{
	size_t by_bpf = ps__set_online_copies(events) + PS__BPF_DESCRIPTORS;
	size_t by_looks = events * method_count_threads(pid);
	size_t available = method_count_free();

	if (method != STAT_METHOD_BPF && by_bpf <= available)
		method_suggest_bpf(by_bpf, out);
	if ((method != STAT_METHOD_PER_CPU && method != STAT_METHOD_TIME_SHARE) || by_looks == 0 ||
	    by_looks > available)
		return;
	ps__buffer_add(out, "%s--method looks takes %zu%s, with an estimated split",
	               *ps__buffer_text(out) ? "; " : "", by_looks,
	               *ps__buffer_text(out) ? "" : " file descriptors");
}

void stat_method_show(const struct stat_how *how, struct ps__buffer *out)
{
	if (how->method == STAT_METHOD_AUTO ||
	    (how->method == STAT_METHOD_PER_CPU && how->copies < PS__COSTLY_COPIES))
		return;
	stat_footer_line("method", out);
	if (how->method == STAT_METHOD_PER_CPU)
		method_add_cost(how, out);
	else if (how->method == STAT_METHOD_TIME_SHARE)
		method_add_time_share(how, out);
	else if (how->method == STAT_METHOD_LOOKS)
		method_add_looks(how, out);
	else if (how->method == STAT_METHOD_WHOLE)
		ps__buffer_add(out, "whole: a task's events count on any CPU");
	else if (how->method == STAT_METHOD_BPF)
		ps__buffer_add(out, "bpf: a program in the kernel reads each CPU's events at its "
		                    "context switches, which all tasks of the machine pay for");
	else
		ps__buffer_add(out, "cgroup: a control group for the command, which its tasks "
		                    "don't pay for");
	ps__buffer_add(out, "\n");
	if (how->left_s <= 0)
		return;
	stat_footer_line("uncounted", out);
	if (isnan(how->left_s)) {
		ps__buffer_add(out,
		               "not known: the CPU time of the %s can't be read, which shows "
		               "whether processes were moved out of the control group\n",
		               isnan(how->before_s) ? "command before it came to its group"
		                                    : "control group");
		return;
	}
	ps__buffer_add(out, "about ");
	ps__number_add_duration(out, how->left_s);
	ps__buffer_add(out, " of CPU time: processes were moved out of the control group\n");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that the kernel does not count, and children that started before counting. */
#include "tools/stat_uncounted.h"

#include "base/list.h"
#include "base/os.h"
#include "eventset/parts.h"
#include "eventset/tasks.h"
#include "locate/locate.h"
#include "tools/processes.h"
#include "tools/stat_footer.h"
#include "tools/stat_times.h"
#include "tools/terminal.h"

#include <math.h>
#include <string.h>

static void uncounted_add_set(struct stat_uncounted *sum, struct ps_eventset *set)
{
	struct ps_uncounted one = {0};
	int code = ps_eventset_uncounted(set, &one);

	if (code != PS_OK && !*sum->why_unknown)
		snprintf(sum->why_unknown, sizeof sum->why_unknown, "%s", ps_error_detail());
	if (one.programs && !sum->programs) {
		sum->pid = one.pid;
		snprintf(sum->name, sizeof sum->name, "%s", one.name);
	}
	sum->programs += one.programs;
}

/* Returns the number of tasks that still run; 0 if it is unknown. `created` is -1 when all tasks
 * have ended, because it doesn't include the command itself, which existed before its set. */
static long uncounted_find_left(struct ps_eventset *set)
{
	const struct ps__uncounted *found = ps__set_take_uncounted(set);
	bool is_known = found && found->tells_created && !*found->why_unknown;

	return is_known && found->created > -1 ? found->created + 1 : 0;
}

#define ONLINE "/sys/devices/system/cpu/online"

void stat_uncounted_note_online(struct stat_count *count)
{
	char text[4096];

	if (!count->online && ps__os_read_file(ONLINE, text, sizeof text) > 0)
		count->online = ps__os_strdup(text);
}

static int uncounted_check_cpu(int cpu, void *context)
{
	struct stat_count *count = context;

	if (ps__list_contains(count->online, cpu))
		return 0;
	if (count->uncounted.late_cpus++ == 0)
		count->uncounted.late_cpu = cpu;
	return 0;
}

void stat_uncounted_find_late_cpus(struct stat_count *count)
{
	struct stat_uncounted before = count->uncounted;
	char text[4096];

	if (!count->online || ps__os_read_file(ONLINE, text, sizeof text) <= 0)
		return;
	count->uncounted.late_cpus = 0;
	ps__list_for_each(text, uncounted_check_cpu, count);
	if (count->uncounted.late_cpus < before.late_cpus)
		count->uncounted = before;
	for (size_t index = 0; count->uncounted.late_cpus && index < count->set_count; index++)
		ps__set_note_missing(count->sets[index]);
}

void stat_uncounted_take(struct stat_count *count)
{
	struct stat_uncounted *sum = &count->uncounted;

	stat_uncounted_find_late_cpus(count);
	/* The kernel never stops the times of a run, so no program is uncounted. */
	if (!sum->is_of_processes || stat_times_are_all(count->model))
		return;
	*sum = (struct stat_uncounted){.is_of_processes = true,
	                               .is_of_command = sum->is_of_command,
	                               .late_cpus = sum->late_cpus,
	                               .late_cpu = sum->late_cpu,
	                               .children = sum->children,
	                               .began = sum->began,
	                               .is_blind = sum->is_blind};
	if (count->how.method == STAT_METHOD_WHOLE || stat_method_is_estimate(count->how.method)) {
		snprintf(sum->why_unknown, sizeof sum->why_unknown,
		         "--method %s doesn't see programs that the kernel does not count, as "
		         "set-user-ID ones",
		         stat_method_name(count->how.method));
		return;
	}
	for (size_t index = 0; index < count->set_count; index++)
		uncounted_add_set(sum, count->sets[index]);
	if (sum->is_of_command && count->set_count == 1)
		sum->left = uncounted_find_left(count->sets[0]);
}

void stat_uncounted_add(struct stat_uncounted *sum, const struct stat_uncounted *one)
{
	struct stat_uncounted first = sum->programs ? *sum : *one;

	if (*sum->why_unknown)
		memcpy(first.why_unknown, sum->why_unknown, sizeof first.why_unknown);
	else
		memcpy(first.why_unknown, one->why_unknown, sizeof first.why_unknown);
	first.is_of_processes = one->is_of_processes;
	first.programs = sum->programs + one->programs;
	first.children = one->children > sum->children ? one->children : sum->children;
	first.began = one->children > sum->children ? one->began : sum->began;
	first.is_blind = one->is_blind || sum->is_blind;
	first.left = sum->left + one->left;
	first.late_cpus = one->late_cpus > sum->late_cpus ? one->late_cpus : sum->late_cpus;
	first.late_cpu = sum->late_cpus ? sum->late_cpu : one->late_cpu;
	*sum = first;
}

bool stat_uncounted_is_any(const struct stat_uncounted *uncounted)
{
	return uncounted->programs || *uncounted->why_unknown;
}

double stat_uncounted_number(const struct stat_uncounted *uncounted)
{
	return uncounted->programs || !*uncounted->why_unknown ? (double)uncounted->programs
	                                                       : (double)NAN;
}

double stat_uncounted_children(const struct stat_uncounted *uncounted)
{
	return uncounted->is_blind ? (double)NAN : (double)uncounted->children;
}

/* Adds a sentence about the uncounted programs, or about why their number is unknown. Adds nothing
 * if there were none. */
static void uncounted_describe(const struct stat_uncounted *uncounted, struct ps__buffer *out)
{
	if (uncounted->programs == 0) {
		ps__buffer_add(out, "not known: %s", uncounted->why_unknown);
		return;
	}
	ps__buffer_add(out, "%zu program%s, %s'", uncounted->programs,
	               uncounted->programs > 1 ? "s" : "",
	               uncounted->programs > 1 ? "the first " : "");
	tool_put(out, uncounted->name);
	ps__buffer_add(out,
	               "' (process %d): Linux does not count a program that is set-user-ID or "
	               "set-group-ID, has capabilities or can't be read by this user, nor what it "
	               "starts; --method cgroup counts it, and -a whole CPUs",
	               (int)uncounted->pid);
}

static void uncounted_describe_left(const struct stat_uncounted *uncounted, struct ps__buffer *out)
{
	ps__buffer_add(out, "%ld task%s ran on when the command had ended: counted until then",
	               uncounted->left, uncounted->left > 1 ? "s" : "");
}

static void uncounted_describe_cpus(const struct stat_uncounted *uncounted, struct ps__buffer *out)
{
	ps__buffer_add(out, "CPU %d", uncounted->late_cpu);
	if (uncounted->late_cpus > 1)
		ps__buffer_add(out, " and %zu other%s", uncounted->late_cpus - 1,
		               uncounted->late_cpus > 2 ? "s" : "");
	ps__buffer_add(out, " came online when counting had begun: what ran there is in no count");
}

static void uncounted_show_children(const struct stat_uncounted *uncounted, struct ps__buffer *out)
{
	if (!uncounted->is_blind && !uncounted->children)
		return;
	stat_footer_line("uncounted", out);
	if (uncounted->is_blind)
		ps__buffer_add(out, "not known: child processes that ran already, as no /proc of "
		                    "this PID namespace is mounted");
	else
		ps__buffer_add(out, "%zu child process%s that ran already when counting began",
		               uncounted->children, uncounted->children > 1 ? "es" : "");
	if (uncounted->began)
		ps__buffer_add(out, "; %zu of them began just then, and may be counted",
		               uncounted->began);
	ps__buffer_add(out, "\n");
}

void stat_uncounted_show(const struct stat_uncounted *uncounted, struct ps__buffer *out)
{
	if (stat_uncounted_is_any(uncounted)) {
		stat_footer_line("uncounted", out);
		uncounted_describe(uncounted, out);
		ps__buffer_add(out, "\n");
	}
	if (uncounted->late_cpus) {
		stat_footer_line("uncounted", out);
		uncounted_describe_cpus(uncounted, out);
		ps__buffer_add(out, "\n");
	}
	uncounted_show_children(uncounted, out);
}

void stat_uncounted_show_left(const struct stat_uncounted *uncounted, struct ps__buffer *out)
{
	if (uncounted->left <= 0)
		return;
	stat_footer_line("left", out);
	uncounted_describe_left(uncounted, out);
	ps__buffer_add(out, "\n");
}

void stat_uncounted_complain(const struct stat_uncounted *uncounted)
{
	struct ps__buffer programs = {0}, left = {0}, cpus = {0};

	if (stat_uncounted_is_any(uncounted)) {
		uncounted_describe(uncounted, &programs);
		tool_complain("not counted: %s", ps__buffer_text(&programs));
	}
	if (uncounted->left > 0) {
		uncounted_describe_left(uncounted, &left);
		tool_complain("%s", ps__buffer_text(&left));
	}
	if (uncounted->late_cpus) {
		uncounted_describe_cpus(uncounted, &cpus);
		tool_complain("%s", ps__buffer_text(&cpus));
	}
	ps__buffer_clear(&programs);
	ps__buffer_clear(&left);
	ps__buffer_clear(&cpus);
}

void stat_uncounted_note_blind(struct stat_count *count)
{
	count->uncounted.is_blind = !ps__locate_has_proc();
	if (count->uncounted.is_blind)
		tool_complain("no /proc of this PID namespace is mounted: child processes that ran "
		              "already, and threads, may be missing in the counts");
}

void stat_uncounted_note_began(struct stat_count *count, size_t began)
{
	count->uncounted.children += began;
	count->uncounted.began = began;
	if (began)
		tool_complain("%zu child process%s began while counting did, and may be counted in "
		              "part",
		              began, began > 1 ? "es" : "");
}

void stat_uncounted_find_children(struct stat_count *count, const struct stat_target *target,
                                  const struct tool_processes *before)
{
	struct tool_processes now;
	long threads = 0;
	size_t children = 0, began = 0;

	tool_processes_create(&now, target->pids, target->pid_count);
	for (size_t index = 0; index < now.count; index++) {
		if (!now.list[index].is_below)
			continue;
		bool is_old = tool_processes_has(before, now.list[index].pid);
		began += !is_old;
		children += is_old;
		threads += is_old ? now.list[index].threads : 0;
	}
	tool_processes_clear(&now);
	count->uncounted.children = children;
	if (children)
		tool_complain("not counted: %zu child process%s with %ld thread%s, running "
		              "already: -p counts a process and what it creates from now on; "
		              "--children counts %s, too",
		              children, children > 1 ? "es" : "", threads, threads > 1 ? "s" : "",
		              children > 1 ? "them" : "it");
	stat_uncounted_note_began(count, began);
}

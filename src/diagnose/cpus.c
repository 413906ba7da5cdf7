/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out which CPUs there are, which of them are online, and on which this process may run. Also
 * finds out whether the tree shows these CPUs, or is another tree that hwloc's environment
 * variables put in its place.
 */
#include "base/list.h"
#include "base/os.h"
#include "base/proc_status.h"
#include "diagnose/diagnosis.h"
#include "topology/import.h"

#include <ctype.h>
#include <perfsage/topology.h>
#include <stdio.h>
#include <string.h>

#define FOLDER              "/sys/devices/system/cpu/"
#define WHERE_THEY_HAPPENED "counts on the hardware threads where they happened"

struct cpu_lists {
	char online[8192];
	char present[8192];
	char possible[8192];
	char allowed[8192]; /* Cpus_allowed_list of this process */
};

struct difference {
	const char *other;
	int first; /* the first CPU that is missing in `other`; -1: none */
	size_t count;
};

static int cpus_note_missing(int cpu, void *context)
{
	struct difference *difference = context;

	if (ps__list_contains(difference->other, cpu))
		return 0;
	if (difference->count++ == 0)
		difference->first = cpu;
	return 0;
}

static struct difference cpus_missing_in(const char *list, const char *from)
{
	struct difference difference = {.other = list, .first = -1};

	ps__list_for_each(from, cpus_note_missing, &difference);
	return difference;
}

static bool cpus_read_lists(struct ps__diagnosis *d, struct cpu_lists *out)
{
	return ps__os_read_file(FOLDER "online", out->online, sizeof out->online) > 0 &&
	       ps__os_read_file(FOLDER "present", out->present, sizeof out->present) > 0 &&
	       ps__os_read_file(FOLDER "possible", out->possible, sizeof out->possible) > 0 &&
	       ps__proc_status_text(d->status, "Cpus_allowed_list", out->allowed,
	                            sizeof out->allowed);
}

/* Finds the path in a line "number:controllers:path" of /proc/self/cgroup with these controllers;
 * false if there is none. */
static bool cpus_find_cgroup(const char *text, const char *controllers, char *out,
                             size_t size_bytes)
{
	char wanted[32];

	snprintf(wanted, sizeof wanted, ":%s:", controllers);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		const char *colon = line + strspn(line, "0123456789");
		if (strncmp(colon, wanted, strlen(wanted)))
			continue;
		snprintf(out, size_bytes, "%.*s", (int)strcspn(colon + strlen(wanted), "\n"),
		         colon + strlen(wanted));
		return true;
	}
	return false;
}

/* Reads the CPUs that the cgroup's cpuset permits. Returns false if no file shows them. */
static bool cpus_read_cpuset(char *out, size_t size_bytes)
{
	static const struct {
		const char *controllers, *root, *file;
	} places[] = {
	    {"", "/sys/fs/cgroup", "cpuset.cpus.effective"},
	    {"cpuset", "/sys/fs/cgroup/cpuset", "cpuset.effective_cpus"},
	};
	char text[4096], group[1024], path[1200];

	if (ps__os_read_file("/proc/self/cgroup", text, sizeof text) <= 0)
		return false;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (!cpus_find_cgroup(text, places[i].controllers, group, sizeof group))
			continue;
		snprintf(path, sizeof path, "%s%s/%s", places[i].root,
		         strcmp(group, "/") ? group : "", places[i].file);
		if (ps__os_read_file(path, out, size_bytes) > 0 && isdigit((unsigned char)*out))
			return true;
	}
	return false;
}

/* Says which CPUs this process may run on, and whether the cpuset or the affinity mask leaves out
 * the others. */
static void cpus_say_allowed(struct ps__diagnosis *d, const struct cpu_lists *lists)
{
	char cpuset[8192];
	bool is_known = cpus_read_cpuset(cpuset, sizeof cpuset);

	d->draft.finding.state = PS_FINDING_LIMITED;
	ps__draft_add(d, " This process may run on %s alone", lists->allowed);
	if (is_known && cpus_missing_in(cpuset, lists->online).count) {
		ps__draft_add(d, "; its cgroup's cpuset is %s.", cpuset);
		ps__draft_remedy(
		    d, PS_REMEDY_BY_CONTAINER_OWNER, "the process may run on all CPUs",
		    "docker run --cpuset-cpus=%s ...  (a batch job: ask for more CPUs)",
		    lists->online);
		return;
	}
	if (is_known)
		ps__draft_add(d, ", though its cgroup's cpuset is %s: its affinity mask limits it.",
		              cpuset);
	else
		ps__draft_add(d, ", by its affinity mask or by a cpuset, which can't be read.");
	ps__draft_remedy(d, PS_REMEDY_BY_YOU, "the process may run on all CPUs",
	                 "taskset -pc %s $$", lists->online);
}

void ps__diagnose_cpus(struct ps__diagnosis *d)
{
	struct cpu_lists lists;

	if (!cpus_read_lists(d, &lists)) {
		ps__draft_fact(d, PS_FINDING_UNKNOWN,
		               "The lists of CPUs can't be read: " FOLDER
		               "{online,present,possible} and "
		               "Cpus_allowed_list in /proc/self/status.");
		return;
	}
	struct difference offline = cpus_missing_in(lists.online, lists.present);
	ps__draft_fact(d, offline.count ? PS_FINDING_LIMITED : PS_FINDING_GOOD,
	               "CPUs %s are online", lists.online);
	if (strcmp(lists.present, lists.online))
		ps__draft_add(d, ", %s are present", lists.present);
	if (strcmp(lists.possible, lists.present))
		ps__draft_add(d, ", %s are possible", lists.possible);
	ps__draft_add(d, offline.count ? ": %zu %s offline." : ".", offline.count,
	              offline.count == 1 ? "is" : "are");
	if (offline.count)
		ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR,
		                 offline.count == 1
		                     ? "the CPU runs tasks and counts again"
		                     : "this CPU runs tasks and counts again; the others alike",
		                 "echo 1 > " FOLDER "cpu%d/online", offline.first);
	if (cpus_missing_in(lists.allowed, lists.online).count)
		cpus_say_allowed(d, &lists);
	else if (!offline.count)
		ps__draft_add(d, " This process may run on all of them.");
}

static void cpus_say_unset(struct ps__diagnosis *d)
{
	char unset[160];

	ps__import_unset(unset, sizeof unset);
	ps__draft_remedy(d, PS_REMEDY_BY_YOU, WHERE_THEY_HAPPENED, "%s", unset);
}

static void cpus_say_origin(struct ps__diagnosis *d, const struct ps_topology *topology,
                            const char *variables)
{
	const char *origin = ps_topology_origin(topology);

	if (!origin) {
		ps__draft_fact(d, PS_FINDING_GOOD, "The tree is this machine's, with %s.",
		               variables);
		return;
	}
	ps__draft_fact(
	    d, PS_FINDING_LIMITED,
	    "The tree is not this machine's: %s. What is counted on a CPU that it does not have "
	    "goes to the unknown Thread; all else goes to a component that may not exist.",
	    origin);
	cpus_say_unset(d);
}

void ps__diagnose_tree(struct ps__diagnosis *d)
{
	struct ps_topology *topology;
	char variables[1024];

	if (!ps__import_variables(variables, sizeof variables)) {
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "The tree is this machine's: no variable of hwloc's puts another in "
		               "its place.");
		return;
	}
	int code = ps_topology_load(&topology, NULL);
	if (code < 0) {
		ps__diagnosis_fail(d, code);
		ps__draft_fact(d, PS_FINDING_BLOCKED, "%s.", ps_error_detail());
		cpus_say_unset(d);
		return;
	}
	cpus_say_origin(d, topology, variables);
	ps_topology_destroy(topology);
}

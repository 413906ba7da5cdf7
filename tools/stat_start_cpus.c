/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and starts the sets of a run: one for each whole CPU, or one for a control group. */
#include "base/list.h"
#include "locate/locate.h"
#include "tools/stat_count.h"
#include "tools/terminal.h"
#include "topology/import.h"

#include <limits.h>
#include <stdio.h>

/* Checks a CPU of -C. If the tree has the CPU but the machine lacks it, start_check_machine
 * complains later. */
static int start_check_cpu(int cpu, void *context)
{
	const struct stat_count *count = context;
	const struct ps_thread *unknown = ps_topology_unknown_thread(count->topology);
	bool is_in_tree = ps_topology_thread(count->topology, cpu) != unknown;
	char why[PS__NO_CPU_BYTES];

	if (is_in_tree && !ps__locate_is_possible(cpu))
		return 0;
	if (ps__locate_explain_no_cpu(cpu, why))
		return tool_complain("-C: %s", why);
	return is_in_tree ? 0 : tool_complain("-C: the tree has no CPU %d", cpu);
}

/* Checks that the machine has the CPU. hwloc's variables may replace the machine's tree by one with
 * more CPUs. */
static int start_check_machine(int cpu)
{
	char variables[1024], unset[160];

	if (ps__locate_is_possible(cpu) || !ps__import_variables(variables, sizeof variables))
		return 0;
	ps__import_unset(unset, sizeof unset);
	return tool_complain("the tree has CPU %d, which this machine lacks: the tree is made of "
	                     "%s. '%s' gives this machine's",
	                     cpu, variables, unset);
}

static bool start_is_wanted(int cpu, const char *cpus)
{
	return !ps__locate_is_offline(cpu) && (!cpus || ps__list_contains(cpus, cpu));
}

static int start_cpu(struct stat_count *count, int cpu)
{
	int code = stat_start_clone(count, (struct stat_place){.cpu = cpu});

	if (code == PS_ECOUNT)
		return tool_complain("CPU %d: %s; each CPU takes as many", cpu, ps_error_detail());
	return code == PS_OK ? 0 : tool_complain_detail();
}

int stat_start_cpus(struct stat_count *count, const char *cpus)
{
	size_t threads = ps_component_thread_count(count->root);
	int result = cpus ? ps__list_for_each(cpus, start_check_cpu, count) : 0;

	for (size_t index = 0; result == 0 && index < threads; index++) {
		int cpu = ps_thread_cpu(ps_component_thread_at(count->root, index));
		if (start_is_wanted(cpu, cpus))
			result = start_check_machine(cpu);
	}
	if (result != 0 || stat_start_make_room(count, threads) < 0)
		return -1;
	if (!cpus)
		stat_uncounted_note_online(count);
	for (size_t index = 0; result == 0 && index < threads; index++) {
		int cpu = ps_thread_cpu(ps_component_thread_at(count->root, index));
		if (start_is_wanted(cpu, cpus))
			result = start_cpu(count, cpu);
	}
	return result == 0 ? stat_start_together(count) : result;
}

/* Complains about a control group. An absolute path is often meant to be relative to the
 * hierarchy's root. */
static int start_complain_cgroup(const char *path, int code)
{
	char root[PATH_MAX], detail[1024];

	if (code != PS_EINVAL && code != PS_ESYS)
		return tool_complain_detail();
	snprintf(detail, sizeof detail, "%s", ps_error_detail());
	if (*path != '/')
		tool_complain("--cgroup %s: %s", path, detail);
	else if (ps__cgroup_root(root, sizeof root) != PS_OK)
		tool_complain("--cgroup %s: %s. %s", path, detail, ps_error_detail());
	else
		tool_complain("--cgroup %s: %s. perf counts the control groups of %s: give a "
		              "folder in there, or its path from there on",
		              path, detail, root);
	return -1;
}

int stat_start_cgroup(struct stat_count *count, const char *path)
{
	if (stat_start_make_room(count, 1) < 0)
		return -1;
	tool_cgroup_note(&count->named, path);
	stat_uncounted_note_online(count);
	int code = stat_start_clone(count, (struct stat_place){.cgroup = path});
	return code == PS_OK ? 0 : start_complain_cgroup(path, code);
}

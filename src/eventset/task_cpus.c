/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPUs on which a set's task may run, and the CPUs of the machine; and whether they have
 * changed since the set was opened. */
#include "base/advice.h"
#include "base/error.h"
#include "base/list.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/parts.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define PRESENT "/sys/devices/system/cpu/present"
#define ONLINE  "/sys/devices/system/cpu/online"

static int append_cpu(int cpu, void *context)
{
	struct ps_eventset *set = context;

	set->attribution.per_cpu.cpus[set->counters.target.instance_count++] = cpu;
	return 0;
}

/* Lists the CPUs to open counters on. For a task, offline CPUs are included: its event can wait for
 * a CPU that comes online later. Events of a control group or a CPU can't wait. */
int ps__set_list_cpus(struct ps_eventset *set)
{
	bool must_be_online =
	    set->counters.target.kind == PS__TARGET_CGROUP || ps__set_demands_bpf(set);
	const char *path = must_be_online ? ONLINE : PRESENT;
	char text[4096];

	ssize_t length = ps__os_read_file(path, text, sizeof text);
	if (length == -EMFILE || length == -ENFILE)
		return ps__fail(
		    PS_ECOUNT,
		    "no file descriptor is left to read %s (%s): " PS__ADVICE_DESCRIPTORS, path,
		    strerror((int)-length));
	if (length <= 0 || ps__list_count(text) == 0)
		return ps__fail(
		    PS_ESYS,
		    "exact attribution needs the machine's CPUs, and they can't be read from %s",
		    path);
	set->attribution.per_cpu.cpus =
	    ps__os_calloc(ps__list_count(text), sizeof *set->attribution.per_cpu.cpus);
	if (!set->attribution.per_cpu.cpus)
		return ps__fail_memory("an event set");
	set->counters.target.instance_count = 0;
	ps__list_for_each(text, append_cpu, set);
	set->counters.target.instance_cpus = set->attribution.per_cpu.cpus;
	return PS_OK;
}

/* True if other CPUs are online than when the set was opened. */
bool ps__set_has_other_cpus(const struct ps_eventset *set)
{
	char text[4096];

	if (ps__os_read_file(ONLINE, text, sizeof text) <= 0)
		return false;
	for (size_t instance = 0; instance < set->counters.target.instance_count; instance++) {
		if (!ps__list_contains(text, set->attribution.per_cpu.cpus[instance]))
			return true;
	}
	return ps__list_count(text) != set->counters.target.instance_count;
}

struct new_cpu {
	const int *cpus;
	size_t count; /* number of cpus that are left */
};

/* Returns 1 for a CPU that is not among the set's. Both lists are in rising order. */
static int find_new_cpu(int cpu, void *context)
{
	struct new_cpu *left = context;

	while (left->count && *left->cpus < cpu) {
		left->cpus++;
		left->count--;
	}
	return !left->count || *left->cpus != cpu;
}

bool ps__set_has_new_cpu(const struct ps_eventset *set)
{
	struct new_cpu all = {.cpus = set->attribution.per_cpu.cpus,
	                      .count = set->counters.target.instance_count};
	char text[4096];

	return ps__os_read_file(ONLINE, text, sizeof text) > 0 &&
	       ps__list_for_each(text, find_new_cpu, &all) != 0;
}

/* Returns the one CPU of the task, or -1. Only a single task can be pinned. */
int ps__set_only_cpu(const struct ps_eventset *set)
{
	if (set->counters.target.kind != PS__TARGET_SELF &&
	    set->counters.target.kind != PS__TARGET_TID)
		return -1;
	if (set->counters.papi && set->counters.papi->is_shared)
		return -1;
	return ps__locate_only_cpu(ps__set_sole_tid(set));
}

int ps__set_ask_once(_Atomic int *known, int (*ask)(void))
{
	int count = atomic_load_explicit(known, memory_order_relaxed);

	if (ps__os.open != ps_hooks_default()->open)
		return ask();
	if (count == 0) {
		count = ask();
		atomic_store_explicit(known, count, memory_order_relaxed);
	}
	return count;
}

static int read_present_cpus(void)
{
	char text[4096];

	return ps__os_read_file(PRESENT, text, sizeof text) > 0 ? (int)ps__list_count(text) : 0;
}

size_t ps__set_count_present_cpus(void)
{
	static _Atomic int known;

	return (size_t)ps__set_ask_once(&known, read_present_cpus);
}

size_t ps__set_per_cpu_copies(size_t events)
{
	size_t cpus = ps__set_count_present_cpus();

	return events * (cpus ? cpus : 1);
}

size_t ps__set_online_copies(size_t events)
{
	char text[4096];

	if (ps__os_read_file(ONLINE, text, sizeof text) <= 0)
		return ps__set_per_cpu_copies(events);
	return events * ps__list_count(text);
}

/* True if another method would be chosen now: the task is pinned and was not before, or the
 * reverse; or the descriptors that were missing are available now. */
bool ps__set_mask_changed(const struct ps_eventset *set)
{
	if (set->counters.target.kind == PS__TARGET_CPU)
		return false;
	return set->attribution.only_cpu != ps__set_only_cpu(set) ||
	       (set->attribution.short_of > 0 &&
	        ps__set_is_within_budget(set->attribution.short_of));
}

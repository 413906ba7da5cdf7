/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out which PMUs there are, whether the core PMU counts, and how many kinds of cores there
 * are. */
#include "event/pmu.h"
#include "base/os.h"
#include "diagnose/diagnosis.h"
#include "event/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEVICES "/sys/bus/event_source/devices"

struct pmus {
	struct ps__diagnosis *diagnosis;
	struct ps__names all;
};

static int pmu_add(const char *name, void *context)
{
	struct pmus *pmus = context;
	struct ps__diagnosis *d = pmus->diagnosis;
	struct ps__pmu pmu;

	ps__names_add(&pmus->all, name);
	if (ps__pmu_find(&pmu, name, strlen(name), name) != PS_OK || !pmu.is_core)
		return 0;
	d->core_pmus++;
	/* sysfs lists PMUs in no order. The first in the alphabet is taken, so
	 * that each diagnosis shows the same. */
	if (!d->core_pmu[0] || strcmp(name, d->core_pmu) < 0)
		snprintf(d->core_pmu, sizeof d->core_pmu, "%s", name);
	return 0;
}

static bool pmu_has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + length, word)) {
		if ((at == text || at[-1] == ' ') &&
		    (at[length] == ' ' || at[length] == '\n' || !at[length]))
			return true;
	}
	return false;
}

/* Returns where a virtual machine can be recognised: x86 processors have a flag, Xen has a folder.
 * NULL if neither is there; other virtual machines don't tell. */
static const char *pmu_find_hypervisor(void)
{
	char head[8192];

	if (ps__os_read_head("/proc/cpuinfo", head, sizeof head) > 0 &&
	    pmu_has_word(head, "hypervisor"))
		return "the flag hypervisor in /proc/cpuinfo";
	if (ps__os_read_head("/sys/hypervisor/type", head, sizeof head) > 0)
		return "/sys/hypervisor/type";
	return NULL;
}

static void pmu_say_none(struct ps__diagnosis *d, const char *names)
{
	const char *hypervisor = pmu_find_hypervisor();

	ps__draft_fact(
	    d, PS_FINDING_ABSENT,
	    "No PMU counts hardware events: instructions:u is refused (%s); the PMUs of " DEVICES
	    " are %s.",
	    ps__probe_errno(d->hardware), names);
	if (hypervisor) {
		ps__draft_add(d, " This is a virtual machine, as %s shows.", hypervisor);
		ps__draft_remedy(
		    d, PS_REMEDY_BY_HOST_OWNER,
		    "the guest sees the host's counters; in libvirt: <pmu state='on'/> in "
		    "<features>; in VMware: vpmc.enable = TRUE; in clouds: a bare-metal instance",
		    "qemu -cpu host,pmu=on");
		return;
	}
	ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR, "shows why the kernel found no PMU",
	                 "dmesg | grep -i -e perf -e pmu");
}

void ps__diagnose_pmu(struct ps__diagnosis *d)
{
	struct perf_event_attr instructions =
	    ps__probe_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true);
	struct pmus pmus = {.diagnosis = d};
	char names[1200];

	if (ps__pmu_for_each(pmu_add, &pmus) < 0)
		snprintf(names, sizeof names, "not to be seen (%s)", ps__probe_errno(errno));
	else
		ps__names_write(&pmus.all, names, sizeof names);
	d->hardware = ps__probe_event(&instructions, 0, -1);
	if (d->hardware == 0)
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "instructions:u opens; the PMUs of " DEVICES " are %s.", names);
	else if (d->hardware == ENOENT || d->hardware == EOPNOTSUPP || d->hardware == ENODEV)
		pmu_say_none(d, names);
	else if (d->core_pmus)
		ps__draft_fact(
		    d, PS_FINDING_BLOCKED,
		    "There is a PMU of the cores, %s, but instructions:u is refused (%s).",
		    d->core_pmu, ps__probe_errno(d->hardware));
	else
		ps__draft_fact(
		    d, PS_FINDING_UNKNOWN,
		    "Whether a PMU counts hardware events can't be told while perf_event_open is "
		    "refused (%s); sysfs shows none of the cores: the PMUs of " DEVICES " are %s.",
		    ps__probe_errno(d->hardware), names);
}

static int pmu_add_core(const char *name, void *context)
{
	struct ps__pmu pmu;

	if (ps__pmu_find(&pmu, name, strlen(name), name) == PS_OK && pmu.is_core)
		ps__names_add(context, name);
	return 0;
}

static void pmu_say_kinds(struct ps__diagnosis *d)
{
	struct ps__names cores = {.count = 0};
	char path[sizeof DEVICES + NAME_MAX + 8], cpus[512];

	ps__pmu_for_each(pmu_add_core, &cores);
	for (size_t i = 0; i < cores.count; i++) {
		snprintf(path, sizeof path, DEVICES "/%s/cpus", cores.name[i]);
		if (ps__os_read_file(path, cpus, sizeof cpus) < 0)
			snprintf(cpus, sizeof cpus, "not told");
		ps__draft_add(d, " %s: CPUs %s.", cores.name[i], cpus);
	}
}

void ps__diagnose_hybrid(struct ps__diagnosis *d)
{
	if (d->core_pmus == 0) {
		ps__draft_fact(d, PS_FINDING_ABSENT,
		               "Whether there are several kinds of cores isn't known: " DEVICES
		               " has no PMU of the cores.");
		return;
	}
	if (d->core_pmus == 1) {
		ps__draft_fact(d, PS_FINDING_GOOD, "One kind of cores, whose PMU is %s.",
		               d->core_pmu);
		return;
	}
	ps__draft_fact(d, PS_FINDING_GOOD,
	               "%zu kinds of cores, each with a PMU whose events count on its cores alone.",
	               d->core_pmus);
	pmu_say_kinds(d);
}

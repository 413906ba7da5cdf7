/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out how many hardware counters can be had at once, who else holds some, and whether user
 * space may read them. */
#include "base/os.h"
#include "diagnose/diagnosis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_COUNTERS 64
#define NMI_WATCHDOG  "/proc/sys/kernel/nmi_watchdog"

struct group {
	int fds[MOST_COUNTERS];
	unsigned count;
};

static void counters_close_group(struct group *group)
{
	while (group->count > 0)
		ps__os.close(group->fds[--group->count]);
}

/*
 * Opens a group of as many events as fit, at most `most`. The first event is cycles, because some
 * processors have a counter for cycles alone; the others are instructions. The leader counts at
 * once, because Arm's drivers check a group's size only then.
 */
static void counters_open_group(struct group *group, unsigned most)
{
	struct perf_event_attr attr =
	    ps__probe_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);

	attr.read_format = PS__PROBE_TIMES;
	group->count = 0;
	while (group->count < most) {
		int fd = ps__os_open_event(&attr, 0, -1, group->count ? group->fds[0] : -1, 0);
		if (fd < 0)
			return;
		group->fds[group->count++] = fd;
		attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	}
}

/* Finds how many of the events that fit in a group are on the hardware at once. Returns false if
 * that is not certain. With several kinds of cores it isn't: the group counts on one kind alone,
 * and nothing runs while this process is on another. */
static bool counters_measure_free(const struct ps__diagnosis *d, unsigned *out)
{
	struct group group;

	for (unsigned count = d->counters_fit; count > 0; count--) {
		bool is_certain = false;
		counters_open_group(&group, count);
		bool scheduled =
		    group.count == count && ps__probe_is_scheduled(group.fds[0], &is_certain);
		counters_close_group(&group);
		if (scheduled) {
			*out = count;
			return true;
		}
		if (!is_certain || d->core_pmus > 1)
			return false;
	}
	*out = 0;
	return true;
}

static bool counters_has_no_pmu(const struct ps__diagnosis *d)
{
	return d->hardware == ENOENT || d->hardware == EOPNOTSUPP || d->hardware == ENODEV;
}

static void counters_say_no_hardware(struct ps__diagnosis *d)
{
	if (counters_has_no_pmu(d))
		ps__draft_fact(d, PS_FINDING_ABSENT,
		               "No PMU counts hardware events here: see pmu.");
	else
		ps__draft_fact(d, PS_FINDING_UNKNOWN,
		               "It can't be told while hardware events are refused (%s).",
		               ps__probe_errno(d->hardware));
}

void ps__diagnose_counters(struct ps__diagnosis *d)
{
	struct group group;

	if (d->hardware) {
		counters_say_no_hardware(d);
		return;
	}
	counters_open_group(&group, MOST_COUNTERS);
	d->counters_fit = group.count;
	counters_close_group(&group);
	if (d->counters_fit == 0) {
		ps__draft_fact(d, PS_FINDING_UNKNOWN,
		               "cycles:u can't be opened, by which the counters are probed.");
		return;
	}
	d->counters_known = counters_measure_free(d, &d->counters_free);
	if (!d->counters_known) {
		ps__draft_fact(d, PS_FINDING_UNKNOWN,
		               "One group takes %u events of the cores; whether all are on the "
		               "hardware at once could not be seen.",
		               d->counters_fit);
	} else if (d->counters_free == d->counters_fit) {
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "%u counters: one group takes that many events of the cores, and "
		               "all were on the hardware at once.",
		               d->counters_fit);
	} else {
		ps__draft_fact(d, d->counters_free ? PS_FINDING_LIMITED : PS_FINDING_BLOCKED,
		               "One group takes %u events of the cores, but of these only %u get "
		               "onto the hardware at once: someone else holds the other counters.",
		               d->counters_fit, d->counters_free);
		ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR,
		                 "shows which processes hold performance events",
		                 "grep -l perf_event /proc/[0-9]*/fdinfo/* ; ls -l /proc/[0-9]*/fd "
		                 "| grep perf_event");
	}
}

void ps__diagnose_watchdog(struct ps__diagnosis *d)
{
	long on;
	int error = -ps__os_read_long(NMI_WATCHDOG, &on);

	if (error == ENOENT) {
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "This kernel has none: there is no " NMI_WATCHDOG ".");
	} else if (error) {
		ps__draft_fact(d, PS_FINDING_UNKNOWN, NMI_WATCHDOG " can't be read (%s).",
		               ps__probe_errno(error));
	} else if (!on) {
		ps__draft_fact(d, PS_FINDING_GOOD, "Off: kernel.nmi_watchdog is 0.");
	} else if (counters_has_no_pmu(d)) {
		ps__draft_fact(
		    d, PS_FINDING_GOOD,
		    "kernel.nmi_watchdog is 1, but there is no counter that it could take.");
	} else if (d->counters_known && d->counters_free == d->counters_fit) {
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "kernel.nmi_watchdog is 1, yet all %u counters were free.",
		               d->counters_fit);
	} else {
		ps__draft_fact(d, PS_FINDING_LIMITED,
		               "kernel.nmi_watchdog is 1: unless it is the kind that needs none, "
		               "it holds one counter of each CPU");
		if (d->counters_known)
			ps__draft_add(d, "; of %u counters %u were free", d->counters_fit,
			              d->counters_free);
		ps__draft_add(d, ".");
		ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR, "one counter more on each CPU",
		                 "sysctl kernel.nmi_watchdog=0");
		ps__draft_lasting_sysctl(d, "nmi_watchdog", 0);
	}
}

/* Returns 0 if the page of a hardware event says that user space may read the counter, ENOTSUP if
 * it says that user space may not, or another errno. */
static int counters_probe_page(void)
{
	struct perf_event_attr attr =
	    ps__probe_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true);
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	int error = 0;

	attr.config1 = 2; /* Arm: asks for a counter that user space can read */
	int fd = ps__os_open_event(&attr, 0, -1, -1, 0);
	if (fd == -EINVAL) {
		attr.config1 = 0;
		fd = ps__os_open_event(&attr, 0, -1, -1, 0);
	}
	if (fd < 0)
		return -fd;
	const struct perf_event_mmap_page *page =
	    ps__os.mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		error = errno;
		goto close_event;
	}
	if (!page->cap_user_rdpmc)
		error = ENOTSUP;
	ps__os.munmap((void *)(uintptr_t)page, page_bytes);
close_event:
	ps__os.close(fd);
	return error;
}

/* Reads the kernel's switch for reading counters in user space. On x86 the switch is a file of the
 * PMU, on Arm a sysctl. Gives its name, its value, and the command that turns it on. Returns false
 * if there is no switch. */
static bool counters_read_switch(const struct ps__diagnosis *d, char *name, size_t size_bytes,
                                 long *value, const char **turn_on)
{
	snprintf(name, size_bytes, "/sys/bus/event_source/devices/%s/rdpmc", d->core_pmu);
	*turn_on = "echo 1 > ";
	if (ps__os_read_long(name, value) == 0)
		return true;
	snprintf(name, size_bytes, "kernel.perf_user_access");
	*turn_on = "sysctl ";
	return ps__os_read_long("/proc/sys/kernel/perf_user_access", value) == 0;
}

void ps__diagnose_user_reads(struct ps__diagnosis *d)
{
	char name[NAME_MAX + 64];
	const char *turn_on;
	long value = 1;

	if (d->hardware) {
		counters_say_no_hardware(d);
		return;
	}
	int error = counters_probe_page();
	bool has_switch = counters_read_switch(d, name, sizeof name, &value, &turn_on);
	/* Arm's page says that user space may read, even if the switch is off. The instruction
	 * would then be illegal. */
	if (error == 0 && value == 0)
		error = ENOTSUP;
	if (error == 0)
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "Counters may be read in user space, without a system call.");
	else if (error == ENOTSUP)
		ps__draft_fact(d, PS_FINDING_LIMITED,
		               "The kernel doesn't let user space read counters: each reading is a "
		               "system call.");
	else
		ps__draft_fact(d, PS_FINDING_UNKNOWN,
		               "The page of a hardware event can't be mapped (%s).",
		               ps__probe_errno(error));
	if (!has_switch)
		return;
	ps__draft_add(d, " %s is %ld.", name, value);
	if (value)
		return;
	bool is_sysctl = *turn_on == 's';
	ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR, "counters are read without a system call",
	                 "%s%s%s", turn_on, name, is_sysctl ? "=1" : "");
	if (is_sysctl)
		ps__draft_lasting_sysctl(d, "perf_user_access", 1);
	else
		ps__draft_lasting(d, "echo 'w %s - - - - 1' > /etc/tmpfiles.d/99-rdpmc.conf", name);
}

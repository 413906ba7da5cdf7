/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out how many file descriptors and how much locked memory this process may have: exact
 * attribution needs both. */
#include "base/advice.h"
#include "base/list.h"
#include "base/os.h"
#include "diagnose/diagnosis.h"
#include "eventset/attribution.h"
#include "locate/switch_ring.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int limits_count_one(const char *name, void *context)
{
	(void)name;
	++*(size_t *)context;
	return 0;
}

/* The number of descriptors this process has open; 0 if it can't be seen. */
static size_t limits_count_open(void)
{
	size_t count = 0;

	if (ps__os.list("/proc/self/fd", limits_count_one, &count) < 0)
		return 0;
	/* One of them was for listing the folder itself. */
	return count ? count - 1 : 0;
}

static size_t limits_count_cpus(void)
{
	char text[4096];

	if (ps__os_read_file("/sys/devices/system/cpu/present", text, sizeof text) <= 0)
		return 0;
	return ps__list_count(text);
}

static void limits_say_remedy(struct ps__diagnosis *d, const struct rlimit *limit, size_t wanted)
{
	const char *gain = "exact attribution to hardware threads, chosen by itself";

	if (wanted <= limit->rlim_max) {
		ps__draft_remedy(d, PS_REMEDY_BY_YOU, gain, "ulimit -n %zu", wanted);
		ps__draft_lasting(d, "echo 'ulimit -n %zu' >> ~/.profile", wanted);
	} else {
		ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR, gain,
		                 "echo '%s hard nofile %zu' >> /etc/security/limits.conf  (and a "
		                 "new login; then ulimit -n %zu)",
		                 "*", wanted, wanted);
	}
}

void ps__diagnose_descriptors(struct ps__diagnosis *d)
{
	struct rlimit limit;
	size_t cpus = limits_count_cpus(), taken = limits_count_open(),
	       events = d->event_count ? d->event_count : 1;
	size_t needed = events * cpus + 1;
	char unlimited[] = "unlimited", number[32];

	if (ps__os.getrlimit(RLIMIT_NOFILE, &limit) < 0) {
		ps__draft_fact(d, PS_FINDING_UNKNOWN,
		               "The limit of file descriptors can't be read (%s).",
		               ps__probe_errno(errno));
		return;
	}
	if (cpus == 0) {
		ps__draft_fact(d, PS_FINDING_UNKNOWN,
		               "The need can't be told: /sys/devices/system/cpu/present can't be "
		               "read. The limit is %llu.",
		               (unsigned long long)limit.rlim_cur);
		return;
	}
	snprintf(number, sizeof number, "%llu", (unsigned long long)limit.rlim_cur);
	ps__draft_fact(d, PS_FINDING_GOOD,
	               "The limit (RLIMIT_NOFILE) is %s, of which %zu are open. %zu event%s of one "
	               "task need%s %zu file descriptor%s; exact attribution needs %zu (%zu CPUs), "
	               "and is chosen by itself up to half of the limit.",
	               limit.rlim_cur == RLIM_INFINITY ? unlimited : number, taken, events,
	               events == 1 ? "" : "s", events == 1 ? "s" : "", events,
	               events == 1 ? "" : "s", needed, cpus);
	if (needed - 1 <= limit.rlim_cur / 2)
		return;
	if (d->permissions.kernel == 0 && cpus >= PS__CPUS_FOR_RECORDS &&
	    events + 2 <= limit.rlim_cur / 2 && events + 2 + taken <= limit.rlim_cur) {
		ps__draft_add(d, " By migration records it needs %zu.", events + 2);
		return;
	}
	/* Blocked: after the descriptors that are open, the limit leaves less than one for each
	 * event. */
	bool is_blocked = events + taken > limit.rlim_cur;
	d->draft.finding.state = is_blocked ? PS_FINDING_BLOCKED : PS_FINDING_LIMITED;
	if (is_blocked)
		ps__draft_add(d, " The limit is too low to count them at all.");
	else
		ps__draft_add(
		    d, " Counts go to the CPU that is seen at each reading (last-cpu) instead.");
	size_t wanted = 2 * needed;
	limits_say_remedy(d, &limit, wanted > events + taken ? wanted : events + taken);
}

void ps__diagnose_rings(struct ps__diagnosis *d)
{
	struct ps__switch_ring watch;
	long mlock_kb;
	int error = ps__os_read_long(PS__MLOCK_FILE, &mlock_kb);
	int opened = -ps__switch_ring_open(&watch, 0, -1);

	if (opened == 0) {
		ps__switch_ring_close(&watch, false);
		ps__draft_fact(
		    d, PS_FINDING_GOOD,
		    "A ring of five pages could be mapped, which tells where a task was.");
	} else if (d->permissions.user) {
		ps__draft_fact(d, PS_FINDING_UNKNOWN,
		               "No event opens here, and so no ring can be mapped (%s).",
		               ps__probe_errno(opened));
	} else {
		ps__draft_fact(
		    d, PS_FINDING_LIMITED,
		    "No ring of five pages can be mapped (%s): a task's way between readings is "
		    "then not known, and attribution falls back to last-cpu.",
		    ps__probe_errno(opened));
	}
	if (error == 0)
		ps__draft_add(d, " kernel.perf_event_mlock_kb is %ld.", mlock_kb);
	/* The kernel answers EPERM when this user's locked memory is used up. */
	if (error == 0 && opened == EPERM && !d->permissions.user) {
		ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR, "more rings for each user",
		                 "sysctl kernel.perf_event_mlock_kb=%ld", 4 * mlock_kb);
		ps__draft_lasting_sysctl(d, "perf_event_mlock_kb", 4 * mlock_kb);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out what this user may count: tries each part, and compares the results with
 * perf_event_paranoid and the capabilities. */
#include "base/advice.h"
#include "base/os.h"
#include "base/proc_status.h"
#include "diagnose/diagnosis.h"

#include <errno.h>
#include <stdio.h>

#define CAPABILITY_TRAP                                                                         \
	"setcap lasts until PROGRAM is replaced, and the loader then ignores LD_LIBRARY_PATH: " \
	"link PROGRAM with -Wl,-rpath or perfsage-static"

static void permission_probe(struct ps__permissions *out)
{
	struct perf_event_attr user =
	    ps__probe_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, true);
	struct perf_event_attr kernel =
	    ps__probe_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false);

	out->user = ps__probe_event(&user, 0, -1);
	out->kernel = ps__probe_event(&kernel, 0, -1);
	out->cpu = ps__probe_event(&kernel, -1, ps__os.getcpu());
}

static void permission_say_setting(struct ps__diagnosis *d)
{
	if (d->paranoid_error)
		ps__draft_add(d, PS__PARANOID_FILE " can't be read (%s)",
		              ps__probe_errno(d->paranoid_error));
	else
		ps__draft_add(d, "kernel.perf_event_paranoid is %ld", d->paranoid);
	bool has_perfmon = ps__proc_status_has_capability(d->status, PS__CAP_PERFMON);
	bool has_admin = ps__proc_status_has_capability(d->status, PS__CAP_SYS_ADMIN);
	if (!d->status[0])
		ps__draft_add(d, ", the capabilities can't be read");
	else if (!has_perfmon && !has_admin)
		ps__draft_add(d, ", CAP_PERFMON is not held");
	else
		ps__draft_add(d, ", %s is held%s", has_perfmon ? "CAP_PERFMON" : "CAP_SYS_ADMIN",
		              ps__proc_is_in_user_namespace(NULL, 0)
		                  ? ", but doesn't count in a user namespace"
		                  : "");
}

static void permission_say_part(struct ps__diagnosis *d, const char *what, int error)
{
	ps__draft_add(d, "%s: %s%s%s", what, error ? "no (" : "yes",
	              error ? ps__probe_errno(error) : "", error ? ")" : "");
}

/* Returns the highest level that would permit what is denied now. */
static long permission_level_needed(const struct ps__permissions *permissions)
{
	if (ps__probe_is_denied(permissions->cpu))
		return 0;
	return ps__probe_is_denied(permissions->kernel) ? 1 : 2;
}

/* Reports that something is denied although perf_event_paranoid permits it. */
static void permission_say_module(struct ps__diagnosis *d)
{
	char modules[256];

	if (ps__os_read_file("/sys/kernel/security/lsm", modules, sizeof modules) > 0)
		ps__draft_add(d, " The level would permit it: the security modules here are %s.",
		              modules);
	else
		ps__draft_add(d, " The level would permit it.");
	ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR,
	                 "shows which security module denied it, and by which rule",
	                 "journalctl -k | grep -i -e denied -e avc");
}

static void permission_say_remedy(struct ps__diagnosis *d)
{
	const struct ps__permissions *permissions = &d->permissions;

	if (!ps__probe_is_denied(permissions->user) && !ps__probe_is_denied(permissions->kernel) &&
	    !ps__probe_is_denied(permissions->cpu))
		return;
	bool denies_user = ps__probe_is_denied(permissions->user);
	long level = denies_user ? 2 : permission_level_needed(permissions);
	/* The level already permits this, so something else denies it. */
	if (!d->paranoid_error && d->paranoid <= level) {
		permission_say_module(d);
		return;
	}
	char gain[sizeof d->draft.gain];
	snprintf(gain, sizeof gain, "%s%s",
	         denies_user ? "2 permits user space of one's own tasks, 1 the kernel, too, "
	                       "0 all tasks of a CPU"
	                     : "1 permits the kernel's part of one's own tasks, 0 all tasks of a "
	                       "CPU",
	         ps__proc_is_in_user_namespace(NULL, 0) ? "" : "; " CAPABILITY_TRAP);
	ps__draft_level(d, gain, level);
}

void ps__diagnose_permission(struct ps__diagnosis *d)
{
	struct ps__permissions *permissions = &d->permissions;

	permission_probe(permissions);
	if (d->reach != EINVAL) {
		ps__draft_fact(d, PS_FINDING_UNKNOWN, "%s", "");
		permission_say_setting(d);
		ps__draft_add(d, "; what that permits can't be told, as perf_event_open doesn't "
		                 "reach the kernel.");
		return;
	}
	if (permissions->user)
		ps__draft_fact(d, PS_FINDING_BLOCKED, "%s", "");
	else if (permissions->kernel || permissions->cpu)
		ps__draft_fact(d, PS_FINDING_LIMITED, "%s", "");
	permission_say_setting(d);
	ps__draft_add(d, ".");
	permission_say_part(d, " Counts user space of one's own tasks", permissions->user);
	permission_say_part(d, "; the kernel, too", permissions->kernel);
	permission_say_part(d, "; all tasks of a CPU", permissions->cpu);
	ps__draft_add(d, ".");
	permission_say_remedy(d);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether perf_event_open exists, and whether a call of it reaches
 * the kernel: the first steps of the diagnosis. */
#include "base/advice.h"
#include "base/os.h"
#include "base/proc_status.h"
#include "diagnose/diagnosis.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RELEASE "/proc/sys/kernel/osrelease"

/*
 * Returns the errno of a call with unknown flags. The kernel looks at the flags first, and answers
 * EINVAL whatever it permits. Any other answer comes from something that the call meets before the
 * kernel.
 */
static int kernel_probe_reach(void)
{
	struct perf_event_attr attr = ps__probe_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true);
	int fd = ps__os_open_event(&attr, 0, -1, -1, 1ul << 30);

	if (fd < 0)
		return -fd;
	ps__os.close(fd);
	return 0;
}

void ps__diagnose_kernel(struct ps__diagnosis *d)
{
	char release[128];

	if (ps__os_read_file(RELEASE, release, sizeof release) <= 0)
		strcpy(release, "of unknown release");
	d->reach = kernel_probe_reach();
	if (d->reach == EINVAL) {
		ps__draft_fact(d, PS_FINDING_GOOD, "Linux %s has perf_event_open.", release);
	} else if (d->paranoid_error == 0) {
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "Linux %s has perf_event_open, as kernel.perf_event_paranoid shows; "
		               "but a call of it doesn't reach the kernel: see seccomp.",
		               release);
	} else if (d->reach == ENOSYS && d->paranoid_error == ENOENT) {
		ps__draft_fact(d, PS_FINDING_ABSENT,
		               "Linux %s has no perf_event_open: the call answers ENOSYS, and "
		               "there is no /proc/sys/kernel/perf_event_paranoid.",
		               release);
		ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR, "events can be counted at all",
		                 "boot a kernel that was built with CONFIG_PERF_EVENTS=y");
	} else {
		ps__draft_fact(
		    d, PS_FINDING_UNKNOWN,
		    "Linux %s: whether it has perf_event_open can't be told: the call answers %s, "
		    "and /proc/sys/kernel/perf_event_paranoid can't be read (%s).",
		    release, ps__probe_errno(d->reach), ps__probe_errno(d->paranoid_error));
	}
}

/* Explains an answer that isn't the kernel's. It comes from a filter, a tracer or another
 * kernel. */
static void kernel_explain_unreached(struct ps__diagnosis *d, unsigned long long mode)
{
	unsigned long long tracer = ps__proc_status_number(d->status, "TracerPid", 10, 0);

	if (mode == 1 || mode == 2) {
		ps__draft_fact(d, PS_FINDING_BLOCKED,
		               "A seccomp filter forbids perf_event_open, whatever the paranoid "
		               "level is: a call that the kernel itself answers with EINVAL is "
		               "answered with %s, and /proc/self/status says Seccomp: %llu.",
		               ps__probe_errno(d->reach), mode);
		ps__draft_remedy(d, PS_REMEDY_BY_CONTAINER_OWNER, "the call reaches the kernel",
		                 "docker run " PS__ADVICE_CONTAINER " ...  (or " PS__ADVICE_PROFILE
		                 ", with a PROFILE that allows perf_event_open; podman alike; a "
		                 "systemd unit: SystemCallFilter=perf_event_open)");
		return;
	}
	ps__draft_fact(d, PS_FINDING_BLOCKED,
	               "Something between this process and the kernel forbids perf_event_open: a "
	               "call that the kernel itself answers with EINVAL is answered with %s; no "
	               "seccomp filter is shown in /proc/self/status",
	               ps__probe_errno(d->reach));
	if (tracer)
		ps__draft_add(d, ", but process %llu traces this one", tracer);
	ps__draft_add(d, ".");
	ps__draft_remedy(d, PS_REMEDY_BY_CONTAINER_OWNER, "the call reaches the kernel",
	                 "run it outside of the sandbox or tracer");
}

void ps__diagnose_seccomp(struct ps__diagnosis *d)
{
	unsigned long long mode = ps__proc_status_number(d->status, "Seccomp", 10, ULLONG_MAX);
	bool has_no_call = d->reach == ENOSYS && d->paranoid_error == ENOENT && mode == 0;

	/* Some kernels check the level before the flags. */
	if (d->reach == EACCES && mode == 0)
		d->reach = EINVAL;
	if (d->reach != EINVAL && !has_no_call)
		kernel_explain_unreached(d, mode);
	else if (mode == 0)
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "No seccomp filter (Seccomp: 0 in /proc/self/status).");
	else if (mode == ULLONG_MAX)
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "perf_event_open reaches the kernel; /proc/self/status doesn't say "
		               "whether there is a seccomp filter.");
	else
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "A seccomp filter is at work (Seccomp: %llu in /proc/self/status), "
		               "and lets perf_event_open through.",
		               mode);
}

static const char *kernel_find_container_sign(void)
{
	static const char *const signs[] = {"/.dockerenv", "/run/.containerenv",
	                                    "/run/systemd/container"};
	char head[2];

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		if (ps__os_read_head(signs[i], head, sizeof head) >= 0)
			return signs[i];
	}
	return NULL;
}

void ps__diagnose_container(struct ps__diagnosis *d)
{
	char map[128];
	const char *sign = kernel_find_container_sign();

	if (sign)
		ps__draft_fact(d, PS_FINDING_GOOD, "The file %s is there, as in containers.", sign);
	else
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "No sign of a container: neither /.dockerenv nor /run/.containerenv "
		               "nor /run/systemd/container can be read.");
	if (!ps__proc_is_in_user_namespace(map, sizeof map))
		return;
	d->draft.finding.state = PS_FINDING_LIMITED;
	ps__draft_add(d,
	              " It is in a user namespace (/proc/self/uid_map: %s), where capabilities, "
	              "also root's, don't count for perf_event_open.",
	              map);
	ps__draft_remedy(d, PS_REMEDY_BY_CONTAINER_OWNER, "CAP_PERFMON counts for perf_event_open",
	                 "docker run --userns=host " PS__ADVICE_CONTAINER " ...  (as root of the "
	                 "host, without a user namespace)");
}

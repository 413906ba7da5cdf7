/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries two methods of attribution that need permissions of their own: a control group for a
 * command, and BPF. */
#include "backend/bpf.h"
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "base/proc_status.h"
#include "diagnose/diagnosis.h"
#include "locate/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define CGROUP_GAIN \
	"perfsage stat counts a command exactly, at no cost for its threads and processes"
#define CGROUP_DELEGATED "systemd-run --user --scope -p Delegate=yes COMMAND"
#define BPF_GAIN                                                                               \
	"perfsage stat counts a running process of any number of threads exactly, at no cost " \
	"for them"

/* Opens an event for the control group of this folder, and closes it. Returns 0, or an errno. */
static int cgroup_probe_event(const char *folder)
{
	struct perf_event_attr attr =
	    ps__probe_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false);
	int group = ps__os.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (group < 0)
		return errno;
	int fd = ps__os_open_event(&attr, group, ps__os.getcpu(), -1, PERF_FLAG_PID_CGROUP);
	if (fd >= 0)
		ps__os.close(fd);
	ps__os.close(group);
	return fd < 0 ? -fd : 0;
}

/* Tries to open cgroup.procs for writing. A user who may write to it may make groups in the folder,
 * and move processes to them. Returns 0, or an errno. */
static int cgroup_probe_moving(const char *folder)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof path, "%s/cgroup.procs", folder);
	int fd = ps__os.open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	ps__os.close(fd);
	return 0;
}

/* Sets the finding's one remedy. If counting is not permitted, that is the permission to count,
 * because without it moving processes is of no use; a sentence then says what moving needs. */
static void cgroup_say_remedy(struct ps__diagnosis *d, int event, int moving)
{
	if (ps__probe_is_denied(moving))
		ps__draft_remedy(d, PS_REMEDY_BY_YOU, CGROUP_GAIN, CGROUP_DELEGATED);
	if (!ps__probe_is_denied(event))
		return;
	ps__draft_level(d, CGROUP_GAIN, 0);
	if (ps__probe_is_denied(moving))
		ps__draft_add(d, " To move processes you also need a control group of your "
		                 "own: " CGROUP_DELEGATED ".");
}

void ps__diagnose_cgroup(struct ps__diagnosis *d)
{
	char folder[PATH_MAX], byte[2];

	if (ps__cgroup_own(folder, sizeof folder) != PS_OK) {
		bool is_known = ps__os_read_head("/proc/self/mounts", byte, sizeof byte) >= 0;
		ps__draft_fact(d, is_known ? PS_FINDING_ABSENT : PS_FINDING_UNKNOWN,
		               "--method cgroup can't be used: %s.", ps_error_detail());
		return;
	}
	int event = cgroup_probe_event(folder), moving = cgroup_probe_moving(folder);
	enum ps_finding_state state =
	    event && !ps__probe_is_denied(event) ? PS_FINDING_ABSENT : PS_FINDING_BLOCKED;
	ps__draft_fact(d, event || moving ? state : PS_FINDING_GOOD,
	               "--method cgroup %s be used; tried with this process's own group, %s. "
	               "Counts a control group: %s%s%s; moves processes to one: %s%s%s.",
	               event || moving ? "can't" : "can", folder, event ? "no (" : "yes",
	               event ? ps__probe_errno(event) : "", event ? ")" : "",
	               moving ? "no (" : "yes", moving ? ps__probe_errno(moving) : "",
	               moving ? ")" : "");
	cgroup_say_remedy(d, event, moving);
}

static const char *capability_held(bool is_held)
{
	return is_held ? "is held" : "is not held";
}

/* Reports that BPF is refused. The last failure's detail sentence says why. */
static void bpf_say_refusal(struct ps__diagnosis *d, int code)
{
	bool has_bpf = ps__proc_status_has_capability(d->status, PS__CAP_BPF);
	bool has_perfmon = ps__proc_status_has_capability(d->status, PS__CAP_PERFMON);
	bool has_admin = ps__proc_status_has_capability(d->status, PS__CAP_SYS_ADMIN);
	bool is_capable = has_admin || (has_bpf && has_perfmon);
	bool is_filtered = ps__proc_status_number(d->status, "Seccomp", 10, 0) == 2;
	char byte[2];
	ssize_t types = ps__os_read_head(PS__BTF_FILE, byte, sizeof byte);

	ps__draft_fact(d,
	               code == PS_ENOSUPP ? PS_FINDING_ABSENT
	               : code == PS_ESYS  ? PS_FINDING_UNKNOWN
	                                  : PS_FINDING_BLOCKED,
	               "--method bpf can't be used: %s.", ps_error_detail());
	bool is_in_namespace = ps__proc_is_in_user_namespace(NULL, 0);
	if (!d->status[0])
		ps__draft_add(d, " The capabilities can't be read.");
	else if (!has_admin && !is_in_namespace)
		ps__draft_add(d, " CAP_BPF %s, CAP_PERFMON %s.", capability_held(has_bpf),
		              capability_held(has_perfmon));
	ps__draft_add(d, " " PS__BTF_FILE " %s%s%s.", types < 0 ? "can't be read (" : "is there",
	              types < 0 ? ps__probe_errno((int)-types) : "", types < 0 ? ")" : "");
	bool is_inside = ps__bpf_check_namespace() == PS_ENOSUPP;
	if (is_inside)
		d->draft.finding.state = PS_FINDING_BLOCKED;
	if (is_inside || (code == PS_EPERM && (is_filtered || is_in_namespace)))
		ps__draft_remedy(d, PS_REMEDY_BY_CONTAINER_OWNER, BPF_GAIN,
		                 "docker run %s--pid host --cap-add BPF " PS__ADVICE_CONTAINER
		                 " ...  (%s)",
		                 is_in_namespace ? "--userns=host " : "",
		                 is_in_namespace ? "as root of the host" : "podman alike");
	else if (code == PS_EPERM && !is_capable)
		ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR, BPF_GAIN, PS__ADVICE_BPF);
	else if (code == PS_ENOSUPP && types < 0)
		ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR, BPF_GAIN,
		                 "boot a kernel that was built with CONFIG_DEBUG_INFO_BTF=y");
}

void ps__diagnose_bpf(struct ps__diagnosis *d)
{
	int result = ps__bpf_try();

	if (result != PS_OK)
		bpf_say_refusal(d, result);
	else if (d->permissions.cpu)
		ps__draft_fact(d, PS_FINDING_BLOCKED,
		               "--method bpf can't be used: events of whole CPUs are refused (%s); "
		               "see permission.",
		               ps__probe_errno(d->permissions.cpu));
	else
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "--method bpf can be used: the kernel took its two programs.");
}

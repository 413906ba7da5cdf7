/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains why the kernel refused an event, and says what to do. The errno alone says little:
 * EACCES has four causes. */
#include "backend/perf.h"
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "base/proc_status.h"
#include "event/attr.h"
#include "locate/locate.h"

#include <errno.h>
#include <string.h>

/* Mode 2 of Seccomp: a filter is active, as in containers. */
bool ps__perf_has_seccomp_filter(void)
{
	char status[PS__PROC_STATUS_BYTES];

	ps__proc_status_read(status);
	return ps__proc_status_number(status, "Seccomp", 10, 0) == 2;
}

/* True if the process has CAP_PERFMON, or CAP_SYS_ADMIN, which older kernels ask for. */
static bool has_perfmon(void)
{
	char status[PS__PROC_STATUS_BYTES];

	if (ps__proc_is_in_user_namespace(NULL, 0))
		return false;
	ps__proc_status_read(status);
	return ps__proc_status_has_capability(status, PS__CAP_PERFMON) ||
	       ps__proc_status_has_capability(status, PS__CAP_SYS_ADMIN);
}

static int explain_seccomp(const struct ps__event *event, int error)
{
	return ps__fail(
	    PS_EPERM,
	    "'%s': a seccomp filter forbids perf_event_open (%s), whatever the paranoid level is: "
	    "allow the call in the container's seccomp profile (docker: " PS__ADVICE_CONTAINER
	    " or " PS__ADVICE_PROFILE ")",
	    event->name, strerror(error));
}

/* True if the event may be counted on the calling thread. The paranoid level alone doesn't tell
 * this: at 3, Debian's kernel refuses everything, and other kernels take 3 for 2. */
static bool is_permitted_on_caller(const struct ps__event *event)
{
	struct ps__event tried = *event;
	int fd = ps__perf_open_settled(&tried, (struct ps__place){.pid = 0, .cpu = -1}, -1);

	ps__os_close_event(fd, 0, false);
	return fd >= 0;
}

/* True if the caller may open an event that counts nothing, in user space alone. */
static bool may_open_dummy(void)
{
	int fd = ps__perf_open_own_dummy(0);

	ps__os_close_event(fd, 0, false);
	return fd >= 0;
}

/* Explains EACCES by the paranoid level that would permit this kind of counting. */
static int explain_level(const struct ps__event *event, struct ps__target target, int error)
{
	long level = 2;
	const char *what = "this event";
	long enough = 2;

	ps__os_read_long(PS__PARANOID_FILE, &level);
	if (target.kind == PS__TARGET_CPU || target.kind == PS__TARGET_CPUS ||
	    target.kind == PS__TARGET_CGROUP) {
		what = target.kind == PS__TARGET_CGROUP ? "a control group" : "all tasks of a CPU";
		enough = 0;
	} else if (!event->attr.exclude_kernel) {
		what = "the kernel";
		enough = 1;
	}
	if ((target.kind == PS__TARGET_TID || target.kind == PS__TARGET_PROCESS) &&
	    (level <= enough || is_permitted_on_caller(event)))
		return ps__fail(PS_EPERM,
		                "'%s': this user may not count task %d: it belongs to another "
		                "user, or gained privileges; run as its owner, or with CAP_PERFMON",
		                event->name, (int)target.tid);
	/* A seccomp filter can give any errno. If even what the kernel permits is refused, the
	 * filter is the cause. */
	if (ps__perf_has_seccomp_filter() &&
	    (level <= enough || has_perfmon() || (level <= 2 && !may_open_dummy())))
		return explain_seccomp(event, error);
	if (level <= enough)
		return ps__fail(PS_EPERM,
		                "'%s': perf_event_open is refused although %s is %ld: a security "
		                "module (SELinux, AppArmor) or a container forbids it; ask the "
		                "administrator for CAP_PERFMON",
		                event->name, PS__PARANOID_FILE, level);
	if (has_perfmon())
		return ps__fail(PS_EPERM,
		                "'%s': perf_event_open is refused although the process has "
		                "CAP_PERFMON: the kernel doesn't let this event be counted, or a "
		                "security module (SELinux, AppArmor, lockdown) forbids it",
		                event->name);
	/* An event that happens in the kernel has no user part to count; nor has one whose PMU
	 * can't tell user space from the kernel. */
	bool has_user_part = enough == 1 && event->explicit_domain && !event->kernel_side &&
	                     !event->attr.exclude_user;
	const char *or_less =
	    has_user_part ? "; or count user space alone with the modifier :u" : "";
	struct ps__privilege privilege = ps__proc_privilege();
	return ps__fail(
	    PS_EPERM,
	    "'%s': counting %s is not permitted: %s is %ld and %s; as %s: " PS__ADVICE_LEVEL
	    ", or %s%s",
	    event->name, what, PS__PARANOID_FILE, level, privilege.lack, privilege.root, enough,
	    privilege.gain, or_less);
}

static int explain_denied(const struct ps__event *event, struct ps__target target, int error)
{
	/* The paranoid level answers EACCES; seccomp profiles and security modules answer EPERM. */
	if (error == EPERM && ps__perf_has_seccomp_filter())
		return explain_seccomp(event, error);
	return explain_level(event, target, error);
}

static int explain_no_call(const struct ps__event *event)
{
	long level;

	if (ps__os_read_long(PS__PARANOID_FILE, &level) == 0)
		return explain_seccomp(event, ENOSYS);
	return ps__fail(
	    PS_ENOSUPP,
	    "'%s': this kernel has no perf_event_open (built without CONFIG_PERF_EVENTS)",
	    event->name);
}

static int explain_descriptors(const struct ps__event *event, int error, size_t needed)
{
	struct rlimit limit = {0};

	ps__os.getrlimit(RLIMIT_NOFILE, &limit);
	if (error == ENFILE)
		return ps__fail(PS_ECOUNT,
		                "'%s': the system is out of file descriptors (fs.file-max); %zu "
		                "%s needed",
		                event->name, needed, needed == 1 ? "is" : "are");
	return ps__fail(PS_ECOUNT,
	                "'%s': %zu file descriptor%s needed, and this process reached its limit "
	                "of %llu: " PS__ADVICE_DESCRIPTORS ", or count fewer events",
	                event->name, needed, needed == 1 ? " is" : "s are",
	                (unsigned long long)limit.rlim_cur);
}

static int explain_invalid(const struct ps__event *event, struct ps__target target)
{
	if (event->klass == PS__EVENT_CLASS_OTHER && target.kind != PS__TARGET_CPU)
		return ps__fail(PS_ECOMBO,
		                "'%s' counts for a %s, not for a task: attach the set to a CPU "
		                "with ps_eventset_attach_cpu",
		                event->name, ps_scope_name(event->scope));
	if (ps__event_has_flag(event, PS__FLAG_REMOVE_ON_EXEC) && target.enables_on_exec)
		return ps__fail(PS_ECOMBO,
		                "'%s': remove_on_exec would take the event away at the exec that "
		                "is to enable it",
		                event->name);
	if (event->explicit_domain)
		return ps__fail(PS_EINVAL_DOM,
		                "'%s' can't be counted here: its PMU takes no such modifiers or no "
		                "such encoding (EINVAL); try it without :u, :k or :h",
		                event->name);
	return ps__fail(
	    PS_ENOSUPP,
	    "'%s': the PMU refuses this event (EINVAL); 'perfsage list' shows what it takes",
	    event->name);
}

/* Explains errors that mean something else for a probe than for other events. PS_OK: the error
 * isn't one of those. */
static int explain_probe(const struct ps__event *event, int error)
{
	bool is_kernel = event->kernel_side;
	struct ps__privilege privilege = ps__proc_privilege();
	const char *place = event->probe ? event->probe : "address";

	if (error == EACCES || (error == EPERM && !ps__perf_has_seccomp_filter()))
		return ps__fail(PS_EPERM,
		                "'%s': a probe needs CAP_PERFMON, whatever "
		                "kernel.perf_event_paranoid is, and %s; "
		                "as %s: %s",
		                event->name, privilege.lack, privilege.root, privilege.gain);
	if (error == EILSEQ)
		return ps__fail(PS_ENOSUPP, "'%s': no instruction of the kernel begins there",
		                event->name);
	if (is_kernel && (error == ENOENT || error == EINVAL || error == EADDRNOTAVAIL))
		return ps__fail(
		    PS_ENOSUPP,
		    "'%s': the kernel has no such %s that may be probed: /proc/kallsyms lists its "
		    "functions, /sys/kernel/debug/kprobes/blacklist those that may not",
		    event->name, event->probe ? "function" : place);
	if (!is_kernel && error == ENOENT)
		return ps__fail(PS_ENOSUPP, "'%s': there is no file %s", event->name, place);
	if (!is_kernel && (error == EINVAL || error == EIO))
		return ps__fail(PS_ENOSUPP,
		                "'%s': %s is not a file of code, on a file system that can be "
		                "probed, with something at offset 0x%llx",
		                event->name, place, (unsigned long long)event->attr.config2);
	return PS_OK;
}

/* Explains that no counter is free. A breakpoint's register is freed when the last copy of its
 * descriptor is closed, and a fork copies descriptors. */
static int explain_taken(const struct ps__event *event, int error)
{
	if (event->attr.type == PERF_TYPE_BREAKPOINT)
		return ps__fail(PS_ENOCNTR,
		                "'%s': every breakpoint register that could hold it is taken (%s): "
		                "by other sets, by a debugger, or by a forked child of a process "
		                "that counts breakpoints, which keeps its copies of the "
		                "descriptors until it calls ps_eventset_destroy or exec, or ends",
		                event->name, strerror(error));
	return ps__fail(PS_ENOCNTR,
	                "'%s': every counter that could count it is taken (%s), by another user or "
	                "the NMI watchdog",
	                event->name, strerror(error));
}

/* Explains EBADF: the folder is not a control group's; and ENOENT: the group's hierarchy has no
 * perf_event, or the group was removed. */
static int explain_cgroup(const struct ps__event *event, int error)
{
	if (error == EBADF)
		return ps__fail(PS_EINVAL,
		                "'%s': the path is not a control group's, or this kernel has no "
		                "CONFIG_CGROUP_PERF",
		                event->name);
	return ps__fail(
	    PS_ESYS,
	    "'%s': perf doesn't count this control group: it is in another hierarchy than that of "
	    "cgroup2 (or of cgroup with perf_event), or was removed, or its parent has no "
	    "controller enabled: as root, echo +pids >cgroup.subtree_control there",
	    event->name);
}

/* Explains E2BIG: names the first word that the event needs and the kernel's attr lacks. */
static int explain_attr_size(const struct ps__event *event)
{
	static const char *const releases[PS__LATER_CONFIGS] = {"Linux 6.3", "Linux 6.19"};
	uint32_t size_bytes = ps__perf_kernel_attr_size();

	for (unsigned i = 0; i < PS__LATER_CONFIGS; i++) {
		unsigned begins = PS__ATTR_LATER + 8 * i;
		if (event->later[i] && size_bytes <= begins)
			return ps__fail(
			    PS_ENOSUPP,
			    "'%s': this kernel is too old for config%u (%s): its perf_event_attr "
			    "ends after %u bytes, and config%u begins there or later, after %u",
			    event->name, i + 3, releases[i], size_bytes, i + 3, begins);
	}
	return ps__fail(
	    PS_ENOSUPP,
	    "'%s': the kernel's perf_event_attr has %u bytes, and more are asked for (E2BIG)",
	    event->name, size_bytes);
}

static int explain_no_device(const struct ps__event *event, struct ps__target target, int error)
{
	char why[PS__NO_CPU_BYTES];

	if (target.cpu >= 0 && ps__locate_explain_no_cpu(target.cpu, why))
		return ps__fail(PS_ENOSUPP, "'%s': %s", event->name, why);
	return ps__fail(PS_ENOSUPP, "'%s': CPU %d is offline or its PMU is gone (%s)", event->name,
	                target.cpu, strerror(error));
}

static int explain_bpf(const struct ps__event *event, int error)
{
	if (error == EBADF)
		return ps__fail(
		    PS_ESYS,
		    "'%s': descriptor %d of its eBPF program is closed: keep it open, or "
		    "set the program anew (ps_eventset_set_bpf)",
		    event->name, event->control.bpf_fd);
	return ps__fail(PS_ECNFLCT,
	                "'%s': another set or program has attached the eBPF program of descriptor "
	                "%d, and would detach it when it closes: load the program once more for "
	                "this set",
	                event->name, event->control.bpf_fd);
}

int ps__perf_explain(const struct ps__event *event, struct ps__target target, int error,
                     size_t needed)
{
	int probe = event->is_probe ? explain_probe(event, error) : PS_OK;

	if (probe != PS_OK)
		return probe;
	if (target.kind == PS__TARGET_CGROUP && (error == EBADF || error == ENOENT))
		return explain_cgroup(event, error);
	switch (error) {
	case EACCES:
	case EPERM:
		return explain_denied(event, target, error);
	case EBADF:
	case EEXIST:
		if (event->control.has_bpf)
			return explain_bpf(event, error);
		break;
	case ENOSYS:
		return explain_no_call(event);
	case EMFILE:
	case ENFILE:
		return explain_descriptors(event, error, needed);
	case EINVAL:
		return explain_invalid(event, target);
	case ENOENT:
	case EOPNOTSUPP:
		if (event->variant_count > 1)
			return ps__fail(
			    PS_ENOSUPP,
			    "'%s': no kind of cores of this machine counts it by this name (%s; "
			    "older kernels don't take generic names for a kind of Arm cores): name "
			    "a PMU's own event, as in PMU/event=0x11/",
			    event->name, strerror(error));
		return ps__fail(PS_ENOSUPP,
		                "'%s' is not available on this machine (%s): no PMU here counts it",
		                event->name, strerror(error));
	case ENODEV:
		return explain_no_device(event, target, error);
	case ESRCH:
		return ps__fail(PS_ESYS, "'%s': thread %d has ended", event->name, (int)target.tid);
	case EBUSY:
	case ENOSPC:
		return explain_taken(event, error);
	case E2BIG:
		return explain_attr_size(event);
	case ENOMEM:
		return ps__fail(PS_ENOMEM, "'%s': the kernel has no memory for the event",
		                event->name);
	}
	return ps__fail(PS_ESYS, "'%s': perf_event_open: %s", event->name, strerror(error));
}

/* Returns the number of descriptors for the whole set. */
static size_t count_needed(const struct ps__perf *perf)
{
	size_t count = 0;

	for (size_t index = 0; index < perf->event_count; index++)
		count += !perf->events[index].unsupported;
	count += perf->base.residency_ns != NULL;
	if (!perf->target.tells_tasks)
		return count * perf->base.instances;
	/* Add the dummies of perf_tasks.h. */
	return (count + 1 + perf->base.groups) * perf->base.instances + perf->target.root_count;
}

int ps__perf_open_own_dummy(pid_t tid)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_DUMMY,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1,
	                               .disabled = 1};

	return ps__os_open_event(&attr, tid, -1, -1, 0);
}

bool ps__perf_note_ended(struct ps__perf *perf, pid_t tid, int error)
{
	/* A control group's tid is a descriptor, not a thread. */
	if (perf->target.kind == PS__TARGET_CGROUP || tid <= 0 ||
	    (error != ESRCH && error != ENODEV && error != EINVAL))
		return false;
	int fd = error == ESRCH ? -ESRCH : ps__perf_open_own_dummy(tid);
	if (fd >= 0)
		ps__os.close(fd);
	if (fd == -ESRCH)
		perf->base.ended_tid = tid;
	else if (fd >= 0 && perf->target.kind == PS__TARGET_PROCESS)
		perf->base.ended_tid = PS__LOST_LEADER;
	return fd == -ESRCH;
}

int ps__perf_explain_event(struct ps__perf *perf, size_t event, pid_t tid, int error)
{
	struct ps__target target = perf->target;

	if (ps__perf_note_ended(perf, tid, error)) {
		target.tid = tid;
		error = ESRCH;
	}
	return ps__perf_explain(&perf->events[event], target, error, count_needed(perf));
}

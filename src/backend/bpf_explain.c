/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains why the kernel refused bpf(2), and says what to do. */
#include "backend/bpf.h"
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"
#include "base/proc_status.h"
#include "event/event.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define NAMESPACE "/proc/self/ns/pid"
/* The kernel's PID_NS_INIT_INO: inode number of the first PID namespace's file. */
#define FIRST_NAMESPACE 0xEFFFFFFCu

/* True if the process has the capabilities that bpf(2) needs: since Linux 5.8, or before. */
static bool is_capable(void)
{
	char status[PS__PROC_STATUS_BYTES];

	ps__proc_status_read(status);
	return ps__proc_status_has_capability(status, PS__CAP_SYS_ADMIN) ||
	       (ps__proc_status_has_capability(status, PS__CAP_BPF) &&
	        ps__proc_status_has_capability(status, PS__CAP_PERFMON));
}

static int bpf_explain_denied(const char *what, int error)
{
	if (ps__proc_is_in_user_namespace(NULL, 0))
		return ps__fail(PS_EPERM,
		                "attribution by BPF needs CAP_BPF and CAP_PERFMON (%s for %s), and "
		                "capabilities in a user namespace don't count: run without one",
		                strerror(error), what);
	if (!is_capable())
		return ps__fail(
		    PS_EPERM,
		    "attribution by BPF needs CAP_BPF and CAP_PERFMON (%s for %s): run as root, "
		    "or as root: %s",
		    strerror(error), what, ps__proc_advise_capability(true));
	if (ps__perf_has_seccomp_filter())
		return ps__fail(
		    PS_EPERM,
		    "attribution by BPF: a seccomp filter may forbid bpf(2) (%s for %s): "
		    "allow the call in the container's seccomp profile",
		    strerror(error), what);
	return ps__fail(
	    PS_EPERM,
	    "attribution by BPF: %s is refused (%s) although the process has the "
	    "capabilities: a security module or the lockdown of the kernel forbids it, or, "
	    "before Linux 5.11, too little memory may be locked (raise it with ulimit -l)",
	    what, strerror(error));
}

int ps__bpf_explain(enum bpf_cmd command, const char *what, int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return bpf_explain_denied(what, error);
	case ENOSYS:
		return ps__fail(PS_ENOSUPP,
		                "attribution by BPF: the kernel has no bpf(2) (built without "
		                "CONFIG_BPF_SYSCALL), or a seccomp filter hides it");
	case EMFILE:
	case ENFILE:
		return ps__fail(PS_ECOUNT,
		                "attribution by BPF: there is no file descriptor left for %s (%s): "
		                "raise the limit with ulimit -n",
		                what, strerror(error));
	case ENOMEM:
		return ps__fail(PS_ENOMEM, "attribution by BPF: the kernel has no memory for %s",
		                what);
	case EBADF:
		return ps__fail(
		    PS_ECLOST,
		    "attribution by BPF: %s: a descriptor of the event set is closed, or is "
		    "another file's by now: the program closed it; destroy this set, and count "
		    "with a clone (ps_eventset_clone)",
		    what);
	default:
		return ps__fail(
		    PS_ENOSUPP,
		    "attribution by BPF: the kernel can't do %s (bpf command %d: %s): it "
		    "needs Linux 5.10 or later with CONFIG_BPF_EVENTS, and no lockdown for "
		    "confidentiality",
		    what, (int)command, strerror(error));
	}
}

int ps__bpf_explain_events(void)
{
	return is_capable() ? PS_EPERM : bpf_explain_denied("events of whole CPUs", EPERM);
}

int ps__bpf_check_namespace(void)
{
	struct stat status = {0};
	int fd = ps__os.open(NAMESPACE, O_RDONLY | O_CLOEXEC);
	int error = fd < 0 ? errno : 0;

	if (fd >= 0 && ps__os.wake.fstat(fd, &status) < 0)
		error = errno;
	if (fd >= 0)
		ps__os.close(fd);
	if (ps__event_is_shortage(error))
		return ps__bpf_explain(BPF_MAP_CREATE, NAMESPACE, error);
	if (error)
		return ps__fail(
		    PS_ESYS,
		    "attribution by BPF: whether processes have the kernel's own numbers "
		    "here is not known: %s can't be read (%s)",
		    NAMESPACE, strerror(error));
	if (status.st_ino == FIRST_NAMESPACE)
		return PS_OK;
	return ps__fail(
	    PS_ENOSUPP,
	    "attribution by BPF: this process is in a PID namespace, as of a container, "
	    "where processes don't have the kernel's own numbers: run outside of it "
	    "(docker: --pid host)");
}

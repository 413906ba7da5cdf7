/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the processes of -p, which the watcher waits for. */
#include "base/os.h"
#include "locate/locate.h"
#include "tools/terminal.h"
#include "tools/watcher.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Complains that a process can't be watched. Kernels use different errnos for a thread's tid; some
 * report that there is no such process. */
static void watcher_complain_of_process(pid_t pid, int error)
{
	pid_t process = ps__locate_process(pid);

	if (process > 0 && process != pid)
		tool_complain(
		    "%d is a thread of process %d: -p takes whole processes; -p %d has all "
		    "its threads, which 'perfsage stat --tasks' and 'perfsage timeline' "
		    "tell apart",
		    (int)pid, (int)process, (int)process);
	else
		tool_complain("process %d: %s", (int)pid,
		              error == ESRCH ? "there is none of that number" : strerror(error));
}

/* True if the process has ended. The user's list of processes may be older than this run; the
 * processes that still exist are counted. */
static bool watcher_is_absent(pid_t pid, int error)
{
	return error == ESRCH && ps__locate_process(pid) < 0;
}

static void watcher_move_to_end(pid_t *pids, size_t index, size_t count)
{
	pid_t absent = pids[index];

	memmove(&pids[index], &pids[index + 1], (count - index - 1) * sizeof *pids);
	pids[count - 1] = absent;
}

int tool_watcher_add(struct tool_watcher *watcher, pid_t *pids, size_t *count)
{
	size_t given = *count;

	watcher->processes = ps__os_calloc(given + 1, sizeof *watcher->processes);
	if (!watcher->processes)
		return tool_complain("out of memory");
	while (watcher->process_count < *count) {
		size_t index = watcher->process_count;
		int fd = (int)syscall(SYS_pidfd_open, pids[index], 0);
		int error = errno;
		if (fd >= 0) {
			watcher->processes[watcher->process_count++] = fd;
		} else if (given > 1 && watcher_is_absent(pids[index], error)) {
			watcher_move_to_end(pids, index, given);
			--*count;
		} else {
			watcher_complain_of_process(pids[index], error);
			return -1;
		}
	}
	if (given && *count == 0)
		return tool_complain("none of the %zu processes of -p is there", given);
	for (size_t index = *count; index < given; index++)
		tool_complain("not counted: process %d: there is none of that number",
		              (int)pids[index]);
	return 0;
}

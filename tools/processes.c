/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the machine's processes from /proc, and its CPUs from /sys. */
#include "tools/processes.h"

#include "base/os.h"
#include "base/vector.h"
#include "locate/locate.h"
#include "tools/terminal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Descriptors in reserve. Reading /proc takes two, for a folder and a file, and the counters may
 * use up all others. */
static int spares[2] = {-1, -1};

int tool_processes_reserve(void)
{
	for (size_t index = 0; index < sizeof spares / sizeof *spares; index++) {
		if (spares[index] < 0)
			spares[index] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (spares[index] < 0)
			return -errno;
	}
	return 0;
}

/* Closes the reserved descriptors. Returns true if there were any; the caller then reserves them
 * again. */
static bool processes_use_spares(void)
{
	bool had_any = false;

	for (size_t index = 0; index < sizeof spares / sizeof *spares; index++) {
		had_any |= spares[index] >= 0;
		if (spares[index] >= 0)
			close(spares[index]);
		spares[index] = -1;
	}
	return had_any;
}

enum look {
	ENDED,
	RUNS,
	UNKNOWN
};

/* Reads a process's state. A process with other threads runs on after its first thread has
 * ended. */
static enum look processes_read(const char *pid, struct tool_process *out)
{
	char path[300], text[1024];
	struct ps__task_stat stat;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	FILE *stream = fopen(path, "re");
	if (!stream)
		return errno == ENOENT || errno == ESRCH ? ENDED : UNKNOWN;
	size_t length = fread(text, 1, sizeof text, stream);
	fclose(stream);
	if (!ps__task_parse(text, length, &stat))
		return ENDED; /* the process ended between open and read */
	*out = (struct tool_process){.pid = (pid_t)atoi(pid),
	                             .parent = stat.parent,
	                             .threads = (long)stat.threads,
	                             .is_first_ending = stat.is_ending};
	return !stat.is_ending || stat.threads > 1 ? RUNS : ENDED;
}

/* Lists nothing if /proc belongs to another PID namespace: its numbers mean other processes.
 * Perfsage itself is left out, so that its command isn't below an ancestor of perfsage. */
static void processes_list(struct tool_processes *all)
{
	bool has_proc = ps__locate_has_proc();
	pid_t self = getpid();
	DIR *folder = has_proc ? opendir("/proc") : NULL;
	struct dirent *entry;
	struct tool_process one;

	if (has_proc && !folder)
		tool_complain("the processes can't be listed: /proc: %s", strerror(errno));

	while (folder && (entry = readdir(folder))) {
		if (!isdigit((unsigned char)*entry->d_name) ||
		    processes_read(entry->d_name, &one) != RUNS || one.pid == self)
			continue;
		if (!PS__VECTOR_GROW(&all->list, all->count, &all->room))
			break;
		all->list[all->count++] = one;
	}
	if (folder)
		closedir(folder);
}

static bool processes_is_in_tree(const struct tool_processes *all, pid_t pid)
{
	for (size_t index = 0; index < all->count; index++) {
		if (all->list[index].pid == pid)
			return all->list[index].is_given || all->list[index].is_below;
	}
	return false;
}

/* Marks descendants. Repeats until nothing changes, because a child may come before its parent in
 * the list. */
static void processes_find_below(struct tool_processes *all)
{
	bool is_new = true;

	while (is_new) {
		is_new = false;
		for (size_t index = 0; index < all->count; index++) {
			struct tool_process *one = &all->list[index];
			if (one->is_given || one->is_below ||
			    !processes_is_in_tree(all, one->parent))
				continue;
			one->is_below = true;
			is_new = true;
		}
	}
}

void tool_processes_create(struct tool_processes *all, const pid_t *given, size_t count)
{
	bool had_spares = processes_use_spares();

	*all = (struct tool_processes){0};
	processes_list(all);
	if (had_spares)
		tool_processes_reserve();
	for (size_t index = 0; index < all->count; index++) {
		for (size_t one = 0; one < count; one++)
			all->list[index].is_given |= all->list[index].pid == given[one];
	}
	processes_find_below(all);
}

bool tool_processes_has(const struct tool_processes *all, pid_t pid)
{
	size_t index = 0;

	while (index < all->count && all->list[index].pid != pid)
		index++;
	return index < all->count;
}

void tool_processes_clear(struct tool_processes *all)
{
	ps__os_free(all->list);
}

int tool_process_reap(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

#define END_WAIT_MS 100

/* Returns whether the process still runs. If its first thread is ending, waits up to END_WAIT_MS:
 * when a process calls exit, its threads end one after the other within a short time. */
static bool processes_await(const char *number)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct tool_process process;

	for (int waited_ms = 0; waited_ms < END_WAIT_MS; waited_ms++) {
		enum look look = processes_read(number, &process);
		if (look != RUNS || !process.is_first_ending)
			return look != ENDED;
		nanosleep(&pause, NULL);
	}
	return true;
}

bool tool_process_runs(pid_t pid)
{
	char number[16], path[32];

	snprintf(number, sizeof number, "%d", (int)pid);
	snprintf(path, sizeof path, "/proc/%s/stat", number);
	bool had_spares = processes_use_spares();
	/* True if /proc isn't mounted, or hides the process (hidepid). */
	bool is_hidden = !ps__locate_has_proc() || access(path, F_OK) != 0;
	bool runs = is_hidden ? kill(pid, 0) == 0 || errno == EPERM : processes_await(number);
	if (had_spares)
		tool_processes_reserve();
	return runs;
}

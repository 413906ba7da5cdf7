/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A control group for a command. It limits nothing. It exists so that the kernel counts the tasks
 * of the group, and no others, on each CPU.
 */
#include "tools/cgroup.h"

#include "base/os.h"
#include "locate/locate.h"
#include "tools/file.h"
#include "tools/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <perfsage.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX      "perfsage-" /* followed by perfsage's pid */
#define MOST_TRIES  200         /* an ending task stays in its group for a short time */
#define RETRY_NS    1000000
#define MOST_BYTES  65536
#define FOLDER_MODE 0755
#define MOST_OPEN   16 /* descriptors */

/* Moves a process into the group. Returns 0 or an errno. */
static int cgroup_move(const char *folder, const char *pid)
{
	char *path = tool_file_path(folder, "cgroup.procs");
	int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	int error = !path ? ENOMEM : fd < 0 ? errno : 0;

	if (fd >= 0 && write(fd, pid, strlen(pid)) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	ps__os_free(path);
	return error;
}

static int cgroup_remove_one(const char *path, const struct stat *status, int type,
                             struct FTW *place)
{
	(void)status;
	(void)place;
	if (type == FTW_DP)
		rmdir(path);
	return 0;
}

/* Removes a group and the groups that the command made inside it. The kernel refuses to remove
 * groups with tasks. Returns 0 or an errno. */
static int cgroup_remove(const char *folder)
{
	if (rmdir(folder) == 0)
		return 0;
	if (errno != EBUSY)
		return errno;
	nftw(folder, cgroup_remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	return access(folder, F_OK) == 0 ? EBUSY : 0;
}

/* Removes the groups of perfsage processes that have ended. The kernel refuses to remove groups
 * with tasks. */
static void cgroup_sweep(const char *home)
{
	DIR *list = opendir(home);

	for (const struct dirent *entry = list ? readdir(list) : NULL; entry;
	     entry = readdir(list)) {
		char *end;
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		long pid = strtol(entry->d_name + strlen(PREFIX), &end, 10);
		if (*end || pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			continue;
		char *folder = tool_file_path(home, entry->d_name);
		if (folder)
			cgroup_remove(folder);
		ps__os_free(folder);
	}
	if (list)
		closedir(list);
}

static void cgroup_forget(struct tool_cgroup *cgroup)
{
	ps__os_free(cgroup->folder);
	ps__os_free(cgroup->home);
	*cgroup = (struct tool_cgroup){.folder = NULL};
}

int tool_cgroup_create(struct tool_cgroup *cgroup, pid_t pid, char *why, size_t why_bytes)
{
	char home[PATH_MAX], number[32];

	*cgroup = (struct tool_cgroup){.folder = NULL};
	if (ps__cgroup_own(home, sizeof home) != PS_OK) {
		snprintf(why, why_bytes, "%s", ps_error_detail());
		return -1;
	}
	cgroup_sweep(home);
	snprintf(number, sizeof number, PREFIX "%d", (int)getpid());
	cgroup->home = ps__os_strdup(home);
	cgroup->folder = tool_file_path(home, number);
	if (!cgroup->home || !cgroup->folder) {
		snprintf(why, why_bytes, "out of memory");
		cgroup_forget(cgroup);
		return -1;
	}
	if (mkdir(cgroup->folder, FOLDER_MODE) < 0) {
		snprintf(why, why_bytes, "no control group can be made in %s: %s", home,
		         strerror(errno));
		cgroup_forget(cgroup);
		return -1;
	}
	snprintf(number, sizeof number, "%d", (int)pid);
	int error = cgroup_move(cgroup->folder, number);
	if (!error)
		return 0;
	snprintf(why, why_bytes, "no process can be moved to a control group in %s: %s", home,
	         strerror(error));
	tool_cgroup_destroy(cgroup);
	return -1;
}

/* Moves the group's tasks to the group that perfsage itself is in. They would have run there if no
 * group had been made for the command. */
static void cgroup_send_home(const struct tool_cgroup *cgroup)
{
	char *path = tool_file_path(cgroup->folder, "cgroup.procs");
	FILE *list = path ? fopen(path, "re") : NULL;
	char line[32];

	while (list && fgets(line, sizeof line, list)) {
		line[strcspn(line, "\n")] = '\0';
		cgroup_move(cgroup->home, line);
	}
	if (list)
		fclose(list);
	ps__os_free(path);
}

void tool_cgroup_destroy(struct tool_cgroup *cgroup)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	int error = 0;

	if (!cgroup->folder)
		return;
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		error = cgroup_remove(cgroup->folder);
		if (error != EBUSY)
			break;
		cgroup_send_home(cgroup);
		nanosleep(&pause, NULL);
	}
	if (error && error != ENOENT)
		tool_complain(
		    "the control group %s can't be taken away: %s: it counts nothing any "
		    "more; the next run with this method takes it away when its processes "
		    "have ended",
		    cgroup->folder, strerror(error));
	cgroup_forget(cgroup);
}

double tool_cgroup_cpu_s(const struct tool_cgroup *cgroup)
{
	static const char name[] = "usage_usec ";
	char text[MOST_BYTES];
	char *path = cgroup->folder ? tool_file_path(cgroup->folder, "cpu.stat") : NULL;
	ssize_t length = path ? ps__os_read_file(path, text, sizeof text) : -1;

	ps__os_free(path);
	const char *found = length > 0 ? strstr(text, name) : NULL;
	return found ? strtod(found + strlen(name), NULL) / 1e6 : (double)NAN;
}

static bool cgroup_find(const char *path, struct ps__file_id *found)
{
	struct ps__cgroup cgroup;

	if (ps__cgroup_open(path, &cgroup) != PS_OK)
		return false;
	*found = cgroup.id;
	ps__cgroup_close(&cgroup);
	return true;
}

void tool_cgroup_note(struct tool_cgroup_named *named, const char *path)
{
	*named = (struct tool_cgroup_named){.path = path};
	if (!cgroup_find(path, &named->id))
		named->path = NULL;
}

bool tool_cgroup_is_renewed(const struct tool_cgroup_named *named)
{
	struct ps__file_id found;

	return named->path && cgroup_find(named->path, &found) &&
	       (found.device != named->id.device || found.inode != named->id.inode);
}

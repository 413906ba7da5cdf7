/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing beside a file and renaming. See part.h. */
#include "tools/part.h"

#include "tools/complaint.h"
#include "tools/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX     ".perfsage-part"
#define MOST_LINKS 40 /* as the kernel has it */

static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

char *tool_part_resolve(const char *path)
{
	char at[PATH_MAX], link[PATH_MAX];
	size_t folder;

	if (strlen(path) >= sizeof at)
		return errno = ENAMETOOLONG, NULL;
	strcpy(at, path);
	for (int links = 0; links < MOST_LINKS; links++) {
		ssize_t length = readlink(at, link, sizeof link - 1);
		/* No link, or nothing. */
		if (length < 0)
			return errno == EINVAL || errno == ENOENT ? strdup(at) : NULL;
		link[length] = '\0';
		folder = link[0] == '/' ? 0 : folder_length(at);
		if (folder + (size_t)length >= sizeof at)
			return errno = ENAMETOOLONG, NULL;
		strcpy(at + folder, link);
	}
	return errno = ELOOP, NULL;
}

/* Names that would be too long for a folder lose their end. */
static char *path_beside(const char *target)
{
	size_t folder = folder_length(target);
	size_t name = strlen(target + folder);
	size_t most = NAME_MAX - strlen(SUFFIX);
	char *path = NULL;

	if (asprintf(&path, "%.*s%s", (int)(folder + (name < most ? name : most)), target, SUFFIX) < 0)
		return errno = ENOMEM, NULL;
	return path;
}

static bool is_same(int fd, const char *path)
{
	struct stat one, other;

	return fstat(fd, &one) == 0 && lstat(path, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

static int complain_busy(const char *named)
{
	tool_complain(
	    "'%s' is being written by another perfsage: give each run a file of its own; MPI ranks by sh -c "
	    "'perfsage stat -o FILE.$PMI_RANK COMMAND' (Open MPI: $OMPI_COMM_WORLD_RANK, Slurm: "
	    "$SLURM_PROCID)",
	    named);
	return -1;
}

static int complain_in_way(const char *named, const char *path, int error)
{
	tool_complain("'%s' can't be written: '%s' is in the way (%s); remove it if no perfsage is writing it", named,
	              path, strerror(error));
	return -1;
}

static int complain_folder(const char *named, int error)
{
	bool is_forbidden = error == EACCES || error == EPERM || error == EROFS;

	tool_complain("'%s' can't be written: %s%s", named, is_forbidden ? "no file can be made in its folder: " : "",
	              strerror(error));
	return -1;
}

static bool has_no_locks(int error)
{
	return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

/* Takes away what a killed run left. A run that goes on has it locked. */
static int clear_stale(const char *path, const char *named)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int result = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : complain_in_way(named, path, errno);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		/* Renamed or removed in the meantime: then it isn't that run's any more. */
		if (is_same(fd, path))
			unlink(path);
	} else {
		result = errno == EWOULDBLOCK ? complain_busy(named) : complain_in_way(named, path, EEXIST);
	}
	close(fd);
	return result;
}

/* A file that is new, and locked where the file system has locks: two runs that begin at once never get the same. */
static int create_locked(const char *path, const char *named, mode_t mode)
{
	for (;;) {
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd < 0 && errno != EEXIST)
			return complain_folder(named, errno);
		if (fd < 0) {
			if (clear_stale(path, named) < 0)
				return -1;
			continue;
		}
		bool is_locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
		int error = errno;
		/* Another run may have taken it for a killed one's, before it was locked. */
		if ((is_locked || has_no_locks(error)) && is_same(fd, path))
			return fd;
		close(fd);
		if (!is_locked && !has_no_locks(error))
			return error == EWOULDBLOCK ? complain_busy(named) : complain_in_way(named, path, error);
	}
}

/* May what stands there be written, and replaced? Not in a folder such as /tmp, where users replace their own files only. */
static int check_old(const char *target)
{
	char folder[PATH_MAX];
	struct stat own, around;

	int fd = open(target, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int result = fstat(fd, &own);
	close(fd);
	if (result < 0)
		return -1;
	snprintf(folder, sizeof folder, "%.*s.", (int)folder_length(target), target);
	if (stat(folder, &around) < 0)
		return -1;
	if (around.st_mode & S_ISVTX && geteuid() != 0 && own.st_uid != geteuid() && around.st_uid != geteuid())
		return errno = EPERM, -1;
	return 0;
}

int tool_part_create(struct tool_part *part, const char *named)
{
	struct stat old;

	*part = (struct tool_part){.fd = -1, .target = tool_part_resolve(named)};
	bool has_old = part->target && stat(part->target, &old) == 0;
	if (!part->target || (has_old && check_old(part->target) < 0) || !(part->path = path_beside(part->target))) {
		tool_complain("'%s' can't be written: %s", named, strerror(errno));
		goto destroy_part;
	}
	part->fd = create_locked(part->path, named, has_old ? (old.st_mode & 0666) | S_IWUSR : 0666);
	if (part->fd < 0)
		goto destroy_part;
	tool_ending_remove(part->path);
	return 0;
destroy_part:
	tool_part_destroy(part, true);
	return -1;
}

/* As far as it is permitted: a new owner first, as that takes set-user-ID bits away. */
static void take_over(const struct tool_part *part)
{
	struct stat old;

	if (stat(part->target, &old) < 0)
		return;
	if (fchown(part->fd, old.st_uid, old.st_gid) < 0 && fchown(part->fd, (uid_t)-1, old.st_gid) < 0)
		errno = 0;
	fchmod(part->fd, old.st_mode & 07777);
}

int tool_part_check(const struct tool_part *part)
{
	int again = dup(part->fd);

	return again < 0 ? -1 : close(again);
}

int tool_part_finish(struct tool_part *part)
{
	take_over(part);
	if (rename(part->path, part->target) < 0)
		return -1;
	tool_ending_keep(part->path);
	free(part->path);
	part->path = NULL;
	return 0;
}

void tool_part_destroy(struct tool_part *part, int is_kept)
{
	if (part->path) {
		tool_ending_keep(part->path);
		if (!is_kept)
			unlink(part->path);
	}
	if (part->fd >= 0)
		close(part->fd);
	free(part->path);
	free(part->target);
	*part = (struct tool_part){.fd = -1};
}

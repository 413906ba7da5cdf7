/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that is written beside its target. It is locked, so that only one of two runs writes
 * it. */
#include "tools/file.h"

#include "base/file_id.h"
#include "base/os.h"
#include "base/stack.h"
#include "output/csv.h"
#include "output/destination.h"
#include "tools/terminal.h"
#include "tools/watcher.h"

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

#define SUFFIX ".perfsage-part"

static int part_complain_busy(const char *named)
{
	return tool_complain("'%s' is being written by another perfsage: give each run a file of "
	                     "its own; %%r in the name is the MPI rank, as in -o FILE.%%r",
	                     named);
}

static int part_complain_in_way(const char *named, const char *path, int error)
{
	return tool_complain("'%s' can't be written: '%s' is in the way (%s); remove it if no "
	                     "perfsage is writing it",
	                     named, path, strerror(error));
}

static int part_complain_folder(const char *named, int error)
{
	bool is_forbidden = error == EACCES || error == EPERM || error == EROFS;

	return tool_complain("'%s' can't be written: %s%s", named,
	                     is_forbidden ? "no file can be made in its folder: " : "",
	                     strerror(error));
}

static bool part_has_no_locks(int error)
{
	return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

/* Removes the part that a killed run left. Fails if a run that still runs holds a lock on the part.
 * Returns 0, or -1 after a complaint. */
static int part_clear_stale(const char *path, const char *named)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int result = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : part_complain_in_way(named, path, errno);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		/* If the part was renamed or removed meanwhile, path no longer leads to it. */
		if (ps__file_is_at(fd, path))
			unlink(path);
	} else {
		result = errno == EWOULDBLOCK ? part_complain_busy(named)
		                              : part_complain_in_way(named, path, EEXIST);
	}
	close(fd);
	return result;
}

/* Creates a new file and locks it, if the file system has locks. Two runs that start at the same
 * time never get the same file. */
static int part_create_locked(const char *path, const char *named, mode_t mode)
{
	for (;;) {
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd < 0 && errno != EEXIST)
			return part_complain_folder(named, errno);
		if (fd < 0) {
			if (part_clear_stale(path, named) < 0)
				return -1;
			continue;
		}
		bool is_locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
		int error = errno;
		/* Another run may have removed the new file before it was locked, as a killed
		 * run's. */
		if ((is_locked || part_has_no_locks(error)) && ps__file_is_at(fd, path))
			return fd;
		close(fd);
		if (!is_locked && !part_has_no_locks(error))
			return error == EWOULDBLOCK ? part_complain_busy(named)
			                            : part_complain_in_way(named, path, error);
	}
}

/* Checks that the target may be written and replaced. In a folder such as /tmp users can replace
 * only their own files. */
static int part_check_old(const char *target)
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
	snprintf(folder, sizeof folder, "%.*s.", (int)ps__destination_folder_length(target),
	         target);
	if (stat(folder, &around) < 0)
		return -1;
	if (around.st_mode & S_ISVTX && geteuid() != 0 && own.st_uid != geteuid() &&
	    around.st_uid != geteuid())
		return errno = EPERM, -1;
	return 0;
}

void tool_part_destroy(struct tool_part *part, bool is_kept)
{
	if (part->path) {
		tool_ending_keep(part->path);
		if (!is_kept)
			unlink(part->path);
	}
	if (part->fd >= 0)
		close(part->fd);
	ps__os_free(part->path);
	ps__os_free(part->target);
	*part = (struct tool_part){.fd = -1};
}

int tool_part_create(struct tool_part *part, const char *named)
{
	struct stat old;
	struct ps__held held;

	*part = (struct tool_part){.fd = -1, .target = ps__destination_resolve(named)};
	bool has_old = part->target && stat(part->target, &old) == 0;
	if (!part->target || (has_old && part_check_old(part->target) < 0) ||
	    !(part->path = ps__destination_beside(part->target, SUFFIX))) {
		tool_complain("'%s' can't be written: %s", named, strerror(errno));
		goto destroy_part;
	}
	/* Signals are held until the file is registered for removal: else a signal in between would
	 * leave it behind. */
	ps__signals_hold(&held);
	part->fd = part_create_locked(part->path, named, has_old ? PS__FILE_MODE_BESIDE : 0666);
	if (part->fd >= 0)
		tool_ending_remove(part->path);
	ps__signals_release(&held);
	if (part->fd < 0)
		goto destroy_part;
	return 0;
destroy_part:
	tool_part_destroy(part, true);
	return -1;
}

bool tool_part_is_of(const struct tool_part *part, const char *named)
{
	char *target = part->fd >= 0 ? ps__destination_resolve(named) : NULL;
	char *path = target ? ps__destination_beside(target, SUFFIX) : NULL;
	bool is_same = path && ps__file_is_at(part->fd, path);

	ps__os_free(path);
	ps__os_free(target);
	return is_same;
}

int tool_part_check(const struct tool_part *part)
{
	/* Network file systems may report a full disk only at close. The lock must be held until
	 * the file is renamed, so a duplicate is closed. */
	int again = dup(part->fd);

	return again < 0 ? -1 : close(again);
}

/* True if the target hasn't changed since it was copied. */
static bool part_is_old_as_copied(const struct tool_part *part)
{
	struct stat now;

	if (stat(part->target, &now) < 0)
		return errno == ENOENT && !part->has_old;
	return part->has_old && now.st_dev == part->old.st_dev && now.st_ino == part->old.st_ino &&
	       now.st_size == part->old.st_size && now.st_mtim.tv_sec == part->old.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == part->old.st_mtim.tv_nsec;
}

int tool_part_finish(struct tool_part *part)
{
	part->is_overtaken = part->appends && !part_is_old_as_copied(part);
	if (part->is_overtaken)
		return errno = EBUSY, -1;
	int error = ps__destination_put_in_place(part->fd, part->path, part->target);
	if (error)
		return errno = error, -1;
	tool_ending_keep(part->path);
	ps__os_free(part->path);
	part->path = NULL;
	return 0;
}

static int part_copy(int from, int to)
{
	char bytes[65536];
	ssize_t got;

	while ((got = read(from, bytes, sizeof bytes)) != 0) {
		if (got < 0 && errno != EINTR)
			return -1;
		int error = got > 0 ? ps__destination_write_all(to, bytes, (size_t)got) : 0;
		if (error)
			return errno = error, -1;
	}
	return 0;
}

/* Ends the last line of the copy, if needed, so that appended text begins on a new line. */
static int part_end_line(const struct tool_part *part, int from)
{
	char last = '\n';

	if (part->old.st_size > 0 && pread(from, &last, 1, part->old.st_size - 1) < 0)
		return -1;
	return last == '\n' || write(part->fd, "\n", 1) == 1 ? 0 : -1;
}

char *tool_part_read_heading(const struct tool_part *part)
{
	FILE *stream = fopen(part->target, "re");
	char *heading = stream ? ps__csv_read_heading(stream) : NULL;

	if (stream)
		fclose(stream);
	return heading;
}

int tool_part_append(struct tool_part *part, const char *named)
{
	part->appends = true;
	int fd = open(part->target, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	part->has_old = fd >= 0 && fstat(fd, &part->old) == 0;
	int result = part->has_old ? part_copy(fd, part->fd) : -1;
	if (result == 0)
		result = part_end_line(part, fd);
	if (result < 0)
		tool_complain("'%s' can't be appended to, as it can't be copied: %s", named,
		              strerror(errno));
	if (fd >= 0)
		close(fd);
	return result;
}

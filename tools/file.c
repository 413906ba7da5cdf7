/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear whole, and those that are written as it goes. */
#include "tools/file.h"

#include "tools/terminal.h"
#include "tools/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX     ".perfsage-part"
#define MOST_LINKS 40 /* as the kernel has it */

static size_t file_folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The end of a chain of symbolic links; the caller frees it. NULL with
 * errno. */
static char *part_resolve(const char *path)
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
		folder = link[0] == '/' ? 0 : file_folder_length(at);
		if (folder + (size_t)length >= sizeof at)
			return errno = ENAMETOOLONG, NULL;
		strcpy(at + folder, link);
	}
	return errno = ELOOP, NULL;
}

/* Names that would be too long for a folder lose their end. */
static char *file_path_beside(const char *target)
{
	size_t folder = file_folder_length(target);
	size_t name = strlen(target + folder);
	size_t most = NAME_MAX - strlen(SUFFIX);
	char *path = NULL;

	if (asprintf(&path, "%.*s%s", (int)(folder + (name < most ? name : most)), target, SUFFIX) <
	    0)
		return errno = ENOMEM, NULL;
	return path;
}

static bool file_is_same(int fd, const char *path)
{
	struct stat one, other;

	return fstat(fd, &one) == 0 && lstat(path, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

static int file_complain_busy(const char *named)
{
	tool_complain("'%s' is being written by another perfsage: give each run a file of its own; "
	              "MPI ranks by sh -c 'perfsage stat -o FILE.$PMI_RANK COMMAND' (Open MPI: "
	              "$OMPI_COMM_WORLD_RANK, Slurm: $SLURM_PROCID)",
	              named);
	return -1;
}

static int file_complain_in_way(const char *named, const char *path, int error)
{
	tool_complain("'%s' can't be written: '%s' is in the way (%s); remove it if no perfsage is "
	              "writing it",
	              named, path, strerror(error));
	return -1;
}

static int file_complain_folder(const char *named, int error)
{
	bool is_forbidden = error == EACCES || error == EPERM || error == EROFS;

	tool_complain("'%s' can't be written: %s%s", named,
	              is_forbidden ? "no file can be made in its folder: " : "", strerror(error));
	return -1;
}

static bool file_has_no_locks(int error)
{
	return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

/* Takes away what a killed run left. A run that goes on has it locked. */
static int file_clear_stale(const char *path, const char *named)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int result = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : file_complain_in_way(named, path, errno);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		/* Renamed or removed in the meantime: then it isn't that run's
		 * any more. */
		if (file_is_same(fd, path))
			unlink(path);
	} else {
		result = errno == EWOULDBLOCK ? file_complain_busy(named)
		                              : file_complain_in_way(named, path, EEXIST);
	}
	close(fd);
	return result;
}

/* A file that is new, and locked where the file system has locks: two runs that
 * begin at once never get the same. */
static int file_create_locked(const char *path, const char *named, mode_t mode)
{
	for (;;) {
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd < 0 && errno != EEXIST)
			return file_complain_folder(named, errno);
		if (fd < 0) {
			if (file_clear_stale(path, named) < 0)
				return -1;
			continue;
		}
		bool is_locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
		int error = errno;
		/* Another run may have taken it for a killed one's, before it
		 * was locked. */
		if ((is_locked || file_has_no_locks(error)) && file_is_same(fd, path))
			return fd;
		close(fd);
		if (!is_locked && !file_has_no_locks(error))
			return error == EWOULDBLOCK ? file_complain_busy(named)
			                            : file_complain_in_way(named, path, error);
	}
}

/* May what stands there be written, and replaced? Not in a folder such as /tmp,
 * where users replace their own files only. */
static int file_check_old(const char *target)
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
	snprintf(folder, sizeof folder, "%.*s.", (int)file_folder_length(target), target);
	if (stat(folder, &around) < 0)
		return -1;
	if (around.st_mode & S_ISVTX && geteuid() != 0 && own.st_uid != geteuid() &&
	    around.st_uid != geteuid())
		return errno = EPERM, -1;
	return 0;
}

/* Releases all of it; takes the file away unless it was renamed or is_kept. */
static void part_destroy(struct tool_part *part, bool is_kept)
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

/*
 * Begins one in the place of `named`. What stands there must be a regular file
 * that may be written, or nothing. -1 after a complaint: also where another
 * perfsage is writing it. What a killed run left of its own is taken away.
 */
static int part_create(struct tool_part *part, const char *named)
{
	struct stat old;

	*part = (struct tool_part){.fd = -1, .target = part_resolve(named)};
	bool has_old = part->target && stat(part->target, &old) == 0;
	if (!part->target || (has_old && file_check_old(part->target) < 0) ||
	    !(part->path = file_path_beside(part->target))) {
		tool_complain("'%s' can't be written: %s", named, strerror(errno));
		goto destroy_part;
	}
	part->fd =
	    file_create_locked(part->path, named, has_old ? (old.st_mode & 0666) | S_IWUSR : 0666);
	if (part->fd < 0)
		goto destroy_part;
	tool_ending_remove(part->path);
	return 0;
destroy_part:
	part_destroy(part, true);
	return -1;
}

/* As far as it is permitted: a new owner first, as that takes set-user-ID bits
 * away. */
static void file_take_over(const struct tool_part *part)
{
	struct stat old;

	if (stat(part->target, &old) < 0)
		return;
	if (fchown(part->fd, old.st_uid, old.st_gid) < 0 &&
	    fchown(part->fd, (uid_t)-1, old.st_gid) < 0)
		errno = 0;
	fchmod(part->fd, old.st_mode & 07777);
}

/*
 * Has all that was written arrived? -1 with errno. Network file systems tell a
 * full disk when a file is closed, and the lock must be held until it is
 * renamed: so this closes a copy of the descriptor.
 */
static int part_check(const struct tool_part *part)
{
	int again = dup(part->fd);

	return again < 0 ? -1 : close(again);
}

/* Puts it in its place, with the permissions and the owner of what was there;
 * -1 with errno if that failed. */
static int part_finish(struct tool_part *part)
{
	file_take_over(part);
	if (rename(part->path, part->target) < 0)
		return -1;
	tool_ending_keep(part->path);
	free(part->path);
	part->path = NULL;
	return 0;
}

/* A terminal that takes any bytes may not take many. */
#define TERMINAL_BYTES 256

static int file_complain(const struct tool_file *file, int error)
{
	tool_complain("'%s' can't be written: %s", file->name, strerror(error));
	return -1;
}

/* For fopencookie: returns the bytes written; less than all is an error. */
static ssize_t file_write_all(void *cookie, const char *bytes, size_t size)
{
	struct tool_file *file = cookie;
	size_t done = 0;

	/* A failed write is not tried again, as a second one might block. */
	while (done < size && !file->error) {
		size_t some =
		    file->at_once && size - done > file->at_once ? file->at_once : size - done;
		if (file->at_once && !tool_watcher_until(file->watcher, file->fd, POLLOUT)) {
			file->error = EINTR;
			break;
		}
		ssize_t put = write(file->fd, bytes + done, some);
		if (put < 0 && errno != EINTR && errno != EAGAIN)
			file->error = errno;
		done += put > 0 ? (size_t)put : 0;
	}
	errno = file->error;
	return (ssize_t)done;
}

static int file_close_own(void *cookie)
{
	struct tool_file *file = cookie;

	return file->is_given || file->part.fd >= 0 ? 0 : close(file->fd);
}

/* Whatever file->fd is. -1 after a complaint; the descriptor is then still
 * open. */
static int file_make_stream(struct tool_file *file)
{
	const cookie_io_functions_t functions = {.write = file_write_all, .close = file_close_own};
	struct stat what;

	if (fstat(file->fd, &what) < 0)
		return file_complain(file, errno);
	if (!S_ISREG(what.st_mode))
		file->at_once = isatty(file->fd) ? TERMINAL_BYTES : PIPE_BUF;
	file->keeps_its_end = file->is_given || file->part.fd >= 0 || !S_ISREG(what.st_mode);
	file->stream = fopencookie(file, "w", functions);
	return file->stream ? 0 : file_complain(file, errno);
}

int tool_file_take(struct tool_file *file, int fd, const char *name, struct tool_watcher *watcher)
{
	*file = (struct tool_file){
	    .name = name, .fd = fd, .watcher = watcher, .is_given = true, .part.fd = -1};
	int flags = fcntl(fd, F_GETFD);

	/* perfsage's own descriptors aren't for others, nor what main.c puts in
	 * the place of closed ones. */
	if (flags < 0 || flags & FD_CLOEXEC || (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return file_complain(file, EBADF);
	return file_make_stream(file);
}

/* The number of a descriptor that perfsage was given, if the name means one:
 * opening it would begin a file anew. -1: none. */
static int file_given_descriptor(const char *name)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

	if (strcmp(name, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(name, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t index = 0; index < sizeof folders / sizeof folders[0]; index++) {
		size_t length = strlen(folders[index]);
		size_t digits = strncmp(name, folders[index], length) == 0
		                    ? strspn(name + length, "0123456789")
		                    : 0;
		if (digits > 0 && digits < 10 && !name[length + digits])
			return atoi(name + length);
	}
	return -1;
}

/* A link of /proc leads to an open file, which its name may not lead to. */
static bool file_is_replaced(const char *name, bool exists, const struct stat *what)
{
	if (exists && !S_ISREG(what->st_mode))
		return false;
	char *target = part_resolve(name);
	bool is_in_proc = target && strncmp(target, "/proc/", strlen("/proc/")) == 0;
	free(target);
	return !is_in_proc;
}

static int file_open_part(struct tool_file *file)
{
	if (part_create(&file->part, file->name) < 0)
		return -1;
	file->fd = file->part.fd;
	if (file_make_stream(file) == 0)
		return 0;
	part_destroy(&file->part, false);
	return -1;
}

int tool_file_open(struct tool_file *file, const char *name, struct tool_watcher *watcher)
{
	int given = file_given_descriptor(name);
	struct stat what;

	if (given >= 0)
		return tool_file_take(file, given, name, watcher);
	*file = (struct tool_file){.name = name, .fd = -1, .watcher = watcher, .part.fd = -1};
	bool exists = stat(name, &what) == 0;
	if (!exists && errno != ENOENT)
		return file_complain(file, errno);
	if (exists && S_ISDIR(what.st_mode))
		return file_complain(file, EISDIR);
	if (file_is_replaced(name, exists, &what))
		return file_open_part(file);
	/* This waits for the reader of a FIFO: it is opened once, as closing it
	 * would send its reader away. */
	file->fd = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (file->fd < 0)
		return file_complain(file, errno);
	if (file_make_stream(file) == 0)
		return 0;
	close(file->fd);
	return -1;
}

void tool_file_begin(struct tool_file *file)
{
	if (!file->keeps_its_end && ftruncate(file->fd, 0) < 0)
		errno = 0;
}

static void file_complain_unfinished(const struct tool_file *file, int error, bool keeps_part)
{
	if (file->part.path && keeps_part)
		tool_complain("'%s' can't be written: %s; what was written is in '%s'", file->name,
		              strerror(error), file->part.path);
	else
		file_complain(file, error);
}

int tool_file_finish(struct tool_file *file, bool keeps_part)
{
	fflush(file->stream);
	int error = file->error;
	if (error == 0 && file->part.path && part_check(&file->part) < 0) {
		error = errno;
	} else if (error == 0 && file->part.path && part_finish(&file->part) < 0) {
		/* All is there, if not in its place. */
		error = errno;
		keeps_part = true;
	}
	if (fclose(file->stream) != 0 && error == 0)
		error = errno;
	file->stream = NULL;
	if (error)
		file_complain_unfinished(file, error, keeps_part);
	part_destroy(&file->part, keeps_part);
	return error ? -1 : 0;
}

void tool_file_discard(struct tool_file *file)
{
	if (!file->stream)
		return;
	fclose(file->stream);
	file->stream = NULL;
	part_destroy(&file->part, false);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Outputs of perfsage stat. See file.h. */
#include "tools/file.h"

#include "tools/complaint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A terminal that takes any bytes may not take many. */
#define TERMINAL_BYTES 256

static int complain(const struct tool_file *file, int error)
{
	tool_complain("'%s' can't be written: %s", file->name, strerror(error));
	return -1;
}

/* Of fopencookie: how much was written; less than all is an error to it. */
static ssize_t write_all(void *cookie, const char *bytes, size_t size)
{
	struct tool_file *file = cookie;
	size_t done = 0;

	/* What has failed once is not tried again: it could be waited for. */
	while (done < size && !file->error) {
		size_t some = file->at_once && size - done > file->at_once ? file->at_once : size - done;
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

static int close_own(void *cookie)
{
	struct tool_file *file = cookie;

	return file->is_given || file->part.fd >= 0 ? 0 : close(file->fd);
}

/* Whatever file->fd is. -1 after a complaint; the descriptor is then still open. */
static int make_stream(struct tool_file *file)
{
	const cookie_io_functions_t functions = {.write = write_all, .close = close_own};
	struct stat what;

	if (fstat(file->fd, &what) < 0)
		return complain(file, errno);
	if (!S_ISREG(what.st_mode))
		file->at_once = isatty(file->fd) ? TERMINAL_BYTES : PIPE_BUF;
	file->keeps_its_end = file->is_given || file->part.fd >= 0 || !S_ISREG(what.st_mode);
	file->stream = fopencookie(file, "w", functions);
	return file->stream ? 0 : complain(file, errno);
}

int tool_file_take(struct tool_file *file, int fd, const char *name, struct tool_watcher *watcher)
{
	*file = (struct tool_file){.name = name, .fd = fd, .watcher = watcher, .is_given = true, .part.fd = -1};
	int flags = fcntl(fd, F_GETFD);

	/* perfsage's own descriptors aren't for others, nor what main.c puts in the place of closed ones. */
	if (flags < 0 || flags & FD_CLOEXEC || (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return complain(file, EBADF);
	return make_stream(file);
}

/* The number of a descriptor that perfsage was given, if the name means one: opening it would begin a file anew. -1: none. */
static int given_descriptor(const char *name)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

	if (strcmp(name, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(name, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t index = 0; index < sizeof folders / sizeof folders[0]; index++) {
		size_t length = strlen(folders[index]);
		size_t digits = strncmp(name, folders[index], length) == 0 ? strspn(name + length, "0123456789") : 0;
		if (digits > 0 && digits < 10 && !name[length + digits])
			return atoi(name + length);
	}
	return -1;
}

/* A link of /proc leads to an open file, which its name may not lead to. */
static bool is_replaced(const char *name, bool exists, const struct stat *what)
{
	if (exists && !S_ISREG(what->st_mode))
		return false;
	char *target = tool_part_resolve(name);
	bool is_in_proc = target && strncmp(target, "/proc/", strlen("/proc/")) == 0;
	free(target);
	return !is_in_proc;
}

static int open_part(struct tool_file *file)
{
	if (tool_part_create(&file->part, file->name) < 0)
		return -1;
	file->fd = file->part.fd;
	if (make_stream(file) == 0)
		return 0;
	tool_part_destroy(&file->part, false);
	return -1;
}

int tool_file_open(struct tool_file *file, const char *name, struct tool_watcher *watcher)
{
	int given = given_descriptor(name);
	struct stat what;

	if (given >= 0)
		return tool_file_take(file, given, name, watcher);
	*file = (struct tool_file){.name = name, .fd = -1, .watcher = watcher, .part.fd = -1};
	bool exists = stat(name, &what) == 0;
	if (!exists && errno != ENOENT)
		return complain(file, errno);
	if (exists && S_ISDIR(what.st_mode))
		return complain(file, EISDIR);
	if (is_replaced(name, exists, &what))
		return open_part(file);
	/* This waits for the reader of a FIFO: it is opened once, as closing it would send its reader away. */
	file->fd = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (file->fd < 0)
		return complain(file, errno);
	if (make_stream(file) == 0)
		return 0;
	close(file->fd);
	return -1;
}

void tool_file_begin(struct tool_file *file)
{
	if (!file->keeps_its_end && ftruncate(file->fd, 0) < 0)
		errno = 0;
}

static void complain_unfinished(const struct tool_file *file, int error, bool keeps_part)
{
	if (file->part.path && keeps_part)
		tool_complain("'%s' can't be written: %s; what was written is in '%s'", file->name, strerror(error),
		              file->part.path);
	else
		complain(file, error);
}

int tool_file_finish(struct tool_file *file, bool keeps_part)
{
	fflush(file->stream);
	int error = file->error;
	if (error == 0 && file->part.path && tool_part_check(&file->part) < 0) {
		error = errno;
	} else if (error == 0 && file->part.path && tool_part_finish(&file->part) < 0) {
		/* All is there, if not in its place. */
		error = errno;
		keeps_part = true;
	}
	if (fclose(file->stream) != 0 && error == 0)
		error = errno;
	file->stream = NULL;
	if (error)
		complain_unfinished(file, error, keeps_part);
	tool_part_destroy(&file->part, keeps_part);
	return error ? -1 : 0;
}

void tool_file_discard(struct tool_file *file)
{
	if (!file->stream)
		return;
	fclose(file->stream);
	file->stream = NULL;
	tool_part_destroy(&file->part, false);
}

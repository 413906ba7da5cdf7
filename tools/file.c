/* SPDX-License-Identifier: BSD-3-Clause */
/* Output files: those that appear complete, and those that are written at once. */
#include "tools/file.h"

#include "base/os.h"
#include "output/destination.h"
#include "output/rank.h"
#include "tools/terminal.h"
#include "tools/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <perfsage/error.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes per write: a terminal may block on more, even if poll reports room. */
#define TERMINAL_BYTES 256

static int file_complain(const struct tool_file *file, int error)
{
	return tool_complain("'%s' can't be written: %s", file->name, strerror(error));
}

/* Returns the number of bytes that can be written without blocking after poll reported room. For an
 * empty pipe this is the size of the pipe. */
static size_t file_room(const struct tool_file *file)
{
	int left = 0;
	int size = file->is_pipe ? fcntl(file->fd, F_GETPIPE_SZ) : -1;

	if (size > 0 && ioctl(file->fd, FIONREAD, &left) == 0 && left == 0)
		return (size_t)size;
	return file->at_once;
}

/* Writes all bytes. A failure is kept in file->error. */
static void file_write_all(struct tool_file *file, const char *bytes, size_t size)
{
	size_t done = 0;

	/* Don't write again after a failure: the write might block. */
	while (done < size && !file->error) {
		if (file->at_once && !tool_watcher_until(file->watcher, file->fd, POLLOUT)) {
			file->error = EINTR;
			break;
		}
		/* Ask for the room before each write, because the reader may have emptied the pipe
		 * meanwhile. */
		size_t room = file->at_once ? file_room(file) : size - done;
		ssize_t put =
		    write(file->fd, bytes + done, room < size - done ? room : size - done);
		if (put < 0 && errno != EINTR && errno != EAGAIN)
			file->error = errno;
		done += put > 0 ? (size_t)put : 0;
	}
}

/* Returns the length of the heading at the beginning of the new text if the file's last heading is
 * the same, so that the rows continue below the old ones; else 0. An old heading without a line end
 * is unfinished, so it doesn't count. */
static size_t file_skip_heading(struct tool_file *file)
{
	size_t length = file->heading ? strlen(file->heading) : 0;
	bool is_same = length && file->heading[length - 1] == '\n' && file->length >= length &&
	               memcmp(file->text, file->heading, length) == 0;

	free(file->heading);
	file->heading = NULL;
	return is_same ? length : 0;
}

int tool_file_flush(struct tool_file *file)
{
	if (fflush(file->stream) != 0 && !file->error)
		file->error = ENOMEM;
	if (file->length && !file->error) {
		size_t skipped = file_skip_heading(file);
		bool is_shared = file->part.fd < 0;
		if (is_shared)
			ps__destination_lock(file->fd, F_WRLCK);
		file_write_all(file, file->text + skipped, file->length - skipped);
		if (is_shared)
			ps__destination_lock(file->fd, F_UNLCK);
	}
	rewind(file->stream);
	file->length = 0;
	return file->error ? -1 : 0;
}

/* Closes the stream, and the descriptor if tool_file opened it. Returns -1 with errno. */
static int file_close(struct tool_file *file)
{
	bool is_own = !file->is_given && file->part.fd < 0;

	fclose(file->stream);
	free(file->text);
	free(file->heading);
	file->stream = NULL;
	file->text = NULL;
	file->heading = NULL;
	return is_own ? close(file->fd) : 0;
}

/* Prepares to write to file->fd, whatever kind of file it is. On failure returns -1 after a
 * complaint, and leaves the descriptor open. */
static int file_make_stream(struct tool_file *file)
{
	struct stat what;

	if (fstat(file->fd, &what) < 0)
		return file_complain(file, errno);
	if (!S_ISREG(what.st_mode))
		file->at_once = isatty(file->fd) ? TERMINAL_BYTES : PIPE_BUF;
	file->keeps_its_end =
	    file->is_given || file->appends || file->part.fd >= 0 || !S_ISREG(what.st_mode);
	file->is_pipe = S_ISFIFO(what.st_mode);
	file->stream = open_memstream(&file->text, &file->length);
	return file->stream ? 0 : file_complain(file, errno);
}

int tool_file_take(struct tool_file *file, int fd, const char *name, struct tool_watcher *watcher)
{
	*file = (struct tool_file){
	    .name = name, .fd = fd, .watcher = watcher, .is_given = true, .part.fd = -1};
	int flags = fcntl(fd, F_GETFD);

	/* Refuse perfsage's own descriptors, and those that main.c opened in place of closed
	 * ones. */
	if (flags < 0 || flags & FD_CLOEXEC || (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return file_complain(file, EBADF);
	return file_make_stream(file);
}

/* Returns the inherited descriptor that the name stands for, or -1. Opening it by its name would
 * truncate the file. */
static int file_given_descriptor(const char *name)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

	if (!name || strcmp(name, "/dev/stderr") == 0)
		return STDERR_FILENO;
	if (strcmp(name, "-") == 0 || strcmp(name, "/dev/stdout") == 0)
		return STDOUT_FILENO;
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

bool tool_file_is_of(const struct tool_file *file, const char *name)
{
	int given = file_given_descriptor(name);

	if (file->is_given || given >= 0)
		return file->is_given && file->fd == given;
	return tool_part_is_of(&file->part, name);
}

/* True if a part replaces the file at the end. False for a link in /proc: the link leads to an open
 * file, but the path that it shows may belong to another file. */
static bool file_is_replaced(const char *name, bool exists, const struct stat *what)
{
	if (exists && !S_ISREG(what->st_mode))
		return false;
	char *target = ps__destination_resolve(name);
	bool is_in_proc = target && strncmp(target, "/proc/", strlen("/proc/")) == 0;
	ps__os_free(target);
	return !is_in_proc;
}

static int file_open_part(struct tool_file *file)
{
	struct tool_part *part = &file->part;

	if (tool_part_create(part, file->name) < 0)
		return -1;
	file->fd = part->fd;
	if ((!file->appends || tool_part_append(part, file->name) == 0) &&
	    file_make_stream(file) == 0) {
		file->heading = file->has_heading ? tool_part_read_heading(part) : NULL;
		return 0;
	}
	tool_part_destroy(part, false);
	return -1;
}

/* Opens the file file->name. */
static int file_open(struct tool_file *file)
{
	const char *name = file->name;
	struct stat what;

	if (!*name)
		return tool_complain("the name of the file to write is empty");
	bool exists = stat(name, &what) == 0;
	if (!exists && errno != ENOENT)
		return file_complain(file, errno);
	if (exists && S_ISDIR(what.st_mode))
		return file_complain(file, EISDIR);
	if (file_is_replaced(name, exists, &what))
		return file_open_part(file);
	/* Opening a FIFO blocks until the FIFO has a reader. It is opened only once, because
	 * closing it would end the reader. */
	file->fd = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC | (file->appends ? O_APPEND : 0));
	if (file->fd < 0)
		return file_complain(file, errno);
	if (file_make_stream(file) == 0)
		return 0;
	close(file->fd);
	return -1;
}

/* Uses the inherited descriptor that the name stands for. Returns false if it stands for none. */
static bool file_is_given(struct tool_file *file, const char *name, struct tool_watcher *watcher,
                          int *result)
{
	int given = file_given_descriptor(name);

	if (given < 0)
		return false;
	if (!name)
		name = "stderr";
	*result = tool_file_take(file, given, strcmp(name, "-") == 0 ? "stdout" : name, watcher);
	return true;
}

static int file_open_named(struct tool_file *file, struct tool_file named)
{
	int result;

	if (file_is_given(file, named.name, named.watcher, &result))
		return result;
	named.fd = named.part.fd = -1;
	*file = named;
	return file_open(file);
}

int tool_file_open(struct tool_file *file, const char *name, struct tool_watcher *watcher)
{
	return file_open_named(file, (struct tool_file){.name = name, .watcher = watcher});
}

int tool_file_append(struct tool_file *file, const char *name, bool has_heading,
                     struct tool_watcher *watcher)
{
	return file_open_named(file, (struct tool_file){.name = name,
	                                                .watcher = watcher,
	                                                .appends = true,
	                                                .has_heading = has_heading});
}

void tool_file_begin(struct tool_file *file)
{
	if (!file->keeps_its_end && ftruncate(file->fd, 0) < 0)
		errno = 0;
}

static void file_complain_unfinished(const struct tool_file *file, int error, bool keeps_part)
{
	const char *why =
	    file->part.is_overtaken ? "something else wrote to it meanwhile" : strerror(error);

	if (file->part.path && keeps_part)
		tool_complain("'%s' can't be written: %s; what was written is in '%s'", file->name,
		              why, file->part.path);
	else
		file_complain(file, error);
}

int tool_file_finish(struct tool_file *file, bool keeps_part)
{
	tool_file_flush(file);
	int error = file->error;
	if (error == 0 && file->part.path && tool_part_check(&file->part) < 0) {
		error = errno;
	} else if (error == 0 && file->part.path && tool_part_finish(&file->part) < 0) {
		/* Everything is written, but not renamed: keep the part. */
		error = errno;
		keeps_part = true;
	}
	if (file_close(file) < 0 && error == 0)
		error = errno;
	if (error)
		file_complain_unfinished(file, error, keeps_part);
	tool_part_destroy(&file->part, keeps_part);
	return error ? -1 : 0;
}

void tool_file_discard(struct tool_file *file)
{
	if (!file->stream)
		return;
	file_close(file);
	tool_part_destroy(&file->part, false);
}

int tool_file_take_name(char **file, const char *option, const char *pattern)
{
	ps__os_free(*file);
	*file = NULL;
	if (ps__rank_expand(option, pattern, file) == PS_OK)
		return 0;
	return tool_complain_detail();
}

char *tool_file_path(const char *folder, const char *name)
{
	size_t bytes = strlen(folder) + strlen(name) + 2;
	char *path = ps__os_calloc(bytes, 1);

	if (!path)
		return errno = ENOMEM, NULL;
	snprintf(path, bytes, "%s/%s", folder, name);
	return path;
}

bool tool_file_has_suffix(const char *name, const char *suffix)
{
	size_t length = name ? strlen(name) : 0, end = strlen(suffix);

	return length > end && strcasecmp(name + length - end, suffix) == 0;
}

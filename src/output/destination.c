/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes text to a path or a descriptor, for languages without FILE *. These files belong to the
 * user, as the streams of buffer.c do, so they don't go through the OS seam.
 */
#include "output/destination.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/file_id.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Number of names to try. A name may be used by another writer of the same path, or left by a
 * killed one. */
#define MOST_NAMES 1000
#define MOST_LINKS 40 /* the kernel's limit */
#define NEW_MODE   0666

/* A new file that is written beside the one that it will replace. */
struct part {
	const char *named; /* the file's path, as the caller gave it */
	char *target;
	char *path;
	int fd;
	bool has_old;
};

/* Wait for up to 30 seconds: the other writer may write into a pipe with a slow reader. */
#define LOCK_TRIES    3000
#define LOCK_PAUSE_NS 10000000

void ps__destination_lock(int fd, short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};

	for (int tries = 0; tries < LOCK_TRIES; tries++) {
		if (fcntl(fd, F_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES))
			return;
		ps__cancel_free_sleep(LOCK_PAUSE_NS);
	}
}

int ps__destination_write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t written = write(fd, text, length);
		if (written < 0 && errno == EAGAIN) {
			struct pollfd wait = {.fd = fd, .events = POLLOUT};
			poll(&wait, 1, -1);
		} else if (written < 0 && errno != EINTR) {
			return errno;
		} else if (written > 0) {
			text += written;
			length -= (size_t)written;
		}
	}
	return 0;
}

static int destination_fail(const char *path, int error)
{
	return ps__fail(error == ENOMEM ? PS_ENOMEM : PS_ESYS, "'%s' can't be written: %s", path,
	                strerror(error));
}

size_t ps__destination_folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

char *ps__destination_resolve(const char *path)
{
	char at[PATH_MAX], link[PATH_MAX];
	size_t folder;

	if (strlen(path) >= sizeof at)
		return errno = ENAMETOOLONG, NULL;
	strcpy(at, path);
	for (int links = 0; links < MOST_LINKS; links++) {
		ssize_t length = readlink(at, link, sizeof link - 1);
		/* EINVAL: not a link. ENOENT: no such file. */
		if (length < 0)
			return errno == EINVAL || errno == ENOENT ? ps__os_strdup(at) : NULL;
		link[length] = '\0';
		folder = link[0] == '/' ? 0 : ps__destination_folder_length(at);
		if (folder + (size_t)length >= sizeof at)
			return errno = ENAMETOOLONG, NULL;
		strcpy(at + folder, link);
	}
	return errno = ELOOP, NULL;
}

char *ps__destination_beside(const char *target, const char *suffix)
{
	size_t folder = ps__destination_folder_length(target), added = strlen(suffix);
	size_t name = strlen(target + folder), most = NAME_MAX - added;
	size_t kept = folder + (name < most ? name : most);
	char *path = ps__os_calloc(kept + added + 1, 1);

	if (!path)
		return errno = ENOMEM, NULL;
	memcpy(path, target, kept);
	strcpy(path + kept, suffix);
	return path;
}

int ps__destination_put_in_place(int fd, const char *path, const char *target)
{
	struct stat old;

	if (stat(target, &old) == 0 && !ps__file_take_over(fd, &old))
		return errno;
	return rename(path, target) < 0 ? errno : 0;
}

/* Finds the file at the end of symbolic links, and keeps the links. An existing file must be a
 * regular file that may be written. */
static int destination_look_at(struct part *part)
{
	struct stat old;

	part->target = ps__destination_resolve(part->named);
	if (!part->target)
		return destination_fail(part->named, errno);
	part->has_old = stat(part->target, &old) == 0;
	if (!part->has_old)
		return PS_OK;
	if (!S_ISREG(old.st_mode))
		return ps__fail(PS_ESYS,
		                "'%s' can't be replaced, as it is no regular file: open it, and "
		                "give its descriptor",
		                part->named);
	return access(part->target, W_OK) == 0 ? PS_OK : destination_fail(part->named, errno);
}

/* Returns 0 or an errno. */
static int destination_try_name(struct part *part, int number)
{
	char suffix[64];

	snprintf(suffix, sizeof suffix, ".perfsage-part-%d-%d", (int)getpid(), number);
	part->path = ps__destination_beside(part->target, suffix);
	if (!part->path)
		return errno;
	part->fd = open(part->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	                part->has_old ? PS__FILE_MODE_BESIDE : NEW_MODE);
	if (part->fd >= 0)
		return 0;
	int error = errno;
	ps__os_free(part->path);
	part->path = NULL;
	return error;
}

static int destination_create(struct part *part)
{
	int code = destination_look_at(part), error = EEXIST;

	if (code != PS_OK)
		return code;
	for (int number = 0; error == EEXIST && number < MOST_NAMES; number++)
		error = destination_try_name(part, number);
	return error ? destination_fail(part->named, error) : PS_OK;
}

/* Writes, syncs and renames the file. Without fsync, a full disk of a network file system could
 * stay unnoticed. Returns 0 or an errno. */
static int destination_fill(const struct part *part, const struct ps__buffer *buffer)
{
	if (!ps__file_may_end_at(buffer->length))
		return EFBIG;
	int error = ps__destination_write_all(part->fd, buffer->text, buffer->length);
	if (error)
		return error;
	if (fsync(part->fd) < 0 && errno != EINVAL)
		return errno;
	return ps__destination_put_in_place(part->fd, part->path, part->target);
}

static int destination_write_file(const char *path, const struct ps__buffer *buffer)
{
	struct part part = {.named = path, .fd = -1};
	int code = destination_create(&part);

	if (code == PS_OK) {
		int error = destination_fill(&part, buffer);
		close(part.fd);
		if (error)
			unlink(part.path);
		code = error ? destination_fail(path, error) : PS_OK;
	}
	ps__os_free(part.path);
	ps__os_free(part.target);
	return code;
}

static int destination_write_fd(int fd, const struct ps__buffer *buffer)
{
	int error = ps__destination_write_all(fd, buffer->text, buffer->length);

	return error ? ps__fail(PS_ESYS, "descriptor %d can't be written: %s", fd, strerror(error))
	             : PS_OK;
}

int ps__destination_write(const struct ps__destination *to, struct ps__buffer *buffer, int made)
{
	if (made != PS_OK) {
		ps__buffer_clear(buffer);
		return made;
	}
	if (to->stream)
		return ps__buffer_finish(buffer, to->stream);
	int cancel = ps__cancel_hold();
	int code = buffer->failed ? ps__fail_memory("the printed text")
	           : to->path     ? destination_write_file(to->path, buffer)
	                          : destination_write_fd(to->fd, buffer);
	ps__buffer_clear(buffer);
	ps__cancel_release(cancel);
	return code;
}

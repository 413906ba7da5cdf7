/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a log: creates it, fills it and makes it longer. The file belongs to the user, so
 * these calls don't go through the OS seam. */
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "snapshot/log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEW_MODE     0666
#define FLAGS_OF_NEW (O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
#define BESIDE_TRIES 100
#define MOST_PIECES  64

static int file_fail(const char *path, int error)
{
	if (error == EMFILE || error == ENFILE)
		return ps__fail(PS_ECOUNT,
		                "the log '%s' can't be made: %s: " PS__ADVICE_DESCRIPTORS, path,
		                strerror(error));
	return ps__fail(PS_ESYS, "the log '%s' can't be written: %s", path, strerror(error));
}

/* Checks whether bytes up to this end may be written: PS_OK, PS_ECLOST or PS_ESYS. Each call that
 * writes to a block or makes one begins with this check: another file that the program opened under
 * the descriptor's number must not be written to. */
static int file_check(const struct ps__log_file *file, size_t end)
{
	if (!ps__file_id_is(file->fd, &file->id))
		return ps__fail(PS_ECLOST,
		                "the program has closed the descriptor of the log '%s': what needs "
		                "another block of the file is lost; create logs after that",
		                file->path);
	return ps__file_may_end_at(end) ? PS_OK : file_fail(file->path, EFBIG);
}

static bool file_is_log(int fd)
{
	char magic[sizeof PS__LOG_MAGIC - 1];
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
	       memcmp(magic, PS__LOG_MAGIC, sizeof magic) == 0;
}

/* Locks a log until its descriptor is closed. False: another writer has the lock. True also on a
 * file system without locks. */
static bool file_lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static int file_fail_other(const char *path)
{
	return ps__fail(PS_ESYS,
	                "'%s' is there, and is no log of perfsage: it isn't replaced; "
	                "choose another name",
	                path);
}

static int file_fail_busy(const char *path)
{
	return ps__fail(PS_ESYS,
	                "the log '%s' is still written to, and is not replaced, as its records "
	                "would be lost: end its writer, or choose another name",
	                path);
}

/* Returns the error for an existing path that can't be opened. Directories, sockets and devices
 * without a driver can't be opened for writing, but are no logs. */
static int file_fail_to_open(const char *path, int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
		return file_fail(path, error);
	case EISDIR:
	case ENXIO:
	case ENODEV:
		return file_fail_other(path);
	case ELOOP:
		return ps__fail(PS_ESYS,
		                "'%s' is a symbolic link, and isn't replaced: give the name of the "
		                "log that it leads to, or choose another name",
		                path);
	default:
		return ps__fail(PS_ESYS,
		                "'%s' is there, and isn't replaced, as it can't be opened for "
		                "writing (%s): choose another name",
		                path, strerror(error));
	}
}

/* Opens and locks the older log. A writer locks its log before the file can be recognized as a log:
 * so nobody else writes to a log that is locked here and is still at the path. The file is opened
 * for writing, because network file systems lock only such descriptors. */
static int file_open_older(struct ps__log_file *file, const char *path)
{
	file->older = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (file->older < 0)
		return file_fail_to_open(path, errno);
	if (!file_is_log(file->older))
		return file_fail_other(path);
	if (!file_lock(file->older) || !ps__file_is_at(file->older, path))
		return file_fail_busy(path);
	return PS_OK;
}

static int file_create_beside(struct ps__log_file *file, const char *path)
{
	size_t bytes = strlen(path) + 40;
	struct stat older;

	if (fstat(file->older, &older) < 0)
		return file_fail(path, errno);
	file->beside = ps__os_calloc(bytes, 1);
	if (!file->beside)
		return ps__fail_memory("a log");
	for (int number = 0; number < BESIDE_TRIES; number++) {
		snprintf(file->beside, bytes, "%s.new-%ld-%d", path, (long)getpid(), number);
		file->fd = open(file->beside, FLAGS_OF_NEW, PS__FILE_MODE_BESIDE);
		if (file->fd >= 0)
			return PS_OK;
		if (errno != EEXIST)
			break;
	}
	int error = errno;
	ps__os_free(file->beside);
	return file_fail(path, error);
}

static void file_close_older(struct ps__log_file *file)
{
	if (file->older >= 0)
		close(file->older);
	file->older = -1;
}

/* Creates a new file beside the older log, which stays until the new one is complete. */
static int file_begin_replacing(struct ps__log_file *file, const char *path)
{
	int result = file_open_older(file, path);

	if (result == PS_OK)
		result = file_create_beside(file, path);
	if (result != PS_OK)
		file_close_older(file);
	return result;
}

/* Allocates zeros, and touches each page: page faults in later calls would be counted. */
static unsigned char *file_zeros(void)
{
	unsigned char *zeros = ps__os_calloc(1, PS__LOG_ALIGNMENT);

	if (zeros)
		memset(zeros, 0, PS__LOG_ALIGNMENT);
	return zeros;
}

/* A file system that copies on write needs new space when the program stores again to a page that
 * was written to the disk. If there is no space, the store ends the program by a signal. This flag
 * makes btrfs keep a file's data in place, if it is set while the file is empty. Other file systems
 * refuse the flag. */
static void file_keep_in_place(int fd)
{
	int flags;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0 || flags & FS_NOCOW_FL)
		return;
	flags |= FS_NOCOW_FL;
	ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

int ps__log_file_create(struct ps__log_file *file, const char *path, bool may_replace)
{
	file->beside = NULL;
	file->older = -1;
	file->fd = open(path, FLAGS_OF_NEW, NEW_MODE);
	if (file->fd < 0 && errno == EEXIST && may_replace) {
		int result = file_begin_replacing(file, path);
		if (result != PS_OK)
			return result;
	}
	if (file->fd < 0)
		return errno == EEXIST
		           ? ps__fail(PS_ESYS,
		                      "the log '%s' is there already: remove it, choose another "
		                      "name, or give PS_LOG_REPLACE",
		                      path)
		           : file_fail(path, errno);
	ps__file_id_of(file->fd, &file->id);
	/* The file is empty, so no other writer recognizes it as a log yet. */
	file_lock(file->fd);
	file_keep_in_place(file->fd);
	file->path = ps__os_strdup(path);
	file->zeros = file_zeros();
	if (file->path && file->zeros)
		return PS_OK;
	unlink(file->beside ? file->beside : path);
	ps__log_file_close(file);
	return ps__fail_memory("a log");
}

int ps__log_file_complete(struct ps__log_file *file)
{
	struct stat older;

	if (!file->beside)
		return PS_OK;
	if (!ps__file_is_at(file->older, file->path) &&
	    faccessat(AT_FDCWD, file->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return ps__fail(PS_ESYS,
		                "another file came to '%s' while its log was to be replaced: "
		                "choose another name",
		                file->path);
	if (fstat(file->older, &older) < 0)
		return file_fail(file->path, errno);
	/* Result ignored: some file systems can't change permissions. */
	ps__file_take_over(file->fd, &older);
	if (rename(file->beside, file->path) < 0)
		return file_fail(file->path, errno);
	file_close_older(file);
	ps__os_free(file->beside);
	file->beside = NULL;
	return PS_OK;
}

void ps__log_file_remove(struct ps__log_file *file)
{
	unlink(file->beside ? file->beside : file->path);
	ps__log_file_close(file);
}

void ps__log_file_close(struct ps__log_file *file)
{
	file_close_older(file);
	if (ps__file_id_is(file->fd, &file->id))
		close(file->fd);
	ps__os_free(file->beside);
	ps__os_free(file->path);
	ps__os_free(file->zeros);
}

int ps__log_file_write(const struct ps__log_file *file, const void *bytes, size_t offset,
                       size_t size_bytes)
{
	const char *from = bytes;
	size_t done = 0;
	int result = file_check(file, offset + size_bytes);

	if (result != PS_OK)
		return result;
	while (done < size_bytes) {
		ssize_t written =
		    pwrite(file->fd, from + done, size_bytes - done, (off_t)(offset + done));
		if (written < 0 && errno != EINTR)
			return file_fail(file->path, errno);
		done += written > 0 ? (size_t)written : 0;
	}
	return PS_OK;
}

/* Uses few calls, because file systems allocate larger pieces of memory for larger writes. */
int ps__log_file_clear(const struct ps__log_file *file, size_t offset, size_t size_bytes)
{
	struct iovec pieces[MOST_PIECES];
	size_t end = offset + size_bytes;
	int result = file_check(file, end);

	for (size_t piece = 0; piece < MOST_PIECES; piece++)
		pieces[piece] = (struct iovec){file->zeros, PS__LOG_ALIGNMENT};
	while (result == PS_OK && offset < end) {
		size_t count = (end - offset) / PS__LOG_ALIGNMENT;
		ssize_t written =
		    pwritev(file->fd, pieces, (int)(count < MOST_PIECES ? count : MOST_PIECES),
		            (off_t)offset);
		/* Writes the rest of a piece; after a failure a whole piece, to get its error. */
		size_t more = PS__LOG_ALIGNMENT;
		if (written > 0) {
			offset += (size_t)written;
			more = (end - offset) % PS__LOG_ALIGNMENT;
		}
		result = ps__log_file_write(file, file->zeros, offset, more);
		offset += more;
	}
	return result;
}

void ps__log_file_note_close(const struct ps__log_file *file, uint64_t blocks)
{
	const struct ps__log_close close = ps__log_close_of(blocks);
	ssize_t written;

	if (!ps__file_may_end_at(file->close_offset + sizeof close) ||
	    !ps__file_id_is(file->fd, &file->id))
		return;
	do
		written = pwrite(file->fd, &close, sizeof close, (off_t)file->close_offset);
	while (written < 0 && errno == EINTR);
}

int ps__log_file_reserve(const struct ps__log_file *file, size_t offset, size_t size_bytes)
{
	int error, result = file_check(file, offset + size_bytes);

	if (result != PS_OK)
		return result;
	do
		error = posix_fallocate(file->fd, (off_t)offset, (off_t)size_bytes);
	while (error == EINTR);
	if (error == 0)
		return PS_OK;
	/* If the file ends there, cuts off the part that a full disk had room for: no zeros may
	 * stay. */
	struct stat status;
	if (fstat(file->fd, &status) == 0 && (size_t)status.st_size > offset &&
	    (size_t)status.st_size <= offset + size_bytes && ftruncate(file->fd, (off_t)offset) < 0)
		return file_fail(file->path, errno);
	return file_fail(file->path, error);
}

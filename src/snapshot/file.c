/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a log: made where there is none, filled, and made longer. It is the user's, so it
 * doesn't go through the OS seam. */
#include "base/error.h"
#include "base/os.h"
#include "snapshot/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW_MODE 0666

static int file_fail(const char *path, int error)
{
	return ps__fail(PS_ESYS, "the log '%s' can't be written: %s", path, strerror(error));
}

static bool file_is_log(const char *path)
{
	char magic[sizeof PS__LOG_MAGIC - 1];
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return false;
	bool is_log = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	              pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
	              memcmp(magic, PS__LOG_MAGIC, sizeof magic) == 0;
	close(fd);
	return is_log;
}

/* A process that still writes to the older log goes on in a file without a name. */
static int file_remove_older(const char *path)
{
	if (!file_is_log(path))
		return ps__fail(PS_ESYS,
		                "'%s' is there, and is no log of perfsage: it isn't replaced; "
		                "choose another name",
		                path);
	return unlink(path) < 0 && errno != ENOENT ? file_fail(path, errno) : PS_OK;
}

/* Each page is touched: a fault when a block is written to would be counted. */
static unsigned char *file_zeros(void)
{
	unsigned char *zeros = ps__os_calloc(1, PS__LOG_ALIGNMENT);

	if (zeros)
		memset(zeros, 0, PS__LOG_ALIGNMENT);
	return zeros;
}

int ps__log_file_create(struct ps__log_file *file, const char *path, bool may_replace)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;

	file->fd = open(path, flags, NEW_MODE);
	if (file->fd < 0 && errno == EEXIST && may_replace) {
		int result = file_remove_older(path);
		if (result != PS_OK)
			return result;
		file->fd = open(path, flags, NEW_MODE);
	}
	if (file->fd < 0)
		return errno == EEXIST
		           ? ps__fail(PS_ESYS,
		                      "the log '%s' is there already: remove it, choose another "
		                      "name, or give PS_LOG_REPLACE",
		                      path)
		           : file_fail(path, errno);
	file->path = ps__os_strdup(path);
	file->zeros = file_zeros();
	if (file->path && file->zeros)
		return PS_OK;
	close(file->fd);
	unlink(path);
	ps__os_free(file->path);
	ps__os_free(file->zeros);
	return ps__fail_memory("a log");
}

void ps__log_file_remove(struct ps__log_file *file)
{
	unlink(file->path);
	ps__log_file_close(file);
}

void ps__log_file_close(struct ps__log_file *file)
{
	close(file->fd);
	ps__os_free(file->path);
	ps__os_free(file->zeros);
}

int ps__log_file_write(const struct ps__log_file *file, const void *bytes, size_t offset,
                       size_t size_bytes)
{
	const char *from = bytes;
	size_t done = 0;

	while (done < size_bytes) {
		ssize_t written =
		    pwrite(file->fd, from + done, size_bytes - done, (off_t)(offset + done));
		if (written < 0 && errno != EINTR)
			return file_fail(file->path, errno);
		done += written > 0 ? (size_t)written : 0;
	}
	return PS_OK;
}

/* Beyond its limit of file sizes a process gets a signal that ends it. */
static bool file_is_allowed(size_t end)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	ps__os.getrlimit(RLIMIT_FSIZE, &limit);
	return limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

int ps__log_file_reserve(const struct ps__log_file *file, size_t offset, size_t size_bytes)
{
	int error = EFBIG;

	if (file_is_allowed(offset + size_bytes)) {
		do
			error = posix_fallocate(file->fd, (off_t)offset, (off_t)size_bytes);
		while (error == EINTR);
	}
	if (error == 0)
		return PS_OK;
	/* What a full disk had room for, if the file ended there: no block of zeros stays. */
	struct stat status;
	if (fstat(file->fd, &status) == 0 && (size_t)status.st_size > offset &&
	    (size_t)status.st_size <= offset + size_bytes && ftruncate(file->fd, (off_t)offset) < 0)
		return file_fail(file->path, errno);
	return file_fail(file->path, error);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* See files.h. The program may put another file in the place of a descriptor: each use looks whose
 * it is. A program that does so between the look and the write has the text in its file. */
#include "collect/files.h"

#include "base/kept.h"
#include "collect/hush.h"
#include "output/destination.h"

#include <errno.h>
#include <fcntl.h>

/* Used by one thread at a time: callers hold the collector's lock. */
static struct {
	int descriptor;
	uint64_t identity; /* 0: it was never open */
} kept[COLLECT_FILES];

/* perfsage has made it. If it is gone, nothing else by its name is the right one. */
static int files_open(const char *name)
{
	int fd = open(name, O_WRONLY | O_APPEND | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	return ps_preload_keep ? ps_preload_keep(fd, NULL) : ps__kept_move(fd);
}

/* -1 with errno. */
static int files_find(enum collect_file file, const char *name)
{
	int fd = kept[file].descriptor;

	if (kept[file].identity && ps__kept_identity(fd) == kept[file].identity)
		return fd;
	fd = files_open(name);
	kept[file].descriptor = fd;
	kept[file].identity = fd < 0 ? 0 : ps__kept_identity(fd);
	if (kept[file].identity || fd < 0)
		return fd;
	close(fd);
	return errno = EINVAL, -1;
}

void collect_files_keep(enum collect_file file, const char *name)
{
	files_find(file, name);
}

int collect_files_put(int fd, const char *text, size_t length)
{
	struct collect_hush hush;

	collect_hush_begin(&hush);
	int error = ps__destination_write_all(fd, text, length);
	collect_hush_end(&hush);
	return error;
}

int collect_files_write(enum collect_file file, const char *name, const char *text, size_t length)
{
	int fd = files_find(file, name);

	return fd < 0 ? errno : collect_files_put(fd, text, length);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* See files.h. The program may put another file under a descriptor, so each use checks the file's
 * identity. If the program does so between the check and the write, the text goes to the program's
 * file. */
#include "collect/files.h"

#include "base/kept.h"
#include "collect/hush.h"
#include "output/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct files_kept {
	int descriptor;
	uint64_t identity; /* 0: it was never open */
};

/* Used by one thread at a time: callers hold the collector's lock. */
static struct files_kept kept[COLLECT_FILES];
static struct files_kept reserve;

static int files_move(int fd)
{
	if (fd < 0)
		return -1;
	return ps_preload_keep ? ps_preload_keep(fd, NULL) : ps__kept_move(fd);
}

/* Opens a file that perfsage has made. Does not create it: if it is gone, a new file of its name
 * would not be the one that perfsage reads. */
static int files_open(const char *name)
{
	return files_move(open(name, O_WRONLY | O_APPEND | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC));
}

static bool files_is_there(const struct files_kept *file)
{
	return file->identity && ps__kept_identity(file->descriptor) == file->identity;
}

/* The reserve is a file in memory, to which only this process has access. If its identity is still
 * the same, the program has not replaced it. */
void collect_files_reserve(void)
{
	if (files_is_there(&reserve))
		return;
	int fd = files_move(memfd_create("perfsage", MFD_CLOEXEC));
	reserve = (struct files_kept){fd, fd < 0 ? 0 : ps__kept_identity(fd)};
}

/* Makes the system call itself, because the preloaded close() does not close a kept descriptor. */
void collect_files_give_up(void)
{
	if (files_is_there(&reserve))
		syscall(SYS_close, reserve.descriptor);
	reserve.identity = 0;
}

/* Returns a descriptor of the file, and opens the file if needed; -1 with errno on failure. */
static int files_find(enum collect_file file, const char *name)
{
	if (files_is_there(&kept[file]))
		return kept[file].descriptor;
	int fd = files_open(name);
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

/* Uses the descriptor, because the name may belong to another file by now. */
void collect_files_mark(enum collect_file file, const char *name)
{
	int fd = files_find(file, name);

	if (fd >= 0)
		fchmod(fd, S_IRWXU);
}

int collect_files_write(enum collect_file file, const char *name, const char *text, size_t length)
{
	int fd = files_find(file, name);

	return fd < 0 ? errno : collect_files_put(fd, text, length);
}

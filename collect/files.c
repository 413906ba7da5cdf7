/* SPDX-License-Identifier: BSD-3-Clause */
/* See files.h. The program may put another file in the place of a descriptor: nothing must be
 * written there. */
#include "collect/files.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* Used by one thread at a time: callers hold the collector's lock. */
static struct {
	bool is_open;
	int descriptor;
	dev_t device;
	ino_t inode;
} kept[COLLECT_FILES];

static bool files_are_same(enum collect_file file)
{
	struct stat what;

	return kept[file].is_open && fstat(kept[file].descriptor, &what) == 0 &&
	       what.st_dev == kept[file].device && what.st_ino == kept[file].inode;
}

/* perfsage has made it. If it is gone, nothing else by its name is the right one. */
static int files_open(const char *name)
{
	return open(name, O_WRONLY | O_APPEND | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
}

void collect_files_keep(enum collect_file file, const char *name)
{
	struct stat what;

	if (files_are_same(file))
		return;
	int descriptor = files_open(name);
	kept[file].is_open = descriptor >= 0 && fstat(descriptor, &what) == 0;
	if (!kept[file].is_open)
		return;
	kept[file].descriptor = descriptor;
	kept[file].device = what.st_dev;
	kept[file].inode = what.st_ino;
}

int collect_files_get(enum collect_file file, const char *name)
{
	return files_are_same(file) ? kept[file].descriptor : files_open(name);
}

void collect_files_release(int descriptor)
{
	for (int file = 0; file < COLLECT_FILES; file++) {
		if (kept[file].is_open && kept[file].descriptor == descriptor)
			return;
	}
	close(descriptor);
}

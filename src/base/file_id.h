/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a descriptor still that of the file it was opened for? A program may close all that it has, as
 * daemons do, and open other files under their numbers. */
#ifndef PS_BASE_FILE_ID_H
#define PS_BASE_FILE_ID_H

#include "base/os.h"

#include <stdbool.h>
#include <sys/stat.h>

struct ps__file_id {
	dev_t device;
	ino_t inode;
};

/* False: fstat(2) failed, as errno tells. */
static inline bool ps__file_id_of(int fd, struct ps__file_id *out)
{
	struct stat status;

	if (ps__os.wake.fstat(fd, &status) < 0)
		return false;
	*out = (struct ps__file_id){status.st_dev, status.st_ino};
	return true;
}

static inline bool ps__file_id_is(int fd, const struct ps__file_id *id)
{
	struct ps__file_id now;

	return ps__file_id_of(fd, &now) && now.device == id->device && now.inode == id->inode;
}

#endif

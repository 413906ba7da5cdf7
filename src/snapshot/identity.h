/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a descriptor still that of the file it was opened for? A program may close all that it has, as
 * daemons do, and open other files under their numbers. */
#ifndef PS_SNAPSHOT_IDENTITY_H
#define PS_SNAPSHOT_IDENTITY_H

#include <stdbool.h>
#include <sys/stat.h>

struct ps__identity {
	dev_t device;
	ino_t inode;
};

static inline bool ps__identity_of(int fd, struct ps__identity *out)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return false;
	*out = (struct ps__identity){status.st_dev, status.st_ino};
	return true;
}

static inline bool ps__identity_is(int fd, const struct ps__identity *identity)
{
	struct ps__identity now;

	return ps__identity_of(fd, &now) && now.device == identity->device &&
	       now.inode == identity->inode;
}

#endif

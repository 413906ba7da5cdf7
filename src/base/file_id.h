/* SPDX-License-Identifier: BSD-3-Clause */
/* Files by their descriptors. Is one still that of the file it was opened for? A program may close
 * all that it has, as daemons do, and open other files under their numbers. And who may use a file
 * that takes another one's place? */
#ifndef PS_BASE_FILE_ID_H
#define PS_BASE_FILE_ID_H

#include "base/os.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The mode with which a file is made that is to take the place of an old one: until it has the
 * owner and the permissions, it is no more open than the old one was. */
static inline mode_t ps__file_mode_beside(const struct stat *old)
{
	return (old->st_mode & 0666) | S_IRUSR | S_IWUSR;
}

/* The owner and the group, as far as that is permitted, and the permissions are those of the old
 * file. The owner comes first, as a new one takes set-user-ID bits away. False: the permissions
 * could not be changed, as errno tells. */
static inline bool ps__file_take_over(int fd, const struct stat *old)
{
	if (fchown(fd, old->st_uid, old->st_gid) < 0 && fchown(fd, (uid_t)-1, old->st_gid) < 0)
		errno = 0;
	return fchmod(fd, old->st_mode & 07777) == 0;
}

#endif

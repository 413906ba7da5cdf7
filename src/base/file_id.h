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

/* The mode with which a file is made that is to take the place of an old one: nobody else reads it
 * until it has the old one's owner, group and permissions. */
#define PS__FILE_MODE_BESIDE (S_IRUSR | S_IWUSR)

static inline bool ps__file_has_rights_of(int fd, const struct stat *old)
{
	struct stat now;

	return fstat(fd, &now) == 0 && now.st_uid == old->st_uid && now.st_gid == old->st_gid &&
	       now.st_mode == old->st_mode;
}

/* The owner and the group, as far as that is permitted, and the permissions are those of the old
 * file. Another owner gets no set-user-ID bits, and another group no permissions. The owner comes
 * first, as a new one takes set-user-ID bits away. Some file systems give all files the same, and
 * refuse any change: that is no failure. False: the permissions could not be changed, as errno
 * tells. */
static inline bool ps__file_take_over(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 07777;

	if (fchown(fd, old->st_uid, old->st_gid) < 0) {
		mode &= 0777;
		if (fchown(fd, (uid_t)-1, old->st_gid) < 0)
			mode &= ~(mode_t)S_IRWXG;
	}
	return fchmod(fd, mode) == 0 || ps__file_has_rights_of(fd, old);
}

#endif

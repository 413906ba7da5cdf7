/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells whether a descriptor still belongs to the file it was opened for: a program may close all
 * its descriptors, as daemons do, and open other files under the same numbers. Also gives a file
 * that replaces another one the rights of the old file. */
#ifndef PS_BASE_FILE_ID_H
#define PS_BASE_FILE_ID_H

#include "base/os.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct ps__file_id {
	dev_t device;
	ino_t inode;
};

/* Returns false with errno set if fstat(2) failed. */
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

/* True if the path still leads to the file. */
static inline bool ps__file_is_at(int fd, const char *path)
{
	struct stat file, there;

	return fstat(fd, &file) == 0 && lstat(path, &there) == 0 && file.st_dev == there.st_dev &&
	       file.st_ino == there.st_ino;
}

/* True if the limit of file sizes allows a file of `end` bytes. A write beyond the limit ends the
 * process. */
static inline bool ps__file_may_end_at(size_t end)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	ps__os.getrlimit(RLIMIT_FSIZE, &limit);
	return limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

/* The mode in which a file that will replace an old one is created: no other user can read it until
 * it has the old file's owner, group and permissions. */
#define PS__FILE_MODE_BESIDE (S_IRUSR | S_IWUSR)

static inline bool ps__file_has_rights_of(int fd, const struct stat *old)
{
	struct stat now;

	return fstat(fd, &now) == 0 && now.st_uid == old->st_uid && now.st_gid == old->st_gid &&
	       now.st_mode == old->st_mode;
}

/* Gives a file the permissions of an old file, and its owner and group as far as that is permitted.
 * If the owner can't be set, the file gets no set-user-ID bits; if the group can't be set, the
 * group gets no permissions. The owner is set first, because setting it clears set-user-ID bits.
 * Some file systems give all files the same rights and refuse any change: that is no failure.
 * Returns false with errno set if the permissions could not be changed. */
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

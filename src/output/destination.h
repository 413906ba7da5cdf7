/* SPDX-License-Identifier: BSD-3-Clause */
/* Where text goes: a stream, a descriptor, or a file that appears whole. */
#ifndef PS_OUTPUT_DESTINATION_H
#define PS_OUTPUT_DESTINATION_H

#include "output/buffer.h"

/* The stream; else the path; else the descriptor. */
struct ps__destination {
	FILE *stream;
	const char *path;
	int fd;
};

/* The bytes of the path before the file's name. */
size_t ps__destination_folder_length(const char *path);

/* The file at the end of a chain of links, which need not exist yet; to be freed. NULL: errno tells
 * why. */
char *ps__destination_resolve(const char *path);

/* The path of a file beside the target: its name is the target's, of which the end is cut off where
 * a folder would not take so long a name, and the suffix. To be freed. NULL: errno tells why. */
char *ps__destination_beside(const char *target, const char *suffix);

/* The written file, open as fd, takes the target's place, with the permissions and the owner of
 * what is there now, if anything is. Or it stays where it is, and so does the target: an errno. */
int ps__destination_put_in_place(int fd, const char *path, const char *target);

/* F_WRLCK, then F_UNLCK. Reports of several processes don't come into each other: another one that
 * writes is waited for, 30 seconds at most. These locks are a process's own, also where the
 * descriptor is shared by all ranks that a shell started. Where there are none it goes on without.
 */
void ps__destination_lock(int fd, short type);

/* Writes all of it to the descriptor; one that doesn't block is waited for. 0, or an errno. */
int ps__destination_write_all(int fd, const char *text, size_t length);

/* Writes all of it and releases the buffer. PS_ENOMEM, PS_ESYS. */
int ps__destination_write(const struct ps__destination *to, struct ps__buffer *buffer);

#endif

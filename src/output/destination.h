/* SPDX-License-Identifier: BSD-3-Clause */
/* Where text is written: a stream, a descriptor, or a file that appears only when it is
 * complete. */
#ifndef PS_OUTPUT_DESTINATION_H
#define PS_OUTPUT_DESTINATION_H

#include "output/buffer.h"

/* Uses stream if it isn't NULL, else path if it isn't NULL, else fd. */
struct ps__destination {
	FILE *stream;
	const char *path;
	int fd;
};

/* Returns the length of the path up to the file's name, with the last slash. */
size_t ps__destination_folder_length(const char *path);

/* Follows symbolic links. Returns the path of the file at their end, which need not exist; the
 * caller frees it. NULL on failure; errno has the reason. */
char *ps__destination_resolve(const char *path);

/* Returns the path of a file in the target's folder: the target's name, then the suffix. The name
 * is cut if the result would be longer than NAME_MAX. The caller frees it. NULL on failure; errno
 * has the reason. */
char *ps__destination_beside(const char *target, const char *suffix);

/* Renames the written file, open as fd, to target. An existing target's permissions and owner are
 * kept. Returns 0 or an errno; on failure both files stay as they are. */
int ps__destination_put_in_place(int fd, const char *path, const char *target);

/* Locks a file with F_WRLCK, and unlocks it with F_UNLCK, so that reports of several processes
 * don't mix. Waits for another writer, 30 seconds at most. The locks belong to the process, even if
 * a shell gave the same descriptor to all ranks. Where the file can't be locked, the call does
 * nothing.
 */
void ps__destination_lock(int fd, short type);

/* Writes all of the text to the descriptor; waits while a non-blocking descriptor is full. Returns
 * 0 or an errno. */
int ps__destination_write_all(int fd, const char *text, size_t length);

/* Writes all of the text and frees it. made: the result of making the text; after a failure nothing
 * is written. Returns made, or PS_ENOMEM or PS_ESYS. */
int ps__destination_write(const struct ps__destination *to, struct ps__buffer *buffer, int made);

#endif

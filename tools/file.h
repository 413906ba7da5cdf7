/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that perfsage stat writes. A regular file is written beside its target and renamed at
 * the end, so it appears complete or not at all. Other files (a FIFO, a terminal, /dev/full) and
 * descriptors that perfsage inherited (stderr, /dev/fd/3) are written at once. Signals are still
 * handled while a slow reader blocks the output.
 */
#ifndef PS_TOOLS_FILE_H
#define PS_TOOLS_FILE_H

#include "tools/watcher.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* part.c: the file that is written beside its target. */
struct tool_part {
	int fd;       /* the open file, locked for this run */
	char *target; /* path of the file to replace, with symbolic links resolved; it need not
	               * exist
	               */
	char *path;   /* "TARGET.perfsage-part" */
	/* The part begins with a copy of the target. has_old: there was a target; old: its state
	 * then
	 */
	bool appends;
	bool has_old;
	struct stat old;
	bool is_overtaken; /* the target has changed since it was copied, so it isn't replaced */
};

/*
 * Creates the part for the file `named`. The target must be a regular file that may be written, or
 * not exist. Removes the part of a killed run. Returns -1 after a complaint, also if another
 * perfsage is writing the file.
 */
int tool_part_create(struct tool_part *part, const char *named);
/* Frees everything. Removes the part's file, unless it was renamed or is_kept is true. */
void tool_part_destroy(struct tool_part *part, bool is_kept);

/* Copies the target into the part. Returns -1 after a complaint. */
int tool_part_append(struct tool_part *part, const char *named);
/* Returns the last CSV heading in the target, which the caller frees; NULL if it has none. */
char *tool_part_read_heading(const struct tool_part *part);

/* True if the part's target is the file `named`, which may be another name of it. */
bool tool_part_is_of(const struct tool_part *part, const char *named);

/* Checks that everything written has reached the file system. Returns -1 with errno if not. */
int tool_part_check(const struct tool_part *part);
/* Renames the part to its target, with the permissions and owner of the old file. Returns -1 with
 * errno on failure. */
int tool_part_finish(struct tool_part *part);

/* Returns "FOLDER/NAME", to be freed with ps__os_free; NULL with errno. */
char *tool_file_path(const char *folder, const char *name);

/* Frees *file, and sets it to the file name that the pattern of an option stands for, which the
 * caller frees with ps__os_free. On failure sets it to NULL and returns -1 after a complaint. */
int tool_file_take_name(char **file, const char *option, const char *pattern);

/* True if a file's name ends in a suffix such as ".json", in letters of any case. NULL: there is no
 * file. */
bool tool_file_has_suffix(const char *name, const char *suffix);

/* file.c: an output file. */

struct tool_file {
	const char *name; /* its name in complaints */
	/* Collects what is written, in text, until tool_file_flush. NULL: the file isn't open */
	FILE *stream;
	char *text;
	size_t length;
	int fd; /* the descriptor that it is written to */
	struct tool_watcher *watcher;
	int error; /* errno of the first failed write; 0: none failed */
	/* Number of bytes that a write takes without blocking once poll reports room; 0: unlimited,
	 * without poll */
	size_t at_once;
	bool is_pipe;
	bool appends;
	bool has_heading; /* the text to append begins with a CSV heading */
	char *heading;    /* last CSV heading in the old file; NULL: none, or already compared */
	bool is_given;    /* the descriptor was inherited and stays open */
	/* True if the file isn't emptied before it is written. These are pipes, inherited
	 * descriptors, parts, and files that are appended to */
	bool keeps_its_end;
	struct tool_part part; /* for a regular file; else part.fd is -1 */
};

/* Opens a file that a user named, and keeps its old content. NULL: stderr; "-": stdout. Returns -1
 * after a complaint. */
int tool_file_open(struct tool_file *file, const char *name, struct tool_watcher *watcher);
/* Opens a file to append to it. has_heading: the new text begins with a CSV heading, which is left
 * out if the last one in the file is the same. */
int tool_file_append(struct tool_file *file, const char *name, bool has_heading,
                     struct tool_watcher *watcher);
/* Uses a descriptor that perfsage inherited. name: for complaints. Returns -1 after a complaint. */
int tool_file_take(struct tool_file *file, int fd, const char *name, struct tool_watcher *watcher);

/* True if tool_file_open would write to the same file or inherited descriptor under this name. */
bool tool_file_is_of(const struct tool_file *file, const char *name);

/* Empties the file if it is a regular one that can't be replaced by renaming. */
void tool_file_begin(struct tool_file *file);

/*
 * Writes what the stream has collected: in one piece if the descriptor allows it, else under a
 * lock, so that no other perfsage writes between the pieces. Returns -1 if this or an earlier write
 * failed; file->error has the errno.
 */
int tool_file_flush(struct tool_file *file);

/*
 * Finishes and closes the file; a part is renamed to its target. Returns -1 after a complaint.
 * keeps_part: if the file can't be finished, the part stays and the complaint names it.
 */
int tool_file_finish(struct tool_file *file, bool keeps_part);

/* Closes the file and discards what wasn't written. */
void tool_file_discard(struct tool_file *file);

#endif

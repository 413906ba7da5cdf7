/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What perfsage stat writes to. A regular file appears whole at the end or not
 * at all: it is written beside the one that it takes the place of, and renamed.
 * What is none (a FIFO, a terminal, /dev/full), or was given to perfsage
 * (stderr, /dev/fd/3), is written as it goes; a reader that lets it wait
 * doesn't keep signals from their work.
 */
#ifndef PS_TOOLS_FILE_H
#define PS_TOOLS_FILE_H

#include "tools/watcher.h"

#include <stdio.h>

/* file.c: the file that is written. */
struct tool_part {
	int fd;       /* of the file that is written; locked for this run */
	char *target; /* what is replaced: what a symbolic link leads to, which may not be there yet
	               */
	char *path;   /* "TARGET.perfsage-part" */
};

struct tool_file {
	const char *name; /* as it is called in complaints */
	FILE *stream;     /* NULL: nothing is open */
	int fd;           /* of the stream */
	struct tool_watcher *watcher;
	int error; /* why something could not be written; 0: all could */
	/* Bytes that are taken without waiting, once poll says so; 0: any number, without asking */
	size_t at_once;
	bool is_given; /* the descriptor is somebody else's: it stays open */
	/* Nothing makes room for what is written: a pipe, a descriptor that was given */
	bool keeps_its_end;
	struct tool_part part; /* of a regular file; else its fd is -1 */
};

/* Opens what a user named; leaves what stands there. -1 after a complaint. */
int tool_file_open(struct tool_file *file, const char *name, struct tool_watcher *watcher);
/* A descriptor that perfsage was given. name: for complaints. -1 after one. */
int tool_file_take(struct tool_file *file, int fd, const char *name, struct tool_watcher *watcher);

/* Empties a file that can't be replaced. */
void tool_file_begin(struct tool_file *file);

/*
 * All is written: the file takes its place. -1 after a complaint. Closes it in
 * any case. keeps_part: what was written stays beside the file if that fails,
 * and the complaint tells where.
 */
int tool_file_finish(struct tool_file *file, bool keeps_part);

/* Nothing is to be written after all. */
void tool_file_discard(struct tool_file *file);

#endif

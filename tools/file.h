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

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* part.c: the file that is written beside the one that it takes the place of. */
struct tool_part {
	int fd;       /* of the file that is written; locked for this run */
	char *target; /* what is replaced: what a symbolic link leads to, which may not be there yet
	               */
	char *path;   /* "TARGET.perfsage-part" */
	/* It began with what was there: has_old tells if there was anything, old what it was like
	 */
	bool appends;
	bool has_old;
	struct stat old;
	bool is_overtaken; /* that has changed since: it stays */
};

/*
 * Begins one in the place of `named`. What stands there must be a regular file
 * that may be written, or nothing. -1 after a complaint: also where another
 * perfsage is writing it. What a killed run left of its own is taken away.
 */
int tool_part_create(struct tool_part *part, const char *named);
/* Releases all of it; takes the file away unless it was renamed or is_kept. */
void tool_part_destroy(struct tool_part *part, bool is_kept);

/* Copies what is there into it. -1 after a complaint. */
int tool_part_append(struct tool_part *part, const char *named);
/* The last heading of CSV in what is there, for free; NULL if there is none. */
char *tool_part_read_heading(const struct tool_part *part);

/* Is it what would be written for this name, which may be another one of the same file? */
bool tool_part_is_of(const struct tool_part *part, const char *named);

/* Has all that was written arrived? -1 with errno. */
int tool_part_check(const struct tool_part *part);
/* Puts it in its place, with the permissions and the owner of what was there;
 * -1 with errno if that failed. */
int tool_part_finish(struct tool_part *part);

/* "FOLDER/NAME", for ps__os_free; NULL with errno. */
char *tool_file_path(const char *folder, const char *name);

/* The name that a user gave with an option, with what its patterns stand for, in the place of
 * *file, for ps__os_free. -1 after a complaint. */
int tool_file_take_name(char **file, const char *option, const char *pattern);

/* file.c: what is written to. */

struct tool_file {
	const char *name; /* as it is called in complaints */
	/* It collects what is written until tool_file_flush: in text. NULL: nothing is open */
	FILE *stream;
	char *text;
	size_t length;
	int fd; /* that it is written to */
	struct tool_watcher *watcher;
	int error; /* why something could not be written; 0: all could */
	/* Bytes that are taken without waiting, once poll says so; 0: any number, without asking */
	size_t at_once;
	bool is_pipe;
	bool appends;
	bool has_heading; /* what is appended begins with a heading of CSV */
	char *heading;    /* the last one of what is there; NULL: none, or it was passed */
	bool is_given;    /* the descriptor is somebody else's: it stays open */
	/* Nothing makes room for what is written: a pipe, a descriptor that was given */
	bool keeps_its_end;
	struct tool_part part; /* of a regular file; else its fd is -1 */
};

/* Opens what a user named; leaves what stands there. NULL is stderr, "-" stdout. -1 after a
 * complaint. */
int tool_file_open(struct tool_file *file, const char *name, struct tool_watcher *watcher);
/* So is what is there to stay, with what is written behind it. has_heading: it
 * begins with a heading of CSV, which isn't written again below the same one. */
int tool_file_append(struct tool_file *file, const char *name, bool has_heading,
                     struct tool_watcher *watcher);
/* A descriptor that perfsage was given. name: for complaints. -1 after one. */
int tool_file_take(struct tool_file *file, int fd, const char *name, struct tool_watcher *watcher);

/* Empties a file that can't be replaced. */
void tool_file_begin(struct tool_file *file);

/*
 * Writes what the stream has collected: in one piece where the descriptor takes
 * it so, else in pieces between which no other perfsage writes. -1 if it could
 * not be written, now or before; file->error tells why.
 */
int tool_file_flush(struct tool_file *file);

/*
 * All is written: the file takes its place. -1 after a complaint. Closes it in
 * any case. keeps_part: what was written stays beside the file if that fails,
 * and the complaint tells where.
 */
int tool_file_finish(struct tool_file *file, bool keeps_part);

/* Nothing is to be written after all. */
void tool_file_discard(struct tool_file *file);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that perfsage made for the processes of a command. They are opened when counting begins
 * and stay open: a process that gives up its privileges, its root or its descriptors can't open
 * them again. Children of fork have them, too.
 */
#ifndef PS_COLLECT_FILES_H
#define PS_COLLECT_FILES_H

#include <stddef.h>

enum collect_file {
	COLLECT_JOURNAL,
	COLLECT_REPORTS,
	COLLECT_FILES
};

/* Opens the file, unless it is open. */
void collect_files_keep(enum collect_file file, const char *name);

/* A report takes descriptors, and the program or the counters may have taken the last one by then.
 * One is kept from the beginning on, and given up when a report is made. */
void collect_files_reserve(void);
void collect_files_give_up(void);

/* Makes the file executable, for perfsage: a mode can be set where nothing can be written. */
void collect_files_mark(enum collect_file file, const char *name);

/* Writes the text at the file's end. A file that is gone from its descriptor is opened anew, as the
 * program may put another one in its place. 0, or an errno. */
int collect_files_write(enum collect_file file, const char *name, const char *text, size_t length);

/* Writes to any descriptor. No signal ends the program. 0, or an errno. */
int collect_files_put(int fd, const char *text, size_t length);

#endif

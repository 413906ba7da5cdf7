/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that perfsage made for the processes of a command. They are opened when counting
 * begins, and stay open. A process that later gives up its privileges, its root or its descriptors
 * couldn't open them again. Children of fork inherit them.
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

/* Reserves a descriptor when counting begins. collect_files_give_up frees it for the report: by
 * then the program or the counters may have taken all other descriptors. */
void collect_files_reserve(void);
void collect_files_give_up(void);

/* Makes the file executable, as a sign for perfsage that a write failed. A mode can be set even if
 * nothing can be written. */
void collect_files_mark(enum collect_file file, const char *name);

/* Writes the text at the file's end. Opens the file again if the program has put another file under
 * its descriptor. Returns 0, or an errno. */
int collect_files_write(enum collect_file file, const char *name, const char *text, size_t length);

/* Writes to any descriptor. No signal of a failed write reaches the program. Returns 0, or an
 * errno. */
int collect_files_put(int fd, const char *text, size_t length);

#endif

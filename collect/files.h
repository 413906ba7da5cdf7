/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that perfsage made for the processes of a command. They are opened when counting begins
 * and stay open: a process that gives up its privileges, its root or its descriptors can't open
 * them again. Children of fork have them, too.
 */
#ifndef PS_COLLECT_FILES_H
#define PS_COLLECT_FILES_H

enum collect_file {
	COLLECT_JOURNAL,
	COLLECT_REPORTS,
	COLLECT_FILES
};

/* Opens the file, unless it is open. */
void collect_files_keep(enum collect_file file, const char *name);

/* A descriptor for writing at the end, to be given back by collect_files_release. -1 with errno. A
 * program may close what it doesn't know: then the file is opened anew. */
int collect_files_get(enum collect_file file, const char *name);
void collect_files_release(int descriptor);

#endif

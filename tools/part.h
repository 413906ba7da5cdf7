/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that are replaced at once: written beside the one that they take the place of, and renamed when they are whole. So
 * the old one is there until then, whatever happens.
 */
#ifndef PS_TOOLS_PART_H
#define PS_TOOLS_PART_H

struct tool_part {
	int fd;       /* of the file that is written; locked for this run */
	char *target; /* what is replaced: what a symbolic link leads to, which may not be there yet */
	char *path;   /* "TARGET.perfsage-part" */
};

/*
 * Begins one in the place of `named`. What stands there must be a regular file that may be written, or nothing. -1 after a
 * complaint: also where another perfsage is writing it. What a killed run left of its own is taken away.
 */
int tool_part_create(struct tool_part *part, const char *named);

/* Has all that was written arrived? -1 with errno. Network file systems tell a full disk when a file is closed, and the lock
 * must be held until it is renamed: so this closes a copy of the descriptor. */
int tool_part_check(const struct tool_part *part);

/* Puts it in its place, with the permissions and the owner of what was there; -1 with errno if that failed. */
int tool_part_finish(struct tool_part *part);

/* Releases all of it; takes the file away unless it was renamed or is_kept. */
void tool_part_destroy(struct tool_part *part, int is_kept);

/* Where a chain of symbolic links leads, to be freed; NULL with errno. */
char *tool_part_resolve(const char *path);

#endif

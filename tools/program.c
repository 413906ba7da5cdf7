/* SPDX-License-Identifier: BSD-3-Clause */
/* Examines a program's file to find out why the loader would preload nothing into it. */
#include "tools/watcher.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

bool tool_program_find(const char *name, int mode, char file[PATH_MAX])
{
	const char *path = getenv("PATH");

	for (const char *folder = path ? path : ""; *folder;) {
		size_t length = strcspn(folder, ":");
		snprintf(file, PATH_MAX, "%.*s/%s", (int)length, folder, name);
		if (access(file, mode) == 0)
			return true;
		folder += length + (folder[length] == ':');
	}
	return false;
}

/* Opens the program's file as execvp finds it. Returns -1 if there is none. */
static int program_open(const char *name)
{
	char file[PATH_MAX];

	if (strchr(name, '/') || !getenv("PATH"))
		return open(name, O_RDONLY | O_CLOEXEC);
	return tool_program_find(name, X_OK, file) ? open(file, O_RDONLY | O_CLOEXEC) : -1;
}

static bool program_has_loader(int fd)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	if (pread(fd, &head, sizeof head, 0) != sizeof head ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
		return true;
	for (unsigned index = 0; index < head.e_phnum; index++) {
		off_t at = (off_t)(head.e_phoff + (uint64_t)index * head.e_phentsize);
		if (pread(fd, &segment, sizeof segment, at) != sizeof segment)
			return true;
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

const char *tool_program_find_obstacle(const char *name)
{
	int fd = program_open(name);
	struct stat what;
	const char *why = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &what) == 0 && (what.st_mode & (S_ISUID | S_ISGID)))
		why = "is a set-user-ID or set-group-ID program: the loader preloads nothing into "
		      "it, and the kernel counts nothing";
	else if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
		why = "has file capabilities: the loader preloads nothing into it";
	else if (!program_has_loader(fd))
		why = "is linked statically: nothing can be preloaded into it. Link it "
		      "dynamically, or call ps_collect_start in it";
	close(fd);
	return why;
}

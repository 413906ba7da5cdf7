/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the command's own folder, and files that were installed with it. */
#include "base/proc_status.h"
#include "tools/metrics.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns the part of an installed folder's path after the prefix; NULL if it isn't below the
 * prefix. */
static const char *own_behind_prefix(const char *folder)
{
	size_t length = strlen(PS_PREFIX);

	return strncmp(folder, PS_PREFIX, length) == 0 ? folder + length : NULL;
}

void tool_advise_itself(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

	path[length > 0 ? length : 0] = '\0';
	ps__proc_name_program(path);
}

bool tool_find_own_folder(char *path, size_t size_bytes)
{
	ssize_t length = readlink("/proc/self/exe", path, size_bytes - 1);

	path[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(path, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

bool tool_find_installed(const char *folder, const char *name, char *path, size_t size_bytes)
{
	const char *bin = own_behind_prefix(PS_BINDIR), *behind = own_behind_prefix(folder);
	size_t tail = bin ? strlen(bin) : 0;
	char own[PATH_MAX];

	if (!bin || !behind || !tool_find_own_folder(own, sizeof own))
		return false;
	size_t length = strlen(own);
	if (length < tail || strcmp(own + length - tail, bin) != 0)
		return false;
	snprintf(path, size_bytes, "%.*s%s/%s", (int)(length - tail), own, behind, name);
	return access(path, R_OK) == 0;
}

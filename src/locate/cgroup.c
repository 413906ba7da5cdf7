/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens control groups by name, because perf_event_open takes a descriptor of a group's folder.
 * perf knows one hierarchy: that of version 1 with the controller perf_event if it is mounted,
 * otherwise that of version 2.
 */
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "locate/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MOUNTS      "/proc/self/mounts"
#define MOUNT_BYTES (256 * 1024)
#define OWN         "/proc/self/cgroup"
#define OWN_BYTES   (16 * 1024)

/* True if this word is in a list with commas. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, length) && (at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

static bool is_octal(const char *text)
{
	for (int digit = 0; digit < 3; digit++) {
		if (text[digit] < '0' || text[digit] > '7')
			return false;
	}
	return text[0] <= '3';
}

/* Decodes a mount point in place. The kernel writes a space, tab, newline or backslash of it as
 * \040 and the like. */
static void cgroup_decode(char *text)
{
	char *to = text;

	while (*text) {
		if (*text == '\\' && is_octal(text + 1)) {
			*to++ =
			    (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/* Returns the mount point in a line of MOUNTS (device, mount point, type, options), or NULL if perf
 * doesn't know the line's file system. Cuts the line into its words. */
static char *mount_point(char *line, bool *is_v1)
{
	char *rest = NULL;
	char *words[4];

	for (size_t word = 0; word < 4; word++) {
		words[word] = strtok_r(word ? NULL : line, " ", &rest);
		if (!words[word])
			return NULL;
	}
	*is_v1 = !strcmp(words[2], "cgroup") && has_word(words[3], "perf_event");
	return *is_v1 || !strcmp(words[2], "cgroup2") ? words[1] : NULL;
}

/* Returns the mount point of the hierarchy that perf knows, and whether its version is 1; NULL if
 * none is mounted. Cuts the content of MOUNTS into pieces. */
static const char *find_hierarchy(char *mounts, bool *is_v1)
{
	char *rest = NULL, *found = NULL;

	*is_v1 = false;
	for (char *line = strtok_r(mounts, "\n", &rest); line && !*is_v1;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *point = mount_point(line, is_v1);
		if (*is_v1 || !found)
			found = point;
	}
	if (found)
		cgroup_decode(found);
	return found;
}

static int cgroup_fail_open(const char *path)
{
	if (errno == EMFILE || errno == ENFILE)
		return ps__fail(PS_ECOUNT, "%s: %s: " PS__ADVICE_DESCRIPTORS, path,
		                strerror(errno));
	if (errno == ENOENT || errno == ENOTDIR)
		return ps__fail(PS_ESYS,
		                "there is no control group %s: name one as /proc/PID/cgroup does, "
		                "without the first slash",
		                path);
	return ps__fail(PS_ESYS, "the control group %s can't be opened: %s", path, strerror(errno));
}

static int open_folder(const char *path, struct ps__cgroup *out)
{
	int opened = ps__os.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (opened < 0)
		return cgroup_fail_open(path);
	*out = (struct ps__cgroup){.fd = opened};
	if (!ps__file_id_of(opened, &out->id)) {
		int result = cgroup_fail_open(path);
		ps__os.close(opened);
		return result;
	}
	return PS_OK;
}

static int write_hierarchy(char *text, char *folder, size_t size_bytes, bool *is_v1)
{
	ssize_t length = ps__os_read_file(MOUNTS, text, MOUNT_BYTES);

	if (length == -EMFILE || length == -ENFILE)
		return ps__fail(PS_ECOUNT, MOUNTS ": %s: " PS__ADVICE_DESCRIPTORS,
		                strerror((int)-length));
	if (length < 0)
		return ps__fail(PS_ESYS, MOUNTS ": %s: give the control group's absolute path",
		                strerror((int)-length));
	const char *point = find_hierarchy(text, is_v1);
	if (!point)
		return ps__fail(PS_ESYS,
		                "no cgroup2 file system and no cgroup one with perf_event is "
		                "mounted: mount -t cgroup2 none /sys/fs/cgroup");
	if ((size_t)snprintf(folder, size_bytes, "%s", point) >= size_bytes)
		return ps__fail(PS_ESYS,
		                "the mount point of the control groups has more than "
		                "%zu bytes",
		                size_bytes - 1);
	return PS_OK;
}

/* Writes the mount point of the hierarchy that perf knows, and whether its version is 1. */
static int read_hierarchy(char *folder, size_t size_bytes, bool *is_v1)
{
	char *text = ps__os_calloc(1, MOUNT_BYTES);

	if (!text)
		return ps__fail_memory("the list of file systems");
	int result = write_hierarchy(text, folder, size_bytes, is_v1);
	ps__os_free(text);
	return result;
}

int ps__cgroup_open(const char *path, struct ps__cgroup *out)
{
	char point[PATH_MAX], whole[PATH_MAX];
	bool is_v1;

	if (*path == '/')
		return open_folder(path, out);
	int result = read_hierarchy(point, sizeof point, &is_v1);
	if (result != PS_OK)
		return result;
	int needed = snprintf(whole, sizeof whole, "%s/%s", point, path);
	if (needed < 0 || (size_t)needed >= sizeof whole)
		return ps__fail(PS_EINVAL, "the control group's path has more than %d bytes",
		                PATH_MAX - 1);
	return open_folder(whole, out);
}

bool ps__cgroup_is_open(const struct ps__cgroup *cgroup)
{
	return ps__file_id_is(cgroup->fd, &cgroup->id);
}

void ps__cgroup_close(const struct ps__cgroup *cgroup)
{
	if (ps__cgroup_is_open(cgroup))
		ps__os.close(cgroup->fd);
}

/* Returns the path in a line NUMBER:CONTROLLERS:PATH of OWN (/proc/self/cgroup). Version 2 has the
 * number 0 and no controllers. NULL if the line is of another hierarchy. */
static const char *own_path(char *line, bool is_v1)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return NULL;
	*path++ = '\0';
	bool is_wanted = is_v1 ? has_word(controllers + 1, "perf_event") : !strcmp(line, "0:");
	return is_wanted ? path : NULL;
}

int ps__cgroup_root(char *folder, size_t size_bytes)
{
	bool is_v1;

	return read_hierarchy(folder, size_bytes, &is_v1);
}

int ps__cgroup_own(char *folder, size_t size_bytes)
{
	char point[PATH_MAX], own[OWN_BYTES], *rest = NULL;
	const char *path = NULL;
	bool is_v1;
	int result = read_hierarchy(point, sizeof point, &is_v1);

	if (result != PS_OK)
		return result;
	ssize_t length = ps__os_read_file(OWN, own, sizeof own);
	for (char *line = length > 0 ? strtok_r(own, "\n", &rest) : NULL; line && !path;
	     line = strtok_r(NULL, "\n", &rest))
		path = own_path(line, is_v1);
	/* "/..": the process's own group is above the root of its cgroup namespace. */
	if (!path || *path != '/' || !strncmp(path, "/..", 3))
		return ps__fail(PS_ESYS, "the own control group isn't below %s, as " OWN " tells",
		                point);
	int needed = snprintf(folder, size_bytes, "%s%s", point, strcmp(path, "/") ? path : "");
	if (needed < 0 || (size_t)needed >= size_bytes)
		return ps__fail(PS_ESYS, "the own control group's path has more than %zu bytes",
		                size_bytes - 1);
	return PS_OK;
}

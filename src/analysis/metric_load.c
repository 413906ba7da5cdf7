/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads metrics from one file, or from all files of a folder. */
#include "analysis/metric_file.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "base/proc_status.h"
#include "base/vector.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define SUFFIX ".metrics"
/* A larger file is refused: it is no file of metrics. */
#define MOST_BYTES      ((size_t)1 << 20)
#define STEP_BYTES      ((size_t)1 << 14)
#define LONGEST_WAIT_MS 10000 /* for the next bytes of a pipe */

static int load_fail(const char *path, int error)
{
	if (error == EFBIG)
		return ps__fail(PS_EINVAL, "%.500s is larger than 1 MiB: it is no file of metrics",
		                path);
	if (error == ENOMEM)
		return ps__fail_memory("a file of metrics");
	if (error == ETIMEDOUT)
		return ps__fail(PS_ESYS, "metrics: %.500s: nothing was written to it for %d s",
		                path, LONGEST_WAIT_MS / 1000);
	return ps__fail(error == EACCES || error == EPERM ? PS_EPERM : PS_ESYS,
	                "metrics: %.500s can't be read: %s", path, strerror(error));
}

/* True if the file has a built-in file's name and text: installed files repeat those. */
static bool load_is_builtin(const char *path, const char *text)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (size_t index = 0; index < ps__metric_text_count; index++) {
		const struct ps__metric_text *builtin = &ps__metric_texts[index];
		size_t length = strlen(text);
		/* load_read_text has removed blanks at the end. */
		if (strcmp(builtin->name, name) == 0 && strncmp(builtin->text, text, length) == 0 &&
		    strspn(builtin->text + length, "\n") == strlen(builtin->text + length))
			return true;
	}
	return false;
}

static int load_text(const char *path, const char *text)
{
	struct ps__metric_file *file = ps__metric_file_create();

	if (!file)
		return ps__fail_memory("a file of metrics");
	int result = ps__metric_file_parse(file, path, text);
	if (result == PS_OK) {
		file->group.path = ps__arena_strdup(&file->arena, path);
		result = file->group.path ? PS_OK : ps__fail_memory("a file of metrics");
	}
	if (result == PS_OK)
		ps__metric_add_file(file);
	else
		ps__metric_file_destroy(file);
	return result;
}

/* Waits until a pipe has input or has no writer any more. Returns 0 or an errno. */
static int load_wait(int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	int ready = ps__os.poll(&pollfd, 1, LONGEST_WAIT_MS);

	if (ready == 0)
		return ETIMEDOUT;
	return ready > 0 || errno == EINTR ? 0 : errno;
}

/* Reads a file that is open. Returns the length, or -errno. A 0 follows the text. */
static ssize_t load_read_on(int fd, char **text)
{
	size_t length = 0, room = 0;

	while (length <= MOST_BYTES) {
		if (!PS__VECTOR_RESERVE(text, length, length + STEP_BYTES, &room))
			return -ENOMEM;
		ssize_t got = ps__os_read_retried(fd, *text + length, STEP_BYTES - 1);
		int error = got < 0 ? errno : 0;
		if (error == EAGAIN && (error = load_wait(fd)) == 0)
			continue;
		if (error)
			return -error;
		if (got == 0)
			return (ssize_t)length;
		length += (size_t)got;
	}
	return -EFBIG;
}

/* Reads a file. Returns the length, or -errno. The caller frees *text, also after a failure. */
static ssize_t load_read_text(const char *path, char **text)
{
	/* O_NONBLOCK: a named pipe without a writer is then empty, and open doesn't wait. */
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*text = NULL;
	if (fd < 0)
		return -errno;
	ssize_t length = load_read_on(fd, text);
	ps__os.close(fd);
	while (length > 0 && isspace((unsigned char)(*text)[length - 1]))
		(*text)[--length] = '\0';
	return length;
}

static int load_file(const char *path)
{
	char *text;
	ssize_t length = load_read_text(path, &text);
	int result = PS_OK;

	if (length < 0)
		result = load_fail(path, (int)-length);
	else if (strlen(text) < (size_t)length)
		result =
		    ps__fail(PS_EINVAL, "%.500s has a zero byte: it is no file of metrics", path);
	else if (!load_is_builtin(path, text))
		result = load_text(path, text);
	ps__os_free(text);
	return result;
}

struct folder {
	char **names;
	size_t count, room;
};

static bool load_is_wanted(const char *name)
{
	size_t length = strlen(name);

	return name[0] != '.' && length > strlen(SUFFIX) &&
	       strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

static int load_keep_name(const char *name, void *context)
{
	struct folder *folder = context;

	if (!load_is_wanted(name))
		return 0;
	if (!PS__VECTOR_GROW(&folder->names, folder->count, &folder->room))
		return ENOMEM;
	folder->names[folder->count] = ps__os_strdup(name);
	return folder->names[folder->count] ? (folder->count++, 0) : ENOMEM;
}

static int load_compare(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Reads all files of a folder, and returns the first failure. */
static int load_names(const char *path, const struct folder *folder)
{
	struct ps__failure failure = {.code = PS_OK};
	char file[PATH_MAX];

	for (size_t index = 0; index < folder->count; index++) {
		int length = snprintf(file, sizeof file, "%s/%s", path, folder->names[index]);
		ps__failure_keep(&failure, length < (int)sizeof file
		                               ? load_file(file)
		                               : load_fail(path, ENAMETOOLONG));
	}
	return ps__failure_return(&failure);
}

/* Reads the files in the order of their names, because a later metric replaces an earlier one. */
static int load_folder(const char *path)
{
	struct folder folder = {.names = NULL};
	int error = ps__os.list(path, load_keep_name, &folder);
	int result = error ? load_fail(path, error < 0 ? errno : error) : PS_OK;

	if (result == PS_OK && folder.count) {
		qsort(folder.names, folder.count, sizeof *folder.names, load_compare);
		result = load_names(path, &folder);
	}
	while (folder.count > 0)
		ps__os_free(folder.names[--folder.count]);
	ps__os_free(folder.names);
	return result;
}

/* Loads a file, or all files of a folder. */
static int load_path(const char *path)
{
	int fd = ps__os.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOTDIR)
		return load_file(path);
	if (fd < 0)
		return load_fail(path, errno);
	ps__os.close(fd);
	return load_folder(path);
}

/* False if the folder is missing or out of reach, as when HOME is another user's. */
static bool load_is_there(const char *path)
{
	int fd = ps__os.open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR && errno != EACCES;
	ps__os.close(fd);
	return true;
}

/* Loads the user's folder, if there is one. */
static int load_home(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char path[PATH_MAX];
	int length = -1;

	if (config && config[0] == '/')
		length = snprintf(path, sizeof path, "%s/perfsage/metrics", config);
	else if (home && home[0] == '/')
		length = snprintf(path, sizeof path, "%s/.config/perfsage/metrics", home);
	if (length < 0 || length >= (int)sizeof path)
		return PS_OK;
	return load_is_there(path) ? load_path(path) : PS_OK;
}

static void load_listed(const char *list, struct ps__failure *failure)
{
	char path[PATH_MAX];

	for (const char *at = list; *at;) {
		size_t length = strcspn(at, ":");
		const char *begin = at;
		at += length + (at[length] == ':');
		if (length == 0)
			continue;
		if (length >= sizeof path) {
			ps__failure_keep(failure, load_fail(begin, ENAMETOOLONG));
			continue;
		}
		memcpy(path, begin, length);
		path[length] = '\0';
		ps__failure_keep(failure, load_path(path));
	}
}

/* False if the program runs with another user's rights: then its caller's environment must not
 * choose files, because error messages quote them. File capabilities are allowed, except those with
 * which a program may open any file. */
static bool load_may_follow_environment(void)
{
	char status[PS__PROC_STATUS_BYTES];

	if (!getauxval(AT_SECURE))
		return true;
	if (getuid() != geteuid() || getgid() != getegid() || !ps__proc_status_read(status))
		return false;
	/* If the line is missing, all capabilities are assumed: the buffer may be too small for
	 * it. */
	unsigned long long held = ps__proc_status_number(status, "CapEff", 16, ULLONG_MAX);
	return !(held >> CAP_DAC_OVERRIDE & 1) && !(held >> CAP_DAC_READ_SEARCH & 1);
}

static int load_of_user(void)
{
	const char *list = getenv("PERFSAGE_METRICS");
	struct ps__failure failure = {.code = PS_OK};

	if (!load_may_follow_environment())
		return PS_OK;
	ps__failure_keep(&failure, load_home());
	if (list)
		load_listed(list, &failure);
	return ps__failure_return(&failure);
}

int ps_metric_load(const char *path)
{
	int result = ps__metric_load_builtin();

	if (result != PS_OK)
		return result;
	int cancel = ps__cancel_hold();
	result = path ? load_path(path) : load_of_user();
	ps__cancel_release(cancel);
	return result;
}

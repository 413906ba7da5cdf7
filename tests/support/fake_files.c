/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fake kernel's /proc and /sys: files from memory, machines from a manifest, and reading
 * through descriptors.
 */
#include "fake_internal.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct file {
	struct file *next;
	char *path;
	size_t length; /* of the path: paths are compared very often */
	char *content;
	size_t bytes; /* of a content that is no text; 0: it is */
	int error;
};

static struct file *files;
static bool has_proc;

static const char *const defaults[][2] = {
    {"/sys/devices/system/cpu/possible", "0-1\n"},
    {"/sys/devices/system/cpu/present", "0-1\n"},
    {"/sys/devices/system/cpu/online", "0-1\n"},
    {"/sys/bus/event_source/devices/software/type", "1\n"},
    {"/sys/bus/event_source/devices/tracepoint/type", "2\n"},
    {"/sys/bus/event_source/devices/breakpoint/type", "5\n"},
    {"/proc/sys/kernel/perf_event_paranoid", "2\n"},
    {"/proc/sys/kernel/perf_event_mlock_kb", "516\n"},
    {"/proc/sys/kernel/perf_event_max_sample_rate", "100000\n"},
};

static struct file *file_find(const char *path)
{
	struct file *file = files;
	size_t length = strlen(path);

	while (file && (file->length != length || memcmp(file->path, path, length)))
		file = file->next;
	return file;
}

static struct file *file_make(const char *path)
{
	struct file *file = file_find(path);

	if (file)
		return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		abort();
	file->path = strdup(path);
	file->length = strlen(path);
	file->next = files;
	files = file;
	return file;
}

static void files_drop(const char *prefix)
{
	struct file **link = &files;

	while (*link) {
		struct file *file = *link;

		if (strncmp(file->path, prefix, strlen(prefix))) {
			link = &file->next;
			continue;
		}
		*link = file->next;
		free(file->path);
		free(file->content);
		free(file);
	}
}

const char *fake__file_content(const char *path)
{
	struct file *file = file_find(path);

	return file ? file->content : NULL;
}

void fake__file_put(const char *path, const char *content)
{
	struct file *file = file_make(path);

	free(file->content);
	file->content = content ? strdup(content) : NULL;
	file->bytes = 0;
	file->error = content ? 0 : ENOENT;
}

void fake__file_put_bytes(const char *path, const void *bytes, size_t size_bytes)
{
	struct file *file = file_make(path);

	free(file->content);
	file->content = malloc(size_bytes);
	if (!file->content)
		abort();
	memcpy(file->content, bytes, size_bytes);
	file->bytes = size_bytes;
	file->error = 0;
}

void fake__files_reset(void)
{
	has_proc = true;
	files_drop("");
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		fake__file_put(defaults[i][0], defaults[i][1]);
}

void fake_file(const char *path, const char *content)
{
	fake__lock();
	fake__file_put(path, content);
	fake__unlock();
}

void fake_unmount_proc(void)
{
	fake__lock();
	has_proc = false;
	fake__unlock();
}

static bool is_gone(const char *path)
{
	return !has_proc && !strncmp(path, "/proc/", strlen("/proc/"));
}

void fake_file_error(const char *path, int error)
{
	fake__lock();
	file_make(path)->error = error;
	fake__unlock();
}

void fake_machine(const char *manifest_path)
{
	FILE *manifest = fopen(manifest_path, "r");
	char *line = NULL, *path = NULL, *content = strdup("");
	size_t capacity = 0;

	ck_assert_msg(manifest != NULL, "%s: %s", manifest_path, strerror(errno));
	fake__lock();
	files_drop("/sys/");
	while (getline(&line, &capacity, manifest) >= 0) {
		if (!strncmp(line, "== ", 3)) {
			if (path)
				fake__file_put(path, content);
			free(path);
			free(content);
			path = strndup(line + 3, strcspn(line + 3, "\n"));
			content = strdup("");
		} else {
			char *longer = NULL;

			if (asprintf(&longer, "%s%s", content, line) < 0)
				abort();
			free(content);
			content = longer;
		}
	}
	if (path)
		fake__file_put(path, content);
	fake__unlock();
	free(path);
	free(content);
	free(line);
	fclose(manifest);
}

/* /proc/<tid>/stat, /proc/<pid>/task/<tid>/stat, self and thread-self; NULL if path is none of
 * these. */
static struct fake_task *task_of_path(const char *path)
{
	char whole[sizeof("stat")] = "";
	int pid, tid, length = 0;

	if (!strcmp(path, "/proc/thread-self/stat") || !strcmp(path, "/proc/self/stat"))
		return fake__self();
	if (sscanf(path, "/proc/%d/task/%d/%4s%n", &pid, &tid, whole, &length) == 3 ||
	    sscanf(path, "/proc/self/task/%d/%4s%n", &tid, whole, &length) == 2 ||
	    sscanf(path, "/proc/%d/%4s%n", &tid, whole, &length) == 2)
		return !strcmp(whole, "stat") && !path[length] ? fake__task_find(tid) : NULL;
	return NULL;
}

/* The folder's name has this length. */
static bool is_in_folder(const struct file *file, const char *folder, size_t length)
{
	return file->content && file->length > length && file->path[length] == '/' &&
	       !memcmp(file->path, folder, length);
}

static bool is_folder(const char *path)
{
	size_t length = strlen(path);

	for (struct file *file = files; file; file = file->next)
		if (is_in_folder(file, path, length))
			return true;
	return false;
}

static bool is_cgroup(const char *path)
{
	char procs[512];

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	return file_find(procs) != NULL;
}

int fake__open(const char *path, int flags)
{
	struct file *file;
	struct fake_task *task;
	int fd;

	if (fake__enter(FAKE_OPEN))
		return -1;
	/* Opening that one asks whether processes may be moved. */
	if ((flags & O_ACCMODE) != O_RDONLY && !strstr(path, "/cgroup.procs"))
		fake__violation("open(%s): not read-only", path);
	if (!(flags & O_CLOEXEC))
		fake__violation("open(%s): without O_CLOEXEC", path);
	if (is_gone(path))
		return fake__fail(ENOENT);
	if (!file_find(path))
		fake__task_put_status(path);
	file = file_find(path);
	task = task_of_path(path);
	/* The name alone puts it into a folder: all of its fields are the task's, if there is one.
	 */
	if (task && file && file->content && strlen(file->content) < 20)
		file = NULL;
	if (file && (flags & O_PATH) && is_folder(path))
		file = NULL; /* found without permissions */
	if (file && file->error)
		return fake__fail(file->error);
	if (file && (flags & O_DIRECTORY))
		return fake__fail(ENOTDIR);
	if (!file && !task && !(is_folder(path) && (flags & O_DIRECTORY)))
		return fake__fail(is_folder(path) ? EISDIR : ENOENT);
	fd = fake__fd_new();
	if (fd < 0)
		return fake__fail(errno);
	fake__fd(fd)->task = task;
	fake__fd(fd)->stat_path = file && task ? file->path : NULL;
	fake__fd(fd)->is_cgroup = !file && !task && is_cgroup(path);
	if (file) {
		size_t length = file->bytes ? file->bytes : strlen(file->content);
		char *copy = malloc(length + 1);
		if (!copy)
			abort();
		memcpy(copy, file->content, length);
		copy[length] = '\0';
		fake__fd(fd)->content = copy;
		fake__fd(fd)->length = length;
	}
	fake__unlock();
	return fd;
}

/* Bytes of a file or of a task's stat, from offset; -errno on failure. */
static ssize_t file_read(struct fake_fd *slot, void *buffer, size_t size_bytes, size_t offset)
{
	const char *content = slot->content;
	size_t length = slot->length;
	char *stat = NULL;

	if (slot->task) {
		if (slot->task->looks_left && --slot->task->looks_left == 0)
			slot->task->ended = true;
		if (slot->task->ended)
			return -ESRCH;
		stat = fake__task_stat(slot->task);
		content = slot->stat_path ? fake__file_content(slot->stat_path) : stat;
		content = content ? content : slot->content; /* as it was opened */
		length = strlen(content);
	}
	if (offset > length)
		offset = length;
	if (size_bytes > length - offset)
		size_bytes = length - offset;
	memcpy(buffer, content + offset, size_bytes);
	free(stat);
	return (ssize_t)size_bytes;
}

int fake__pipe(int ends[2], int flags)
{
	if (fake__enter(FAKE_PIPE))
		return -1;
	if (flags != (O_CLOEXEC | O_NONBLOCK))
		fake__violation("pipe(%#x): it must not block", (unsigned)flags);
	int reader = fake__fd_new();
	int writer = reader < 0 ? -1 : fake__fd_new();
	if (writer < 0) {
		int error = errno;
		fake__unlock();
		if (reader >= 0)
			fake__close(reader);
		errno = error;
		return -1;
	}
	fake__fd(writer)->number = fake__fd(reader)->number;
	fake__fd(writer)->pipe.is_end = fake__fd(reader)->pipe.is_end = true;
	fake__fd(writer)->pipe.reader = reader;
	ends[0] = reader;
	ends[1] = writer;
	fake__unlock();
	return 0;
}

int fake__fstat(int fd, struct stat *status)
{
	if (fake__enter(FAKE_FSTAT))
		return -1;
	const struct fake_fd *slot = fake__fd(fd);
	if (!slot) {
		fake__unlock();
		return fstat(fd, status); /* of a real file */
	}
	*status = (struct stat){.st_dev = 1, .st_ino = slot->number};
	if (slot->content) /* the file of a namespace has its number as its content */
		status->st_ino = strtoull(slot->content, NULL, 10);
	fake__unlock();
	return 0;
}

ssize_t fake__write(int fd, const void *buffer, size_t size_bytes)
{
	(void)buffer;
	if (fake__enter(FAKE_WRITE))
		return -1;
	const struct fake_fd *slot = fake__fd(fd);
	struct fake_fd *reader = slot && slot->pipe.reader ? fake__fd(slot->pipe.reader) : NULL;
	if (!reader) {
		fake__violation("write(%d): no pipe", fd);
		return fake__fail(EBADF);
	}
	reader->pipe.bytes += size_bytes;
	fake__unlock();
	return (ssize_t)size_bytes;
}

static ssize_t read_pipe(struct fake_fd *slot, size_t size_bytes)
{
	size_t length = size_bytes < slot->pipe.bytes ? size_bytes : slot->pipe.bytes;

	slot->pipe.bytes -= length;
	return length ? (ssize_t)length : -EAGAIN;
}

ssize_t fake__read(int fd, void *buffer, size_t size_bytes)
{
	struct fake_fd *slot;
	ssize_t length;

	if (fake__enter(FAKE_READ))
		return -1;
	slot = fake__fd(fd);
	if (!slot) {
		fake__violation("read(%d): not open", fd);
		return fake__fail(EBADF);
	}
	if (slot->pipe.is_end)
		length = read_pipe(slot, size_bytes);
	else if (slot->counter)
		length = fake__counter_read(slot->counter, buffer, size_bytes);
	else
		length = file_read(slot, buffer, size_bytes, slot->offset);
	if (length < 0)
		return fake__fail((int)-length);
	slot->offset += (size_t)length;
	fake__unlock();
	return length;
}

ssize_t fake__pread(int fd, void *buffer, size_t size_bytes, off_t offset)
{
	struct fake_fd *slot;
	ssize_t length;

	if (fake__enter(FAKE_PREAD))
		return -1;
	slot = fake__fd(fd);
	if (!slot) {
		fake__violation("pread(%d): not open", fd);
		return fake__fail(EBADF);
	}
	if (slot->counter)
		return fake__fail(ESPIPE);
	length = file_read(slot, buffer, size_bytes, (size_t)offset);
	if (length < 0)
		return fake__fail((int)-length);
	fake__unlock();
	return length;
}

/* Adds the first step of `rest` to names, once. */
static void names_add(char ***names, size_t *count, const char *rest)
{
	size_t length = strcspn(rest, "/");

	for (size_t i = 0; i < *count; i++)
		if (strlen((*names)[i]) == length && !strncmp((*names)[i], rest, length))
			return;
	*names = realloc(*names, (*count + 1) * sizeof(**names));
	if (!*names)
		abort();
	(*names)[(*count)++] = strndup(rest, length);
}

int fake__list(const char *path, int (*visit)(const char *name, void *context), void *context)
{
	size_t length = strlen(path), count = 0;
	char **names = NULL;
	int result = 0;

	if (fake__enter(FAKE_LIST))
		return -1;
	if (is_gone(path))
		return fake__fail(ENOENT);
	while (length > 1 && path[length - 1] == '/')
		length--;
	for (struct file *file = files; file; file = file->next)
		if (is_in_folder(file, path, length))
			names_add(&names, &count, file->path + length + 1);
	if (!count)
		return fake__fail(fake__file_content(path) ? ENOTDIR : ENOENT);
	fake__unlock();
	for (size_t i = 0; i < count && !result; i++)
		result = visit(names[i], context);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/file.c: what is written to a pipe whose reader makes room meanwhile. tools/part.c: a file
 * that a signal ends before it is known, and one that can't get the old one's permissions. */
#include "support/fixture.h"
#include "support/scene.h"
#include "tools/file.h"
#include "tools/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH 6000

static unsigned long looks_at_pipe;

/* The pipe is in use at the first look, and empty from the second one on: its reader was quick. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list rest;

	va_start(rest, request);
	void *argument = va_arg(rest, void *);
	va_end(rest);
	if (request != FIONREAD)
		return (int)syscall(SYS_ioctl, fd, request, argument);
	*(int *)argument = looks_at_pipe++ == 0;
	return 0;
}

START_TEST(a_pipe_gets_as_many_bytes_as_there_are)
{
	struct tool_watcher watcher;
	struct tool_file file;
	char *got = calloc(1, 65536);
	int ends[2];

	looks_at_pipe = 0;
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(tool_watcher_create(&watcher, false), 0);
	ck_assert_int_eq(tool_file_take(&file, ends[1], "a pipe", &watcher), 0);
	for (int byte = 0; byte < LENGTH; byte++)
		putc('a' + byte % 26, file.stream);
	ck_assert_int_eq(tool_file_flush(&file), 0);
	ck_assert_int_eq(tool_file_finish(&file, false), 0);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], got, 65536), LENGTH);
	for (int byte = 0; byte < LENGTH; byte++)
		ck_assert_int_eq(got[byte], 'a' + byte % 26);
	ck_assert_uint_ge(looks_at_pipe, 1);
	tool_watcher_destroy(&watcher);
	close(ends[0]);
	free(got);
}
END_TEST

static bool ends_at_lock;

/* The signal comes when the file is made and locked. */
int flock(int fd, int operation)
{
	if (ends_at_lock)
		raise(SIGTERM);
	return (int)syscall(SYS_flock, fd, operation);
}

START_TEST(a_signal_at_its_creation_leaves_no_part)
{
	char folder[] = "/tmp/perfsage-test-file-XXXXXX", named[64];
	struct tool_watcher watcher;
	struct tool_part part;
	int status;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(named, sizeof named, "%s/report", folder);
	pid_t child = fork();
	if (child == 0) {
		if (tool_watcher_create(&watcher, false) == 0)
			tool_watcher_release(&watcher);
		ends_at_lock = true;
		tool_part_create(&part, named);
		_exit(EXIT_SUCCESS);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGTERM);
	/* It is empty. */
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

static bool has_fixed_modes;

/* Some file systems refuse to change the permissions of a file. */
int fchmod(int fd, mode_t mode)
{
	if (has_fixed_modes)
		return errno = EPERM, -1;
	return (int)syscall(SYS_fchmod, fd, mode);
}

/* Else nobody but the user could read it from then on, and nothing would tell. */
START_TEST(permissions_that_can_not_be_taken_over_are_a_failure)
{
	char folder[] = "/tmp/perfsage-test-file-XXXXXX", named[64], beside[128];
	struct tool_part part;
	struct stat status;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(named, sizeof named, "%s/report", folder);
	snprintf(beside, sizeof beside, "%s.perfsage-part", named);
	int old = open(named, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(old, 0);
	ck_assert_int_eq(fchmod(old, 0640), 0);
	ck_assert_int_eq(tool_part_create(&part, named), 0);
	has_fixed_modes = true;
	ck_assert_int_eq(tool_part_finish(&part), -1);
	ck_assert_int_eq(errno, EPERM);
	has_fixed_modes = false;
	ck_assert_int_eq(access(beside, F_OK), 0);
	ck_assert_int_eq(tool_part_finish(&part), 0);
	tool_part_destroy(&part, true);
	ck_assert_int_eq(stat(named, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0640);
	close(old);
	ck_assert_int_eq(unlink(named), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("file");
	TCase *tests = scene_case(suite, "file");

	tcase_add_test(tests, a_pipe_gets_as_many_bytes_as_there_are);
	tcase_add_test(tests, a_signal_at_its_creation_leaves_no_part);
	tcase_add_test(tests, permissions_that_can_not_be_taken_over_are_a_failure);
	return scene_run(suite);
}

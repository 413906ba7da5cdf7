/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that the kernel does not count, on the real one: a copy of `true` that may not be read,
 * or for root, who reads everything, that is set-group-ID. Sees the installed header and the shared
 * library alone.
 */

#include "here.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_GROUP 65534

static char folder[256];
static char program[300];

static void make_copy(void)
{
	const char *top = getenv("TMPDIR");
	char bytes[65536];
	ssize_t length;

	snprintf(folder, sizeof folder, "%s/perfsage.XXXXXX", top && *top ? top : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(program, sizeof program, "%s/copy-of-true", folder);
	int in = open("/bin/true", O_RDONLY),
	    out = open(program, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	ck_assert(in >= 0 && out >= 0);
	while ((length = read(in, bytes, sizeof bytes)) > 0)
		ck_assert_int_eq(write(out, bytes, (size_t)length), length);
	close(in);
	ck_assert_int_eq(close(out), 0);
}

static void remove_copy(void)
{
	unlink(program);
	rmdir(folder);
}

/* NULL, or why it can't be had. */
static const char *make_uncounted(void)
{
	struct statvfs where;

	if (geteuid() != 0)
		return chmod(program, 0111) == 0 ? NULL : "chmod fails";
	if (statvfs(program, &where) != 0 || where.f_flag & ST_NOSUID)
		return "set-group-ID has no effect here";
	if (chown(program, (uid_t)-1, OTHER_GROUP) != 0 || chmod(program, 02755) != 0)
		return "this root can't give files to a group";
	return NULL;
}

/* Counts the program from its exec to its end. NULL, or why it can't be counted here. The set is
 * the caller's. */
static const char *count_program(struct ps_eventset **set, struct ps_component *root)
{
	int go[2];
	char byte;

	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			execl(program, program, (char *)NULL);
		_exit(99);
	}
	close(go[0]);
	ck_assert_int_eq(ps_eventset_create(set), PS_OK);
	bool can_count = ps_eventset_add(*set, "page-faults") == PS_OK &&
	                 ps_eventset_attach_process(*set, pid) == PS_OK &&
	                 ps_eventset_set_enable_on_exec(*set, 1) == PS_OK &&
	                 ps_start(*set) == PS_OK;
	if (can_count)
		ck_assert_int_eq(write(go[1], "", 1), 1);
	close(go[1]);
	int status = 0;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (!can_count)
		return ps_error_detail();
	ck_assert_int_eq(ps_stop(*set, root, NULL, NULL), PS_OK);
	return NULL;
}

static void check_program(size_t programs, enum ps_status status)
{
	struct ps_topology *topology;
	struct ps_eventset *set = NULL;
	struct ps_uncounted found;
	struct ps_value total;

	ck_assert_int_eq(ps_topology_load(&topology, NULL), PS_OK);
	struct ps_component *root = ps_topology_root(topology);
	const char *why = count_program(&set, root);
	if (!why && ps_eventset_uncounted(set, &found) != PS_OK)
		why = ps_error_detail();
	if (why) {
		ps_test_skip(why);
	} else {
		ck_assert_uint_eq(found.programs, programs);
		ck_assert_str_eq(found.name, programs ? "copy-of-true" : "");
		ck_assert_int_eq(ps_component_total(root, "page-faults", &total), PS_OK);
		ck_assert_int_eq(total.status, status);
		ck_assert(programs || total.value > 0);
	}
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}

START_TEST(an_ordinary_program_is_counted)
{
	make_copy();
	check_program(0, PS_STATUS_COUNTED);
	remove_copy();
}
END_TEST

START_TEST(a_program_that_the_kernel_does_not_count_is_told)
{
	make_copy();
	const char *why = make_uncounted();

	if (why)
		ps_test_skip(why);
	else
		check_program(1, PS_STATUS_INCOMPLETE);
	remove_copy();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("uncounted");
	TCase *programs = tcase_create("programs");

	tcase_add_test(programs, an_ordinary_program_is_counted);
	tcase_add_test(programs, a_program_that_the_kernel_does_not_count_is_told);
	suite_add_tcase(suite, programs);
	return here_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A log that takes the place of an older one may be used by those who might use that, at no moment
 * by more. */
#include "support/skip.h"
#include "test_log.h"

#include <fcntl.h>
#include <sys/syscall.h>

#define ALL_MODES 07777

/* The descriptor's permissions before and after they were changed last. */
static mode_t mode_before, mode_after;

int fchmod(int fd, mode_t mode)
{
	struct stat status;

	ck_assert_int_eq(fstat(fd, &status), 0);
	mode_before = status.st_mode & ALL_MODES;
	mode_after = mode;
	return (int)syscall(SYS_fchmod, fd, mode);
}

/* As the file stands at the path. */
static struct stat looked_at(void)
{
	struct stat status;

	ck_assert_int_eq(stat(log_path, &status), 0);
	return status;
}

static void replace(void)
{
	const struct ps_log_options options = {.size = sizeof options, .flags = PS_LOG_REPLACE};
	ino_t older = looked_at().st_ino;

	ps_log_destroy(log_of(&options));
	ck_assert_uint_ne(looked_at().st_ino, older);
}

/* _i: the permissions. Those of a new file would be 0644. */
START_TEST(a_log_that_is_replaced_has_the_permissions_of_the_older_one)
{
	static const mode_t modes[] = {0600, 0640, 0644, 0666, 0700};
	mode_t mode = modes[_i], usual = umask(022);

	ps_log_destroy(log_of(NULL));
	ck_assert_uint_eq(looked_at().st_mode & ALL_MODES, 0644);
	ck_assert_int_eq(chmod(log_path, mode), 0);
	replace();
	umask(usual);
	ck_assert_uint_eq(looked_at().st_mode & ALL_MODES, mode);
	ck_assert_uint_eq(mode_after, mode);
	ck_assert_uint_eq(mode_before & ~mode, 0);
	/* Nothing else is wrong with it. */
	struct ps_log_reader *reader = log_reader();
	ck_assert_int_eq((int)ps_log_end(reader), PS_LOG_END_CLOSED);
	ps_log_close(reader);
}
END_TEST

START_TEST(a_log_that_root_replaces_has_the_owner_of_the_older_one)
{
	ps_log_destroy(log_of(NULL));
	if (chown(log_path, 65534, 65533) < 0) {
		ps_test_skip("the owner of a file can't be changed here");
		return;
	}
	ck_assert_int_eq(chmod(log_path, 0640), 0);
	replace();
	struct stat status = looked_at();
	ck_assert_uint_eq(status.st_uid, 65534);
	ck_assert_uint_eq(status.st_gid, 65533);
	ck_assert_uint_eq(status.st_mode & ALL_MODES, 0640);
}
END_TEST

/* The owner can't be another one then; nothing fails. */
START_TEST(a_log_of_another_user_that_may_be_written_is_replaced)
{
	const struct ps_log_options options = {.size = sizeof options, .flags = PS_LOG_REPLACE};
	struct ps_log *log = NULL;
	uid_t user = geteuid();
	char folder[80], path[96];

	snprintf(folder, sizeof folder, "%s-folder", log_path);
	snprintf(path, sizeof path, "%s/log", folder);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	ck_assert_int_eq(chmod(folder, 0777), 0);
	check_ok(ps_log_create(&log, path, scene.root, NULL));
	ps_log_destroy(log);
	ck_assert_int_eq(chmod(path, 0666), 0);
	log = NULL;
	int result = PS_OK;
	bool is_other = user == 0 && seteuid(65534) == 0;
	if (is_other) {
		result = ps_log_create(&log, path, scene.root, &options);
		ck_assert_int_eq(seteuid(user), 0);
	}
	struct stat status;
	ck_assert_int_eq(stat(path, &status), 0);
	ps_log_destroy(log);
	ck_assert_int_eq(unlink(path) | rmdir(folder), 0);
	if (!is_other) {
		ps_test_skip("only root can become another user");
		return;
	}
	check_ok(result);
	ck_assert_uint_eq(status.st_uid, 65534);
	ck_assert_uint_eq(status.st_mode & ALL_MODES, 0666);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("replaced logs");
	TCase *tests = scene_case_of(suite, "replaced", log_setup, log_teardown);

	tcase_add_loop_test(tests, a_log_that_is_replaced_has_the_permissions_of_the_older_one, 0,
	                    5);
	tcase_add_test(tests, a_log_that_root_replaces_has_the_owner_of_the_older_one);
	tcase_add_test(tests, a_log_of_another_user_that_may_be_written_is_replaced);
	return scene_run(suite);
}

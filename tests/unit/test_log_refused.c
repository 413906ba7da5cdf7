/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs that can't be made, and calls on them that make no sense: each is refused, with its reason.
 */
#include "test_log.h"

#include "support/skip.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>

#define BLOCK 65536

static void write_file(const char *text)
{
	int fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

START_TEST(no_file_but_an_older_log_is_replaced)
{
	const struct ps_log_options replace = {.size = sizeof replace, .flags = PS_LOG_REPLACE};
	struct ps_log *log = NULL;
	char text[16] = "";

	write_file("a diary");
	check_fails(ps_log_create(&log, log_path, scene.root, NULL), PS_ESYS);
	check_detail("is there already");
	check_fails(ps_log_create(&log, log_path, scene.root, &replace), PS_ESYS);
	check_detail("no log of perfsage");
	int fd = open(log_path, O_RDONLY);
	ck_assert_int_eq(read(fd, text, sizeof text), 7);
	ck_assert_str_eq(text, "a diary");
	close(fd);
	unlink(log_path);
	log = log_of(&replace);
	ps_log_destroy(log);
	check_fails(ps_log_create(&log, log_path, scene.root, NULL), PS_ESYS);
	ps_log_destroy(log_of(&replace));
	/* Not what a link leads to, either. */
	char target[80];
	snprintf(target, sizeof target, "%s-target", log_path);
	ck_assert_int_eq(rename(log_path, target), 0);
	ck_assert_int_eq(symlink(target, log_path), 0);
	check_fails(ps_log_create(&log, log_path, scene.root, &replace), PS_ESYS);
	check_detail("symbolic link");
	ck_assert_int_eq(unlink(log_path) | unlink(target), 0);
	ck_assert_int_eq(mkdir(log_path, 0700), 0);
	check_fails(ps_log_create(&log, log_path, scene.root, &replace), PS_ESYS);
	check_detail("no log of perfsage");
	ck_assert_int_eq(rmdir(log_path), 0);
	check_fails(ps_log_create(&log, "/nowhere/log", scene.root, NULL), PS_ESYS);
	check_detail("/nowhere/log");
}
END_TEST

START_TEST(a_log_that_is_written_to_is_not_replaced)
{
	const struct ps_log_options replace = {.size = sizeof replace, .flags = PS_LOG_REPLACE};
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_log *first = log_of(&replace), *second = NULL;
	glob_t found;
	char beside[80];

	/* It is still open after it took the place of another one. */
	ps_log_destroy(first);
	first = log_of(&replace);
	check_ok(ps_start(set));
	struct ps_log_stream *stream = log_stream(first, set);
	check_fails(ps_log_create(&second, log_path, scene.root, &replace), PS_ESYS);
	check_detail("still written to");
	snprintf(beside, sizeof beside, "%s.*", log_path);
	ck_assert_int_eq(glob(beside, 0, NULL, &found), GLOB_NOMATCH);
	/* Its stream keeps the file open. */
	ps_log_destroy(first);
	check_fails(ps_log_create(&second, log_path, scene.root, &replace), PS_ESYS);
	log_record(stream, 5);
	ps_log_stream_destroy(stream);
	struct ps_log_reader *reader = log_reader();
	ck_assert(log_next(reader, 0));
	ck_assert_int_eq(log_units(reader), 5);
	ps_log_close(reader);
	ps_log_destroy(log_of(&replace));
	ps_eventset_destroy(set);
}
END_TEST

/* NFS makes a lock of bytes of a flock: an exclusive one needs a descriptor that may write. */
static bool is_on_nfs;

int flock(int fd, int operation)
{
	int access = fcntl(fd, F_GETFL) & O_ACCMODE;

	if (is_on_nfs && operation & LOCK_EX && access == O_RDONLY)
		return errno = EBADF, -1;
	return (int)syscall(SYS_flock, fd, operation);
}

START_TEST(a_log_on_nfs_that_is_written_to_is_not_replaced)
{
	const struct ps_log_options replace = {.size = sizeof replace, .flags = PS_LOG_REPLACE};
	struct ps_log *first = log_of(NULL), *second = NULL;

	is_on_nfs = true;
	check_fails(ps_log_create(&second, log_path, scene.root, &replace), PS_ESYS);
	check_detail("still written to");
	ps_log_destroy(first);
	ps_log_destroy(log_of(&replace));
	is_on_nfs = false;
}
END_TEST

/* Root may write to all files: it goes on as another user. */
START_TEST(a_log_that_may_not_be_written_is_not_replaced)
{
	const struct ps_log_options replace = {.size = sizeof replace, .flags = PS_LOG_REPLACE};
	struct ps_log *log = NULL;
	uid_t user = geteuid();

	ps_log_destroy(log_of(NULL));
	off_t size = log_size();
	ck_assert_int_eq(chmod(log_path, 0444), 0);
	if (user == 0 && seteuid(65534) < 0)
		ps_test_skip("root can't become another user here");
	int result = ps_log_create(&log, log_path, scene.root, &replace);
	ck_assert_int_eq(seteuid(user), 0);
	ck_assert_int_eq(result, PS_ESYS);
	check_detail("can't be opened for writing");
	ck_assert_int_eq(log_size(), size);
}
END_TEST

/* Where only so many more descriptors can be opened. */
static void check_lack(int (*call)(void), int left)
{
	struct rlimit limit, low;
	int next = dup(0);

	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = (struct rlimit){(rlim_t)(next + left), limit.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	int result = call();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(result, PS_ECOUNT);
	check_detail("ulimit -n");
}

static int replace_log(void)
{
	const struct ps_log_options replace = {.size = sizeof replace, .flags = PS_LOG_REPLACE};
	struct ps_log *log;

	return ps_log_create(&log, log_path, scene.root, &replace);
}

static int open_log(void)
{
	struct ps_log_reader *reader;

	return ps_log_open(&reader, log_path);
}

/* The second one is for the log that replaces the older one. */
START_TEST(a_lack_of_descriptors_is_told)
{
	ps_log_destroy(log_of(NULL));
	check_lack(replace_log, 1);
	check_lack(open_log, 0);
	unlink(log_path);
	/* valgrind makes the file, and then says that no descriptor is left. */
	check_lack(replace_log, 0);
}
END_TEST

START_TEST(an_older_log_stays_if_the_new_one_fails)
{
	const struct ps_log_options ring = {
	    .size = sizeof ring, .flags = PS_LOG_REPLACE, .ring_bytes = 64 * BLOCK};
	struct ps_log *log = log_of(NULL);
	glob_t found;
	char beside[80];

	ps_log_destroy(log);
	off_t size = log_size();
	log = NULL;
	limit_files(16 * BLOCK);
	check_fails(ps_log_create(&log, log_path, scene.root, &ring), PS_ESYS);
	limit_files(RLIM_INFINITY);
	ck_assert_ptr_null(log);
	ck_assert_int_eq(log_size(), size);
	struct ps_log_reader *reader = log_reader();
	ps_log_close(reader);
	check_ok(ps_log_create(&log, log_path, scene.root, &ring));
	ck_assert_int_gt(log_size(), size);
	ps_log_destroy(log);
	snprintf(beside, sizeof beside, "%s.*", log_path);
	ck_assert_int_eq(glob(beside, 0, NULL, &found), GLOB_NOMATCH);
}
END_TEST

START_TEST(bad_arguments_of_a_log_are_refused)
{
	struct ps_log_options options = {0};
	struct ps_log_reader *reader;
	struct ps_log *log;

	check_fails(ps_log_create(NULL, log_path, scene.root, NULL), PS_EINVAL);
	check_fails(ps_log_create(&log, NULL, scene.root, NULL), PS_EINVAL);
	check_fails(ps_log_create(&log, log_path, NULL, NULL), PS_EINVAL);
	check_fails(ps_log_create(&log, log_path, ps_component_child(scene.root, 0), NULL),
	            PS_EINVAL);
	check_fails(ps_log_create(&log, log_path, scene.root, &options), PS_EINVAL);
	check_detail("options->size is 0");
	options.size = sizeof options;
	options.flags = 2;
	check_fails(ps_log_create(&log, log_path, scene.root, &options), PS_EINVAL);
	options.flags = 0;
	options.ring_bytes = 2 * BLOCK - 1;
	check_fails(ps_log_create(&log, log_path, scene.root, &options), PS_EINVAL);
	check_detail("at least 131072");
	options.ring_bytes = 0;
	options.block_bytes = SIZE_MAX;
	check_fails(ps_log_create(&log, log_path, scene.root, &options), PS_EINVAL);
	ck_assert_int_eq((int)log_size(), -1);
	check_fails(ps_log_open(NULL, log_path), PS_EINVAL);
	check_fails(ps_log_open(&reader, NULL), PS_EINVAL);
	check_fails(ps_log_open(&reader, log_path), PS_ESYS);
	check_fails(ps_log_open(&reader, "/tmp"), PS_EINVAL);
	check_fails(ps_log_open(&reader, "/dev/null"), PS_EINVAL);
	check_fails(ps_log_next(NULL, NULL), PS_EINVAL);
	check_fails(ps_log_value(NULL, 0, NULL), PS_EINVAL);
	ps_log_destroy(NULL);
	ps_log_stream_destroy(NULL);
	ps_log_close(NULL);
	ck_assert_uint_eq(ps_log_lost(NULL), 0);
	ck_assert_uint_eq(ps_log_stream_count(NULL) + ps_log_damaged_blocks(NULL), 0);
	ck_assert_uint_eq(ps_log_time(NULL, 0), 0);
	ck_assert_ptr_null(ps_log_root(NULL));
}
END_TEST

static void check_type(struct ps_log *log, struct ps_eventset *set, struct ps_log_type type,
                       const char *part)
{
	struct ps_log_stream *stream = NULL;

	check_fails(ps_log_stream_create(&stream, log, set, &type), PS_EINVAL);
	check_detail(part);
	ck_assert_ptr_null(stream);
}

START_TEST(bad_types_are_refused)
{
	static const char *const twice[] = {"a", "a"}, *const empty[] = {"a", ""};
	static const char *const tab[] = {"a\tb"}, *const missing[] = {NULL};
	static const struct ps_log_field unknown[] = {{"x", (enum ps_log_kind)7}};
	static const struct ps_log_field same[] = {{"x", PS_LOG_REAL}, {"x", PS_LOG_REAL}};
	char longest[PS_LOG_TEXT_BYTES + 2] = {0};
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream;
	struct ps_log_type type = log_type;

	memset(longest, 'x', PS_LOG_TEXT_BYTES + 1);
	check_fails(ps_log_stream_create(&stream, log, set, &log_type), PS_ENOTRUN);
	check_ok(ps_start(set));
	check_fails(ps_log_stream_create(NULL, log, set, &type), PS_EINVAL);
	check_fails(ps_log_stream_create(&stream, NULL, set, &type), PS_EINVAL);
	check_fails(ps_log_stream_create(&stream, log, NULL, &type), PS_EINVAL);
	check_fails(ps_log_stream_create(&stream, log, set, NULL), PS_EINVAL);
	type.size = 0;
	check_type(log, set, type, "type->size is 0");
	type = log_type, type.name = longest;
	check_type(log, set, type, "more than 63 bytes");
	type = log_type, type.points = twice;
	check_type(log, set, type, "two points have the name 'a'");
	type.points = empty;
	check_type(log, set, type, "point 1 is empty");
	type.points = tab, type.point_count = 1;
	check_type(log, set, type, "can't be shown");
	type.points = missing;
	check_type(log, set, type, "point 0 is NULL");
	type = log_type, type.point_count = 0;
	check_type(log, set, type, "1 to 32 points");
	type = log_type, type.field_count = 33;
	check_type(log, set, type, "up to 32 fields");
	type = log_type, type.fields = unknown, type.field_count = 1;
	check_type(log, set, type, "no kind");
	type.fields = same, type.field_count = 2;
	check_type(log, set, type, "two fields have the name 'x'");
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(bad_points_and_fields_are_refused)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	struct ps_value values[2];

	check_fails(ps_log_take(NULL, 0), PS_EINVAL);
	check_fails(ps_log_take(stream, 2), PS_EINVAL);
	check_fails(ps_log_set_integer(NULL, 0, 1), PS_EINVAL);
	check_fails(ps_log_set_integer(stream, 3, 1), PS_EINVAL);
	check_fails(ps_log_set_integer(stream, 1, 1), PS_EINVAL);
	check_detail("holds a real");
	check_fails(ps_log_set_real(stream, 0, 1), PS_EINVAL);
	check_fails(ps_log_set_text(stream, 2, NULL), PS_EINVAL);
	check_fails(ps_log_write(NULL), PS_EINVAL);
	log_record(stream, 5);
	/* Other events: another stream. */
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_add(set, "minor-faults"));
	check_ok(ps_start(set));
	check_fails(ps_log_take(stream, BEGIN), PS_EINVAL);
	check_detail("other events");
	struct ps_log_reader *reader = log_reader();
	check_fails(ps_log_interval(reader, 0, 1, NULL, values, 2), PS_ENOEVST);
	ck_assert(log_next(reader, 0));
	check_fails(ps_log_interval(reader, 0, 2, NULL, values, 2), PS_EINVAL);
	check_fails(ps_log_interval(reader, 0, 1, NULL, values, 0), PS_EBUF);
	check_fails(ps_log_interval(reader, 0, 1, NULL, NULL, 2), PS_EINVAL);
	check_fails(ps_log_interval(reader, 1, 0, NULL, values, 2), PS_ENOEVST);
	check_fails(ps_log_interval(reader, PS_LOG_PREVIOUS, 0, NULL, values, 2), PS_ENOEVST);
	check_fails(ps_log_interval(NULL, 0, 1, NULL, values, 2), PS_EINVAL);
	ps_log_close(reader);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

/* A file of the program's, under the number of the log's. */
static int take_number_of_log(void)
{
	int number = 0;

	for (struct stat log, there; number < 1024; number++) {
		if (stat(log_path, &log) == 0 && fstat(number, &there) == 0 &&
		    log.st_ino == there.st_ino && log.st_dev == there.st_dev)
			break;
	}
	ck_assert_int_lt(number, 1024);
	FILE *own = tmpfile();
	ck_assert_ptr_nonnull(own);
	fputs("a diary", own);
	fflush(own);
	ck_assert_int_eq(dup2(fileno(own), number), number);
	fclose(own);
	return number;
}

static void check_diary(int number)
{
	char text[16] = "";

	ck_assert_int_eq(pread(number, text, sizeof text, 0), 7);
	ck_assert_str_eq(text, "a diary");
	close(number);
}

/* Its records are in blocks that are mapped already, or lost, and counted. */
START_TEST(a_file_under_the_number_of_a_log_is_not_touched)
{
	struct ps_eventset *set = scene_started("page-faults", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set), *second = NULL;
	unsigned written = 0;
	int result;

	log_record(stream, 7);
	int number = take_number_of_log();
	do {
		check_ok(ps_log_take(stream, BEGIN));
		written++;
		result = ps_log_write(stream);
	} while (result == PS_OK && written < BLOCK);
	ck_assert_int_eq(result, PS_ECLOST);
	check_detail("has closed the descriptor of the log");
	check_fails(ps_log_stream_create(&second, log, set, &log_type), PS_ECLOST);
	ck_assert_uint_eq(ps_log_lost(log), 1);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	check_diary(number);
	ps_eventset_destroy(set);
	struct ps_log_reader *reader = log_reader();
	struct ps_log_record record = {.size = sizeof record};
	unsigned records = 0;
	while (ps_log_next(reader, &record) == PS_OK)
		records++;
	ck_assert_uint_eq(records, written); /* the first, and all but the last */
	ck_assert_int_eq((int)ps_log_end(reader), PS_LOG_END_OPEN);
	ps_log_close(reader);
}
END_TEST

START_TEST(a_file_under_the_number_of_a_reader_is_not_read)
{
	struct ps_eventset *set = scene_started("page-faults", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	struct ps_log_record record = {.size = sizeof record};

	log_record(stream, 7);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	struct ps_log_reader *reader = log_reader();
	int number = take_number_of_log();
	check_fails(ps_log_next(reader, &record), PS_ECLOST);
	check_detail("open the log again");
	ps_log_close(reader);
	check_diary(number);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log refused");
	TCase *tests = scene_case_of(suite, "refused", log_setup, log_teardown);

	tcase_add_test(tests, no_file_but_an_older_log_is_replaced);
	tcase_add_test(tests, a_log_that_is_written_to_is_not_replaced);
	tcase_add_test(tests, a_log_on_nfs_that_is_written_to_is_not_replaced);
	tcase_add_test(tests, a_log_that_may_not_be_written_is_not_replaced);
	tcase_add_test(tests, a_lack_of_descriptors_is_told);
	tcase_add_test(tests, an_older_log_stays_if_the_new_one_fails);
	tcase_add_test(tests, bad_arguments_of_a_log_are_refused);
	tcase_add_test(tests, bad_types_are_refused);
	tcase_add_test(tests, bad_points_and_fields_are_refused);
	tcase_add_test(tests, a_file_under_the_number_of_a_log_is_not_touched);
	tcase_add_test(tests, a_file_under_the_number_of_a_reader_is_not_read);
	return scene_run(suite);
}

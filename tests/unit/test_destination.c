/* SPDX-License-Identifier: BSD-3-Clause */
/* Text to a path, which appears whole or not at all, and to a descriptor. Real files, in a folder
 * of each test's own. */
#include "base/os.h"
#include "support/scene.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[64], path[512];
static bool has_fixed_modes;

/* Some file systems refuse to change the permissions of a file. */
int fchmod(int fd, mode_t mode)
{
	if (has_fixed_modes)
		return errno = EPERM, -1;
	return (int)syscall(SYS_fchmod, fd, mode);
}

static struct ps_eventset *set;

static void setup(void)
{
	scene_setup();
	has_fixed_modes = false;
	strcpy(folder, "/tmp/perfsage-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/tree", folder);
	set = scene_started("page-faults", NULL);
	fake_advance(PAGE_FAULTS, 1234);
	check_ok(ps_read(set, scene.root, NULL, NULL));
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof command, "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
	ps_eventset_destroy(set);
	scene_teardown();
}

static void write_old(const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	ck_assert_int_eq(chmod(path, mode), 0);
}

/* As scene_text. */
static const struct ps_print_options raw = {.size = sizeof raw, .flags = PS_PRINT_RAW};

/* What is in the file; freed by the caller. */
static char *content(void)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert(getdelim(&text, &room, '\0', file) >= 0);
	fclose(file);
	return text;
}

static void check_content(const char *expected)
{
	char *text = content();

	ck_assert_str_eq(text, expected);
	free(text);
}

static int files_in_folder(void)
{
	DIR *listing = opendir(folder);
	int count = 0;

	for (struct dirent *entry; (entry = readdir(listing));)
		count += entry->d_name[0] != '.';
	closedir(listing);
	return count;
}

START_TEST(a_path_gets_what_a_stream_gets)
{
	char *text = scene_text(PS_FORMAT_TEXT), *json = scene_text(PS_FORMAT_JSON);

	check_ok(ps_print_to_path(scene.root, &raw, path));
	check_content(text);
	check_ok(ps_export_to_path(scene.root, PS_FORMAT_JSON, NULL, path));
	check_content(json);
	ck_assert_int_eq(files_in_folder(), 1);
	free(text);
	free(json);
}
END_TEST

START_TEST(a_link_to_a_file_that_is_not_there_yet_stays)
{
	struct stat status;
	char link[160];

	snprintf(link, sizeof link, "%s/dangling", folder);
	ck_assert_int_eq(symlink("later", link), 0);
	check_ok(ps_print_to_path(scene.root, &raw, link));
	ck_assert_int_eq(lstat(link, &status), 0);
	ck_assert(S_ISLNK(status.st_mode));
	ck_assert_int_eq(stat(link, &status), 0);
	ck_assert_int_gt(status.st_size, 0);
	unlink(link);
	snprintf(link, sizeof link, "%s/later", folder);
	ck_assert_int_eq(unlink(link), 0);
}
END_TEST

START_TEST(permissions_and_links_stay)
{
	char link[160];
	struct stat status;

	write_old("old", 0640);
	snprintf(link, sizeof link, "%s/link", folder);
	ck_assert_int_eq(symlink("tree", link), 0);
	check_ok(ps_print_to_path(scene.root, &raw, link));
	ck_assert_int_eq(lstat(link, &status), 0);
	ck_assert(S_ISLNK(status.st_mode));
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0640);
	char *text = scene_text(PS_FORMAT_TEXT);
	check_content(text);
	free(text);
	ck_assert_int_eq(files_in_folder(), 2);
}
END_TEST

/* Of as many bytes as folders take: the name of the file beside is cut. */
START_TEST(a_name_may_be_as_long_as_the_folder_takes)
{
	size_t start = strlen(folder) + 1;

	for (size_t length = 200; length <= NAME_MAX; length++) {
		memset(path + start, 'n', length);
		path[start + length] = '\0';
		check_ok(ps_print_to_path(scene.root, &raw, path));
		check_ok(ps_export_to_path(scene.root, PS_FORMAT_CSV, NULL, path));
		ck_assert_int_eq(files_in_folder(), 1);
		ck_assert_int_eq(unlink(path), 0);
	}
	path[start + NAME_MAX] = 'n';
	path[start + NAME_MAX + 1] = '\0';
	check_fails(ps_print_to_path(scene.root, &raw, path), PS_ESYS);
	check_detail("File name too long");
	ck_assert_int_eq(files_in_folder(), 0);
}
END_TEST

START_TEST(permissions_that_can_not_be_taken_over_leave_the_old_file)
{
	write_old("old", 0640);
	has_fixed_modes = true;
	check_fails(ps_print_to_path(scene.root, &raw, path), PS_ESYS);
	check_detail("Operation not permitted");
	check_content("old");
	ck_assert_int_eq(files_in_folder(), 1);
	/* The new file has these from the start. */
	ck_assert_int_eq(chmod(path, 0600), 0);
	check_ok(ps_print_to_path(scene.root, &raw, path));
	ck_assert_int_eq(files_in_folder(), 1);
}
END_TEST

/* The file system takes the first bytes alone. */
static int tell_few_bytes(int resource, struct rlimit *limit)
{
	limit->rlim_cur = limit->rlim_max = resource == RLIMIT_FSIZE ? 10 : RLIM_INFINITY;
	return 0;
}

/* Not even a part of it is written: SIGXFSZ would end the process. */
START_TEST(a_limit_of_file_sizes_leaves_the_old_file)
{
	write_old("old", 0644);
	ps__os.getrlimit = tell_few_bytes;
	check_fails(ps_print_to_path(scene.root, &raw, path), PS_ESYS);
	check_detail("File too large");
	check_fails(ps_export_to_path(scene.root, PS_FORMAT_CSV, NULL, path), PS_ESYS);
	check_detail(path);
	check_content("old");
	ck_assert_int_eq(files_in_folder(), 1);
}
END_TEST

START_TEST(a_full_disk_leaves_the_old_file)
{
	struct rlimit all, few = {.rlim_cur = 10};

	write_old("old", 0644);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &all), 0);
	few.rlim_max = all.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
	int printed = ps_print_to_path(scene.root, &raw, path);
	int exported = ps_export_to_path(scene.root, PS_FORMAT_CSV, NULL, path);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &all), 0);
	ck_assert_int_eq(printed, PS_ESYS);
	ck_assert_int_eq(exported, PS_ESYS);
	check_detail(path);
	check_content("old");
	ck_assert_int_eq(files_in_folder(), 1);
}
END_TEST

START_TEST(a_lack_of_memory_leaves_the_old_file)
{
	write_old("old", 0644);
	for (unsigned nth = 1;; nth++) {
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_print_to_path(scene.root, &raw, path);
		if (!fake_fail_happened())
			break;
		ck_assert_int_eq(result, PS_ENOMEM);
		check_content("old");
		ck_assert_int_eq(files_in_folder(), 1);
	}
	fake_fail(FAKE_ALLOCATE, 0, 0);
}
END_TEST

START_TEST(what_is_no_regular_file_is_refused)
{
	char missing[160];

	check_fails(ps_print_to_path(scene.root, NULL, "/dev/null"), PS_ESYS);
	check_detail("'/dev/null'");
	check_detail("descriptor");
	check_fails(ps_print_to_path(scene.root, NULL, folder), PS_ESYS);
	snprintf(missing, sizeof missing, "%s/none/tree", folder);
	check_fails(ps_print_to_path(scene.root, NULL, missing), PS_ESYS);
	check_detail(missing);
	check_fails(ps_print_to_path(scene.root, NULL, ""), PS_ESYS);
	ck_assert_int_eq(files_in_folder(), 0);
}
END_TEST

/* What a killed run left, or another writer has, is neither taken nor removed. */
START_TEST(another_writers_file_is_left_alone)
{
	char other[600];

	snprintf(other, sizeof other, "%s.perfsage-part-%d-0", path, (int)getpid());
	int fd = open(other, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	check_ok(ps_print_to_path(scene.root, &raw, path));
	ck_assert_int_eq(access(other, F_OK), 0);
	ck_assert_int_eq(files_in_folder(), 2);
}
END_TEST

/* Reads slowly, so that the writer finds the pipe full. */
static void *read_slowly(void *descriptor)
{
	char *text = calloc(1, 1 << 20);
	size_t length = 0;
	ssize_t got;

	usleep(20000);
	while ((got = read(*(int *)descriptor, text + length, 512)) > 0)
		length += (size_t)got;
	return text;
}

START_TEST(a_descriptor_gets_all_even_if_it_does_not_block)
{
	char *json = scene_text(PS_FORMAT_JSON);
	int ends[2];
	pthread_t reader;
	void *got;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	size_t before = 0;
	while (write(ends[1], "x", 1) == 1)
		before++;
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(pthread_create(&reader, NULL, read_slowly, &ends[0]), 0);
	check_ok(ps_export_to_fd(scene.root, PS_FORMAT_JSON, NULL, ends[1]));
	/* It is still open. */
	ck_assert_int_eq(close(ends[1]), 0);
	ck_assert_int_eq(pthread_join(reader, &got), 0);
	ck_assert_uint_eq(strspn(got, "x"), before);
	ck_assert_str_eq((char *)got + before, json);
	close(ends[0]);
	free(got);
	free(json);
}
END_TEST

START_TEST(bad_arguments_are_errors)
{
	check_fails(ps_print_to_path(NULL, NULL, path), PS_EINVAL);
	check_fails(ps_print_to_path(scene.root, NULL, NULL), PS_EINVAL);
	check_detail("ps_print_to_path");
	check_fails(ps_export_to_path(NULL, PS_FORMAT_JSON, NULL, path), PS_EINVAL);
	check_fails(ps_export_to_path(scene.root, PS_FORMAT_JSON, NULL, NULL), PS_EINVAL);
	check_fails(ps_export_to_path(scene.root, (enum ps_format)99, NULL, path), PS_EINVAL);
	check_fails(ps_print_to_fd(NULL, NULL, 1), PS_EINVAL);
	check_fails(ps_export_to_fd(NULL, PS_FORMAT_JSON, NULL, 1), PS_EINVAL);
	check_fails(ps_print_to_fd(scene.root, &raw, -1), PS_ESYS);
	check_detail("descriptor -1");
	check_fails(ps_export_to_fd(scene.root, PS_FORMAT_JSON, NULL, -1), PS_ESYS);
	struct ps_print_options wrong = {.size = 3};
	check_fails(ps_print_to_path(scene.root, &wrong, path), PS_EINVAL);
	check_detail("ps_print_to_path: options->size is 3");
	ck_assert_int_eq(files_in_folder(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("destination");
	TCase *tests = scene_case_of(suite, "to a path and to a descriptor", setup, teardown);

	tcase_add_test(tests, a_path_gets_what_a_stream_gets);
	tcase_add_test(tests, permissions_and_links_stay);
	tcase_add_test(tests, a_link_to_a_file_that_is_not_there_yet_stays);
	tcase_add_test(tests, a_name_may_be_as_long_as_the_folder_takes);
	tcase_add_test(tests, permissions_that_can_not_be_taken_over_leave_the_old_file);
	tcase_add_test(tests, a_full_disk_leaves_the_old_file);
	tcase_add_test(tests, a_limit_of_file_sizes_leaves_the_old_file);
	tcase_add_test(tests, a_lack_of_memory_leaves_the_old_file);
	tcase_add_test(tests, what_is_no_regular_file_is_refused);
	tcase_add_test(tests, another_writers_file_is_left_alone);
	tcase_add_test(tests, a_descriptor_gets_all_even_if_it_does_not_block);
	tcase_add_test(tests, bad_arguments_are_errors);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that closes descriptors that it didn't open, as daemons do, and opens files of its own
 * under their numbers: what these hold is not taken for counts, each call says what has happened,
 * and the program's files stay open when the set goes.
 */

#include "here.h"
#include "support/descriptors.h"
#include "support/skip.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENT   "page-faults:u"
#define NUMBERS 512
#define FILLING 16384
#define TOUCHES 50
/* What one call may take of a file before it sees that it isn't an event: see perfsage(7). */
#define MOST_TAKEN 1024

static bool is_open(int number)
{
	return fcntl(number, F_GETFD) >= 0;
}

/* A running set, read twice; and the numbers that it took. */
struct scene {
	struct ps_eventset *set;
	long long count;
	int numbers[NUMBERS];
	size_t number_count;
	int filled[2]; /* a pipe with no end of bytes */
};

static long long total(void)
{
	struct ps_value value = {0};

	check_ok(ps_component_total(here.root, EVENT, &value));
	return value.value;
}

static bool open_scene(struct scene *scene, enum ps_attribution_mode mode)
{
	bool was_open[NUMBERS];

	memset(scene, 0, sizeof *scene);
	check_ok(ps_eventset_create(&scene->set));
	check_ok(ps_eventset_set_attribution(scene->set, mode));
	check_ok(ps_eventset_add_optional(scene->set, EVENT));
	check_ok(ps_eventset_add_optional(scene->set, "minor-faults:u"));
	for (int number = 0; number < NUMBERS; number++)
		was_open[number] = is_open(number);
	if (ps_start(scene->set) != PS_OK)
		return false;
	for (int i = 0; i < 3; i++)
		check_ok(ps_read(scene->set, here.root, NULL, NULL));
	for (int number = 0; number < NUMBERS; number++) {
		if (!was_open[number] && is_open(number))
			scene->numbers[scene->number_count++] = number;
	}
	scene->count = total();
	return true;
}

static void close_numbers(const struct scene *scene)
{
	for (size_t i = 0; i < scene->number_count; i++)
		close(scene->numbers[i]);
}

/* The read end of one pipe under all of them. */
static void take_numbers(struct scene *scene)
{
	static char bytes[FILLING];

	memset(bytes, 'x', sizeof bytes);
	ck_assert_int_eq(pipe(scene->filled), 0);
	int end = fcntl(scene->filled[0], F_DUPFD, NUMBERS),
	    begin = fcntl(scene->filled[1], F_DUPFD, NUMBERS);
	close(scene->filled[0]);
	close(scene->filled[1]);
	scene->filled[0] = end;
	scene->filled[1] = begin;
	ck_assert_int_eq(write(begin, bytes, sizeof bytes), (ssize_t)sizeof bytes);
	for (size_t i = 0; i < scene->number_count; i++)
		ck_assert_int_eq(dup2(end, scene->numbers[i]), scene->numbers[i]);
}

static int bytes_left(const struct scene *scene)
{
	int left = 0;

	ck_assert_int_eq(ioctl(scene->filled[0], FIONREAD, &left), 0);
	return left;
}

static void check_lost(struct scene *scene, int result)
{
	ck_assert_msg(result == PS_ECLOST, "%s: %s", ps_strerror(result), ps_error_detail());
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "has closed descriptors"));
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "ps_eventset_clone"));
	ck_assert_int_eq(total(), scene->count);
}

/* _i: the mode; and 3 more: other files are under the numbers then. */
START_TEST(what_is_under_the_numbers_now_is_not_counted)
{
	struct scene scene;
	bool are_taken = _i >= 3;
	const char *why = are_taken ? ps_test_lack_of_descriptors(NUMBERS) : NULL;

	if (!ps_test_may_run(why))
		return;
	if (!open_scene(&scene, here_modes[_i % HERE_MODES])) {
		ps_test_skip(ps_error_detail());
		ps_eventset_destroy(scene.set);
		return;
	}
	close_numbers(&scene);
	if (are_taken)
		take_numbers(&scene);
	check_lost(&scene, ps_read(scene.set, here.root, NULL, NULL));
	int left = are_taken ? bytes_left(&scene) : 0;
	ck_assert_int_ge(left, are_taken ? FILLING - MOST_TAKEN : 0);
	check_lost(&scene, ps_read(scene.set, here.root, NULL, NULL));
	check_lost(&scene, ps_accum(scene.set, here.root, NULL, NULL));
	check_lost(&scene, ps_stop(scene.set, here.root, NULL, NULL));
	check_lost(&scene, ps_start(scene.set));
	if (are_taken)
		ck_assert_int_eq(bytes_left(&scene), left);
	struct ps_eventset *clone = NULL;
	check_ok(ps_eventset_clone(&clone, scene.set));
	check_ok(ps_eventset_destroy(scene.set));
	scene.set = NULL;
	for (size_t i = 0; i < scene.number_count && are_taken; i++)
		ck_assert_msg(is_open(scene.numbers[i]), "the program's file %d was closed",
		              scene.numbers[i]);
	/* The program's work goes on. */
	check_ok(ps_start(clone));
	check_ok(ps_stop(clone, here.root, NULL, NULL));
	ps_eventset_destroy(clone);
	ps_eventset_destroy(scene.set);
}
END_TEST

/* _i: the mode. A second set like it is opened under the numbers of the first one. */
START_TEST(another_set_under_the_numbers_counts_on)
{
	struct scene first, second = {.set = NULL};
	bool can_start = open_scene(&first, here_modes[_i]);

	if (can_start) {
		close_numbers(&first);
		ck_assert(open_scene(&second, here_modes[_i]));
		/* The kernel gives the lowest number that is free. */
		ck_assert_uint_eq(second.number_count, first.number_count);
		ck_assert_mem_eq(second.numbers, first.numbers, sizeof first.numbers);
	} else {
		ps_test_skip(ps_error_detail());
	}
	check_ok(ps_eventset_destroy(first.set));
	if (can_start) {
		for (size_t i = 0; i < second.number_count; i++)
			ck_assert_msg(is_open(second.numbers[i]), "the second set's %d was closed",
			              second.numbers[i]);
		here_map_page();
		for (int touch = 0; touch < TOUCHES; touch++)
			here_touch();
		check_ok(ps_stop(second.set, here.root, NULL, NULL));
		ck_assert_int_ge(total(), second.count + TOUCHES);
	}
	ps_eventset_destroy(second.set);
}
END_TEST

static void touch_in(struct ps_region *region)
{
	check_ok(ps_region_enter(region));
	for (int touch = 0; touch < TOUCHES; touch++)
		here_touch();
	check_ok(ps_region_leave(region));
}

START_TEST(a_thread_of_a_profile_leaves_and_joins_anew)
{
	struct ps_eventset *model = here_faults(here_modes[_i], 0);
	struct ps_profile *profile;
	struct ps_region *region;
	struct ps_paths *paths;
	struct ps_value value;
	bool was_open[NUMBERS];

	check_ok(ps_profile_create(&profile, model, here.root));
	check_ok(ps_region_define(&region, profile, "solve"));
	for (int number = 0; number < NUMBERS; number++)
		was_open[number] = is_open(number);
	here_map_page();
	if (ps_profile_join(profile) != PS_OK) {
		ps_test_skip(ps_error_detail());
		ps_profile_destroy(profile);
		ps_eventset_destroy(model);
		return;
	}
	touch_in(region);
	for (int number = 0; number < NUMBERS; number++) {
		if (!was_open[number] && is_open(number))
			close(number);
	}
	ck_assert_int_eq(ps_region_enter(region), PS_ECLOST);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "ps_profile_leave, ps_profile_join"));
	ck_assert_uint_eq(ps_region_level(profile), 1);
	ck_assert_int_eq(ps_profile_leave(profile), PS_ECLOST);
	check_ok(ps_profile_join(profile));
	touch_in(region);
	check_ok(ps_paths_create(&paths, profile));
	const struct ps_path *path =
	    ps_path_find(ps_paths_root(paths), &(const char *){"solve"}, 1);
	check_ok(ps_path_value(path, here.root, HERE_FAULTS, PS_SHARE_EXCLUSIVE, &value));
	ck_assert_int_ge(value.value, 2 * TOUCHES);
	/* The first touches of the calls' own memory, more of it with a sanitizer; no third visit.
	 */
	ck_assert_int_lt(value.value, 3 * TOUCHES);
	ps_paths_destroy(paths);
	ps_profile_destroy(profile);
	ps_eventset_destroy(model);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("closed");
	TCase *tests = here_case(suite, "closed");

	tcase_add_loop_test(tests, what_is_under_the_numbers_now_is_not_counted, 0, 6);
	tcase_add_loop_test(tests, another_set_under_the_numbers_counts_on, 0, HERE_MODES);
	tcase_add_loop_test(tests, a_thread_of_a_profile_leaves_and_joins_anew, 0, HERE_MODES);
	return here_run_if_counted(suite);
}

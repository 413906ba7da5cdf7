/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a set comes to know where its task is: what AUTO chooses and why, what EXACT insists on, how
 * descriptors are shared by several sets, and what becomes of it when the mask or the CPUs change.
 */
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>

#define EVENT   "page-faults"
#define PRESENT "/sys/devices/system/cpu/present"

static struct ps_eventset *new_set(enum ps_attribution_mode mode)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);

	check_ok(ps_eventset_set_attribution(set, mode));
	return set;
}

static struct ps_eventset *started(enum ps_attribution_mode mode)
{
	struct ps_eventset *set = new_set(mode);

	check_ok(ps_start(set));
	return set;
}

/* The attribution must be this, and the reason for it must name something; NULL: there is none to
 * name. */
static void check_means(struct ps_eventset *set, enum ps_attribution attribution,
                        const char *reason)
{
	const char *why = NULL;

	ck_assert_str_eq(ps_attribution_name(ps_eventset_attribution(set, &why)),
	                 ps_attribution_name(attribution));
	ck_assert_ptr_nonnull(why);
	ck_assert_msg(reason ? strstr(why, reason) != NULL : *why == '\0', "why: %s", why);
}

START_TEST(auto_takes_pinned_for_one_cpu_and_exact_for_more)
{
	struct ps_eventset *set = started(PS_ATTRIBUTE_AUTO);

	check_means(set, PS_ATTRIBUTION_EXACT, NULL);
	ps_eventset_destroy(set);
	fake_set_affinity("2");
	fake_set_cpu(2);
	set = started(PS_ATTRIBUTE_AUTO);
	check_means(set, PS_ATTRIBUTION_PINNED, NULL);
	ck_assert_uint_eq(fake_open_fds(), 4); /* two events and the watch's two */
	ps_eventset_destroy(set);
	set = started(PS_ATTRIBUTE_EXACT);
	check_means(set, PS_ATTRIBUTION_EXACT, NULL);
	ps_eventset_destroy(set);
	set = started(PS_ATTRIBUTE_LAST_CPU);
	check_means(set, PS_ATTRIBUTION_LAST_CPU, "PS_ATTRIBUTE_LAST_CPU");
	ck_assert_uint_eq(fake_open_fds(), 2);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_set_of_one_cpu_is_attached_whatever_the_mode)
{
	struct ps_eventset *set = new_set(PS_ATTRIBUTE_EXACT);

	check_ok(ps_eventset_attach_cpu(set, 1));
	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_ATTACHED, NULL);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_budget_is_shared_by_all_sets_and_given_back)
{
	struct ps_eventset *sets[4];

	fake_set_nofile(34); /* half of it: two sets of 2 events on 4 CPUs */
	for (int i = 0; i < 4; i++)
		sets[i] = started(PS_ATTRIBUTE_AUTO);
	check_means(sets[0], PS_ATTRIBUTION_EXACT, NULL);
	check_means(sets[1], PS_ATTRIBUTION_EXACT, NULL);
	check_means(sets[2], PS_ATTRIBUTION_LAST_CPU, "takes 8 file descriptors");
	check_means(sets[3], PS_ATTRIBUTION_LAST_CPU, "process's 34");
	ps_eventset_destroy(sets[3]);
	ps_eventset_destroy(sets[1]);
	sets[1] = started(PS_ATTRIBUTE_AUTO);
	check_means(sets[1], PS_ATTRIBUTION_EXACT, NULL);
	for (int i = 0; i < 3; i++)
		ps_eventset_destroy(sets[i]);
}
END_TEST

START_TEST(a_set_for_which_there_was_no_room_is_split_from_the_start_at_which_there_is)
{
	struct ps_eventset *sets[3];
	uint64_t first = 0, second = 0;

	fake_set_nofile(34);
	for (int i = 0; i < 3; i++)
		sets[i] = started(PS_ATTRIBUTE_AUTO);
	check_means(sets[2], PS_ATTRIBUTION_LAST_CPU, "takes 8 file descriptors");
	scene_count_on(1, 5);
	check_ok(ps_stop(sets[2], scene.root, &first, NULL));
	check_ok(ps_start(sets[2])); /* nothing has changed */
	check_means(sets[2], PS_ATTRIBUTION_LAST_CPU, "takes 8 file descriptors");
	check_ok(ps_stop(sets[2], scene.root, &first, NULL));
	ps_eventset_destroy(sets[0]);
	check_ok(ps_start(sets[2]));
	check_means(sets[2], PS_ATTRIBUTION_EXACT, NULL);
	scene_count_on(1, 6);
	scene_count_on(2, 7);
	check_ok(ps_stop(sets[2], scene.root, &second, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, second), 6);
	scene_check_part(2, EVENT, 7, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq(scene_sum(EVENT, first), 0); /* the second interval's; it stays */
	ps_eventset_destroy(sets[1]);
	ps_eventset_destroy(sets[2]);
}
END_TEST

START_TEST(exact_is_not_bound_by_the_budget_but_by_the_limit)
{
	struct ps_eventset *set;

	fake_set_nofile(13);
	set = started(PS_ATTRIBUTE_EXACT); /* 3 + 8 + 1 */
	check_means(set, PS_ATTRIBUTION_EXACT, NULL);
	ps_eventset_destroy(set);
	fake_set_nofile(11);
	set = new_set(PS_ATTRIBUTE_EXACT);
	check_fails(ps_start(set), PS_ECOUNT);
	check_detail("8");
	check_detail("11");
	ck_assert_uint_eq(fake_open_fds(), 0);
	fake_set_nofile(1024);
	check_ok(ps_start(set)); /* and a failure takes nothing of the budget for good */
	check_means(set, PS_ATTRIBUTION_EXACT, NULL);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(auto_settles_for_less_when_descriptors_run_out_within_the_budget)
{
	struct ps_eventset *set = new_set(PS_ATTRIBUTE_AUTO);

	fake_fail(FAKE_PERF_EVENT_OPEN, 6, EMFILE); /* the program itself has taken the others */
	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_LAST_CPU, "8");
	scene_count_on(1, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	scene_check_part(1, EVENT, 5, PS_ATTRIBUTION_LAST_CPU);
	ck_assert_uint_eq(fake_open_fds(), 2);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(auto_settles_for_less_when_the_present_cpus_are_not_told)
{
	struct ps_eventset *set = new_set(PS_ATTRIBUTE_AUTO);

	fake_file_error(PRESENT, EACCES);
	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_LAST_CPU, PRESENT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(exact_fails_when_the_present_cpus_are_not_told)
{
	static const char *const contents[] = {NULL, "", "\n", "nonsense"};
	struct ps_eventset *set = new_set(PS_ATTRIBUTE_EXACT);

	fake_file(PRESENT, contents[_i]);
	check_fails(ps_start(set), PS_ESYS);
	check_detail(PRESENT);
	ck_assert_uint_eq(fake_open_fds(), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(auto_settles_for_less_when_switches_can_not_be_watched)
{
	struct ps_eventset *set = new_set(PS_ATTRIBUTE_AUTO);

	fake_fail(FAKE_MMAP, 1, EPERM);
	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_LAST_CPU, "perf_event_mlock_kb");
	ck_assert_uint_eq(fake_open_fds(), 2);
	ps_eventset_destroy(set);
	fake_set_affinity("2");
	fake_set_cpu(2);
	set = new_set(PS_ATTRIBUTE_AUTO);
	fake_fail(FAKE_MMAP, 1, EPERM);
	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_LAST_CPU, "perf_event_mlock_kb");
	scene_count_on(2, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	scene_check_part(2, EVENT, 5, PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_mask_that_changes_between_two_starts_changes_the_means_and_keeps_the_readings)
{
	struct ps_eventset *set;
	uint64_t timestamp = 0;

	fake_set_affinity("1");
	fake_set_cpu(1);
	set = started(PS_ATTRIBUTE_AUTO);
	check_means(set, PS_ATTRIBUTION_PINNED, NULL);
	scene_count_on(1, 7);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	fake_set_affinity("0-3");
	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_EXACT, NULL);
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 7);
	scene_count_on(2, 100);
	scene_count_on(3, 1);
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	scene_check_part(2, EVENT, 100, PS_ATTRIBUTION_EXACT);
	scene_check_part(3, EVENT, 1, PS_ATTRIBUTION_EXACT);
	/* What is split already fits a pinned task as well. */
	fake_set_affinity("3");
	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_EXACT, NULL);
	scene_count_on(3, 4);
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	scene_check_part(3, EVENT, 4, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_mode_chosen_anew_acts_at_the_next_start_and_ends_the_old_readings)
{
	struct ps_eventset *set = started(PS_ATTRIBUTE_EXACT);
	uint64_t timestamp = 0, old;

	scene_count_on(0, 3);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	old = timestamp;
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_start(set));
	scene_count_on(0, 30);
	scene_count_on(1, 2);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 32);
	ck_assert_int_eq(scene_count(0, EVENT, old), 3);
	check_means(set, PS_ATTRIBUTION_LAST_CPU, "asked for");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_clone_has_the_mode_of_its_model)
{
	struct ps_eventset *model = new_set(PS_ATTRIBUTE_LAST_CPU), *set = NULL;

	check_ok(ps_eventset_clone(&set, model));
	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_LAST_CPU, "asked for");
	ps_eventset_destroy(set);
	ps_eventset_destroy(model);
}
END_TEST

static void make_process(void)
{
	fake_task(500, "solver", 1);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
}

static struct ps_eventset *process_set(enum ps_attribution_mode mode)
{
	struct ps_eventset *set = new_set(mode);

	make_process();
	check_ok(ps_eventset_attach_process(set, 500));
	return set;
}

START_TEST(a_process_is_split_or_says_why_it_is_not)
{
	struct ps_eventset *set = process_set(PS_ATTRIBUTE_AUTO);

	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_EXACT, NULL);
	ps_eventset_destroy(set);
	fake_set_nofile(14);
	set = process_set(PS_ATTRIBUTE_AUTO);
	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_MIXED, "ulimit -n");
	ps_eventset_destroy(set);
	fake_set_nofile(9);
	set = process_set(PS_ATTRIBUTE_EXACT);
	check_fails(ps_start(set), PS_ECOUNT);
	ps_eventset_destroy(set);
}
END_TEST

/* With tasks kept apart a set needs more descriptors than without; what it took is what it gives
 * back. */
START_TEST(the_budget_is_given_back_whatever_became_of_the_set_meanwhile)
{
	struct ps_eventset *set = process_set(PS_ATTRIBUTE_AUTO), *others[2];

	fake_set_nofile(34);
	check_ok(ps_eventset_set_tasks(set, _i == 0));
	check_ok(ps_start(set));
	check_means(set, PS_ATTRIBUTION_EXACT, NULL);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_set_tasks(set, _i == 1));
	ps_eventset_destroy(set);
	for (int i = 0; i < 2; i++) {
		others[i] = started(PS_ATTRIBUTE_AUTO);
		check_means(others[i], PS_ATTRIBUTION_EXACT, NULL);
	}
	for (int i = 0; i < 2; i++)
		ps_eventset_destroy(others[i]);
}
END_TEST

START_TEST(an_idle_process_has_a_part_where_it_is)
{
	struct ps_eventset *set = process_set(PS_ATTRIBUTE_EXACT);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_total("page-faults").value, 0);
	ck_assert_int_eq(scene_count(1, "page-faults", timestamp), 0);
	ps_eventset_destroy(set);
}
END_TEST

/* A child that came while a group was opened has a part of its events: the kernel refuses to read
 * that group as long as it is open. While a child comes later, it is refused for a moment. */
static ssize_t (*read_of_fake)(int fd, void *buffer, size_t count);
static int (*close_of_fake)(int fd);
static int refused_fd;
static int refusals;
static bool are_for_good;

static ssize_t refuse_groups(int fd, void *buffer, size_t count)
{
	if (!fake_attr_of_fd(fd) || refusals == 0 ||
	    (are_for_good && refused_fd >= 0 && refused_fd != fd))
		return read_of_fake(fd, buffer, count);
	refused_fd = fd;
	if (!are_for_good)
		refusals--;
	errno = ECHILD;
	return -1;
}

static int close_refused(int fd)
{
	if (are_for_good && fd == refused_fd) {
		refusals--;
		refused_fd = -1;
	}
	return close_of_fake(fd);
}

static void refuse_reads_of_groups(int times, bool for_good)
{
	refusals = times;
	are_for_good = for_good;
	refused_fd = -1;
	read_of_fake = ps__os.read;
	close_of_fake = ps__os.close;
	ps__os.read = refuse_groups;
	ps__os.close = close_refused;
}

START_TEST(a_group_that_a_child_is_about_to_inherit_is_read_a_moment_later)
{
	struct ps_eventset *set = process_set(PS_ATTRIBUTE_EXACT);

	check_ok(ps_start(set));
	refuse_reads_of_groups(110, false);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(refusals, 0);
	ck_assert_uint_eq(ps_eventset_group_count(set), 1);
	refusals = 1000;
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_ESYS);
	refusals = 0;
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_process_that_forked_while_it_was_opened_is_opened_again)
{
	struct ps_eventset *set = process_set(PS_ATTRIBUTE_EXACT);

	refuse_reads_of_groups(1, true);
	check_ok(ps_start(set));
	ck_assert_uint_eq(ps_eventset_group_count(set), 1);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_process_that_forks_all_the_time_is_counted_without_groups)
{
	struct ps_eventset *set = process_set(PS_ATTRIBUTE_EXACT);

	refuse_reads_of_groups(7, true);
	check_ok(ps_start(set));
	ck_assert_int_eq(refusals, 0);
	ck_assert_uint_eq(ps_eventset_group_count(set), 2);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attribution");
	TCase *choice = scene_case_instances(suite, "choice");

	tcase_add_test(choice, auto_takes_pinned_for_one_cpu_and_exact_for_more);
	tcase_add_test(choice, a_set_of_one_cpu_is_attached_whatever_the_mode);
	tcase_add_test(choice, the_budget_is_shared_by_all_sets_and_given_back);
	tcase_add_test(choice,
	               a_set_for_which_there_was_no_room_is_split_from_the_start_at_which_there_is);
	tcase_add_test(choice, exact_is_not_bound_by_the_budget_but_by_the_limit);
	tcase_add_test(choice, auto_settles_for_less_when_descriptors_run_out_within_the_budget);
	tcase_add_test(choice, auto_settles_for_less_when_the_present_cpus_are_not_told);
	tcase_add_loop_test(choice, exact_fails_when_the_present_cpus_are_not_told, 0, 4);
	tcase_add_test(choice, auto_settles_for_less_when_switches_can_not_be_watched);
	tcase_add_test(
	    choice,
	    a_mask_that_changes_between_two_starts_changes_the_means_and_keeps_the_readings);
	tcase_add_test(choice, a_mode_chosen_anew_acts_at_the_next_start_and_ends_the_old_readings);
	tcase_add_test(choice, a_clone_has_the_mode_of_its_model);
	tcase_add_test(choice, a_process_is_split_or_says_why_it_is_not);
	tcase_add_loop_test(choice, the_budget_is_given_back_whatever_became_of_the_set_meanwhile,
	                    0, 2);
	tcase_add_test(choice, an_idle_process_has_a_part_where_it_is);
	tcase_add_test(choice, a_group_that_a_child_is_about_to_inherit_is_read_a_moment_later);
	tcase_add_test(choice, a_process_that_forked_while_it_was_opened_is_opened_again);
	tcase_add_test(choice, a_process_that_forks_all_the_time_is_counted_without_groups);
	return scene_run(suite);
}

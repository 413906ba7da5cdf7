/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits that take long are reported one by one. */
#include "support/regions.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What was reported last; the path on one line: "outer/inner". */
static struct report {
	unsigned visits;
	char path[64];
	struct ps_visits times;
	long long total, here[2];
	int result; /* of ps_path_value */
	uint64_t took_ns;
	struct ps_value value;
} last;

static void add_names(const struct ps_path *path, char *out)
{
	if (!ps_path_parent(path))
		return;
	add_names(ps_path_parent(path), out);
	if (*out)
		strcat(out, "/");
	strcat(out, ps_path_name(path));
}

static long long part_on(const struct ps_path *visit, int cpu)
{
	const struct ps_component *thread =
	    ps_thread_component(ps_topology_thread(scene.topology, cpu));
	struct ps_value value;
	int result = ps_path_value(visit, thread, EVENT, PS_SHARE_INCLUSIVE, &value);

	if (result == PS_ENOEVST)
		return -1;
	check_ok(result);
	return value.value;
}

static void note(void *context, const struct ps_path *visit, uint64_t entered_ns, uint64_t left_ns)
{
	struct report *note = context;

	note->visits++;
	note->path[0] = '\0';
	add_names(visit, note->path);
	note->times = (struct ps_visits){.size = sizeof note->times};
	check_ok(ps_path_visits(visit, &note->times));
	note->took_ns = left_ns - entered_ns;
	note->result = ps_path_value(visit, scene.root, EVENT, PS_SHARE_EXCLUSIVE, &note->value);
	note->total = note->result == PS_OK ? note->value.value : -1;
	note->here[0] = part_on(visit, 0);
	note->here[1] = part_on(visit, 1);
	/* The profile can't be used here. */
	ck_assert_int_eq(ps_profile_join(regions.profile), PS_ECNFLCT);
}

#define MILLISECOND UINT64_C(1000000)

static uint64_t now_ns;

static void pass(uint64_t ns)
{
	now_ns += ns;
	fake_set_clock(now_ns, 0);
}

static void visit(struct ps_region *region, uint64_t ns, uint64_t faults)
{
	check_ok(ps_region_enter(region));
	fake_advance(PAGE_FAULTS, faults);
	pass(ns);
	check_ok(ps_region_leave(region));
}

static void begin(const char *name, uint64_t limit_ns)
{
	last = (struct report){0};
	pass(1000 * MILLISECOND);
	regions_begin(EVENT, "minor-faults", NULL);
	check_ok(ps_region_set_slower_than(region(name), limit_ns, note, &last));
}

START_TEST(a_visit_that_takes_longer_is_reported)
{
	begin("solve", 10 * MILLISECOND);
	visit(region("solve"), 9 * MILLISECOND, 5);
	ck_assert_uint_eq(last.visits, 0);
	visit(region("solve"), 10 * MILLISECOND, 6);
	ck_assert_uint_eq(last.visits, 0);
	visit(region("solve"), 11 * MILLISECOND, 7);
	ck_assert_uint_eq(last.visits, 1);
	ck_assert_str_eq(last.path, "solve");
	ck_assert_uint_eq(last.took_ns, 11 * MILLISECOND);
	ck_assert_int_eq(last.total, 7);
	ck_assert_int_eq(last.here[0], 7);
	ck_assert_int_eq(last.here[1], -1);
	ck_assert_uint_eq(last.times.count, 1);
	ck_assert_uint_eq(last.times.wall_ns, 11 * MILLISECOND);
	ck_assert_uint_eq(last.times.longest_ns, 11 * MILLISECOND);
	visit(region("other"), 100 * MILLISECOND, 8);
	ck_assert_uint_eq(last.visits, 1);
	take_paths();
	ck_assert_int_eq(all("", -1), 26);
	regions_end();
}
END_TEST

/* With the regions inside it, and on each hardware thread that it was on; but not the last visit's.
 */
START_TEST(it_has_what_is_inside_it_by_hardware_thread)
{
	begin("solve", 0);
	check_ok(ps_region_enter(region("main")));
	fake_advance(PAGE_FAULTS, 1000);
	visit(region("solve"), MILLISECOND, 3);
	ck_assert_int_eq(last.total, 3);
	check_ok(ps_region_enter(region("solve")));
	fake_set_cpu(1);
	visit(region("inner"), MILLISECOND, 20);
	visit(region("inner"), MILLISECOND, 30);
	fake_set_cpu(0);
	fake_advance(PAGE_FAULTS, 4);
	check_ok(ps_region_leave(region("solve")));
	ck_assert_uint_eq(last.visits, 2);
	ck_assert_str_eq(last.path, "main/solve");
	ck_assert_int_eq(last.total, 54);
	ck_assert_int_eq(last.here[0], 4);
	ck_assert_int_eq(last.here[1], 50);
	visit(region("solve"), MILLISECOND, 5);
	ck_assert_int_eq(last.here[0], 5);
	ck_assert_int_eq(last.here[1], -1);
	check_ok(ps_region_leave(region("main")));
	regions_end();
}
END_TEST

START_TEST(recursion_is_reported_from_the_inside_out)
{
	begin("walk", MILLISECOND);
	check_ok(ps_region_enter(region("walk")));
	fake_advance(PAGE_FAULTS, 1);
	visit(region("walk"), 2 * MILLISECOND, 10);
	ck_assert_str_eq(last.path, "walk/walk");
	ck_assert_int_eq(last.total, 10);
	visit(region("walk"), 0, 100);
	ck_assert_uint_eq(last.visits, 1);
	check_ok(ps_region_close(regions.profile, 0));
	ck_assert_uint_eq(last.visits, 2);
	ck_assert_str_eq(last.path, "walk");
	ck_assert_int_eq(last.total, 111);
	regions_end();
}
END_TEST

/* What is open keeps the limit that it began with. */
START_TEST(limits_are_changed_and_taken_away)
{
	begin("solve", 0);
	check_ok(ps_region_enter(region("solve")));
	check_ok(ps_region_set_slower_than(region("solve"), 0, NULL, NULL));
	pass(MILLISECOND);
	check_ok(ps_region_leave(region("solve")));
	ck_assert_uint_eq(last.visits, 1);
	check_ok(ps_region_enter(region("solve")));
	check_ok(ps_region_set_slower_than(region("solve"), 5 * MILLISECOND, note, &last));
	pass(MILLISECOND);
	check_ok(ps_region_leave(region("solve")));
	visit(region("solve"), MILLISECOND, 1);
	ck_assert_uint_eq(last.visits, 1);
	visit(region("solve"), 6 * MILLISECOND, 1);
	ck_assert_uint_eq(last.visits, 2);
	check_fails(ps_region_set_slower_than(NULL, 0, note, NULL), PS_EINVAL);
	regions_end();
}
END_TEST

START_TEST(visits_that_are_left_open_are_reported_at_the_end)
{
	begin("solve", 0);
	check_ok(ps_region_enter(region("solve")));
	fake_advance(PAGE_FAULTS, 3);
	pass(MILLISECOND);
	check_ok(ps_profile_leave(regions.profile));
	ck_assert_uint_eq(last.visits, 1);
	ck_assert_int_eq(last.total, 3);
	regions_end();
}
END_TEST

/* What was counted in it is not known, and no number is given for it. */
START_TEST(a_visit_without_a_reading_at_its_end_has_no_counts)
{
	begin("solve", 0);
	visit(region("solve"), MILLISECOND, 3);
	check_ok(ps_region_enter(region("solve")));
	fake_advance(PAGE_FAULTS, 5);
	pass(MILLISECOND);
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(ps_region_leave(region("solve")), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	ck_assert_uint_eq(last.visits, 2);
	ck_assert_int_eq(last.result, PS_ENOEVST);
	ck_assert_uint_eq(last.times.on_cpu_ns, UINT64_MAX);
	ck_assert_uint_gt(last.took_ns, 0);
	visit(region("solve"), MILLISECOND, 7);
	ck_assert_int_eq(last.total, 7);
	take_paths();
	ck_assert_int_eq(all("", -1), 15);
	regions_end();
}
END_TEST

/* One allocation after the other fails: what is reported is right, and the paths lack nothing. */
START_TEST(without_memory_a_visit_is_not_reported)
{
	unsigned unreported = 0;

	for (unsigned nth = 1; nth < 30; nth++) {
		begin("solve", 0);
		visit(region("warm"), 0, 1);
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		if (ps_region_enter(region("solve")) == PS_OK) {
			fake_advance(PAGE_FAULTS, 2);
			pass(MILLISECOND);
			ps_region_leave(region("solve"));
		} else if (ps_region_level(regions.profile)) {
			ps_region_leave(region("solve"));
		}
		fake_fail(FAKE_ALLOCATE, 0, 0);
		unreported += !last.visits;
		if (last.visits && last.result == PS_OK)
			ck_assert_int_eq(last.total, 2);
		ck_assert(last.visits || faults_of_profile().failed > 0);
		regions_end();
	}
	ck_assert_uint_gt(unreported, 3);
}
END_TEST

/* Of a sampled region those that are counted are reported, and whole. */
START_TEST(sampled_visits_are_reported_if_they_are_counted)
{
	begin("solve", 0);
	check_ok(ps_profile_set_seed(regions.profile, 7));
	check_ok(ps_region_set_one_in(region("solve"), 4));
	for (int i = 0; i < 400; i++) {
		unsigned before = last.visits;
		visit(region("solve"), MILLISECOND, 3);
		if (last.visits > before)
			ck_assert_int_eq(last.total, 3);
	}
	take_paths();
	ck_assert_uint_eq(last.visits, visits_of("solve").counted);
	ck_assert_uint_gt(last.visits, 60);
	ck_assert_uint_lt(last.visits, 160);
	regions_end();
}
END_TEST

static _Atomic unsigned reported_by_all;

static void count_visit(void *context, const struct ps_path *visit, uint64_t entered_ns,
                        uint64_t left_ns)
{
	struct ps_value value;

	(void)context;
	if (left_ns >= entered_ns &&
	    ps_path_value(visit, scene.root, EVENT, PS_SHARE_INCLUSIVE, &value) == PS_OK)
		reported_by_all++;
}

START_TEST(threads_report_at_the_same_time)
{
	pthread_t threads[4];

	begin("solve", 0);
	reported_by_all = 0;
	fake_set_clock(1000 * MILLISECOND, 1000);
	check_ok(ps_region_set_slower_than(region("solve"), 0, count_visit, NULL));
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, visit_often, region("solve")),
		                 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(reported_by_all, 400);
	regions_end();
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, a_visit_that_takes_longer_is_reported);
	tcase_add_test(tests, it_has_what_is_inside_it_by_hardware_thread);
	tcase_add_test(tests, recursion_is_reported_from_the_inside_out);
	tcase_add_test(tests, limits_are_changed_and_taken_away);
	tcase_add_test(tests, visits_that_are_left_open_are_reported_at_the_end);
	tcase_add_test(tests, a_visit_without_a_reading_at_its_end_has_no_counts);
	tcase_add_test(tests, without_memory_a_visit_is_not_reported);
	tcase_add_test(tests, sampled_visits_are_reported_if_they_are_counted);
	tcase_add_test(tests, threads_report_at_the_same_time);
}

int main(void)
{
	Suite *suite = suite_create("slow visits");

	add_tests(scene_case(suite, "automatic"));
	add_tests(scene_case_instances(suite, "per-CPU"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

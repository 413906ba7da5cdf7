/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls of the fast path of a reading; and how long it stays open. */
#include "eventset/eventset.h"
#include "support/scene.h"
#include "support/unmarked.h"

#define OTHER 4711

START_TEST(the_short_way_takes_one_system_call)
{
	uint64_t timestamp = 0;

	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);
	check_ok(ps_start(set));
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_count_reset();
	for (int index = 0; index < 10; index++)
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_uint_eq(fake_count(FAKE_READ), 10);
	ck_assert_uint_eq(fake_count(FAKE_GETCPU), 10);
	ck_assert_uint_eq(
	    fake_count(FAKE_IOCTL) + fake_count(FAKE_PREAD) + fake_count(FAKE_ALLOCATE), 0);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: whether the thread is pinned. */
START_TEST(an_attached_thread_that_stays_is_read_by_one_system_call)
{
	uint64_t timestamp = 0;
	struct ps_value value;

	fake_task(OTHER, "solver", 1);
	fake_task_affinity(OTHER, _i ? "1" : "0-1");
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);
	check_ok(ps_eventset_attach_tid(set, OTHER));
	check_ok(ps_start(set));
	for (int index = 0; index < 3; index++)
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_ptr_nonnull(set->fast_path.root);
	fake_count_reset();
	for (int index = 0; index < 10; index++) {
		fake_advance(PAGE_FAULTS, 2);
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	}
	ck_assert_uint_eq(fake_count(FAKE_READ), 10);
	ck_assert_uint_eq(fake_count(FAKE_OPEN) + fake_count(FAKE_PREAD) + fake_count(FAKE_IOCTL) +
	                      fake_count(FAKE_GETCPU),
	                  0);
	/* Its end is in its switch ring: no reading passes it over. */
	fake_advance(PAGE_FAULTS, 3);
	fake_task_end(OTHER);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	check_ok(ps_thread_reading(ps_topology_thread(scene.topology, 1), "page-faults", timestamp,
	                           &value));
	ck_assert_int_eq(value.value, 23);
	ck_assert_uint_ne(value.flags & PS_VALUE_ENDED, 0);
	ps_eventset_destroy(set);
}
END_TEST

/* A set that is split by CPU. */
static struct ps_eventset *open_split(uint64_t *timestamp)
{
	fake_set_affinity("0-1");
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_EXACT));
	check_ok(ps_start(set));
	for (int index = 0; index < 10; index++)
		check_ok(ps_read(set, scene.root, timestamp, NULL));
	ck_assert_ptr_nonnull(set->fast_path.root);
	return set;
}

/* The group waited for a counter since the last reading: the fast path reads it in vain. */
static void miss_once(struct ps_eventset *set, uint64_t *timestamp)
{
	fake_run(1000, 500);
	check_ok(ps_read(set, scene.root, timestamp, NULL));
}

START_TEST(readings_that_fail_now_and_then_do_not_close_the_fast_path)
{
	uint64_t timestamp = 0;

	struct ps_eventset *set = open_split(&timestamp);
	for (int time = 0; time < 100; time++) {
		for (int index = 0; index < 80; index++)
			check_ok(ps_read(set, scene.root, &timestamp, NULL));
		ck_assert_msg(set->fast_path.root != NULL, "closed after %d", time);
		miss_once(set, &timestamp);
	}
	ps_eventset_destroy(set);
}
END_TEST

/* Many at once close it for a while: it opens again by itself. */
START_TEST(the_fast_path_opens_again_when_nothing_fails_any_more)
{
	uint64_t timestamp = 0;
	int readings = 0;

	struct ps_eventset *set = open_split(&timestamp);
	for (int time = 0; time < 10; time++) {
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
		while (!set->fast_path.root)
			check_ok(ps_read(set, scene.root, &timestamp, NULL));
		miss_once(set, &timestamp);
	}
	for (; !set->fast_path.root && readings < 2000; readings++)
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_gt(readings, 200);
	ck_assert_int_lt(readings, 2000);
	for (int index = 0; index < 100; index++)
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	miss_once(set, &timestamp);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_ptr_nonnull(set->fast_path.root);
	ps_eventset_destroy(set);
}
END_TEST

/* A group that waits for a counter between all readings is read once for each, but for a few. */
START_TEST(a_group_that_shares_its_counters_is_not_read_twice)
{
	uint64_t timestamp = 0;

	struct ps_eventset *set = open_split(&timestamp);
	unsigned groups = (unsigned)ps_eventset_group_count(set);
	fake_count_reset();
	for (int index = 0; index < 20000; index++) {
		fake_run(1000, 500);
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	}
	ck_assert_uint_ge(fake_count(FAKE_READ), 20000 * groups);
	ck_assert_uint_le(fake_count(FAKE_READ), 20100 * groups);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fast path, calls");
	TCase *tests = scene_case(suite, "calls");

	tcase_add_test(tests, the_short_way_takes_one_system_call);
	tcase_add_loop_test(tests, an_attached_thread_that_stays_is_read_by_one_system_call, 0, 2);
	tcase_add_test(tests, readings_that_fail_now_and_then_do_not_close_the_fast_path);
	tcase_add_test(tests, the_fast_path_opens_again_when_nothing_fails_any_more);
	tcase_add_test(tests, a_group_that_shares_its_counters_is_not_read_twice);
	return scene_run(suite);
}

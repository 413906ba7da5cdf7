/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that were bound to one CPU when their set was started, and are moved to another one
 * afterwards, on the real kernel. Sees the installed header and the shared library alone.
 */
#include "wander.h"

#include <unistd.h>

struct scene {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *set;
	struct wander_work work;
};

static void open_scene(struct scene *scene)
{
	check_ok(ps_topology_load(&scene->topology, NULL));
	scene->root = ps_topology_root(scene->topology);
	wander_create(&scene->work, 2000);
	scene->set = wander_set(PS_ATTRIBUTE_AUTO, 64);
	wander_move(wander_cpu(0));
	check_ok(ps_start(scene->set));
	ck_assert_int_eq((int)ps_eventset_attribution(scene->set, NULL), PS_ATTRIBUTION_PINNED);
	wander_settle(&scene->work);
}

static void close_scene(struct scene *scene)
{
	wander_check_residual(scene->set);
	ps_eventset_destroy(scene->set);
	wander_destroy(&scene->work);
	ps_topology_destroy(scene->topology);
}

/* A new reading, after which the counts begin anew. */
static uint64_t take(struct scene *scene)
{
	uint64_t timestamp = 0;

	check_ok(ps_accum(scene->set, scene->root, &timestamp, NULL));
	return timestamp;
}

static struct ps_value part(struct scene *scene, int cpu, uint64_t timestamp)
{
	struct ps_value value = {.value = 0};

	ps_thread_reading(ps_topology_thread(scene->topology, cpu), WANDER_EVENT, timestamp,
	                  &value);
	return value;
}

START_TEST(the_interval_of_the_move_is_an_estimate_whose_sum_is_right)
{
	struct scene scene;

	if (!wander_is_possible())
		return;
	open_scene(&scene);
	take(&scene);
	wander_settle(&scene.work);
	wander_touch(&scene.work, 1000);
	wander_move(wander_cpu(1));
	wander_touch(&scene.work, 10);
	long long strays = wander_strays(&scene.work);
	uint64_t timestamp = take(&scene);
	struct ps_value home = part(&scene, wander_cpu(0), timestamp),
			away = part(&scene, wander_cpu(1), timestamp);
	wander_check_count(home.value + away.value, 1010, strays + 2);
	ck_assert_int_eq((int)home.attribution, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq((int)away.attribution, PS_ATTRIBUTION_MIXED);
	/* Most of the time was on the first CPU, and so are most of the counts. */
	ck_assert_int_gt(home.value, 0);
	close_scene(&scene);
}
END_TEST

START_TEST(later_intervals_belong_to_the_new_cpu_for_certain)
{
	struct scene scene;

	if (!wander_is_possible())
		return;
	open_scene(&scene);
	wander_move(wander_cpu(1));
	take(&scene);
	/* The first ones meet code and storage. */
	for (int rehearsal = 0; rehearsal < 8; rehearsal++) {
		wander_touch(&scene.work, 1);
		take(&scene);
	}
	wander_settle(&scene.work);
	for (int interval = 0; interval < 5; interval++) {
		wander_touch(&scene.work, 100);
		uint64_t timestamp = take(&scene);
		long long strays = wander_strays(&scene.work); /* those of earlier intervals, too */
		struct ps_value away = part(&scene, wander_cpu(1), timestamp);
		wander_check_count(away.value, 100, strays);
		ck_assert_int_eq((int)away.attribution, PS_ATTRIBUTION_EXACT);
		ck_assert_int_eq(part(&scene, wander_cpu(0), timestamp).value, 0);
	}
	close_scene(&scene);
}
END_TEST

/* Numbers of the caller's are stored between the move and the reading. */
START_TEST(a_store_does_not_end_the_interval_of_a_move)
{
	const long long own[1] = {0};
	uint64_t stored = 0;
	struct scene scene;

	if (!wander_is_possible())
		return;
	open_scene(&scene);
	wander_move(wander_cpu(1));
	take(&scene);
	wander_settle(&scene.work);
	wander_touch(&scene.work, 6);
	wander_move(wander_cpu(0));
	check_ok(ps_store(scene.set, own, 1, scene.root, &stored, NULL));
	wander_touch(&scene.work, 4);
	uint64_t timestamp = take(&scene);
	long long strays = wander_strays(&scene.work);
	struct ps_value home = part(&scene, wander_cpu(0), timestamp),
			away = part(&scene, wander_cpu(1), timestamp);
	wander_check_count(home.value + away.value, 10, strays);
	ck_assert_int_eq((int)home.attribution, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq((int)away.attribution, PS_ATTRIBUTION_MIXED);
	close_scene(&scene);
}
END_TEST

/* The second snapshot is on the fast path, which a snapshot has opened. What it gave to the first
 * CPU stays there. */
START_TEST(what_a_reused_snapshot_has_does_not_fall_by_a_move)
{
	struct ps_snapshot *before = NULL, *after = NULL;
	long long sum = 0;
	struct scene scene;

	if (!wander_is_possible())
		return;
	open_scene(&scene);
	check_ok(ps_snapshot_take(scene.set, &before));
	wander_touch(&scene.work, 1500);
	check_ok(ps_snapshot_take(scene.set, &before));
	wander_settle(&scene.work);
	wander_move(wander_cpu(1));
	usleep(50000);
	wander_touch(&scene.work, 100);
	check_ok(ps_snapshot_take(scene.set, &after));
	long long strays = wander_strays(&scene.work);
	for (int index = 0; index < 2; index++) {
		const struct ps_component *cpu =
		    ps_component_find(scene.root, PS_COMPONENT_THREAD, wander_cpu(index));
		struct ps_value value = {.value = 0};
		check_ok(ps_snapshot_difference(scene.set, before, after, cpu, &value, 1));
		ck_assert_int_ge(value.value, 0);
		sum += value.value;
	}
	wander_check_count(sum, 100, strays);
	ps_snapshot_destroy(before);
	ps_snapshot_destroy(after);
	close_scene(&scene);
}
END_TEST

static void add(TCase *tests)
{
	tcase_add_test(tests, the_interval_of_the_move_is_an_estimate_whose_sum_is_right);
	tcase_add_test(tests, later_intervals_belong_to_the_new_cpu_for_certain);
	tcase_add_test(tests, a_store_does_not_end_the_interval_of_a_move);
	tcase_add_test(tests, what_a_reused_snapshot_has_does_not_fall_by_a_move);
}

int main(void)
{
	return wander_run("rebound", add, NULL);
}

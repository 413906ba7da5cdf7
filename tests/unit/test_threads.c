/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readers beside a writer: while the owner of a set reads, accumulates and moves from CPU to CPU,
 * other threads look readings up, roll up and print, and never see half a reading. Made to be run
 * under ThreadSanitizer as well.
 */
#include "eventset/eventset.h"
#include "support/scene.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define READERS 3
#define ROUNDS  ps_test_size(4000, 1000)

/* Two events that always advance together: in one reading they are equal on every Thread, and so in
 * every sum. */
#define ONE   "page-faults"
#define OTHER "minor-faults"

/* A reading that another thread had begun when the process was forked: in the child it is never
 * done. */
START_TEST(a_child_does_not_wait_for_a_thread_that_it_does_not_have)
{
	struct ps_eventset *set = scene_started(ONE, OTHER, NULL);
	struct ps_value value;
	uint64_t timestamp = 0;
	int status = 0;

	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ps__recording_write_begin(set->recorder.recording);
	pid_t child = fork();
	if (child == 0)
		_exit(ps_component_total(scene.root, ONE, &value) != PS_OK || value.value != 3 ||
		      ps_thread_reading(ps_topology_thread(scene.topology, 0), ONE, timestamp,
		                        &value) != PS_OK);
	ps__recording_write_end(set->recorder.recording);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ps_eventset_destroy(set);
}
END_TEST

struct play {
	_Atomic bool done;
	_Atomic unsigned long looks;
	_Atomic(const char *) fault; /* what a reader saw that must not be; NULL: nothing */
	bool is_final;               /* no reading changes any more that can be seen */
};

static void accuse(struct play *play, const char *fault)
{
	atomic_store(&play->fault, fault);
}

/* It may have been updated, and so restamped, or dropped meanwhile: then it is not found. */
static void look_at_reading(struct play *play, const struct ps_thread *thread,
                            const struct ps_value *seen)
{
	struct ps_value one, other;

	if (ps_thread_reading(thread, ONE, seen->timestamp, &one) != PS_OK ||
	    ps_thread_reading(thread, OTHER, seen->timestamp, &other) != PS_OK)
		return;
	if (one.timestamp != seen->timestamp || other.timestamp != seen->timestamp)
		accuse(play, "another reading was found than was asked for");
	if (one.value != other.value)
		accuse(play, "two events of one reading differ on a Thread");
	if (one.enabled_ns != other.enabled_ns || one.attribution != other.attribution ||
	    one.flags != other.flags)
		accuse(play, "two events of one reading have other times or labels");
	if (play->is_final && one.value != seen->value)
		accuse(play, "a reading was of another value before");
}

static void look_at_thread(struct play *play, const struct ps_thread *thread)
{
	struct ps_value latest;

	if (ps_thread_reading(thread, ONE, 0, &latest) != PS_OK)
		return;
	if (latest.status == PS_STATUS_COUNTED && latest.raw != (uint64_t)latest.value)
		accuse(play, "a value is not its raw count");
	look_at_reading(play, thread, &latest);
}

static void look_at_total(struct play *play, const struct ps_component *component)
{
	struct ps_value one, other;

	if (ps_component_total(component, ONE, &one) != PS_OK ||
	    ps_component_total(component, OTHER, &other) != PS_OK)
		return;
	if (one.timestamp == other.timestamp && one.value != other.value)
		accuse(play, "the totals of one reading differ");
}

static void look_at_all(struct play *play, const struct ps_thread *thread)
{
	static _Thread_local struct ps_value values[512];
	size_t count = 0;
	int result = ps_thread_readings(thread, ONE, values, 512, &count);

	if (result != PS_OK && result != PS_EBUF)
		return;
	if (count > 512)
		count = 512;
	for (size_t i = 1; i < count; i++)
		if (values[i].timestamp <= values[i - 1].timestamp)
			accuse(play, "the readings of a Thread are out of order");
	/* The oldest ones are being dropped, those after them are in the index. */
	for (size_t i = 0; i < count; i += 1 + i / 4)
		look_at_reading(play, thread, &values[i]);
}

static void *reader(void *argument)
{
	struct play *play = argument;
	FILE *nowhere = fopen("/dev/null", "w");

	if (!nowhere) {
		accuse(play, "/dev/null can't be opened");
		return NULL;
	}
	while (!atomic_load(&play->done)) {
		for (int cpu = 0; cpu < 4; cpu++) {
			const struct ps_thread *thread = ps_topology_thread(scene.topology, cpu);

			look_at_thread(play, thread);
			look_at_all(play, thread);
			ps_thread_dropped(thread, ONE);
			ps_thread_event_count(thread);
		}
		look_at_total(play, scene.root);
		look_at_total(play, ps_component_child(scene.root, 0));
		if (atomic_fetch_add(&play->looks, 1) % 64 == 0 &&
		    (ps_print(scene.root, nowhere) != PS_OK ||
		     ps_thread_print(ps_topology_thread(scene.topology, 0), nowhere) != PS_OK))
			accuse(play, "printing failed");
	}
	fclose(nowhere);
	return NULL;
}

static void play_with(struct play *play, void (*write)(struct ps_eventset *set))
{
	struct ps_eventset *set = scene_set(ONE, OTHER, NULL);
	pthread_t readers[READERS];

	check_ok(ps_start(set));
	for (size_t i = 0; i < READERS; i++)
		ck_assert_int_eq(pthread_create(&readers[i], NULL, reader, play), 0);
	write(set);
	/* On a machine with one CPU the readers may come late: they get their look. */
	while (atomic_load(&play->looks) < READERS && !atomic_load(&play->fault))
		check_ok(ps_read(set, scene.root, NULL, NULL));
	atomic_store(&play->done, true);
	for (size_t i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	ck_assert_msg(!atomic_load(&play->fault), "%s", atomic_load(&play->fault));
	ps_eventset_destroy(set);
}

static void advance(int round)
{
	fake_set_cpu(round / 3 % 4);
	fake_advance(PAGE_FAULTS, (uint64_t)round % 17);
	fake_advance(MINOR_FAULTS, (uint64_t)round % 17);
	fake_run(1000000, 1000000);
}

static void write_new_readings(struct ps_eventset *set)
{
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t timestamp = 0;

		advance(round);
		check_ok((round % 3 ? ps_read : ps_accum)(set, scene.root, &timestamp, NULL));
	}
}

static void write_one_reading(struct ps_eventset *set)
{
	for (int round = 0; round < ROUNDS; round++) {
		advance(round);
		check_ok((round % 3 ? ps_read : ps_accum)(set, scene.root, NULL, NULL));
	}
}

static void write_old_readings(struct ps_eventset *set)
{
	uint64_t times[32] = {0};

	for (int round = 0; round < ROUNDS; round++) {
		advance(round);
		check_ok((round % 3 ? ps_read : ps_accum)(set, scene.root, &times[round * 7 % 32],
		                                          NULL));
	}
}

static void write_bounded(struct ps_eventset *set)
{
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_set_history(set, 300));
	check_ok(ps_start(set));
	write_new_readings(set);
}

static void write_in_runs(struct ps_eventset *set)
{
	for (int round = 0; round < ROUNDS / 4; round++) {
		uint64_t timestamp = 0;

		advance(round);
		check_ok(ps_stop(set, scene.root, &timestamp, NULL));
		check_ok(ps_start(set));
	}
}

#define PLAY_TEST(name, write, is_final_)                   \
	START_TEST(name)                                    \
	{                                                   \
		struct play play = {.is_final = is_final_}; \
		play_with(&play, write);                    \
	}                                                   \
	END_TEST

PLAY_TEST(readers_see_whole_readings_while_new_ones_are_made, write_new_readings, true)
PLAY_TEST(readers_see_whole_readings_while_one_is_updated, write_one_reading, false)
PLAY_TEST(readers_see_whole_readings_while_older_ones_are_updated, write_old_readings, false)
PLAY_TEST(readers_see_whole_readings_while_a_bounded_history_drops, write_bounded, true)
PLAY_TEST(readers_see_whole_readings_while_a_set_starts_and_stops, write_in_runs, true)

static void *count_alone(void *argument)
{
	struct ps_eventset *set = NULL;
	bool good = ps_eventset_clone(&set, argument) == PS_OK;

	for (int round = 0; good && round < ROUNDS / 4; round++) {
		uint64_t timestamp = 0;

		fake_set_cpu(round % 4);
		good =
		    (round ? ps_accum(set, scene.root, &timestamp, NULL) : ps_start(set)) == PS_OK;
	}
	ps_eventset_destroy(set);
	return good ? argument : NULL;
}

START_TEST(threads_with_a_clone_each_share_the_tree)
{
	struct ps_eventset *model = scene_set(ONE, OTHER, NULL);
	pthread_t threads[4];

	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, count_alone, model), 0);
	for (size_t i = 0; i < 4; i++) {
		void *good = NULL;

		pthread_join(threads[i], &good);
		ck_assert_ptr_nonnull(good);
	}
	/* A reading has a part on each CPU where its thread was. */
	ck_assert_uint_ge(scene_rows(0, ONE) + scene_rows(1, ONE) + scene_rows(2, ONE) +
	                      scene_rows(3, ONE),
	                  (size_t)(4 * (ROUNDS / 4 - 1)));
	ps_eventset_destroy(model);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, readers_see_whole_readings_while_new_ones_are_made);
	tcase_add_test(tests, readers_see_whole_readings_while_one_is_updated);
	tcase_add_test(tests, readers_see_whole_readings_while_older_ones_are_updated);
	tcase_add_test(tests, readers_see_whole_readings_while_a_bounded_history_drops);
	tcase_add_test(tests, readers_see_whole_readings_while_a_set_starts_and_stops);
	tcase_add_test(tests, threads_with_a_clone_each_share_the_tree);
	tcase_add_test(tests, a_child_does_not_wait_for_a_thread_that_it_does_not_have);
}

int main(void)
{
	Suite *suite = suite_create("threads");

	add_tests(scene_case(suite, "exact"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast path of a reading must not be told from the slow one: two sets count the same, one of
 * which is always made to go the slow path, through random calls; then all that they stored is
 * compared.
 */
#include "eventset/eventset.h"
#include "support/scene.h"
#include "support/unmarked.h"

#include <errno.h>
#include <stdlib.h>

#define STEPS    60
#define RUNS     60
#define CPUS     2
#define READINGS 80
#define OTHER    4711

static const char *const events[] = {"page-faults", "minor-faults"};

/* A set with a topology of its own, and the timestamps of its readings. */
struct side {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *set;
	uint64_t readings[READINGS];
	size_t count;
	int cpu; /* that the latest call returned; -1: none */
};

static unsigned seed;
static pid_t attached; /* a thread that the sets of the next runs are attached to; 0: none */

static unsigned pick(unsigned limit)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % limit;
}

static void open_side(struct side *side, enum ps_attribution_mode mode, const char *hardware)
{
	memset(side, 0, sizeof *side);
	check_ok(ps_topology_load_synthetic(&side->topology, "pack:1 core:2 pu:1"));
	side->root = ps_topology_root(side->topology);
	check_ok(ps_eventset_create(&side->set));
	check_ok(ps_eventset_set_attribution(side->set, mode));
	check_ok(ps_eventset_add(side->set, events[0]));
	check_ok(ps_eventset_add(side->set, events[1]));
	if (hardware)
		check_ok(ps_eventset_add(side->set, hardware));
	if (attached)
		check_ok(ps_eventset_attach_tid(side->set, attached));
}

static void close_side(struct side *side)
{
	ps_eventset_destroy(side->set);
	ps_topology_destroy(side->topology);
}

/* Any other call ends the fast path; this one changes nothing else. */
static void force_the_slow_path(struct side *side)
{
	check_ok(ps_eventset_reserve(side->set, 1));
}

/* What one step does, the same on both sides. */
struct step {
	unsigned what, which;
	long long given[3];
};

static int do_step(struct side *side, const struct step *step)
{
	uint64_t none = 0, *timestamp = &none;
	struct ps_thread *thread = NULL;

	/* An older reading, the latest (by NULL, too), or a new one. */
	if (step->which % 4 == 0 && side->count > 0)
		timestamp = &side->readings[step->which / 4 % side->count];
	else if (step->which % 4 == 1 && side->count > 0)
		timestamp = &side->readings[side->count - 1];
	else if (step->which % 4 == 2 && side->count > 0)
		timestamp = NULL;
	int result = PS_OK;
	if (step->what < 5)
		result = ps_read(side->set, side->root, timestamp, &thread);
	else if (step->what < 8)
		result = ps_accum(side->set, side->root, timestamp, &thread);
	else if (step->what == 8)
		result = ps_store(side->set, step->given, (int)ps_eventset_event_count(side->set),
		                  side->root, timestamp, &thread);
	else if (step->what == 9)
		return ps_reset(side->set);
	else if (step->what == 10)
		result = ps_stop(side->set, side->root, timestamp, &thread);
	side->cpu = ps_thread_cpu(thread);
	if (timestamp == &none && none != 0 && side->count < READINGS)
		side->readings[side->count++] = none;
	return result;
}

/* NULL updates the latest reading, whose timestamp the test then no longer knows: it is looked
 * up. */
static void refresh(struct side *side)
{
	uint64_t newest = 0;
	struct ps_value value;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		if (ps_thread_reading(ps_topology_thread(side->topology, cpu), events[0], 0,
		                      &value) == PS_OK &&
		    value.timestamp > newest)
			newest = value.timestamp;
	}
	if (newest == 0)
		return;
	for (size_t index = 0; index < side->count; index++) {
		if (side->readings[index] == newest)
			return;
	}
	if (side->count == 0)
		side->readings[side->count++] = newest;
	else
		side->readings[side->count - 1] = newest;
}

static void compare_part(const struct side *fast, const struct side *slow, size_t reading, int cpu,
                         const char *event)
{
	struct ps_value one, other;
	int first = ps_thread_reading(ps_topology_thread(fast->topology, cpu), event,
	                              fast->readings[reading], &one);
	int second = ps_thread_reading(ps_topology_thread(slow->topology, cpu), event,
	                               slow->readings[reading], &other);

	ck_assert_int_eq(first, second);
	if (first != PS_OK)
		return;
	ck_assert_int_eq(one.value, other.value);
	ck_assert_uint_eq(one.raw, other.raw);
	ck_assert_uint_eq(one.enabled_ns, other.enabled_ns);
	ck_assert_uint_eq(one.running_ns, other.running_ns);
	ck_assert_int_eq((int)one.status, (int)other.status);
	ck_assert_int_eq((int)one.attribution, (int)other.attribution);
	ck_assert_uint_eq(one.flags, other.flags);
}

static void compare(const struct side *fast, const struct side *slow)
{
	ck_assert_uint_eq(fast->count, slow->count);
	for (size_t reading = 0; reading < fast->count; reading++) {
		for (int cpu = 0; cpu < CPUS; cpu++) {
			for (size_t event = 0; event < ps_eventset_event_count(fast->set); event++)
				compare_part(fast, slow, reading, cpu,
				             ps_eventset_event_name(fast->set, event));
		}
	}
}

/* The counted thread is elsewhere. */
static void move_task(int cpu)
{
	if (attached)
		fake_task(attached, "solver", cpu);
	else
		fake_set_cpu(cpu);
}

/* What happens between two calls. */
static void live(bool may_move, bool is_multiplexed)
{
	fake_advance(PAGE_FAULTS, pick(50));
	fake_advance(MINOR_FAULTS, pick(3));
	fake_advance(INSTRUCTIONS, pick(1000));
	uint64_t time_ns = 1000000u * (1 + pick(5));
	fake_run(time_ns, is_multiplexed && pick(4) == 0 ? time_ns / 2 : time_ns);
	if (may_move && pick(6) == 0)
		move_task((int)pick(CPUS));
	else if (pick(6) == 0)
		fake_switch_task(attached);
}

static void run_once(enum ps_attribution_mode mode, bool is_pinned, const char *hardware)
{
	struct side fast, slow;

	open_side(&fast, mode, hardware);
	open_side(&slow, mode, hardware);
	check_ok(ps_start(fast.set));
	check_ok(ps_start(slow.set));
	for (int index = 0; index < STEPS; index++) {
		struct step step = {.what = pick(11), .which = pick(1000)};
		for (size_t event = 0; event < 3; event++)
			step.given[event] = pick(100);
		live(!is_pinned, hardware != NULL);
		force_the_slow_path(&slow);
		ck_assert_int_eq(do_step(&fast, &step), do_step(&slow, &step));
		ck_assert_int_eq(fast.cpu, slow.cpu);
		refresh(&fast);
		refresh(&slow);
		if (step.what == 10 && ps_eventset_is_running(fast.set) == 0) {
			check_ok(ps_start(fast.set));
			check_ok(ps_start(slow.set));
		}
	}
	compare(&fast, &slow);
	close_side(&fast);
	close_side(&slow);
}

static void run_all(enum ps_attribution_mode mode, const char *affinity, const char *hardware)
{
	fake_add_core_pmu(6);
	for (seed = 1; seed <= RUNS; seed++) {
		unsigned number = seed;
		move_task(0);
		if (attached)
			fake_task_affinity(attached, affinity);
		else
			fake_set_affinity(affinity);
		run_once(mode, strcmp(affinity, "0") == 0, hardware);
		seed = number;
	}
}

START_TEST(a_pinned_set_reads_the_same_either_way)
{
	run_all(PS_ATTRIBUTE_AUTO, "0", NULL);
}
END_TEST

START_TEST(an_exact_set_reads_the_same_either_way)
{
	run_all(PS_ATTRIBUTE_EXACT, "0-1", NULL);
}
END_TEST

START_TEST(a_last_cpu_set_reads_the_same_either_way)
{
	run_all(PS_ATTRIBUTE_LAST_CPU, "0-1", NULL);
}
END_TEST

START_TEST(multiplexed_hardware_reads_the_same_either_way)
{
	run_all(PS_ATTRIBUTE_AUTO, "0", "instructions");
	run_all(PS_ATTRIBUTE_EXACT, "0-1", "instructions");
}
END_TEST

START_TEST(an_attached_set_reads_the_same_either_way)
{
	attached = OTHER;
	run_all(PS_ATTRIBUTE_AUTO, "0", NULL);
	run_all(PS_ATTRIBUTE_EXACT, "0-1", "instructions");
	run_all(PS_ATTRIBUTE_LAST_CPU, "0-1", NULL);
	attached = 0;
}
END_TEST

/* The nth read fails, once: the call says so, and the next one has it all. */
START_TEST(a_read_that_fails_in_the_short_way_loses_nothing)
{
	struct side side;
	uint64_t timestamp = 0;
	struct ps_value value;

	open_side(&side, PS_ATTRIBUTE_AUTO, NULL);
	check_ok(ps_start(side.set));
	for (int index = 0; index < 3; index++) {
		fake_advance(PAGE_FAULTS, 5);
		check_ok(ps_read(side.set, side.root, &timestamp, NULL));
	}
	fake_advance(PAGE_FAULTS, 7);
	fake_fail(FAKE_READ, 1, EIO);
	check_fails(ps_accum(side.set, side.root, &timestamp, NULL), PS_ESYS);
	ck_assert(fake_fail_happened());
	check_ok(
	    ps_thread_reading(ps_topology_thread(side.topology, 0), events[0], timestamp, &value));
	ck_assert_int_eq(value.value, 15);
	check_ok(ps_accum(side.set, side.root, &timestamp, NULL));
	fake_advance(PAGE_FAULTS, 1);
	check_ok(ps_read(side.set, side.root, &timestamp, NULL));
	check_ok(
	    ps_thread_reading(ps_topology_thread(side.topology, 0), events[0], timestamp, &value));
	ck_assert_int_eq(value.value, 23);
	close_side(&side);
}
END_TEST

/* _i: which event's counter goes back, of three (an odd number of words in a row), and whether the
 * reading is a new one. */
START_TEST(a_counter_that_goes_back_is_flagged_in_the_short_way_too)
{
	static const struct {
		const char *event;
		uint32_t type;
		uint64_t config;
	} counted[] = {{"page-faults", PAGE_FAULTS},
	               {"minor-faults", MINOR_FAULTS},
	               {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ}};
	bool is_new = _i % 2;
	int backward = _i / 2;
	struct ps_overhead overhead;
	uint64_t timestamp = 0;
	struct side side;

	open_side(&side, PS_ATTRIBUTE_AUTO, counted[2].event);
	check_ok(ps_start(side.set));
	for (int index = 0; index < 3; index++) {
		for (int event = 0; event < 3; event++)
			fake_advance(counted[event].type, counted[event].config, 5);
		timestamp = is_new ? 0 : timestamp;
		check_ok(ps_read(side.set, side.root, &timestamp, NULL));
	}
	uint64_t before = timestamp;
	for (int event = 0; event < 3; event++) {
		if (event == backward)
			fake_set_count(counted[event].type, counted[event].config, 2);
		else
			fake_advance(counted[event].type, counted[event].config, 1);
	}
	timestamp = is_new ? 0 : timestamp;
	check_ok(ps_read(side.set, side.root, &timestamp, NULL));
	for (int event = 0; event < 3; event++) {
		struct ps_thread *thread = ps_topology_thread(side.topology, 0);
		struct ps_value value;

		check_ok(ps_thread_reading(thread, counted[event].event, timestamp, &value));
		ck_assert_int_eq(value.value, event == backward ? 17 : 16);
		ck_assert_int_eq((value.flags & PS_VALUE_WENT_BACK) != 0, 1);
		if (!is_new)
			continue;
		check_ok(ps_thread_reading(thread, counted[event].event, before, &value));
		ck_assert_int_eq(value.value, 15);
		ck_assert_uint_eq(value.flags & PS_VALUE_WENT_BACK, 0);
	}
	check_ok(ps_eventset_overhead(side.set, &overhead));
	ck_assert_uint_eq(overhead.readings, 4);
	close_side(&side);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fast path");
	TCase *tests = scene_case(suite, "the fast path");

	tcase_add_test(tests, a_pinned_set_reads_the_same_either_way);
	tcase_add_test(tests, an_exact_set_reads_the_same_either_way);
	tcase_add_test(tests, a_last_cpu_set_reads_the_same_either_way);
	tcase_add_test(tests, multiplexed_hardware_reads_the_same_either_way);
	tcase_add_test(tests, an_attached_set_reads_the_same_either_way);
	tcase_add_test(tests, a_read_that_fails_in_the_short_way_loses_nothing);
	tcase_add_loop_test(tests, a_counter_that_goes_back_is_flagged_in_the_short_way_too, 0, 6);
	return scene_run(suite);
}

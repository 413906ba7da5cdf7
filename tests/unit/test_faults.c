/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every call of the kernel and every allocation fails once, at its first, second, ... use in every
 * scenario, until the scenario uses it no more. Whatever fails: an error with a sentence or full
 * success, and nothing leaks.
 */
#include "support/scene.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <errno.h>

#define EVENT      "page-faults"
#define FAULTS_MAX 2000

/* What a scenario makes; released after it whatever happened. */
struct made {
	struct ps_topology *topology;
	struct ps_eventset *set, *clone;
};

/* Returns the first error, or PS_OK after it has checked what it got. */
typedef int scenario_function(struct made *made);

static int load_topology(struct made *made)
{
	int result = ps_topology_load_synthetic(&made->topology, "pack:2 [numa] l3:1 core:2 pu:2");

	if (result == PS_OK)
		ck_assert_uint_eq(ps_component_thread_count(ps_topology_root(made->topology)), 8);
	else
		ck_assert_ptr_null(made->topology);
	return result;
}

static enum ps_attribution_mode mode;
static enum fake_means means;

static int create_and_add(struct made *made, const char *event)
{
	int result = ps_eventset_create(&made->set);

	if (result == PS_OK)
		result = ps_eventset_set_attribution(made->set, mode);

	if (result != PS_OK) {
		ck_assert_ptr_null(made->set);
		return result;
	}
	result = ps_eventset_add(made->set, event);
	ck_assert_uint_eq(ps_eventset_event_count(made->set), result == PS_OK ? 1 : 0);
	return result;
}

static int add_software(struct made *made)
{
	return create_and_add(made, EVENT);
}

static int add_of_a_pmu(struct made *made)
{
	return create_and_add(made, "cpu/event=0xc0,umask=0x1/");
}

static int add_unprivileged(struct made *made)
{
	int result;

	fake_set_paranoid(2, false);
	result = create_and_add(made, EVENT);
	if (result == PS_OK)
		ck_assert_int_ne(ps_eventset_event_is_user_only(made->set, 0), 0);
	return result;
}

static int add_unknown(struct made *made)
{
	int result = ps_eventset_create(&made->set);

	if (result != PS_OK)
		return result;
	ck_assert_int_lt(ps_eventset_add(made->set, "page-fualts"), 0);
	ck_assert_str_ne(ps_error_detail(), "");
	return ps_eventset_event_count(made->set) == 0 ? PS_OK : PS_EBUG;
}

static int add_the_default(struct made *made)
{
	int result = ps_eventset_create(&made->set);

	if (result != PS_OK)
		return result;
	result = ps_eventset_add_default(made->set);
	if (result != PS_OK)
		ck_assert_uint_eq(ps_eventset_event_count(made->set), 0);
	return result;
}

/* Counts that nobody has read stay if the events can't be added. */
static int add_the_default_beside_counts(struct made *made)
{
	uint64_t timestamp = 0;
	int result = create_and_add(made, EVENT);

	if (result == PS_OK)
		result = ps_start(made->set);
	if (result != PS_OK)
		return result;
	fake_advance(PAGE_FAULTS, 10);
	ck_assert_int_lt(ps_stop(made->set, NULL, &timestamp, NULL), 0);
	result = ps_eventset_add_default(made->set);
	if (result == PS_OK)
		return result;
	ck_assert_int_eq(ps_read(made->set, scene.root, &timestamp, NULL), PS_OK);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 10);
	return result;
}

static int clone_a_set(struct made *made)
{
	int result = create_and_add(made, EVENT);

	if (result == PS_OK)
		result = ps_eventset_add(made->set, "minor-faults");
	if (result == PS_OK)
		result = ps_eventset_clone(&made->clone, made->set);
	if (result == PS_OK)
		ck_assert_uint_eq(ps_eventset_event_count(made->clone), 2);
	else
		ck_assert_ptr_null(made->clone);
	return result;
}

static int start_several_groups(struct made *made)
{
	int result = create_and_add(made, "cycles");

	if (result == PS_OK)
		result = ps_eventset_add(made->set, "instructions");
	if (result == PS_OK)
		result = ps_eventset_add(made->set, EVENT);
	if (result == PS_OK)
		result = ps_start(made->set);
	if (result == PS_OK)
		ck_assert_uint_eq(ps_eventset_group_count(made->set), 3);
	else if (made->set)
		ck_assert_int_eq(ps_eventset_is_running(made->set), 0);
	return result;
}

/* The heart of it: whichever call fails, the counts of the others come out, all of them. */
static int count_on_two_cpus(struct made *made)
{
	uint64_t timestamp = 0, other = 0;
	int result = create_and_add(made, EVENT), first = PS_OK;

	if (result == PS_OK)
		result = ps_start(made->set);
	if (result != PS_OK)
		return result;
	for (int i = 0; i < 6; i++) {
		fake_set_cpu(i % 3);
		fake_advance(PAGE_FAULTS, 10);
		result = (i % 2 ? ps_read : ps_accum)(made->set, scene.root,
		                                      i == 3 ? &other : &timestamp, NULL);
		if (result != PS_OK && first == PS_OK)
			first = result;
	}
	fake_advance(PAGE_FAULTS, 10);
	result = ps_stop(made->set, scene.root, &timestamp, NULL);
	ck_assert_int_eq(ps_eventset_is_running(made->set), 0);
	if (result != PS_OK) {
		ck_assert_int_eq(first, PS_OK); /* one call fails, not two */
		ck_assert_int_eq(ps_read(made->set, scene.root, &timestamp, NULL), PS_OK);
		first = result;
	}
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 70);
	return first;
}

/* The set has counted ten. They come out, at the stop or after it. */
static int stop_after_ten(struct made *made)
{
	uint64_t timestamp = 0;
	int result = ps_stop(made->set, scene.root, &timestamp, NULL);

	if (result != PS_OK)
		ck_assert_int_eq(ps_read(made->set, scene.root, &timestamp, NULL), PS_OK);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 10);
	return result;
}

static int count_after_reserve(struct made *made)
{
	int result = create_and_add(made, EVENT);

	if (result == PS_OK)
		result = ps_eventset_reserve(made->set, 1000);
	if (result == PS_OK)
		result = ps_start(made->set);
	if (result != PS_OK)
		return result;
	fake_advance(PAGE_FAULTS, 10);
	return stop_after_ten(made);
}

static int watch_a_task(struct made *made)
{
	int result = create_and_add(made, EVENT);

	if (result == PS_OK)
		result = ps_eventset_attach_tid(made->set, 4711);
	if (result == PS_OK)
		result = ps_start(made->set);
	if (result != PS_OK)
		return result;
	fake_advance(PAGE_FAULTS, 10);
	return stop_after_ten(made);
}

/* No count is lost where the clocks can't tell, or the looks. */
static int share_out(struct made *made, enum ps_attribution_mode by)
{
	int result = create_and_add(made, EVENT);

	fake_file("/proc/4711/task/4711/stat", "");
	if (result == PS_OK)
		result = ps_eventset_set_attribution(made->set, by);
	if (result == PS_OK)
		result = ps_eventset_attach_process(made->set, 4711);
	if (result == PS_OK)
		result = ps_start(made->set);
	if (result != PS_OK)
		return result;
	fake_advance(PAGE_FAULTS, 10);
	fake_run(50, 50);
	return stop_after_ten(made);
}

static int share_out_a_process(struct made *made)
{
	return share_out(made, PS_ATTRIBUTE_TIME_SHARE);
}

static int look_at_a_process(struct made *made)
{
	return share_out(made, PS_ATTRIBUTE_LOOKS);
}

static int watch_a_cpu(struct made *made)
{
	uint64_t timestamp = 0;
	int result = create_and_add(made, EVENT), first = PS_OK;

	if (result == PS_OK)
		result = ps_eventset_attach_cpu(made->set, 1);
	if (result == PS_OK)
		result = ps_start(made->set);
	if (result != PS_OK)
		return result;
	for (int i = 0; i < 5; i++) {
		if (i == 1 || i == 2)
			fake_set_online(1, i == 2);
		fake_advance_on(PAGE_FAULTS, -1, 1, 10);
		fake_run(1000, 1000);
		result = ps_read(made->set, scene.root, &timestamp, NULL);
		if (result != PS_OK && first == PS_OK)
			first = result;
	}
	result = ps_stop(made->set, scene.root, &timestamp, NULL);
	if (result != PS_OK)
		ck_assert_int_eq(ps_read(made->set, scene.root, &timestamp, NULL), PS_OK);
	/* What was there before it went offline */
	ck_assert_int_ge(scene_sum(EVENT, timestamp), 10);
	return first == PS_OK ? result : first;
}

static int store_without_start(struct made *made)
{
	const long long counter = 5;
	uint64_t timestamp = 0;
	int result = create_and_add(made, EVENT);

	if (result == PS_OK)
		result = ps_store(made->set, &counter, 1, scene.root, &timestamp, NULL);
	if (result == PS_OK)
		ck_assert_int_eq(scene_sum(EVENT, timestamp), 5);
	else
		ck_assert_uint_eq(timestamp, 0);
	return result;
}

static const struct {
	const char *name;
	scenario_function *run;
} scenarios[] = {{"load_topology", load_topology},
                 {"add_software", add_software},
                 {"add_of_a_pmu", add_of_a_pmu},
                 {"add_unprivileged", add_unprivileged},
                 {"add_unknown", add_unknown},
                 {"add_the_default", add_the_default},
                 {"add_the_default_beside_counts", add_the_default_beside_counts},
                 {"clone_a_set", clone_a_set},
                 {"start_several_groups", start_several_groups},
                 {"count_on_two_cpus", count_on_two_cpus},
                 {"count_after_reserve", count_after_reserve},
                 {"watch_a_task", watch_a_task},
                 {"share_out_a_process", share_out_a_process},
                 {"look_at_a_process", look_at_a_process},
                 {"watch_a_cpu", watch_a_cpu},
                 {"store_without_start", store_without_start}};

#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static const struct {
	const char *name;
	enum fake_call call;
	int errors[8];
} faults[] = {
    {"perf_event_open",
     FAKE_PERF_EVENT_OPEN,
     {EACCES, EMFILE, ENOENT, EINVAL, ENOSYS, EBUSY, ESRCH, EINTR}},
    {"ioctl", FAKE_IOCTL, {EIO, EINTR}},
    {"read", FAKE_READ, {EIO, EINTR, ENOSPC}},
    {"pread", FAKE_PREAD, {EIO, EINTR}},
    {"open", FAKE_OPEN, {EMFILE, ENOENT, EACCES, EINTR}},
    {"close", FAKE_CLOSE, {EIO, EINTR}},
    {"mmap", FAKE_MMAP, {ENOMEM, EAGAIN}},
    {"munmap", FAKE_MUNMAP, {ENOMEM}},
    {"list", FAKE_LIST, {ENOENT, EACCES, EMFILE}},
    {"getcpu", FAKE_GETCPU, {ENOSYS}},
    {"sched_getaffinity", FAKE_GETAFFINITY, {EINVAL, ESRCH}},
    {"clock_gettime", FAKE_CLOCK_GETTIME, {EINVAL}},
    {"getrlimit", FAKE_GETRLIMIT, {EINVAL}},
    {"allocate", FAKE_ALLOCATE, {ENOMEM}},
};

/* A fresh machine: one task beside the caller, a core PMU with one counter. */
static void prepare(void)
{
	scene_setup();
	fake_set_means(means);
	fake_add_core_pmu(1);
	fake_add_msr();
	fake_task(4711, "solver", 2);
}

/* One run with one order. True if the order was carried out. */
static bool run_with_fault(size_t scenario, size_t fault, unsigned nth, int error)
{
	struct made made = {.set = NULL};
	bool happened;
	int result;

	prepare();
	ps_eventset_create(NULL); /* a sentence that is not the one expected */
	fake_fail(faults[fault].call, nth, error);
	result = scenarios[scenario].run(&made);
	happened = fake_fail_happened();
	ck_assert_msg(result <= 0, "%s: %d", scenarios[scenario].name, result);
	if (!happened)
		ck_assert_msg(result == PS_OK, "%s, %s %u: %d %s", scenarios[scenario].name,
		              faults[fault].name, nth, result, ps_error_detail());
	if (result != PS_OK) {
		ck_assert_msg(*ps_error_detail() &&
		                  !strstr(ps_error_detail(), "ps_eventset_create: out"),
		              "%s, %s %u, errno %d: %d without a sentence",
		              scenarios[scenario].name, faults[fault].name, nth, error, result);
		ck_assert_msg(result != PS_EBUG && result != PS_EMISC, "%s, %s %u, errno %d: %d",
		              scenarios[scenario].name, faults[fault].name, nth, error, result);
	}
	fake_fail(faults[fault].call, 0, 0);
	ps_eventset_destroy(made.set);
	ps_eventset_destroy(made.clone);
	ps_topology_destroy(made.topology);
	scene_teardown(); /* fails if something is left */
	return happened;
}

/* Every use of the call fails, with this error or, in the small form, with the errors in turn. */
static void fail_each(size_t scenario, size_t fault, size_t error)
{
	const int *errors = faults[fault].errors;
	/* libpfm4 looks for an unknown name for long. */
	bool is_long = scenarios[scenario].run == add_unknown;
	unsigned nth = 1, step = is_long ? (unsigned)ps_test_serial_size(1, 4) : 1;
	size_t count = 0;

	while (count < 8 && errors[count])
		count++;
	while (run_with_fault(scenario, fault, nth,
	                      errors[ps_test_serial_size(0, 1) ? (error + nth) % count : error]))
		ck_assert_uint_lt(nth += step, FAULTS_MAX);
}

START_TEST(whatever_fails_is_told_and_nothing_leaks)
{
	size_t scenario = (size_t)_i % SCENARIOS;

	mode = (size_t)_i < 2 * SCENARIOS ? PS_ATTRIBUTE_AUTO : PS_ATTRIBUTE_LAST_CPU;
	means = (size_t)_i < SCENARIOS ? FAKE_MEANS_PER_CPU : FAKE_MEANS_ALL;
	/* It opens nothing, so the modes are all the same to it; and libpfm4 looks for a name like
	 * it for long. */
	if (scenarios[scenario].run == add_unknown && (size_t)_i >= SCENARIOS)
		return;
	for (size_t fault = 0; fault < sizeof(faults) / sizeof(faults[0]); fault++)
		for (size_t i = 0; i < (size_t)ps_test_serial_size(8, 1) && faults[fault].errors[i];
		     i++)
			fail_each(scenario, fault, i);
}
END_TEST

/* From the nth call on, all fail: the way back must not need what is no longer there. */
START_TEST(a_machine_without_memory_or_descriptors_from_some_point_on_leaks_nothing)
{
	static const enum fake_call calls[] = {FAKE_ALLOCATE, FAKE_MMAP, FAKE_PERF_EVENT_OPEN,
	                                       FAKE_OPEN};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct made made = {.set = NULL};

		prepare();
		check_ok(add_software(&made));
		fake_fail_always(
		    calls[i], calls[i] == FAKE_ALLOCATE || calls[i] == FAKE_MMAP ? ENOMEM : EMFILE);
		ps_eventset_add(made.set, "minor-faults");
		ps_eventset_clone(&made.clone, made.set);
		ps_eventset_reserve(made.set, 100);
		ps_start(made.set);
		ps_read(made.set, scene.root, NULL, NULL);
		ps_stop(made.set, scene.root, NULL, NULL);
		ps_eventset_destroy(made.set);
		ps_eventset_destroy(made.clone);
		scene_teardown();
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("faults");
	TCase *tests = tcase_create("faults");

	tcase_set_timeout(tests, 300);
	tcase_add_loop_test(tests, whatever_fails_is_told_and_nothing_leaks, 0, 3 * (int)SCENARIOS);
	tcase_add_test(tests,
	               a_machine_without_memory_or_descriptors_from_some_point_on_leaks_nothing);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}

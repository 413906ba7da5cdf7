/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recovery. A set whose call was left by a jump loses nothing, and calls nothing exact that isn't;
 * api/test_jump and api/test_step jump at any instruction. And what a CPU's counters missed while
 * it was thought to be offline shows in the coverage; test_targets.c has the counts.
 */
#include "base/os.h"
#include "eventset/eventset.h"
#include "support/scene.h"
#include "support/step.h"

#include <setjmp.h>
#include <signal.h>

#define SECOND UINT64_C(1000000000)

static ssize_t (*real_read)(int fd, void *buffer, size_t size_bytes);
static sigjmp_buf back;
static int reads_before;

static ssize_t leave(int fd, void *buffer, size_t size_bytes)
{
	if (reads_before-- > 0)
		return real_read(fd, buffer, size_bytes);
	ps__os.read = real_read;
	siglongjmp(back, 1);
}

/* The jump comes when the counters are read, after so many reads. */
static void leave_a_reading(struct ps_eventset *set, int reads)
{
	real_read = ps__os.read;
	reads_before = reads;
	if (sigsetjmp(back, 1) == 0) {
		ps__os.read = leave;
		ps_read(set, scene.root, NULL, NULL);
		ck_abort_msg("the reading reads fewer counters");
	}
}

/* What the rings told is gone with the call: counts that were split by it have no sure place. */
static void check_left(int reads, enum ps_attribution label)
{
	struct ps_eventset *set = scene_started("page-faults", "minor-faults", NULL);
	uint64_t timestamp = 0;

	/* From the first reading on the rings tell where to look. */
	scene_count_on(0, 1);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	scene_count_on(0, 4);
	scene_count_on(1, 3);
	leave_a_reading(set, reads);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum("page-faults", timestamp), 8);
	ck_assert_int_eq((int)scene_part(1, "page-faults", timestamp).attribution, (int)label);
	scene_check_residual(set);
	scene_count_on(1, 2);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum("page-faults", timestamp), 10);
	ps_eventset_destroy(set);
}

START_TEST(a_left_reading_of_per_cpu_counters_stays_exact)
{
	check_left(_i, PS_ATTRIBUTION_EXACT);
}
END_TEST

START_TEST(a_left_reading_of_records_is_not_called_exact)
{
	check_left(0, PS_ATTRIBUTION_LAST_CPU);
}
END_TEST

static void jump_back(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static ssize_t raise_at_read(int fd, void *buffer, size_t size_bytes)
{
	if (reads_before-- == 0)
		raise(SIGUSR1);
	return real_read(fd, buffer, size_bytes);
}

/* The group is taken apart: each descriptor is read, after the group itself. _i: the number of
 * reads before the jump. */
START_TEST(the_counts_before_a_cpu_went_offline_are_kept_once)
{
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);
	volatile int reads = _i;

	signal(SIGUSR1, jump_back);
	check_ok(ps_eventset_attach_cpu(set, 3));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 100);
	fake_advance(MINOR_FAULTS, 50);
	fake_set_online(3, false);
	real_read = ps__os.read;
	reads_before = reads;
	if (sigsetjmp(back, 1) == 0) {
		ps__os.read = raise_at_read;
		ps_read(set, scene.root, NULL, NULL);
		ck_abort_msg("the reading reads fewer counters");
	}
	ps__os.read = real_read;
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(scene_part(3, "page-faults", 0).raw, 100);
	ck_assert_uint_eq(scene_part(3, "minor-faults", 0).raw, 50);
	ps_eventset_destroy(set);
}
END_TEST

static int (*real_ioctl)(int fd, unsigned long request, unsigned long argument);
static const struct ps_eventset *enabled;
static bool enables_before;

/* While the set is opened, no handler comes. */
static int leave_control(int fd, unsigned long request, unsigned long argument)
{
	if (enabled->state != PS__SET_RUNNING)
		return real_ioctl(fd, request, argument);
	ps__os.ioctl = real_ioctl;
	if (enables_before)
		real_ioctl(fd, request, argument);
	siglongjmp(back, 1);
}

/* The jump comes when the first counter is about to be enabled, or just was. */
static void leave_when_enabled(struct ps_eventset *set, int (*call)(struct ps_eventset *set))
{
	enabled = set;
	real_ioctl = ps__os.ioctl;
	if (sigsetjmp(back, 1) == 0) {
		ps__os.ioctl = leave_control;
		call(set);
		ck_abort_msg("the call enables no counter");
	}
}

/* _i: the counter was enabled, 1; it isn't the first start, 2. */
START_TEST(a_start_that_is_left_is_made_again)
{
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);
	uint64_t timestamp = 0;

	enables_before = _i & 1;
	scene_count_on(0, 1);
	if (_i & 2) {
		check_ok(ps_start(set));
		scene_count_on(0, 5);
		check_ok(ps_stop(set, scene.root, NULL, NULL));
	}
	leave_when_enabled(set, ps_start);
	scene_count_on(0, 3);
	check_ok(ps_start(set));
	scene_count_on(1, 2);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum("page-faults", timestamp), 2);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: the counter was enabled. */
START_TEST(a_resumption_that_is_left_is_made_again)
{
	struct ps_eventset *set = scene_started("page-faults", "minor-faults", NULL);
	uint64_t timestamp = 0;

	enables_before = _i;
	scene_count_on(0, 5);
	check_ok(ps_pause(set));
	leave_when_enabled(set, ps_resume);
	scene_count_on(0, 3);
	ck_assert_int_eq(ps_eventset_is_paused(set), 1);
	check_ok(ps_resume(set));
	scene_count_on(1, 2);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum("page-faults", timestamp), _i ? 10 : 7);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

#ifdef STEP_IS_POSSIBLE

/* The processor stops after each instruction of what is written, and of its repair: the fake's
 * functions must not be left. */
static int (*clock_one)(clockid_t clock, struct timespec *now);
static struct ps_eventset *left;
static volatile long steps_left; /* 0: until a new reading is about to be written, or just was */
static size_t rows_before;       /* on the fast path */

static size_t count_rows(void)
{
	const struct ps__history *history = left->fast_path.row.history;

	return atomic_load(&history->count);
}

/* Is it known that the latest reading is another one, and no more? */
static bool has_begun(void)
{
	if (left->fast_path.root)
		return left->fast_path.base == PS__BASE_NONE && count_rows() > rows_before;
	return left->recorder.pending.stage == PS__STAGE_FORGETTING;
}

static bool is_writing(void)
{
	return left->recorder.pending.stage != PS__STAGE_NONE ||
	       atomic_load(&left->recorder.recording->sequence) % 2 == 1;
}

static void count_step(int number)
{
	(void)number;
	if (steps_left == 0 && has_begun())
		siglongjmp(back, 1);
	if (steps_left > 0 && is_writing() && --steps_left == 0)
		siglongjmp(back, 1);
}

static int clock_and_step(clockid_t clock, struct timespec *now)
{
	int result = clock_one(clock, now);

	step(true);
	return result;
}

/* True: it was left after so many steps of the repair, and of what it writes then; or, without
 * steps, where a new reading begins. */
static bool leave_accum(long steps)
{
	volatile bool was_left = true;
	uint64_t timestamp = 0;

	steps_left = steps;
	if (sigsetjmp(back, 1) == 0) {
		if (steps == 0)
			ps__os.clock_gettime = clock_and_step;
		step(steps > 0);
		int result = ps_accum(left, scene.root, &timestamp, NULL);
		step(false);
		check_ok(result);
		was_left = false;
	}
	ps__os.clock_gettime = clock_one;
	return was_left;
}

static long long history_sum(void)
{
	static struct ps_value values[4096];
	long long sum = 0;
	size_t count = 0;

	check_ok(ps_thread_readings(ps_topology_thread(scene.topology, 0), "page-faults", values,
	                            4096, &count));
	for (size_t i = 0; i < count; i++)
		sum += values[i].value;
	return sum;
}

/* Both calls are left. What was counted is in one reading of the history, and in one alone. */
static bool leave_twice(long steps)
{
	long long sum = history_sum();

	scene_count_on(0, 2);
	ck_assert(leave_accum(0));
	bool was_left = leave_accum(steps);
	check_ok(ps_accum(left, scene.root, &(uint64_t){0}, NULL));
	sum = history_sum() - sum;
	ck_assert_msg(sum == 2, "after step %ld: %lld, not 2", steps, sum);
	return was_left;
}

static void begin_steps(void)
{
	clock_one = ps__os.clock_gettime;
	signal(SIGTRAP, count_step);
	left = scene_started("page-faults", NULL);
}

/* The repair forgets the latest reading in the call's place, and writes the new one. Left after
 * that, it must not forget the new one. */
START_TEST(a_new_reading_whose_repair_is_left_is_not_forgotten)
{
	long steps = 1;

	if (!step_is_possible())
		return;
	begin_steps();
	check_ok(ps_accum(left, scene.root, NULL, NULL));
	while (leave_twice(steps)) {
		check_ok(ps_accum(left, scene.root, &(uint64_t){0}, NULL));
		steps += 7;
	}
	ck_assert_int_gt(steps, 100);
	scene_check_residual(left);
	ps_eventset_destroy(left);
}
END_TEST

/* The fast path had written a row, and not told yet that it is the base of what comes. */
START_TEST(a_row_whose_repair_is_left_is_not_counted_twice)
{
	long steps = 1;

	if (!step_is_possible())
		return;
	for (bool was_left = true; was_left; steps += 7) {
		begin_steps();
		for (int i = 0; i < 3; i++)
			check_ok(ps_read(left, scene.root, NULL, NULL));
		ck_assert_ptr_nonnull(left->fast_path.root);
		rows_before = count_rows();
		was_left = leave_twice(steps);
		scene_check_residual(left);
		ps_eventset_destroy(left);
	}
	ck_assert_int_gt(steps, 100);
}
END_TEST

/* Signals come while the set is put under its topology, which is known by its holders. */
static size_t count_holders(void)
{
	return atomic_load(&scene.topology->holders) / PS__HOLDER;
}

static void raise_while_bound(int number)
{
	(void)number;
	if (count_holders() == 2 && !left->recorder.root && steps_left > 0 && --steps_left == 0)
		raise(SIGUSR1);
}

/* True: so many steps were made. */
static bool leave_first_reading(long steps)
{
	steps_left = steps;
	if (sigsetjmp(back, 1) == 0) {
		step(true);
		int result = ps_read(left, scene.root, NULL, NULL);
		step(false);
		check_ok(result);
	}
	return steps_left == 0;
}

/* A topology that is held twice is never freed. */
START_TEST(a_first_reading_that_is_left_binds_the_set_once)
{
	long steps = 1;

	if (!step_is_possible())
		return;
	for (bool was_left = true; was_left; steps += 3) {
		begin_steps();
		signal(SIGTRAP, raise_while_bound);
		signal(SIGUSR1, jump_back);
		was_left = leave_first_reading(steps);
		scene_count_on(0, 2);
		check_ok(ps_stop(left, scene.root, NULL, NULL));
		ck_assert_uint_eq(count_holders(), 2);
		scene_check_residual(left);
		ps_eventset_destroy(left);
		ck_assert_uint_eq(count_holders(), 1);
	}
	ck_assert_int_gt(steps, 20);
}
END_TEST

#endif

/* _i: it was seen to be offline for a while, when nothing could be missed. */
START_TEST(what_ran_on_a_cpu_before_it_was_seen_to_be_back_shows_in_its_coverage)
{
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);

	fake_set_clock(SECOND, 1000);
	check_ok(ps_eventset_attach_cpu(set, 3));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 100);
	fake_run(SECOND, SECOND);
	fake_set_clock(2 * SECOND, 1000);
	fake_set_online(3, false);
	if (_i) {
		fake_set_clock(9 * SECOND, 1000);
		check_ok(ps_read(set, scene.root, NULL, NULL));
		ck_assert_int_eq((int)scene_part(3, "page-faults", 0).status, PS_STATUS_COUNTED);
	}
	fake_set_online(3, true);
	fake_set_clock((_i ? 10 : 3) * SECOND, 1000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	struct ps_value part = scene_part(3, "page-faults", 0);
	ck_assert_uint_ne(part.flags & PS_VALUE_INTERRUPTED, 0);
	ck_assert_int_eq((int)part.status, PS_STATUS_SCALED);
	ck_assert_uint_eq(part.raw, 100);
	ck_assert_uint_eq(part.running_ns, SECOND);
	ck_assert_uint_ge(part.enabled_ns, 2 * SECOND - 1000000);
	ck_assert_uint_le(part.enabled_ns, 2 * SECOND + 1000000);
	/* From then on it counts again, and no more is missed. */
	fake_advance(PAGE_FAULTS, 50);
	fake_run(SECOND, SECOND);
	fake_set_clock((_i ? 11 : 4) * SECOND, 1000);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	struct ps_value last = scene_part(3, "page-faults", 0);
	ck_assert_uint_eq(last.raw, 150);
	ck_assert_uint_eq(last.enabled_ns - part.enabled_ns, SECOND);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recover");
	TCase *tests = scene_case(suite, "recover");

	tcase_add_loop_test(
	    tests, what_ran_on_a_cpu_before_it_was_seen_to_be_back_shows_in_its_coverage, 0, 2);
	tcase_add_loop_test(scene_case_instances(suite, "per-CPU"),
	                    a_left_reading_of_per_cpu_counters_stays_exact, 0, 2);
	tcase_add_loop_test(tests, the_counts_before_a_cpu_went_offline_are_kept_once, 0, 3);
	tcase_add_loop_test(tests, a_start_that_is_left_is_made_again, 0, 4);
	tcase_add_loop_test(tests, a_resumption_that_is_left_is_made_again, 0, 2);
#ifdef STEP_IS_POSSIBLE
	TCase *last_cpu = scene_case_last_cpu(suite, "last CPU");
	tcase_add_test(last_cpu, a_new_reading_whose_repair_is_left_is_not_forgotten);
	tcase_add_test(last_cpu, a_row_whose_repair_is_left_is_not_counted_twice);
	tcase_add_test(last_cpu, a_first_reading_that_is_left_binds_the_set_once);
#endif
	tcase_add_test(scene_case_records(suite, "records"),
	               a_left_reading_of_records_is_not_called_exact);
	return scene_run(suite);
}

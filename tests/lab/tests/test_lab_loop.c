/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known work is counted exactly: a loop of two instructions, its count printed so that boots can be
 * compared. Built with PS_LAB_WRONG it expects three instructions, and must fail: the lab shows
 * with it that it can.
 */
#include "lab.h"

#include <stdio.h>

#ifdef PS_LAB_WRONG
#define PER_ITERATION 3
#else
#define PER_ITERATION 2
#endif

/* The instructions that ps_start and ps_read themselves run while they count. */
#define OVERHEAD_MAX      200
#define USER_OVERHEAD_MAX 320
#define USER_ACCESS       "/proc/sys/kernel/perf_user_access"
/* What a whole ps_accum runs at most, storing included. */
#define STORING_MAX 1000
#define RUNS        8
#define LOOPS       5

struct bench {
	struct ps_topology *topology;
	struct ps_eventset *set;
	const char *event;
};

/* What a loop counts, from ps_start to ps_read. */
static long long measure_once(struct bench *bench, unsigned long iterations)
{
	struct ps_component *root = ps_topology_root(bench->topology);
	struct ps_thread *thread = NULL;
	struct ps_value value;
	uint64_t timestamp = 0;
	int started, read;

	/* Check's own asserts are some 1000 instructions long, so none while counting. */
	lab_after_tick();
	started = ps_start(bench->set);
	lab_loop(iterations);
	read = ps_read(bench->set, root, &timestamp, &thread);
	lab_ok(started);
	lab_ok(read);
	value = lab_reading(thread, bench->event, timestamp);
	lab_ok(ps_stop(bench->set, root, &timestamp, NULL));
	ck_assert_int_eq(value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(value.attribution, PS_ATTRIBUTION_PINNED);
	ck_assert_int_eq(ps_thread_cpu(thread), 1);
	return value.value;
}

/* The median of three: a rare measurement counts some thousands more here (HACKING, "The PMU lab").
 * A library that counted too much, or too little, in two of three would show. */
static long long measure(struct bench *bench, unsigned long iterations)
{
	long long one = measure_once(bench, iterations), two = measure_once(bench, iterations);

	return lab_median(one, two, measure_once(bench, iterations));
}

static struct bench bench_create(void)
{
	struct bench bench = {lab_topology(), lab_set(LAB_INSTRUCTIONS, NULL), LAB_INSTRUCTIONS};

	lab_pin(1);
	lab_ok(ps_eventset_reserve(bench.set, 100));
	/* What happens once only isn't measured: the first start opens the counter, the second
	 * binds what is left to bind. */
	measure(&bench, 1);
	measure(&bench, 1);
	return bench;
}

static void bench_destroy(struct bench *bench)
{
	ps_eventset_destroy(bench->set);
	ps_topology_destroy(bench->topology);
}

/* _i: 0, by read(2), which itself isn't counted in user space; 1, in user space, where all of the
 * way to the counter is. */
START_TEST(a_loop_counts_its_instructions_and_a_constant)
{
	lab_write(USER_ACCESS, _i ? "1" : "0");
	struct bench bench = bench_create();
	const long long most[] = {OVERHEAD_MAX, USER_OVERHEAD_MAX};
	unsigned long iterations = lab_iterations();
	long long known = (long long)(iterations * PER_ITERATION),
		  count = measure(&bench, iterations);

	printf("lab: %lu iterations of 2 instructions count %lld, by %s\n", iterations, count,
	       ps_read_path_name(ps_eventset_read_path(bench.set, NULL)));
	ck_assert_int_eq((int)ps_eventset_read_path(bench.set, NULL),
	                 _i ? PS_READ_PATH_USER : PS_READ_PATH_SYSCALL);
	ck_assert_int_ge(count, known);
	ck_assert_int_lt(count, known + most[_i]);
	bench_destroy(&bench);
}
END_TEST

START_TEST(a_loop_counts_the_same_at_each_run)
{
	struct bench bench = bench_create();
	long long counts[RUNS], least = 0;
	int others = 0;

	for (int run = 0; run < RUNS; run++) {
		counts[run] = measure(&bench, lab_iterations());
		least = run == 0 || counts[run] < least ? counts[run] : least;
	}
	for (int run = 0; run < RUNS; run++) {
		others += counts[run] != least;
		if (counts[run] != least)
			printf("lab: a run of the loop counts %lld, the others %lld\n", counts[run],
			       least);
	}
	/* What disturbs the emulator may last for longer than a measurement. */
	ck_assert_int_le(others, 1);
	bench_destroy(&bench);
}
END_TEST

START_TEST(more_work_counts_exactly_as_much_more)
{
	struct bench bench = bench_create();
	unsigned long iterations = lab_iterations();
	long long little = measure(&bench, iterations / 4), much = measure(&bench, iterations);

	ck_assert_int_eq(much - little, (long long)((iterations - iterations / 4) * PER_ITERATION));
	bench_destroy(&bench);
}
END_TEST

static long long accumulate(struct bench *bench, unsigned long iterations)
{
	struct ps_component *root = ps_topology_root(bench->topology);
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;
	int codes[1 + LOOPS];

	lab_after_tick();
	codes[0] = ps_start(bench->set);
	for (int i = 0; i < LOOPS; i++) {
		lab_loop(iterations);
		codes[i + 1] = ps_accum(bench->set, root, &timestamp, &thread);
	}
	lab_ok(ps_stop(bench->set, root, &timestamp, &thread));
	for (int i = 0; i <= LOOPS; i++)
		lab_ok(codes[i]);
	return lab_reading(thread, bench->event, timestamp).value;
}

START_TEST(accum_adds_up_what_each_of_its_loops_counted)
{
	struct bench bench = bench_create();
	unsigned long iterations = lab_iterations() / 10;
	long long known = (long long)(iterations * PER_ITERATION * LOOPS);
	long long sums[3] = {accumulate(&bench, iterations), accumulate(&bench, iterations),
	                     accumulate(&bench, iterations)};
	long long sum = lab_median(sums[0], sums[1], sums[2]);

	for (int i = 0; i < 3; i++)
		ck_assert_int_ge(sums[i], known);
	/* Between the calls the library itself is counted, storing included. */
	ck_assert_int_lt(sum, known + (LOOPS + 1) * STORING_MAX);
	bench_destroy(&bench);
}
END_TEST

static void allow_user_reads(void)
{
	lab_write(USER_ACCESS, "1");
}

int main(void)
{
	Suite *suite = suite_create("lab: known loops");
	TCase *loops = tcase_create("loops");

	tcase_add_checked_fixture(loops, NULL, allow_user_reads);
	tcase_add_loop_test(loops, a_loop_counts_its_instructions_and_a_constant, 0, 2);
	tcase_add_test(loops, a_loop_counts_the_same_at_each_run);
	tcase_add_test(loops, more_work_counts_exactly_as_much_more);
	tcase_add_test(loops, accum_adds_up_what_each_of_its_loops_counted);
	suite_add_tcase(suite, loops);
	return lab_run(suite);
}

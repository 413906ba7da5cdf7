/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI event sets with presets of the hardware, each beside a plain PAPI run of the same work: the
 * counts are equal, to the instruction and to the cycle.
 */
#include "lab.h"
#include "support/gone.h"

#include <papi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSTRUCTIONS "PAPI_TOT_INS"
#define CYCLES       "PAPI_TOT_CYC"
#define LOOPS        5

#define papi_ok(call) lab_papi_ok(call, #call)
static void lab_papi_ok(int code, const char *call)
{
	ck_assert_msg(code >= 0, "%s: %s", call, PAPI_strerror(code));
}

struct bench {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *set;
	int papi;
};

static unsigned long this_thread(void)
{
	return (unsigned long)pthread_self();
}

static void start_papi(void)
{
	if (PAPI_is_initialized())
		return;
	papi_ok(PAPI_library_init(PAPI_VER_CURRENT));
	papi_ok(PAPI_thread_init(this_thread));
	papi_ok(PAPI_multiplex_init());
}

static int create_set(void)
{
	int papi = PAPI_NULL;

	start_papi();
	papi_ok(PAPI_create_eventset(&papi));
	papi_ok(PAPI_assign_eventset_component(papi, 0));
	return papi;
}

static void add_events(int papi)
{
	papi_ok(PAPI_add_named_event(papi, INSTRUCTIONS));
	papi_ok(PAPI_add_named_event(papi, CYCLES));
}

static struct bench wrap(int papi)
{
	struct bench bench = {.topology = lab_topology(), .papi = papi};

	bench.root = ps_topology_root(bench.topology);
	lab_ok(ps_eventset_from_papi(&bench.set, papi));
	lab_ok(ps_eventset_reserve(bench.set, 200));
	return bench;
}

static void bench_destroy(struct bench *bench)
{
	long long values[2];

	PAPI_stop(bench->papi, values);
	ps_eventset_destroy(bench->set);
	ps_topology_destroy(bench->topology);
	papi_ok(PAPI_cleanup_eventset(bench->papi));
	papi_ok(PAPI_destroy_eventset(&bench->papi));
}

struct counts {
	long long instructions;
	long long cycles;
};

static struct counts counts_at(struct ps_thread *thread, uint64_t timestamp)
{
	return (struct counts){lab_reading(thread, INSTRUCTIONS, timestamp).value,
	                       lab_reading(thread, CYCLES, timestamp).value};
}

static struct counts run_plain(struct bench *bench, unsigned long iterations)
{
	long long values[2], final[2];

	lab_after_tick();
	int started = PAPI_start(bench->papi);
	lab_loop(iterations);
	int read = PAPI_read(bench->papi, values);
	papi_ok(started);
	papi_ok(read);
	papi_ok(PAPI_stop(bench->papi, final));
	return (struct counts){values[0], values[1]};
}

/* The same program with one call replaced. */
static struct counts run_wrapped(struct bench *bench, unsigned long iterations)
{
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;

	lab_ok(ps_eventset_set_attribution(bench->set, PS_ATTRIBUTE_AUTO));
	lab_after_tick();
	int started = ps_start(bench->set);
	lab_loop(iterations);
	int read = ps_read(bench->set, bench->root, &timestamp, &thread);
	lab_ok(started);
	lab_ok(read);
	struct counts counts = counts_at(thread, timestamp);
	lab_ok(ps_stop(bench->set, bench->root, &timestamp, NULL));
	ck_assert_int_eq(ps_thread_cpu(thread), 1);
	return counts;
}

static int compare_counts(const void *one, const void *other)
{
	long long a = ((const struct counts *)one)->instructions,
		  b = ((const struct counts *)other)->instructions;

	return (a > b) - (a < b);
}

/* The median of three: a rare measurement counts some thousands more here (HACKING, "The PMU
 * lab"). */
static struct counts median(struct bench *bench,
                            struct counts (*run)(struct bench *bench, unsigned long iterations),
                            unsigned long iterations)
{
	struct counts counts[3];

	for (int i = 0; i < 3; i++)
		counts[i] = run(bench, iterations);
	qsort(counts, 3, sizeof counts[0], compare_counts);
	return counts[1];
}

START_TEST(a_wrapped_set_counts_exactly_what_a_plain_papi_run_of_the_same_work_counts)
{
	int papi = create_set();
	unsigned long iterations = lab_iterations(), little = iterations / 4;
	long long known = (long long)(2 * (iterations - little));

	lab_pin(1);
	add_events(papi);
	struct bench bench = wrap(papi);
	median(&bench, run_plain, 1);
	median(&bench, run_wrapped, 1);
	struct counts plain = median(&bench, run_plain, iterations),
		      plain_little = median(&bench, run_plain, little);
	struct counts ours = median(&bench, run_wrapped, iterations),
		      ours_little = median(&bench, run_wrapped, little);
	printf("lab: %lu iterations: PAPI_start to PAPI_read %lld instructions, ps_start to "
	       "ps_read %lld\n",
	       iterations, plain.instructions, ours.instructions);
	ck_assert_int_eq(plain.instructions - plain_little.instructions, known);
	ck_assert_int_eq(ours.instructions - ours_little.instructions, known);
	ck_assert_int_eq(ours.cycles - ours_little.cycles, plain.cycles - plain_little.cycles);
	/* What stands between the counters and the work: neither stores anything before it has
	 * read. */
	ck_assert_int_lt(ours.instructions - plain.instructions, 400);
	bench_destroy(&bench);
}
END_TEST

START_TEST(what_ps_stop_stores_is_what_papi_stop_counted)
{
	int papi = create_set();
	struct ps_thread *thread = NULL;
	long long values[2];

	lab_pin(1);
	add_events(papi);
	struct bench bench = wrap(papi);
	for (int run = 0; run < 3; run++) {
		uint64_t timestamp = 0;
		/* The user's own start; only the stop is replaced. */
		int started = PAPI_start(papi);
		lab_loop(lab_iterations());
		int stopped = ps_stop(bench.set, bench.root, &timestamp, &thread);
		papi_ok(started);
		lab_ok(stopped);
		papi_ok(PAPI_read(papi, values)); /* the final counts, kept by PAPI */
		struct counts counts = counts_at(thread, timestamp);
		ck_assert_int_eq(counts.instructions, values[0]);
		ck_assert_int_eq(counts.cycles, values[1]);
		ck_assert_int_eq(lab_reading(thread, INSTRUCTIONS, timestamp).attribution,
		                 PS_ATTRIBUTION_PINNED);
	}
	bench_destroy(&bench);
}
END_TEST

START_TEST(a_loop_of_accum_loses_no_instruction_and_resets_nothing)
{
	int papi = create_set();
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;
	long long values[2];
	int codes = 0;

	lab_pin(1);
	add_events(papi);
	struct bench bench = wrap(papi);
	lab_ok(ps_start(bench.set));
	for (int loop = 0; loop < LOOPS; loop++) {
		lab_loop(lab_iterations() / 10);
		codes |= ps_accum(bench.set, bench.root, &timestamp, &thread);
	}
	codes |= ps_stop(bench.set, bench.root, &timestamp, NULL);
	lab_ok(codes);
	papi_ok(PAPI_read(papi, values));
	struct counts counts = counts_at(thread, timestamp);
	ck_assert_int_eq(counts.instructions, values[0]);
	ck_assert_int_eq(counts.cycles, values[1]);
	bench_destroy(&bench);
}
END_TEST

/* A thread that another one counts. */
struct attached {
	pthread_t thread;
	_Atomic pid_t tid;
	_Atomic bool may_run;
	_Atomic bool has_run;
	_Atomic bool may_end;
};

static void *run_and_end(void *context)
{
	struct attached *attached = context;

	lab_pin(3);
	attached->tid = (pid_t)syscall(SYS_gettid);
	while (!attached->may_run)
		usleep(1000);
	lab_loop(lab_iterations());
	attached->has_run = true;
	while (!attached->may_end)
		usleep(1000);
	return NULL;
}

START_TEST(an_attached_thread_is_counted_where_it_was_and_its_last_counts_stay)
{
	struct attached attached = {.tid = 0};
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;
	long long values[2];
	int papi = create_set();

	ck_assert_int_eq(pthread_create(&attached.thread, NULL, run_and_end, &attached), 0);
	while (attached.tid == 0)
		usleep(1000);
	papi_ok(PAPI_attach(papi, (unsigned long)attached.tid));
	add_events(papi);
	struct bench bench = wrap(papi);
	lab_ok(ps_start(bench.set));
	attached.may_run = true;
	while (!attached.has_run)
		usleep(1000);
	lab_ok(ps_read(bench.set, bench.root, &timestamp, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 3);
	ck_assert_int_ge(lab_reading(thread, INSTRUCTIONS, timestamp).value,
	                 (long long)(2 * lab_iterations()));
	attached.may_end = true;
	pthread_join(attached.thread, NULL);
	wait_until_gone(attached.tid);
	lab_ok(ps_stop(bench.set, bench.root, &timestamp, &thread));
	papi_ok(PAPI_read(papi, values));
	struct counts counts = counts_at(thread, timestamp);
	ck_assert_int_eq(ps_thread_cpu(thread), 3);
	ck_assert_int_eq(counts.instructions, values[0]);
	ck_assert_int_eq(counts.cycles, values[1]);
	ck_assert_uint_ne(lab_reading(thread, INSTRUCTIONS, timestamp).flags & PS_VALUE_ENDED, 0);
	bench_destroy(&bench);
}
END_TEST

static void run_loop(void *context)
{
	(void)context;
	lab_loop(lab_iterations());
}

static void attach_to_cpu(int papi, unsigned cpu, int granularity)
{
	PAPI_option_t option;

	memset(&option, 0, sizeof option);
	option.granularity.eventset = papi;
	option.granularity.granularity = granularity;
	papi_ok(PAPI_set_opt(PAPI_GRANUL, &option));
	memset(&option, 0, sizeof option);
	option.cpu.eventset = papi;
	option.cpu.cpu_num = cpu;
	papi_ok(PAPI_set_opt(PAPI_CPU_ATTACH, &option));
}

START_TEST(a_cpu_attached_set_counts_its_thread_or_all_there_as_it_says)
{
	static const struct {
		int granularity;
		const char *words;
		int factor; /* of the other thread's loop */
	} kinds[] = {{PAPI_GRN_THR, "one thread alone", 0},
	             {PAPI_GRN_SYS, "all that happens on CPU 2", 1}};

	for (int kind = 0; kind < 2; kind++) {
		struct ps_thread *thread = NULL;
		uint64_t timestamp = 0;
		const char *why;
		long long values[2], known = (long long)(2 * lab_iterations());
		int papi = create_set();

		attach_to_cpu(papi, 2, kinds[kind].granularity);
		add_events(papi);
		struct bench bench = wrap(papi);
		lab_ok(ps_start(bench.set));
		ck_assert_int_eq(ps_eventset_attribution(bench.set, &why), PS_ATTRIBUTION_ATTACHED);
		ck_assert_msg(strstr(why, kinds[kind].words) != NULL, "%s", why);
		lab_pin(2);
		lab_loop(lab_iterations());
		lab_pin(1);
		lab_loop(lab_iterations()); /* not there: never counted */
		lab_on_cpu(2, run_loop, NULL);
		lab_ok(ps_stop(bench.set, bench.root, &timestamp, &thread));
		papi_ok(PAPI_read(papi, values));
		struct counts counts = counts_at(thread, timestamp);
		ck_assert_int_eq(ps_thread_cpu(thread), 2);
		ck_assert_int_eq(counts.instructions, values[0]);
		ck_assert_int_ge(counts.instructions, known + kinds[kind].factor * known);
		ck_assert_int_lt(counts.instructions,
		                 known + kinds[kind].factor * known + known / 2);
		bench_destroy(&bench);
	}
}
END_TEST

START_TEST(a_multiplexed_set_is_an_estimate_that_is_near_the_truth)
{
	struct ps_thread *thread = NULL;
	struct ps_value value;
	uint64_t timestamp = 0;
	long long known = (long long)(2 * lab_iterations());
	int papi = create_set();

	lab_pin(1);
	papi_ok(PAPI_set_multiplex(papi));
	add_events(papi);
	struct bench bench = wrap(papi);
	lab_after_tick();
	int started = PAPI_start(papi);
	lab_loop(lab_iterations());
	int stopped = ps_stop(bench.set, bench.root, &timestamp, &thread);
	papi_ok(started);
	lab_ok(stopped);
	value = lab_reading(thread, INSTRUCTIONS, timestamp);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	ck_assert_int_ge(value.value, known - known / 20);
	ck_assert_int_le(value.value, known + known / 20);
	bench_destroy(&bench);
}
END_TEST

/* A thread of a team, on a CPU of its own, with a set of its own. */
static void count_own_loop(void *context)
{
	struct ps_component *root = context;
	struct ps_thread *thread = NULL;
	struct ps_eventset *set = NULL;
	uint64_t timestamp = 0;
	int papi = create_set();
	long long values[2];

	add_events(papi);
	lab_ok(ps_eventset_from_papi(&set, papi));
	lab_ok(ps_start(set));
	lab_loop(lab_iterations());
	lab_ok(ps_stop(set, root, &timestamp, &thread));
	papi_ok(PAPI_read(papi, values));
	ck_assert_int_eq(lab_reading(thread, INSTRUCTIONS, timestamp).value, values[0]);
	ck_assert_int_eq(lab_reading(thread, INSTRUCTIONS, timestamp).attribution,
	                 PS_ATTRIBUTION_PINNED);
	ps_eventset_destroy(set);
	papi_ok(PAPI_cleanup_eventset(papi));
	papi_ok(PAPI_destroy_eventset(&papi));
	papi_ok(PAPI_unregister_thread());
}

START_TEST(sets_of_threads_on_eight_cpus_add_up_on_the_tree)
{
	struct ps_topology *topology = lab_topology();
	struct ps_component *root = ps_topology_root(topology);
	long long known = (long long)(2 * lab_iterations());

	start_papi();
	for (int cpu = 0; cpu < (int)lab_cpus(); cpu++)
		lab_on_cpu(cpu, count_own_loop, root);
	for (int cpu = 0; cpu < (int)lab_cpus(); cpu++)
		ck_assert_int_ge(
		    lab_reading(ps_topology_thread(topology, cpu), INSTRUCTIONS, 0).value, known);
	ck_assert_int_ge(lab_total(root, INSTRUCTIONS).value, known * lab_cpus());
	ps_topology_destroy(topology);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab: PAPI");
	TCase *tests = tcase_create("papi");

	tcase_add_test(tests,
	               a_wrapped_set_counts_exactly_what_a_plain_papi_run_of_the_same_work_counts);
	tcase_add_test(tests, what_ps_stop_stores_is_what_papi_stop_counted);
	tcase_add_test(tests, a_loop_of_accum_loses_no_instruction_and_resets_nothing);
	tcase_add_test(tests, an_attached_thread_is_counted_where_it_was_and_its_last_counts_stay);
	tcase_add_test(tests, a_cpu_attached_set_counts_its_thread_or_all_there_as_it_says);
	tcase_add_test(tests, a_multiplexed_set_is_an_estimate_that_is_near_the_truth);
	tcase_add_test(tests, sets_of_threads_on_eight_cpus_add_up_on_the_tree);
	suite_add_tcase(suite, tests);
	return lab_run(suite);
}

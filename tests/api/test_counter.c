/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pauses on the real kernel: known pages, touched while a set or one of its events is paused and
 * while it isn't, on known CPUs; of another thread, in a child; descriptors, filters and programs.
 */
#include "actor.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS     200
#define TRACEPOINT "sched:sched_switch"

struct walk {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *set;
	struct wander_work work;
	long long counted[2]; /* pages on each CPU that were to be counted */
};

static void open_walk(struct walk *walk)
{
	*walk = (struct walk){.topology = NULL};
	check_ok(ps_topology_load(&walk->topology, NULL));
	walk->root = ps_topology_root(walk->topology);
	wander_create(&walk->work, ROUNDS * 40);
	walk->set = wander_set(PS_ATTRIBUTE_EXACT, 4 * ROUNDS);
	check_ok(ps_start(walk->set));
}

/* All code and storage are in memory after it. */
static void warm_up(struct walk *walk)
{
	for (int round = 0; round < 4; round++) {
		wander_move(wander_cpu(round % 2));
		wander_touch(&walk->work, 1);
		check_ok(ps_pause(walk->set));
		check_ok(ps_eventset_pause_event(walk->set, 0));
		check_ok(ps_read(walk->set, walk->root, NULL, NULL));
		check_ok(ps_eventset_resume_event(walk->set, 0));
		check_ok(ps_resume(walk->set));
		check_ok(ps_read(walk->set, walk->root, NULL, NULL));
	}
	check_ok(ps_reset(walk->set));
	wander_settle(&walk->work);
}

static void close_walk(struct walk *walk)
{
	ps_eventset_destroy(walk->set);
	wander_destroy(&walk->work);
	ps_topology_destroy(walk->topology);
}

static void work_on(struct walk *walk, int place, size_t pages, bool is_counted)
{
	wander_move(wander_cpu(place));
	wander_touch(&walk->work, pages);
	walk->counted[place] += is_counted ? (long long)pages : 0;
}

static void check_places(struct walk *walk)
{
	uint64_t timestamp = 0;

	check_ok(ps_read(walk->set, walk->root, &timestamp, NULL));
	for (int place = 0; place < 2; place++)
		wander_check_count(
		    wander_part(walk->topology, wander_cpu(place), timestamp, PS_ATTRIBUTION_EXACT),
		    walk->counted[place], wander_strays(&walk->work));
}

/* _i: one event is paused; else the whole set. */
START_TEST(pages_are_counted_where_they_were_touched_but_not_in_pauses)
{
	struct walk walk;
	unsigned seed = 20261124;

	if (!wander_is_possible())
		return;
	open_walk(&walk);
	warm_up(&walk);
	for (int round = 0; round < ROUNDS; round++) {
		work_on(&walk, (int)wander_random(&seed, 2), wander_random(&seed, 10), true);
		check_ok(_i ? ps_eventset_pause_event(walk.set, 0) : ps_pause(walk.set));
		work_on(&walk, (int)wander_random(&seed, 2), wander_random(&seed, 10), false);
		if (round % 3 == 0)
			check_places(&walk);
		work_on(&walk, (int)wander_random(&seed, 2), wander_random(&seed, 10), false);
		check_ok(_i ? ps_eventset_resume_event(walk.set, 0) : ps_resume(walk.set));
		if (round % 5 == 0)
			check_places(&walk);
	}
	check_places(&walk);
	wander_check_residual(walk.set);
	close_walk(&walk);
}
END_TEST

START_TEST(a_child_cannot_pause_its_parents_set)
{
	struct ps_eventset *set;
	int status = -1;
	uint64_t timestamp = 0;

	if (!here_may_count(HERE_FAULTS))
		return;
	set = here_faults(PS_ATTRIBUTE_AUTO, 10);
	here_map_page();
	check_ok(ps_start(set));
	pid_t child = fork();
	if (child == 0) {
		bool is_refused = ps_pause(set) == PS_ECLOST && ps_resume(set) == PS_ECLOST &&
		                  ps_eventset_pause_event(set, 0) == PS_ECLOST &&
		                  ps_eventset_reset_event(set, 0) == PS_ECLOST;
		ps_eventset_destroy(set);
		_exit(is_refused ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	check_ok(ps_reset(set));
	here_touch();
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	ck_assert_int_ge(here_sum(HERE_FAULTS, timestamp), 1);
	ps_eventset_destroy(set);
}
END_TEST

static void *try_calls(void *context)
{
	struct ps_eventset *set = context;
	bool is_refused = ps_pause(set) == PS_EINVAL && ps_resume(set) == PS_EINVAL &&
	                  ps_eventset_pause_event(set, 0) == PS_EINVAL &&
	                  ps_eventset_reset_event(set, 0) == PS_EINVAL;

	return is_refused ? set : NULL;
}

START_TEST(a_foreign_thread_cannot_pause_a_set)
{
	struct ps_eventset *set;
	pthread_t thread;
	void *result = NULL;

	if (!here_may_count(HERE_FAULTS))
		return;
	set = here_faults(PS_ATTRIBUTE_AUTO, 10);
	check_ok(ps_start(set));
	ck_assert_int_eq(pthread_create(&thread, NULL, try_calls, set), 0);
	pthread_join(thread, &result);
	ck_assert_ptr_eq(result, set);
	ck_assert_int_eq(ps_eventset_is_paused(set), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(another_thread_is_not_counted_in_pauses)
{
	struct worker worker;
	struct ps_eventset *set = NULL;
	uint64_t timestamp = 0;

	if (!here_may_count(HERE_FAULTS))
		return;
	worker_start(&worker);
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, HERE_FAULTS));
	check_ok(ps_eventset_attach_tid(set, worker.tid));
	check_ok(ps_start(set));
	worker_do_round(&worker);
	check_ok(ps_pause(set));
	worker_do_round(&worker);
	check_ok(ps_resume(set));
	worker_do_round(&worker);
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	ck_assert_int_ge(here_sum(HERE_FAULTS, timestamp), 200);
	ck_assert(PS_TEST_HAS_SANITIZER ||
	          here_sum(HERE_FAULTS, timestamp) <= 200 + worker.strays + 16);
	ps_eventset_destroy(set);
	worker_end(&worker);
}
END_TEST

static int check_counter(const struct ps_counter *counter, void *context)
{
	uint64_t id = 0, words[8];
	size_t *count = context;

	ck_assert_int_eq(ioctl(counter->fd, PERF_EVENT_IOC_ID, &id), 0);
	ck_assert_uint_eq(id, counter->id);
	ck_assert_int_ge(read(counter->fd, words, sizeof words), 8);
	++*count;
	return 0;
}

START_TEST(descriptors_are_the_kernels_and_stay_open)
{
	struct ps_eventset *set;
	size_t count = 0;

	if (!here_may_count(HERE_FAULTS))
		return;
	set = here_faults(PS_ATTRIBUTE_AUTO, 10);
	check_ok(ps_start(set));
	size_t before = here_count_descriptors();
	check_ok(ps_eventset_for_each_counter(set, check_counter, &count));
	ck_assert_uint_ge(count, 2);
	ck_assert_uint_eq(here_count_descriptors(), before);
	check_ok(ps_stop(set, here.root, NULL, NULL));
	here_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

static long switches_so_far(void)
{
	struct rusage usage;

	ck_assert_int_eq(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

/* On a slow machine a short sleep may be over before this thread has left its CPU. */
static void switch_often(void)
{
	long enough = switches_so_far() + 20;

	while (switches_so_far() < enough)
		usleep(100);
}

static long long count_switches(struct ps_eventset *set)
{
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	switch_often();
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	return here_sum(TRACEPOINT, timestamp);
}

START_TEST(a_filter_lets_through_what_it_says)
{
	/* The kernel answers them with EINVAL, EPERM and ENOENT. */
	static const char *const wrong[] = {"no_such_field == 7", "prev_pid == 7 garbage",
	                                    "(prev_pid == 7", "prev_pid == 7)"};
	struct ps_eventset *set = NULL;

	if (!here_may_count(TRACEPOINT))
		return;
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, TRACEPOINT));
	ck_assert_int_ge(count_switches(set), 20);
	check_ok(ps_eventset_set_filter(set, 0, "prev_pid == -7"));
	ck_assert_int_eq(count_switches(set), 0);
	for (size_t row = 0; row < sizeof wrong / sizeof *wrong; row++)
		ck_assert_int_eq(ps_eventset_set_filter(set, 0, wrong[row]), PS_EATTR);
	ck_assert_int_eq(count_switches(set), 0);
	check_ok(ps_eventset_set_filter(set, 0, "prev_pid != -7"));
	ck_assert_int_ge(count_switches(set), 20);
	check_ok(ps_eventset_set_filter(set, 0, NULL));
	ck_assert_int_ge(count_switches(set), 20);
	ps_eventset_destroy(set);
}
END_TEST

/* A program that returns a number: 0 lets no hit through. -1 where it can't be loaded. */
static int load_program(int result)
{
	const struct bpf_insn program[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = result},
	    {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t) "GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
}

START_TEST(a_bpf_program_decides_what_is_counted)
{
	struct ps_eventset *set = NULL;
	int none, all;

	if (!here_may_count(TRACEPOINT))
		return;
	none = load_program(0);
	all = load_program(1);
	if (none < 0 || all < 0) {
		ps_test_skip("bpf(2) loads no program here");
		return;
	}
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, TRACEPOINT));
	check_ok(ps_eventset_set_bpf(set, 0, none));
	ck_assert_int_eq(count_switches(set), 0);
	check_ok(ps_eventset_set_bpf(set, 0, all));
	ck_assert_int_ge(count_switches(set), 20);
	ck_assert_int_eq(ps_eventset_set_bpf(set, 0, 0), PS_EINVAL);
	check_ok(ps_eventset_set_bpf(set, 0, -1));
	ck_assert_int_ge(count_switches(set), 20);
	close(none);
	close(all);
	ps_eventset_destroy(set);
}
END_TEST

static void add_walks(TCase *tests)
{
	tcase_add_loop_test(tests, pages_are_counted_where_they_were_touched_but_not_in_pauses, 0,
	                    2);
}

static void add_all(TCase *tests)
{
	add_walks(tests);
	tcase_add_checked_fixture(tests, here_setup, here_teardown);
	tcase_add_test(tests, a_child_cannot_pause_its_parents_set);
	tcase_add_test(tests, a_foreign_thread_cannot_pause_a_set);
	tcase_add_test(tests, another_thread_is_not_counted_in_pauses);
	tcase_add_test(tests, descriptors_are_the_kernels_and_stay_open);
	tcase_add_test(tests, a_filter_lets_through_what_it_says);
	tcase_add_test(tests, a_bpf_program_decides_what_is_counted);
}

int main(void)
{
	return wander_run("counter", add_all, add_walks);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact attribution of another thread on the real kernel: it wanders and touches pages at this
 * thread's word, and this thread reads. Sees the installed header and the shared library alone.
 */
#include "support/gone.h"
#include "support/small.h"
#include "wander.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum order {
	ORDER_NONE,
	ORDER_TOUCH, /* here */
	ORDER_MOVE,
	ORDER_SLEEP, /* once */
	ORDER_SETTLE,
	ORDER_TELL, /* how many strays it had */
	ORDER_END
};

/* Where being switched out by waiting would tell too much, it waits without sleeping. */
struct worker {
	pthread_t thread;
	struct wander_work work;
	pid_t tid;
	_Atomic enum order order;
	_Atomic int argument;
	_Atomic bool is_awake;
	int cpu;
	long long expected[CPU_SETSIZE];
};

static void *obey(void *argument)
{
	const struct timespec moment = {.tv_nsec = 1000};
	struct worker *worker = argument;
	enum order order = ORDER_NONE;

	worker->tid = (pid_t)syscall(SYS_gettid);
	wander_move(worker->cpu);
	while (order != ORDER_END) {
		/* Pairs with the orderer's release; the store below with its acquire. */
		order = atomic_load_explicit(&worker->order, memory_order_acquire);
		if (order == ORDER_TOUCH)
			wander_touch(&worker->work, (size_t)worker->argument);
		else if (order == ORDER_MOVE)
			wander_move(worker->argument);
		else if (order == ORDER_SLEEP)
			nanosleep(&moment, NULL);
		else if (order == ORDER_SETTLE)
			wander_settle(&worker->work);
		else if (order == ORDER_TELL)
			wander_strays(&worker->work);
		if (order != ORDER_NONE)
			atomic_store_explicit(&worker->order, ORDER_NONE, memory_order_release);
		else if (!worker->is_awake)
			nanosleep(&moment, NULL);
	}
	return NULL;
}

static void give(struct worker *worker, enum order order, int argument)
{
	const struct timespec moment = {.tv_nsec = 1000};

	worker->argument = argument;
	atomic_store_explicit(&worker->order, order, memory_order_release);
	while (atomic_load_explicit(&worker->order, memory_order_acquire) != ORDER_NONE)
		nanosleep(&moment, NULL);
}

static void start_worker(struct worker *worker, int cpu, size_t pages)
{
	wander_create(&worker->work, pages);
	worker->cpu = cpu;
	ck_assert_int_eq(pthread_create(&worker->thread, NULL, obey, worker), 0);
	give(worker, ORDER_SLEEP, 0);
}

static void end_worker(struct worker *worker)
{
	give(worker, ORDER_END, 0);
	pthread_join(worker->thread, NULL);
}

static void send(struct worker *worker, int cpu)
{
	give(worker, ORDER_MOVE, cpu);
	worker->cpu = cpu;
}

static void touch(struct worker *worker, int pages)
{
	give(worker, ORDER_TOUCH, pages);
	worker->expected[worker->cpu] += pages;
}

/* A set of the worker; its first moves are behind it. */
struct watch {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *set;
	int cpus[2];
};

static void open_switch_ring(struct watch *watch, struct worker *worker)
{
	*watch = (struct watch){.cpus = {wander_cpu(0), wander_cpu(1)}};
	check_ok(ps_topology_load(&watch->topology, NULL));
	watch->root = ps_topology_root(watch->topology);
	watch->set = wander_set(PS_ATTRIBUTE_EXACT, 4096);
	check_ok(ps_eventset_attach_tid(watch->set, worker->tid));
	check_ok(ps_start(watch->set));
	for (int i = 0; i < 4; i++) {
		send(worker, watch->cpus[i % 2]);
		give(worker, ORDER_TOUCH, 1);
		give(worker, ORDER_SLEEP, 0);
		give(worker, ORDER_TELL, 0);
		give(worker, ORDER_SETTLE, 0);
	}
	check_ok(ps_reset(watch->set));
}

static void close_watch(struct watch *watch)
{
	ps_eventset_destroy(watch->set);
	ps_topology_destroy(watch->topology);
}

static void check_reading(struct watch *watch, struct worker *worker)
{
	uint64_t timestamp = 0;

	check_ok(ps_accum(watch->set, watch->root, &timestamp, NULL));
	give(worker, ORDER_TELL, 0);
	for (int place = 0; place < 2; place++) {
		int cpu = watch->cpus[place];

		wander_check_count(
		    wander_part(watch->topology, cpu, timestamp, PS_ATTRIBUTION_EXACT),
		    worker->expected[cpu], worker->work.strays);
		worker->expected[cpu] = 0;
	}
}

START_TEST(a_watched_thread_that_wanders_is_counted_where_it_was)
{
	struct worker worker = {0};
	struct watch watch;
	unsigned seed = 42;

	if (!wander_is_possible())
		return;
	int moves = ps_test_size(500, 100);
	start_worker(&worker, wander_cpu(0), 20 * (size_t)moves + 100);
	open_switch_ring(&watch, &worker);
	for (int move = 0; move < moves; move++) {
		send(&worker, watch.cpus[wander_random(&seed, 2)]);
		touch(&worker, (int)wander_random(&seed, 20));
		if (wander_random(&seed, 5) == 0)
			check_reading(&watch, &worker);
	}
	check_reading(&watch, &worker);
	wander_check_residual(watch.set);
	end_worker(&worker);
	close_watch(&watch);
	wander_destroy(&worker.work);
}
END_TEST

/* _i: the place where the worker is when the ring has no room left, so that nothing tells where it
 * is. */
START_TEST(a_watched_thread_that_overflowed_the_ring_and_then_stays_is_counted_where_it_is)
{
	struct worker worker = {0};
	struct watch watch;

	if (!wander_is_possible())
		return;
	start_worker(&worker, wander_cpu(0), 1000);
	open_switch_ring(&watch, &worker);
	for (int i = 0; i < 450; i++)
		give(&worker, ORDER_SLEEP, 0);
	send(&worker, watch.cpus[1 - _i]);
	touch(&worker, 10);
	send(&worker, watch.cpus[_i]);
	worker.is_awake = true;
	wander_move(watch.cpus[1 - _i]);
	for (int i = 0; i < 5; i++) {
		touch(&worker, 7);
		check_reading(&watch, &worker);
	}
	end_worker(&worker);
	close_watch(&watch);
	wander_destroy(&worker.work);
}
END_TEST

START_TEST(a_watched_thread_that_moved_while_the_set_was_stopped_is_counted_where_it_is)
{
	struct worker worker = {0};
	struct watch watch;

	if (!wander_is_possible())
		return;
	start_worker(&worker, wander_cpu(0), 1000);
	open_switch_ring(&watch, &worker);
	for (int i = 0; i < 6; i++) {
		check_ok(ps_stop(watch.set, watch.root, NULL, NULL));
		send(&worker, watch.cpus[i % 2]);
		worker.is_awake = true;
		wander_move(watch.cpus[1 - i % 2]);
		check_ok(ps_start(watch.set));
		touch(&worker, 9);
		check_reading(&watch, &worker);
	}
	end_worker(&worker);
	close_watch(&watch);
	wander_destroy(&worker.work);
}
END_TEST

START_TEST(the_end_of_a_watched_thread_that_never_slept_is_noticed)
{
	struct worker worker = {0};
	struct watch watch;
	uint64_t timestamp = 0;

	if (!wander_is_possible())
		return;
	start_worker(&worker, wander_cpu(0), 1000);
	open_switch_ring(&watch, &worker);
	send(&worker, watch.cpus[0]);
	worker.is_awake = true;
	wander_move(watch.cpus[1]);
	check_reading(&watch, &worker);
	touch(&worker, 3);
	end_worker(&worker);
	wait_until_gone(worker.tid);
	check_ok(ps_read(watch.set, watch.root, &timestamp, NULL));
	/* Its end touches pages of its own. */
	ck_assert_int_ge(
	    wander_part(watch.topology, watch.cpus[0], timestamp, PS_ATTRIBUTION_EXACT), 3);
	ck_assert_int_eq(ps_eventset_is_ended(watch.set), 1);
	close_watch(&watch);
	wander_destroy(&worker.work);
}
END_TEST

/* A thread that counts itself, while another does the same. Its moves are its own. */
struct team {
	struct ps_topology *topology;
	const struct ps_eventset *model;
	pthread_barrier_t together;
};

static void wander_and_read(struct team *team, struct ps_eventset *set)
{
	struct ps_component *root = ps_topology_root(team->topology);
	struct wander_work work;

	wander_create(&work, 400);
	check_ok(ps_start(set));
	pthread_barrier_wait(&team->together);
	for (int move = 0; move < 400; move++) {
		struct ps_value total;
		uint64_t timestamp = 0;

		wander_move(wander_cpu(move % 2));
		wander_touch(&work, 1);
		check_ok(ps_accum(set, root, &timestamp, NULL));
		check_ok(ps_component_total(root, WANDER_EVENT, &total));
	}
	check_ok(ps_stop(set, root, NULL, NULL));
	wander_check_residual(set);
	wander_destroy(&work);
}

static void *join_team(void *argument)
{
	struct team *team = argument;
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_clone(&set, team->model));
	wander_and_read(team, set);
	ps_eventset_destroy(set);
	return NULL;
}

/* How many page faults a history has on one CPU. */
static long long sum_of_history(struct ps_topology *topology, int cpu)
{
	static struct ps_value values[4096];
	size_t count = 0;
	long long sum = 0;

	check_ok(ps_thread_readings(ps_topology_thread(topology, cpu), WANDER_EVENT, values, 4096,
	                            &count));
	for (size_t i = 0; i < count; i++)
		sum += values[i].value;
	return sum;
}

START_TEST(two_threads_with_exact_sets_of_their_own_do_not_disturb_each_other)
{
	struct team team = {0};
	struct ps_eventset *model;
	pthread_t threads[2];

	if (wander_obstacle_to_means()) {
		ps_test_skip(wander_obstacle_to_means());
		return;
	}
	check_ok(ps_topology_load(&team.topology, NULL));
	model = wander_set(PS_ATTRIBUTE_EXACT, 1024);
	team.model = model;
	pthread_barrier_init(&team.together, NULL, 2);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, join_team, &team), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int place = 0; place < 2; place++)
		ck_assert_int_ge(sum_of_history(team.topology, wander_cpu(place)), 400);
	pthread_barrier_destroy(&team.together);
	ps_eventset_destroy(model);
	ps_topology_destroy(team.topology);
}
END_TEST

static void add_for_any_means(TCase *tests)
{
	tcase_add_test(tests, a_watched_thread_that_wanders_is_counted_where_it_was);
	tcase_add_test(
	    tests, a_watched_thread_that_moved_while_the_set_was_stopped_is_counted_where_it_is);
	tcase_add_test(tests, the_end_of_a_watched_thread_that_never_slept_is_noticed);
	tcase_add_test(tests, two_threads_with_exact_sets_of_their_own_do_not_disturb_each_other);
}

static void add(TCase *tests)
{
	add_for_any_means(tests);
	tcase_add_loop_test(
	    tests, a_watched_thread_that_overflowed_the_ring_and_then_stays_is_counted_where_it_is,
	    0, 2);
}

int main(void)
{
	return wander_run("exact, of other threads", add, add_for_any_means);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of tasks: who writes them and into which ring, older kernels', in the order of time,
 * round the rings' ends; and what is no record, or one of another shape.
 */
#include "support/task_records.h"

#include <errno.h>
#include <unistd.h>

/* The kernel locks no ring for a writer: a task that ends writes into those of all CPUs. So nothing
 * else may write there. */
START_TEST(each_ring_has_one_writer_and_a_sideband_event_is_its_groups_last)
{
	struct ps_eventset *set = records_start_set();
	int fds[64];
	size_t count = fake_counter_fds(fds, 64), rings = 0;

	for (size_t index = 0; index < count; index++) {
		bool is_writer = index > TASK_CPUS * EVENTS;
		ck_assert_int_eq(fake_ring_of_fd(fds[index]) != NULL, is_writer);
		/* But for the anchor, so that no task's events are taken for copies of the
		 * root's: from the first one on. */
		ck_assert_int_eq((int)fake_attr_of_fd(fds[index])->inherit, index != 0);
		rings += is_writer;
	}
	ck_assert_uint_eq(rings, 2 * TASK_CPUS);
	for (int cpu = 0; cpu < TASK_CPUS; cpu++) {
		const struct perf_event_attr *notes = fake_attr_of_fd(records_notes(cpu));
		const struct perf_event_attr *sideband = fake_attr_of_fd(records_sideband(cpu));
		ck_assert_ptr_ne(fake_ring_of_fd(records_notes(cpu)),
		                 fake_ring_of_fd(records_sideband(cpu)));
		const int *members = &fds[1 + EVENTS * cpu];
		ck_assert_int_eq(fake_leader_of_fd(records_notes(cpu)), members[0]);
		ck_assert_int_eq(fake_leader_of_fd(records_sideband(cpu)), members[0]);
		ck_assert(notes->task && notes->comm && !notes->inherit_stat);
		ck_assert(!sideband->task && !sideband->comm && sideband->inherit_stat);
		ck_assert(fake_attr_of_fd(members[0])->inherit_stat);
		ck_assert(fake_attr_of_fd(members[1])->inherit_stat);
	}
	ps_eventset_destroy(set);
}
END_TEST

/* A set of a process of two threads, on the scene's four CPUs. */
static struct ps_eventset *attach_two_roots(bool tells_tasks)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	fake_task(PROCESS, "solver", 1);
	fake_task(501, "worker", 3);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	fake_file("/proc/500/task/501/stat", "501 (worker) R 1\n");
	check_ok(ps_eventset_attach_process(set, PROCESS));
	check_ok(ps_eventset_set_tasks(set, tells_tasks));
	if (!tells_tasks)
		check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	return set;
}

START_TEST(a_process_of_another_user_is_refused_for_that)
{
	struct ps_eventset *set = attach_two_roots(true);

	fake_fail(FAKE_PERF_EVENT_OPEN, 1, EACCES);
	check_fails(ps_start(set), PS_EPERM);
	check_detail("may not count task 500");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_list_of_threads_that_has_no_descriptor_is_told_as_such)
{
	struct ps_eventset *set = attach_two_roots(true);

	fake_fail_always(FAKE_LIST, EMFILE);
	check_fails(ps_start(set), PS_ECOUNT);
	check_detail("ulimit -n");
	fake_fail_always(FAKE_LIST, 0);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: whether no descriptor is left, or no memory. */
START_TEST(threads_that_cannot_be_listed_again_are_told)
{
	struct ps_eventset *set = attach_two_roots(true);
	unsigned fds = fake_open_fds();

	fake_fail(FAKE_LIST, 2, _i ? ENOMEM : EMFILE);
	check_fails(ps_start(set), _i ? PS_ENOMEM : PS_ECOUNT);
	ck_assert(fake_fail_happened());
	if (!_i)
		check_detail("list the threads of process");
	ck_assert_uint_eq(fake_open_fds(), fds);
	check_ok(ps_start(set));
	ps_eventset_destroy(set);
}
END_TEST

/* The kernel refuses a member so if its leader ended with a task that the observed one had
 * exchanged its events with. */
START_TEST(a_group_that_lost_its_leader_is_opened_again)
{
	struct ps_eventset *set = attach_two_roots(false);
	int fds[64];

	fake_fail(FAKE_PERF_EVENT_OPEN, 2, ENODEV);
	check_ok(ps_start(set));
	ck_assert(fake_fail_happened());
	ck_assert_uint_eq(fake_counter_fds(fds, 64), 2 * EVENTS);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_leader_has_none_to_lose)
{
	struct ps_eventset *set = attach_two_roots(false);

	fake_fail(FAKE_PERF_EVENT_OPEN, 1, ENODEV);
	check_fails(ps_start(set), PS_ENOSUPP);
	ps_eventset_destroy(set);
}
END_TEST

/* The second one's writers come last. */
static struct ps_eventset *start_two_roots(int fds[64])
{
	struct ps_eventset *set = attach_two_roots(true);

	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_counter_fds(fds, 64), 2 * (TASK_CPUS * (EVENTS + 2) + 1));
	return set;
}

#define WRITERS_OF_TWO (2 * (TASK_CPUS * EVENTS + 1))

/* Children of two threads may end at once on two CPUs: the kernel's lock is each thread's. */
START_TEST(counts_of_each_thread_have_rings_of_their_own)
{
	int fds[64];
	struct ps_eventset *set = start_two_roots(fds);

	for (int writer = 0; writer < 4 * TASK_CPUS; writer++) {
		bool is_sideband = writer % 2;
		bool is_of_first = writer < 2 * TASK_CPUS;
		ck_assert_int_eq(fake_ring_of_fd(fds[WRITERS_OF_TWO + writer]) != NULL,
		                 is_sideband || is_of_first);
	}
	ps_eventset_destroy(set);
}
END_TEST

/* The user's locked memory is not enough for the first try. */
START_TEST(rings_are_smaller_where_less_memory_may_be_locked)
{
	int fds[64];

	fake_fail(FAKE_MMAP, 5, EPERM);
	struct ps_eventset *set = start_two_roots(fds);
	ck_assert(fake_fail_happened());
	const struct perf_event_mmap_page *notes = fake_ring_of_fd(fds[WRITERS_OF_TWO]);
	const struct perf_event_mmap_page *counts = fake_ring_of_fd(fds[WRITERS_OF_TWO + 1]);
	ck_assert_uint_eq(notes->data_size, 16 * (size_t)sysconf(_SC_PAGESIZE));
	ck_assert_uint_eq(counts->data_size, 16 * (size_t)sysconf(_SC_PAGESIZE));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(where_no_ring_may_be_locked_the_start_fails)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	fake_task(PROCESS, "solver", 1);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	check_ok(ps_eventset_attach_process(set, PROCESS));
	check_ok(ps_eventset_set_tasks(set, 1));
	fake_fail_always(FAKE_MMAP, EPERM);
	check_fails(ps_start(set), PS_ESYS);
	check_detail("perf_event_mlock_kb");
	fake_fail_always(FAKE_MMAP, 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Linux before 5.13 takes an event out of its group first: the sideband event's own value isn't
 * there. */
START_TEST(the_record_of_an_older_kernel_tells_the_same)
{
	struct ps_eventset *set = records_start_set();

	put_counts(1, PROCESS, 501, 30, 300);
	for (int cpu = 0; cpu < TASK_CPUS; cpu++)
		records_put(records_sideband(cpu), PERF_RECORD_READ, records_sideband(cpu),
		            (uint64_t[]){records_pair(PROCESS, 502), EVENTS + 1, 9, 9,
		                         cpu == 1 ? 20 : 0, cpu == 1 ? 200 : 0, 0, 0},
		            8);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 4);
	check_told(0, PROCESS, "solver", 1, 50, 500);
	check_told(2, 501, "", 1, 30, 300);
	check_told(3, 502, "", 1, 20, 200);
	check_sum("page-faults", 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(records_of_all_rings_come_in_the_order_of_time)
{
	struct ps_eventset *set = records_start_set();

	records_set_time(2000);
	put_share(0, 600, 600, 0, 0);
	records_set_time(1500);
	put_fork(3, 600, 600, PROCESS);
	put_name(3, 600, 600, "early");
	records_set_time(2100);
	put_share(1, 600, 600, 9, 0);
	put_share(2, 600, 600, 0, 0);
	put_share(3, 600, 600, 0, 0);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 3);
	check_told(2, 600, "early", 1, 9, 0);
	ps_eventset_destroy(set);
}
END_TEST

static int add_up(const struct ps_task *task, void *context)
{
	long long *sum = context;

	ck_assert(task->tid == PROCESS ? task->counts[0] == 5 : task->counts[0] == 1);
	for (int event = 0; event < EVENTS; event++)
		sum[event] += task->counts[event];
	return 0;
}

START_TEST(a_ring_that_goes_round_is_read_and_given_back)
{
	struct ps_eventset *set = records_start_set();
	struct perf_event_mmap_page *page = fake_ring_of_fd(records_notes(1));

	for (pid_t tid = 1001; tid <= 5000; tid++) {
		put_fork(1, tid, tid, PROCESS);
		put_counts(1, tid, tid, 1, 1);
		if (tid % 500 == 0)
			check_ok(ps_eventset_take_tasks(set));
	}
	ck_assert_uint_gt(page->data_head, page->data_size);
	ck_assert_uint_eq(page->data_head, page->data_tail);
	fake_task(PROCESS, "solver", 1);
	count_on(1, 4005, 4007);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	long long sum[EVENTS] = {0};
	check_ok(ps_eventset_for_each_task(set, add_up, sum));
	ck_assert_int_eq(sum[0], 4005);
	ck_assert_int_eq(sum[1], 4007);
	ps_eventset_destroy(set);
}
END_TEST

/* What is no record, or not one of the group, is not believed; and as it may have been one, the
 * rest is nobody's. */
static void check_nobodys(struct ps_eventset *set)
{
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 2);
	check_told(0, 0, "", 1, 100, 1000);
	check_told(1, 0, "", 3, 50, 500);
	ps_eventset_destroy(set);
}

static void put_bad(uint32_t type, int (*writer)(int cpu), const uint64_t *words, size_t count)
{
	struct ps_eventset *set = records_start_set();

	records_put(records_sideband(1), type, writer(1), words, count);
	check_nobodys(set);
}

START_TEST(what_is_no_record_of_the_group_is_not_believed)
{
	uint64_t task = records_pair(PROCESS, PROCESS);

	put_bad(PERF_RECORD_READ, records_sideband, (uint64_t[]){task}, 1);
	put_bad(PERF_RECORD_READ, records_sideband, (uint64_t[]){task, 1, 9, 9, 30}, 5);
	put_bad(PERF_RECORD_READ, records_sideband,
	        (uint64_t[]){task, 4000000000u, 9, 9, 30, 300, 0, 0}, 8);
	put_bad(PERF_RECORD_READ, records_notes,
	        (uint64_t[]){task, EVENTS + 2, 9, 9, 30, 300, 0, 0}, 8);
	put_bad(PERF_RECORD_FORK, records_sideband, (uint64_t[]){task}, 1);
	put_bad(PERF_RECORD_LOST, records_sideband, (uint64_t[]){1, 3}, 2);
}
END_TEST

/* Tears a hole, as two writers at once do. */
START_TEST(a_ring_that_is_damaged_is_given_back_and_read_on)
{
	struct ps_eventset *set = records_start_set();
	struct perf_event_mmap_page *page = fake_ring_of_fd(records_sideband(1));

	memset((char *)page + page->data_offset + page->data_head, 0, 64);
	page->data_head += 64;
	check_ok(ps_eventset_take_tasks(set));
	ck_assert_uint_eq(page->data_head, page->data_tail);
	put_counts(1, PROCESS, 501, 40, 400);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 3);
	check_told(0, 501, "", 1, 40, 400);
	check_told(1, 0, "", 1, 60, 600);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_ring_that_was_full_may_have_lost_what_nobody_tells_of)
{
	struct ps_eventset *set = records_start_set();
	struct perf_event_mmap_page *page = fake_ring_of_fd(records_notes(1));

	while (page->data_size - page->data_head >= 48)
		put_exit(1, PROCESS, 999);
	ck_assert_uint_lt(page->data_head, page->data_size);
	check_nobodys(set);
}
END_TEST

/* Counts of tasks are no records of programs. */
START_TEST(counts_that_were_lost_are_no_programs)
{
	struct ps_eventset *set = records_start_set();
	struct ps_uncounted found;
	int writer = _i == 0 ? records_sideband(1) : records_notes(1);

	records_put(writer, PERF_RECORD_LOST, writer, (uint64_t[]){1, 3}, 2);
	if (_i == 0)
		check_ok(ps_eventset_uncounted(set, &found));
	else
		check_fails(ps_eventset_uncounted(set, &found), PS_PARTIAL);
	check_nobodys(set);
	check_lost();
}
END_TEST

/* Any call of the kernel fails: the start does, and leaves nothing behind; or it is a start without
 * a flaw. */
static void try_failures(enum fake_call call)
{
	for (unsigned nth = 1;; nth++) {
		struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

		fake_task(PROCESS, "solver", 1);
		fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
		check_ok(ps_eventset_attach_process(set, PROCESS));
		check_ok(ps_eventset_set_tasks(set, 1));
		fake_fail(call, nth, ENOMEM);
		int result = ps_start(set);
		bool happened = fake_fail_happened();
		fake_fail(call, 0, 0);
		if (result == PS_OK) {
			check_ok(ps_stop(set, scene.root, NULL, NULL));
			walk_tasks(set);
		} else {
			ck_assert(*ps_error_detail());
		}
		ps_eventset_destroy(set);
		if (!happened)
			return;
	}
}

START_TEST(each_call_may_fail)
{
	static const enum fake_call calls[] = {FAKE_PERF_EVENT_OPEN, FAKE_IOCTL, FAKE_MMAP,
	                                       FAKE_ALLOCATE};

	try_failures(calls[_i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("task records");
	TCase *tests = scene_case(suite, "records");

	tcase_add_test(tests, each_ring_has_one_writer_and_a_sideband_event_is_its_groups_last);
	tcase_add_test(tests, counts_of_each_thread_have_rings_of_their_own);
	tcase_add_test(tests, a_process_of_another_user_is_refused_for_that);
	tcase_add_test(tests, a_list_of_threads_that_has_no_descriptor_is_told_as_such);
	tcase_add_loop_test(tests, threads_that_cannot_be_listed_again_are_told, 0, 2);
	tcase_add_test(tests, a_group_that_lost_its_leader_is_opened_again);
	tcase_add_test(tests, a_leader_has_none_to_lose);
	tcase_add_test(tests, rings_are_smaller_where_less_memory_may_be_locked);
	tcase_add_test(tests, where_no_ring_may_be_locked_the_start_fails);
	tcase_add_test(tests, the_record_of_an_older_kernel_tells_the_same);
	tcase_add_test(tests, records_of_all_rings_come_in_the_order_of_time);
	tcase_add_test(tests, a_ring_that_goes_round_is_read_and_given_back);
	tcase_add_test(tests, what_is_no_record_of_the_group_is_not_believed);
	tcase_add_test(tests, a_ring_that_is_damaged_is_given_back_and_read_on);
	tcase_add_test(tests, a_ring_that_was_full_may_have_lost_what_nobody_tells_of);
	tcase_add_loop_test(tests, counts_that_were_lost_are_no_programs, 0, 2);
	tcase_add_loop_test(tests, each_call_may_fail, 0, 4);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tasks of a process told apart, by records that are written into the rings by hand, as Linux does: of tasks that come,
 * take a name and end, of counts that come twice or not at all, of losses and of what is no record.
 */
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>
#include <perfsage/task.h>

#define PROCESS    500
#define MOST_TOLD  16
#define EVENTS     2
#define PAGE_BYTES 4096

/* The descriptors of the set: for each CPU the leader and the member. */
static int fds[64];
static uint64_t now;

struct told {
	pid_t pid, tid;
	char name[16];
	int cpu;
	long long counts[EVENTS];
};
static struct told told[MOST_TOLD];
static size_t told_count;

static struct ps_eventset *start_set(void)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	fake_task(PROCESS, "solver", 1);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	fake_file("/proc/500/task/500/comm", "solver\n");
	check_ok(ps_eventset_attach_process(set, PROCESS));
	check_ok(ps_eventset_set_tasks(set, 1));
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_counter_fds(fds, 64), 4 * EVENTS);
	now = 1000;
	return set;
}

static uint64_t id_of(int fd)
{
	uint64_t id = 0;

	ck_assert_int_eq(ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&id), 0);
	return id;
}

static int leader(int cpu)
{
	return fds[EVENTS * cpu];
}

/* A record of the event `fd`, whose ring is its CPU's. words: what stands between header and trailer. */
static void put(int cpu, uint32_t type, int fd, const uint64_t *words, size_t count)
{
	struct perf_event_mmap_page *page = fake_ring_of_fd(leader(cpu));
	struct perf_event_header header = {.type = type, .size = (uint16_t)(sizeof header + 8 * (count + 2))};
	uint64_t record[32];
	unsigned char *data = (unsigned char *)page + page->data_offset;

	memcpy(record, &header, sizeof header);
	memcpy(record + 1, words, 8 * count);
	record[count + 1] = now++;
	record[count + 2] = id_of(fd);
	for (size_t byte = 0; byte < header.size; byte++)
		data[(page->data_head + byte) % page->data_size] = ((unsigned char *)record)[byte];
	page->data_head += header.size;
}

static uint64_t pair(pid_t low, pid_t high)
{
	return (uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static void put_fork(int cpu, pid_t pid, pid_t tid, pid_t parent)
{
	put(cpu, PERF_RECORD_FORK, leader(cpu), (uint64_t[]){pair(pid, PROCESS), pair(tid, parent), 0}, 3);
}

static void put_exit(int cpu, pid_t pid, pid_t tid)
{
	put(cpu, PERF_RECORD_EXIT, leader(cpu), (uint64_t[]){pair(pid, PROCESS), pair(tid, PROCESS), 0}, 3);
}

static void put_name(int cpu, pid_t pid, pid_t tid, const char *name)
{
	uint64_t words[3] = {pair(pid, tid)};

	memcpy(words + 1, name, strlen(name));
	put(cpu, PERF_RECORD_COMM, leader(cpu), words, 3);
}

/* What an ended task counted on a CPU, by the leader's record. */
static void put_counts(int cpu, pid_t pid, pid_t tid, uint64_t faults, uint64_t clock)
{
	put(cpu, PERF_RECORD_READ, leader(cpu), (uint64_t[]){pair(pid, tid), 2, 9, 9, faults, clock}, 6);
}

static int note(const struct ps_task *task, void *context)
{
	ck_assert_ptr_eq(context, &told_count);
	ck_assert_uint_lt(told_count, MOST_TOLD);
	told[told_count] = (struct told){
	    .pid = task->pid, .tid = task->tid, .cpu = task->cpu, .counts = {task->counts[0], task->counts[1]}};
	snprintf(told[told_count++].name, sizeof told[0].name, "%s", task->name);
	return 0;
}

static void walk(struct ps_eventset *set)
{
	told_count = 0;
	check_ok(ps_eventset_for_each_task(set, note, &told_count));
}

/* Whatever the records say: the sum over the tasks is what the set counted. */
static void check_sum(const char *event, int index)
{
	long long sum = 0;

	for (size_t row = 0; row < told_count; row++)
		sum += told[row].counts[index];
	ck_assert_int_eq(sum, scene_total(event).value);
}

static void check_told(size_t row, pid_t tid, const char *name, int cpu, long long faults, long long clock)
{
	ck_assert_uint_lt(row, told_count);
	ck_assert_int_eq(told[row].tid, tid);
	ck_assert_str_eq(told[row].name, name);
	ck_assert_int_eq(told[row].cpu, cpu);
	ck_assert_int_eq(told[row].counts[0], faults);
	ck_assert_int_eq(told[row].counts[1], clock);
}

static void count_on(int cpu, uint64_t faults, uint64_t clock)
{
	fake_advance_on(PAGE_FAULTS, PROCESS, cpu, faults);
	fake_advance_on(TASK_CLOCK, PROCESS, cpu, clock);
}

/* The fake counts where its task is. */
static void count_all(void)
{
	fake_task(PROCESS, "solver", 1);
	count_on(1, 100, 1000);
	fake_task(PROCESS, "solver", 3);
	count_on(3, 50, 500);
}

START_TEST(each_task_has_what_its_records_say_and_the_last_one_the_rest)
{
	struct ps_eventset *set = start_set();

	put_fork(1, PROCESS, 501, PROCESS);
	put_name(3, PROCESS, 501, "worker");
	put_fork(3, 600, 600, 501);
	put_counts(1, PROCESS, 501, 30, 300);
	put_counts(3, PROCESS, 501, 5, 50);
	put_exit(1, PROCESS, 501);
	put_counts(1, 600, 600, 0, 0);
	put_counts(3, 600, 600, 7, 0);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	walk(set);
	ck_assert_uint_eq(told_count, 5);
	check_told(0, PROCESS, "solver", 1, 70, 700);
	check_told(1, PROCESS, "solver", 3, 38, 450);
	check_told(2, 501, "worker", 1, 30, 300);
	check_told(3, 501, "worker", 3, 5, 50);
	check_told(4, 600, "worker", 3, 7, 0);
	ck_assert_int_eq(told[4].pid, 600);
	check_sum("page-faults", 0);
	check_sum("task-clock", 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_rest_is_the_one_of_whom_no_record_told_whichever_that_is)
{
	struct ps_eventset *set = start_set();

	put_fork(1, PROCESS, 501, PROCESS);
	put_exit(1, PROCESS, 501);
	put_counts(1, PROCESS, PROCESS, 12, 120);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	walk(set);
	ck_assert_uint_eq(told_count, 3);
	check_told(0, PROCESS, "solver", 1, 12, 120);
	check_told(1, 501, "solver", 1, 88, 880);
	check_told(2, 501, "solver", 3, 50, 500);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_several_living_tasks_counted_is_nobodys)
{
	struct ps_eventset *set = start_set();

	put_fork(1, PROCESS, 501, PROCESS);
	put_fork(1, PROCESS, 502, PROCESS);
	put_counts(1, PROCESS, 502, 40, 0);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	walk(set);
	ck_assert_uint_eq(told_count, 3);
	check_told(0, 502, "solver", 1, 40, 0);
	check_told(1, 0, "", 1, 60, 1000);
	check_told(2, 0, "", 3, 50, 500);
	ck_assert_int_eq(told[2].pid, PROCESS);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(after_a_loss_the_rest_is_nobodys)
{
	struct ps_eventset *set = start_set();

	put_counts(1, PROCESS, 501, 40, 0);
	put(1, PERF_RECORD_LOST, leader(1), (uint64_t[]){1, 3}, 2);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	walk(set);
	ck_assert_uint_eq(told_count, 3);
	check_told(0, 501, "", 1, 40, 0);
	check_told(1, 0, "", 1, 60, 1000);
	check_sum("page-faults", 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Newer kernels write the leader's count in a member's record, older ones its own. */
START_TEST(a_count_that_is_told_twice_counts_once)
{
	struct ps_eventset *set = start_set();
	int member = fds[EVENTS * 1 + 1];

	put(1, PERF_RECORD_READ, leader(1), (uint64_t[]){pair(PROCESS, 501), 1, 9, 9, 30}, 5);
	put(1, PERF_RECORD_READ, member, (uint64_t[]){pair(PROCESS, 501), 1, 9, 9, 300, id_of(member)}, 6);
	put_counts(1, PROCESS, 502, 20, 200);
	put(1, PERF_RECORD_READ, member, (uint64_t[]){pair(PROCESS, 502), 1, 9, 9, 20, id_of(leader(1))}, 6);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	walk(set);
	check_told(0, PROCESS, "solver", 1, 50, 500);
	check_told(2, 501, "", 1, 30, 300);
	check_told(3, 502, "", 1, 20, 200);
	check_sum("page-faults", 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_number_that_is_used_again_is_another_task)
{
	struct ps_eventset *set = start_set();

	put_fork(1, 600, 600, PROCESS);
	put_counts(1, 600, 600, 10, 0);
	put_exit(1, 600, 600);
	put_fork(1, 600, 600, PROCESS);
	put_name(1, 600, 600, "later");
	put_counts(1, 600, 600, 20, 0);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	walk(set);
	ck_assert_uint_eq(told_count, 4);
	check_told(2, 600, "solver", 1, 10, 0);
	check_told(3, 600, "later", 1, 20, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(records_of_all_rings_come_in_the_order_of_time)
{
	struct ps_eventset *set = start_set();

	now = 2000;
	put_counts(0, 600, 600, 0, 0);
	now = 1500;
	put_fork(3, 600, 600, PROCESS);
	put_name(3, 600, 600, "early");
	now = 2100;
	put_counts(1, 600, 600, 9, 0);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	walk(set);
	ck_assert_uint_eq(told_count, 3);
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
	struct ps_eventset *set = start_set();
	struct perf_event_mmap_page *page = fake_ring_of_fd(leader(1));

	for (pid_t tid = 1001; tid <= 5000; tid++) {
		put_fork(1, tid, tid, PROCESS);
		put_counts(1, tid, tid, 1, 1);
		if (tid % 500 == 0)
			check_ok(ps_eventset_take_tasks(set));
	}
	ck_assert_uint_gt(page->data_head, 2 * page->data_size);
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

START_TEST(what_is_no_record_ends_the_look_and_does_no_harm)
{
	struct ps_eventset *set = start_set();
	struct perf_event_mmap_page *page = fake_ring_of_fd(leader(1));

	put(1, 77, leader(1), (uint64_t[]){1, 2, 3}, 3);
	put(1, PERF_RECORD_READ, leader(1), (uint64_t[]){pair(PROCESS, 501)}, 1);
	put(1, PERF_RECORD_READ, leader(1), (uint64_t[]){pair(PROCESS, 501), 4000000000u, 1, 1, 30}, 5);
	memset((char *)page + page->data_offset + page->data_head, 0, 64);
	page->data_head += 64;
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	walk(set);
	check_sum("page-faults", 0);
	check_sum("task-clock", 1);
	ck_assert_uint_eq(page->data_head, page->data_tail);
	ps_eventset_destroy(set);
}
END_TEST

static int stop_at_once(const struct ps_task *task, void *context)
{
	(void)task;
	++*(int *)context;
	return 17;
}

START_TEST(a_walk_ends_when_it_is_told_to)
{
	struct ps_eventset *set = start_set();
	int visits = 0;

	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(ps_eventset_for_each_task(set, stop_at_once, &visits), 17);
	ck_assert_int_eq(visits, 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(misuse_is_told)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	check_fails(ps_eventset_set_tasks(NULL, 1), PS_EINVAL);
	check_fails(ps_eventset_take_tasks(NULL), PS_EINVAL);
	check_fails(ps_eventset_for_each_task(NULL, note, NULL), PS_EINVAL);
	check_fails(ps_eventset_for_each_task(set, NULL, NULL), PS_EINVAL);
	check_fails(ps_eventset_take_tasks(set), PS_ENOTRUN);
	check_fails(ps_eventset_for_each_task(set, note, NULL), PS_ENOTRUN);
	check_ok(ps_start(set));
	check_fails(ps_eventset_set_tasks(set, 1), PS_EISRUN);
	check_fails(ps_eventset_for_each_task(set, note, NULL), PS_ENOSUPP);
	check_detail("ps_eventset_set_tasks");
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_set_tasks(set, 1));
	check_fails(ps_start(set), PS_ECOMBO);
	check_detail("ps_eventset_attach_process");
	ps_eventset_destroy(set);
}
END_TEST

/* Any call of the kernel fails: the start does, and leaves nothing behind; or it is a start without a flaw. */
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
			told_count = 0;
			check_ok(ps_eventset_for_each_task(set, note, &told_count));
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
	static const enum fake_call calls[] = {FAKE_PERF_EVENT_OPEN, FAKE_IOCTL, FAKE_MMAP, FAKE_ALLOCATE};

	try_failures(calls[_i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tasks");
	TCase *tests = scene_case(suite, "tasks");

	tcase_add_test(tests, each_task_has_what_its_records_say_and_the_last_one_the_rest);
	tcase_add_test(tests, the_rest_is_the_one_of_whom_no_record_told_whichever_that_is);
	tcase_add_test(tests, what_several_living_tasks_counted_is_nobodys);
	tcase_add_test(tests, after_a_loss_the_rest_is_nobodys);
	tcase_add_test(tests, a_count_that_is_told_twice_counts_once);
	tcase_add_test(tests, a_number_that_is_used_again_is_another_task);
	tcase_add_test(tests, records_of_all_rings_come_in_the_order_of_time);
	tcase_add_test(tests, a_ring_that_goes_round_is_read_and_given_back);
	tcase_add_test(tests, what_is_no_record_ends_the_look_and_does_no_harm);
	tcase_add_test(tests, a_walk_ends_when_it_is_told_to);
	tcase_add_test(tests, misuse_is_told);
	tcase_add_loop_test(tests, each_call_may_fail, 0, 4);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Samplers and tasks on this kernel: other threads, processes, children, and what the kernel writes
 * about them. */
#include "sampler_here.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

/* Long enough for any machine that is busy with other tests. */
#define PATIENCE_MS 60000

/* A dummy needs no permission: the kernel writes when the thread goes and comes. */
START_TEST(switches_are_recorded_unprivileged)
{
	struct ps_attr *attr = new_attr("dummy:u", 0, ALL_IDS);
	struct ps_record record;
	unsigned out = 0, in = 0;

	/* Seen there at each run: to be traced. */
	if (getenv("PS_LAB_SHAPE")) {
		ps_test_skip("no switch is recorded for a sampler in the lab (Linux 6.1, arm64)");
		ps_attr_destroy(attr);
		return;
	}
	check_ok(ps_attr_set(attr, PS_ATTR_CONTEXT_SWITCH, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_ID_ALL, 1));
	struct ps_sampler *sampler = open_sampler(attr, 0, -1, 2);
	check_ok(ps_sampler_start(sampler));
	for (int i = 0; i < 10; i++)
		usleep(100);
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		if (record.type != PS_RECORD_SWITCH)
			continue;
		ck_assert_uint_eq(record.tid, (uint32_t)getpid());
		if (record.misc & PERF_RECORD_MISC_SWITCH_OUT)
			out++;
		else
			in++;
	}
	ck_assert_uint_ge(out, 10);
	ck_assert_uint_ge(in, 10);
	ps_sampler_destroy(sampler);
}
END_TEST

/* Sidebands: what the process maps and is called. */
START_TEST(what_a_process_maps_is_recorded)
{
	struct ps_attr *attr = new_attr("dummy:u", 0, ALL_IDS);
	struct ps_record record;
	bool has_mapping = false, has_name = false;

	check_ok(ps_attr_set(attr, PS_ATTR_MMAP, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_MMAP2, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_MMAP_DATA, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_COMM, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_ID_ALL, 1));
	struct ps_sampler *sampler = open_sampler(attr, 0, -1, 4);
	check_ok(ps_sampler_start(sampler));
	unsigned char *memory = map_pages(3);
	pthread_setname_np(pthread_self(), "a sampler");
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		/* The kernel may have made it a part of a neighbour. */
		has_mapping = has_mapping ||
		              (record.type == PS_RECORD_MMAP2 && record.addr <= (uintptr_t)memory &&
		               record.addr + record.body.mapping.length >=
		                   (uintptr_t)memory + 3 * page_bytes());
		has_name = has_name ||
		           (record.type == PS_RECORD_COMM && !strcmp(record.text, "a sampler"));
	}
	ck_assert(has_mapping);
	ck_assert(has_name);
	ps_sampler_destroy(sampler);
	munmap(memory, 3 * page_bytes());
}
END_TEST

static void *stop_later(void *sampler)
{
	usleep(20000);
	check_ok(ps_sampler_stop(sampler));
	return NULL;
}

START_TEST(another_thread_stops_the_waiting)
{
	struct ps_sampler *sampler = open_sampler(new_attr("page-faults:u", 1, ALL_IDS), 0, -1, 1);
	struct ps_record record;
	pthread_t thread;
	int result;

	check_ok(ps_sampler_start(sampler));
	ck_assert_int_eq(pthread_create(&thread, NULL, stop_later, sampler), 0);
	do {
		result = ps_sampler_wait(sampler, -1, &record);
	} while (result == PS_OK);
	ck_assert_int_eq(result, PS_ENOTRUN);
	pthread_join(thread, NULL);
	ps_sampler_destroy(sampler);
}
END_TEST

/* The child's work before it is told to end. */
static pid_t fork_child(int *to_child)
{
	int ends[2];
	char byte;

	ck_assert_int_eq(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		close(ends[1]);
		unsigned char *memory = map_pages(PAGES);
		while (read(ends[0], &byte, 1) == 1)
			touch_pages(memory, PAGES);
		_exit(0);
	}
	close(ends[0]);
	*to_child = ends[1];
	return child;
}

/* Records, then the end of the process; the descriptor says it as well. */
START_TEST(a_process_is_observed_until_it_ends)
{
	struct pollfd pollfd = {.events = POLLIN};
	struct ps_record record;
	unsigned samples = 0;
	int to_child, result;
	pid_t child = fork_child(&to_child);
	struct ps_sampler *sampler =
	    open_sampler(new_attr("page-faults:u", 1, ALL_IDS | PERF_SAMPLE_ADDR), child, -1, 8);

	check_ok(ps_sampler_start(sampler));
	ck_assert_int_eq(write(to_child, "x", 1), 1);
	pollfd.fd = ps_sampler_fd(sampler);
	ck_assert_int_eq(poll(&pollfd, 1, PATIENCE_MS), 1);
	ck_assert(pollfd.revents & POLLIN);
	close(to_child);
	do {
		result = ps_sampler_wait(sampler, PATIENCE_MS, &record);
		if (result != PS_OK || record.type != PS_RECORD_SAMPLE)
			continue;
		samples++;
		ck_assert_uint_eq(record.pid, (uint32_t)child);
	} while (result == PS_OK);
	ck_assert_int_eq(result, PS_ESYS);
	ck_assert_uint_ge(samples, 1);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(poll(&pollfd, 1, PATIENCE_MS), 1);
	ck_assert(pollfd.revents & (POLLHUP | POLLERR));
	ck_assert_uint_eq(samples + ps_sampler_lost(sampler), read_count(sampler).value);
	ps_sampler_destroy(sampler);
}
END_TEST

/* The child has neither ring nor right; the parent's goes on. */
START_TEST(a_forked_child_is_refused)
{
	struct ps_sampler *sampler = open_sampler(new_attr("page-faults:u", 1, ALL_IDS), 0, -1, 4);
	unsigned char *memory = map_pages(PAGES);
	struct ps_record record;
	struct ps_sampler_count count;
	int status = -1;
	unsigned samples = 0;

	check_ok(ps_sampler_start(sampler));
	pid_t child = fork();
	if (child == 0) {
		bool is_refused = ps_sampler_next(sampler, &record) == PS_ECLOST &&
		                  ps_sampler_wait(sampler, -1, &record) == PS_ECLOST &&
		                  ps_sampler_stop(sampler) == PS_ECLOST &&
		                  ps_sampler_start(sampler) == PS_ECLOST &&
		                  ps_sampler_read(sampler, &count) == PS_ECLOST;
		ps_sampler_lost(sampler);
		ps_sampler_destroy(sampler);
		_exit(is_refused ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	touch_pages(memory, PAGES);
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK)
		samples += record.type == PS_RECORD_SAMPLE;
	ck_assert_uint_ge(samples, PAGES);
	ps_sampler_destroy(sampler);
	munmap(memory, PAGES * page_bytes());
}
END_TEST

/* A file of the program, which is always readable, and another sampler's event: _i. */
START_TEST(a_number_of_something_else_is_told_and_left_open)
{
	struct ps_sampler *sampler = open_sampler(new_attr("page-faults:u", 1, ALL_IDS), 0, -1, 1);
	struct ps_sampler *other = open_sampler(new_attr("minor-faults:u", 1, ALL_IDS), 0, -1, 1);
	struct ps_sampler_count count = {.value = 0};
	struct ps_record record;
	int fd = ps_sampler_fd(sampler), result;
	int file = _i ? ps_sampler_fd(other) : open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	check_ok(ps_sampler_start(other));
	check_ok(ps_sampler_start(sampler));
	ck_assert_int_eq(dup2(file, fd), fd);
	ck_assert_int_eq(ps_sampler_stop(sampler), PS_ECLOST);
	ck_assert_int_eq(ps_sampler_read(sampler, &count), PS_ECLOST);
	/* The records of before are still given; then it is told, if that file wakes the reader. */
	while ((result = ps_sampler_wait(sampler, _i ? 0 : -1, &record)) == PS_OK)
		;
	ck_assert_int_eq(result, _i ? PS_ENOEVST : PS_ECLOST);
	ps_sampler_destroy(sampler);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	check_ok(ps_sampler_read(other, &count));
	check_ok(ps_sampler_stop(other));
	close(fd);
	ps_sampler_destroy(other);
	if (!_i)
		close(file);
}
END_TEST

/* Its number is something else by now: nothing is taken out of that. */
START_TEST(a_descriptor_that_the_program_closed_is_left_alone)
{
	struct ps_sampler *sampler = open_sampler(new_attr("page-faults:u", 1, ALL_IDS), 0, -1, 1);
	struct ps_sampler_count count;
	struct ps_record record;
	int ends[2];
	char text[8] = "";

	check_ok(ps_sampler_start(sampler));
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "text", 5), 5);
	ck_assert_int_eq(dup2(ends[0], ps_sampler_fd(sampler)), ps_sampler_fd(sampler));
	ck_assert_int_eq(ps_sampler_read(sampler, &count), PS_ECLOST);
	while (ps_sampler_next(sampler, &record) == PS_OK)
		;
	ck_assert_uint_eq(ps_sampler_lost(sampler), UINT64_MAX);
	ck_assert_int_eq(ps_sampler_stop(sampler), PS_ECLOST);
	ps_sampler_destroy(sampler);
	ck_assert_int_eq(read(ends[0], text, sizeof text), 5);
	ck_assert_str_eq(text, "text");
}
END_TEST

/* The kernel answers as if the level forbade it. */
START_TEST(a_task_of_another_user_is_told_from_a_level)
{
	struct ps_sampler *sampler = NULL;
	struct ps_attr *attr = new_attr("page-faults", 1, ALL_IDS);
	int result = ps_sampler_create(&sampler, attr, 1, -1, 0);

	ps_attr_destroy(attr);
	if (result == PS_OK) {
		ps_sampler_destroy(sampler);
		ps_test_skip("this user may observe process 1");
		return;
	}
	ck_assert_int_eq(result, PS_EPERM);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "belongs to another user"));
}
END_TEST

static void *touch_in_thread(void *memory)
{
	touch_pages(memory, PAGES);
	return NULL;
}

/* With a CPU the kernel has a ring for what the thread creates. */
START_TEST(inherited_threads_write_into_the_ring)
{
	struct ps_attr *attr = new_attr("page-faults:u", 1, ALL_IDS | PERF_SAMPLE_ADDR);
	unsigned char *memory = map_pages(PAGES);
	struct ps_record record;
	unsigned seen = 0;
	pthread_t thread;

	here_pin();
	check_ok(ps_attr_set(attr, PS_ATTR_INHERIT, 1));
	struct ps_sampler *sampler = open_sampler(attr, 0, sched_getcpu(), 16);
	check_ok(ps_sampler_start(sampler));
	ck_assert_int_eq(pthread_create(&thread, NULL, touch_in_thread, memory), 0);
	pthread_join(thread, NULL);
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK)
		seen += record.type == PS_RECORD_SAMPLE && record.tid != (uint32_t)getpid() &&
		        record.addr >= (uintptr_t)memory &&
		        record.addr < (uintptr_t)memory + PAGES * page_bytes();
	ck_assert_uint_eq(seen, PAGES);
	ps_sampler_destroy(sampler);
	munmap(memory, PAGES * page_bytes());
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampler_tasks");
	TCase *tests = here_case(suite, "sampler_tasks");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, switches_are_recorded_unprivileged);
	tcase_add_test(tests, what_a_process_maps_is_recorded);
	tcase_add_test(tests, another_thread_stops_the_waiting);
	tcase_add_test(tests, a_process_is_observed_until_it_ends);
	tcase_add_test(tests, a_forked_child_is_refused);
	tcase_add_test(tests, a_descriptor_that_the_program_closed_is_left_alone);
	tcase_add_loop_test(tests, a_number_of_something_else_is_told_and_left_open, 0, 2);
	tcase_add_test(tests, a_task_of_another_user_is_told_from_a_level);
	tcase_add_test(tests, inherited_threads_write_into_the_ring);
	return here_run_if_counted(suite);
}

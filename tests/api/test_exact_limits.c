/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact attribution under limits on the real kernel: few descriptors, no privileges, and in a child
 * of fork(). Each test works in a child process of its own. Sees the installed header and the
 * shared library alone.
 */
#include "wander.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child processes: Check's own asserts would end the test there, unseen. */
#define expect(what)                                                                              \
	do {                                                                                      \
		if (!(what)) {                                                                    \
			fprintf(stderr, "line %d: %s: %s\n", __LINE__, #what, ps_error_detail()); \
			_exit(1);                                                                 \
		}                                                                                 \
	} while (0)

static void run_in_child(void (*work)(void))
{
	int status = 1;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		work();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(status == 0, "the child process ended with status %d; see above", status);
}

static const char *const cheap_events[] = {"page-faults:u",      "minor-faults:u",
                                           "major-faults:u",     "task-clock:u",
                                           "alignment-faults:u", "emulation-faults:u"};
#define CHEAP_EVENTS (sizeof(cheap_events) / sizeof(cheap_events[0]))

static struct ps_eventset *set_of_many(enum ps_attribution_mode mode)
{
	struct ps_eventset *set = NULL;

	expect(ps_eventset_create(&set) == PS_OK);
	expect(ps_eventset_set_attribution(set, mode) == PS_OK);
	for (size_t i = 0; i < CHEAP_EVENTS; i++)
		expect(ps_eventset_add(set, cheap_events[i]) == PS_OK);
	return set;
}

/* Without ".", ".." and the folder's own. */
static unsigned count_descriptors(void)
{
	return (unsigned)here_count_descriptors() - 3;
}

/* As many as the events take once, and a few. */
static unsigned limit_descriptors(void)
{
	struct rlimit limit;

	expect(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	limit.rlim_cur = count_descriptors() + CHEAP_EVENTS + 3;
	expect(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	return (unsigned)limit.rlim_cur;
}

static void count_with_few_descriptors(void)
{
	struct ps_topology *topology = NULL;
	struct ps_value value;
	const char *why = "";
	struct ps_thread *thread = NULL;

	expect(ps_topology_load(&topology, NULL) == PS_OK);
	struct ps_eventset *set = set_of_many(PS_ATTRIBUTE_AUTO);
	limit_descriptors();
	expect(ps_start(set) == PS_OK);
	expect(ps_eventset_attribution(set, &why) == PS_ATTRIBUTION_LAST_CPU);
	expect(strstr(why, "ulimit -n"));
	expect(ps_stop(set, ps_topology_root(topology), NULL, &thread) == PS_OK);
	expect(ps_thread_reading(thread, "task-clock:u", 0, &value) == PS_OK);
	expect(value.value > 0 && value.attribution == PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}

static void insist_with_few_descriptors(void)
{
	char need[32], had[32];
	struct ps_eventset *set = set_of_many(PS_ATTRIBUTE_EXACT);
	unsigned before = count_descriptors(), limit = limit_descriptors();
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	expect(ps_start(set) == PS_ECOUNT);
	snprintf(need, sizeof(need), "%ld", cpus * (long)CHEAP_EVENTS);
	snprintf(had, sizeof(had), "%u", limit);
	expect(strstr(ps_error_detail(), need));
	expect(strstr(ps_error_detail(), had));
	expect(count_descriptors() == before);
	ps_eventset_destroy(set);
}

START_TEST(with_few_descriptors_auto_counts_and_says_what_it_lacks)
{
	if (!wander_is_possible())
		return;
	run_in_child(count_with_few_descriptors);
}
END_TEST

START_TEST(with_few_descriptors_exact_fails_with_the_number_needed_and_had)
{
	if (!wander_is_possible())
		return;
	run_in_child(insist_with_few_descriptors);
}
END_TEST

static void give_up_privileges(void)
{
	expect(setresgid(65534, 65534, 65534) == 0);
	expect(setresuid(65534, 65534, 65534) == 0);
	/* A process that changed its user is closed to itself, too. */
	expect(prctl(PR_SET_DUMPABLE, 1) == 0);
}

static void check_split(struct ps_eventset *set, struct ps_topology *topology)
{
	struct wander_work work;
	uint64_t timestamp = 0;
	struct ps_value value;

	wander_create(&work, 1100);
	for (int round = 0; round < 3; round++) {
		expect(ps_reset(set) == PS_OK);
		wander_move(wander_cpu(0));
		wander_touch(&work, round < 2 ? 5 : 1000);
		wander_move(wander_cpu(1));
		wander_touch(&work, 10);
		timestamp = 0;
		expect(ps_read(set, ps_topology_root(topology), &timestamp, NULL) == PS_OK);
	}
	for (int place = 0; place < 2; place++) {
		struct ps_thread *thread = ps_topology_thread(topology, wander_cpu(place));

		expect(ps_thread_reading(thread, WANDER_EVENT, timestamp, &value) == PS_OK);
		expect(value.attribution == PS_ATTRIBUTION_EXACT);
		expect(value.value == (place == 0 ? 1000 : 10));
	}
	wander_destroy(&work);
}

/* attached: of this thread by its tid, and of this process. */
static void count_unprivileged(void)
{
	struct ps_topology *topology = NULL;

	if (geteuid() == 0)
		give_up_privileges();
	expect(ps_topology_load(&topology, NULL) == PS_OK);
	for (int kind = 0; kind < 3; kind++) {
		struct ps_eventset *set = wander_set(PS_ATTRIBUTE_EXACT, 16);

		expect(kind != 1 || ps_eventset_attach_tid(set, getpid()) == PS_OK);
		expect(kind != 2 || ps_eventset_attach_process(set, getpid()) == PS_OK);
		expect(ps_start(set) == PS_OK);
		check_split(set, topology);
		ps_eventset_destroy(set);
	}
	ps_topology_destroy(topology);
}

static long paranoid_level(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	long level = 99;

	if (!file || fscanf(file, "%ld", &level) != 1)
		level = 99;
	if (file)
		fclose(file);
	return level;
}

START_TEST(no_privilege_is_needed)
{
	if (!wander_is_possible())
		return;
	if (paranoid_level() > 2) {
		ps_test_skip("perf_event_paranoid is above 2");
		return;
	}
	run_in_child(count_unprivileged);
}
END_TEST

/* Where the perf rings of this process are mapped. */
static size_t find_rings(unsigned char **rings, size_t *length, size_t room)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];
	size_t count = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		unsigned long from, to;

		if (strstr(line, "[perf_event]") && sscanf(line, "%lx-%lx", &from, &to) == 2 &&
		    count < room) {
			rings[count] = (unsigned char *)from;
			length[count++] = to - from;
		}
	}
	fclose(file);
	return count;
}

/* The kernel gives a child no copy of a ring: what is there is other memory by then. */
START_TEST(a_set_destroyed_in_a_child_of_fork_takes_no_memory_of_the_child)
{
	struct ps_eventset *set;
	unsigned char *ring = NULL;
	size_t length = 0;
	int status = 1;

	if (!wander_is_possible())
		return;
	set = wander_set(PS_ATTRIBUTE_EXACT, 16);
	check_ok(ps_start(set));
	ck_assert_uint_eq(find_rings(&ring, &length, 1), 1);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		unsigned char *own = mmap(ring, length, PROT_READ | PROT_WRITE,
		                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (own != ring)
			_exit(2);
		memset(own, 1, length);
		ps_eventset_destroy(set);
		_exit(own[length - 1] == 1 ? 0 : 3);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ps_eventset_destroy(set);
}
END_TEST

static void add(TCase *tests)
{
	tcase_add_test(tests, with_few_descriptors_auto_counts_and_says_what_it_lacks);
	tcase_add_test(tests, with_few_descriptors_exact_fails_with_the_number_needed_and_had);
	tcase_add_test(tests, no_privilege_is_needed);
	tcase_add_test(tests, a_set_destroyed_in_a_child_of_fork_takes_no_memory_of_the_child);
}

int main(void)
{
	return wander_run("exact, under limits", add, NULL);
}

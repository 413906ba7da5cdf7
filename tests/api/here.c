/* SPDX-License-Identifier: BSD-3-Clause */
/* What the API tests share; see here.h. */
#include "here.h"

#include <dirent.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct here here;

void here_setup(void)
{
	check_ok(ps_topology_load(&here.topology, NULL));
	here.root = ps_topology_root(here.topology);
}

void here_teardown(void)
{
	ps_topology_destroy(here.topology);
	here = (struct here){0};
}

TCase *here_case(Suite *suite, const char *name)
{
	TCase *tests = tcase_create(name);

	tcase_add_checked_fixture(tests, here_setup, here_teardown);
	tcase_set_timeout(tests, 120);
	suite_add_tcase(suite, tests);
	return tests;
}

/* The kernel's NUMA balancing takes pages away to see who uses them, each a page fault more;
 * but not from a task with a memory policy of its own. Where there is no such thing, nothing
 * is amiss. */
static void refuse_numa_balancing(void)
{
	syscall(SYS_set_mempolicy, MPOL_LOCAL, NULL, 0ul);
}

int here_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);

	refuse_numa_balancing();
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

void here_pin(void)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET((size_t)sched_getcpu(), &mask);
	ck_assert_int_eq(sched_setaffinity(0, sizeof mask, &mask), 0);
}

void here_move(unsigned step)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2)
		return;
	for (int cpu = 0, rest = (int)(step % (unsigned)CPU_COUNT(&all)); cpu < CPU_SETSIZE;
	     cpu++) {
		if (!CPU_ISSET((size_t)cpu, &all) || rest-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET((size_t)cpu, &one);
		sched_setaffinity(0, sizeof one, &one);
		break;
	}
	sched_setaffinity(0, sizeof all, &all);
}

const char *here_obstacle(const char *event)
{
	struct ps_eventset *set = NULL;
	bool may = ps_eventset_create(&set) == PS_OK && ps_eventset_add(set, event) == PS_OK &&
	           ps_start(set) == PS_OK;

	ps_eventset_destroy(set);
	return may ? NULL : ps_error_detail();
}

int here_run_if_counted(Suite *suite)
{
	if (ps__test_may_run("main", here_obstacle(HERE_FAULTS)))
		return here_run(suite);
	srunner_free(srunner_create(suite));
	return EXIT_SUCCESS;
}

size_t here_count_descriptors(void)
{
	size_t count = 0;
	DIR *folder = opendir("/proc/self/fd");

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

long long here_sum(const char *event, uint64_t timestamp)
{
	/* It stands for each CPU that the tree doesn't know. */
	const struct ps_thread *unknown = ps_topology_thread(here.topology, CPU_SETSIZE);
	struct ps_value value;
	long long sum = 0;

	for (int cpu = 0; cpu <= CPU_SETSIZE; cpu++) {
		const struct ps_thread *thread = ps_topology_thread(here.topology, cpu);
		if (thread && (thread != unknown || cpu == CPU_SETSIZE) &&
		    ps_thread_reading(thread, event, timestamp, &value) == PS_OK)
			sum += value.value;
	}
	return sum;
}

void here_check_residual(struct ps_eventset *set)
{
	long long residual[2] = {1, 1};

	check_ok(ps_eventset_check(set, residual, 2));
	ck_assert_int_eq(residual[0], 0);
	ck_assert_int_eq(residual[1], 0);
}

const enum ps_attribution_mode here_modes[] = {PS_ATTRIBUTE_AUTO, PS_ATTRIBUTE_EXACT,
                                               PS_ATTRIBUTE_LAST_CPU};

struct ps_eventset *here_faults(enum ps_attribution_mode mode, size_t rows)
{
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_set_attribution(set, mode));
	check_ok(ps_eventset_add(set, HERE_FAULTS));
	check_ok(ps_eventset_add(set, "minor-faults:u"));
	check_ok(ps_eventset_reserve(set, rows));
	return set;
}

static volatile unsigned char *page;

void here_map_page(void)
{
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)page, MAP_FAILED);
}

/* Without a sanitizer's checks: they touch pages of their own. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) void here_touch(void)
{
	madvise((void *)page, (size_t)sysconf(_SC_PAGESIZE), MADV_DONTNEED);
	*page = 1;
}

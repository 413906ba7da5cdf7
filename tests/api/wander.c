/* SPDX-License-Identifier: BSD-3-Clause */
/* Known work at known places; see wander.h. */
#include "wander.h"

#include "support/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <perfsage/hooks.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static cpu_set_t first_mask;
static enum wander_means means;

void wander_create(struct wander_work *work, size_t pages)
{
	*work = (struct wander_work){.page_bytes = (size_t)sysconf(_SC_PAGESIZE), .count = pages};
	work->pages = mmap(NULL, pages * work->page_bytes, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_msg(work->pages != MAP_FAILED, "mmap: %s", strerror(errno));
	madvise(work->pages, pages * work->page_bytes, MADV_NOHUGEPAGE);
}

void wander_destroy(struct wander_work *work)
{
	munmap(work->pages, work->count * work->page_bytes);
}

static long long faults_of_this_thread(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage) < 0)
		abort();
	return usage.ru_minflt + usage.ru_majflt;
}

void wander_settle(struct wander_work *work)
{
	work->faults = faults_of_this_thread();
	work->strays = 0;
}

long long wander_strays(struct wander_work *work)
{
	long long faults = faults_of_this_thread();

	work->strays += faults - work->faults;
	work->faults = faults;
	return work->strays;
}

/* Without a sanitizer's checks: they touch pages of their own. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) void
wander_touch(struct wander_work *work, size_t pages)
{
	volatile unsigned char *at = work->pages + work->next * work->page_bytes;

	if (pages > work->count - work->next)
		abort(); /* the test has miscounted */
	for (size_t i = 0; i < pages; i++)
		at[i * work->page_bytes] = 1;
	work->next += pages;
	work->faults += (long long)pages;
}

int wander_cpu(int index)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET((size_t)cpu, &first_mask) && index-- == 0)
			return cpu;
	}
	return -1;
}

void wander_move(int cpu)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET((size_t)cpu, &mask);
	if (sched_setaffinity(0, sizeof(mask), &mask) < 0)
		abort();
}

void wander_unpin(void)
{
	if (sched_setaffinity(0, sizeof(first_mask), &first_mask) < 0)
		abort();
}

unsigned wander_random(unsigned *seed, unsigned limit)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % limit;
}

bool wander_has_thread_sanitizer(void)
{
#if PS_TEST_HAS_THREAD_SANITIZER
	return true;
#else
	return false;
#endif
}

void wander_check_count(long long counted, long long expected, long long strays)
{
	ck_assert_int_ge(counted, expected);
#if PS_TEST_HAS_ADDRESS_SANITIZER
	(void)strays;
#else
	ck_assert_msg(counted <= expected + strays,
	              "%lld counted, %lld touched, and %lld at most by themselves", counted,
	              expected, strays);
#endif
}

enum wander_means wander_means(void)
{
	return means;
}

static bool is_recorder(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CPU_MIGRATIONS &&
	       attr->sample_period == 1;
}

static int open_no_recorder(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                            unsigned long flags)
{
	if (!is_recorder(attr))
		return ps_hooks_default()->perf_event_open(attr, pid, cpu, group_fd, flags);
	errno = EACCES;
	return -1;
}

static int open_no_instance(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                            unsigned long flags)
{
	if (pid < 0 || cpu < 0 || attr->config == PERF_COUNT_SW_DUMMY)
		return ps_hooks_default()->perf_event_open(attr, pid, cpu, group_fd, flags);
	errno = EMFILE;
	return -1;
}

#define PRESENT   "/sys/devices/system/cpu/present"
#define MANY_CPUS "0-7\n"

/* As many CPUs as migration records are made for. */
static int open_many_cpus(const char *path, int flags)
{
	int ends[2];

	if (strcmp(path, PRESENT) != 0)
		return ps_hooks_default()->open(path, flags);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	ck_assert_int_eq(write(ends[1], MANY_CPUS, strlen(MANY_CPUS)), (ssize_t)strlen(MANY_CPUS));
	close(ends[1]);
	return ends[0];
}

static void take_instances(void)
{
	struct ps_hooks hooks = *ps_hooks_default();

	means = WANDER_PER_CPU;
	hooks.perf_event_open = open_no_recorder;
	check_ok(ps_hooks_set(&hooks));
}

static void take_records(void)
{
	struct ps_hooks hooks = *ps_hooks_default();

	means = WANDER_RECORDS;
	hooks.perf_event_open = open_no_instance;
	hooks.open = open_many_cpus;
	check_ok(ps_hooks_set(&hooks));
}

static bool may_record(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof(attr),
	                               .config = PERF_COUNT_SW_CPU_MIGRATIONS,
	                               .sample_period = 1};
	int fd = ps_hooks_default()->perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static const char *obstacle_to_event(void)
{
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_create(&set));
	int result = ps_eventset_add(set, WANDER_EVENT);
	ps_eventset_destroy(set);
	ck_assert_msg(result == PS_OK || result == PS_EPERM || result == PS_ENOSUPP, "%s",
	              ps_error_detail());
	return result == PS_OK ? NULL : ps_error_detail();
}

const char *wander_obstacle_to_means(void)
{
	if (ps_test_is_in_valgrind())
		return "valgrind has page faults of its own in the counted threads";
	if (wander_cpu(1) < 0)
		return "this process may use one CPU only";
	if (means == WANDER_RECORDS && !may_record())
		return "migration records need perf_event_paranoid <= 1 or CAP_PERFMON";
	return obstacle_to_event();
}

const char *wander_obstacle(void)
{
	if (wander_has_thread_sanitizer())
		return "ThreadSanitizer writes a trace, whose pages are faulted in, too";
	return wander_obstacle_to_means();
}

struct ps_eventset *wander_set(enum ps_attribution_mode mode, size_t rows)
{
	struct ps_eventset *set = NULL;

	wander_unpin();
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_set_attribution(set, mode));
	check_ok(ps_eventset_add(set, WANDER_EVENT));
	check_ok(ps_eventset_reserve(set, rows));
	return set;
}

long long wander_part(struct ps_topology *topology, int cpu, uint64_t timestamp,
                      enum ps_attribution label)
{
	struct ps_value value;
	int result =
	    ps_thread_reading(ps_topology_thread(topology, cpu), WANDER_EVENT, timestamp, &value);

	if (result == PS_ENOEVNT || result == PS_ENOEVST)
		return 0;
	ck_assert_msg(result == PS_OK, "CPU %d: %s", cpu, ps_error_detail());
	ck_assert_msg(value.attribution == label, "CPU %d: %s, not %s", cpu,
	              ps_attribution_name(value.attribution), ps_attribution_name(label));
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	return value.value;
}

void wander_check_residual(struct ps_eventset *set)
{
	long long residual = -1;

	check_ok(ps_eventset_check(set, &residual, 1));
	ck_assert_int_eq(residual, 0);
}

static void add_case(Suite *suite, const char *name, wander_add *add, SFun setup)
{
	TCase *tests = tcase_create(name);

	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, setup, wander_unpin);
	add(tests);
	suite_add_tcase(suite, tests);
}

int wander_run(const char *name, wander_add *add, wander_add *add_with_records)
{
	Suite *suite = suite_create(name);

	if (sched_getaffinity(0, sizeof(first_mask), &first_mask) < 0)
		return EXIT_FAILURE;
	add_case(suite, "per-CPU", add, take_instances);
	if (add_with_records)
		add_case(suite, "records", add_with_records, take_records);
	return here_run(suite);
}

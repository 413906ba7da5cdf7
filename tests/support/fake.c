/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fake kernel: installing it, calls that fail on order, descriptors, clock and limits. The
 * tests install it; the library meets it through the OS seam.
 */
#include "fake_internal.h"
#include "support/unmarked.h"

#include "analysis/metric_file.h"

#include <check.h>
#include <errno.h>
#include <perfsage/error.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct order {
	unsigned count;
	unsigned fail_at; /* 0: no order */
	int error, always;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct order orders[FAKE_CALLS];
static bool fail_happened;
static unsigned violations;
static struct fake_fd *fds[FAKE_FDS];
static unsigned open_fds, nofile;
static uint64_t clock_now_ns, clock_step_ns;
static struct rusage usage;
static uint64_t cpu_time_ns;
unsigned long fake__generation;

void fake__lock(void)
{
	pthread_mutex_lock(&lock);
}

void fake__unlock(void)
{
	pthread_mutex_unlock(&lock);
}

int fake__fail(int error)
{
	fake__unlock();
	errno = error;
	return -1;
}

void fake__violation(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("fake kernel: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	violations++;
}

bool fake__enter(enum fake_call call)
{
	struct order *order = &orders[call];
	int error = 0;

	fake__lock();
	order->count++;
	if (order->always) {
		error = order->always;
	} else if (order->fail_at && order->count == order->fail_at) {
		error = order->error;
		order->fail_at = 0;
	}
	if (!error)
		return false;
	fail_happened = true;
	fake__fail(error);
	return true;
}

int fake__fd_new(void)
{
	static ino_t last_number;
	struct fake_fd *slot;
	int fd = 0;

	if (open_fds + 3 >= nofile) {
		errno = EMFILE;
		return -1;
	}
	while (fds[fd] && fds[fd]->open)
		if (++fd == FAKE_FDS)
			abort();
	slot = fds[fd] ? fds[fd] : malloc(sizeof(*slot));
	if (!slot)
		abort();
	memset(slot, 0, sizeof(*slot));
	slot->open = true;
	slot->number = ++last_number;
	fds[fd] = slot;
	open_fds++;
	return fd + FAKE_FIRST_FD;
}

struct fake_fd *fake__fd(int fd)
{
	if (fd < FAKE_FIRST_FD || fd >= FAKE_FIRST_FD + FAKE_FDS || !fds[fd - FAKE_FIRST_FD])
		return NULL;
	return fds[fd - FAKE_FIRST_FD]->open ? fds[fd - FAKE_FIRST_FD] : NULL;
}

static void fd_release(struct fake_fd *slot)
{
	if (slot->counter)
		fake__counter_close(slot->counter);
	free(slot->content);
	memset(slot, 0, sizeof(*slot));
	open_fds--;
}

void fake__fds_reset(void)
{
	for (int fd = 0; fd < FAKE_FDS && fds[fd]; fd++) {
		if (fds[fd]->open)
			fd_release(fds[fd]);
		free(fds[fd]);
		fds[fd] = NULL;
	}
}

int fake__close(int fd)
{
	bool fails = fake__enter(FAKE_CLOSE);
	int error = errno;
	struct fake_fd *slot;

	if (fails)
		fake__lock();
	slot = fake__fd(fd);
	if (!slot) {
		fake__violation("close(%d): not open", fd);
		return fake__fail(EBADF);
	}
	fd_release(slot); /* as Linux: also when close reports an error */
	if (fails)
		return fake__fail(error);
	fake__unlock();
	return 0;
}

static int hook_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (fake__enter(FAKE_CLOCK_GETTIME))
		return -1;
	uint64_t now_ns = clock == CLOCK_THREAD_CPUTIME_ID ? cpu_time_ns : clock_now_ns;
	now->tv_sec = (time_t)(now_ns / 1000000000u);
	now->tv_nsec = (long)(now_ns % 1000000000u);
	if (clock != CLOCK_THREAD_CPUTIME_ID)
		clock_now_ns += clock_step_ns;
	fake__unlock();
	return 0;
}

static int hook_getrusage(int who, struct rusage *out)
{
	(void)who;
	fake__lock();
	*out = usage;
	fake__unlock();
	return 0;
}

void fake_set_usage(uint64_t cpu_ns, long switches)
{
	fake__lock();
	cpu_time_ns = cpu_ns;
	usage.ru_nvcsw = switches;
	fake__unlock();
}

uint64_t fake__clock_ns(void)
{
	return clock_now_ns;
}

void fake__clock_pass(uint64_t ns)
{
	clock_now_ns += ns;
}

static int hook_getrlimit(int resource, struct rlimit *limit)
{
	if (fake__enter(FAKE_GETRLIMIT))
		return -1;
	limit->rlim_cur = resource == RLIMIT_NOFILE ? nofile : RLIM_INFINITY;
	limit->rlim_max = limit->rlim_cur;
	fake__unlock();
	return 0;
}

static void reset(void)
{
	fake__fds_reset();
	fake__counters_reset();
	fake__files_reset();
	fake__tasks_reset();
	fake__memory_reset();
	fake__bpf_reset();
	memset(orders, 0, sizeof(orders));
	fail_happened = false;
	violations = 0;
	nofile = 1024;
	clock_now_ns = 1000000000u;
	clock_step_ns = 1000;
	memset(&usage, 0, sizeof(usage));
	cpu_time_ns = 0;
	fake__generation++;
}

void fake_install(void)
{
	static const struct ps_hooks hooks = {
	    .size = sizeof(hooks),
	    .perf_event_open = fake__perf_event_open,
	    .ioctl = fake__ioctl,
	    .read = fake__read,
	    .pread = fake__pread,
	    .open = fake__open,
	    .close = fake__close,
	    .mmap = fake__mmap,
	    .munmap = fake__munmap,
	    .list = fake__list,
	    .getcpu = fake__getcpu,
	    .gettid = fake__gettid,
	    .sched_getaffinity = fake__getaffinity,
	    .clock_gettime = hook_clock_gettime,
	    .getrlimit = hook_getrlimit,
	    .allocate = fake__allocate,
	    .release = fake__release,
	    .getrusage = hook_getrusage,
	    .poll = fake__poll,
	    .wake = {fake__pipe, fake__write, fake__fstat},
	    .bpf = fake__bpf,
	};

	/* They stay for the process, in memory that the fake kernel doesn't watch. */
	if (ps__metric_load_builtin() != PS_OK)
		abort();
	fake__lock();
	reset();
	fake__unlock();
	fake_set_paranoid(2, true);
	ck_assert_int_eq(ps_hooks_set(&hooks), PS_OK);
}

void fake_remove(void)
{
	unsigned fds_left = open_fds, violations_seen = violations;
	size_t mapped_left = fake_mapped_bytes(), allocated_left = fake_allocated_bytes();

	ps_hooks_set(NULL);
	fake__lock();
	reset();
	fake__unlock();
	ck_assert_msg(violations_seen == 0, "%u violations were printed above", violations_seen);
	ck_assert_msg(fds_left == 0, "%u file descriptors were left open", fds_left);
	ck_assert_msg(mapped_left == 0, "%zu bytes were left mapped", mapped_left);
	ck_assert_msg(allocated_left == 0, "%zu bytes were left allocated", allocated_left);
}

void fake_set_clock(uint64_t now_ns, uint64_t step_ns)
{
	fake__lock();
	clock_now_ns = now_ns;
	clock_step_ns = step_ns;
	fake__unlock();
}

void fake_set_nofile(unsigned limit)
{
	fake__lock();
	nofile = limit;
	fake__unlock();
}

void fake_fail(enum fake_call call, unsigned nth, int error)
{
	fake__lock();
	orders[call].fail_at = nth ? orders[call].count + nth : 0;
	orders[call].error = error;
	fail_happened = false;
	fake__unlock();
}

void fake_fail_always(enum fake_call call, int error)
{
	fake__lock();
	orders[call].always = error;
	fail_happened = false;
	fake__unlock();
}

bool fake_fail_happened(void)
{
	return fail_happened;
}

unsigned fake_count(enum fake_call call)
{
	return orders[call].count;
}

void fake_count_reset(void)
{
	fake__lock();
	for (int call = 0; call < FAKE_CALLS; call++) {
		if (orders[call].fail_at)
			orders[call].fail_at -= orders[call].count;
		orders[call].count = 0;
	}
	fake__unlock();
}

unsigned fake_violations(void)
{
	return violations;
}

void fake_violations_reset(void)
{
	violations = 0;
}

unsigned fake_open_fds(void)
{
	return open_fds;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that is counted as a whole. Its listener stands between marks and the profile's
 * regions, for the sake of fork: a child finds the parent's listener in its slots, and gets a
 * profile of its own at its first mark.
 */
/* There are no marks in here. */
#define PERFSAGE_NO_MARKS
#include "collect/hush.h"
#include "collect/report.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "base/stack.h"
#include "region/links.h"
#include "region/listen.h"
#include "region/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <perfsage/collect.h>
#include <perfsage/sampling.h>
#include <perfsage/topology.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A region as the marks know it. */
struct collect_region {
	struct ps_mark_region mark;
	_Atomic uint64_t generation; /* of the process whose region it is; stored last */
	struct ps_region *_Atomic region;
	char name[];
};

static struct {
	pthread_mutex_t lock;
	struct ps__held held; /* a jump out of a handler must not leave the lock behind */
	uint64_t generation;  /* of the process that is counted; 0: none */
	pid_t pid;            /* a child of vfork has another one, and the same memory */
	bool has_handlers;    /* of exit and fork */
	struct collect_settings settings;
	struct ps_topology *topology;
	struct ps_profile *profile;
	struct ps__links regions; /* from a region of the profile to that of the marks */
	uint64_t started_ns;
} collect = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A signal handler must not wait for what it has interrupted. */
static _Thread_local volatile bool is_inside;

static bool collect_enter(void)
{
	if (is_inside)
		return false;
	struct ps__held held;
	ps__signals_hold(&held);
	is_inside = true;
	atomic_signal_fence(memory_order_seq_cst);
	pthread_mutex_lock(&collect.lock);
	collect.held = held;
	return true;
}

static void collect_leave(void)
{
	struct ps__held held = collect.held;

	pthread_mutex_unlock(&collect.lock);
	atomic_signal_fence(memory_order_seq_cst);
	is_inside = false;
	ps__signals_release(&held);
}

/* The program goes on; each process says once why it is not counted. */
static int collect_complain(int code)
{
	struct collect_hush hush;

	collect_hush_begin(&hush);
	dprintf(STDERR_FILENO, "perfsage: process %d: %s; the program goes on\n", (int)getpid(),
	        ps_error_detail());
	collect_hush_end(&hush);
	return code;
}

static int collect_make_profile(void)
{
	const char *group = collect_settings_group();
	int result = ps_topology_load(&collect.topology, NULL);

	if (result == PS_OK)
		result = ps_profile_create(&collect.profile, collect.settings.model,
		                           ps_topology_root(collect.topology));
	if (result == PS_OK && collect.settings.budget > 0)
		result = ps_profile_set_budget(collect.profile, collect.settings.budget);
	if (result == PS_OK && group)
		result = ps_profile_set_group(collect.profile, group);
	if (result == PS_OK)
		result = ps_profile_join(collect.profile);
	return result;
}

/* A line for perfsage: which process has marks, and which one left a report. */
__attribute__((format(printf, 1, 2))) static void collect_note(const char *format, ...)
{
	const char *name = collect_settings_journal();
	int fd = name ? open(name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC) : -1;
	struct collect_hush hush;
	va_list arguments;

	if (fd < 0)
		return;
	collect_hush_begin(&hush);
	va_start(arguments, format);
	vdprintf(fd, format, arguments);
	va_end(arguments);
	collect_hush_end(&hush);
	close(fd);
}

/* The caller has entered. */
static int collect_begin(void)
{
	int result = collect_settings_read(&collect.settings);

	collect_note("marks %d\n", (int)getpid());
	collect.started_ns = ps__os_now_ns();
	if (result == PS_OK)
		result = collect_make_profile();
	if (result == PS_OK) {
		collect.generation = ps__fork_generation();
		collect.pid = getpid();
		return PS_OK;
	}
	ps_profile_destroy(collect.profile);
	ps_topology_destroy(collect.topology);
	collect_settings_clear(&collect.settings);
	collect.profile = NULL;
	collect.topology = NULL;
	return result;
}

/* The child has a copy of the parent's memory, in any state: it makes everything anew. */
static int collect_begin_in_child(void)
{
	collect.profile = NULL;
	collect.topology = NULL;
	collect.settings = (struct collect_settings){.model = NULL};
	collect.regions = (struct ps__links){.list = NULL};
	collect.generation = ps__fork_generation();
	int result = collect_begin();
	return result == PS_OK ? PS_OK : collect_complain(result);
}

static bool collect_is_on(void)
{
	if (collect.generation == 0)
		return false;
	if (collect.generation != ps__fork_generation() && collect_begin_in_child() != PS_OK)
		return false;
	return collect.profile != NULL;
}

static int collect_define_region(struct ps_region **out, const char *name)
{
	int result = ps_region_define(out, collect.profile, name);

	if (result == PS_OK && collect.settings.one_in > 1)
		result = ps_region_set_one_in(*out, collect.settings.one_in);
	return result;
}

/* The caller has entered. */
static int collect_renew(struct collect_region *region)
{
	struct ps_region *own;

	if (!collect_is_on())
		return -1;
	if (collect_define_region(&own, region->name) != PS_OK)
		return -1;
	atomic_store_explicit(&region->region, own, memory_order_relaxed);
	atomic_store_explicit(&region->generation, collect.generation, memory_order_release);
	return 0;
}

static __attribute__((cold, noinline)) struct ps_region *
collect_own_region(struct collect_region *region)
{
	if (!collect_enter())
		return NULL;
	int cancel = ps__cancel_hold();
	int result = collect_renew(region);
	ps__cancel_release(cancel);
	collect_leave();
	return result == 0 ? atomic_load_explicit(&region->region, memory_order_relaxed) : NULL;
}

/* This process's. */
static inline struct ps_region *collect_region_of(struct ps_mark_region *mark)
{
	struct collect_region *region = (struct collect_region *)mark;

	if (__builtin_expect(
		ps__fork_is_same(atomic_load_explicit(&region->generation, memory_order_acquire)),
		1))
		return atomic_load_explicit(&region->region, memory_order_relaxed);
	return collect_own_region(region);
}

/* The profile's faults tell of an error. */
static void collect_hear_enter(struct ps_mark_region *mark)
{
	int error = errno;
	struct ps_region *region = collect_region_of(mark);

	if (region)
		ps_region_enter(region);
	errno = error;
}

static void collect_hear_leave(struct ps_mark_region *mark)
{
	int error = errno;
	struct ps_region *region = collect_region_of(mark);

	if (region)
		ps__region_leave_through(region);
	errno = error;
}

static void collect_hear_value(struct ps_mark_region *mark, int64_t value)
{
	int error = errno;
	struct ps_region *named = collect_region_of(mark);

	if (named)
		ps_region_add_value(named, value);
	errno = error;
}

static struct ps_mark_region *collect_define(const char *name);

static const struct ps_marks_listener listener = {.size = sizeof listener,
                                                  .define = collect_define,
                                                  .enter = collect_hear_enter,
                                                  .leave = collect_hear_leave,
                                                  .value = collect_hear_value};

static struct collect_region *collect_make_region(const char *name)
{
	struct collect_region *region = ps__os_calloc(1, sizeof *region + strlen(name) + 1);

	if (!region)
		return NULL;
	region->mark.listener = &listener;
	strcpy(region->name, name);
	if (collect_renew(region) == 0)
		return region;
	ps__os_free(region);
	return NULL;
}

/* The caller has entered. */
static struct ps_mark_region *collect_find(const char *name)
{
	struct ps_region *own;

	if (!collect_is_on() || collect_define_region(&own, name) != PS_OK)
		return NULL;
	struct collect_region *region = ps__links_find(&collect.regions, own, &listener);
	if (region || ps__links_reserve(&collect.regions) < 0)
		return region ? &region->mark : NULL;
	region = collect_make_region(name);
	if (!region)
		return NULL;
	ps__links_add(&collect.regions, own, &listener, region);
	return &region->mark;
}

static struct ps_mark_region *collect_define(const char *name)
{
	int error = errno;

	if (!name || !*name || !collect_enter())
		return NULL;
	int cancel = ps__cancel_hold();
	struct ps_mark_region *mark = collect_find(name);
	ps__cancel_release(cancel);
	collect_leave();
	errno = error;
	return mark;
}

/* Nothing of these may be half done in a child. */
static void collect_before_fork(void)
{
	if (!is_inside)
		pthread_mutex_lock(&collect.lock);
}

static void collect_after_fork(void)
{
	if (!is_inside)
		pthread_mutex_unlock(&collect.lock);
}

static void collect_at_exit(void)
{
	if (ps_collect_end() != PS_OK)
		collect_complain(PS_ESYS);
}

static int collect_set_handlers(void)
{
	if (collect.has_handlers)
		return PS_OK;
	if (pthread_atfork(collect_before_fork, collect_after_fork, collect_after_fork) != 0 ||
	    atexit(collect_at_exit) != 0)
		return ps__fail_memory("the report at exit");
	collect.has_handlers = true;
	return PS_OK;
}

/* The caller has entered. */
static int collect_start(void)
{
	if (collect.generation == ps__fork_generation())
		return ps__fail(PS_ECNFLCT,
		                "ps_collect_start: the marks of this process are heard already");
	if (ps__listen_current() && ps__listen_current() != &listener)
		return ps__fail(PS_ECNFLCT, "ps_collect_start: a profile hears the marks of this "
		                            "process: destroy it first");
	int result = collect_set_handlers();
	if (result == PS_OK)
		result = collect_begin();
	if (result == PS_OK)
		ps__listen_set(&listener);
	return result;
}

int ps_collect_start(void)
{
	if (!collect_enter())
		return ps__fail(PS_ECNFLCT, "ps_collect_start: a signal handler has interrupted "
		                            "another call of the collector");
	int cancel = ps__cancel_hold();
	int result = collect_start();
	ps__cancel_release(cancel);
	collect_leave();
	return result;
}

#define TRIED_VISITS 256

/* Measures a visit here and now, of a region that is in no report any more. NaN if it can't be
 * tried. */
static double collect_try_visits(void)
{
	struct ps_region *region;
	double least = (double)NAN;

	if (ps_region_define(&region, collect.profile, "perfsage") != PS_OK)
		return least;
	for (int visit = 0; visit < TRIED_VISITS; visit++) {
		/* Not sampled, whatever the budget. */
		if (ps_region_set_one_in(region, 1) != PS_OK)
			return (double)NAN;
		uint64_t begun = ps__os_now_ns();
		if (ps_region_enter(region) != PS_OK || ps_region_leave(region) != PS_OK)
			return (double)NAN;
		double taken = (double)(ps__os_now_ns() - begun);
		if (visit == 0 || taken < least)
			least = taken;
	}
	return least;
}

/* The caller has entered. */
static int collect_report(void)
{
	struct collect_report report = {.settings = &collect.settings};
	struct ps_paths *paths;

	/* Regions that are open in the calling thread end here. If its counters are gone, what was
	 * counted before is there, and it is a fault of the profile's. */
	ps_profile_leave(collect.profile);
	int result = ps_paths_create(&paths, collect.profile);
	if (result != PS_OK)
		return result;
	report.paths = paths;
	report.root = ps_topology_root(collect.topology);
	report.elapsed_s = (double)(ps__os_now_ns() - collect.started_ns) / 1e9;
	collect_report_sum(&report);
	report.visit_ns = collect_try_visits();
	result = collect_report_write(&report);
	if (result == PS_OK)
		collect_note("heard %d %llu %llu\n", (int)getpid(),
		             (unsigned long long)report.visits,
		             (unsigned long long)report.on_cpu_ns);
	ps_paths_destroy(paths);
	return result;
}

int ps_collect_end(void)
{
	int result = PS_OK;

	/* Nor what a child of vfork shares. */
	if (!collect_enter())
		return ps__fail(PS_ECNFLCT, "ps_collect_end: a signal handler has interrupted "
		                            "another call of the collector");
	int cancel = ps__cancel_hold();
	if (collect.generation == ps__fork_generation() && collect.pid == getpid()) {
		ps__listen_set(NULL);
		result = collect_report();
		/* Other threads may be in the midst of a visit: what they use stays. */
		collect.generation = 0;
	}
	ps__cancel_release(cancel);
	collect_leave();
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts a process as a whole. Its listener stands between the marks and the profile's regions
 * because of fork. A child finds the parent's listener in the slots of its marks, and gets a
 * profile of its own at its first mark.
 */
/* This file's own code must have no marks. */
#define PERFSAGE_NO_MARKS
#include "collect/flush.h"
#include "collect/hush.h"
#include "collect/process.h"
#include "collect/threads.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/stack.h"
#include "region/listen.h"
#include "region/mark_names.h"
#include "region/profile.h"

#include <errno.h>
#include <perfsage/collect.h>
#include <perfsage/sampling.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A region, as a mark refers to it. */
struct collect_region {
	struct ps__mark_name named;  /* must be the first member */
	_Atomic uint64_t generation; /* of the process that made `region`; stored last */
	struct ps_region *_Atomic region;
	char name[];
};

static struct {
	/* The signal mask before the lock was taken. Signals are blocked meanwhile, because a
	 * handler that jumps out of the call would leave the lock taken */
	struct ps__held held;
	uint64_t generation; /* of the process that is counted; 0: none */
	pid_t pid;           /* a child of vfork has another pid, and the same memory */
	bool has_handler;    /* the handler of exit is registered */
	/* true if the preloaded library began; the program's ps_collect_end then changes nothing */
	bool is_preloaded;
	struct collect_process process;
	struct ps__mark_names names; /* names of the marks, each in a struct collect_region */
	/* The profile while marks are counted, otherwise NULL. Read without the lock */
	struct ps_profile *_Atomic heard;
} collect; /* protected by PS__LOCK_COLLECT */

/* True while the thread is in a call of the collector. A signal handler must not wait for the call
 * that it interrupted. */
static _Thread_local volatile bool is_inside;

static bool collect_enter(void)
{
	if (is_inside)
		return false;
	struct ps__held held;
	ps__signals_hold(&held);
	is_inside = true;
	atomic_signal_fence(memory_order_seq_cst);
	ps__lock_take(PS__LOCK_COLLECT);
	collect.held = held;
	return true;
}

static void collect_leave(void)
{
	struct ps__held held = collect.held;

	ps__lock_release(PS__LOCK_COLLECT);
	atomic_signal_fence(memory_order_seq_cst);
	is_inside = false;
	ps__signals_release(&held);
}

/* Says on stderr why the process is not counted. The program goes on. */
static int collect_complain(int code)
{
	struct collect_hush hush;

	collect_hush_begin(&hush);
	dprintf(STDERR_FILENO, "perfsage: process %d: %s; the program goes on\n", (int)getpid(),
	        ps_error_detail());
	collect_hush_end(&hush);
	return code;
}

static void collect_flush(void);
static void collect_finish(void);

static void collect_begin_flushing(void)
{
	const struct collect_flush what = {.seconds = collect.process.settings.flush_s,
	                                   .flush = collect_flush,
	                                   .finish = collect_finish};

	collect.process.own_threads = what.seconds > 0 && collect_flush_start(&what);
}

/* Begins to count. Called after collect_enter. */
static int collect_begin(void)
{
	int result = collect_process_begin(&collect.process);

	if (result != PS_OK)
		return result;
	collect.generation = ps__fork_generation();
	collect.pid = getpid();
	atomic_store(&collect.heard, collect.process.profile);
	collect_begin_flushing();
	return PS_OK;
}

/* Begins in a forked child. The child's copy of the parent's memory may be in any state, so
 * everything is made anew, except the settings, which never change. */
static int collect_begin_in_child(void)
{
	atomic_store(&collect.heard, NULL);
	collect.process = (struct collect_process){.settings = collect.process.settings};
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
	return collect.process.profile != NULL;
}

static int collect_define_region(struct ps_region **out, const char *name)
{
	int result = ps_region_define(out, collect.process.profile, name);

	if (result == PS_OK && collect.process.settings.one_in > 1)
		result = ps_region_set_one_in(*out, collect.process.settings.one_in);
	return result;
}

/* Makes this process's region of a mark. Called after collect_enter. */
static int collect_renew(struct collect_region *region)
{
	struct ps_region *own;

	if (!collect_is_on())
		return -1;
	if (collect_define_region(&own, region->name) != PS_OK)
		return -1;
	/* Pairs with collect_region_of: all starts of a process have one generation. */
	atomic_store_explicit(&region->region, own, memory_order_release);
	atomic_store_explicit(&region->generation, collect.generation, memory_order_release);
	return 0;
}

/* Notes that a mark was not counted. The code that it marks is in no region. */
static void collect_miss(enum ps__fault fault)
{
	struct ps_profile *profile = atomic_load(&collect.heard);

	if (profile)
		ps__profile_note(profile, fault);
}

static __attribute__((cold, noinline)) struct ps_region *
collect_own_region(struct collect_region *region)
{
	if (!collect_enter()) {
		collect_miss(PS__FAULT_IN_HANDLER);
		return NULL;
	}
	int cancel = ps__cancel_hold();
	int result = collect_renew(region);
	ps__cancel_release(cancel);
	collect_leave();
	if (result != 0)
		collect_miss(PS__FAULT_NO_MEMORY);
	return result == 0 ? atomic_load_explicit(&region->region, memory_order_acquire) : NULL;
}

/* Returns this process's region of a mark; NULL if it can't be made. */
static inline struct ps_region *collect_region_of(struct ps_mark_region *mark)
{
	struct collect_region *region = (struct collect_region *)mark;

	if (__builtin_expect(
		ps__fork_is_same(atomic_load_explicit(&region->generation, memory_order_acquire)),
		1))
		return atomic_load_explicit(&region->region, memory_order_acquire);
	return collect_own_region(region);
}

/* These calls report errors only as faults of the profile. */
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
	strcpy(region->name, name);
	region->named.mark = (struct ps_mark_region){.listener = &listener, .name = region->name};
	if (collect_renew(region) == 0)
		return region;
	ps__os_free(region);
	return NULL;
}

/* Finds or makes the region of a name. Called after collect_enter. */
static struct ps__mark_name *collect_get(const char *name)
{
	struct ps__mark_name *found = ps__mark_names_find(&collect.names, name);
	struct collect_region *made;

	if (found)
		return found;
	made = collect_make_region(name);
	if (!made)
		return NULL;
	ps__mark_names_add(&collect.names, &made->named);
	return &made->named;
}

static struct ps_mark_region *collect_define(const char *name)
{
	int error = errno;

	if (!name || !*name) {
		collect_miss(PS__FAULT_NO_NAME);
		return NULL;
	}
	struct ps__mark_name *named = ps__mark_names_find(&collect.names, name);
	if (named)
		return &named->mark;
	if (!collect_enter()) {
		collect_miss(PS__FAULT_IN_HANDLER);
		return NULL;
	}
	int cancel = ps__cancel_hold();
	named = collect_get(name);
	ps__cancel_release(cancel);
	collect_leave();
	if (!named)
		collect_miss(PS__FAULT_NO_MEMORY);
	errno = error;
	return named ? &named->mark : NULL;
}

static int collect_stop(bool is_at_exit);

static void collect_at_exit(void)
{
	ps__member_give_up_call();
	if (collect_stop(true) != PS_OK)
		collect_complain(PS_ESYS);
}

static int collect_set_handler(void)
{
	if (collect.has_handler)
		return PS_OK;
	if (atexit(collect_at_exit) != 0)
		return ps__fail_memory("the report at exit");
	collect.has_handler = true;
	return PS_OK;
}

/* Makes a mark of an earlier start find its region anew when a thread next passes it. Doesn't store
 * 0, because ps__fork_mark holds 0 in a child that hasn't called ps__fork_generation yet. */
static void collect_forget_region(struct ps__mark_name *named)
{
	atomic_store(&((struct collect_region *)named)->generation, UINT64_MAX);
}

/* Starts the collector. Called after collect_enter. */
static int collect_start(void)
{
	/* A forked child whose own beginning failed hears nothing. */
	if (collect.generation == ps__fork_generation() && atomic_load(&collect.heard))
		return ps__fail(PS_ECNFLCT,
		                "ps_collect_start: the marks of this process are heard already: %s",
		                collect.is_preloaded ? "by perfsage stat --regions or the "
		                                       "preloaded library, to the end"
		                                     : "call ps_collect_end first");
	if (ps__listen_current() && ps__listen_current() != &listener)
		return ps__fail(PS_ECNFLCT, "ps_collect_start: a profile hears the marks of this "
		                            "process: destroy it first");
	int result = collect_set_handler();
	collect_process_retire(&collect.process);
	/* A forked child has made no start itself, so it has no past. */
	if (collect.pid != getpid())
		collect.process = (struct collect_process){.profile = NULL};
	ps__mark_names_visit(&collect.names, collect_forget_region);
	if (result == PS_OK)
		result = collect_begin();
	if (result != PS_OK)
		return result;
	collect.is_preloaded = ps_preload_is_starting && ps_preload_is_starting();
	ps__listen_set(&listener);
	return PS_OK;
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

static bool collect_is_own(void)
{
	return collect.generation == ps__fork_generation() && collect.pid == getpid();
}

static void collect_flush(void)
{
	if (!collect_enter())
		return;
	if (collect_is_own())
		collect_process_flush(&collect.process);
	collect_leave();
}

/* Ends the collector. Called after collect_enter. Marks are counted until the report is made.
 * Otherwise a thread that goes on would stay in the region of its last counted mark, and its later
 * counts would go there. */
static int collect_end(bool measures)
{
	int result = PS_OK;

	if (collect_is_own()) {
		result = collect_process_report(&collect.process, measures);
		ps__listen_set(NULL);
		/* Other threads may be inside a visit, so the profile is kept. Only they can end
		 * their members, so their counters go on until they end. */
		atomic_store(&collect.heard, NULL);
		collect.generation = 0;
	}
	return result;
}

/* Runs in the thread of flush.c, while the program's own threads go on. */
static void collect_finish(void)
{
	if (!collect_enter())
		return;
	int result = collect_end(false);
	collect_leave();
	if (result != PS_OK)
		collect_complain(result);
}

static int collect_stop(bool is_at_exit)
{
	if (!collect_enter())
		return ps__fail(PS_ECNFLCT, "ps_collect_end: a signal handler has interrupted "
		                            "another call of the collector");
	bool goes_on = collect.is_preloaded && !is_at_exit;
	int cancel = ps__cancel_hold();
	int result = goes_on ? PS_OK : collect_end(true);
	ps__cancel_release(cancel);
	collect_leave();
	/* Only after the report: a signal that arrives while the report is written waits for the
	 * report. */
	if (!goes_on)
		collect_flush_stop();
	return result;
}

/* If the preloaded library began, the program's own start was refused. Then this call does nothing,
 * and marks are still counted. */
int ps_collect_end(void)
{
	return collect_stop(false);
}

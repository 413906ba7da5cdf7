/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns the marks of this process into visits of a profile's regions, and numbers in them.
 *
 * A call site keeps the pointer that it was given, even after the profile is destroyed. So it is
 * given a struct marks_name, which is never freed. This struct has the region of the profile that
 * listens now.
 */
#define PERFSAGE_NO_MARKS
#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "region/listen.h"
#include "region/mark_names.h"
#include "region/profile.h"

#include <errno.h>
#include <string.h>

struct marks_name {
	struct ps__mark_name named; /* must be the first member */
	/* Region of the profile that listens; NULL: not defined yet */
	_Atomic(struct ps_region *) region;
	char name[];
};

static struct ps__mark_names marks_names; /* changed under PS__LOCK_MARKS */
static struct ps_profile *marks_profile;  /* the listening one; under PS__LOCK_MARKS */
static const struct ps_marks_listener marks_listener;

/* Notes a fault for a mark that can't be heard. Returns NULL. */
static struct ps_mark_region *marks_miss(enum ps__fault fault)
{
	struct ps_profile *profile = __atomic_load_n(&marks_profile, __ATOMIC_ACQUIRE);

	if (profile)
		ps__profile_note(profile, fault);
	return NULL;
}

/* Finds or makes a name; NULL if out of memory. The caller holds the lock. Another thread may have
 * added the name since the caller looked. */
static struct ps__mark_name *marks_get(const char *name)
{
	struct ps__mark_name *found = ps__mark_names_find(&marks_names, name);
	struct marks_name *made;

	if (found)
		return found;
	made = ps__os_calloc(1, sizeof *made + strlen(name) + 1);
	if (!made)
		return NULL;
	strcpy(made->name, name);
	made->named.mark = (struct ps_mark_region){.listener = &marks_listener, .name = made->name};
	ps__mark_names_add(&marks_names, &made->named);
	return &made->named;
}

/* False in a signal handler that interrupted a profile's call, because that call may hold the lock:
 * a new name can't be made, and the profile notes a fault. A call that a jump left is repaired. */
static bool marks_may_make(void)
{
	struct ps_profile *profile = __atomic_load_n(&marks_profile, __ATOMIC_ACQUIRE);

	return !ps__own.is_inside || (profile && ps__profile_may_begin(profile, "a mark") == PS_OK);
}

/* Finds or makes the mark of a name; NULL if that fails. */
static struct ps_mark_region *marks_define(const char *name)
{
	int error = errno;

	if (!name || !*name)
		return marks_miss(PS__FAULT_NO_NAME);
	struct ps__mark_name *found = ps__mark_names_find(&marks_names, name);
	if (found)
		return &found->mark;
	if (!marks_may_make()) {
		errno = error;
		return NULL;
	}
	ps__own.is_inside = true;
	atomic_signal_fence(memory_order_seq_cst);
	struct ps__held held;
	ps__signals_hold(&held);
	ps__lock_take(PS__LOCK_MARKS);
	found = marks_get(name);
	ps__lock_release(PS__LOCK_MARKS);
	ps__signals_release(&held);
	atomic_signal_fence(memory_order_seq_cst);
	ps__own.is_inside = false;
	errno = error;
	return found ? &found->mark : marks_miss(PS__FAULT_NO_MEMORY);
}

/* Returns the name's region in the profile that listens; NULL if that fails. In a signal handler
 * that interrupted a call, ps_region_define fails. */
static __attribute__((cold, noinline)) struct ps_region *marks_resolve(struct marks_name *named)
{
	struct ps_profile *profile = __atomic_load_n(&marks_profile, __ATOMIC_ACQUIRE);
	struct ps_region *region;

	if (!profile)
		return NULL;
	int result = ps_region_define(&region, profile, named->name);
	if (result != PS_OK) {
		/* For PS_ECNFLCT ps_region_define has noted a fault. */
		if (result != PS_ECNFLCT)
			marks_miss(PS__FAULT_NO_MEMORY);
		return NULL;
	}
	atomic_store_explicit(&named->region, region, memory_order_release);
	return region;
}

static inline struct ps_region *marks_region_of(struct ps_mark_region *mark)
{
	struct marks_name *named = (struct marks_name *)mark;
	struct ps_region *region = atomic_load_explicit(&named->region, memory_order_acquire);

	return __builtin_expect(region != NULL, 1) ? region : marks_resolve(named);
}

/* The program's errno stays as it is. */
static void marks_enter(struct ps_mark_region *mark)
{
	int error = errno;
	struct ps_region *region = marks_region_of(mark);

	if (region)
		ps_region_enter(region);
	errno = error;
}

/* If the region isn't open, a fault of the profile is noted. */
static void marks_leave(struct ps_mark_region *mark)
{
	int error = errno;
	struct ps_region *region = marks_region_of(mark);

	if (region)
		ps__region_leave_through(region);
	errno = error;
}

static void marks_add_value(struct ps_mark_region *mark, int64_t value)
{
	int error = errno;
	struct ps_region *named = marks_region_of(mark);

	if (named)
		ps_region_add_value(named, value);
	errno = error;
}

static const struct ps_marks_listener marks_listener = {
    .size = sizeof(struct ps_marks_listener),
    .define = marks_define,
    .enter = marks_enter,
    .leave = marks_leave,
    .value = marks_add_value,
};

static void marks_forget_region(struct ps__mark_name *named)
{
	atomic_store_explicit(&((struct marks_name *)named)->region, NULL, memory_order_release);
}

/* Sets the profile that listens, and forgets the names' regions. The caller holds the lock. */
static void marks_change(struct ps_profile *profile)
{
	__atomic_store_n(&marks_profile, profile, __ATOMIC_RELEASE);
	ps__mark_names_visit(&marks_names, marks_forget_region);
}

static void marks_unlisten(struct ps_profile *profile)
{
	bool was_inside = ps__own.is_inside;

	ps__stack_noted = UINTPTR_MAX; /* nothing that begins here can be left by a jump */
	ps__own.is_inside = true;
	atomic_signal_fence(memory_order_seq_cst);
	ps__lock_take(PS__LOCK_MARKS);
	if (marks_profile == profile) {
		ps__listen_set(NULL);
		marks_change(NULL);
	}
	ps__lock_release(PS__LOCK_MARKS);
	atomic_signal_fence(memory_order_seq_cst);
	ps__own.is_inside = was_inside;
}

/* A profile that the process has inherited by fork() doesn't listen any more. */
static int marks_listen(struct ps_profile *profile)
{
	if (marks_profile && marks_profile != profile &&
	    ps__fork_is_same(marks_profile->generation))
		return ps__fail(PS_ECNFLCT,
		                "ps_profile_listen: another profile hears the marks of this "
		                "process: destroy it first");
	const struct ps_marks_listener *current = ps__listen_current();
	if (current && current != &marks_listener)
		return ps__fail(PS_ECNFLCT, "ps_profile_listen: perfsage stat --regions, or the "
		                            "preloaded library, hears the marks of this process "
		                            "already: run without it, or go on without listening");
	if (marks_profile != profile)
		marks_change(profile);
	profile->unlisten = marks_unlisten;
	ps__listen_set(&marks_listener);
	return PS_OK;
}

int ps_profile_listen(struct ps_profile *profile)
{
	if (!profile)
		return ps__fail(PS_EINVAL, "ps_profile_listen: the profile is NULL");
	int result = ps__profile_begin(profile, "ps_profile_listen");
	if (result != PS_OK)
		return result;
	ps__lock_take(PS__LOCK_MARKS);
	result = marks_listen(profile);
	ps__lock_release(PS__LOCK_MARKS);
	ps__profile_end();
	return result;
}

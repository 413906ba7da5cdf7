/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fills the slots through which marks call their listener. Each module with marks has a slot. The
 * slots of loaded modules are found by their notes (notes.c). A module that is loaded later calls
 * ps_marks_announce.
 *
 * PS__LOCK_LISTEN is held while the dynamic linker's list is walked. This can't deadlock: a thread
 * that loads a module holds another lock of the linker when the module announces itself, never the
 * list's lock.
 */
/* The library has no marks of its own. */
#define PERFSAGE_NO_MARKS
#include "region/listen.h"

#include "base/lock.h"
#include "base/stack.h"
#include "region/notes.h"

#include <perfsage/region.h>

static const struct ps_marks_listener *listening; /* changed under PS__LOCK_LISTEN */

/* Signals are held: a handler could leave the call by a jump, or end the process, whose report
 * needs the lock. */
static void listen_begin(struct ps__held *held)
{
	ps__signals_hold(held);
	ps__lock_take(PS__LOCK_LISTEN);
}

static void listen_end(const struct ps__held *held)
{
	ps__lock_release(PS__LOCK_LISTEN);
	ps__signals_release(held);
}

struct listen_walk {
	/* Only slots with this value are filled; NULL: all are */
	const struct ps_marks_listener *instead_of;
	const struct ps_marks_listener *listener;
	bool is_count; /* slots are only counted, not filled */
	size_t count;
};

static int listen_visit(struct dl_phdr_info *module, size_t size, void *data)
{
	struct listen_walk *walk = data;
	const struct ps_marks_listener **slot = ps__notes_slot(module);

	(void)size;
	if (!slot)
		return 0;
	walk->count++;
	if (!walk->is_count && (!walk->instead_of || *slot == walk->instead_of))
		__atomic_store_n(slot, walk->listener, __ATOMIC_RELEASE);
	return 0;
}

size_t ps__listen_set(const struct ps_marks_listener *listener)
{
	struct ps__held held;

	listen_begin(&held);
	struct listen_walk walk = {.listener = listener,
	                           .instead_of = listener ? NULL : listening,
	                           .is_count = !listener && !listening};
	listening = listener;
	dl_iterate_phdr(listen_visit, &walk);
	listen_end(&held);
	return walk.count;
}

static int listen_find(struct dl_phdr_info *module, size_t size, void *data)
{
	const struct ps_marks_listener **found = data, **slot = ps__notes_slot(module);

	(void)size;
	if (slot)
		*found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	return *found != NULL;
}

/* A process can have two copies of the library, the program's and the collector's: the other copy
 * may have filled the slots. */
const struct ps_marks_listener *ps__listen_current(void)
{
	struct ps__held held;

	listen_begin(&held);
	const struct ps_marks_listener *current = listening;
	if (!current)
		dl_iterate_phdr(listen_find, &current);
	listen_end(&held);
	return current;
}

void ps_marks_announce(const struct ps_marks_listener **slot)
{
	struct ps__held held;

	listen_begin(&held);
	if (slot && listening)
		__atomic_store_n(slot, listening, __ATOMIC_RELEASE);
	listen_end(&held);
}

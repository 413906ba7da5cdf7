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
#include "region/notes.h"
#include "region/profile.h"

static const struct ps_marks_listener *listening; /* changed under PS__LOCK_LISTEN */

/* Takes the lock. is_inside is set first, so that a mark in a signal handler doesn't wait for the
 * lock that its own thread holds. */
static bool listen_begin(void)
{
	bool was_inside = ps__own.is_inside;

	ps__own.is_inside = true;
	atomic_signal_fence(memory_order_seq_cst);
	ps__lock_take(PS__LOCK_LISTEN);
	return was_inside;
}

static void listen_end(bool was_inside)
{
	ps__lock_release(PS__LOCK_LISTEN);
	atomic_signal_fence(memory_order_seq_cst);
	ps__own.is_inside = was_inside;
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
	bool was_inside = listen_begin();
	struct listen_walk walk = {.listener = listener,
	                           .instead_of = listener ? NULL : listening,
	                           .is_count = !listener && !listening};

	listening = listener;
	dl_iterate_phdr(listen_visit, &walk);
	listen_end(was_inside);
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
	bool was_inside = listen_begin();
	const struct ps_marks_listener *current = listening;

	if (!current)
		dl_iterate_phdr(listen_find, &current);
	listen_end(was_inside);
	return current;
}

void ps_marks_announce(const struct ps_marks_listener **slot)
{
	bool was_inside = listen_begin();

	if (slot && listening)
		__atomic_store_n(slot, listening, __ATOMIC_RELEASE);
	listen_end(was_inside);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports or writes visits that take long, one by one. While a visit of a region with a limit is
 * open, each boundary also adds its counts to a node of this visit.
 */
#include "region/slow.h"

#include "base/os.h"
#include "region/paths.h"
#include "region/profile.h"

/* A watched visit. A thread's watches are a list that only grows, so a jump can't lose one: the
 * first of them, up to member->watches.open, are those of the open visits. */
struct ps__watch {
	struct ps__watch *outer; /* the watched visit around this one */
	struct ps__watch *inner; /* the next element */
	const struct ps__slow *slow;
	size_t depth;         /* depth of its level, from 1 on */
	bool is_lost;         /* its counts aren't known */
	struct ps__node node; /* has its counts */
};

/* Clears the counts of an earlier visit. A cell whose time is 0 has none. */
static void slow_clear(struct ps__watch *watch)
{
	struct ps__node_cell *cell = atomic_load_explicit(&watch->node.cells, memory_order_relaxed);

	for (; cell; cell = cell->next) {
		size_t width = ps__recording_width(cell->history->recording);
		for (size_t word = 0; word <= width; word++)
			ps__store_word(&cell->words[word], 0);
		atomic_store_explicit(&cell->mark, 0, memory_order_relaxed);
	}
}

/* Returns the first watch that isn't open; makes it if needed. NULL if out of memory. */
static struct ps__watch *slow_get_watch(struct ps__member *member)
{
	struct ps__watch *outer = member->watches.open;
	struct ps__watch **place = outer ? &outer->inner : &member->watches.first;
	struct ps__held held;

	if (*place) {
		slow_clear(*place);
		return *place;
	}
	ps__signals_hold(&held);
	struct ps__watch *watch = ps__os_calloc(1, sizeof *watch);
	if (watch)
		watch->outer = outer;
	*place = watch;
	ps__signals_release(&held);
	return watch;
}

void ps__slow_begin(struct ps__member *member, const struct ps__slow *slow, int boundary)
{
	if (!slow->callback && !slow->writer)
		return;
	struct ps__watch *watch = slow_get_watch(member);
	if (!watch) {
		ps__profile_note(member->profile, PS__FAULT_NO_MEMORY);
		return;
	}
	watch->slow = slow;
	watch->depth = member->depth + 1;
	watch->is_lost = boundary != PS_OK;
	member->watches.open = watch;
}

void ps__slow_add(struct ps__member *member, const struct ps__taken *taken)
{
	for (struct ps__watch *watch = member->watches.open; watch; watch = watch->outer) {
		struct ps__node_cell *cell = ps__node_cell(&watch->node, taken->history);
		if (cell)
			ps__cell_add(cell, taken);
		else
			watch->is_lost = true;
	}
}

void ps__slow_lose(struct ps__member *member)
{
	for (struct ps__watch *watch = member->watches.open; watch; watch = watch->outer)
		watch->is_lost = true;
}

/* Each loss is noted first: a further jump may leave this function, too. */
void ps__slow_recover(struct ps__member *member)
{
	struct ps__watches *watches = &member->watches;
	struct ps__held held;

	while (watches->open && watches->open->depth > member->depth) {
		ps__profile_note(member->profile, PS__FAULT_UNREPORTED);
		watches->open = watches->open->outer;
	}
	if (!watches->reported)
		return;
	ps__signals_hold(&held);
	ps_paths_destroy(watches->reported);
	watches->reported = NULL;
	ps__signals_release(&held);
}

/* Makes the paths of one visit; NULL if out of memory. */
static struct ps_paths *slow_make_paths(const struct ps__member *member, struct ps__watch *watch,
                                        uint64_t visit_ns)
{
	struct ps_paths *paths =
	    ps__paths_make(member->profile, member->profile->ended.all->events);
	struct ps_path *path = paths ? paths->root : NULL;

	for (size_t depth = 0; path && depth < watch->depth; depth++)
		path = ps__paths_get_path(paths, path, member->levels[depth].node->region, NULL);
	watch->node.path = path;
	watch->node.visits = (struct ps__visits){.shortest_ns = UINT64_MAX, .wall_ns = visit_ns};
	ps__node_add_visit(&watch->node, visit_ns);
	if (path && ps__paths_add_node(&watch->node, !watch->is_lost) == 0)
		return paths;
	ps_paths_destroy(paths);
	return NULL;
}

static void slow_write(struct ps__member *member, struct ps__watch *watch, uint64_t left_ns)
{
	const struct ps__slow *slow = watch->slow;
	const struct ps__visit visit = {.depth = watch->depth,
	                                .counts = watch->is_lost ? NULL : &watch->node,
	                                .entered_ns = member->levels[watch->depth - 1].entered_ns,
	                                .left_ns = left_ns};
	struct ps__held held;

	ps__signals_hold(&held);
	if (!slow->writer->write(slow->context, member, &visit))
		ps__profile_note(member->profile, PS__FAULT_UNREPORTED);
	member->watches.open = watch->outer;
	ps__signals_release(&held);
}

static void slow_report(struct ps__member *member, struct ps__watch *watch, uint64_t left_ns)
{
	const struct ps__slow *slow = watch->slow;
	uint64_t entered_ns = member->levels[watch->depth - 1].entered_ns;
	struct ps__held held;

	ps__signals_hold(&held);
	struct ps_paths *paths = slow_make_paths(member, watch, left_ns - entered_ns);
	member->watches.reported = paths;
	if (!paths) {
		ps__profile_note(member->profile, PS__FAULT_NO_MEMORY);
		member->watches.open = watch->outer;
	}
	/* A jump out of a handler that comes now leaves the visit unreported: ps__slow_recover. */
	ps__signals_release(&held);
	if (!paths)
		return;
	/* Otherwise a call in the callback could conclude that a jump left this call. */
	uintptr_t noted = ps__stack_noted;
	ps__stack_noted = UINTPTR_MAX;
	member->watches.open = watch->outer;
	slow->callback(slow->context, paths->newest, entered_ns, left_ns);
	ps__stack_noted = noted;
	ps__signals_hold(&held);
	ps_paths_destroy(paths);
	member->watches.reported = NULL;
	ps__signals_release(&held);
}

void ps__slow_end(struct ps__member *member, uint64_t left_ns, int boundary)
{
	struct ps__watch *watch = member->watches.open;

	if (watch->depth != member->depth + 1)
		return;
	watch->is_lost |= boundary != PS_OK;
	if (left_ns - member->levels[member->depth].entered_ns <= watch->slow->limit_ns)
		member->watches.open = watch->outer;
	else if (watch->slow->writer)
		slow_write(member, watch, left_ns);
	else
		slow_report(member, watch, left_ns);
}

void ps__slow_end_thread(struct ps__member *member)
{
	struct ps__visit_stream *next;
	struct ps__watch *inner;

	for (struct ps__visit_stream *stream = member->watches.streams; stream; stream = next) {
		next = stream->next;
		stream->writer->end(stream);
	}
	for (struct ps__watch *watch = member->watches.first; watch; watch = inner) {
		inner = watch->inner;
		ps__node_free_cells(&watch->node);
		ps__os_free(watch);
	}
	ps_paths_destroy(member->watches.reported);
}

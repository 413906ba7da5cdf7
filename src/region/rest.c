/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the counts of another thread since its last boundary: the kernel's totals minus the counts
 * of the thread's nodes. These counts belong to the innermost counted region of the thread, if the
 * thread makes no boundary meanwhile. Otherwise they aren't added: the thread's boundaries add them
 * to its nodes.
 */
#include "region/rest.h"

#include "base/os.h"
#include "locate/locate.h"
#include "region/paths.h"
#include "region/profile.h"
#include "store/attrmap.h"
#include "topology/tree.h"

#include <perfsage/thread.h>

#define MOST_ATTEMPTS 4

/* The counts that are missing in the nodes. */
struct rest {
	struct ps_paths *paths;
	const struct ps__member *member;
	const struct ps__node *counted; /* node that got the thread's counts at the beginning */
	struct ps_path *path;           /* path that gets the counts */
	/* Path that gets the time; differs from path if the last boundary failed */
	struct ps_path *innermost;
	bool has_failed;
	const struct ps__recording *recording;
	const struct ps__peeked *peeked;
	size_t count; /* number of elements of peeked, and of rows */
	/* As in a history; the time of a row is 0 if no counts are missing */
	_Atomic uint64_t *rows;
	uint64_t now_ns;
};

/* Sets *sequences, which grows with each boundary of the thread. False if the thread is at a
 * boundary now, and may have read counters already. */
static bool rest_look(const struct ps__member *member, uint64_t *sequences)
{
	uint64_t odd = 0;

	*sequences = 0;
	for (const struct ps__node *node = member->root; node;
	     node = atomic_load_explicit(&node->next, memory_order_acquire)) {
		uint64_t sequence = atomic_load_explicit(&node->sequence, memory_order_acquire);
		odd |= sequence & 1;
		*sequences += sequence;
	}
	return !odd && !ps__set_is_busy(member->set);
}

/* As rest_look, but first waits for the end of the boundary that is being made: else the reading
 * would lack counts that an earlier reading had. Does not wait forever, because the set stays busy
 * if a jump left the call. Each such call is waited for once. */
static bool rest_begin(struct ps__member *member, uint64_t *sequences)
{
	if (rest_look(member, sequences))
		return true;
	if (*sequences + 1 == member->last.given_up)
		return false;
	unsigned turn = 0;
	while (turn < PS__MOST_TURNS && ps__set_is_busy(member->set))
		ps__await_turn(turn++);
	if (turn == PS__MOST_TURNS)
		member->last.given_up = *sequences + 1;
	return rest_look(member, sequences);
}

/* True if the thread has made a boundary since rest_begin. All earlier loads are acquiring, so they
 * come before the loads of rest_look. */
static bool rest_has_gone_on(const struct ps__member *member, uint64_t begun)
{
	uint64_t sequences;

	return !rest_look(member, &sequences) || sequences != begun;
}

static size_t rest_width(const struct rest *rest)
{
	return ps__recording_width(rest->recording);
}

/* Returns the index of a hardware thread's row; SIZE_MAX if no counter counts there. */
static size_t rest_index(const struct rest *rest, const struct ps_thread *thread)
{
	int cpu = ps_thread_cpu(thread);

	for (size_t index = 0; index < rest->count; index++) {
		if (!rest->peeked[index].is_split || rest->peeked[index].cpu == cpu)
			return index;
	}
	return SIZE_MAX;
}

/* Sums up the nodes' counts by row. The index is kept from cell to cell, because most cells are of
 * the same few hardware threads. */
static void rest_sum_known(const struct rest *rest, uint64_t *known)
{
	const struct ps_thread *last = NULL;
	size_t index = SIZE_MAX;

	for (const struct ps__node *node = rest->member->root; node;
	     node = atomic_load_explicit(&node->next, memory_order_acquire)) {
		for (struct ps__node_cell *cell =
		         atomic_load_explicit(&node->cells, memory_order_acquire);
		     cell; cell = cell->next) {
			if (cell->history->thread != last)
				index = rest_index(rest, cell->history->thread);
			last = cell->history->thread;
			for (size_t word = 0; index != SIZE_MAX && word < rest_width(rest); word++)
				known[index * rest_width(rest) + word] += atomic_load_explicit(
				    &cell->words[1 + word], memory_order_acquire);
		}
	}
}

static _Atomic uint64_t *rest_row(const struct rest *rest, size_t index)
{
	return rest->rows + index * (1 + rest_width(rest));
}

static const struct ps_thread *rest_thread(const struct rest *rest, size_t index)
{
	return ps_topology_thread(rest->member->profile->root->topology, rest->peeked[index].cpu);
}

/* Fills a row with the totals minus the known counts. If a total is less than what is known, for
 * example because a counter was reset, the row is marked as empty. In a set that is split by CPU,
 * the running time is also the enabled time. */
static void rest_fill_row(const struct rest *rest, size_t index, const uint64_t *known)
{
	const struct ps__peeked *peeked = &rest->peeked[index];
	size_t times = 2 * rest->recording->groups;
	_Atomic uint64_t *row = rest_row(rest, index);
	bool is_missing = false, is_reset = false;

	for (size_t word = 0; word < rest_width(rest); word++) {
		bool is_enabled = word < times && word % 2 == 0;
		size_t from = is_enabled && peeked->is_split ? word + 1 : word;
		uint64_t missing = peeked->totals[from] - known[from];
		is_missing |= missing > 0;
		is_reset |= (int64_t)missing < 0;
		atomic_store_explicit(&row[1 + word], missing, memory_order_relaxed);
	}
	atomic_store_explicit(&row[0], is_missing && !is_reset ? rest->now_ns : 0,
	                      memory_order_relaxed);
}

static int rest_add_row(const struct rest *rest, size_t index)
{
	const struct ps_thread *thread = rest_thread(rest, index);
	const struct ps__history history = {.recording = (struct ps__recording *)rest->recording,
	                                    .thread = (struct ps_thread *)thread};
	_Atomic uint16_t mark = rest->peeked[index].mark;
	const struct ps__history_row row = {.words = rest_row(rest, index), .mark = &mark};

	if (atomic_load_explicit(&row.words[0], memory_order_relaxed) == 0)
		return 0;
	struct ps__part *part = ps__paths_get_part(rest->path, thread);
	if (!part)
		return -1;
	for (size_t event = 0; event < rest->paths->events; event++) {
		struct ps_value value = {0};
		ps__history_show(&history, row, event, &value);
		ps__paths_merge(part, event, &value);
		if (value.attribution == PS_ATTRIBUTION_LAST_CPU && value.raw > 0)
			rest->path->doubt |= PS__HAS_UNSPLIT;
	}
	part->threads++;
	if (rest->recording->groups && rest->path->visits.on_cpu_ns != UINT64_MAX)
		rest->path->visits.on_cpu_ns +=
		    atomic_load_explicit(&row.words[1], memory_order_relaxed);
	return 0;
}

static int rest_fill_rows(struct rest *rest)
{
	uint64_t *known = ps__os_calloc(rest->count * rest_width(rest), sizeof *known);

	rest->rows = ps__os_calloc(rest->count * (1 + rest_width(rest)), sizeof *rest->rows);
	bool has_memory = known && rest->rows;
	if (has_memory)
		rest_sum_known(rest, known);
	for (size_t index = 0; has_memory && index < rest->count; index++)
		rest_fill_row(rest, index, known + index * rest_width(rest));
	ps__os_free(known);
	return has_memory ? 0 : -1;
}

/* True if the member's has_failed has changed since rest_add read it. rest_has_gone_on doesn't see
 * this: a boundary that fails may change no node's sequence. */
static bool rest_has_failed_since(const struct rest *rest)
{
	return __atomic_load_n(&rest->member->last.has_failed, __ATOMIC_ACQUIRE) !=
	       rest->has_failed;
}

/* Sets the doubts that the next boundary will set: see ps__member_lose. */
static void rest_doubt(const struct rest *rest)
{
	rest->path->doubt |= PS__HAS_OTHERS;
	rest->path->visits.on_cpu_ns = UINT64_MAX;
	if (rest->innermost == rest->path)
		return;
	rest->innermost->doubt |= PS__LACKS;
	rest->innermost->visits.on_cpu_ns = UINT64_MAX;
}

/* Returns the time since the last boundary. For a thread that is gone, returns the time on a CPU
 * instead: the time of its end isn't known. */
static uint64_t rest_time(const struct rest *rest)
{
	uint64_t last_ns = __atomic_load_n(&rest->member->last.ns, __ATOMIC_RELAXED);
	uint64_t on_cpu_ns = 0;

	if (ps__task_exists(rest->member->tid))
		return rest->now_ns > last_ns ? rest->now_ns - last_ns : 0;
	for (size_t index = 0; rest->recording->groups && index < rest->count; index++) {
		const _Atomic uint64_t *row = rest_row(rest, index);
		if (atomic_load_explicit(&row[0], memory_order_relaxed))
			on_cpu_ns += atomic_load_explicit(&row[1], memory_order_relaxed);
	}
	return on_cpu_ns;
}

/* Adds the rows only if the thread made no boundary meanwhile. Returns as rest_add. */
static int rest_add_all(struct rest *rest, uint64_t begun)
{
	int added = 0;

	rest->recording = rest->peeked[0].recording;
	if (rest_fill_rows(rest) < 0)
		return -1;
	if (rest_has_gone_on(rest->member, begun) || rest_has_failed_since(rest))
		return 1;
	/* A boundary changes its node before the level: so the level is checked, too. */
	if (ps__member_counted_by_other(rest->member) != rest->counted)
		return 1;
	if (rest->has_failed)
		rest_doubt(rest);
	for (size_t index = 0; index < rest->count && added == 0; index++)
		added = rest_add_row(rest, index);
	if (added == 0)
		rest->innermost->visits.wall_ns += rest_time(rest);
	return added;
}

/* Adds the counts that are missing in the nodes. The caller has added the nodes. Returns 0; 1 if
 * the thread made a boundary meanwhile: nothing was added; or -1 if out of memory. */
static int rest_add(struct ps_paths *paths, const struct ps__member *member, uint64_t begun)
{
	const struct ps__node *node = ps__member_counted_by_other(member);
	const struct ps__node *failed = node ? ps__member_failed_by_other(member, node) : NULL;
	struct rest rest = {
	    .paths = paths, .member = member, .counted = node, .has_failed = failed != NULL};
	struct ps__peeked *peeked = NULL;

	rest.innermost = node ? node->path : NULL;
	rest.path = failed ? failed->path : rest.innermost;
	if (!rest.innermost || rest.innermost->paths != paths || !rest.path ||
	    rest.path->paths != paths)
		return 1;
	rest.count = ps__set_peek(member->set, member->tid, &peeked);
	rest.peeked = peeked;
	rest.now_ns = ps__os_now_ns(); /* after the counts: on_cpu_ns isn't longer */
	int added = rest.count ? rest_add_all(&rest, begun) : 0;
	ps__os_free(rest.rows);
	ps__os_free(peeked);
	return added;
}

/* Copies the nodes, and adds what is missing in them. Returns as rest_add. *sequences receives the
 * number of boundaries before the copy, as rest_look counts them. */
static int rest_add_running(struct ps_paths *paths, struct ps__member *member, uint64_t *sequences)
{
	bool is_still = rest_begin(member, sequences);

	if (ps__paths_add_member(paths, member) < 0)
		return -1;
	return is_still ? rest_add(paths, member, *sequences) : 1;
}

/* Labels the counts as a lower bound: the copy may lack counts from before the call. */
static void rest_lack(const struct ps_paths *paths, const struct ps__member *member)
{
	const struct ps__node *node = ps__member_counted_by_other(member);
	struct ps_path *path =
	    node && node->path && node->path->paths == paths ? node->path : paths->root;

	path->doubt |= PS__LACKS;
}

/* Adds the counts of a running thread. If the thread makes a boundary meanwhile, reads the thread
 * again: the counts up to that boundary are then in its nodes, and that is enough. If the nodes
 * have not changed, the thread was in another call, such as the stop of an ending thread, or it
 * stands still in a boundary: these counts may be missing, so there are more attempts. */
static int rest_follow(struct ps_paths *paths, struct ps__member *member)
{
	uint64_t first, sequences;
	int added = 1;

	rest_look(member, &first);
	for (int attempt = 1; added == 1; attempt++) {
		struct ps_paths *own = ps__paths_make(paths->profile, paths->events);
		added = own ? rest_add_running(own, member, &sequences) : -1;
		if (added == 1 && sequences == first && attempt == MOST_ATTEMPTS)
			rest_lack(own, member);
		if (added == 0 || (added == 1 && (sequences != first || attempt == MOST_ATTEMPTS)))
			added = ps__paths_add(paths, own);
		ps_paths_destroy(own);
	}
	return added;
}

int ps__rest_add_member(struct ps_paths *paths, struct ps__member *member)
{
	bool is_running = member->set && member != ps__member_find(member->profile);

	return is_running ? rest_follow(paths, member) : ps__paths_add_member(paths, member);
}

bool ps__rest_is_known(struct ps__member *member)
{
	struct ps__peeked *peeked = NULL;
	uint64_t sequences;

	/* The thread is ending: all counts are in its nodes. */
	if (!member->set)
		return true;
	rest_begin(member, &sequences);
	bool is_known =
	    !ps__set_is_busy(member->set) && ps__set_peek(member->set, member->tid, &peeked) > 0;
	ps__os_free(peeked);
	return is_known;
}

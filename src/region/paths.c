/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the paths of several threads. All memory is allocated before the first number changes. */
#include "region/paths.h"

#include "base/os.h"
#include "region/profile.h"
#include "store/attrmap.h"

static const void *paths_key(const struct ps_region *region, const struct ps__rate *rate)
{
	return rate ? (const void *)rate : region;
}

static struct ps_path *paths_add_path(struct ps_paths *paths, struct ps_path *parent,
                                      const struct ps_region *region, const struct ps__rate *rate)
{
	struct ps_path *path;

	if (ps__links_reserve(&paths->links) < 0)
		return NULL;
	path = ps__os_calloc(1, sizeof *path);
	if (!path)
		return NULL;
	path->paths = paths;
	path->region = region;
	path->rate = rate;
	path->parent = parent;
	path->visits.shortest_ns = UINT64_MAX;
	if (parent) {
		ps__links_add(&paths->links, parent, paths_key(region, rate), path);
		*(parent->child ? &parent->last_child->next : &parent->child) = path;
		parent->last_child = path;
	}
	*(paths->newest ? &paths->newest->next_made : &paths->root) = path;
	paths->newest = path;
	return path;
}

struct ps_path *ps__paths_get_path(struct ps_paths *paths, struct ps_path *parent,
                                   const struct ps_region *region, const struct ps__rate *rate)
{
	struct ps_path *path;

	if (!parent)
		return paths->root;
	path = ps__links_find(&paths->links, parent, paths_key(region, rate));
	return path ? path : paths_add_path(paths, parent, region, rate);
}

static struct ps__part *paths_find_part(struct ps_path *path, const struct ps_thread *thread)
{
	struct ps__part *part = path->parts;

	while (part && part->thread != thread)
		part = part->next;
	return part;
}

struct ps__part *ps__paths_get_part(struct ps_path *path, const struct ps_thread *thread)
{
	struct ps__part *part = paths_find_part(path, thread);

	if (part)
		return part;
	part = ps__os_calloc(1, sizeof *part + path->paths->events * sizeof *part->values);
	if (!part)
		return NULL;
	part->thread = thread;
	part->next = path->parts;
	path->parts = part;
	return part;
}

struct ps_paths *ps__paths_make(struct ps_profile *profile, size_t events)
{
	struct ps_paths *paths = ps__os_calloc(1, sizeof *paths);

	if (!paths)
		return NULL;
	paths->profile = profile;
	paths->events = events;
	if (paths_add_path(paths, NULL, NULL, NULL))
		return paths;
	ps_paths_destroy(paths);
	return NULL;
}

static void paths_free_path(struct ps_path *path)
{
	struct ps__part *next;

	for (struct ps__part *part = path->parts; part; part = next) {
		next = part->next;
		ps__os_free(part);
	}
	for (struct ps__other_visits *spread = path->others; spread; spread = path->others) {
		path->others = spread->next;
		ps__os_free(spread);
	}
	ps__value_sum_free_all(path);
	ps__os_free(path);
}

void ps_paths_destroy(struct ps_paths *paths)
{
	struct ps_path *next;

	for (struct ps_path *path = paths ? paths->root : NULL; path; path = next) {
		next = path->next_made;
		paths_free_path(path);
	}
	if (paths) {
		ps__links_clear(&paths->links);
		ps__os_free(paths->names);
	}
	ps__os_free(paths);
}

void ps__paths_merge(struct ps__part *part, size_t event, const struct ps_value *value)
{
	size_t parts = part->threads;

	ps__value_merge(&part->values[event], &parts, value);
}

void ps__paths_add_visits(struct ps_path *to, const struct ps_path *from)
{
	struct ps_visits *sum = &to->visits;
	const struct ps_visits *visits = &from->visits;

	to->doubt |= from->doubt;
	to->unchosen += from->unchosen;
	to->open += from->open;
	to->paths->is_sampled |= from->unchosen > 0 || (from->rate && from->rate->one_in != 1);
	sum->count += visits->count;
	sum->counted += visits->counted;
	if (visits->shortest_ns < sum->shortest_ns)
		sum->shortest_ns = visits->shortest_ns;
	if (visits->longest_ns > sum->longest_ns)
		sum->longest_ns = visits->longest_ns;
	for (size_t time = 0; time < PS_VISIT_TIMES; time++)
		sum->times[time] += visits->times[time];
}

/* One thread's nodes. */

static struct ps__node_cell *paths_first_cell(const struct ps__node *node)
{
	return atomic_load_explicit(&node->cells, memory_order_acquire);
}

static struct ps__node *paths_next_node(const struct ps__node *node)
{
	return atomic_load_explicit(&node->next, memory_order_acquire);
}

static struct ps__value_cell *paths_first_value(const struct ps__node *node)
{
	return atomic_load_explicit(&node->values, memory_order_acquire);
}

static struct ps__value_cell *paths_next_value(const struct ps__value_cell *value)
{
	return atomic_load_explicit(&value->next, memory_order_acquire);
}

/* True if a cell has counts of the visit that is watched: its time is not 0. */
static bool paths_has_counts(struct ps__node_cell *cell)
{
	return atomic_load_explicit(&cell->words[0], memory_order_acquire) != 0;
}

static int paths_make_room_for_values(const struct ps__node *node)
{
	for (const struct ps__value_cell *value = paths_first_value(node); value;
	     value = paths_next_value(value)) {
		if (!ps__value_sum_get(node->path, value->name))
			return -1;
	}
	return 0;
}

/* Makes the paths, parts and sums for a thread's nodes. The thread may make more nodes and cells
 * meanwhile: these have no path, part or sum, and are skipped this time. */
static int paths_make_room(struct ps_paths *paths, const struct ps__member *member)
{
	for (struct ps__node *node = member->root; node; node = paths_next_node(node)) {
		node->path = ps__paths_get_path(paths, node->parent ? node->parent->path : NULL,
		                                node->region, node->rate);
		if (!node->path)
			return -1;
		for (struct ps__node_cell *cell = paths_first_cell(node); cell; cell = cell->next) {
			if (!ps__paths_get_part(node->path, cell->history->thread))
				return -1;
		}
		if (paths_make_room_for_values(node) < 0)
			return -1;
	}
	return 0;
}

static void paths_load_visits(const struct ps__node *node, struct ps_path *to)
{
	const struct ps__visits *visits = &node->visits;
	struct ps_visits *out = &to->visits;

	to->doubt = atomic_load_explicit(&node->doubt, memory_order_relaxed);
	out->counted = atomic_load_explicit(&visits->count, memory_order_acquire);
	to->unchosen = atomic_load_explicit(&visits->unchosen, memory_order_acquire);
	out->count = out->counted + to->unchosen +
	             atomic_load_explicit(&visits->skipped, memory_order_acquire);
	out->wall_ns = atomic_load_explicit(&visits->wall_ns, memory_order_acquire);
	out->shortest_ns = atomic_load_explicit(&visits->shortest_ns, memory_order_acquire);
	out->longest_ns = atomic_load_explicit(&visits->longest_ns, memory_order_acquire);
	for (size_t time = 0; time < PS_VISIT_TIMES; time++)
		out->times[time] = atomic_load_explicit(&visits->times[time], memory_order_acquire);
}

/* Handles a read inside a change that goes on: the path lacks the counts that are not added yet. A
 * boundary takes back a growth if a counter went backwards, so until then a count may be below 0;
 * the least that it can be is 0. */
static void paths_note_unfinished(struct ps__node *node, struct ps_value *value)
{
	node->path->doubt |= PS__LACKS;
	if (value->raw > INT64_MAX)
		value->value = 0, value->raw = 0;
}

static void paths_add_cell(struct ps__node *node, struct ps__node_cell *cell)
{
	struct ps__part *part = paths_find_part(node->path, cell->history->thread);
	struct ps__history_row row = {.words = cell->words, .mark = &cell->mark};

	for (size_t event = 0; part && event < node->path->paths->events; event++) {
		struct ps_value value = {0};
		uint64_t sequence;
		do {
			sequence = ps__node_read_begin(node);
			ps__history_show(cell->history, row, event, &value);
		} while (ps__node_read_retry(node, sequence));
		if (sequence & 1)
			paths_note_unfinished(node, &value);
		ps__paths_merge(part, event, &value);
		if (value.attribution == PS_ATTRIBUTION_LAST_CPU)
			node->path->doubt |= PS__HAS_UNSPLIT;
	}
	if (part)
		part->threads++;
}

static void paths_add_value(const struct ps__node *node, const struct ps__value_cell *value)
{
	struct ps__value_sum *sum = ps__value_sum_find(node->path, value->name);
	uint64_t turn, count, low, high;

	if (!sum)
		return;
	/* Repeats until no later number came in between. */
	do {
		turn = atomic_load_explicit(&value->turn, memory_order_acquire);
		const struct ps__value_total *total = &value->totals[turn & 1];
		count = atomic_load_explicit(&total->count, memory_order_acquire);
		low = atomic_load_explicit(&total->low, memory_order_acquire);
		high = atomic_load_explicit(&total->high, memory_order_acquire);
	} while (atomic_load_explicit(&value->turn, memory_order_relaxed) != turn);
	sum->count += count;
	sum->sum += (__int128)((unsigned __int128)high << 64 | low);
}

/* Adds the time on a CPU: how long the first group was enabled. UINT64_MAX: it isn't known. */
static void paths_add_on_cpu(struct ps_visits *sum, const struct ps__node *node)
{
	if (atomic_load_explicit(&node->doubt, memory_order_relaxed) ||
	    (!paths_first_cell(node) &&
	     atomic_load_explicit(&node->visits.wall_ns, memory_order_relaxed)))
		sum->on_cpu_ns = UINT64_MAX;
	for (struct ps__node_cell *cell = paths_first_cell(node); cell; cell = cell->next) {
		if (cell->history->recording->groups == 0)
			sum->on_cpu_ns = UINT64_MAX;
		if (sum->on_cpu_ns != UINT64_MAX)
			sum->on_cpu_ns +=
			    atomic_load_explicit(&cell->words[1], memory_order_acquire);
	}
}

/* Notes the outermost open visit that isn't counted: its counts are in the path around it. */
static void paths_add_open(const struct ps_paths *paths, const struct ps__member *member)
{
	size_t depth = __atomic_load_n(&member->depth, __ATOMIC_ACQUIRE);
	size_t seen = __atomic_load_n(&member->seen, __ATOMIC_RELAXED);
	const struct ps__node *node =
	    seen < depth ? __atomic_load_n(&member->levels[seen].node, __ATOMIC_RELAXED) : NULL;

	if (node && node->path && node->path->paths == paths)
		node->path->open++;
}

int ps__paths_add_member(struct ps_paths *paths, struct ps__member *member)
{
	if (paths_make_room(paths, member) < 0)
		return -1;
	for (struct ps__node *node = member->root; node; node = paths_next_node(node)) {
		struct ps_path now = {.rate = node->rate};
		uint64_t sequence;
		if (!node->path || node->path->paths != paths)
			break;
		do {
			sequence = ps__node_read_begin(node);
			paths_load_visits(node, &now);
		} while (ps__node_read_retry(node, sequence));
		ps__paths_add_visits(node->path, &now);
		if (sequence & 1)
			node->path->doubt |= PS__LACKS;
		node->path->visits.wall_ns += now.visits.wall_ns;
		paths_add_on_cpu(&node->path->visits, node);
		for (struct ps__node_cell *cell = paths_first_cell(node); cell; cell = cell->next)
			paths_add_cell(node, cell);
		for (const struct ps__value_cell *value = paths_first_value(node); value;
		     value = paths_next_value(value))
			paths_add_value(node, value);
	}
	paths_add_open(paths, member);
	return 0;
}

int ps__paths_add_node(struct ps__node *node, bool has_counts)
{
	struct ps_path visit = {.paths = node->path->paths};

	for (struct ps__node_cell *cell = paths_first_cell(node); cell; cell = cell->next) {
		if (has_counts && paths_has_counts(cell) &&
		    !ps__paths_get_part(node->path, cell->history->thread))
			return -1;
	}
	paths_load_visits(node, &visit);
	ps__paths_add_visits(node->path, &visit);
	node->path->visits.wall_ns = visit.visits.wall_ns;
	if (has_counts)
		paths_add_on_cpu(&node->path->visits, node);
	else
		node->path->visits.on_cpu_ns = UINT64_MAX;
	for (struct ps__node_cell *cell = paths_first_cell(node); cell; cell = cell->next) {
		if (has_counts && paths_has_counts(cell))
			paths_add_cell(node, cell);
	}
	return 0;
}

/* Paths of ended threads, or of a process. */

static int paths_make_room_for(struct ps_paths *paths, const struct ps_paths *others)
{
	for (struct ps_path *other = others->root; other; other = other->next_made) {
		other->path = ps__paths_get_path(paths, other->parent ? other->parent->path : NULL,
		                                 other->region, other->rate);
		if (!other->path)
			return -1;
		for (const struct ps__part *part = other->parts; part; part = part->next) {
			if (!ps__paths_get_part(other->path, part->thread))
				return -1;
		}
		for (const struct ps__value_sum *value = other->values; value;
		     value = value->next) {
			if (!ps__value_sum_get(other->path, value->name))
				return -1;
		}
	}
	return 0;
}

static void paths_add_time(uint64_t *sum, uint64_t time_ns)
{
	*sum = *sum == UINT64_MAX || time_ns == UINT64_MAX ? UINT64_MAX : *sum + time_ns;
}

int ps__paths_add(struct ps_paths *paths, const struct ps_paths *others)
{
	if (paths_make_room_for(paths, others) < 0)
		return -1;
	for (struct ps_path *other = others->root; other; other = other->next_made) {
		ps__paths_add_visits(other->path, other);
		paths_add_time(&other->path->visits.wall_ns, other->visits.wall_ns);
		paths_add_time(&other->path->visits.on_cpu_ns, other->visits.on_cpu_ns);
		for (const struct ps__part *from = other->parts; from; from = from->next) {
			struct ps__part *part = paths_find_part(other->path, from->thread);
			if (!from->threads)
				continue; /* memory was short: it has no counts */
			for (size_t event = 0; event < paths->events; event++)
				ps__paths_merge(part, event, &from->values[event]);
			part->threads += from->threads;
		}
		for (const struct ps__value_sum *from = other->values; from; from = from->next) {
			struct ps__value_sum *value = ps__value_sum_find(other->path, from->name);
			value->count += from->count;
			value->sum += from->sum;
		}
	}
	return 0;
}

void ps__paths_doubt_uncounted(struct ps_paths *paths)
{
	for (struct ps_path *path = paths->root; path; path = path->next_made) {
		/* An uncounted visit of a path is inside an uncounted visit of the path around. */
		if (paths->lacks_processes)
			path->uncounted = UINT64_MAX;
		else if (!path->parent)
			path->uncounted = atomic_load(&paths->profile->faults[PS__FAULT_UNCOUNTED]);
		else if (path->parent->uncounted)
			path->uncounted = ps__region_uncounted(path->region);
		path->doubt |= path->uncounted ? PS__LACKS : 0;
	}
}

/* Labels a path's value: as incomplete (a lower bound) if it may lack counts, as scaled (an
 * estimate) if it may have counts of other paths, too. A thread's doubt applies to all parts,
 * because the thread may have been on any of them. If the raw count has counts of paths below, it
 * is no lower bound. */
static void paths_settle(const struct ps_path *path, struct ps_value *value)
{
	bool lacks = path->doubt & PS__LACKS || value->status == PS_STATUS_INCOMPLETE;

	if (path->doubt & PS__HAS_UNSPLIT)
		value->attribution = PS_ATTRIBUTION_LAST_CPU;
	if (value->status == PS_STATUS_NEVER_SCHEDULED || value->status == PS_STATUS_NOT_SUPPORTED)
		return;
	if (path->doubt & PS__HAS_OTHERS || (lacks && path->doubt & PS__HAS_UNCHOSEN))
		value->status = PS_STATUS_SCALED;
	else if (lacks)
		ps__value_lacks(value);
}

void ps__paths_settle(struct ps_paths *paths)
{
	for (struct ps_path *path = paths->root; path; path = path->next_made) {
		for (struct ps__part *part = path->doubt ? path->parts : NULL; part;
		     part = part->next) {
			for (size_t event = 0; event < paths->events; event++)
				paths_settle(path, &part->values[event]);
		}
	}
}

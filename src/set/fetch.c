/* SPDX-License-Identifier: BSD-3-Clause */
/* The hot path's first half: where the task is, what the backend has counted, and to which slot it goes. */
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "set/undo.h"

/* One that has ended can't move any more, and its counts are still there. */
static int last_seen(const struct ps_eventset *set)
{
	return set->last_slot && set->means == PS__MEANS_PLAIN ? set->last_slot->cpu : set->last_cpu;
}

/* A task that wasn't switched since it was looked at is where it was: the watch tells, for a fraction of what its file
 * costs. Only what was seen while the ring stood still counts, so that no switch falls between. */
static int follow_task(struct ps_eventset *set)
{
	bool stands_still = !ps__watch_has_moved(&set->watch);

	if (stands_still && set->followed_cpu >= 0)
		return set->followed_cpu;
	int cpu = ps__task_cpu(&set->task, &set->is_ended);
	set->followed_cpu = stands_still && !ps__watch_has_moved(&set->watch) ? cpu : -1;
	return cpu;
}

int ps__set_look_at_task(struct ps_eventset *set)
{
	int cpu = -1;

	if (!set->is_ended && set->watch.fd >= 0 && set->means == PS__MEANS_PLAIN)
		cpu = follow_task(set);
	else if (!set->is_ended)
		cpu = ps__task_cpu(&set->task, &set->is_ended);
	return cpu >= 0 ? cpu : last_seen(set);
}

/* Has the task been on its one CPU only, since the last fetch? The mask may have been another one meanwhile. */
static bool is_pinned(struct ps_eventset *set, int cpu)
{
	/* What the watch tells is for those who split the counts. */
	if (set->means != PS__MEANS_PLAIN || set->watch.fd < 0 || cpu < 0)
		return false;
	if (set->cannot_split)
		return cpu == set->only_cpu && !ps__watch_has_moved(&set->watch);
	if (__builtin_expect(ps__watch_has_moved(&set->watch), 0))
		ps__set_look_for_stray(set);
	return cpu == set->only_cpu && !set->has_strayed;
}

/* The CPU to be credited. A foreign thread that takes an ended owner's counts finds them where the owner was. */
static int find_cpu(struct ps_eventset *set, int *cpu)
{
	if (__builtin_expect(set->target.kind == PS__TARGET_SELF, 1)) {
		int result = set->owner == ps__thread_number() ? PS_OK : ps__set_check_caller(set);
		*cpu = set->is_ended ? last_seen(set) : ps__os_getcpu();
		return result;
	}
	if (set->target.kind == PS__TARGET_CGROUP)
		*cpu = ps__os_getcpu();
	else
		*cpu = set->target.kind == PS__TARGET_CPU ? set->target.cpu : ps__set_look_at_task(set);
	return PS_OK;
}

/* How the CPU is known. */
static uint16_t mark_of_cpu(struct ps_eventset *set, int cpu)
{
	uint16_t mark = PS_ATTRIBUTION_ATTACHED;

	if (set->target.kind != PS__TARGET_CPU)
		mark = is_pinned(set, cpu) ? PS_ATTRIBUTION_PINNED : PS_ATTRIBUTION_LAST_CPU;
	return set->is_ended ? mark | PS__MARK_ENDED : mark;
}

int ps__set_locate(struct ps_eventset *set, int *cpu, uint16_t *mark)
{
	int result = find_cpu(set, cpu);

	*mark = mark_of_cpu(set, *cpu);
	return result;
}

/* What the thread did between the looks at its CPU is not known to be on either. */
static uint16_t moved_mark(const struct ps_eventset *set, int cpu)
{
	if (set->target.kind != PS__TARGET_SELF || set->is_ended || __builtin_expect(ps__os_getcpu() == cpu, 1))
		return 0;
	return PS__MARK_MOVED;
}

/* Credits what was counted since the last fetch. Returns flags. */
uint16_t ps__set_credit(struct ps_eventset *set, struct ps__slot *slot, size_t lane)
{
	size_t width = ps__recording_width(set->series);
	const uint64_t *totals = ps__set_totals(set, lane);
	uint64_t *credited = ps__set_credited(set, lane);
	uint16_t flags = 0;

	ps__set_change_words(set, slot->counts, credited, totals);
	for (size_t word = 0; word < width; word++) {
		uint64_t total = totals[word];
		uint64_t known = credited[word];
		/* A counter that went back was reset behind our back: it has counted `total` since. */
		if (__builtin_expect(total < known, 0) && !set->backend->may_fall) {
			known = 0;
			flags |= PS__MARK_WENT_BACK;
		}
		uint64_t count = slot->counts[word];
		ps__set_change_word(set, word, count);
		slot->counts[word] = count + total - known;
		atomic_signal_fence(memory_order_seq_cst);
		credited[word] = total;
	}
	ps__set_changed_words(set);
	return flags;
}

void ps__set_label_counts(struct ps__slot *slot, uint16_t mark)
{
	unsigned attribution = mark & PS__MARK_ATTRIBUTION;

	if (slot->has_counts && (slot->counts_mark & PS__MARK_ATTRIBUTION) > attribution)
		attribution = slot->counts_mark & PS__MARK_ATTRIBUTION;
	slot->counts_mark = (uint16_t)(attribution | ((slot->counts_mark | mark) & PS__MARK_FLAGS));
	slot->has_counts = true;
}

/* One lane; of a process that isn't split, one for each of its threads. */
static int read_lanes(struct ps_eventset *set)
{
	struct ps__backend *backend = set->backend;
	int result = backend->ops->read(backend, 0, ps__set_totals(set, 0));

	for (size_t lane = 1; lane < backend->lanes; lane++) {
		int one = backend->ops->read(backend, lane, ps__set_totals(set, lane));
		if (__builtin_expect(one != PS_OK, 0) && (result == PS_OK || one != PS_PARTIAL))
			result = one;
	}
	return result;
}

static void credit_all(struct ps_eventset *set, struct ps__slot *slot, uint16_t mark)
{
	if (__builtin_expect(set->must_clear, 0))
		ps__set_clear_counts(set);
	for (size_t lane = 0; lane < set->backend->lanes; lane++)
		mark |= ps__set_credit(set, slot, lane);
	ps__set_label_counts(slot, mark);
	ps__set_activate(set, slot);
	set->last_slot = slot;
	set->is_unfetched = false;
	set->has_strayed = false;
	/* All of it was here, as the watch noted. */
	slot->spent_ns = 0;
	set->stay.is_lost = false;
}

/* The counters are read as soon as the CPU is known; all that can wait comes after, so as not to be counted. */
static int fetch_plain(struct ps_eventset *set, struct ps__slot **out)
{
	int cpu;

	if (__builtin_expect(set->has_left, 0))
		return ps__set_fetch_strayed(set, out);
	int result = find_cpu(set, &cpu);
	if (__builtin_expect(result != PS_OK, 0))
		return result;
	result = read_lanes(set);
	if (__builtin_expect(result != PS_OK && result != PS_PARTIAL, 0))
		return result;
	uint16_t mark = moved_mark(set, cpu);
	struct ps__slot *slot = ps__set_slot(set, cpu);
	if (__builtin_expect(!slot, 0))
		return PS_ENOMEM;
	mark |= mark_of_cpu(set, cpu);
	if (__builtin_expect(set->has_strayed, 0) && ps__set_is_bound(set))
		return ps__set_fetch_strayed(set, out);
	if (__builtin_expect(set->backend->interrupted || result == PS_PARTIAL, 0)) {
		mark |= PS__MARK_INTERRUPTED;
		set->backend->interrupted = false;
	}
	if (__builtin_expect(set->backend->went_back, 0)) {
		mark |= PS__MARK_WENT_BACK;
		set->backend->went_back = false;
	}
	credit_all(set, slot, mark);
	*out = slot;
	return result;
}

int ps__set_fetch(struct ps_eventset *set, struct ps__slot **slot)
{
	if (__builtin_expect(set->means == PS__MEANS_PLAIN && !ps__set_is_mixed(set), 1))
		return fetch_plain(set, slot);
	switch (set->means) {
	case PS__MEANS_LANES:
		return ps__set_fetch_lanes(set, slot);
	case PS__MEANS_RECORDS:
		return ps__set_fetch_records(set, slot);
	case PS__MEANS_CGROUP:
		return ps__set_fetch_cgroup(set, slot);
	case PS__MEANS_PLACES:
		return ps__set_fetch_places(set, slot);
	default:
		return ps__set_fetch_mixed(set, slot);
	}
}

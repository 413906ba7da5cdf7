/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts that can't be split by CPU, such as PAPI's, of a task whose context switches are watched.
 * If the task was on several CPUs between two readings, each CPU gets a share of the counts in
 * proportion to the time that the task was on it. This is an estimate, and labelled so. The shares
 * add up to what was counted.
 */
#include "base/error.h"
#include "base/os.h"
#include "base/stack.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"

static void start_mixed(struct ps_eventset *set)
{
	bool is_self = set->counters.target.kind == PS__TARGET_SELF;

	set->attribution.stay =
	    (struct ps__stay){.since_ns = ps__os_now_ns(),
	                      .cpu = set->attribution.last_cpu,
	                      .state = is_self ? PS__STAY_ON : PS__STAY_UNKNOWN};
}

/* One look at the switch ring. */
struct round {
	struct ps_eventset *set;
	bool is_incomplete;
};

/* Adds the time since the stay began to its CPU. */
static void note_time(struct round *round, uint64_t until_ns)
{
	struct ps_eventset *set = round->set;
	struct ps__slot *slot = ps__set_slot(set, set->attribution.stay.cpu);

	if (!slot) {
		round->is_incomplete = true;
		return;
	}
	if (until_ns > set->attribution.stay.since_ns)
		slot->spent_ns += until_ns - set->attribution.stay.since_ns;
	ps__set_activate(set, slot);
	if (set->attribution.stay.cpu != set->attribution.only_cpu)
		set->attribution.has_migrated = true;
}

/* Takes over one record. A stay that has ended counts as at least 1 ns, so that its CPU gets a
 * share of what was counted between the last read and that read's timestamp. */
static void mixed_take_visit(const struct ps__visit *visit, void *context)
{
	struct round *round = context;
	struct ps_eventset *set = round->set;
	uint64_t since_ns = set->attribution.stay.since_ns;

	if (visit->is_out) {
		set->attribution.stay.cpu = visit->cpu;
		if (set->attribution.stay.state != PS__STAY_OFF)
			note_time(round, visit->time_ns > since_ns ? visit->time_ns : since_ns + 1);
	}
	set->attribution.stay.since_ns = visit->time_ns;
	set->attribution.stay.cpu = visit->cpu;
	set->attribution.stay.state = visit->is_out ? PS__STAY_OFF : PS__STAY_ON;
}

bool ps__set_follow(struct ps_eventset *set, int cpu)
{
	struct round round = {.set = set};
	bool complete = true;

	if (ps__switch_ring_has_moved(&set->attribution.switches))
		complete =
		    ps__switch_ring_drain(&set->attribution.switches, mixed_take_visit, &round);
	uint64_t now = ps__os_now_ns();
	if (!complete)
		set->attribution.stay = (struct ps__stay){
		    .cpu = cpu, .state = PS__STAY_UNKNOWN, .since_ns = now, .is_lost = true};
	else if (set->attribution.stay.state != PS__STAY_OFF)
		note_time(&round, now);
	set->attribution.stay.since_ns = now;
	return complete && !round.is_incomplete;
}

/* Adds to each slot its share of one word. The shares are differences of rounded sums, so that
 * rounding loses nothing. */
static void share_word(struct ps_eventset *set, size_t word, uint64_t count, uint64_t spent_ns)
{
	uint64_t past_ns = 0, given = 0;

	for (size_t index = 0; index < set->recorder.active_count; index++) {
		struct ps__slot *slot = set->recorder.active[index];
		past_ns += slot->spent_ns;
		uint64_t upto = (uint64_t)((unsigned __int128)count * past_ns / spent_ns);
		slot->counts[word] += upto - given;
		given = upto;
	}
}

uint64_t ps__set_time_spent(const struct ps_eventset *set)
{
	uint64_t spent_ns = 0;

	for (size_t index = 0; index < set->recorder.active_count; index++)
		spent_ns += set->recorder.active[index]->spent_ns;
	return spent_ns;
}

static void label_shares(struct ps_eventset *set, uint16_t mark)
{
	for (size_t index = 0; index < set->recorder.active_count; index++) {
		if (set->recorder.active[index]->spent_ns > 0)
			ps__set_label_counts(set->recorder.active[index], mark);
	}
}

static void share_words(struct ps_eventset *set, size_t instance, uint64_t spent_ns, uint16_t mark)
{
	const uint64_t *totals = ps__set_totals(set, instance);
	uint64_t *assigned = ps__set_assigned(set, instance);

	for (size_t word = 0; word < ps__recording_width(set->recorder.recording); word++) {
		uint64_t known = assigned[word];
		/* If a total that may fall has fallen, the difference can't be divided: it goes to
		 * the CPU where the task is. */
		if (set->counters.backend->may_fall && (int64_t)(totals[word] - known) < 0) {
			set->recorder.last_slot->counts[word] += totals[word] - known;
			assigned[word] = totals[word];
			continue;
		}
		if (totals[word] < known && !set->counters.backend->may_fall) {
			known = 0;
			mark |= PS__MARK_WENT_BACK;
		}
		share_word(set, word, totals[word] - known, spent_ns);
		assigned[word] = totals[word];
	}
	label_shares(set, mark);
}

/* Signals are held: if a jump out of a handler left a word half divided, the whole word would be
 * divided again. */
void ps__set_share_counts(struct ps_eventset *set, size_t instance, uint64_t spent_ns,
                          uint16_t mark)
{
	struct ps__held held;

	ps__signals_hold(&held);
	share_words(set, instance, spent_ns, mark);
	ps__signals_release(&held);
}

/* Returns the label of the whole interval. MIXED: the caller divides the counts by time. */
static unsigned mixed_label(struct ps_eventset *set, const struct ps__slot *here, bool is_known)
{
	bool has_migrated = set->attribution.has_migrated;

	if (set->attribution.only_cpu >= 0 && (!is_known || has_migrated))
		has_migrated = ps__switch_ring_was_away(&set->attribution.switches) || has_migrated;
	if (set->attribution.only_cpu >= 0 && here->cpu == set->attribution.only_cpu &&
	    !has_migrated && !set->attribution.has_lost)
		return PS_ATTRIBUTION_PINNED;
	return is_known ? PS_ATTRIBUTION_MIXED : PS_ATTRIBUTION_LAST_CPU;
}

void ps__set_forget_times(struct ps_eventset *set)
{
	for (size_t index = 0; index < set->recorder.active_count; index++)
		set->recorder.active[index]->spent_ns = 0;
	set->attribution.has_migrated = false;
	set->attribution.has_lost = false;
	set->attribution.stay.is_lost = false;
}

static int read_mixed(struct ps_eventset *set, struct ps__fetch *fetch)
{
	fetch->cpu = ps__set_find_cpu(set);
	return set->counters.backend->ops->read(set->counters.backend, 0, ps__set_totals(set, 0));
}

/* Assigns what was counted since the last fetch: by time, or to the CPU where the task is. */
static bool assign_mixed(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	bool was_lost = set->attribution.stay.is_lost;

	ps__set_activate(set, here);
	bool is_known = ps__set_follow(set, fetch->cpu) && !was_lost;
	unsigned label = mixed_label(set, here, is_known);
	uint64_t spent_ns = ps__set_time_spent(set);

	fetch->mark = (uint16_t)(label | fetch->flags);
	if (label == PS_ATTRIBUTION_MIXED && spent_ns > 0)
		ps__set_share_counts(set, 0, spent_ns, fetch->mark);
	else
		fetch->mark |= ps__set_assign(set, here, 0);
	if (label == PS_ATTRIBUTION_LAST_CPU)
		ps__set_doubt_parts(set, PS_ATTRIBUTION_LAST_CPU);
	bool has_part = label != PS_ATTRIBUTION_MIXED || spent_ns == 0 || here->spent_ns > 0;
	ps__set_forget_times(set);
	return has_part;
}

bool ps__set_is_stay_lasting(const struct ps_eventset *set, const struct ps__slot *slot)
{
	unsigned label = slot->counts_mark & PS__MARK_ATTRIBUTION;

	if (label == PS_ATTRIBUTION_MIXED)
		return slot->cpu == set->attribution.stay.cpu;
	if (set->attribution.has_left)
		return label != PS_ATTRIBUTION_LAST_CPU && slot->cpu == set->attribution.stay.cpu &&
		       !set->attribution.stay.is_lost;
	return label == PS_ATTRIBUTION_PINNED && slot->cpu == set->attribution.only_cpu &&
	       !set->attribution.has_migrated;
}

const struct ps__method ps__method_mixed = {
    .split = PS__SPLIT_NOT,
    .start = start_mixed,
    .read = read_mixed,
    .assign = assign_mixed,
    .is_label_lasting = ps__set_is_stay_lasting,
    .has_changed = ps__set_mask_changed,
};

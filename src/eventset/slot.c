/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots: the hardware threads that a set has met, by CPU number. */
#include "base/error.h"
#include "base/list.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/snapshot.h"
#include "locate/locate.h"

#include <errno.h>
#include <sched.h>

static int read_possible_cpus(void)
{
	size_t end = ps__locate_possible_end();

	return end ? (int)end : CPU_SETSIZE;
}

/* The number of possible CPU numbers; CPU_SETSIZE if the kernel doesn't tell it. */
static int count_possible_cpus(void)
{
	static _Atomic int known;

	return ps__set_ask_once(&known, read_possible_cpus);
}

int ps__set_create_slots(struct ps_eventset *set)
{
	int limit = count_possible_cpus();

	/* One slot more, for all CPU numbers beyond the limit: no CPU number is refused. */
	set->recorder.slots = ps__os_calloc_apart((size_t)limit + 1, sizeof *set->recorder.slots);
	if (!set->recorder.slots)
		return ps__fail_memory("an event set");
	set->recorder.slot_limit = limit;
	return PS_OK;
}

/* Frees a slot, but not its history: the recording owns that. */
static void free_slot(struct ps__slot *slot)
{
	if (slot->bases)
		ps__history_clear(slot->bases);
	ps__os_free_apart(slot->bases);
	ps__os_free_apart(slot);
}

void ps__set_free_slots(struct ps_eventset *set)
{
	for (size_t index = 0; index < set->recorder.met_count; index++)
		free_slot(set->recorder.met[index]);
	ps__os_free_apart(set->recorder.slots);
	ps__os_free_apart(set->recorder.met);
	ps__os_free_apart(set->recorder.active);
	set->recorder.slots = NULL;
	set->recorder.met = NULL;
	set->recorder.active = NULL;
	set->recorder.active_count = 0;
	set->recorder.met_count = 0;
	set->recorder.last_slot = NULL;
	set->has_doubt = false;
	set->snapshots = 0;
}

/* Grows a list of slots: makes room for one slot more than the set has met. */
static int grow_list(struct ps_eventset *set, struct ps__slot ***list, size_t count)
{
	struct ps__slot **grown =
	    ps__os_calloc_apart(set->recorder.met_count + 1, sizeof(struct ps__slot *));

	if (!grown)
		return -1;
	for (size_t index = 0; index < count; index++)
		grown[index] = (*list)[index];
	ps__os_free_apart(*list);
	*list = grown;
	return 0;
}

static ptrdiff_t instance_of(const struct ps_eventset *set, int cpu)
{
	for (size_t instance = 0; instance < set->counters.target.instance_count; instance++) {
		if (set->counters.target.instance_cpus[instance] == cpu)
			return (ptrdiff_t)instance;
	}
	return -1;
}

/* Returns the groups that the CPU's kind of core lacks, as bits. */
static uint64_t find_lacking(const struct ps__recording *recording, int cpu)
{
	uint64_t lacking = 0;

	for (size_t index = 0; index < recording->columns; index++) {
		const struct ps__column *column = &recording->column[index];
		if (column->cpus && column->group < 64 && !ps__list_contains(column->cpus, cpu))
			lacking |= UINT64_C(1) << column->group;
	}
	return lacking;
}

/* Makes a slot with a history, which is not attached to a Thread yet. */
static struct ps__slot *create_slot(struct ps_eventset *set, int cpu)
{
	size_t width = ps__recording_width(set->recorder.recording);
	size_t groups = set->recorder.recording->groups;
	struct ps__slot *slot = ps__os_calloc_apart(1, sizeof *slot + (3 * width + 3 * groups) *
	                                                                  sizeof slot->counts[0]);

	if (!slot)
		return NULL;
	slot->cpu = cpu;
	slot->instance = instance_of(set, cpu);
	/* The counts, ran_ns and off_ns lie together: ps__set_change_begin saves them as one. */
	slot->interval.ran_ns = slot->counts + width;
	slot->interval.off_ns = slot->interval.ran_ns + groups;
	slot->interval.enabled_ns = slot->interval.off_ns + groups;
	slot->base = slot->interval.enabled_ns + groups;
	slot->passed.words = slot->base + width;
	slot->lacking = find_lacking(set->recorder.recording, cpu);
	if (grow_list(set, &set->recorder.active, set->recorder.active_count) < 0 ||
	    grow_list(set, &set->recorder.met, set->recorder.met_count) < 0)
		goto free_slot;
	slot->history = ps__recording_add_history(set->recorder.recording);
	if (!slot->history)
		goto free_slot;
	set->recorder.met[set->recorder.met_count++] = slot;
	return slot;
free_slot:
	free_slot(slot);
	return NULL;
}

/* Updates the slots' instances after the counters were opened again. */
void ps__set_find_instances(struct ps_eventset *set)
{
	for (size_t index = 0; index < set->recorder.met_count; index++)
		set->recorder.met[index]->instance =
		    instance_of(set, set->recorder.met[index]->cpu);
}

static struct ps__slot **entry_of(struct ps_eventset *set, int cpu)
{
	return &set->recorder
	            .slots[cpu >= 0 && cpu < set->recorder.slot_limit ? cpu
	                                                              : set->recorder.slot_limit];
}

struct ps__slot *ps__set_met_slot(struct ps_eventset *set, int cpu)
{
	return *entry_of(set, cpu);
}

struct ps__slot *ps__set_slot(struct ps_eventset *set, int cpu)
{
	struct ps__slot **entry = entry_of(set, cpu);

	if (__builtin_expect(*entry && (*entry)->history->is_attached, 1))
		return *entry;
	if (!*entry)
		*entry = create_slot(set, cpu);
	if (!*entry) {
		ps__fail_memory("a hardware thread that the set meets; nothing is lost: the counts "
		                "come with the next reading");
		return NULL;
	}
	if (set->recorder.recording->topology)
		ps__recording_attach_history(set->recorder.recording, (*entry)->history, cpu);
	return *entry;
}

void ps__set_activate(struct ps_eventset *set, struct ps__slot *slot)
{
	if (slot->is_active)
		return;
	slot->is_active = true;
	set->recorder.active[set->recorder.active_count++] = slot;
}

void ps__set_clear_counts(struct ps_eventset *set)
{
	size_t width = ps__recording_width(set->recorder.recording);

	/* Set until the work is done: if the call is left, the next one repeats it. */
	set->recorder.must_clear = true;
	atomic_signal_fence(memory_order_seq_cst);
	/* The labels of these counts don't apply to later ones. */
	set->attribution.time_share.is_assigned = false;
	for (size_t index = 0; index < set->recorder.active_count; index++) {
		struct ps__slot *slot = set->recorder.active[index];
		struct ps__held held;
		bool is_passed = ps__slot_begin_pass(set, slot, &held);
		for (size_t word = 0; word < width; word++)
			slot->counts[word] = 0;
		if (is_passed)
			ps__signals_release(&held);
		slot->counts_mark &= PS__MARK_ATTRIBUTION;
		slot->has_counts = false;
	}
	atomic_signal_fence(memory_order_seq_cst);
	set->recorder.must_clear = false;
}

void ps__set_mark_idle(struct ps_eventset *set, uint16_t mark)
{
	for (size_t index = 0; set->snapshots && index < set->recorder.met_count; index++) {
		if (!set->recorder.met[index]->has_counts)
			ps__slot_pass_mark(set->recorder.met[index], mark);
	}
}

void ps__set_mark_incomplete(struct ps_eventset *set)
{
	for (size_t index = 0; index < set->recorder.active_count; index++)
		set->recorder.active[index]->counts_mark |= PS__MARK_INCOMPLETE;
	ps__set_mark_idle(set, PS__MARK_INCOMPLETE);
}

int ps__set_make_bases(struct ps_eventset *set, struct ps__slot *slot)
{
	if (slot->bases)
		return 0;
	slot->bases = ps__os_calloc_apart(1, sizeof *slot->bases);
	if (!slot->bases)
		return -1;
	if (ps__history_init(slot->bases, &set->recorder.recording->pool,
	                     1 + ps__recording_width(set->recorder.recording)) == 0)
		return 0;
	ps__os_free_apart(slot->bases);
	slot->bases = NULL;
	return -1;
}

static int reserve_slot(struct ps_eventset *set, int cpu, size_t rows)
{
	struct ps__slot **entry = entry_of(set, cpu);

	if (!*entry)
		*entry = create_slot(set, cpu);
	if (!*entry || ps__set_make_bases(set, *entry) < 0)
		return -1;
	return ps__history_reserve((*entry)->history, rows) < 0 ||
	               ps__history_reserve((*entry)->bases, rows) < 0
	           ? -1
	           : 0;
}

static int reserve_instances(struct ps_eventset *set, size_t rows)
{
	for (size_t instance = 0; instance < set->counters.target.instance_count; instance++) {
		if (reserve_slot(set, set->attribution.per_cpu.cpus[instance], rows) < 0)
			return -1;
	}
	return 0;
}

/* A request to reserve rows. */
struct reservation {
	struct ps_eventset *set;
	size_t rows;
};

static int reserve_allowed(int cpu, void *context)
{
	const struct reservation *reservation = context;

	if (cpu >= reservation->set->recorder.slot_limit)
		return 0;
	return reserve_slot(reservation->set, cpu, reservation->rows) < 0 ? -ENOMEM : 0;
}

/* Makes slots for the CPUs on which the task may run, so that meeting them allocates nothing. For a
 * process these are the CPUs of its first thread. */
int ps__set_reserve_slots(struct ps_eventset *set, size_t rows)
{
	struct reservation reservation = {set, rows};
	bool is_callers = set->counters.target.kind == PS__TARGET_SELF;
	pid_t tid = is_callers ? 0 : set->counters.target.tid;

	if (set->counters.target.kind == PS__TARGET_CPU)
		return reserve_slot(set, set->counters.target.cpu, rows);
	if (set->counters.target.kind == PS__TARGET_CGROUP)
		return reserve_instances(set, rows);
	/* If the CPU mask can't be read, for example of a task that has ended, slots are made when
	 * they are met. */
	return ps__locate_for_each_allowed(tid, reserve_allowed, &reservation) == -ENOMEM ? -1 : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The internals of an event set.
 *
 * The counts of a set are kept by hardware thread, in slots. What the backend counted since the
 * last fetch is assigned to the slot of the CPU where the task was seen. A slot's counts start over
 * at ps_start, ps_reset and ps_accum. A reading writes a row for every slot that has counts: base +
 * counts. So the parts of a reading sum up to what the kernel counted, wherever the task has been.
 */
#ifndef PS_EVENTSET_EVENTSET_H
#define PS_EVENTSET_EVENTSET_H

#include "arch/arch.h"
#include "backend/backend.h"
#include "backend/papi_set.h"
#include "base/clock.h"
#include "base/identity.h"
#include "base/os.h"
#include "eventset/fast_path.h"
#include "eventset/method.h"
#include "eventset/parts.h"
#include "eventset/recover.h"
#include "locate/locate.h"
#include "locate/switch_ring.h"
#include "store/recording.h"

#include <perfsage/error.h>
#include <perfsage/eventset.h>
#include <perfsage/read.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* One hardware thread that the set has met. Vectors have the recording's width. */
struct ps__slot {
	struct ps__history *history;
	/* Bases of readings that are not the latest; NULL until one is needed */
	struct ps__history *bases;
	int cpu;
	/* The backend's instance, if the kernel splits the counts; -1: none for this CPU */
	ptrdiff_t instance;
	uint64_t visit;       /* number of the round (per_cpu.visit) that read the instance last */
	bool is_active;       /* in the set's active list: has_counts or has_part */
	bool has_counts;      /* counts were assigned since they started over, even if all are 0 */
	bool has_part;        /* the latest reading has a part here: the history's last row */
	bool has_base;        /* base isn't all zero */
	uint16_t counts_mark; /* attribution and flags (PS__MARK_*) of the counts */
	uint16_t base_mark;   /* attribution and flags of the base */
	/* A bit for each of the first 64 groups: this CPU's kind of core can't count the group */
	uint64_t lacking;
	uint64_t *base;
	/* For snapshots: the sum of the counts that were dropped or moved into the base, their
	 * joined mark, and how often the counts started over */
	struct {
		uint64_t *words;
		uint32_t times;
		uint16_t mark;
	} passed;
	/* The task's time here in the interval being fetched, if counts aren't split */
	uint64_t spent_ns;
	struct ps__interval interval; /* with per-CPU counters: the interval being fetched */
	ptrdiff_t found;              /* the row that ps__set_find_reading found; -1: none */
	uint64_t counts[];
};

/* Where a task has been since its last context switch or the last fetch. For a set that has a
 * switch ring and whose counts aren't split. */
struct ps__stay {
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	int cpu;
	/* The task's CPUs since the last fetch aren't known: lost records, or it kept moving */
	bool is_lost;
	enum {
		PS__STAY_UNKNOWN, /* whether the task runs isn't known: the next switch tells */
		PS__STAY_ON,
		PS__STAY_OFF
	} state;
};

/* Compares the counters' enabled time with the thread's processor time (interruption.c). */
struct ps__balance {
	bool is_begun;
	/* Values at the last comparison: CLOCK_MONOTONIC, the thread's processor time, the number
	 * of its switches, the counters' enabled time */
	uint64_t wall_ns;
	uint64_t cpu_ns;
	uint64_t switches;
	uint64_t enabled_ns;
	uint64_t stopped_ns; /* how long the set was stopped since the comparison */
	uint64_t stop_ns;    /* CLOCK_MONOTONIC of the last stop */
	uint64_t allowed_ns; /* uncounted time that starts and stops since then may have taken */
	uint64_t stall_ns;   /* used part of the allowance for stalls */
};

/* The state of per-CPU counters. The backend has an instance for each CPU. */
struct ps__per_cpu {
	uint64_t visit;  /* number of the current round of reading */
	bool must_sweep; /* it isn't known which instances have counted: read all of them */
	bool has_waited; /* a group was off the hardware while the task ran, since ps_start */
	/* Without residencies: for each instance and group, the enabled time at ps_start; then for
	 * each group, the time that is accounted for, and this time after `settling`. With
	 * residencies: for each instance and group, the part of waiting_total (waiting.c) that is
	 * accounted for */
	uint64_t *elapsed;
	/* Slot of the fetch whose waiting times are being assigned (waiting.c); NULL: none */
	const struct ps__slot *settling;
	/* Slot where the last fetch found the task; NULL: none since ps_start or dropped counts */
	const struct ps__slot *settled;
	int *cpus; /* array that target.instance_cpus points to */
};

/* Hash table of the events by their names, and by the strings under which they were added. An entry
 * is an event's index + 1; 0: empty. */
struct ps__event_names {
	size_t *places;
	size_t capacity;    /* a power of two */
	size_t event_count; /* number of events that are in the table: the first ones of the list */
};

enum ps__set_state {
	PS__SET_NEW, /* not started since its events or its target changed */
	PS__SET_RUNNING,
	PS__SET_UNFETCHED, /* stopped, but the backend still has the final counts */
	PS__SET_STOPPED
};

/* Where the set's readings are stored, and what is known of the latest one. */
struct ps__recorder {
	/* Root of the topology to which the recording is bound; NULL: not bound */
	const struct ps_component *root;
	struct ps__recording *recording; /* NULL until the events are open */
	uint64_t last_timestamp;         /* written after the caller has received it */
	size_t history;                  /* rows that are kept at most; 0: all */
	struct ps__clock clock;
	struct ps__slot *last_slot; /* where the task was seen last */
	/* Started since the last fetch: the slots still have the counts from before the start */
	bool must_clear;
	/* Timestamp by which the caller knows a reading: a call was left before it returned the
	 * reading's new timestamp. 0: there is none */
	uint64_t old_name;
	uint64_t old_name_of; /* that reading's new timestamp */
	struct ps__undo undo;
	struct ps__pending pending;
	struct ps__slot **slots; /* by CPU number; [slot_limit] is the one for CPUs out of range */
	int slot_limit;
	struct ps__slot **active;
	size_t active_count;
	struct ps__slot **met; /* all slots; the active list has room for as many */
	size_t met_count;
	size_t reserved_rows;
	struct ps__recording *last_bound; /* bound last: `recording` or an older one; NULL: none */
	uint64_t past_readings;           /* written to recordings that the set has dropped */
};

/* The counters, and the target that they count. */
struct ps__counters {
	struct ps__backend *backend; /* NULL: not open */
	uint64_t *totals;            /* for each instance, as read last: see ps__set_totals */
	uint64_t *assigned; /* for each instance, the totals that are already in some slot */
	struct ps__target target;
	struct ps__task task;  /* of an attached thread or process */
	struct ps__papi *papi; /* the PAPI set that is wrapped; NULL: events are the set's own */
	pid_t *roots;          /* threads of an attached process; target.roots points to them */
	int *root_cpus;        /* by root, the CPU where it was seen last; -1: never seen */
	pid_t ended_root;      /* thread that had ended when it was to be opened; 0: none */
	bool enables_on_exec;
	bool wants_tasks;        /* keep the tasks of a process apart */
	struct ps__tasks *tasks; /* the tasks that are kept apart; NULL: they aren't */
};

/* The attribution method that is open, and its state. */
struct ps__attribution {
	const struct ps__method *method;
	enum ps_attribution_mode mode;
	/* The one CPU that the task could run on when the set was started; -1: several */
	int only_cpu;
	/* CPU where the task was last seen, for sets without a slot and for methods that split the
	 * counts; -1: not known */
	int last_cpu;
	/* The CPU of an attached task while the switch ring has no new record; -1: not known */
	int followed_cpu;
	struct ps__switch_ring switches; /* of a task that is pinned, split, or counted by PAPI */
	bool cannot_split; /* PAPI counts one task. Set before the events are opened */
	/* The next four are for pinned tasks and mixed; is_moving also for migration records */
	struct ps__stay stay;
	bool has_migrated; /* a pinned task was elsewhere since the last fetch */
	bool has_left;     /* a pinned task was elsewhere since ps_start */
	bool is_moving;    /* it was switched during each attempt of the last fetch to read */
	/* For records and PAPI: it isn't known where the counts since the last fetch belong */
	bool has_lost;
	bool is_lacking;     /* counts since ps_start are missing: of tasks, or of a CPU */
	bool misses_threads; /* the process created threads during each attempt to open it */
	bool is_blind;       /* it isn't known which threads the process had */
	struct ps__per_cpu per_cpu;
	struct ps__time_share time_share;
	size_t descriptors; /* number charged to the process's budget (budget.c) */
	size_t short_of;    /* descriptors that the budget had no room for; 0: it had room */
	char why[512];      /* why the attribution isn't better; "" if it is the best */
};

struct ps__set_events {
	struct ps__event *list;
	size_t count;
	size_t room; /* capacity of the list; 0 for a PAPI set */
	struct ps__event_names names;
};

struct ps_eventset {
	struct ps__calls calls;
	enum ps__set_state state;
	bool is_paused;            /* stopped by ps_pause, and not yet resumed or stopped */
	volatile bool is_starting; /* in a start; if that is left, any counters may be enabled */
	bool is_ended;             /* the counted task has ended */
	bool is_settled; /* the owner has ended, and a foreign thread has stored its final counts */
	struct ps__counters counters;
	struct ps__fast_path fast_path;
	struct ps__recorder recorder;
	struct ps__attribution attribution;
	struct ps__set_events events;
	struct ps__balance balance;
	uint64_t openings;  /* how often the fast path was opened */
	bool has_doubt;     /* parts were doubted, or a wait may have been on any CPU */
	uint64_t snapshots; /* `of` in its snapshots (parts.h); 0: no snapshot yet */
	double reading_ns;  /* cost of one reading; 0: not measured since the events were opened */
};

/* True if the backend may have counts that aren't in slots. */
static inline bool ps__set_has_uncollected(const struct ps_eventset *set)
{
	return set->state == PS__SET_RUNNING || set->state == PS__SET_UNFETCHED;
}

/* ps__set_enter begins every public call. It returns PS_EINVAL for NULL, PS_ECLOST in a forked
 * child, PS_ECNFLCT in a signal handler that interrupted another call. After PS_OK the set is busy
 * until ps__set_leave. */
/* recover.c: begins a call on a set that is busy, NULL or inherited. If an earlier call was left
 * half done (by siglongjmp, or by the end of its thread), finishes or undoes that call, and returns
 * PS_OK. */
int ps__set_refuse(struct ps_eventset *set, const char *call, uintptr_t stack)
    __attribute__((cold));
void ps__set_close_fast_path(struct ps_eventset *set);
static inline int ps__set_enter(struct ps_eventset *set, const char *call)
{
	if (__builtin_expect(
		!set || !ps__fork_is_same(set->calls.fork_generation) || set->calls.busy, 0)) {
		uintptr_t stack;
		ps__arch_note_stack(&stack);
		int result = ps__set_refuse(set, call, stack);
		if (result != PS_OK)
			return result;
	}
	set->calls.busy_thread = ps__thread_number();
	set->calls.busy_tid = ps__own_tid;
	ps__arch_note_stack(&set->calls.busy);
	/* The set is busy now: no handler's call can change what is read from here on. */
	atomic_signal_fence(memory_order_seq_cst);
	if (set->fast_path.root)
		ps__set_close_fast_path(set);
	return PS_OK;
}
static inline void ps__set_leave(struct ps_eventset *set)
{
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(&set->calls.busy, 0, __ATOMIC_RELEASE);
}

/* Does what ps__set_enter does; PS_EISRUN if the set is running. For calls that change the set. */
int ps__set_enter_stopped(struct ps_eventset *set, const char *call);
/* The same for calls that change events or target. PS_ENOSUPP for a PAPI set; `instead` says which
 * PAPI call to use. */
int ps__set_enter_own(struct ps_eventset *set, const char *call, const char *instead);

/* start.c: starts a set that isn't running. If PAPI runs the wrapped set already, takes PAPI's
 * counts from now on. */
int ps__set_start(struct ps_eventset *set);

/* event_names.c: finds an event by the name that is shown, which is unique, or by the string under
 * which it was added. The string differs if it has name=. */
ptrdiff_t ps__set_find_event(struct ps_eventset *set, const char *name); /* the index, or -1 */
void ps__set_forget_names(struct ps_eventset *set); /* call it when indices change */

/* open.c: opens the events if they aren't open, and makes the storage. ps__set_close drops both;
 * the readings stay in the topology. */
int ps__set_open(struct ps_eventset *set);
int ps__set_reopen_if_changed(struct ps_eventset *set);
void ps__set_close(struct ps_eventset *set);

/* storage.c: the recording, the vectors of the counters, and the slots. */
int ps__set_make_storage(struct ps_eventset *set);
void ps__set_drop_storage(struct ps_eventset *set);
/* Makes only the vectors anew: new counters begin at 0, and may be split differently. */
int ps__set_renew_vectors(struct ps_eventset *set);
int ps__set_reserve(struct ps_eventset *set, size_t rows);
/* Marks the backend's totals at the start (origin) as accounted for. */
void ps__set_begin_totals(struct ps_eventset *set);
int ps__set_make_fast_path(struct ps_eventset *set, size_t width);
void ps__set_free_fast_path(struct ps_eventset *set);
/* Puts the fast path's vectors back in their first order, however they were exchanged. */
void ps__set_renew_fast_path(struct ps_eventset *set);

/* eventset.c: sets another target, which the set then owns. Closes the old one. */
void ps__set_retarget(struct ps_eventset *set, struct ps__target target, struct ps__task task);

/* bind.c: binds the set to the topology of its first reading, until that is destroyed. */
int ps__set_bind(struct ps_eventset *set, struct ps_component *root);
/* Returns an unbound recording with the same columns and no reading. NULL if out of memory. */
struct ps__recording *ps__set_copy_recording(const struct ps__recording *model);

/* slot.c: returns the slot of a CPU. Makes the slot when the set meets the CPU for the first time.
 * NULL, with a detail, if out of memory. */
struct ps__slot *ps__set_slot(struct ps_eventset *set, int cpu);
struct ps__slot *ps__set_met_slot(struct ps_eventset *set, int cpu); /* NULL: not met yet */
void ps__set_find_instances(struct ps_eventset *set);
int ps__set_create_slots(struct ps_eventset *set);
void ps__set_free_slots(struct ps_eventset *set);
int ps__set_reserve_slots(struct ps_eventset *set, size_t rows);
int ps__set_make_bases(struct ps_eventset *set, struct ps__slot *slot); /* 0, or -1 */
void ps__set_activate(struct ps_eventset *set, struct ps__slot *slot);
void ps__set_clear_counts(struct ps_eventset *set);
/* Notes the mark for slots that have no counts now, as counts may be missing there. No part of a
 * reading shows the mark, but intervals of snapshots that began earlier do. */
void ps__set_mark_idle(struct ps_eventset *set, uint16_t mark);
/* Clears the old counts before the first counts since a start are assigned. */
static inline void ps__set_begin_counts(struct ps_eventset *set)
{
	if (set->recorder.must_clear)
		ps__set_clear_counts(set);
}

/* Return an instance's totals: as read last (the word before them is the backend's), and as far as
 * they are assigned to slots. */
static inline uint64_t *ps__set_totals(const struct ps_eventset *set, size_t instance)
{
	return set->counters.totals +
	       instance * (1 + ps__recording_width(set->recorder.recording)) + 1;
}
static inline uint64_t *ps__set_assigned(const struct ps_eventset *set, size_t instance)
{
	return set->counters.assigned + instance * ps__recording_width(set->recorder.recording);
}

/* fetch.c: reads the backend's totals, and assigns them to slots. PS_OK, PS_PARTIAL, or a code with
 * a detail. */
int ps__set_fetch(struct ps_eventset *set, struct ps__slot **slot);
void ps__set_label_counts(struct ps__slot *slot, uint16_t mark);
/* Weakens the labels of all parts to this one: some counts may belong to any of the parts. */
void ps__set_doubt_parts(struct ps_eventset *set, unsigned attribution);
uint16_t ps__set_assign(struct ps_eventset *set, struct ps__slot *slot,
                        size_t instance); /* returns flags */
/* Read and assign counts that aren't split: one instance, or one for each thread of a process. All
 * counts go to one slot. */
int ps__set_read_rest(struct ps_eventset *set, int result);
static inline int ps__set_read_whole(struct ps_eventset *set)
{
	struct ps__backend *backend = set->counters.backend;
	int result = backend->ops->read(backend, 0, ps__set_totals(set, 0));

	return __builtin_expect(backend->instances == 1, 1) ? result
	                                                    : ps__set_read_rest(set, result);
}
uint16_t ps__set_assign_whole(struct ps_eventset *set, struct ps__slot *slot); /* returns flags */
static inline bool ps__set_is_failure(int result)
{
	return result != PS_OK && result != PS_PARTIAL;
}

/* owner.c: PS_EINVAL if the caller is a foreign thread (not the owner of a set that counts its
 * owner) and the owner is alive. */
int ps__set_check_caller(struct ps_eventset *set);
/* The same for a call on a set that was started. If the owner has ended: PS_EINVAL, too, except for
 * the first call with is_final, which takes the owner's final counts. */
int ps__set_check_foreign(struct ps_eventset *set, const char *call, bool is_final);
/* After a foreign thread's reading: notes that the ended owner's final counts are stored, and stops
 * the counters. */
void ps__set_settle_foreign(struct ps_eventset *set);
int ps__set_fail_running(struct ps_eventset *set); /* PS_EISRUN */
int ps__set_fail_new(const char *call);            /* PS_ENOTRUN: the state is PS__SET_NEW */

/* from_papi.c: sets that wrap PAPI's. Takes over a set that PAPI_start started, with its counts
 * since then. */
int ps__set_adopt(struct ps_eventset *set);
/* papi_changes.c. Before a start: takes over what the user has changed in the PAPI set. */
int ps__set_refresh_papi(struct ps_eventset *set);
int ps__set_check_papi_owner(const struct ps_eventset *set);
/* Makes the set consist of what `papi` describes. */
int ps__set_take_papi(struct ps_eventset *set, struct ps__papi *papi);

/* interruption.c: call the first before the counters start, and the second after the final counts
 * are fetched. The second is true if something else has switched the counters off. */
void ps__set_begin_balance(struct ps_eventset *set);
bool ps__set_end_balance(struct ps_eventset *set, uint64_t now_ns);

/* write.c: writes a reading into the histories. */
struct ps__write {
	enum ps__write_kind kind;
	struct ps__slot *slot;     /* where the task was seen */
	const long long *counters; /* for STORE: one for each event */
	uint16_t mark;             /* for STORE: its attribution */
	uint64_t now_ns;           /* CLOCK_MONOTONIC; 0: the callee reads the clock */
	bool keeps_labels;         /* the counts don't get the doubts of the bases: for takes */
};
int ps__set_write(struct ps_eventset *set, const struct ps__write *write, uint64_t *timestamp);
void ps__set_write_rows(struct ps_eventset *set, const struct ps__write *write, uint64_t timestamp);
void ps__set_move_into_base(struct ps_eventset *set, struct ps__slot *slot, size_t width);

/* Returns the clock's time, or one just after the set's last reading if that is later. */
static inline uint64_t ps__set_next_timestamp(const struct ps_eventset *set, uint64_t now_ns)
{
	return now_ns > set->recorder.last_timestamp ? now_ns : set->recorder.last_timestamp + 1;
}

/* fast_path_open.c: opens the fast path after a slow reading, if the next one may take it. */
void ps__set_open_fast_path(struct ps_eventset *set, struct ps__slot *slot);
/* Does the same after a take. */
void ps__set_open_fast_take(struct ps_eventset *set, struct ps__slot *slot);
/*
 * Four functions make an older reading the latest on the fast path. They copy its row to the end
 * with the totals that were read, and retire the old row. The reading must have one part, and must
 * be either only read or only accumulated. The first function returns the row of that part, or -1.
 */
ptrdiff_t ps__set_find_old_row(struct ps_eventset *set, uint64_t timestamp,
                               enum ps__write_kind kind);
void ps__set_begin_move(struct ps_eventset *set, size_t row, enum ps__write_kind kind);
void ps__set_cancel_move(struct ps_eventset *set);
/* Ends the move, when the new row is written and is the history's last one. */
void ps__set_end_move(struct ps_eventset *set, size_t row, enum ps__write_kind kind);

/* reading.c: the slow path of ps_read and ps_accum. */
int ps__set_read_slowly(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                        struct ps_thread **thread);
int ps__set_accum_slowly(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                         struct ps_thread **thread);

/* reopen.c: readings that are not the latest. */
int ps__set_make_room_to_reopen(struct ps_eventset *set); /* before an older reading is reopened */
/* Finds the parts of a reading, which ps__set_reopen then uses. False if there is none. */
bool ps__set_find_reading(struct ps_eventset *set, uint64_t timestamp);
/* Returns the row of the reading's only part; -1 if the reading has another part, or its part isn't
 * the slot's or has another mark. */
ptrdiff_t ps__set_find_sole_part(const struct ps_eventset *set, const struct ps__slot *slot,
                                 uint64_t timestamp, uint16_t mark);
int ps__set_keep_bases(struct ps_eventset *set);
void ps__set_forget_parts(struct ps_eventset *set);
/* Makes an older reading's rows the last ones of their histories. The rows are out of order until
 * they are written. So call it between ps__recording_write_begin and _end, after the latest
 * reading's parts were forgotten. */
void ps__set_reopen(struct ps_eventset *set, uint64_t timestamp);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event set inside.
 *
 * The counts of a set are kept by hardware thread, in slots. What the backend counted since the
 * last fetch is assigned to the slot of the CPU where the task was seen; a slot's counts start over
 * at ps_start, ps_reset and ps_accum. A reading writes for every slot that has counts a row: base +
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
	uint64_t visit;  /* the set's number of the visit at which the instance was read last */
	bool is_active;  /* in the set's active list: has_counts or has_part */
	bool has_counts; /* assigned something since the counts started over, if only zeros */
	bool has_part;   /* the latest reading has a part here: the history's last row */
	bool has_base;   /* base isn't all zero */
	uint16_t counts_mark; /* attribution and flags (PS__MARK_*) of the counts */
	uint16_t base_mark;   /* and of what is in the base */
	/* A bit for each of the first 64 groups that this CPU's kind of core can't count */
	uint64_t lacking;
	uint64_t *base;
	/* For snapshots: counts that were dropped or moved to the base, the mark of these, and how
	 * often the counts started over */
	struct {
		uint64_t *words;
		uint32_t times;
		uint16_t mark;
	} passed;
	/* The task's time here in the interval being fetched, for a set that can't be split */
	uint64_t spent_ns;
	/* By group, ns of the interval: on the hardware here; the rest of the enabled time. */
	uint64_t *ran;
	uint64_t *off;
	bool is_assigned; /* method_per_cpu.c: in the interval being fetched */
	ptrdiff_t found;  /* the row that ps__set_find_reading found; -1: none */
	uint64_t counts[];
};

/* The place of a task since the last context switch, or the last fetch: for a set that isn't
 * split and has a switch ring. */
struct ps__stay {
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	int cpu;
	/* Where it was since the last fetch is not known: records were lost, or it never stood
	 * still */
	bool is_lost;
	enum {
		PS__STAY_UNKNOWN, /* on that CPU or off it: the next context switch tells */
		PS__STAY_ON,
		PS__STAY_OFF
	} state;
};

/* The time against which the enabled time of the calling thread's counters is held
 * (interruption.c). */
struct ps__balance {
	bool is_begun;
	/* When they were compared last: CLOCK_MONOTONIC, the thread's processor time, its context
	 * switches, enabled time. */
	uint64_t wall_ns;
	uint64_t cpu_ns;
	uint64_t switches;
	uint64_t enabled_ns;
	uint64_t stopped_ns; /* how long the set was stopped since then, */
	uint64_t stop_ns;    /* and when it was stopped last */
	uint64_t allowed_ns; /* what its starts and stops since then may have taken uncounted */
	uint64_t stall_ns;   /* taken from the allowance for stalls */
};

/* The state of per-CPU counters: an instance for each CPU. */
struct ps__per_cpu {
	uint64_t visit;  /* counts the rounds of reading */
	bool must_sweep; /* which instances have news isn't known: read them all */
	bool has_waited; /* a group was off the hardware while the task ran, since ps_start */
	/* For each instance and group the enabled time at ps_start; then for each group what is
	 * accounted for. With residencies: for each instance and group how much of waiting_total is
	 * accounted for. */
	uint64_t *elapsed;
	/* Where the last fetch found the task; NULL: there was none since ps_start */
	const struct ps__slot *settled;
	int *cpus; /* what target.instance_cpus points at */
};

/* By the hash of its name, or of the string that was added: an event's index and 1; 0: none. */
struct ps__event_names {
	size_t *places;
	size_t capacity;    /* a power of two */
	size_t event_count; /* the first events of the list, that are in it */
};

enum ps__set_state {
	PS__SET_NEW, /* not started since its events or its target changed */
	PS__SET_RUNNING,
	PS__SET_UNFETCHED, /* stopped, but the final counts are still the backend's */
	PS__SET_STOPPED
};

/* Readings go to the slots' histories; and this is known of the latest one. */
struct ps__recorder {
	/* The topology's root, once the recording is bound to it; NULL before */
	const struct ps_component *root;
	struct ps__recording *recording; /* NULL until the events are open */
	uint64_t last_timestamp;         /* stored last of all, when the caller was told it */
	size_t history;                  /* rows that are kept at most; 0: all */
	struct ps__clock clock;
	struct ps__slot *last_slot; /* where the task was seen last */
	/* Started since the last fetch: the slots still have the counts from before */
	bool must_clear;
	/* A timestamp that the caller has of a reading, whose new one he was never told; 0: none */
	uint64_t old_name;
	uint64_t old_name_of; /* that new one */
	struct ps__undo undo;
	struct ps__pending pending;
	struct ps__slot **slots; /* by CPU number; [slot_limit] is the one for CPUs out of range */
	int slot_limit;
	struct ps__slot **active;
	size_t active_count;
	struct ps__slot **met; /* all slots; the active list has room for as many */
	size_t met_count;
	size_t reserved_rows;
	struct ps__recording *last_bound; /* `recording`, or the one before; NULL: none */
	uint64_t past_readings;           /* written to recordings that the set has dropped */
};

/* The counters, and whom they count. */
struct ps__counters {
	struct ps__backend *backend; /* NULL: not open */
	uint64_t *totals;            /* for each instance, as read last: see ps__set_totals */
	uint64_t *assigned; /* for each instance, the totals that are already in some slot */
	struct ps__target target;
	struct ps__task task;  /* of an attached tid */
	struct ps__papi *papi; /* what the set wraps; NULL: its events are its own */
	pid_t *roots;          /* of an attached process; what target.roots points at */
	int *root_cpus;        /* where each was seen last, of those that are looked at; -1: not */
	pid_t ended_root;      /* the backend's ended_tid, when the opening failed */
	bool enables_on_exec;
	bool wants_tasks;        /* of a process, told apart */
	struct ps__tasks *tasks; /* they are; NULL else */
};

/* The attribution method that is open, and its state: it tells where the task was. */
struct ps__attribution {
	const struct ps__method *method;
	enum ps_attribution_mode mode;
	/* The one CPU that the task could run on when the set was started; -1: several */
	int only_cpu;
	/* Before the first slot; of per-CPU counters and records as the switch ring told last */
	int last_cpu;
	/* The CPU of an attached task while the switch ring stands still; -1: not known */
	int followed_cpu;
	struct ps__switch_ring switches; /* of a task that is thought to be pinned, or is split */
	bool cannot_split; /* by CPU: what counts is not perf. Set before the events are opened */
	/* Pinned and mixed; is_moving also of migration records. */
	struct ps__stay stay;
	bool has_migrated; /* a pinned task was elsewhere since the last fetch */
	bool has_left;     /* it was elsewhere since ps_start */
	bool is_moving;    /* it was switched in or out in each of the last fetch's reads */
	/* Migration records, PAPI's: where the counts since the last fetch belong is unknown */
	bool has_lost;
	bool is_lacking;     /* counts since ps_start, as of tasks that left the control group */
	bool misses_threads; /* of a process that created threads while it was opened */
	bool is_blind;       /* which threads the process had is not known */
	struct ps__per_cpu per_cpu;
	struct ps__time_share time_share;
	size_t descriptors; /* that it has of AUTO's budget */
	size_t short_of;    /* descriptors for which it had no room; 0: it had */
	char why[512];      /* why the attribution isn't better; "" if it is the best */
};

struct ps__set_events {
	struct ps__event *list;
	size_t count;
	size_t room; /* that the list has; of a PAPI set 0 */
	struct ps__event_names names;
};

struct ps_eventset {
	struct ps__calls calls;
	enum ps__set_state state;
	bool is_paused;            /* stopped by ps_pause: ps_resume or ps_stop is still to come */
	volatile bool is_starting; /* a call that is left meanwhile leaves some counters disabled */
	bool is_ended;             /* the task */
	bool is_settled; /* the owner has ended, and a foreign thread has stored its final counts */
	struct ps__counters counters;
	struct ps__fast_path fast_path;
	struct ps__recorder recorder;
	struct ps__attribution attribution;
	struct ps__set_events events;
	struct ps__balance balance;
	uint64_t openings;  /* of the fast path */
	bool has_doubt;     /* ps__set_doubt_parts was called */
	uint64_t snapshots; /* names the slots that snapshots are of; 0: there are none */
	double reading_ns;  /* what one costs; 0: not measured since the events were opened */
};

/* True if the backend may have counts that aren't in slots. */
static inline bool ps__set_has_uncollected(const struct ps_eventset *set)
{
	return set->state == PS__SET_RUNNING || set->state == PS__SET_UNFETCHED;
}

/* The beginning of every public call: PS_EINVAL for NULL, PS_ECLOST in a forked child, PS_ECNFLCT
 * from a signal handler that interrupted another call. On PS_OK the set is busy until
 * ps__set_leave. */
/* recover.c: the beginning where it isn't that simple. A call that was left in its midst
 * (siglongjmp, the end of its thread) is finished or undone: PS_OK, and the set is the caller's. */
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
	/* A signal handler's reading changes nothing of what is looked at from here on. */
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

/* As ps__set_enter, for calls that change what a stopped set is made of: PS_EISRUN as well. */
int ps__set_enter_stopped(struct ps_eventset *set, const char *call);
/* The same for calls that change events or target: PS_ENOSUPP for a PAPI set; instead says what to
 * call of PAPI. */
int ps__set_enter_own(struct ps_eventset *set, const char *call, const char *instead);

/* start.c: starts a set that isn't running; of a PAPI set that PAPI runs it takes the counts from
 * now on. */
int ps__set_start(struct ps_eventset *set);

/* event_names.c: by the name that is shown, which is unique; or, where name= gave that, by the
 * string that was added. */
ptrdiff_t ps__set_find_event(struct ps_eventset *set, const char *name); /* the index, or -1 */
void ps__set_forget_names(struct ps_eventset *set); /* the list's indices change */

/* open.c: opens the events, if they aren't, and makes the storage; close drops both: the readings
 * stay in the topology. */
int ps__set_open(struct ps_eventset *set);
int ps__set_reopen_if_changed(struct ps_eventset *set);
void ps__set_close(struct ps_eventset *set);

/* storage.c: the recording, its vectors, and what slots stand in. */
int ps__set_make_storage(struct ps_eventset *set);
void ps__set_drop_storage(struct ps_eventset *set);
/* The vectors alone: new counters begin at 0, and may be split otherwise than before. */
int ps__set_renew_vectors(struct ps_eventset *set);
int ps__set_reserve(struct ps_eventset *set, size_t rows);
/* Takes the backend's totals as accounted for. */
void ps__set_begin_totals(struct ps_eventset *set);
int ps__set_make_fast_path(struct ps_eventset *set, size_t width);
void ps__set_free_fast_path(struct ps_eventset *set);
/* Whichever of its vectors were being exchanged. */
void ps__set_renew_fast_path(struct ps_eventset *set);

/* eventset.c: another target, which the set then owns; what the old one had is closed. */
void ps__set_retarget(struct ps_eventset *set, struct ps__target target, struct ps__task task);

/* bind.c: the topology of the first reading, until it is destroyed. */
int ps__set_bind(struct ps_eventset *set, struct ps_component *root);
/* An unbound recording with the same columns and no reading; NULL for lack of memory. */
struct ps__recording *ps__set_copy_recording(const struct ps__recording *model);

/* slot.c: hardware threads. The slot of a CPU, met for the first time or not; NULL for lack of
 * memory, with a detail. */
struct ps__slot *ps__set_slot(struct ps_eventset *set, int cpu);
void ps__set_find_instances(struct ps_eventset *set);
int ps__set_create_slots(struct ps_eventset *set);
void ps__set_free_slots(struct ps_eventset *set);
int ps__set_reserve_slots(struct ps_eventset *set, size_t rows);
void ps__set_activate(struct ps_eventset *set, struct ps__slot *slot);
void ps__set_clear_counts(struct ps_eventset *set);
/* Counts may be missing in slots that have none since the counts began. No part of a reading shows
 * that, but intervals of snapshots do that began before. */
void ps__set_mark_idle(struct ps_eventset *set, uint16_t mark);
/* Before the first counts since a start are assigned. */
static inline void ps__set_begin_counts(struct ps_eventset *set)
{
	if (set->recorder.must_clear)
		ps__set_clear_counts(set);
}

/* An instance's totals as read last, behind a word that the backend writes to; and those that are
 * already in some slot. */
static inline uint64_t *ps__set_totals(const struct ps_eventset *set, size_t instance)
{
	return set->counters.totals +
	       instance * (1 + ps__recording_width(set->recorder.recording)) + 1;
}
static inline uint64_t *ps__set_assigned(const struct ps_eventset *set, size_t instance)
{
	return set->counters.assigned + instance * ps__recording_width(set->recorder.recording);
}

/* fetch.c: totals from the backend, assigned to slots. PS_OK, PS_PARTIAL, or a code with a
 * detail. */
int ps__set_fetch(struct ps_eventset *set, struct ps__slot **slot);
void ps__set_label_counts(struct ps__slot *slot, uint16_t mark);
/* Where some counts belong isn't known. No part since the counts began is sure then: what is
 * missing in one is in another. */
void ps__set_doubt_parts(struct ps_eventset *set);
uint16_t ps__set_assign(struct ps_eventset *set, struct ps__slot *slot,
                        size_t instance); /* returns flags */
/* Counts that aren't split: one instance, or, of a process, one for each of its threads. All of it
 * goes to a slot. */
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

/* owner.c: a foreign thread, which isn't the owner of a set that counts its owner. PS_EINVAL while
 * the owner is alive. */
int ps__set_check_caller(struct ps_eventset *set);
/* The same for a call on a set that was started. PS_EINVAL as well if the owner has ended, but for
 * a call that may take its final counts (is_final), the first time. */
int ps__set_check_foreign(struct ps_eventset *set, const char *call, bool is_final);
/* After a reading: the final counts of an ended owner are in the tree, if a foreign thread took
 * them. */
void ps__set_settle_foreign(struct ps_eventset *set);
int ps__set_fail_running(struct ps_eventset *set); /* PS_EISRUN */
int ps__set_fail_new(const char *call);            /* PS_ENOTRUN: the state is PS__SET_NEW */

/* from_papi.c: sets that wrap PAPI's. Takes over a set that PAPI_start started, with its counts
 * since then. */
int ps__set_adopt(struct ps_eventset *set);
/* Before a start: takes other events or another target that the user gave the PAPI set. */
int ps__set_refresh_papi(struct ps_eventset *set);
int ps__set_check_papi_owner(const struct ps_eventset *set);
/* Takes what the PAPI set is made of by now. */
int ps__set_take_papi(struct ps_eventset *set, struct ps__papi *papi);

/* interruption.c: around the time in which the set runs: before its counters start, and after the
 * final counts are fetched. True if something else had switched them off. */
void ps__set_begin_balance(struct ps_eventset *set);
bool ps__set_end_balance(struct ps_eventset *set, uint64_t now_ns);

/* write.c: a reading into the histories. */
struct ps__write {
	enum ps__write_kind kind;
	struct ps__slot *slot;     /* where the task was seen */
	const long long *counters; /* of STORE: one for each event */
	uint16_t mark;             /* of STORE: its attribution */
	uint64_t now_ns;           /* what the clock said, or 0: look at it */
};
int ps__set_write(struct ps_eventset *set, const struct ps__write *write, uint64_t *timestamp);
void ps__set_write_rows(struct ps_eventset *set, const struct ps__write *write, uint64_t timestamp);
void ps__set_move_into_base(struct ps_eventset *set, struct ps__slot *slot, size_t width);

/* Gives the clock's time, or one just after the set's last reading if that is later. */
static inline uint64_t ps__set_next_timestamp(const struct ps_eventset *set, uint64_t now_ns)
{
	return now_ns > set->recorder.last_timestamp ? now_ns : set->recorder.last_timestamp + 1;
}

/* fast_path_open.c: the fast path is opened and closed; fast_path.c takes it. */
/* After a reading on the slow path: opens the fast path, if the next one may take it. */
void ps__set_open_fast_path(struct ps_eventset *set, struct ps__slot *slot);
/* The same after a take. */
void ps__set_open_fast_take(struct ps_eventset *set, struct ps__slot *slot);
/*
 * An older reading becomes the latest on the fast path: its row is copied to the end with the
 * totals that were read, and the old row is retired. Only a reading that has one part, and was
 * either only read or only accumulated. Its row, or -1.
 */
ptrdiff_t ps__set_find_old_row(struct ps_eventset *set, uint64_t timestamp,
                               enum ps__write_kind kind);
void ps__set_begin_move(struct ps_eventset *set, size_t row, enum ps__write_kind kind);
void ps__set_cancel_move(struct ps_eventset *set);
/* The new row is written, and the history's last one. */
void ps__set_end_move(struct ps_eventset *set, size_t row, enum ps__write_kind kind);

/* reading.c: the slow path of ps_read and ps_accum. */
int ps__set_read_slowly(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                        struct ps_thread **thread);
int ps__set_accum_slowly(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                         struct ps_thread **thread);

/* reopen.c: readings that are not the latest. */
int ps__set_make_room_to_reopen(struct ps_eventset *set); /* before an older reading is reopened */
/* Looks for a reading's parts, which ps__set_reopen then takes. */
bool ps__set_find_reading(struct ps_eventset *set, uint64_t timestamp);
/* The row of the reading's only part, if that is the slot's and has this mark; or -1. */
ptrdiff_t ps__set_find_sole_part(const struct ps_eventset *set, const struct ps__slot *slot,
                                 uint64_t timestamp, uint16_t mark);
int ps__set_make_bases(struct ps_eventset *set, struct ps__slot *slot);
int ps__set_keep_bases(struct ps_eventset *set);
void ps__set_forget_parts(struct ps_eventset *set);
/* Makes an older reading's rows the last ones of their histories; they are out of order until they
 * are written, so this belongs between ps__recording_write_begin and _end, after the latest
 * reading's parts were forgotten. */
void ps__set_reopen(struct ps_eventset *set, uint64_t timestamp);

#endif

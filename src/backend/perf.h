/* SPDX-License-Identifier: BSD-3-Clause */
/* The internals of the perf backend: groups of perf_event descriptors. For its own files only. */
#ifndef PS_BACKEND_PERF_H
#define PS_BACKEND_PERF_H

#include "backend/backend.h"
#include "base/kept.h"
#include "base/os.h"
#include "locate/ring.h"

#include <errno.h>

/* The most members of a group that the kernel takes: its read buffer then has 32 KiB. */
#define PS__GROUP_MEMBERS 2045

/* read(2) of a group gives the number of members, the enabled and running times, and the values:
 * the leader's, then the others' in the order in which they joined. */
#define PS__READ_FORMAT \
	(PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

struct ps__member {
	/* The mapped page of a group that is read in user space; else NULL */
	struct perf_event_mmap_page *page;
	/* With a page: what to add to the counter, the counter's index, and 64 less its number of
	 * bits */
	uint64_t offset;
	uint32_t index;
	uint32_t shift;
	uint32_t event; /* index of the set's event */
	int fd;         /* -1 while the CPU is offline */
	uint64_t carry; /* what earlier descriptors of the member counted: see perf_recover.c */
	/* Paused, although its counter goes on: the total stays at `held` */
	bool is_held;
	uint64_t held;
	uint64_t id; /* kernel's id of fd */
};

/* Values from the pages of a group that is read in user space, as of the last look. */
struct ps__user {
	uint64_t leader_lock; /* PS__NO_LOCK: the values below are not valid */
	uint32_t locks;       /* sum of all members' locks */
	/* A time is enabled_ns or running_ns, plus the ticks in nanoseconds. The fields are in the
	 * order of use, so that two are loaded at once */
	uint32_t shift;
	uint64_t from_ticks;
	uint64_t tick_mask;
	uint64_t rest_mask;
	uint64_t factor;
	uint64_t enabled_ns;
	uint64_t running_ns;
};
#define PS__NO_LOCK UINT64_MAX

/* Most extra members that a group has: a recorder; or a writer of notes and a sideband event. */
#define PS__EXTRAS_MAX 2

struct ps__group {
	struct ps__member *members; /* [0] is the leader */
	struct ps__member *end;     /* after the last one; set if the group is read in user space */
	size_t count;
	/* On a hybrid machine, in an instance for any CPU: the same group for the next kind of
	 * cores. NULL: the last one, or no other kind */
	struct ps__group *next;
	/* Members after `count` that are not the set's events: they write records, or the member is
	 * the witness of ps__perf_member_count */
	uint32_t extras;
	bool is_user_read; /* read in user space while it is on the hardware: perf_user.c */
	bool is_off;       /* a read found it in the error state, since the last start */
	enum ps__event_class klass;
	uint32_t type; /* PMU type of the leader */
	uint64_t carry_enabled;
	uint64_t carry_running;
	/*
	 * Added to the enabled time, gives the time that is accounted for. Of a CPU target: since
	 * its first start, with the time in which the CPU was seen to be offline. Of tasks: since a
	 * start, the same one for all groups of the instance. Time of planning is left out
	 */
	uint64_t shift_ns;
	/* A CPU target's enabled time at the last read; it stands still while the CPU is offline */
	uint64_t last_enabled;
	/* CLOCK_MONOTONIC after that read, or after the start. Of tasks: also at the last read that
	 * found the group in the error state */
	uint64_t last_ns;
	struct ps__user user;
	bool is_planned; /* opened to try which events fit; it counted meanwhile */

	/* In the first instance: bit k is set if the group's events are for perf->kinds[k] */
	uint32_t kinds;
	uint32_t pmu_type; /* PMU type of this kind of cores; 0: PS__KIND_ANY */
	/* The instance's CPU lacks the events: a dummy in their place measures how long the task
	 * was there */
	bool stands_in;
	uint64_t *own; /* in a chain of kinds: times and values of this group alone */
};

/* Whom, and where, perf_event_open is asked to count. */
struct ps__place {
	/* config1 bits with which core events ask to be read in user space */
	uint64_t user_config1;
	pid_t pid;
	int cpu;           /* -1: any */
	uint32_t pmu_type; /* variant to open, if the event has several; 0: it has none */
	bool inherit;
	bool counts_at_once;
	bool stands_in; /* open a dummy in place of the event */
	bool enables_on_exec;
	bool tells_tasks;
	bool watches_execs; /* leaders record programs that begin: see perf_execs.c */
	bool is_cgroup;     /* pid is a descriptor of the group's folder */
	bool as_asked;      /* a sampler's: leave all fields of the event's attr as they are */
};

/* All groups of the set in one place. The size is a power of two, so that a reading finds an
 * instance by a shift. */
struct ps__instance {
	struct ps__place place;
	struct ps__group *groups; /* base.groups of them, the same in every instance */
	/* group whose values, read in user space, are the totals; NULL: none */
	struct ps__group *direct_user;
	/* Descriptor whose read(2) gives the totals in their final form; -1: several reads are put
	 * together */
	int direct_fd;
	/* Event that measures how long the task was here; valid if base.residency_ns isn't NULL */
	int residency_fd;
	uint64_t residency_id; /* kernel's id of residency_fd */
};

/* A kind of cores: its PMU type in sysfs, and its CPUs (text that belongs to the event). */
struct ps__kind {
	uint32_t pmu_type;
	const char *cpus;
};
#define PS__KINDS_MAX 32
#define PS__KIND_ANY  0 /* index of the kind for events of no particular kind */

/* A group's last member, which is not an event of the set: it records migrations. */
struct ps__perf_recorder {
	int fd;
	uint64_t id; /* kernel's id of fd */
	struct ps__ring ring;
};

struct ps__perf {
	struct ps__backend base;
	struct ps__target target;
	struct ps__instance *instances; /* base.instances of them */
	struct ps__event *events;       /* owned by the set */
	size_t event_count;
	struct ps__perf_recorder
	    *recorders;   /* by group, of the only instance; NULL: there are none */
	uint64_t *buffer; /* for the read(2) of a group */
	size_t buffer_bytes;
	size_t direct_bytes;     /* size of the read(2) of a direct_fd */
	uint64_t direct_members; /* expected first word of that read */
	/* value of ps__os_losses at the last look: see ps__perf_is_lost */
	uint64_t losses;
	struct ps__perf_tasks *tasks; /* NULL: tasks aren't kept apart */
	struct ps__perf_execs *execs; /* NULL: programs aren't watched */
	bool counting;
	uint64_t user_config1; /* for the place of every instance */
	/* Time that it counted, up to the last stop; while it counts: PS__COUNTING, with
	 * CLOCK_MONOTONIC less that time. One word, which no jump can leave half changed */
	uint64_t past_ns;
	uint64_t started_ns; /* CLOCK_MONOTONIC */
	/* PS__KIND_ANY, and the kinds that the events have variants for */
	struct ps__kind kinds[PS__KINDS_MAX];
	size_t kind_count;
};

/* Returns the number of the group's descriptors in `members`. A control group's single event has a
 * witness there, after `count`: a dummy. Without it a read wouldn't show that the kernel has taken
 * the group apart, because the event's CPU was offline. */
static inline size_t ps__perf_member_count(const struct ps__perf *perf,
                                           const struct ps__group *group)
{
	return group->count + (perf->target.kind == PS__TARGET_CGROUP ? group->extras : 0);
}

/* Returns the size of perf_event_attr that the running kernel knows, in bytes; or -errno, -EPROTO
 * if the kernel doesn't tell it. */
int ps__perf_ask_attr_size(void);
/* Returns the same for the sentence about E2BIG. If the kernel doesn't tell: perfsage's size. */
uint32_t ps__perf_kernel_attr_size(void);
/* perf_event_open with close-on-exec; the descriptor or -errno. Notes in event->control whether it
 * has attached the program. */
int ps__perf_open_event(struct ps__event *event, struct ps__place place, int group_fd);

/* Opens the group's witness as members[count]. Returns the descriptor or -errno. */
int ps__perf_open_witness(const struct ps__perf *perf, struct ps__place place,
                          struct ps__group *group);

/* Opens an event, too. If counting in the kernel isn't permitted, and the event's name doesn't set
 * the domain, limits the event to user space. -errno on failure. */
int ps__perf_open_settled(struct ps__event *event, struct ps__place place, int group_fd);

/* perf_direct.c: one read(2) that brings an instance's totals. */
int ps__perf_read_direct(struct ps__backend *backend, size_t instance, uint64_t *totals);
/* Returns PS_ECLOST: the program has closed descriptors. From then on nothing is read: a read could
 * take bytes out of a pipe of the program's. */
int ps__perf_fail_lost(struct ps__perf *perf);
/* True if the program is known to have closed some of these descriptors. */
#define PS__PERF_LOST UINT64_MAX
bool ps__perf_look(struct ps__perf *perf);
static inline bool ps__perf_is_lost(struct ps__perf *perf)
{
	uint64_t losses = atomic_load_explicit(&ps__os_losses, memory_order_relaxed);

	return __builtin_expect(perf->losses != losses, 0) && ps__perf_look(perf);
}
/* Returns a code, with a detail, for the errno of a failed read. */
int ps__perf_fail_read(struct ps__perf *perf, const struct ps__group *group);

/*
 * The number of times that the events of a process are enabled or disabled, with a pause in
 * between. A new task's events are copies of its creator's, in the state that these have at that
 * moment. If the creator's events are copies, too, the kernel doesn't make the new task wait for an
 * ioctl that is under way: the new copies may keep the old state, and so may the copies of its
 * descendants. The next turn also reaches these copies, when the creator has gone on.
 * doc/measurements has figures.
 */
#define PS__PROCESS_TURNS 3
#define PS__TURN_MS       1

/* perf_read.c: reads the same totals, group by group. The second is for the vtable. */
int ps__perf_read_groups(struct ps__perf *perf, size_t instance, uint64_t *totals);
int ps__perf_begin_run(struct ps__backend *backend, size_t instance, const uint64_t *totals);

/* Opens all instances and groups of a backend whose events and target are set: all or none. */
int ps__perf_open_instances(struct ps__perf *perf);
void ps__perf_close_instances(struct ps__perf *perf, bool abandon);

/* perf_explain.c: returns a code, with a sentence for the errno with which opening an event of the
 * set failed for a thread. */
int ps__perf_explain_event(struct ps__perf *perf, size_t event, pid_t tid, int error);
/* Opens a dummy on the thread, which counts nothing and is not inherited. Returns a descriptor, or
 * -errno. */
int ps__perf_open_own_dummy(pid_t tid);
/* True if a call failed because the thread has ended (ESRCH); sets the backend's ended_tid. If a
 * group's leader has ended, the kernel refuses its members with ENODEV or EINVAL: if the thread
 * still lives then, ended_tid is PS__LOST_LEADER. */
bool ps__perf_note_ended(struct ps__perf *perf, pid_t tid, int error);

/* True if there is a seccomp filter, as in containers: it may forbid system calls. */
bool ps__perf_has_seccomp_filter(void);

/* perf_hybrid.c: finds the kinds of cores that the events are for. */
int ps__perf_find_kinds(struct ps__perf *perf);
uint32_t ps__perf_kinds_of(const struct ps__perf *perf,
                           const struct ps__event *event); /* a bit for each */
bool ps__perf_has_kind(const struct ps__perf *perf, const struct ps__instance *instance,
                       size_t kind);
/* perf_plan.c: the first finds out which events fit in one group, in instances for which
 * is_planned_in is true. The groups count meanwhile; the second stops that. */
int ps__perf_plan(struct ps__perf *perf);
int ps__perf_end_planning(struct ps__perf *perf);
/* perf_join.c: lead_group opens a new group with the event as its leader, on all kinds of cores
 * that the event is for. join_group adds an event to a group on all of these kinds, or on none
 * (PS_ENOCNTR, without a detail). complete_instance opens the remaining groups of an instance. */
int ps__perf_lead_group(struct ps__perf *perf, size_t event, uint32_t kinds);
int ps__perf_join_group(struct ps__perf *perf, size_t index, size_t event);
/* True if leader and member are software events of different PMUs. The kernel has a PMU for each
 * type of software events, and one for each of the two clocks. If a core's event leads a group, its
 * members all count as being of the leader's PMU. */
static inline bool ps__perf_is_foreign(const struct ps__event *leader,
                                       const struct ps__event *member)
{
	bool is_clock = ps__event_is_clock(&leader->attr) || ps__event_is_clock(&member->attr);

	return leader->klass == PS__EVENT_CLASS_SOFTWARE &&
	       (leader->attr.type != member->attr.type ||
	        (is_clock && leader->attr.config != member->attr.config));
}
bool ps__perf_is_planned_in(const struct ps__perf *perf, const struct ps__instance *instance);
int ps__perf_complete_instance(struct ps__perf *perf, struct ps__instance *instance);
/* perf_pause.c: the first pauses or resumes one event, for the vtable. The second pauses the events
 * that were paused before they were opened. */
int ps__perf_pause_event(struct ps__backend *backend, size_t event, bool pauses);
int ps__perf_pause_events(struct ps__perf *perf);
/* Disables paused members, before new descriptors of a group are enabled. */
void ps__perf_pause_members(struct ps__perf *perf, const struct ps__group *group);
/* Returns a member's total; not more than `held`, if it is held: a record from before the pause can
 * have less. */
static inline uint64_t ps__perf_member_total(const struct ps__member *member, uint64_t count)
{
	uint64_t total = count + member->carry;

	return __builtin_expect(member->is_held, 0) && total > member->held ? member->held : total;
}
/* perf_direct.c: for the vtable. */
int ps__perf_peek(const struct ps__backend *backend, size_t instance, uint64_t *totals);
/* perf_counter.c: for the vtable. */
int ps__perf_visit_counters(struct ps__backend *backend, ps__counter_visit *visit, void *context);
/* perf_tasks_open.c: opens dummies that record the tasks. They join the groups when all instances
 * are open. The anchors are opened before the groups. */
int ps__perf_open_anchors(struct ps__perf *perf);
int ps__perf_open_tasks(struct ps__perf *perf);
/* False if the program has closed descriptors of these dummies. True if tasks aren't kept apart. */
bool ps__perf_has_tasks(const struct ps__perf *perf);
void ps__perf_close_tasks(struct ps__perf *perf, bool abandon);
void ps__perf_take_tasks(struct ps__backend *backend, ps__task_visit *visit, void *context);
/* perf_execs.c: watches programs from which the kernel removes the counters. True if they are
 * watched: an inherited event can have a ring only if it is of one CPU. */
static inline bool ps__perf_watches_execs(const struct ps__target *target)
{
	return target->kind == PS__TARGET_PROCESS && target->instance_count > 0 &&
	       !target->tells_tasks;
}
void ps__perf_watch_execs(struct perf_event_attr *attr);
int ps__perf_open_execs(struct ps__perf *perf);
void ps__perf_close_execs(struct ps__perf *perf, bool abandon);
/* perf_tasks.c calls these if its notes have an exec's record, or say that records were lost. */
void ps__perf_note_exec(struct ps__perf *perf, const void *record);
void ps__perf_note_lost_execs(struct ps__perf *perf);
void ps__perf_note_start(struct ps__perf *perf);
void ps__perf_note_stop(struct ps__perf *perf);
const struct ps__uncounted *ps__perf_take_uncounted(struct ps__backend *backend);
/* perf_records.c: a recorder for each group, if the target has records; and drain, for the
 * vtable. */
int ps__perf_open_records(struct ps__perf *perf);
void ps__perf_close_records(struct ps__perf *perf, bool abandon);
bool ps__perf_drain(struct ps__backend *backend, size_t group, uint64_t *totals,
                    ps__backend_visit *visit, void *context);

/* perf_residency.c: if groups take turns, opens an event for each instance, to tell waiting from
 * being on another CPU. */
int ps__perf_open_residency(struct ps__perf *perf);
void ps__perf_close_residency(struct ps__perf *perf, bool abandon);
int ps__perf_control_residency(struct ps__perf *perf, const struct ps__instance *instance,
                               unsigned long request);
int ps__perf_read_residency(struct ps__perf *perf,
                            size_t instance); /* call it before the groups are read */

/* An event that counts nothing; its times are used. */
struct ps__dummy {
	int fd;
	int cpu;   /* -1: any */
	pid_t tid; /* 0: the thread that opened it */
	uint64_t id;
};
#define PS__DUMMY_WORDS 3 /* of its read(2): a count, enabled time, running time */

int ps__perf_open_dummy(const struct ps__instance *instance); /* the descriptor, or -errno */
int ps__perf_control_dummy(struct ps__perf *perf, struct ps__dummy dummy, unsigned long request);
int ps__perf_read_dummy(struct ps__perf *perf, struct ps__dummy dummy, uint64_t *words);
/* perf_clocks.c: measures how long a process's tasks were on each CPU, if the target has clocks. */
int ps__perf_open_clocks(struct ps__perf *perf);
void ps__perf_close_clocks(struct ps__perf *perf, bool abandon);
int ps__perf_control_clocks(struct ps__perf *perf, unsigned long request);
int ps__perf_read_clocks(struct ps__backend *backend);

/* Writes the group that is in perf->buffer to times and values, and adds what earlier descriptors
 * counted (carry). */
int ps__perf_store_group(struct ps__perf *perf, const struct ps__group *group, uint64_t *times,
                         uint64_t *values);

/* Returns a code, with a sentence for the errno with which opening failed. needed: descriptors for
 * the whole set. */
int ps__perf_explain(const struct ps__event *event, struct ps__target target, int error,
                     size_t needed);

/*
 * Handles a group whose CPU went offline: the kernel has taken the group apart, and it counts no
 * longer. Saves what every descriptor counted. Opens the group again, now or at a later call, when
 * the CPU is back.
 */
void ps__perf_recover(struct ps__perf *perf, struct ps__group *group);

#define PS__COUNTING (UINT64_C(1) << 63)

/* Returns how long the backend has counted until now, between its starts and stops. */
static inline uint64_t ps__perf_due_ns(const struct ps__perf *perf, uint64_t now)
{
	return perf->past_ns & PS__COUNTING ? (now - perf->past_ns) & ~PS__COUNTING : perf->past_ns;
}
/* For a CPU target. Returns how much longer the backend has counted than a group, whose enabled
 * time is given. What the group counted while it was planned is not included. */
uint64_t ps__perf_missing_ns(const struct ps__perf *perf, const struct ps__group *group,
                             uint64_t enabled_ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The perf backend inside: groups of perf_event descriptors. Shared by its files alone. */
#ifndef PS_BACKEND_PERF_H
#define PS_BACKEND_PERF_H

#include "backend/backend.h"
#include "base/kept.h"
#include "base/os.h"
#include "locate/ring.h"

#include <errno.h>

/* The kernel takes no more members; the read buffer of one group then has 32 KiB. */
#define PS__GROUP_MEMBERS 2045

/* A group's read(2) gives: how many, the two times, the leader's value and the others' as they
 * joined. */
#define PS__READ_FORMAT \
	(PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

struct ps__member {
	/* The mapped page of a group that is read in user space; else NULL */
	struct perf_event_mmap_page *page;
	/* With a page: on which counter it is, what is to be added to that, and 64 less the
	 * counter's bits. */
	uint64_t offset;
	uint32_t index;
	uint32_t shift;
	uint32_t event; /* which of the set's */
	int fd;         /* -1 while the CPU is offline */
	uint64_t carry; /* what descriptors before this one counted: see perf_recover.c */
	/* Paused while the hardware goes on: the total stands at `held` */
	bool is_held;
	uint64_t held;
	uint64_t id; /* the kernel's, of fd */
};

/* The content of the pages of a group that is read in user space, at the last look. */
struct ps__user {
	uint64_t leader_lock; /* PS__NO_LOCK: nothing that could be believed */
	uint32_t locks;       /* the sum of all */
	/* Times are the last two, and the nanoseconds of the ticks. In the order in which they are
	 * used: two at once. */
	uint32_t shift;
	uint64_t from_ticks;
	uint64_t tick_mask;
	uint64_t rest_mask;
	uint64_t factor;
	uint64_t enabled_ns;
	uint64_t running_ns;
};
#define PS__NO_LOCK UINT64_MAX

/* A recorder; or a writer of notes and a sideband event. */
#define PS__EXTRAS_MAX 2

struct ps__group {
	struct ps__member *members; /* [0] leads */
	struct ps__member *end;     /* behind the last; of a group that is read in user space */
	size_t count;
	/* On a hybrid machine, in an instance for any CPU: the same for the next kind of cores.
	 * NULL, else and at the end. */
	struct ps__group *next;
	/* Members behind these that are no events of the set's: they write records */
	uint32_t extras;
	bool is_user_read; /* if it is on the hardware: see perf_user.c */
	enum ps__event_class klass;
	uint32_t type; /* of the leader's PMU */
	uint64_t carry_enabled;
	uint64_t carry_running;
	/* The time for which the CPU of a CPU target was seen to be offline: nothing could be
	 * counted in it */
	uint64_t offline_ns;
	/* A CPU target's enabled time at its last read; it stands still while the CPU is offline */
	uint64_t last_enabled;
	uint64_t last_ns; /* CLOCK_MONOTONIC after that read, or after the start */
	struct ps__user user;
	uint64_t blind_since; /* in the error state: CLOCK_MONOTONIC of the last look; 0 else */
	bool is_planned;      /* it was tried here which events fit, and counted meanwhile */

	/* In the first instance: a bit for each of perf->kinds that the group's events are for */
	uint32_t kinds;
	uint32_t pmu_type; /* the kind of this one; 0: PS__KIND_ANY */
	/* The instance's CPU has no such events: a dummy in their place tells how long the task was
	 * there */
	bool stands_in;
	uint64_t *own; /* in a chain: this one's times and values */
};

/* A place is what perf_event_open is asked to count. */
struct ps__place {
	/* Bits of config1 by which events of the cores ask for being read in user space */
	uint64_t user_config1;
	pid_t pid;
	int cpu;           /* -1: any */
	uint32_t pmu_type; /* which variant of an event that has several; 0: it has none */
	bool inherit;
	bool counts_at_once;
	bool stands_in; /* a dummy in place of the event */
	bool enables_on_exec;
	bool tells_tasks;
	bool watches_execs; /* leaders write records of programs that begin: see perf_execs.c */
	bool is_cgroup;     /* pid is the descriptor of its folder */
	bool as_asked;      /* all fields of its attr are the event's own: a sampler's */
};

/* All groups of the set in one place. Its size is a power of two: a reading finds one by a shift.
 */
struct ps__instance {
	struct ps__place place;
	struct ps__group *groups;      /* base.groups of them, alike in every instance */
	struct ps__group *direct_user; /* what is read in user space are the totals; NULL: not so */
	/* The descriptor whose read(2) gives the totals as they are asked for; -1: they are put
	 * together */
	int direct_fd;
	/* The event that tells how long the task was here; while base.residency_ns isn't NULL */
	int residency_fd;
	uint64_t residency_id; /* the kernel's */
};

/* A kind of cores: its PMU's number in sysfs, and its CPUs (the events' text). */
struct ps__kind {
	uint32_t pmu_type;
	const char *cpus;
};
#define PS__KINDS_MAX 32
#define PS__KIND_ANY  0 /* the first of them: events that are for no kind in particular */

/* A group's last member, which is no event of the set's: it records migrations. */
struct ps__perf_recorder {
	int fd;
	uint64_t id; /* the kernel's */
	struct ps__ring ring;
};

struct ps__perf {
	struct ps__backend base;
	struct ps__target target;
	struct ps__instance *instances; /* base.instances of them */
	struct ps__event *events;       /* the set's */
	size_t event_count;
	struct ps__perf_recorder
	    *recorders;   /* by group, of the one instance; NULL: there are none */
	uint64_t *buffer; /* for one group read */
	size_t buffer_bytes;
	size_t direct_bytes;          /* of a read(2) of a direct_fd */
	uint64_t direct_members;      /* what its first word is */
	uint64_t losses;              /* that were looked at: see ps__perf_is_lost */
	struct ps__perf_tasks *tasks; /* NULL: they aren't told apart */
	struct ps__perf_execs *execs; /* NULL: they aren't watched */
	bool counting;
	uint64_t user_config1; /* of every instance's place */
	uint64_t past_ns;      /* of a CPU target: how long it counted before the last start */
	uint64_t started_ns;   /* CLOCK_MONOTONIC */
	/* PS__KIND_ANY, and those of the events that have variants */
	struct ps__kind kinds[PS__KINDS_MAX];
	size_t kind_count;
};

/* The bytes of perf_event_attr that the running kernel knows, or -errno; -EPROTO: it doesn't
 * tell. */
int ps__perf_ask_attr_size(void);
/* The same where the kernel has refused an attr with E2BIG, for the sentence. */
uint32_t ps__perf_kernel_attr_size(void);
/* perf_event_open with close-on-exec; the descriptor or -errno. */
int ps__perf_open_event(const struct ps__event *event, struct ps__place place, int group_fd);

/* As that; falls back to user space where the name leaves it open and no more is permitted. -errno
 * on failure. */
int ps__perf_open_settled(struct ps__event *event, struct ps__place place, int group_fd);

/* perf_direct.c: one read(2) that brings an instance's totals. */
int ps__perf_read_direct(struct ps__backend *backend, size_t instance, uint64_t *totals);
/* PS_ECLOST: the descriptors are the program's by now. Once it is known nothing more is read: it
 * would be taken out of a pipe of the program's. */
int ps__perf_fail_lost(struct ps__perf *perf);
/* Has the program closed descriptors of these, as far as is known? */
#define PS__PERF_LOST UINT64_MAX
bool ps__perf_look(struct ps__perf *perf);
static inline bool ps__perf_is_lost(struct ps__perf *perf)
{
	uint64_t losses = atomic_load_explicit(&ps__os_losses, memory_order_relaxed);

	return __builtin_expect(perf->losses != losses, 0) && ps__perf_look(perf);
}
int ps__perf_fail_read(struct ps__perf *perf, const struct ps__group *group); /* by errno */

/*
 * The events of a process are enabled or disabled so often, with a pause in between. A new task's
 * events are copies of its creator's, in the state that those have at that moment. If its
 * creator has copies, too, the kernel doesn't make it wait for an ioctl that is under way: the new
 * copies may stay as they were, and with them those of all tasks that they are handed on to. The
 * next turn finds them, when the task that made them has gone on. doc/measurements has figures.
 */
#define PS__PROCESS_TURNS 3
#define PS__TURN_MS       1

/* perf_read.c: the same totals, group by group. */
int ps__perf_read_groups(struct ps__perf *perf, size_t instance, uint64_t *totals);

/* Opens all instances and groups of a backend whose events and target are set: all or none. */
int ps__perf_open_instances(struct ps__perf *perf);
void ps__perf_close_instances(struct ps__perf *perf, bool abandon);

/* perf_explain.c: a code and a sentence for the errno with which opening an event of the set
 * failed for a thread. */
int ps__perf_explain_event(struct ps__perf *perf, size_t event, pid_t tid, int error);
/* A dummy of the thread alone, which counts nothing and is not inherited: a descriptor, or -errno.
 */
int ps__perf_open_own_dummy(pid_t tid);
/* Did a call fail because the thread has ended? Then it is the backend's ended_tid. ESRCH says so;
 * a group's leader that has ended makes the kernel refuse its members with ENODEV or EINVAL: if the
 * thread lives, the backend has lost the leader. */
bool ps__perf_note_ended(struct ps__perf *perf, pid_t tid, int error);

/* As in containers: it may forbid system calls. */
bool ps__perf_has_seccomp_filter(void);

/* perf_hybrid.c: the kinds of cores that the events are for. */
int ps__perf_find_kinds(struct ps__perf *perf);
uint32_t ps__perf_kinds_of(const struct ps__perf *perf,
                           const struct ps__event *event); /* a bit for each */
bool ps__perf_has_kind(const struct ps__perf *perf, const struct ps__instance *instance,
                       size_t kind);
/* perf_plan.c: which events are a group, tried where is_planned_in; and an end of counting. */
int ps__perf_plan(struct ps__perf *perf);
int ps__perf_end_planning(struct ps__perf *perf);
/* perf_join.c: a new group, which the event leads on all of its kinds; an event joins a group on
 * all of its kinds, or on none (PS_ENOCNTR, without a detail); then all groups of an instance. */
int ps__perf_lead_group(struct ps__perf *perf, size_t event, uint32_t kinds);
int ps__perf_join_group(struct ps__perf *perf, size_t index, size_t event);
/* Software events whose leader is of another of the kernel's PMUs. It has one for each type of
 * software events, and one for each of the two clocks. In a group of the cores' events all have the
 * leader's. */
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
/* perf_pause.c: one event is left out; the vtable's, and of those that are paused when they are
 * opened. */
int ps__perf_pause_event(struct ps__backend *backend, size_t event, bool pauses);
int ps__perf_pause_events(struct ps__perf *perf);
/* Before new descriptors of a group are enabled. */
void ps__perf_pause_members(struct ps__perf *perf, const struct ps__group *group);
/* A record that the kernel wrote before the pause has less than what is held. */
static inline uint64_t ps__perf_member_total(const struct ps__member *member, uint64_t count)
{
	uint64_t total = count + member->carry;

	return __builtin_expect(member->is_held, 0) && total > member->held ? member->held : total;
}
/* perf_direct.c: the vtable's. */
int ps__perf_peek(const struct ps__backend *backend, size_t instance, uint64_t *totals);
/* perf_counter.c: the vtable's. */
int ps__perf_visit_counters(struct ps__backend *backend, ps__counter_visit *visit, void *context);
/* perf_tasks_open.c: records of the tasks, by dummies that join the groups once all instances are
 * open. The anchors come before the groups. */
int ps__perf_open_anchors(struct ps__perf *perf);
int ps__perf_open_tasks(struct ps__perf *perf);
/* False: the program has closed descriptors of theirs. True if they aren't told apart, too. */
bool ps__perf_has_tasks(const struct ps__perf *perf);
void ps__perf_close_tasks(struct ps__perf *perf, bool abandon);
void ps__perf_take_tasks(struct ps__backend *backend, ps__task_visit *visit, void *context);
/* perf_execs.c: programs from which the kernel takes the counters. A ring can be had for an
 * inherited event of one CPU only. */
static inline bool ps__perf_watches_execs(const struct ps__target *target)
{
	return target->kind == PS__TARGET_PROCESS && target->instance_count > 0 &&
	       !target->tells_tasks;
}
void ps__perf_watch_execs(struct perf_event_attr *attr);
int ps__perf_open_execs(struct ps__perf *perf);
void ps__perf_close_execs(struct ps__perf *perf, bool abandon);
/* perf_tasks.c finds these among its notes: a record, or that some were lost. */
void ps__perf_note_exec(struct ps__perf *perf, const void *record);
void ps__perf_note_lost_execs(struct ps__perf *perf);
void ps__perf_note_start(struct ps__perf *perf);
void ps__perf_note_stop(struct ps__perf *perf);
const struct ps__uncounted *ps__perf_take_uncounted(struct ps__backend *backend);
/* perf_records.c: a recorder for each group, if the target is to have them; and the vtable's
 * drain. */
int ps__perf_open_records(struct ps__perf *perf);
void ps__perf_close_records(struct ps__perf *perf, bool abandon);
bool ps__perf_drain(struct ps__backend *backend, size_t group, uint64_t *totals,
                    ps__backend_visit *visit, void *context);

/* perf_residency.c: an event for each instance that tells waiting from being elsewhere, if there
 * are groups that take turns. */
int ps__perf_open_residency(struct ps__perf *perf);
void ps__perf_close_residency(struct ps__perf *perf, bool abandon);
int ps__perf_control_residency(struct ps__perf *perf, const struct ps__instance *instance,
                               unsigned long request);
int ps__perf_read_residency(struct ps__perf *perf,
                            size_t instance); /* before the instance's groups */

/* An event that counts nothing and tells its times. */
struct ps__dummy {
	int fd;
	int cpu;   /* -1: any */
	pid_t tid; /* 0: the thread that opened it */
	uint64_t id;
};
#define PS__DUMMY_WORDS 3 /* its read(2) gives a count, and the times enabled and running */

int ps__perf_open_dummy(const struct ps__instance *instance); /* the descriptor, or -errno */
int ps__perf_control_dummy(struct ps__perf *perf, struct ps__dummy dummy, unsigned long request);
int ps__perf_read_dummy(struct ps__perf *perf, struct ps__dummy dummy, uint64_t *words);
/* perf_clocks.c: how long a process's tasks were on each CPU, if the target has clocks. */
int ps__perf_open_clocks(struct ps__perf *perf);
void ps__perf_close_clocks(struct ps__perf *perf, bool abandon);
int ps__perf_control_clocks(struct ps__perf *perf, unsigned long request);
int ps__perf_read_clocks(struct ps__backend *backend);

/* Adds what one read(2) of a group brought into perf->buffer to the totals. */
int ps__perf_store_group(struct ps__perf *perf, const struct ps__group *group, uint64_t *times,
                         uint64_t *values);

/* A code and a sentence for the errno with which opening failed. needed: descriptors for the whole
 * set. */
int ps__perf_explain(const struct ps__event *event, struct ps__target target, int error,
                     size_t needed);

/*
 * After a CPU went offline the kernel has taken its groups apart and counts no longer: saves what
 * every descriptor counted, and opens the group anew if the CPU is back; else at the next call.
 */
void ps__perf_recover(struct ps__perf *perf, struct ps__group *group);

#endif

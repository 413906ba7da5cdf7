/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event: a name turned into what perf_event_open takes.
 *
 * ps__event_parse looks a name up; nothing is opened here. The rooms above open
 * it and learn whether this machine and this user can count it.
 */
#ifndef PS_EVENT_EVENT_H
#define PS_EVENT_EVENT_H

#include <linux/perf_event.h>
#include <perfsage/counter.h>
#include <perfsage/event.h>
#include <perfsage/eventset.h>
#include <stdbool.h>
#include <stdint.h>

/* Longer names are refused, so that every detail sentence can quote the whole
 * name. */
#define PS__EVENT_NAME_MAX 511

#define PS__LATER_CONFIGS 2 /* config3 and config4, which attr may be too old to have: attr.h */

/* Which events can be in one group: those of one core PMU and software events;
 * others only among themselves. */
enum ps__event_class {
	PS__EVENT_CLASS_SOFTWARE, /* software, tracepoints, msr: can join any group */
	PS__EVENT_CLASS_CORE,     /* the core's own PMU: hardware, cache, raw */
	PS__EVENT_CLASS_OTHER     /* an uncore, energy or device PMU: groups with its like only */
};

/* On a machine with several core PMUs, one for each kind of cores: how one of
 * them is asked for the event. */
struct ps__variant {
	uint32_t pmu_type; /* the PMU's number in sysfs: tells kinds apart */
	uint32_t type;     /* these in place of what the event has */
	uint64_t config, config1, config2, later[PS__LATER_CONFIGS];
	char *cpus; /* the list of the CPUs that the PMU is for; owned */
};

/* The user's wishes for an event in a set, beside counting it: perfsage/counter.h. */
struct ps__event_control {
	enum ps_grouping grouping;
	uint32_t unit; /* of TOGETHER and WEAK: those with one number belong together */
	bool is_paused;
	bool has_bpf;
	int bpf_fd;   /* the user's */
	char *filter; /* of a tracepoint; owned; NULL: none */
};

struct ps__event {
	char *name;    /* as the user wrote it, or the term name= of pmu/.../; owned */
	char *written; /* as the user wrote it, where name is another; NULL else; owned */
	/* Type, config*, exclude_*: the rest is the backend's to fill */
	struct perf_event_attr attr;
	uint64_t later[PS__LATER_CONFIGS]; /* attr's config3 and config4 */
	/* The path or function of a uprobe or kprobe, at which attr.config1 points; owned */
	char *probe;
	/* The variants of a core event on a hybrid machine, one for each kind that counts it;
	 * owned */
	struct ps__variant *variants;
	size_t variant_count; /* 0 where all cores are alike */
	size_t kind_count;    /* how many kinds of cores there are; 0 where they are alike */
	char *cpus; /* where it can be counted, if some kind lacks it; NULL: anywhere; owned */
	enum ps__event_class klass;
	enum ps_scope scope;
	double scale;  /* count * scale is in unit, where the PMU says so (energy, bytes); else 1 */
	char unit[32]; /* "Joules", "MiB", "ns" of the clocks; "" for a plain count */
	/* The name said which of user, kernel, hypervisor to count: never fall back */
	bool explicit_domain;
	bool user_only; /* fell back to user space for lack of permission (set by the backend) */
	/* Happens in the kernel: reads 0 when the kernel is excluded, so must be refused then */
	bool kernel_side;
	bool is_probe;    /* a uprobe or kprobe */
	bool is_run_time; /* duration_time and its like: run_time.c */
	bool unsupported; /* kept in a set though it can't be counted here */
	struct ps__event_control control;
};

/* True for a probe with a path or a function. The kernel reads this text in the memory of the
 * process that opens the event, and of each process that creates a task which inherits the event.
 */
static inline bool ps__event_has_text(const struct ps__event *event)
{
	return event->probe != NULL;
}

/*
 * Parses name into out, which then owns its strings. Errors, each with a detail
 * sentence that names the event and the remedy, out untouched: PS_EINVAL empty
 * name; PS_ENOEVNT unknown (with the nearest names), or the name of several
 * PMUs' events; PS_EATTR unknown term, value too large, unclosed slash, bad
 * modifier: which, where; PS_EPERM, PS_ECOUNT, PS_ESYS a file of sysfs or
 * tracefs can't be read; PS_ENOMEM.
 */
int ps__event_parse(struct ps__event *out, const char *name);

/* hybrid.c: a kind of cores turned out not to have the event, which has others.
 * PS_ENOMEM. */
int ps__event_drop_variant(struct ps__event *event, size_t index);

/* The kernel's software clocks read the time: a counter of them has no modifier, only their samples
 * look at exclude_user and exclude_kernel. */
static inline bool ps__event_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
	                                            attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Can the event happen in the kernel alone? */
bool ps__event_is_kernel_side(const struct perf_event_attr *attr);

/* Does it leave out all spaces in which the event can happen? Then it reads 0 for ever. */
bool ps__event_excludes_all(const struct perf_event_attr *attr);

/* recode.c: attr.type was changed by hand: the class and the scope are the new PMU's. event is
 * untouched on failure: PS_EPERM, PS_ECOUNT, PS_ESYS a file of sysfs can't be read. */
int ps__event_retype(struct ps__event *event);
/* recode.c: a part of the encoding was changed by hand: it is the same for all kinds of cores. */
void ps__event_recode(struct ps__event *event);

int ps__event_copy(struct ps__event *out, const struct ps__event *model);
void ps__event_clear(struct ps__event *event); /* releases what it owns; may be called twice */

/* run_time.c. The second one fails, and says what to do instead. */
bool ps__run_time_is(const char *name);
int ps__run_time_refuse(const struct ps__event *event);

/* split.c: the next name of a list with commas: *rest is the list itself at first, NULL behind its
 * end. 1; 0 if there is none; PS_EINVAL for an empty name. */
int ps__event_split(const char *list, const char **rest, const char **name, size_t *length);

/* For sentences: what each modifier means. modifiers.c has the letters. */
#define PS__MODIFIERS \
	"u (user), k (kernel), h (hypervisor), G (guest), H (host), I (not idle), D (pinned)"

bool ps__modifier_is(char letter);
bool ps__modifiers_are(const char *text); /* nothing but letters of modifiers? */

/* Visits all that a source knows, until visit returns non-zero, which is returned. */
typedef int ps__info_visit(const struct ps_event_info *info, void *context);
int ps__tracepoint_list(ps__info_visit *visit, void *context);
/* Those of this machine's PMUs, written as PMU::EVENT. */
int ps__pfm_list(ps__info_visit *visit, void *context);

/* pfm.c: a name with its PMU, "perf::PAGE-FAULTS", of one that libpfm4 knows without. False if it
 * knows none, or if there is no room for it. */
bool ps__pfm_prefix(char *out, size_t size_bytes, const char *name);

/* Is it for lack of something that a list is short, rather than that there is nothing to list? */
bool ps__event_is_shortage(int error);

#endif

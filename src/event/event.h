/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event: its name, and the encoding that perf_event_open takes.
 *
 * ps__event_parse looks a name up and opens nothing. The rooms above open the event, and learn
 * whether this machine and this user can count it.
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

/* Says which events can share a group: those of one core PMU, together with software events; those
 * of another PMU only with each other. */
enum ps__event_class {
	PS__EVENT_CLASS_SOFTWARE, /* software, tracepoints, msr: can join a core PMU's group */
	PS__EVENT_CLASS_CORE,     /* the core's own PMU: hardware, cache, raw */
	PS__EVENT_CLASS_OTHER     /* an uncore, energy or device PMU: groups with its like only */
};

/* An event's encoding for one kind of cores, on a machine that has several kinds, each with a PMU
 * of its own. */
struct ps__variant {
	uint32_t pmu_type; /* the PMU's number in sysfs: tells kinds apart */
	uint32_t type;     /* the fields from type to later replace those of the event */
	uint64_t config, config1, config2, later[PS__LATER_CONFIGS];
	char *cpus; /* the list of the CPUs that the PMU is for; owned */
};

/* The user's settings for an event in a set: perfsage/counter.h. */
struct ps__event_control {
	enum ps_grouping grouping;
	uint32_t unit; /* for TOGETHER and WEAK: events with the same number belong together */
	bool is_paused;
	bool has_bpf;
	bool is_attached; /* a descriptor of the set has attached the program since the opening */
	int bpf_fd;       /* owned by the user */
	char *filter;     /* for a tracepoint; owned; NULL: none */
};

struct ps__event {
	char *name;    /* as the user wrote it, or the term name= of pmu/.../; owned */
	char *written; /* as the user wrote it, if name differs; else NULL; owned */
	/* The encoding (type, config*, exclude_* and so on); the backend sets the rest */
	struct perf_event_attr attr;
	uint64_t later[PS__LATER_CONFIGS]; /* attr's config3 and config4 */
	/* The path or function of a uprobe or kprobe, at which attr.config1 points; owned */
	char *probe;
	/* The variants of a core event on a hybrid machine, one for each kind that counts it;
	 * owned */
	struct ps__variant *variants;
	size_t variant_count; /* number of variants; 0 if all cores are alike */
	size_t kind_count;    /* number of kinds of cores; 0 if all are alike */
	char *cpus; /* CPUs that can count the event, if a kind of cores can't; NULL: all; owned */
	enum ps__event_class klass;
	enum ps_scope scope;
	/* count * scale is in unit, if the PMU gives a scale (energy, bytes); else 1 */
	double scale;
	char unit[32]; /* "Joules", "MiB", "ns" of the clocks; "" for a plain count */
	/* The name says which of user, kernel, hypervisor to count: never fall back to user
	 * space */
	bool explicit_domain;
	bool user_only; /* fell back to user space for lack of permission (set by the backend) */
	/* The event happens in the kernel. It would read 0 with the kernel excluded, so it must be
	 * refused then */
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
 * Parses name into out, which then owns its strings. On failure out is untouched, and the detail
 * sentence names the event and the remedy. Errors: PS_EINVAL empty name; PS_ENOEVNT unknown (with
 * the nearest names), or the name of several PMUs' events; PS_EATTR unknown term, value too large,
 * unclosed slash, bad modifier: which, where; PS_EPERM, PS_ECOUNT, PS_ESYS a file of sysfs or
 * tracefs can't be read; PS_ENOMEM.
 */
int ps__event_parse(struct ps__event *out, const char *name);

/* hybrid.c: removes the variant of a kind of cores that turned out not to have the event; other
 * variants remain. PS_ENOMEM. */
int ps__event_drop_variant(struct ps__event *event, size_t index);

/* True for the kernel's software clocks, which read the time. Their counters ignore exclude_user
 * and exclude_kernel; only their samples obey these. */
static inline bool ps__event_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
	                                            attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* True if the event can happen in the kernel only. */
bool ps__event_is_kernel_side(const struct perf_event_attr *attr);

/* True if attr excludes all spaces in which the event can happen: it would always read 0. */
bool ps__event_excludes_all(const struct perf_event_attr *attr);

/* recode.c: sets the class and the scope after attr.type was changed by hand. On failure the event
 * is untouched: PS_EPERM, PS_ECOUNT, PS_ESYS a file of sysfs can't be read. */
int ps__event_retype(struct ps__event *event);
/* recode.c: updates the event after a part of its encoding was changed by hand. All kinds of cores
 * then have the same encoding. */
void ps__event_recode(struct ps__event *event);

int ps__event_copy(struct ps__event *out, const struct ps__event *model);
void ps__event_clear(struct ps__event *event); /* releases what it owns; may be called twice */

/* run_time.c: true for duration_time and its like. ps__run_time_refuse fails, and says what to do
 * instead. */
bool ps__run_time_is(const char *name);
int ps__run_time_refuse(const struct ps__event *event);

/* split.c: gives the next name in a list with commas. *rest is the list itself at first, and NULL
 * after the last name. Returns 1; 0 if there is no more name; PS_EINVAL for an empty name or a
 * brace. */
int ps__event_split(const char *list, const char **rest, const char **name, size_t *length);

/* The meaning of each modifier, for sentences. modifiers.c has the letters. */
#define PS__MODIFIERS \
	"u (user), k (kernel), h (hypervisor), G (guest), H (host), I (not idle), D (pinned)"

bool ps__modifier_is(char letter);
bool ps__modifiers_are(const char *text); /* true if all letters are modifiers */

/* The functions below call visit for each event of their source, until it returns non-zero. They
 * return that value. */
typedef int ps__info_visit(const struct ps_event_info *info, void *context);
int ps__tracepoint_list(ps__info_visit *visit, void *context);
/* libpfm4's events of this machine's PMUs, written as PMU::EVENT. */
int ps__pfm_list(ps__info_visit *visit, void *context);

/* pfm.c: writes a name of libpfm4's that lacks the PMU with its PMU: "perf::PAGE-FAULTS". False if
 * libpfm4 doesn't know the name, or if there is no room for it. */
bool ps__pfm_prefix(char *out, size_t size_bytes, const char *name);

/* True for an errno that means a shortage, of descriptors or memory: the list is then incomplete.
 * Other errors mean that there is nothing to list. */
bool ps__event_is_shortage(int error);

#endif

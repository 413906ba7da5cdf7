/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks names up. Each source of names has one function of the same shape. parse.c calls these
 * functions in order. A new kind of event needs a new function in parse.c's list.
 */
#ifndef PS_EVENT_LOOKUP_H
#define PS_EVENT_LOOKUP_H

#include "event/event.h"

#include <perfsage/error.h>
#include <perfsage/event.h>

/* Returned by a source that doesn't know the name. */
#define PS__NOT_HERE 1

/* The position of a character in a name, counted from 1, for error messages. */
#define PS__POSITION(name, at) ((at) - (name) + 1)

struct ps__lookup {
	const char *name; /* as the user wrote it */
	/* The modifiers, set by the source that knows the name. They begin with a colon, unless a
	 * '/' comes before them. Empty from pfm.c, which applies them, and from run_time.c, which
	 * takes none. */
	const char *rest;
	bool has_pmu; /* the name says its PMU */
	/* A bare alias that several core PMUs have, each with an encoding of its own */
	bool is_shared;
	/* Set by a source that could not look: the code to fail with if no other source knows the
	 * name. The detail sentence is set, too */
	int suspicion;
};

/* Each of these functions fills type, config, class and scope of event, sets lookup->rest and
 * returns PS_OK; or returns PS__NOT_HERE; or fails, and then parse.c asks no other source. */
int ps__preset_refuse(struct ps__event *event,
                      struct ps__lookup *lookup); /* preset.c: PAPI_TOT_INS, never known */
int ps__generic_find(struct ps__event *event, struct ps__lookup *lookup); /* generic.c */
int ps__cache_find(struct ps__event *event, struct ps__lookup *lookup);   /* cache.c */
int ps__run_time_find(struct ps__event *event,
                      struct ps__lookup *lookup); /* run_time.c: duration_time */
int ps__pmu_event_find(struct ps__event *event,
                       struct ps__lookup *lookup); /* pmu_event.c: pmu/.../ */
int ps__breakpoint_find(struct ps__event *event,
                        struct ps__lookup *lookup); /* breakpoint.c: mem:ADDRESS */
int ps__tracepoint_find(struct ps__event *event,
                        struct ps__lookup *lookup); /* tracepoint.c: system:name */
int ps__alias_find(struct ps__event *event,
                   struct ps__lookup *lookup); /* alias.c: a PMU's event by its bare name */
int ps__pfm_find(struct ps__event *event,
                 struct ps__lookup *lookup); /* pfm.c: PMU::EVENT:UNIT_MASK, as libpfm4 */

/* Applies the modifiers at the end of the name (u, k, h and others) to event->attr. */
int ps__modifiers_apply(struct ps__event *event, const char *name, const char *modifiers);

/* hybrid.c: finds the kinds of cores that have a core event, and its encoding on each. */
int ps__hybrid_expand(struct ps__event *event, const struct ps__lookup *lookup);
int ps__hybrid_copy(struct ps__event *event,
                    const struct ps__event *model); /* copies the variants; PS_OK or PS_ENOMEM */
void ps__hybrid_clear(struct ps__event *event);

/* These functions give the known names, from which ps__suggest chooses the nearest. They call visit
 * for each name, until it returns non-zero. */
typedef int ps__name_visit(const char *name, void *context);
int ps__generic_for_each(ps__name_visit *visit, void *context);
int ps__cache_for_each(ps__name_visit *visit, void *context);
/* Visits the tracepoints of the system that name begins with, written as system:name. */
int ps__tracepoint_for_each(const char *name, ps__name_visit *visit, void *context);
/* Visits the source's events for the public list, like ps__tracepoint_list in event.h. */
int ps__generic_list(ps__info_visit *visit, void *context);

/* Writes at most five names near to the given one into buffer: "'a', 'b'"; ""
 * if there are none. */
void ps__suggest(char *buffer, size_t size_bytes, const char *name);

/* Fails for a file that can't be opened, listed or read (error: an errno), with
 * the code that belongs to the reason. */
int ps__event_fail_file(const char *name, const char *path, int error);

#endif

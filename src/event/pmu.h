/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMUs of this machine, as sysfs shows them. Each PMU has a folder with its type, its CPUs, the
 * formats of its terms and its named events (aliases).
 */
#ifndef PS_EVENT_PMU_H
#define PS_EVENT_PMU_H

#include "event/lookup.h"

#include <limits.h>
#include <sys/types.h>

struct ps__pmu {
	char name[NAME_MAX + 1];
	uint32_t type;
	bool is_core; /* the PMU of a kind of cores: its events follow a task from CPU to CPU */
};

/* A term between the slashes of pmu/.../ or in an alias. name and value point into a longer
 * text. */
struct ps__term {
	const char *name, *value;
	int name_length, value_length; /* for %.*s */
	bool has_value;
};

/* State while the terms of one event are read. */
struct ps__pmu_query {
	struct ps__event *event;
	const char *name;  /* the whole name, for the error sentences */
	const char *terms; /* within name: what is between the slashes, or a bare alias */
	const char *end;
	/* the alias whose file is being read; NULL while the name's own terms are read */
	const struct ps__term *alias;
	struct ps__pmu pmu;
};

/* Where a term's value goes: the bits of mask, from the lowest, in one of the
 * words config, config1 to config4. */
struct ps__format {
	int config;
	uint64_t mask;
};

/* Finds the PMU of that name. PS__NOT_HERE if there is none. Other failures have a detail sentence
 * about event_name. */
int ps__pmu_find(struct ps__pmu *out, const char *name, size_t length, const char *event_name);
/* Finds the PMU of a type that the kernel numbers itself. Results: those of ps__pmu_find. */
int ps__pmu_find_type(struct ps__pmu *out, uint32_t type, const char *event_name);
/* Visits the name of each PMU, in any order. Returns the result of ps__os.list. */
int ps__pmu_for_each(ps__name_visit *visit, void *context);
/* Visits the aliases of a PMU. ps__pmu_for_each_format visits the terms for which it has a
 * format. */
int ps__pmu_for_each_alias(const char *pmu, ps__name_visit *visit, void *context);
int ps__pmu_for_each_format(const char *pmu, ps__name_visit *visit, void *context);
/* Counts the kinds of cores that have a PMU: more than one on hybrid machines. Returns 0, or an
 * errno. */
int ps__pmu_core_count(size_t *out);

/* Returns the class of a PMU's events: it says which events can share a group with them. */
enum ps__event_class ps__pmu_class(const struct ps__pmu *pmu);

/* Reads the list of the CPUs that a core PMU is for. Returns the result of ps__os_read_file. */
ssize_t ps__pmu_read_cpus(const char *pmu, char *buffer, size_t size_bytes);

/* Reads <pmu>/<folder>/<name><suffix>. PS__NOT_HERE if there is none. */
int ps__pmu_read(char *buffer, size_t size_bytes, const struct ps__pmu_query *query,
                 const char *folder, const struct ps__term *name, const char *suffix);

/* Reads the next term, and moves *text past it and its comma. Returns false at the end. */
bool ps__term_next(const char **text, const char *end, struct ps__term *out);
bool ps__term_is(const struct ps__term *term, const char *name);
/* Reads a decimal or 0x number; false if it is no number or needs more than 64 bits. */
bool ps__term_number(const struct ps__term *term, uint64_t *out);

bool ps__format_parse(const char *text, struct ps__format *out);
/* Writes value into the bits of the event's words that the format names. Returns false, and changes
 * nothing, if value has more bits than the format. */
bool ps__format_apply(const struct ps__format *format, uint64_t value, struct ps__event *event);
uint64_t ps__format_max(const struct ps__format *format);

/* Applies all terms of the query to its event, with class and scope. */
int ps__pmu_query_apply(struct ps__pmu_query *query);
/* Applies an alias, with its unit and scale; PS__NOT_HERE if the PMU has none
 * of that name. */
int ps__pmu_alias_apply(struct ps__pmu_query *query, const struct ps__term *term);
/* Applies one term that has a format, or that all PMUs know (config=...);
 * PS__NOT_HERE if it has none. */
int ps__pmu_term_apply(struct ps__pmu_query *query, const struct ps__term *term);
/* Fails with a sentence that names the term, its position, and the terms and events of the PMU. */
int ps__pmu_fail_term(const struct ps__pmu_query *query, const struct ps__term *term);

/* probe.c: ps__probe_is_pmu is true for the names uprobe and kprobe. ps__probe_find_end returns the
 * slash that closes the terms, or NULL. The terms may have a path with slashes of its own. */
bool ps__probe_is_pmu(const char *name, size_t length);
const char *ps__probe_find_end(const char *terms);
/* Applies a term that only probes have; PS__NOT_HERE for others. After all terms, ps__probe_check
 * fails if the address to probe is incomplete. */
int ps__probe_term_apply(struct ps__pmu_query *query, const struct ps__term *term);
int ps__probe_check(const struct ps__pmu_query *query);
const char *ps__probe_terms(const struct ps__pmu *pmu); /* their names, for error sentences */

/* Finds the scope of one count of the PMU from the CPUs that the kernel wants it opened on. */
int ps__pmu_scope(const struct ps__pmu *pmu, const char *event_name, enum ps_scope *out);

#endif

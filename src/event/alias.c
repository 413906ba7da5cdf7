/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PMU's named events (aliases). Each is a file of terms in the PMU's folder "events". They are
 * looked up within pmu/.../ and, for bare names, in all PMUs.
 *
 * Cycle with pmu_event.c: a bare alias is applied like the terms of pmu/.../,
 * and one of these terms may be an alias.
 */
#include "base/decimal.h"
#include "base/error.h"
#include "event/names.h"
#include "event/pmu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if the user gives a value for this parameter. chipid=? in an alias asks for chipid=...,
 * which is applied with the user's other terms. */
static bool alias_user_gives(const struct ps__pmu_query *query, const struct ps__term *parameter)
{
	struct ps__term term;

	for (const char *at = query->terms; ps__term_next(&at, query->end, &term);) {
		if (term.has_value && term.name_length == parameter->name_length &&
		    !memcmp(term.name, parameter->name, (size_t)term.name_length))
			return true;
	}
	return false;
}

static int alias_apply_file_term(struct ps__pmu_query *query, const struct ps__term *term)
{
	if (term->value_length == 1 && term->value[0] == '?') {
		if (alias_user_gives(query, term))
			return PS_OK;
		return ps__fail(
		    PS_EATTR, "event '%s': '%.*s' needs a value for %.*s: write %s/%.*s,%.*s=.../",
		    query->name, query->alias->name_length, query->alias->name, term->name_length,
		    term->name, query->pmu.name, query->alias->name_length, query->alias->name,
		    term->name_length, term->name);
	}
	int code = ps__pmu_term_apply(query, term);
	return code == PS__NOT_HERE ? ps__pmu_fail_term(query, term) : code;
}

/* Reads a factor such as 2.3283064365386962890625e-10, with a decimal point
 * whatever the user's language is. */
static bool alias_parse_scale(const char *text, double *out)
{
	char *end;
	double scale = ps__decimal_parse(text, &end);

	if (end == text || *end || !(scale > 0 && scale <= 1e300))
		return false;
	*out = scale;
	return true;
}

static int alias_apply_unit(struct ps__pmu_query *query, const struct ps__term *alias)
{
	struct ps__event *event = query->event;
	char text[64];

	int code = ps__pmu_read(text, sizeof text, query, "events", alias, ".scale");
	if (code == PS_OK && !alias_parse_scale(text, &event->scale))
		return ps__fail(PS_EATTR,
		                "event '%s': the kernel's scale of it, '%s' in events/%.*s.scale "
		                "of PMU %s, is no number",
		                query->name, text, alias->name_length, alias->name,
		                query->pmu.name);
	if (code < 0)
		return code;
	code = ps__pmu_read(text, sizeof text, query, "events", alias, ".unit");
	if (code == PS_OK)
		snprintf(event->unit, sizeof event->unit, "%.31s", text);
	return code < 0 ? code : PS_OK;
}

int ps__pmu_alias_apply(struct ps__pmu_query *query, const struct ps__term *alias)
{
	char text[1024];
	struct ps__term term;

	int code = ps__pmu_read(text, sizeof text, query, "events", alias, "");
	if (code)
		return code;
	query->alias = alias;
	for (const char *at = text; !code && ps__term_next(&at, text + strlen(text), &term);)
		code = alias_apply_file_term(query, &term);
	query->alias = NULL;
	return code ? code : alias_apply_unit(query, alias);
}

struct search {
	struct ps__pmu_query *query; /* its pmu is the last one found */
	struct ps__term alias;
	bool want_core;
	int code; /* PS_OK or a failure */
	struct ps__names found;
};

static int alias_search_pmu(const char *name, void *context)
{
	struct search *search = context;
	struct ps__pmu_query *query = search->query;
	struct ps__pmu_query probe = {.name = query->name};
	char text[1024];

	int code = ps__pmu_find(&probe.pmu, name, strlen(name), query->name);
	if (code == PS_OK && probe.pmu.is_core != search->want_core)
		return 0;
	if (code == PS_OK)
		code = ps__pmu_read(text, sizeof text, &probe, "events", &search->alias, "");
	if (code == PS__NOT_HERE)
		return 0;
	search->code = code;
	query->pmu = probe.pmu;
	ps__names_add(&search->found, name);
	return code ? 1 : 0;
}

/* Finds the PMU that has the alias. Several core PMUs may have it. Fails if several PMUs have it
 * that are not core PMUs, because each counts only a part of the machine. */
static int alias_find_pmu(struct search *search, bool want_core)
{
	char list[300];

	search->want_core = want_core;
	int stop = ps__pmu_for_each(alias_search_pmu, search);
	if (stop < 0)
		return errno == ENOENT
		           ? PS__NOT_HERE
		           : ps__event_fail_file(search->query->name, "the list of PMUs", errno);
	if (search->code)
		return search->code;
	if (search->found.count == 0)
		return PS__NOT_HERE;
	/* Each kind of cores has the event with its own encoding; it is counted
	 * on all of them. */
	if (search->found.count == 1 || want_core)
		return PS_OK;
	ps__names_write(&search->found, list, sizeof list);
	return ps__fail(PS_ENOEVNT,
	                "event '%s': several PMUs have it, each for a part of the machine: %s; "
	                "name one, as in '%s/%.*s/'",
	                search->query->name, list, search->found.name[0], search->alias.name_length,
	                search->alias.name);
}

int ps__alias_find(struct ps__event *event, struct ps__lookup *lookup)
{
	struct ps__pmu_query query = {.event = event, .name = lookup->name, .terms = lookup->name};
	struct search search = {.query = &query};

	query.end = lookup->name + strcspn(lookup->name, ":");
	if (memchr(query.terms, ',', (size_t)(query.end - query.terms)))
		return PS__NOT_HERE;
	const char *at = query.terms;
	if (!ps__term_next(&at, query.end, &search.alias) || search.alias.has_value)
		return PS__NOT_HERE;
	int code = alias_find_pmu(&search, true);
	if (code == PS__NOT_HERE)
		code = alias_find_pmu(&search, false);
	if (code)
		return code;
	lookup->rest = query.end;
	lookup->has_pmu = search.found.count == 1;
	lookup->is_shared = !lookup->has_pmu;
	return ps__pmu_query_apply(&query);
}

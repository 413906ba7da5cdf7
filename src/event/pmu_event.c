/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up pmu/term=value,alias,.../modifiers: an event of a PMU, by the terms and aliases that
 * sysfs gives for it.
 *
 * Cycle with alias.c: a term may be an alias, and a bare alias is applied like
 * the terms here.
 */
#include "base/error.h"
#include "event/names.h"
#include "event/pmu.h"

#include <string.h>

struct pmu_names {
	const char *wanted; /* NULL: all */
	size_t length;
	struct ps__names names;
};

/* Adds a PMU whose name is the wanted one with a suffix: uncore_imc_0 for
 * uncore_imc. */
static int pmu_event_add_name(const char *name, void *context)
{
	struct pmu_names *pmus = context;

	if (!pmus->wanted ||
	    (!strncmp(name, pmus->wanted, pmus->length) && name[pmus->length] == '_'))
		ps__names_add(&pmus->names, name);
	return 0;
}

static int pmu_event_fail_unknown(const char *name, size_t length)
{
	struct pmu_names pmus = {.wanted = name, .length = length};
	char list[480];

	ps__pmu_for_each(pmu_event_add_name, &pmus);
	if (pmus.names.count) {
		ps__names_write(&pmus.names, list, sizeof list);
		return ps__fail(PS_ENOEVNT,
		                "event '%s': '%.*s' is several PMUs, each for a part of the "
		                "machine: name one of %s",
		                name, (int)length, name, list);
	}
	pmus.wanted = NULL;
	ps__pmu_for_each(pmu_event_add_name, &pmus);
	ps__names_write(&pmus.names, list, sizeof list);
	return ps__fail(PS_ENOEVNT, "event '%s': there is no PMU '%.*s'; this machine's are: %s",
	                name, (int)length, name, list);
}

int ps__pmu_event_find(struct ps__event *event, struct ps__lookup *lookup)
{
	struct ps__pmu_query query = {.event = event, .name = lookup->name};
	size_t length = strcspn(lookup->name, ":/");

	if (lookup->name[length] != '/')
		return PS__NOT_HERE;
	query.terms = lookup->name + length + 1;
	query.end = ps__probe_is_pmu(lookup->name, length) ? ps__probe_find_end(query.terms)
	                                                   : strchr(query.terms, '/');
	if (!query.end)
		return ps__fail(PS_EATTR,
		                "event '%s': no '/' closes the terms, which begin at character %td",
		                lookup->name, PS__POSITION(lookup->name, query.terms));
	if (query.end == query.terms)
		return ps__fail(
		    PS_EATTR,
		    "event '%s': there is no term or event between the slashes (character %td)",
		    lookup->name, PS__POSITION(lookup->name, query.terms));
	int code = ps__pmu_find(&query.pmu, lookup->name, length, lookup->name);
	if (code == PS__NOT_HERE)
		return pmu_event_fail_unknown(lookup->name, length);
	if (code)
		return code;
	lookup->rest = query.end + 1;
	lookup->has_pmu = true;
	return ps__pmu_query_apply(&query);
}

/* Refuses empty terms, and terms that are given twice: it would not be clear
 * which value counts. */
static int pmu_event_check_terms(const struct ps__pmu_query *query)
{
	struct ps__term term, other;

	for (const char *at = query->terms; ps__term_next(&at, query->end, &term);) {
		if (term.name_length == 0)
			return ps__fail(PS_EATTR, "event '%s': a term is empty (character %td)",
			                query->name, PS__POSITION(query->name, term.name));
		for (const char *later = at; ps__term_next(&later, query->end, &other);) {
			if (other.name_length == term.name_length &&
			    !memcmp(other.name, term.name, (size_t)term.name_length))
				return ps__fail(
				    PS_EATTR,
				    "event '%s': '%.*s' is given twice (characters %td and %td)",
				    query->name, term.name_length, term.name,
				    PS__POSITION(query->name, term.name),
				    PS__POSITION(query->name, other.name));
		}
	}
	return PS_OK;
}

/* Applies the alias before the other terms, so that these can change what the alias sets. *alias
 * becomes its position in the terms, or NULL. */
static int pmu_event_apply_alias(struct ps__pmu_query *query, const char **alias)
{
	struct ps__term term;

	*alias = NULL;
	for (const char *at = query->terms; ps__term_next(&at, query->end, &term);) {
		if (term.has_value)
			continue;
		int code = ps__pmu_alias_apply(query, &term);
		if (code == PS__NOT_HERE)
			continue;
		if (code)
			return code;
		if (*alias)
			return ps__fail(PS_EATTR,
			                "event '%s': it names two events, at characters %td and "
			                "%td: add each by itself",
			                query->name, PS__POSITION(query->name, *alias),
			                PS__POSITION(query->name, term.name));
		*alias = term.name;
	}
	return PS_OK;
}

/*
 * Applies cpu_core/cycles/: a generic name for one kind of cores. If there are several kinds, the
 * upper half of config says which. If there is one kind, the upper half stays 0, because older
 * kernels refuse it.
 */
static int pmu_event_apply_generic(struct ps__pmu_query *query)
{
	char name[PS__EVENT_NAME_MAX + 1];
	struct ps__event event = *query->event;
	struct ps__lookup lookup = {.name = name};
	size_t length = (size_t)(query->end - query->terms);
	size_t core_count;

	if (!query->pmu.is_core)
		return PS__NOT_HERE;
	memcpy(name, query->terms, length);
	name[length] = '\0';
	int code = ps__generic_find(&event, &lookup);
	if (code)
		code = ps__cache_find(&event, &lookup);
	if (code || *lookup.rest || event.klass != PS__EVENT_CLASS_CORE ||
	    event.attr.type == PERF_TYPE_RAW)
		return PS__NOT_HERE;
	int error = ps__pmu_core_count(&core_count);
	if (error)
		return ps__event_fail_file(query->name, "the list of PMUs", error);
	if (core_count > 1)
		event.attr.config |= (uint64_t)query->pmu.type << 32;
	*query->event = event;
	return PS_OK;
}

static int pmu_event_apply_terms(struct ps__pmu_query *query, const char *alias)
{
	struct ps__term term;

	for (const char *at = query->terms; ps__term_next(&at, query->end, &term);) {
		if (term.name == alias)
			continue;
		int code = ps__probe_term_apply(query, &term);
		if (code == PS__NOT_HERE)
			code = ps__pmu_term_apply(query, &term);
		if (code == PS__NOT_HERE && term.name == query->terms && at > query->end)
			code = pmu_event_apply_generic(query);
		if (code == PS__NOT_HERE)
			return ps__pmu_fail_term(query, &term);
		if (code)
			return code;
	}
	return PS_OK;
}

/* True for the PMUs that the kernel keeps in the context of software events, so that their events
 * can join the group of a core PMU. */
static bool pmu_event_is_software(const struct ps__pmu *pmu)
{
	static const char *const names[] = {"software", "tracepoint", "breakpoint",
	                                    "kprobe",   "uprobe",     "msr"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!strcmp(pmu->name, names[i]))
			return true;
	}
	return false;
}

enum ps__event_class ps__pmu_class(const struct ps__pmu *pmu)
{
	if (pmu_event_is_software(pmu))
		return PS__EVENT_CLASS_SOFTWARE;
	return pmu->is_core ? PS__EVENT_CLASS_CORE : PS__EVENT_CLASS_OTHER;
}

int ps__pmu_query_apply(struct ps__pmu_query *query)
{
	const struct ps__pmu *pmu = &query->pmu;
	struct ps__event *event = query->event;
	const char *alias;

	event->attr.type = pmu->type;
	event->klass = ps__pmu_class(pmu);
	event->scope = PS_SCOPE_THREAD;
	event->kernel_side = !strcmp(pmu->name, "kprobe");
	event->is_probe = ps__probe_is_pmu(pmu->name, strlen(pmu->name));
	int code = pmu_event_check_terms(query);
	if (!code)
		code = pmu_event_apply_alias(query, &alias);
	if (!code)
		code = pmu_event_apply_terms(query, alias);
	if (!code)
		code = ps__probe_check(query);
	if (code || event->klass != PS__EVENT_CLASS_OTHER)
		return code;
	return ps__pmu_scope(pmu, query->name, &event->scope);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applies the terms of uprobe/path=FILE,offset=0x1234/ and kprobe/func=NAME,offset=0/, which count
 * how often an instruction of a program or of the kernel is reached. perf_event_attr points at the
 * path or the function, so the event owns that text. Called by pmu_event.c.
 */
#include "base/error.h"
#include "base/os.h"
#include "event/pmu.h"

#include <string.h>

static bool probe_is_uprobe(const struct ps__pmu *pmu)
{
	return !strcmp(pmu->name, "uprobe");
}

bool ps__probe_is_pmu(const char *name, size_t length)
{
	return length == 6 && (!memcmp(name, "uprobe", length) || !memcmp(name, "kprobe", length));
}

const char *ps__probe_find_end(const char *terms)
{
	const char *end = strrchr(terms, '/');
	const char *modifiers = end ? end + 1 : NULL;

	if (modifiers && *modifiers == ':')
		modifiers++;
	return modifiers && ps__modifiers_are(modifiers) ? end : NULL;
}

/* Applies the path of a uprobe, or the function of a kprobe. */
static int probe_apply_text(struct ps__pmu_query *query, const struct ps__term *term)
{
	struct ps__event *event = query->event;

	if (probe_is_uprobe(&query->pmu) && (term->value_length == 0 || term->value[0] != '/'))
		return ps__fail(PS_EATTR,
		                "event '%s': the path (character %td) must be a whole one, from "
		                "the root on: path=/usr/lib/libc.so.6",
		                query->name, PS__POSITION(query->name, term->value));
	if (term->value_length == 0)
		return ps__fail(PS_EATTR, "event '%s': func= (character %td) is empty", query->name,
		                PS__POSITION(query->name, term->name));
	event->probe = ps__os_strndup(term->value, (size_t)term->value_length);
	if (!event->probe)
		return ps__fail_memory("the place of a probe");
	event->attr.config1 = (uintptr_t)event->probe;
	return PS_OK;
}

static int probe_apply_number(struct ps__pmu_query *query, const struct ps__term *term)
{
	uint64_t number;

	if (!ps__term_number(term, &number))
		return ps__fail(PS_EATTR,
		                "event '%s': the value of '%.*s' (character %td) is not a number "
		                "of 64 bits, decimal or with 0x",
		                query->name, term->name_length, term->name,
		                PS__POSITION(query->name, term->name));
	query->event->attr.config2 = number;
	return PS_OK;
}

int ps__probe_term_apply(struct ps__pmu_query *query, const struct ps__term *term)
{
	bool is_user = probe_is_uprobe(&query->pmu);

	if (!query->event->is_probe)
		return PS__NOT_HERE;
	if (ps__term_is(term, is_user ? "path" : "func"))
		return probe_apply_text(query, term);
	if (ps__term_is(term, "offset") || (!is_user && ps__term_is(term, "addr")))
		return probe_apply_number(query, term);
	/* The kernel uses config1 as a pointer, so the user must not give a number. */
	if (!strncmp(term->name, "config", 6) && term->name_length == 7)
		return ps__fail(
		    PS_EATTR, "event '%s': '%.*s' (character %td) can't be given for a probe: %s",
		    query->name, term->name_length, term->name,
		    PS__POSITION(query->name, term->name),
		    is_user ? "give path= and offset=" : "give func= and offset=, or addr=");
	return PS__NOT_HERE;
}

const char *ps__probe_terms(const struct ps__pmu *pmu)
{
	return probe_is_uprobe(pmu) ? "path, offset, name" : "func, offset, addr, name";
}

static bool probe_has(const struct ps__pmu_query *query, const char *name)
{
	struct ps__term term;

	for (const char *at = query->terms; ps__term_next(&at, query->end, &term);) {
		if (term.has_value && ps__term_is(&term, name))
			return true;
	}
	return false;
}

int ps__probe_check(const struct ps__pmu_query *query)
{
	if (!query->event->is_probe)
		return PS_OK;
	if (probe_is_uprobe(&query->pmu) &&
	    (!probe_has(query, "path") || !probe_has(query, "offset")))
		return ps__fail(PS_EATTR,
		                "event '%s': a uprobe needs path= and offset=, the place in the "
		                "file: the address that nm shows, less the address and plus the "
		                "offset of its segment (readelf -lW)",
		                query->name);
	if (!probe_is_uprobe(&query->pmu) && probe_has(query, "func") == probe_has(query, "addr"))
		return ps__fail(PS_EATTR,
		                "event '%s': a kprobe needs func=, a function of /proc/kallsyms, "
		                "or addr=, and not both",
		                query->name);
	if (probe_has(query, "addr") && probe_has(query, "offset"))
		return ps__fail(PS_EATTR,
		                "event '%s': offset= is from func=; with addr= it has no meaning",
		                query->name);
	return PS_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists all known names, source by source. The function is public: `perfsage list` and users' menus
 * use it. */
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "event/pmu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct listing {
	ps__info_visit *visit;
	void *context;
	struct ps__pmu_query query; /* its pmu is the one whose aliases are visited */
	enum ps_scope scope;
	int code; /* a failure, or what visit ended the walk with; 0 else */
};

static int event_list_report(struct listing *listing, const char *name, const char *pmu,
                             const char *unit)
{
	struct ps_event_info info = {.size = sizeof info,
	                             .name = name,
	                             .pmu = pmu,
	                             .description = "",
	                             .unit = unit,
	                             .scope = listing->scope};

	listing->code = listing->visit(&info, listing->context);
	return listing->code;
}

static int event_list_list_cache_event(const char *name, void *context)
{
	return event_list_report(context, name, "cpu", "");
}

/* Appends the terms of an alias that the user must give, as the kernel writes
 * them: ",chip=?". */
static void event_list_add_parameters(const char *terms, char *name, size_t size_bytes)
{
	struct ps__term term;

	for (const char *at = terms; ps__term_next(&at, terms + strlen(terms), &term);) {
		size_t length = strlen(name);
		if (term.value_length == 1 && term.value[0] == '?')
			snprintf(name + length, size_bytes - length, ",%.*s=?", term.name_length,
			         term.name);
	}
}

static int event_list_list_alias(const char *alias, void *context)
{
	struct listing *listing = context;
	const char *pmu = listing->query.pmu.name;
	struct ps__term term = {.name = alias, .name_length = (int)strlen(alias)};
	char terms[1024], unit[64] = "", name[PS__EVENT_NAME_MAX + 1];

	listing->query.name = alias;
	int code = ps__pmu_read(terms, sizeof terms, &listing->query, "events", &term, "");
	if (code == PS_OK)
		code = ps__pmu_read(unit, sizeof unit, &listing->query, "events", &term, ".unit");
	else if (code == PS__NOT_HERE)
		return 0;
	if (code < 0 && code != PS_EPERM)
		return listing->code = code;
	/* Room is left for the slash. */
	snprintf(name, sizeof name - 1, "%s/%s", pmu, alias);
	event_list_add_parameters(terms, name, sizeof name - 1);
	strcat(name, "/");
	return event_list_report(listing, name, pmu, unit);
}

static int event_list_list_pmu(const char *pmu, void *context)
{
	struct listing *listing = context;

	int code = ps__pmu_find(&listing->query.pmu, pmu, strlen(pmu), pmu);
	listing->scope = PS_SCOPE_THREAD;
	if (code == PS_OK && ps__pmu_class(&listing->query.pmu) == PS__EVENT_CLASS_OTHER)
		code = ps__pmu_scope(&listing->query.pmu, pmu, &listing->scope);
	if (code == PS__NOT_HERE || code == PS_EPERM)
		return 0;
	listing->code = code;
	if (code == PS_OK && ps__pmu_for_each_alias(pmu, event_list_list_alias, listing) < 0 &&
	    !listing->code && ps__event_is_shortage(errno))
		listing->code = ps__event_fail_file(pmu, "the list of its events", errno);
	return listing->code != 0;
}

static int event_list_list_pmus(struct listing *listing)
{
	int stop = ps__pmu_for_each(event_list_list_pmu, listing);

	if (stop < 0 && !listing->code && errno != ENOENT)
		return ps__event_fail_file("the list of events", "the list of PMUs", errno);
	return listing->code;
}

static int event_list_for_each(int (*visit)(const struct ps_event_info *info, void *context),
                               void *context)
{
	struct listing listing = {.visit = visit, .context = context, .scope = PS_SCOPE_THREAD};

	int code = ps__generic_list(visit, context);
	if (!code && ps__cache_for_each(event_list_list_cache_event, &listing))
		code = listing.code;
	if (!code)
		code = event_list_list_pmus(&listing);
	if (!code)
		code = ps__tracepoint_list(visit, context);
	if (!code)
		code = ps__pfm_list(visit, context);
	return code;
}

int ps_event_for_each(int (*visit)(const struct ps_event_info *info, void *context), void *context)
{
	if (!visit)
		return ps__fail(PS_EINVAL, "ps_event_for_each: visit is NULL");
	/* The visitor is the user's, and may contain cancellation points. */
	int cancel = ps__cancel_hold();
	int code = event_list_for_each(visit, context);
	ps__cancel_release(cancel);
	return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports PAPI's components: which ones count, and why the others don't. */
#include "backend/papi_calls.h"
#include "diagnose/diagnosis.h"

#include <perfsage/error.h>
#include <string.h>

/* PAPI's component for the events of the CPU. */
#define FOR_CPUS "perf_event"

enum condition {
	READY,
	WAITING, /* PAPI initialises it when one of its events is used */
	OFF
};

static enum condition papi_condition_of(const struct ps__papi_component_info *info)
{
	if (info->disabled == 0)
		return READY;
	return info->disabled == PS_EDELAY_INIT ? WAITING : OFF;
}

/* Adds a list of all components in that condition, "perf_event (why), sde (why)", after the words
 * that begin the sentence. */
static void papi_add_components(struct ps__diagnosis *d, enum condition condition,
                                const char *words)
{
	const char *separator = words;

	for (int component = 0; component < ps__papi_calls.component_count(); component++) {
		struct ps__papi_component_info info;
		if (ps__papi_calls.component_info(component, &info) < 0 ||
		    papi_condition_of(&info) != condition)
			continue;
		ps__draft_add(d, "%s%s", separator, info.name);
		if (condition == OFF)
			ps__draft_add(d, " (%s)",
			              *info.disabled_reason ? info.disabled_reason
			                                    : "no reason given");
		separator = ", ";
	}
	if (separator != words)
		ps__draft_add(d, ".");
}

/* True if PAPI can't count events of the CPU here. */
static bool papi_is_off_for_cpus(void)
{
	for (int component = 0; component < ps__papi_calls.component_count(); component++) {
		struct ps__papi_component_info info;
		if (ps__papi_calls.component_info(component, &info) == 0 &&
		    !strcmp(info.name, FOR_CPUS))
			return papi_condition_of(&info) == OFF;
	}
	return true;
}

static void papi_tell_version(struct ps__diagnosis *d, enum ps_finding_state state, int version)
{
	ps__draft_fact(d, state, "PAPI is %d.%d.%d.", version >> 24 & 0xff, version >> 16 & 0xff,
	               version >> 8 & 0xff);
}

static void papi_tell_components(struct ps__diagnosis *d)
{
	bool is_off = papi_is_off_for_cpus();

	papi_tell_version(d, is_off ? PS_FINDING_LIMITED : PS_FINDING_GOOD,
	                  ps__papi_calls.library_version());
	papi_add_components(d, READY, " Its components that are ready: ");
	papi_add_components(d, WAITING, " Looked at when they are used: ");
	papi_add_components(d, OFF, " Switched off by PAPI: ");
	if (is_off)
		ps__draft_add(d, " perfsage counts the processor's events without PAPI, under the "
		                 "kernel's names: 'instructions' for PAPI_TOT_INS.");
}

static void papi_tell_absence(struct ps__diagnosis *d)
{
	ps__draft_fact(d, PS_FINDING_ABSENT,
	               "This perfsage was built without PAPI: event sets of PAPI can't be read.");
	ps__draft_remedy(
	    d, PS_REMEDY_BY_YOU, "PAPI's event sets on the tree, by building perfsage anew",
	    "./configure --with-papi  (its headers: Debian libpapi-dev, Fedora papi-devel)");
}

void ps__diagnose_papi(struct ps__diagnosis *d)
{
	if (ps__papi_calls.built_version == 0) {
		papi_tell_absence(d);
		return;
	}
	if (ps__papi_calls.is_initialized()) {
		papi_tell_components(d);
		return;
	}
	if (!d->asks_papi) {
		papi_tell_version(d, PS_FINDING_UNKNOWN, ps__papi_calls.built_version);
		ps__draft_add(
		    d, " It is not initialised in this process, so its components were not asked.");
		return;
	}
	int failed = ps__papi_calls.initialize();
	if (failed) {
		ps__draft_fact(d, PS_FINDING_BLOCKED, "PAPI can't be initialised: %s.",
		               ps__papi_calls.strerror(failed));
		return;
	}
	/* PAPI stays initialised: after a shutdown, a second initialisation writes to memory that
	 * the first one has freed (PAPI 7.0.0). */
	papi_tell_components(d);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Describes a PAPI event set: the names of its events, what it counts (a thread, a CPU, a package),
 * and whether that has changed. PAPI is asked when the set is wrapped, and about a few things again
 * at each start, but not in a reading.
 */
#include "backend/papi_calls.h"
#include "backend/papi_set.h"
#include "base/error.h"
#include "base/os.h"
#include "event/event.h"

#include <stdio.h>
#include <string.h>

/* PAPI_event_code_to_name cuts names at this length. */
#define PAPI_NAME_CUT 127

/* The bits of PAPI_state that don't change when counting starts or stops. */
#define LASTING_STATE (PS__PAPI_MULTIPLEXING | PS__PAPI_ATTACHED | PS__PAPI_CPU_ATTACHED)

/* The most events to keep room for. Few components can have more, and those are slow to read. */
#define MOST_ROOM 4096

/* Different revisions have the same interface. */
#define VERSION_MASK 0xffff0000u

int ps__papi_fail(int id, const char *call, int code)
{
	return ps__fail(code, "PAPI event set %d: %s: %s", id, call, ps__papi_calls.strerror(code));
}

int ps__papi_check_library(void)
{
	if (!ps__papi_calls.built_version)
		return ps__fail(
		    PS_ENOSUPP,
		    "this perfsage was built without PAPI: install PAPI with its headers (Debian: "
		    "libpapi-dev), and configure and build perfsage again");
	unsigned version = (unsigned)ps__papi_calls.library_version(),
		 built = (unsigned)ps__papi_calls.built_version;
	if ((version ^ built) & VERSION_MASK)
		return ps__fail(PS_EINVAL,
		                "perfsage was built for PAPI %u.%u, and the PAPI library that is "
		                "loaded is %u.%u: build perfsage with the headers of that library, "
		                "or set LD_LIBRARY_PATH to the other one",
		                built >> 24, built >> 16 & 0xff, version >> 24,
		                version >> 16 & 0xff);
	if (!ps__papi_calls.is_initialized())
		return ps__fail(
		    PS_ENOINIT,
		    "PAPI is not initialised: call PAPI_library_init(PAPI_VER_CURRENT) first (if "
		    "the program did, it is linked with another copy of PAPI than perfsage)");
	return PS_OK;
}

void ps__papi_free(struct ps__papi *papi)
{
	if (!papi)
		return;
	for (size_t index = 0; papi->events && index < papi->count; index++)
		ps__event_clear(&papi->events[index]);
	ps__os_free(papi->events);
	ps__os_free(papi->place_cpus);
	ps__os_free(papi->place_of);
	ps__os_free(papi->course);
	ps__os_free(papi->again);
	ps__os_free(papi->codes);
	ps__os_free(papi);
}

static int describe_allocate(struct ps__papi *papi, size_t count)
{
	/* One more, so that an empty set has vectors, too. */
	papi->codes = ps__os_calloc(count + 1, sizeof *papi->codes);
	papi->again = ps__os_calloc(count + 1, sizeof *papi->again);
	papi->course = ps__os_calloc(count + 1, sizeof *papi->course);
	papi->place_of = ps__os_calloc(count + 1, sizeof *papi->place_of);
	papi->place_cpus = ps__os_calloc(count + 1, sizeof *papi->place_cpus);
	papi->events = ps__os_calloc(count + 1, sizeof *papi->events);
	if (papi->codes && papi->again && papi->course && papi->place_of && papi->place_cpus &&
	    papi->events)
		return PS_OK;
	return ps__fail_memory("a PAPI event set");
}

static int describe_list_codes(int id, int *codes, size_t count)
{
	int listed = (int)count;

	if (count == 0)
		return PS_OK;
	int result = ps__papi_calls.list_events(id, codes, &listed);
	if (result < 0)
		return ps__papi_fail(id, "PAPI_list_events", result);
	return listed == (int)count ? PS_OK : ps__papi_fail(id, "PAPI_list_events", PS_EBUG);
}

static int describe_read_option(int id, enum ps__papi_option option, const char *name, long *out)
{
	char call[64];
	int result = ps__papi_calls.get_option(id, option, out);

	snprintf(call, sizeof call, "PAPI_get_opt(%s)", name);
	return result < 0 ? ps__papi_fail(id, call, result) : PS_OK;
}

/* Finds out what the set counts. PAPI_state tells which options may be asked for. */
static int describe_read_target(int id, int state, struct ps__target *out)
{
	struct ps__target target = {.kind = PS__TARGET_SELF, .cpu = -1};
	long value = 0;
	int result = PS_OK;

	if (state & PS__PAPI_CPU_ATTACHED) {
		result = describe_read_option(id, PS__PAPI_OPTION_CPU, "PAPI_CPU_ATTACH", &value);
		target = (struct ps__target){.kind = PS__TARGET_CPU, .cpu = (int)value};
	} else if (state & PS__PAPI_ATTACHED) {
		result = describe_read_option(id, PS__PAPI_OPTION_TID, "PAPI_ATTACH", &value);
		target =
		    (struct ps__target){.kind = PS__TARGET_TID, .tid = (pid_t)value, .cpu = -1};
	}
	if (result == PS_OK)
		*out = target;
	return result;
}

static int describe_read_state(int id, int *out)
{
	int state = 0;
	int result = ps__papi_calls.state(id, &state);

	if (result < 0)
		return ps__papi_fail(id, "PAPI_state", result);
	*out = state;
	return PS_OK;
}

/* Reads granularity and PAPI_INHERIT. PAPI 7.0 tells them only when a first event has given the set
 * a component. */
static int describe_read_manner(struct ps__papi *papi)
{
	long inherit = 0;
	int result = PS_OK;

	papi->granularity = PS__PAPI_GRN_THR;
	if (papi->count == 0)
		return PS_OK;
	result = describe_read_option(papi->id, PS__PAPI_OPTION_GRANULARITY, "PAPI_GRANUL",
	                              &papi->granularity);
	if (result == PS_OK)
		result = describe_read_option(papi->id, PS__PAPI_OPTION_INHERIT, "PAPI_INHERIT",
		                              &inherit);
	papi->is_shared = inherit || papi->granularity != PS__PAPI_GRN_THR;
	return result;
}

static enum ps__papi_course describe_course_of(const struct ps__papi *papi,
                                               const struct ps__papi_event_info *info)
{
	static const char *const rising[] = {"", "NOT_DERIVED", "DERIVED_CMPD", "DERIVED_ADD"};

	if (info->is_momentary)
		return PS__PAPI_FREE;
	if (papi->is_estimate)
		return PS__PAPI_ESTIMATE;
	for (size_t index = 0; index < sizeof rising / sizeof rising[0]; index++) {
		if (strcmp(info->derived, rising[index]) == 0)
			return PS__PAPI_RISES;
	}
	return PS__PAPI_FREE;
}

/* Returns the place of a CPU in the list, and adds it if it is new. */
static uint32_t describe_find_place(struct ps__papi *papi, int cpu)
{
	for (size_t place = 0; place < papi->place_count; place++) {
		if (papi->place_cpus[place] == cpu)
			return (uint32_t)place;
	}
	papi->place_cpus[papi->place_count] = cpu;
	return (uint32_t)papi->place_count++;
}

static int describe_name_event(struct ps__papi *papi, size_t index,
                               const struct ps__papi_event_info *info)
{
	char name[PS__PAPI_TEXT] = "";
	int result = ps__papi_calls.event_name(papi->codes[index], name);

	if (result < 0)
		return ps__papi_fail(papi->id, "PAPI_event_code_to_name", result);
	name[sizeof name - 1] = '\0';
	bool is_cut = strlen(name) >= PAPI_NAME_CUT && *info->symbol;
	papi->events[index].name = ps__os_strdup(is_cut ? info->symbol : name);
	return papi->events[index].name ? PS_OK : ps__fail_memory("a PAPI event set");
}

/* Notes the name with its PMU. PAPI leaves out its default PMU, but the user may have added the
 * event with it. */
static int describe_name_as_added(struct ps__event *event, const char *component)
{
	char full[PS__PAPI_TEXT + PS__PAPI_TEXT];

	if (strncmp(component, "perf_event", strlen("perf_event")) != 0 ||
	    !ps__pfm_prefix(full, sizeof full, event->name))
		return PS_OK;
	event->written = ps__os_strdup(full);
	return event->written ? PS_OK : ps__fail_memory("a PAPI event set");
}

/* Sets whether the kernel is excluded, and the unit. */
static void describe_space(struct ps__event *event, const char *units, bool excludes_kernel)
{
	bool is_clock = ps__papi_is_clock(event->name);

	snprintf(event->unit, sizeof event->unit, "%.31s", is_clock && !*units ? "ns" : units);
	event->user_only = excludes_kernel && !is_clock;
	event->kernel_side = ps__papi_is_kernel_side(event->name);
	/* PAPI would return 0, though nobody counted. */
	event->unsupported = event->user_only && event->kernel_side;
}

static int describe_event(struct ps__papi *papi, size_t index,
                          const struct ps__papi_component_info *component, bool is_domain_of_user)
{
	struct ps__papi_event_info info = {.symbol = ""};
	struct ps__event *event = &papi->events[index];
	int result = ps__papi_calls.event_info(papi->codes[index], &info);

	if (result < 0)
		return ps__papi_fail(papi->id, "PAPI_get_event_info", result);
	result = describe_name_event(papi, index, &info);
	if (result == PS_OK)
		result = describe_name_as_added(event, component->name);
	if (result != PS_OK)
		return result;
	if (info.is_floating)
		return ps__fail(PS_ENOSUPP,
		                "PAPI event set %d: '%s' is a floating-point number and no count: "
		                "read it with PAPI_read, in a set of its own",
		                papi->id, event->name);
	struct ps__papi_scope scope =
	    ps__papi_scope(component->name, event->name, info.is_of_package);
	event->scope = scope.scope;
	event->klass = PS__EVENT_CLASS_OTHER;
	event->scale = 1;
	bool excludes_kernel = strcmp(component->name, "perf_event") == 0 &&
	                       ps__papi_excludes_kernel(event->name, is_domain_of_user);
	describe_space(event, info.units, excludes_kernel);
	papi->course[index] = describe_course_of(papi, &info);
	if (scope.cpu >= 0)
		papi->place_of[index] = describe_find_place(papi, scope.cpu);
	return PS_OK;
}

const char *ps__papi_instead(const char *component)
{
	if (strcmp(component, "perf_event") != 0)
		return "";
	return ". Without PAPI, ps_eventset_add takes the kernel's names of the same events "
	       "('instructions' for PAPI_TOT_INS; 'perfsage list' shows all) and libpfm4's";
}

static int describe_check_component(struct ps__papi *papi, struct ps__papi_component_info *out)
{
	int component = ps__papi_calls.set_component(papi->id);

	if (component < 0)
		return ps__papi_fail(papi->id, "PAPI_get_eventset_component", component);
	int result = ps__papi_calls.component_info(component, out);
	if (result < 0)
		return ps__papi_fail(papi->id, "PAPI_get_component_info", result);
	if (out->disabled == 0 || out->disabled == PS_EDELAY_INIT)
		return PS_OK;
	return ps__fail(PS_ECMP_DISABLED,
	                "PAPI event set %d: PAPI has switched its component %s off: %s%s", papi->id,
	                out->name, out->disabled_reason, ps__papi_instead(out->name));
}

/* Attaches the set to the first place, if events name packages or CPUs: such events count there,
 * wherever the set's thread is. An event without a place of its own, such as one of the whole
 * machine, belongs to the first place. */
static void describe_settle_places(struct ps__papi *papi)
{
	if (papi->place_count)
		papi->target =
		    (struct ps__target){.kind = PS__TARGET_CPU, .cpu = papi->place_cpus[0]};
}

static int describe_events(struct ps__papi *papi)
{
	struct ps__papi_component_info component;
	long domain = 0;
	int result = describe_check_component(papi, &component);

	if (result == PS_OK)
		result = describe_list_codes(papi->id, papi->codes, papi->count);
	if (result == PS_OK)
		result =
		    describe_read_option(papi->id, PS__PAPI_OPTION_DOMAIN, "PAPI_DOMAIN", &domain);
	bool is_domain_of_user = !(domain & PS__PAPI_DOM_KERNEL);
	for (size_t index = 0; result == PS_OK && index < papi->count; index++)
		result = describe_event(papi, index, &component, is_domain_of_user);
	if (result == PS_OK)
		describe_settle_places(papi);
	return result;
}

/* Finds the largest number of events that a set of any component can have: PAPI may give the set's
 * number to a set of another component. */
static int describe_find_most_events(struct ps__papi *papi)
{
	int count = ps__papi_calls.component_count(), most = 0;

	for (int component = 0; component < count; component++) {
		struct ps__papi_component_info info;
		int result = ps__papi_calls.component_info(component, &info);
		if (result < 0)
			return ps__papi_fail(papi->id, "PAPI_get_component_info", result);
		if (info.most_events > most)
			most = info.most_events;
	}
	papi->most_events = most <= MOST_ROOM && (size_t)most >= papi->count ? (size_t)most : 0;
	return PS_OK;
}

static int describe_all(struct ps__papi *papi)
{
	int count = ps__papi_calls.num_events(papi->id);
	int state = 0;

	if (count < 0)
		return ps__papi_fail(papi->id, "PAPI_num_events", count);
	int result = describe_allocate(papi, (size_t)count);
	if (result == PS_OK)
		result = describe_read_state(papi->id, &state);
	if (result == PS_OK)
		result = describe_read_target(papi->id, state, &papi->target);
	if (result != PS_OK)
		return result;
	papi->count = (size_t)count;
	papi->state = state & LASTING_STATE;
	papi->is_running = state & PS__PAPI_RUNNING;
	papi->is_estimate = state & PS__PAPI_MULTIPLEXING;
	result = describe_find_most_events(papi);
	if (result == PS_OK)
		result = describe_read_manner(papi);
	return result == PS_OK && count > 0 ? describe_events(papi) : result;
}

int ps__papi_describe(struct ps__papi **out, int id)
{
	int result = ps__papi_check_library();

	if (result != PS_OK)
		return result;
	struct ps__papi *papi = ps__os_calloc(1, sizeof *papi);
	if (!papi)
		return ps__fail_memory("a PAPI event set");
	papi->id = id;
	result = describe_all(papi);
	if (result != PS_OK) {
		ps__papi_free(papi);
		return result;
	}
	*out = papi;
	return PS_OK;
}

static bool describe_is_other_target(const struct ps__papi *papi, const struct ps__target *target)
{
	/* describe_settle_places has replaced the target by the events' places. */
	if (papi->place_count)
		return false;
	return papi->target.kind != target->kind || papi->target.tid != target->tid ||
	       papi->target.cpu != target->cpu;
}

int ps__papi_compare(const struct ps__papi *papi, bool *changed)
{
	struct ps__target target;
	int state = 0;
	int result = ps__papi_check_library();

	if (result != PS_OK)
		return result;
	int count = ps__papi_calls.num_events(papi->id);
	if (count < 0)
		return ps__papi_fail(papi->id, "PAPI_num_events", count);
	result = describe_read_state(papi->id, &state);
	if (result == PS_OK)
		result = describe_read_target(papi->id, state, &target);
	if (result == PS_OK && (size_t)count == papi->count)
		result = describe_list_codes(papi->id, papi->again, papi->count);
	if (result != PS_OK)
		return result;
	*changed = (size_t)count != papi->count || (state & LASTING_STATE) != papi->state ||
	           describe_is_other_target(papi, &target) ||
	           memcmp(papi->again, papi->codes, papi->count * sizeof *papi->codes) != 0;
	return PS_OK;
}

int ps__papi_is_counting(const struct ps__papi *papi, bool *out)
{
	int state = 0;
	int result = ps__papi_check_library();

	if (result == PS_OK)
		result = describe_read_state(papi->id, &state);
	if (result == PS_OK)
		*out = state & PS__PAPI_RUNNING;
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake PAPI; see fake_papi.h. */
#include "fake_papi.h"

#include <check.h>
#include <perfsage/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_papi fake_papi;

static struct ps__papi_calls real;
static enum fake_papi_call failing;
static unsigned fail_in; /* 0: none ordered */
static int fail_code;
static bool fail_happened;

/* 0, or the code with which the call is to fail. */
static int enter(enum fake_papi_call call)
{
	ck_assert_msg(fake_papi.is_initialized,
	              "PAPI is called before it is initialised: it would crash");
	fake_papi.calls[call]++;
	if (!fail_in || call != failing || --fail_in)
		return 0;
	fail_happened = true;
	return fail_code;
}

static struct fake_papi_set *find(int set)
{
	return set >= 0 && set < FAKE_PAPI_SETS && fake_papi.sets[set].exists ? &fake_papi.sets[set]
	                                                                      : NULL;
}

/* Of what a test does to a set, which must be there. */
static struct fake_papi_set *need(int set)
{
	struct fake_papi_set *fake = find(set);

	if (!fake) {
		ck_abort_msg("there is no fake PAPI event set %d", set);
		abort();
	}
	return fake;
}

static int fake_is_initialized(void)
{
	return fake_papi.is_initialized;
}

static int fake_initialize(void)
{
	fake_papi.initializations++;
	fake_papi.is_initialized = fake_papi.refuses == 0;
	return fake_papi.refuses;
}

static int fake_version(void)
{
	return fake_papi.version;
}

static int fake_num_events(int set)
{
	int code = enter(FAKE_PAPI_NUM_EVENTS);

	if (code)
		return code;
	return find(set) ? find(set)->count : PS_ENOEVST;
}

static int fake_list_events(int set, int *codes, int *count)
{
	int code = enter(FAKE_PAPI_LIST_EVENTS);

	if (code)
		return code;
	if (!find(set))
		return PS_ENOEVST;
	if (*count > find(set)->count)
		*count = find(set)->count;
	memcpy(codes, find(set)->codes, (size_t)*count * sizeof *codes);
	return 0;
}

/* PAPI cuts longer names. */
static int fake_event_name(int code, char *out)
{
	int failed = enter(FAKE_PAPI_EVENT_NAME);

	if (failed)
		return failed;
	snprintf(out, 128, "%s", fake_papi.kinds[code].name);
	return 0;
}

static int fake_event_info(int code, struct ps__papi_event_info *out)
{
	int failed = enter(FAKE_PAPI_EVENT_INFO);

	if (failed)
		return failed;
	*out = fake_papi.kinds[code].info;
	snprintf(out->symbol, sizeof out->symbol, "%s", fake_papi.kinds[code].name);
	return 0;
}

static int fake_set_component(int set)
{
	int code = enter(FAKE_PAPI_SET_COMPONENT);

	if (code)
		return code;
	if (!find(set))
		return PS_ENOEVST;
	return find(set)->count ? 0 : PS_ENOCMP;
}

static int fake_component_info(int component, struct ps__papi_component_info *out)
{
	int code = enter(FAKE_PAPI_COMPONENT_INFO);

	if (code)
		return code;
	ck_assert_int_ge(component, 0);
	ck_assert_int_le(component, fake_papi.other_count);
	*out = component ? fake_papi.others[component - 1] : fake_papi.component;
	return 0;
}

static int fake_component_count(void)
{
	return 1 + fake_papi.other_count;
}

static int fake_get_option(int set, enum ps__papi_option option, long *out)
{
	int code = enter(FAKE_PAPI_GET_OPTION);

	if (code)
		return code;
	if (!find(set))
		return PS_ENOEVST;
	if (option == PS__PAPI_OPTION_CPU)
		ck_assert_msg(find(set)->state & PS__PAPI_CPU_ATTACHED, "PAPI would crash here");
	*out = find(set)->options[option];
	return 0;
}

static int fake_state(int set, int *out)
{
	int code = enter(FAKE_PAPI_STATE);

	if (code)
		return code;
	if (!find(set))
		return PS_ENOEVST;
	*out = find(set)->state | (find(set)->is_running ? PS__PAPI_RUNNING : 0x01);
	return 0;
}

static int fake_start(int set)
{
	int code = enter(FAKE_PAPI_START);

	if (code)
		return code;
	if (!find(set))
		return PS_ENOEVST;
	if (find(set)->is_running)
		return PS_EISRUN;
	fake_papi_start(set);
	return 0;
}

static int fake_read(int set, long long *values)
{
	int code = enter(FAKE_PAPI_READ);

	if (code)
		return code;
	if (!find(set))
		return PS_ENOEVST;
	memcpy(values, find(set)->values, (size_t)find(set)->count * sizeof *values);
	return 0;
}

static int fake_stop(int set, long long *values)
{
	int code = enter(FAKE_PAPI_STOP);

	if (code)
		return code;
	if (!find(set))
		return PS_ENOEVST;
	if (!find(set)->is_running)
		return PS_ENOTRUN;
	find(set)->is_running = false;
	memcpy(values, find(set)->values, (size_t)find(set)->count * sizeof *values);
	return 0;
}

static const char *fake_strerror(int code)
{
	static char text[32];

	snprintf(text, sizeof text, "PAPI's words for %d", code);
	return text;
}

void fake_papi_install(void)
{
	memset(&fake_papi, 0, sizeof fake_papi);
	fake_papi.is_initialized = true;
	fake_papi.version = FAKE_PAPI_VERSION;
	snprintf(fake_papi.component.name, sizeof fake_papi.component.name, "perf_event");
	fake_papi.component.most_events = FAKE_PAPI_EVENTS;
	fail_in = 0;
	fail_happened = false;
	real = ps__papi_calls;
	ps__papi_calls = (struct ps__papi_calls){
	    .built_version = FAKE_PAPI_VERSION,
	    .is_initialized = fake_is_initialized,
	    .initialize = fake_initialize,
	    .library_version = fake_version,
	    .num_events = fake_num_events,
	    .list_events = fake_list_events,
	    .event_name = fake_event_name,
	    .event_info = fake_event_info,
	    .set_component = fake_set_component,
	    .component_info = fake_component_info,
	    .component_count = fake_component_count,
	    .get_option = fake_get_option,
	    .state = fake_state,
	    .start = fake_start,
	    .read = fake_read,
	    .stop = fake_stop,
	    .strerror = fake_strerror,
	};
}

void fake_papi_remove(void)
{
	ps__papi_calls = real;
}

struct fake_papi_kind *fake_papi_kind(const char *event)
{
	struct fake_papi_kind *kind = fake_papi.kinds;

	for (; kind < fake_papi.kinds + fake_papi.kind_count; kind++) {
		if (strcmp(kind->name, event) == 0)
			return kind;
	}
	fake_papi.kind_count++;
	snprintf(kind->name, sizeof kind->name, "%s", event);
	return kind;
}

void fake_papi_add(int set, const char *event)
{
	struct fake_papi_set *fake = need(set);

	ck_assert_int_lt(fake->count, FAKE_PAPI_EVENTS);
	fake->values[fake->count] = 0;
	fake->codes[fake->count++] = (int)(fake_papi_kind(event) - fake_papi.kinds);
}

int fake_papi_create(const char *event, ...)
{
	va_list events;
	int set = 0;

	while (fake_papi.sets[set].exists)
		set++;
	ck_assert_int_lt(set, FAKE_PAPI_SETS);
	fake_papi.sets[set] = (struct fake_papi_set){
	    .exists = true,
	    .options = {[PS__PAPI_OPTION_DOMAIN] = PS__PAPI_DOM_USER | PS__PAPI_DOM_KERNEL,
	                [PS__PAPI_OPTION_GRANULARITY] = PS__PAPI_GRN_THR}};
	va_start(events, event);
	for (; event; event = va_arg(events, const char *))
		fake_papi_add(set, event);
	va_end(events);
	return set;
}

void fake_papi_destroy(int set)
{
	need(set)->exists = false;
}

void fake_papi_start(int set)
{
	memset(need(set)->values, 0, sizeof need(set)->values);
	need(set)->is_running = true;
}

void fake_papi_stop(int set)
{
	need(set)->is_running = false;
}

void fake_papi_reset(int set)
{
	memset(need(set)->values, 0, sizeof need(set)->values);
}

void fake_papi_count(int set, int event, long long amount)
{
	if (need(set)->is_running)
		need(set)->values[event] += amount;
}

void fake_papi_fail(enum fake_papi_call call, unsigned nth, int code)
{
	failing = call;
	fail_in = nth;
	fail_code = code;
	fail_happened = false;
}

bool fake_papi_fail_happened(void)
{
	return fail_happened;
}

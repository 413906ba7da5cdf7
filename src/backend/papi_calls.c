/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills the table of papi_calls.h with the real PAPI. This is the only file of the library that
 * includes papi.h. Without PAPI the table is empty. */
#include "backend/papi_calls.h"

#include "base/cancel.h"

#include <config.h>

#ifdef PS_WITH_PAPI

#include <papi.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)PS__PAPI_RUNNING == PAPI_RUNNING &&
                   (int)PS__PAPI_MULTIPLEXING == PAPI_MULTIPLEXING &&
                   (int)PS__PAPI_ATTACHED == PAPI_ATTACHED &&
                   (int)PS__PAPI_CPU_ATTACHED == PAPI_CPU_ATTACHED,
               "PAPI has other states");
_Static_assert((int)PS__PAPI_GRN_THR == PAPI_GRN_THR && (int)PS__PAPI_GRN_SYS == PAPI_GRN_SYS &&
                   (int)PS__PAPI_GRN_SYS_CPU == PAPI_GRN_SYS_CPU,
               "PAPI has other granularities");
_Static_assert((int)PS__PAPI_DOM_USER == PAPI_DOM_USER &&
                   (int)PS__PAPI_DOM_KERNEL == PAPI_DOM_KERNEL,
               "PAPI has other domains");
_Static_assert(PAPI_HUGE_STR_LEN <= PS__PAPI_TEXT, "PAPI has longer names");

static int calls_library_version(void)
{
	return PAPI_get_opt(PAPI_LIB_VERSION, NULL);
}

static int calls_event_name(int code, char *out)
{
	return PAPI_event_code_to_name(code, out);
}

static int calls_event_info(int code, struct ps__papi_event_info *out)
{
	PAPI_event_info_t info;

	memset(&info, 0, sizeof info);
	int result = PAPI_get_event_info(code, &info);
	if (result != PAPI_OK)
		return result;
	*out = (struct ps__papi_event_info){
	    .is_floating = info.data_type == PAPI_DATATYPE_FP64,
	    .is_momentary = info.value_type == PAPI_VALUETYPE_ABSOLUTE ||
	                    info.timescope == PAPI_TIMESCOPE_POINT,
	    .is_of_package =
		info.location == PAPI_LOCATION_PACKAGE || info.location == PAPI_LOCATION_UNCORE,
	};
	snprintf(out->symbol, sizeof out->symbol, "%s", info.symbol);
	snprintf(out->units, sizeof out->units, "%s", info.units);
	snprintf(out->derived, sizeof out->derived, "%s", info.derived);
	return PAPI_OK;
}

static int calls_component_info(int component, struct ps__papi_component_info *out)
{
	const PAPI_component_info_t *info = PAPI_get_component_info(component);

	if (!info)
		return PAPI_ENOCMP;
	*out = (struct ps__papi_component_info){.disabled = info->disabled,
	                                        .most_events = info->num_cntrs > info->num_mpx_cntrs
	                                                           ? info->num_cntrs
	                                                           : info->num_mpx_cntrs};
	snprintf(out->name, sizeof out->name, "%s", info->name);
	snprintf(out->disabled_reason, sizeof out->disabled_reason, "%s", info->disabled_reason);
	return PAPI_OK;
}

/* PAPI_get_opt's result may be positive. */
static int calls_get_option(int set, enum ps__papi_option option, long *out)
{
	static const int numbers[] = {
	    [PS__PAPI_OPTION_TID] = PAPI_ATTACH,      [PS__PAPI_OPTION_CPU] = PAPI_CPU_ATTACH,
	    [PS__PAPI_OPTION_DOMAIN] = PAPI_DOMAIN,   [PS__PAPI_OPTION_GRANULARITY] = PAPI_GRANUL,
	    [PS__PAPI_OPTION_INHERIT] = PAPI_INHERIT,
	};
	PAPI_option_t value;

	memset(&value, 0, sizeof value);
	/* Each structure of the union holds the set, but at different places. */
	switch (option) {
	case PS__PAPI_OPTION_TID:
		value.attach.eventset = set;
		break;
	case PS__PAPI_OPTION_CPU:
		value.cpu.eventset = set;
		break;
	case PS__PAPI_OPTION_DOMAIN:
		value.domain.eventset = set;
		break;
	case PS__PAPI_OPTION_GRANULARITY:
		value.granularity.eventset = set;
		break;
	case PS__PAPI_OPTION_INHERIT:
		value.inherit.eventset = set;
		break;
	}
	int result = PAPI_get_opt(numbers[option], &value);
	if (result < 0)
		return result;
	const long values[] = {
	    [PS__PAPI_OPTION_TID] = (long)value.attach.tid,
	    [PS__PAPI_OPTION_CPU] = (long)value.cpu.cpu_num,
	    [PS__PAPI_OPTION_DOMAIN] = value.domain.domain,
	    [PS__PAPI_OPTION_GRANULARITY] = value.granularity.granularity,
	    [PS__PAPI_OPTION_INHERIT] = value.inherit.inherit,
	};
	*out = values[option];
	return PAPI_OK;
}

/* The next three PAPI calls open and close files. A thread that is cancelled there would leave PAPI
 * locked. PAPI_read isn't protected: it opens no file, and is called often. */
static int calls_initialize(void)
{
	int cancel = ps__cancel_hold();
	int version = PAPI_library_init(PAPI_VER_CURRENT);

	ps__cancel_release(cancel);
	if (version == PAPI_VER_CURRENT)
		return PAPI_OK;
	/* A positive number is the version of the library, which differs from the header's. */
	return version > 0 ? PAPI_EINVAL : version;
}

static int calls_start(int set)
{
	int cancel = ps__cancel_hold();
	int result = PAPI_start(set);

	ps__cancel_release(cancel);
	return result;
}

static int calls_stop(int set, long long *values)
{
	int cancel = ps__cancel_hold();
	int result = PAPI_stop(set, values);

	ps__cancel_release(cancel);
	return result;
}

static const char *calls_say_error(int code)
{
	return PAPI_strerror(code);
}

struct ps__papi_calls ps__papi_calls = {
    .built_version = PAPI_VER_CURRENT,
    .is_initialized = PAPI_is_initialized,
    .initialize = calls_initialize,
    .library_version = calls_library_version,
    .num_events = PAPI_num_events,
    .list_events = PAPI_list_events,
    .event_name = calls_event_name,
    .event_info = calls_event_info,
    .set_component = PAPI_get_eventset_component,
    .component_info = calls_component_info,
    .component_count = PAPI_num_components,
    .get_option = calls_get_option,
    .state = PAPI_state,
    .start = calls_start,
    .read = PAPI_read,
    .stop = calls_stop,
    .strerror = calls_say_error,
};

#else

struct ps__papi_calls ps__papi_calls;

#endif

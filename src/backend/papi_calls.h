/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table through which all calls of PAPI go, as calls of the kernel go through ps__os. It has
 * its own types, so that only one file includes papi.h, and tests can put a fake PAPI here.
 */
#ifndef PS_BACKEND_PAPI_CALLS_H
#define PS_BACKEND_PAPI_CALLS_H

#include <stdbool.h>

/* PAPI_HUGE_STR_LEN: the longest name that PAPI writes. */
#define PS__PAPI_TEXT 1024

/* Bits of PAPI_state, granularities, and domains, with PAPI's own numbers. */
enum {
	PS__PAPI_RUNNING = 0x02,
	PS__PAPI_MULTIPLEXING = 0x40,
	PS__PAPI_ATTACHED = 0x80,
	PS__PAPI_CPU_ATTACHED = 0x100
};
enum {
	PS__PAPI_GRN_THR = 0x1,
	PS__PAPI_GRN_SYS = 0x8,
	PS__PAPI_GRN_SYS_CPU = 0x10
};
enum {
	PS__PAPI_DOM_USER = 0x1,
	PS__PAPI_DOM_KERNEL = 0x2
};

/* Options of an event set that PAPI_get_opt is asked for. */
enum ps__papi_option {
	PS__PAPI_OPTION_TID, /* PAPI_ATTACH; only if PS__PAPI_ATTACHED is set */
	/* PAPI_CPU_ATTACH; only if PS__PAPI_CPU_ATTACHED is set: otherwise PAPI 7.0 crashes */
	PS__PAPI_OPTION_CPU,
	PS__PAPI_OPTION_DOMAIN, /* the last three: only if the set has events */
	PS__PAPI_OPTION_GRANULARITY,
	PS__PAPI_OPTION_INHERIT
};

struct ps__papi_event_info {
	char symbol[PS__PAPI_TEXT];
	char units[64];
	char derived[64];   /* "", "NOT_DERIVED", or how it is computed from several counters */
	bool is_floating;   /* PAPI_DATATYPE_FP64 */
	bool is_momentary;  /* a present value, such as a temperature; not a count */
	bool is_of_package; /* PAPI_LOCATION_PACKAGE or _UNCORE */
};

struct ps__papi_component_info {
	char name[128];
	char disabled_reason[PS__PAPI_TEXT];
	int most_events; /* that a set of this component can have */
	int disabled;    /* 0, or the code of the reason why it is switched off */
};

struct ps__papi_calls {
	/* The version of papi.h at build time, as PAPI_VER_CURRENT; 0: built without PAPI */
	int built_version;
	int (*is_initialized)(void);
	int (*initialize)(void); /* 0, or PAPI's code */
	int (*library_version)(void);
	int (*num_events)(int set);
	int (*list_events)(int set, int *codes, int *count);
	int (*event_name)(int code, char *out); /* at most PS__PAPI_TEXT bytes */
	int (*event_info)(int code, struct ps__papi_event_info *out);
	int (*set_component)(int set);
	int (*component_info)(int component, struct ps__papi_component_info *out);
	int (*component_count)(void);
	int (*get_option)(int set, enum ps__papi_option option, long *out);
	int (*state)(int set, int *out);
	int (*start)(int set);
	int (*read)(int set, long long *values);
	int (*stop)(int set, long long *values);
	const char *(*strerror)(int code);
};

extern struct ps__papi_calls ps__papi_calls;

#endif

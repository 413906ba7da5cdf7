/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The seam to PAPI, as ps__os is the one to the kernel: every call of PAPI goes through this table,
 * in types of its own, so that papi.h stays in one file and tests can put a PAPI of theirs here.
 */
#ifndef PS_BACKEND_PAPI_CALLS_H
#define PS_BACKEND_PAPI_CALLS_H

#include <stdbool.h>

/* PAPI_HUGE_STR_LEN: what PAPI writes at most for a name. */
#define PS__PAPI_TEXT 1024

/* Bits of PAPI_state, and granularities: PAPI's own numbers. */
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

/* PAPI_get_opt is asked for these of an event set. */
enum ps__papi_option {
	PS__PAPI_OPTION_TID,    /* PAPI_ATTACH; only of a set in that state */
	PS__PAPI_OPTION_CPU,    /* PAPI_CPU_ATTACH; the same: PAPI 7.0 crashes on others */
	PS__PAPI_OPTION_DOMAIN, /* these three: only of a set with events */
	PS__PAPI_OPTION_GRANULARITY,
	PS__PAPI_OPTION_INHERIT
};

struct ps__papi_event_info {
	char symbol[PS__PAPI_TEXT];
	char units[64];
	char derived[64];   /* "" or "NOT_DERIVED", or how it is reckoned from several counters */
	bool is_floating;   /* PAPI_DATATYPE_FP64 */
	bool is_momentary;  /* a value of now, such as a temperature, and no count */
	bool is_of_package; /* PAPI_LOCATION_PACKAGE or _UNCORE */
};

struct ps__papi_component_info {
	char name[128];
	char disabled_reason[PS__PAPI_TEXT];
	int most_events; /* that a set of it can have */
	int disabled;    /* 0, or the code with which it was switched off */
};

struct ps__papi_calls {
	/* The version of papi.h at build time, as PAPI_VER_CURRENT; 0: built without PAPI */
	int built_version;
	int (*is_initialized)(void);
	int (*initialize)(void); /* 0, or a code of PAPI's */
	void (*shut_down)(void);
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

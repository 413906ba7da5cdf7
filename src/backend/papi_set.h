/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PAPI event set that the user made, as a backend: what it is made of, asked once, and its counts
 * as running totals. The PAPI set stays the user's: it is started, read and stopped here, and never
 * changed or destroyed.
 */
#ifndef PS_BACKEND_PAPI_SET_H
#define PS_BACKEND_PAPI_SET_H

#include "backend/backend.h"

/* The ways in which the values of an event may go. */
enum ps__papi_course {
	PS__PAPI_RISES,    /* a count: if it falls, it was reset */
	PS__PAPI_ESTIMATE, /* multiplexed: the estimate may fall a little */
	PS__PAPI_FREE      /* a difference of counts, a temperature: up and down */
};

struct ps__papi {
	int id;
	int *codes; /* PAPI's, of count events */
	int *again; /* room for as many, to compare */
	size_t count;
	size_t most_events; /* that any set of PAPI can have; 0: too many to keep room for */
	enum ps__papi_course *course;
	struct ps__event *events; /* until the set takes them over */
	struct ps__target target;
	int state;        /* those of PAPI_state's bits that say what is counted */
	long granularity; /* PS__PAPI_GRN_* */
	bool is_shared;   /* counts more tasks than the one it is looked for, or an unknown CPU's */
	bool is_estimate; /* multiplexed */
	bool is_running;  /* PAPI ran it when it was described */
	bool has_baseline; /* PAPI ran it when it was started: origin has its counts of before */
	/* When a set that PAPI runs is taken over: with what it has counted since PAPI_start */
	bool keeps_count;
	/* The one CPU that its task could run on when the set was wrapped and PAPI did not run it
	 * yet; -1: several, or it ran */
	int only_cpu;
	/* Events that count for a package each: where they belong. One place, or none: target says
	 * it. */
	uint32_t *place_of; /* by event */
	int *place_cpus;    /* by place */
	size_t place_count;
};

/*
 * Asks PAPI what an event set is made of. PS_ENOSUPP: built without PAPI, or an event that is no
 * whole number. PS_ENOINIT: PAPI isn't initialised. PS_EINVAL: another version than the one built
 * with. PS_ECMP_DISABLED or the component's own code: the component is switched off. PS_ENOEVST: no
 * such set. PS_ENOMEM. Others: PAPI's. Each with a detail.
 */
int ps__papi_describe(struct ps__papi **out, int id);
void ps__papi_free(struct ps__papi *papi);

/* Is it made of something else by now? PAPI's codes on failure. */
int ps__papi_compare(const struct ps__papi *papi, bool *changed);

/* Does PAPI run it? */
int ps__papi_is_counting(const struct ps__papi *papi, bool *out);

/* The code, unchanged, with PAPI's words for it. */
int ps__papi_fail(int id, const char *call, int code) __attribute__((cold));

/* PAPI is initialised; asking it for anything else before would crash. */
int ps__papi_check_library(void);

/* The end of a sentence where PAPI has switched a component off: what to count with instead. "" for
 * any but the one that counts the processor. */
const char *ps__papi_instead(const char *component);

/* Where an event of a PAPI component counts. */
struct ps__papi_scope {
	enum ps_scope scope;
	int cpu; /* one of the CPUs that it is counted for; -1: where the set is */
};
struct ps__papi_scope ps__papi_scope(const char *component, const char *event, bool is_of_package);

/* papi_names.c: an event of the component perf_event, by the name that PAPI has for it. */
bool ps__papi_is_clock(const char *name);
/* Can it happen in the kernel alone? */
bool ps__papi_is_kernel_side(const char *name);
/* is_domain_of_user: the set's domain, which the name may override. */
bool ps__papi_excludes_kernel(const char *name, bool is_domain_of_user);

/* NULL for lack of memory. papi outlives the backend. */
struct ps__backend *ps__papi_create(struct ps__papi *papi);

/* Before a start, when all was fetched: totals are 0 again, as PAPI's counts will be. */
void ps__papi_rewind(struct ps__backend *backend);

#endif

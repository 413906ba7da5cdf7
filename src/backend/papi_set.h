/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PAPI event set that the user made, as a backend. PAPI is asked once what the set consists of.
 * The PAPI set still belongs to the user: it is started, read and stopped here, but never changed
 * or destroyed.
 */
#ifndef PS_BACKEND_PAPI_SET_H
#define PS_BACKEND_PAPI_SET_H

#include "backend/backend.h"

/* The ways in which the values of an event may change. */
enum ps__papi_course {
	PS__PAPI_RISES,    /* a count: if it falls, it was reset */
	PS__PAPI_ESTIMATE, /* multiplexed: the estimate may fall a little */
	PS__PAPI_FREE      /* a difference of counts, a temperature: up and down */
};

struct ps__papi {
	int id;
	int *codes; /* PAPI's event codes; `count` of them */
	int *again; /* a second vector of this size, for comparison */
	size_t count;
	/* the most events that any PAPI set can have; 0: too many to keep room for */
	size_t most_events;
	enum ps__papi_course *course;
	struct ps__event *events; /* owned until the set takes them */
	struct ps__target target;
	int state;        /* the bits of PAPI_state that say what is counted */
	long granularity; /* PS__PAPI_GRN_* */
	bool is_shared;   /* counts more tasks than the one in target, or a CPU that isn't known */
	bool is_estimate; /* the values are estimates: multiplexed */
	bool is_running;  /* PAPI was running the set when it was described */
	/* PAPI was running the set when ps_start took it over: origin has its counts until then */
	bool has_baseline;
	/* For a set that PAPI runs when it is taken over: keep its counts since PAPI_start */
	bool keeps_count;
	/* The one CPU that its task could run on when the set was wrapped; -1: several CPUs, or
	 * PAPI was running the set then */
	int only_cpu;
	/* The packages (places) of events that count for one package each. If all events count in
	 * one place, target is that place. */
	uint32_t *place_of; /* by event */
	int *place_cpus;    /* by place */
	size_t place_count;
};

/*
 * Asks PAPI what an event set consists of. Errors, each with a detail: PS_ENOSUPP: built without
 * PAPI, or an event is a floating-point number. PS_ENOINIT: PAPI isn't initialised. PS_EINVAL:
 * another version than the one built with. PS_ECMP_DISABLED: the component is switched off.
 * PS_ENOEVST: no such set. PS_ENOMEM. Others: PAPI's.
 */
int ps__papi_describe(struct ps__papi **out, int id);
void ps__papi_free(struct ps__papi *papi);

/* Sets *changed if the PAPI set consists of something else now. PAPI's codes on failure. */
int ps__papi_compare(const struct ps__papi *papi, bool *changed);

/* Sets *out if PAPI runs the set. PAPI's codes on failure. */
int ps__papi_is_counting(const struct ps__papi *papi, bool *out);

/* Returns PAPI's code unchanged, with a sentence that has PAPI's words for it. */
int ps__papi_fail(int id, const char *call, int code) __attribute__((cold));

/* PS_OK, or a code with a detail if PAPI can't be called. Uninitialised, PAPI would crash. */
int ps__papi_check_library(void);

/* Returns the end of a sentence, for a component that PAPI has switched off: what to count with
 * instead. "" unless the component counts the processor. */
const char *ps__papi_instead(const char *component);

/* Where an event of a PAPI component counts. */
struct ps__papi_scope {
	enum ps_scope scope;
	int cpu; /* one of the CPUs that the event counts for; -1: the CPU of the set */
};
struct ps__papi_scope ps__papi_scope(const char *component, const char *event, bool is_of_package);

/* papi_names.c: tells about an event of the component perf_event by PAPI's name for it. */
bool ps__papi_is_clock(const char *name);
/* True if the event can only happen in the kernel. */
bool ps__papi_is_kernel_side(const char *name);
/* is_domain_of_user: the set's domain has no kernel; the event's name may override it. */
bool ps__papi_excludes_kernel(const char *name, bool is_domain_of_user);

/* Makes the backend. NULL if out of memory. papi must outlive it. */
struct ps__backend *ps__papi_create(struct ps__papi *papi);

/* Sets the totals to 0, where PAPI's counts will begin. Call it before a start, after a fetch. */
void ps__papi_rewind(struct ps__backend *backend);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake PAPI behind the library's seam (backend/papi_calls.h): event sets with scripted counts,
 * and failures of any call with any code at its nth use. It ends the test where PAPI 7.0 would
 * crash: if a call comes before initialisation, or asks for the CPU of a set that isn't attached to
 * one.
 */
#ifndef PS_TESTS_FAKE_PAPI_H
#define PS_TESTS_FAKE_PAPI_H

#include "backend/papi_calls.h"

#define FAKE_PAPI_VERSION 0x07000000
#define FAKE_PAPI_SETS    8
#define FAKE_PAPI_EVENTS  8

enum fake_papi_call {
	FAKE_PAPI_NUM_EVENTS,
	FAKE_PAPI_LIST_EVENTS,
	FAKE_PAPI_EVENT_NAME,
	FAKE_PAPI_EVENT_INFO,
	FAKE_PAPI_SET_COMPONENT,
	FAKE_PAPI_COMPONENT_INFO,
	FAKE_PAPI_GET_OPTION,
	FAKE_PAPI_STATE,
	FAKE_PAPI_START,
	FAKE_PAPI_READ,
	FAKE_PAPI_STOP,
	FAKE_PAPI_CALLS
};

/* A kind of event; its code is its index. */
struct fake_papi_kind {
	char name[512];
	struct ps__papi_event_info info;
};

struct fake_papi_set {
	bool exists;
	int state; /* one of PS__PAPI_*, without RUNNING */
	bool is_running;
	int count;
	int codes[FAKE_PAPI_EVENTS];
	long long values[FAKE_PAPI_EVENTS];
	long options[5]; /* indexed by enum ps__papi_option */
};

struct fake_papi {
	bool is_initialized;
	int initializations;
	int version;
	int refuses; /* the code with which initialisation fails; 0: it doesn't */
	struct ps__papi_component_info component; /* the component of all sets */
	struct ps__papi_component_info others[4]; /* components after it */
	int other_count;
	struct fake_papi_kind kinds[64];
	int kind_count;
	struct fake_papi_set sets[FAKE_PAPI_SETS];
	unsigned calls[FAKE_PAPI_CALLS];
};
extern struct fake_papi fake_papi;

/* Installs an initialised PAPI with the component perf_event and no event sets. */
void fake_papi_install(void);
void fake_papi_remove(void);

/* Creates an event set with these events (end with NULL) and the lowest free number, as
 * PAPI_create_eventset does. Destroys one. */
int fake_papi_create(const char *event, ...) __attribute__((sentinel));
void fake_papi_destroy(int set);
void fake_papi_add(int set, const char *event);
struct fake_papi_kind *fake_papi_kind(const char *event); /* added at its first use */

/* Calls that the user makes without the library's knowledge. */
void fake_papi_start(int set); /* counts from 0 */
void fake_papi_stop(int set);
void fake_papi_reset(int set);

/* Adds to the count of a running set. */
void fake_papi_count(int set, int event, long long amount);

/* Makes the nth use from now on (1: the next) fail once with this code. */
void fake_papi_fail(enum fake_papi_call call, unsigned nth, int code);
bool fake_papi_fail_happened(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI with as many software events of the same kinds. In a build without PAPI its rows say that it
 * is missing. */
#ifndef BENCH_PAPI_RIVAL_H
#define BENCH_PAPI_RIVAL_H

#include <sys/types.h>

/* Starts PAPI, once, with `count` events. Returns NULL, or the reason why it can't be measured,
 * which stays valid. */
const char *papi_rival_open(int count);
/* Does the same with hardware events (presets). */
const char *papi_rival_open_hardware(int count);
void papi_rival_close(void);

/* Returns the PAPI event set, for ps_eventset_from_papi. PAPI runs only one set of a thread at a
 * time. */
int papi_rival_set(void);

/* Does the same with a set that is attached to another task. It may run together with the thread's
 * own set. */
const char *papi_rival_attach(int count, pid_t tid);
int papi_rival_attached_set(void);
void papi_rival_read_attached(void);

/* Returns what was changed so that PAPI counts on a processor that libpfm4 doesn't know; NULL:
 * nothing. */
const char *papi_rival_note(void);

void papi_rival_read(void);
void papi_rival_accum(void);
void papi_rival_stop_start(void);

/* Regions of PAPI's high-level API, with the events of papi_rival_open. PAPI writes its results
 * into a folder that is removed at exit. */
const char *papi_rival_open_regions(int count);
void papi_rival_close_regions(void);
void papi_rival_visit(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI, counting as many software events of the same kinds. Its rows say so
 * where it was not built in. */
#ifndef BENCH_PAPI_RIVAL_H
#define BENCH_PAPI_RIVAL_H

#include <sys/types.h>

/* Starts PAPI, once, with `count` events. NULL, or why it can't be measured:
 * the text lives on. */
const char *papi_rival_open(int count);
/* As that, with events of the hardware: presets. */
const char *papi_rival_open_hardware(int count);
void papi_rival_close(void);

/* The PAPI event set, for ps_eventset_from_papi. PAPI runs one in a thread at a
 * time. */
int papi_rival_set(void);

/* The same with a set that is attached to another task; it may run beside the
 * thread's own. */
const char *papi_rival_attach(int count, pid_t tid);
int papi_rival_attached_set(void);
void papi_rival_read_attached(void);

/* What was done so that PAPI counts on a machine whose processor libpfm4
 * doesn't know; NULL: nothing. */
const char *papi_rival_note(void);

void papi_rival_read(void);
void papi_rival_accum(void);
void papi_rival_stop_start(void);

/* PAPI's regions (its high-level calls), with the events of papi_rival_open. What they write at the
 * end goes to a folder that is removed. */
const char *papi_rival_open_regions(int count);
void papi_rival_close_regions(void);
void papi_rival_visit(void);

#endif

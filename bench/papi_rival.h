/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI, counting as many software events of the same kinds. Its rows say so where it was not built in. */
#ifndef BENCH_PAPI_RIVAL_H
#define BENCH_PAPI_RIVAL_H

/* Starts PAPI, once, with `count` events. NULL, or why it can't be measured: the text lives on. */
const char *papi_rival_open(int count);
/* As that, with events of the hardware: presets. */
const char *papi_rival_open_hardware(int count);
void papi_rival_close(void);

/* What was done so that PAPI counts on a machine whose processor libpfm4 doesn't know; NULL: nothing. */
const char *papi_rival_note(void);

void papi_rival_read(void);
void papi_rival_accum(void);
void papi_rival_stop_start(void);

#endif

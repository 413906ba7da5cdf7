/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files that know libpfm4, without its headers. */
#ifndef PS_EVENT_PFM_H
#define PS_EVENT_PFM_H

#include "event/lookup.h"

/*
 * libpfm4 is the process's: PAPI uses it, too, and takes it down in
 * PAPI_shutdown. So it is initialised at each use, which is one look at a flag
 * if it is up; the lock keeps our own threads apart. Locked again by the thread
 * that has it: a visitor of names may look names up. False, and not locked, if
 * libpfm4 can't start. Meanwhile a cancellation of the thread is held back:
 * *cancel is for ps__pfm_leave.
 */
bool ps__pfm_enter(int *cancel);
void ps__pfm_leave(int cancel);

/*
 * Why libpfm4 has no encoding: its error, in a sentence with what would be
 * right. PS__NOT_HERE: it doesn't know the name, nor is it of another
 * machine.
 */
int ps__pfm_explain(struct ps__lookup *lookup, int error);

/* The part of a name before its unit masks and modifiers: where that ends. */
const char *ps__pfm_head_end(const char *name);

#endif

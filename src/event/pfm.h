/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that several files about libpfm4 share. This header needs no header
 * of libpfm4. */
#ifndef PS_EVENT_PFM_H
#define PS_EVENT_PFM_H

#include "event/lookup.h"

/*
 * Locks libpfm4 and initialises it. PAPI uses the same libpfm4, and
 * PAPI_shutdown terminates it. So each use initialises it again, which is cheap
 * while it is initialised. The lock keeps our own threads apart. The thread
 * that holds it may lock it again, because a visitor of names may look names
 * up. Cancellation of the thread is held back until ps__pfm_leave, which needs
 * *cancel. Returns false, without the lock, if libpfm4 can't start.
 */
bool ps__pfm_enter(int *cancel);
void ps__pfm_leave(int cancel);

/*
 * Fails with a code and a sentence for an error of libpfm4. The sentence says
 * what would be right. Returns PS__NOT_HERE if libpfm4 doesn't know the name
 * for any machine.
 */
int ps__pfm_explain(struct ps__lookup *lookup, int error);

/* Returns the end of the part of a name that comes before its unit masks and
 * modifiers. */
const char *ps__pfm_head_end(const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What an event set notes for the case that a call is left half done: see recover.c. */
#ifndef PS_EVENTSET_RECOVER_H
#define PS_EVENTSET_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps__slot;

/*
 * The old values of counts that are being changed. recover.c puts them back if the call was left
 * before the change was complete. There are two ways. One saves all counts of a slot, its
 * times of the interval, and what is assigned of an instance. The other is cheaper: it changes two
 * vectors word by word, and saves only the current word.
 */
struct ps__undo {
	struct ps__slot *slot; /* slot whose counts are changed as a whole; NULL: none */
	size_t instance;       /* instance whose totals are assigned to it */
	uint64_t *saved;       /* old values: see ps__set_change_begin */
	uint64_t *words;       /* first vector of a change word by word; NULL: none */
	uint64_t *others;      /* second vector; its word is changed after that of `words` */
	const uint64_t *final; /* new values of `others`; NULL: all 0 */
	size_t index;          /* of the current word; SIZE_MAX: none yet */
	uint64_t before;       /* old value of that word in `words` */
};

/* What a reading adds to the base: see write.c. */
enum ps__write_kind {
	PS__WRITE_COUNTS, /* base + counts */
	PS__WRITE_ACCUM,  /* the same; then the counts move into the base */
	PS__WRITE_STORE   /* base + the caller's counters, without the set's own counts */
};

/* The stage in which ps__set_write is. */
enum ps__write_stage {
	PS__STAGE_NONE,
	PS__STAGE_FORGETTING, /* the latest reading makes room for a new one */
	/* the latest reading makes room for an older one; a later call can't finish this stage */
	PS__STAGE_REOPENING,
	PS__STAGE_WRITING /* the rows are written */
};

/* Progress and arguments of ps__set_write: if that was left, the next call finishes it. */
struct ps__pending {
	enum ps__write_stage stage;
	bool is_update; /* updates the latest reading */
	uint64_t name;  /* timestamp by which the caller knows the reading */
	enum ps__write_kind kind;
	struct ps__slot *slot;
	uint64_t timestamp;
};

#endif

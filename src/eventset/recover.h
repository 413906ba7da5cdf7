/* SPDX-License-Identifier: BSD-3-Clause */
/* An event set keeps this for the case that a call is left in its midst: see recover.c. */
#ifndef PS_EVENTSET_RECOVER_H
#define PS_EVENTSET_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps__slot;

/*
 * The values that a change of counts replaces, until it is done: recover.c puts them back if the
 * call is left before. They are either all counts of a slot and the assigned totals of an instance;
 * or, which is cheaper, the words of two vectors one after the other, of which only the one in
 * change can be half done.
 */
struct ps__undo {
	struct ps__slot *slot; /* whose counts are changed as a whole; NULL: nobody's */
	uint64_t *assigned;    /* the instance's */
	uint64_t *saved;       /* both, as they were: twice the recording's width */
	uint64_t *words;       /* one vector; NULL: none is being changed */
	uint64_t *others;      /* the other one, of which a word is changed after that of `words` */
	const uint64_t *final; /* and what it is then; NULL: 0 */
	size_t index;          /* the word; SIZE_MAX: none yet */
	uint64_t before;       /* as it was */
};

/* A reading adds this to the base: see write.c. */
enum ps__write_kind {
	PS__WRITE_COUNTS, /* base + counts */
	PS__WRITE_ACCUM,  /* the same; then the counts move into the base */
	PS__WRITE_STORE   /* base + the caller's counters; the set's own counts stay out of it */
};

/* Where ps__set_write is. */
enum ps__write_stage {
	PS__STAGE_NONE,
	PS__STAGE_FORGETTING, /* the latest reading makes place for a new one */
	PS__STAGE_REOPENING,  /* or for an older one: can't be gone on with */
	PS__STAGE_WRITING     /* the rows */
};

/* The progress of the call, and its arguments: the next call goes on from there. */
struct ps__pending {
	enum ps__write_stage stage;
	bool is_update; /* of the latest reading */
	uint64_t name;  /* the timestamp by which the caller knows it */
	enum ps__write_kind kind;
	struct ps__slot *slot;
	uint64_t timestamp;
};

#endif

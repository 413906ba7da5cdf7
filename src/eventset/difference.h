/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up what was counted between two points: two snapshots, or two points of a log. */
#ifndef PS_EVENTSET_DIFFERENCE_H
#define PS_EVENTSET_DIFFERENCE_H

#include "store/recording.h"

#include <perfsage/value.h>

struct ps_component;

/* A hardware thread's part at both points: a label (parts.h), then the counts in a row's order. */
struct ps__difference_part {
	const uint64_t *from; /* NULL: nothing was counted there before */
	const uint64_t *to;
	const struct ps__history *history; /* tells how to read the words */
	int cpu;
};

struct ps__difference {
	const char *call; /* errors begin with its name */
	const struct ps__recording *recording;
	const struct ps_component *component; /* NULL: all hardware threads */
	uint64_t timestamp;                   /* of the later point */
	size_t part_count;                    /* of the later point */
	struct ps__difference_part (*part)(const void *points, size_t index);
	const void *points;
};

/* Writes a value for each event of the recording. PS_EINVAL_DOM if one count of an event covers
 * more than the component; PS_ENOEVST if the set met no hardware thread of the component;
 * PS_ENOMEM. */
int ps__difference_sum_up(const struct ps__difference *difference, struct ps_value *values);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates, lower bounds and sums of values. */
#ifndef PS_STORE_SUM_H
#define PS_STORE_SUM_H

#include <perfsage/value.h>
#include <stddef.h>

/* A multiplexed group's count, by its times. */
void ps__value_estimate(struct ps_value *value);

/* The value is at least what was counted: an estimate is no bound. */
void ps__value_lacks(struct ps_value *value);

/* Adds a part to a sum (the first of which has *parts == 0): see ps_value for
 * what becomes of each field. The sum is a value only after ps__value_finish. */
void ps__value_merge(struct ps_value *sum, size_t *parts, const struct ps_value *part);
/* Where the counter was never on the hardware, it is taken to have counted as
 * fast as elsewhere: an estimate. */
void ps__value_finish(struct ps_value *sum);

#endif

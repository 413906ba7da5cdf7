/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates, lower bounds and sums of values. */
#ifndef PS_STORE_SUM_H
#define PS_STORE_SUM_H

#include <perfsage/value.h>
#include <stdbool.h>
#include <stddef.h>

/* True if the value is the count or an estimate of it: neither unknown nor a mere bound. */
static inline bool ps__value_is_known(const struct ps_value *value)
{
	return value->status == PS_STATUS_COUNTED || value->status == PS_STATUS_SCALED;
}

/* Estimates the count of a multiplexed group from its times. */
void ps__value_estimate(struct ps_value *value);

/* Makes the value a lower bound: the raw count, because an estimate is no
 * bound. */
void ps__value_lacks(struct ps_value *value);

/* Adds a part to a sum; before the first part, *parts is 0. perfsage/value.h describes what becomes
 * of each field. The sum is valid only after ps__value_finish. */
void ps__value_merge(struct ps_value *sum, size_t *parts, const struct ps_value *part);
/* Completes the sum. If the counter was never on the hardware in some parts, the sum is an
 * estimate: these parts are taken to have counted as fast as the others. */
void ps__value_finish(struct ps_value *sum);

#endif

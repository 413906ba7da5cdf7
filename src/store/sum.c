/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates, lower bounds and sums of values. */
#include "store/sum.h"

#include <limits.h>

void ps__value_lacks(struct ps_value *value)
{
	value->status = PS_STATUS_INCOMPLETE;
	value->value = (long long)value->raw;
}

void ps__value_estimate(struct ps_value *value)
{
	if (value->running_ns == 0) {
		value->status = PS_STATUS_NEVER_SCHEDULED;
		return;
	}
	value->status = PS_STATUS_SCALED;
	/* 128 bits: a count of an hour at 4 GHz times the nanoseconds of an
	 * hour is 2^85. */
	unsigned __int128 number =
	    (unsigned __int128)value->raw * value->enabled_ns / value->running_ns;
	value->value = number < LLONG_MAX ? (long long)number : LLONG_MAX;
	if (number > LLONG_MAX)
		value->flags |= PS_VALUE_SATURATED;
}

/* Returns the weaker of two statuses. "Not supported" is ignored: a core that can't count the event
 * doesn't weaken the counts of other cores. */
static enum ps_status value_weaker_status(enum ps_status one, enum ps_status other)
{
	if (one == PS_STATUS_NOT_SUPPORTED)
		return other;
	if (other == PS_STATUS_NOT_SUPPORTED)
		return one;
	return one > other ? one : other;
}

/* Adds two counts. A sum that overflows is saturated, because a wrapped sum would look like a small
 * number. */
static long long value_add_count(long long one, long long other, uint32_t *flags)
{
	long long sum;

	if (!__builtin_add_overflow(one, other, &sum))
		return sum;
	*flags |= PS_VALUE_SATURATED;
	return other < 0 ? LLONG_MIN : LLONG_MAX;
}

static uint64_t value_add_time(uint64_t one, uint64_t other, uint32_t *flags)
{
	uint64_t sum;

	if (!__builtin_add_overflow(one, other, &sum))
		return sum;
	*flags |= PS_VALUE_SATURATED;
	return UINT64_MAX;
}

void ps__value_merge(struct ps_value *sum, size_t *parts, const struct ps_value *part)
{
	if ((*parts)++ == 0) {
		*sum = *part;
		return;
	}
	if (part->timestamp > sum->timestamp)
		sum->timestamp = part->timestamp;
	sum->value = value_add_count(sum->value, part->value, &sum->flags);
	/* Counts that the caller stored may be negative. */
	sum->raw =
	    (uint64_t)value_add_count((long long)sum->raw, (long long)part->raw, &sum->flags);
	sum->enabled_ns = value_add_time(sum->enabled_ns, part->enabled_ns, &sum->flags);
	sum->running_ns = value_add_time(sum->running_ns, part->running_ns, &sum->flags);
	sum->status = value_weaker_status(sum->status, part->status);
	if (part->attribution > sum->attribution)
		sum->attribution = part->attribution;
	sum->flags |= part->flags | PS_VALUE_MERGED;
}

void ps__value_finish(struct ps_value *sum)
{
	if (sum->status == PS_STATUS_NEVER_SCHEDULED && sum->running_ns > 0)
		ps__value_estimate(sum);
	if (sum->status == PS_STATUS_INCOMPLETE)
		ps__value_lacks(sum);
	/* The set may have subtracted extrapolated counts, which may by chance exceed the sum. */
	if (sum->flags & PS_VALUE_SAMPLED && sum->value < 0)
		sum->value = 0;
}

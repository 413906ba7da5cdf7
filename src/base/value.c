/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and derived numbers of a value, for printing it. */
#include <math.h>
#include <perfsage/eventset.h>
#include <perfsage/value.h>

/* A lower bound from a counter that was off doesn't have all the time for which it was off. */
double ps_value_coverage(const struct ps_value *value)
{
	if (value->status == PS_STATUS_INCOMPLETE && value->flags & PS_VALUE_INTERRUPTED)
		return (double)NAN;
	if (value->enabled_ns == 0)
		return value->status == PS_STATUS_SCALED ? (double)NAN : 1.0;
	return (double)value->running_ns / (double)value->enabled_ns;
}

const char *ps_value_flag_name(uint32_t flags, size_t index)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = {
	    {PS_VALUE_USER_ONLY, "user-only"},     {PS_VALUE_MOVED, "moved"},
	    {PS_VALUE_WENT_BACK, "went-back"},     {PS_VALUE_ENDED, "ended"},
	    {PS_VALUE_INTERRUPTED, "interrupted"}, {PS_VALUE_MERGED, "merged"},
	    {PS_VALUE_SATURATED, "saturated"},     {PS_VALUE_SAMPLED, "sampled"},
	    {PS_VALUE_PAUSED, "paused"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (flags & names[i].flag && index-- == 0)
			return names[i].name;
	}
	return NULL;
}

const char *ps_status_name(enum ps_status status)
{
	switch (status) {
	case PS_STATUS_COUNTED:
		return "counted";
	case PS_STATUS_SCALED:
		return "scaled";
	case PS_STATUS_NEVER_SCHEDULED:
		return "never scheduled";
	case PS_STATUS_NOT_SUPPORTED:
		return "not supported";
	case PS_STATUS_INCOMPLETE:
		return "incomplete";
	}
	return "unknown";
}

const char *ps_attribution_name(enum ps_attribution attribution)
{
	switch (attribution) {
	case PS_ATTRIBUTION_EXACT:
		return "exact";
	case PS_ATTRIBUTION_PINNED:
		return "pinned";
	case PS_ATTRIBUTION_ATTACHED:
		return "attached";
	case PS_ATTRIBUTION_MIXED:
		return "mixed";
	case PS_ATTRIBUTION_LAST_CPU:
		return "last-cpu";
	}
	return "unknown";
}

const char *ps_scope_name(enum ps_scope scope)
{
	switch (scope) {
	case PS_SCOPE_THREAD:
		return "thread";
	case PS_SCOPE_CORE:
		return "core";
	case PS_SCOPE_CACHE:
		return "cache";
	case PS_SCOPE_PACKAGE:
		return "package";
	case PS_SCOPE_MACHINE:
		return "machine";
	}
	return "unknown";
}

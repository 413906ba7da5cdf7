/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the counts of a run can be trusted: the attribution of all sets together, the residual
 * and the coverage. */
#include "base/os.h"
#include "tools/stat_count.h"
#include "tools/stat_times.h"

#include <math.h>
#include <string.h>

/* True if counts of this event were attributed by an estimate, or to the CPU seen at a reading. */
static bool trust_is_doubtful(const struct stat_count *count, const char *event)
{
	struct ps_value total;

	return !stat_times_bit(event) && ps_component_total(count->root, event, &total) == PS_OK &&
	       total.status != PS_STATUS_NOT_SUPPORTED && total.attribution >= PS_ATTRIBUTION_MIXED;
}

void stat_trust_note(struct stat_count *count)
{
	size_t events = ps_eventset_event_count(count->model);

	for (size_t index = 0; !count->has_doubt && index < events; index++)
		count->has_doubt =
		    trust_is_doubtful(count, ps_eventset_event_name(count->model, index));
}

enum ps_attribution stat_count_attribution(const struct stat_count *count, const char **why)
{
	enum ps_attribution weakest = PS_ATTRIBUTION_EXACT;

	*why = "";
	if (stat_times_are_all(count->model)) {
		*why = "the times of a run are of the whole machine";
		return PS_ATTRIBUTION_LAST_CPU;
	}
	for (size_t index = 0; index < count->set_count; index++) {
		const char *reason;
		enum ps_attribution one = ps_eventset_attribution(count->sets[index], &reason);
		if (one < weakest || (one == weakest && **why))
			continue;
		weakest = one;
		*why = reason;
	}
	/* If the tasks slept all the time, no count was divided. The label of the method would then
	 * be weaker than the counts. */
	if (weakest >= PS_ATTRIBUTION_MIXED && !count->has_doubt &&
	    stat_method_is_estimate(count->how.method)) {
		*why = "";
		return PS_ATTRIBUTION_EXACT;
	}
	const char *asked = stat_method_why(&count->how, weakest);
	if (asked)
		*why = asked;
	return weakest;
}

int stat_count_check(struct stat_count *count, long long *residual)
{
	size_t events = ps_eventset_event_count(count->model);
	long long *one = ps__os_calloc(events ? events : 1, sizeof *one);
	int result = one ? 0 : -1;

	memset(residual, 0, events * sizeof *residual);
	for (size_t index = 0; result == 0 && index < count->set_count; index++) {
		result = ps_eventset_check(count->sets[index], one, (int)events) == PS_OK ? 0 : -1;
		for (size_t event = 0; result == 0 && event < events; event++)
			residual[event] += one[event];
	}
	ps__os_free(one);
	return result;
}

/* Gets the total of an event on the whole machine. Returns false if it is unknown. */
static bool trust_total(const struct stat_count *count, size_t event, struct ps_value *out)
{
	return ps_component_total(count->root, ps_eventset_event_name(count->model, event), out) ==
	       PS_OK;
}

bool stat_count_has_missed(const struct stat_count *count)
{
	struct ps_value total;

	for (size_t event = 0; event < ps_eventset_event_count(count->model); event++) {
		if (trust_total(count, event, &total) &&
		    (total.status == PS_STATUS_INCOMPLETE || (total.flags & PS_VALUE_INTERRUPTED)))
			return true;
	}
	return false;
}

double stat_least_coverage(double one, double other)
{
	return isnan(other) || other < one ? other : one;
}

double stat_count_coverage(const struct stat_count *count)
{
	struct ps_value total;
	double least = 1.0;

	for (size_t event = 0; event < ps_eventset_event_count(count->model); event++) {
		if (!trust_total(count, event, &total))
			continue;
		double coverage = ps_value_coverage(&total);
		if (total.status != PS_STATUS_COUNTED && total.status != PS_STATUS_NOT_SUPPORTED)
			least = stat_least_coverage(least, coverage);
	}
	return least;
}

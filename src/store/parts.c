/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the parts of one reading, and the hardware threads that one count
 * covers. See attrmap.h. */
#include "store/attrmap.h"

#include <perfsage/component.h>

struct ps__range ps__component_range(const struct ps_component *component)
{
	size_t end = component->first_thread + component->thread_count;

	if (component->type == PS_COMPONENT_MACHINE)
		end++;
	return (struct ps__range){component->first_thread, end};
}

/* Gives the newest row of a history as a value. False if there is no row, or if a writer changed
 * the history meanwhile. */
static bool parts_newest(const struct ps__history *history, size_t column, struct ps_value *out)
{
	size_t count = atomic_load_explicit(&history->count, memory_order_acquire);

	return count > 0 && ps__recording_value(history, count - 1, column, out);
}

size_t ps__recording_sum_latest(const struct ps__recording *recording, size_t column,
                                struct ps__range range, struct ps_value *out)
{
	uint64_t sequence;
	size_t parts;

	do {
		parts = 0;
		sequence = ps__recording_read_begin(recording);
		uint64_t latest = atomic_load_explicit(&recording->latest, memory_order_acquire);
		for (const struct ps__history *history = ps__recording_first_history(recording);
		     history; history = history->next_in_recording) {
			struct ps_value part;
			if (!parts_newest(history, column, &part) || part.timestamp != latest)
				continue;
			size_t index = ps__thread_index(history->thread);
			if (index >= range.first && index < range.end)
				ps__value_merge(out, &parts, &part);
		}
	} while (ps__recording_read_retry(recording, sequence));
	return parts;
}

size_t ps__recording_sum_at(const struct ps__recording *recording, size_t column,
                            struct ps__range range, uint64_t timestamp, struct ps_value *out)
{
	uint64_t sequence;
	size_t parts;

	do {
		parts = 0;
		sequence = ps__recording_read_begin(recording);
		for (const struct ps__history *history = ps__recording_first_history(recording);
		     history; history = history->next_in_recording) {
			ptrdiff_t row = ps__history_find(history, timestamp);
			struct ps_value part;
			if (row < 0 || !ps__recording_value(history, (size_t)row, column, &part))
				continue;
			size_t index = ps__thread_index(history->thread);
			if (index >= range.first && index < range.end)
				ps__value_merge(out, &parts, &part);
		}
	} while (ps__recording_read_retry(recording, sequence));
	return parts;
}

const struct ps_component *ps__component_covered(const struct ps_component *thread,
                                                 enum ps_scope scope)
{
	static const enum ps_component_type types[] = {
	    [PS_SCOPE_THREAD] = PS_COMPONENT_THREAD,   [PS_SCOPE_CORE] = PS_COMPONENT_CORE,
	    [PS_SCOPE_CACHE] = PS_COMPONENT_CACHE,     [PS_SCOPE_PACKAGE] = PS_COMPONENT_PACKAGE,
	    [PS_SCOPE_MACHINE] = PS_COMPONENT_MACHINE,
	};
	const struct ps_component *found = NULL;

	for (const struct ps_component *up = thread; up; up = up->parent) {
		/* The last of a type on the way up is the outermost: the
		 * last-level cache. */
		if (up->type == types[scope])
			found = up;
	}
	return found ? found : thread;
}

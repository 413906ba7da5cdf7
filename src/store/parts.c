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

/* Gives a history's part of a reading as a value. The part of the recording's latest reading can
 * only be the newest row. False if there is no part, or if a writer changed the history
 * meanwhile. */
static bool parts_find(const struct ps__history *history, size_t column, uint64_t timestamp,
                       bool is_latest, struct ps_value *out)
{
	size_t count = atomic_load_explicit(&history->count, memory_order_acquire);
	ptrdiff_t row = is_latest ? (ptrdiff_t)count - 1 : ps__history_find(history, timestamp);

	return row >= 0 && ps__recording_value(history, (size_t)row, column, out) &&
	       out->timestamp == timestamp;
}

size_t ps__recording_sum(const struct ps__recording *recording, size_t column,
                         struct ps__range range, uint64_t timestamp, struct ps_value *out)
{
	uint64_t sequence;
	size_t parts;

	do {
		parts = 0;
		sequence = ps__recording_read_begin(recording);
		uint64_t wanted =
		    timestamp ? timestamp
			      : atomic_load_explicit(&recording->latest, memory_order_acquire);
		for (const struct ps__history *history = ps__recording_first_history(recording);
		     history; history = history->next_in_recording) {
			struct ps_value part;
			if (!parts_find(history, column, wanted, !timestamp, &part))
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

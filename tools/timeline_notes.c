/* SPDX-License-Identifier: BSD-3-Clause */
/* The sentences below the tables of perfsage timeline: what is not known, and why. */
#include "tools/timeline.h"

/* A sentence of its own lines. */
static void notes_add(struct timeline *timeline, struct ps__buffer *text)
{
	ps__buffer_add(&timeline->text, "\n");
	tool_paragraph(&timeline->text, ps__buffer_text(text), 0, timeline->screen.width);
	timeline->text.failed |= text->failed;
	ps__buffer_restart(text);
}

/* Why counts are lower bounds. */
static void add_bounds(struct timeline *timeline, struct ps__buffer *text)
{
	double waited = timeline_counters_waited(timeline);
	int unknown_cpu = timeline_counters_unknown(timeline);
	size_t i = 0;

	while (i < timeline->event_count && timeline->events[i].status != PS_STATUS_INCOMPLETE)
		i++;
	if (i == timeline->event_count)
		return;
	if (waited > 0) {
		ps__buffer_add(text,
		               "The counts of '%s' are lower bounds: the counters of its group "
		               "were taken by others for %.1f%% of the time. Name fewer events.",
		               timeline->events[i].name, 100 * waited);
		notes_add(timeline, text);
	}
	if (unknown_cpu >= 0) {
		ps__buffer_add(text,
		               "The counts of '%s' are lower bounds: CPU %d was offline for a part "
		               "of the time, and what was counted there afterwards is not known.",
		               timeline->events[i].name, unknown_cpu);
		notes_add(timeline, text);
	}
}

void timeline_notes_add(struct timeline *timeline)
{
	struct ps__buffer text = {0};

	tool_slices_say_holes(timeline->slices, timeline->lost, &text);
	if (text.length)
		notes_add(timeline, &text);
	if (timeline->command_pid)
		tool_slices_say_left(timeline->slices, &text);
	if (text.length)
		notes_add(timeline, &text);
	tool_slices_say_hidden(timeline->slices, &text);
	if (text.length)
		notes_add(timeline, &text);
	for (size_t i = 0; i < timeline->event_count; i++) {
		if (!timeline->events[i].is_of_user_only)
			continue;
		ps__buffer_add(&text, "u: of user space alone, as this user may not observe the "
		                      "kernel.");
		notes_add(timeline, &text);
		break;
	}
	add_bounds(timeline, &text);
	ps__buffer_clear(&text);
}

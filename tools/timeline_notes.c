/* SPDX-License-Identifier: BSD-3-Clause */
/* The sentences below the tables of perfsage timeline: what is unknown, and why. */
#include "tools/timeline.h"

#include "tools/command.h"

#include <inttypes.h>

/* Adds a sentence, if there is one, as a paragraph of its own. */
static void notes_add(struct timeline *timeline, struct ps__buffer *text)
{
	if (!text->length)
		return;
	ps__buffer_add(&timeline->text, "\n");
	tool_paragraph_of(&timeline->text, text, 0, timeline->screen.width);
}

/* Adds why counts are lower bounds. */
static void add_bounds(struct timeline *timeline, struct ps__buffer *text)
{
	double waited = timeline_counters_waited(timeline);
	int unknown_cpu = timeline_counters_unknown(timeline);
	size_t i = 0;

	while (i < timeline->event_count && !(timeline->events[i].is_counter &&
	                                      timeline->events[i].status == PS_STATUS_INCOMPLETE))
		i++;
	if (i == timeline->event_count)
		return;
	if (waited > 0) {
		ps__buffer_add(text,
		               "The counts of '%s' are lower bounds, or not known: the counters of "
		               "its group were taken by others for %.1f%% of the time. Name fewer "
		               "events.",
		               timeline->events[i].name, 100 * waited);
		notes_add(timeline, text);
	}
	if (unknown_cpu >= 0) {
		ps__buffer_add(
		    text,
		    "The counts of '%s' are lower bounds, or not known: CPU %d had no counters "
		    "for a part of the time, because it was offline, or because it takes "
		    "long here to start and stop the counters of all CPUs.",
		    timeline->events[i].name, unknown_cpu);
		notes_add(timeline, text);
	}
}

static void say_unassigned(const struct timeline_losses *losses, struct ps__buffer *out)
{
	if (losses->unassigned)
		ps__buffer_add(out,
		               "%" PRIu64 " sample%s left out: another program samples the same "
		               "software events, and the kernel doesn't tell which of -e wrote "
		               "%s. Counts of software events are lower bounds, or not known. "
		               "Name one software event.",
		               losses->unassigned, losses->unassigned == 1 ? " is" : "s are",
		               losses->unassigned == 1 ? "it" : "them");
}

static void say_damaged(const struct timeline_losses *losses, struct ps__buffer *out)
{
	if (losses->damaged)
		ps__buffer_add(out,
		               "%" PRIu64 " damaged record%s left out: the times and counts above "
		               "lack what was in there.",
		               losses->damaged, losses->damaged == 1 ? " is" : "s are");
}

static void say_unwritten(const struct timeline_losses *losses, struct ps__buffer *out)
{
	if (losses->unwritten)
		ps__buffer_add(
		    out,
		    "%" PRIu64 " occurrence%s of events %s left out: the kernel counted %s, and no "
		    "record names the task, as if a task is woken. Counts of these events are "
		    "lower "
		    "bounds, or not known. perfsage stat has the sums.",
		    losses->unwritten, losses->unwritten == 1 ? "" : "s",
		    losses->unwritten == 1 ? "is" : "are", losses->unwritten == 1 ? "it" : "them");
}

static void say_missed(const struct timeline_losses *losses, struct ps__buffer *out)
{
	if (losses->missed)
		ps__buffer_add(out,
		               "%zu task%s may be missing here, with all that %s made: made while "
		               "the recording began.",
		               losses->missed, losses->missed == 1 ? "" : "s",
		               losses->missed == 1 ? "it" : "they");
}

/* Each adds a sentence, or nothing if there was no such loss. */
static void (*const say_losses[])(const struct timeline_losses *losses, struct ps__buffer *out) = {
    say_unassigned, say_damaged, say_unwritten, say_missed};

#define LOSSES (sizeof say_losses / sizeof *say_losses)

void timeline_notes_complain(const struct timeline *timeline)
{
	struct ps__buffer text = {0};

	for (size_t i = 0; i < LOSSES; i++) {
		say_losses[i](&timeline->losses, &text);
		if (text.length)
			tool_complain("%s", ps__buffer_text(&text));
		ps__buffer_restart(&text);
	}
	ps__buffer_clear(&text);
}

void timeline_notes_add(struct timeline *timeline)
{
	struct ps__buffer text = {0};

	tool_slices_say_holes(timeline->slices, timeline->losses.records, &text);
	notes_add(timeline, &text);
	for (size_t i = 0; i < LOSSES; i++) {
		say_losses[i](&timeline->losses, &text);
		notes_add(timeline, &text);
	}
	if (timeline->command_pid)
		tool_slices_say_left(timeline->slices, &text);
	notes_add(timeline, &text);
	tool_slices_say_hidden(timeline->slices, &text);
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

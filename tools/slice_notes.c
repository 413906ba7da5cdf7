/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences for people about what is unknown in slices. */
#include "tools/options.h"
#include "tools/slices.h"
#include "tools/terminal.h"

#include <inttypes.h>

int tool_slices_parse_memory(const char *argument, long long *mib)
{
	return tool_parse_number("--memory, in MiB,", argument, 1, 1 << 24, mib);
}

void tool_slices_complain_full(const struct tool_slices *slices)
{
	if (tool_slices_is_full(slices))
		tool_complain("the memory for records is used up: what came after is not known");
}

void tool_slices_say_holes(const struct tool_slices *slices, uint64_t lost, struct ps__buffer *out)
{
	size_t holes = tool_slices_hole_count(slices);
	bool is_full = tool_slices_is_full(slices);

	if (!holes)
		return;
	ps__buffer_add(out, "%zu hole%s: ", holes, holes == 1 ? "" : "s");
	if (is_full)
		ps__buffer_add(out, "the memory for records was used up");
	else if (lost)
		ps__buffer_add(out, "%" PRIu64 " record%s lost", lost,
		               lost == 1 ? " was" : "s were");
	else
		ps__buffer_add(out, "records were lost");
	ps__buffer_add(out,
	               ". Times in them are not known, and slices, migrations and counts are at "
	               "least so many; %s.",
	               is_full ? "a larger --memory keeps more, 32 bytes for each record"
	                       : "a larger --ring loses less");
}

void tool_slices_say_left(const struct tool_slices *slices, struct ps__buffer *out)
{
	size_t count = 0;

	for (size_t i = 0; i < tool_slices_task_count(slices); i++)
		count += tool_slices_task(slices, i)->is_left;
	if (count)
		ps__buffer_add(out,
		               "%zu task%s had not ended when the command did: what %s did later "
		               "was not observed.",
		               count, count == 1 ? "" : "s", count == 1 ? "it" : "they");
}

bool tool_slices_are_all(const struct tool_slices *slices)
{
	bool is_any_hidden = false;

	for (size_t i = 0; i < tool_slices_task_count(slices); i++)
		is_any_hidden |= tool_slices_task(slices, i)->is_hidden;
	return !is_any_hidden && tool_slices_hole_count(slices) == 0;
}

void tool_slices_say_hidden(const struct tool_slices *slices, struct ps__buffer *out)
{
	const struct tool_task *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < tool_slices_task_count(slices); i++) {
		const struct tool_task *task = tool_slices_task(slices, i);
		first = !first && task->is_hidden ? task : first;
		count += task->is_hidden;
	}
	if (!first)
		return;
	ps__buffer_add(out, "Not seen: %zu program%s, '", count, count == 1 ? "" : "s");
	tool_put(out, first->name);
	ps__buffer_add(out,
	               "' (process %u): Linux ends the observation when a program begins "
	               "that is set-user-ID or set-group-ID, has capabilities or can't be "
	               "read by this user.",
	               first->pid);
}

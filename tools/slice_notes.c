/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences for people about that of slices which isn't known. */
#include "tools/slices.h"
#include "tools/terminal.h"

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

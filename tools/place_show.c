/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage place as text: the intended places, and a line for each task. Tasks that are alike share
 * a line.
 */
#include "base/os.h"
#include "output/number.h"
#include "tools/place.h"
#include "tools/terminal.h"

#include <perfsage/thread.h>
#include <stdlib.h>
#include <string.h>

/* Smallest number of tasks that share a line. */
#define LEAST_ALIKE 4
/* Most lines, unless the user wants all. */
#define MOST_ROWS     40
#define INTENT_INDENT 10

/* Widths of the table's columns that have words. */
struct widths {
	size_t task, mask, ran;
};

/* With the numbers and blanks, the whole table is 79 or 60 columns wide. */
static const struct widths usual = {23, 13, 16}, narrow = {13, 10, 10};
#define NARROW    79
#define NARROWEST 60
#define WIDE      80
#define MOST_MORE 40 /* extra columns for the CPUs on a wide terminal */

/* A line of the table, for tasks that are alike. */
struct row {
	size_t first, count;
	uint64_t most_ns, moves, leaves;
	struct tool_cpus ran; /* the CPUs where any of the tasks ran */
	bool has_changed;     /* the mask of at least one task changed */
	bool has_several;     /* the tasks' masks differ */
};

/* Adds a cell of fixed width: cuts longer text and pads shorter text. */
static void show_cell(const char *text, size_t columns, struct ps__buffer *out)
{
	size_t length = strlen(text);

	if (tool_columns(text, length) <= columns) {
		ps__buffer_add(out, "%s%*s", text, (int)(columns - tool_columns(text, length)), "");
		return;
	}
	while (length > 0 && tool_columns(text, length) > columns - 2)
		length--;
	/* Don't cut inside a UTF-8 character. */
	while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	/* Don't cut inside a number of a list: it would look like another number. */
	for (size_t last = length; last > 0 && text[0] >= '0' && text[0] <= '9'; last--) {
		if (text[last - 1] == ',') {
			length = last;
			break;
		}
	}
	ps__buffer_add(out, "%.*s..%*s", (int)length, text,
	               (int)(columns - 2 - tool_columns(text, length)), "");
}

/* Adds "intended  CPUs 0-3 ...". */
static void show_intent(const struct place_run *run, size_t width, struct ps__buffer *out)
{
	const struct place_intent *intent = &run->intent;
	struct ps__buffer line = {0};

	ps__buffer_add(&line, "CPUs ");
	tool_cpus_show(&intent->allowed, &line);
	if (!tool_cpus_are_equal(&intent->allowed, &intent->cpuset)) {
		ps__buffer_add(&line, " of the cpuset's ");
		tool_cpus_show(&intent->cpuset, &line);
	}
	ps__buffer_add(out, "intended  ");
	tool_paragraph_of(out, &line, INTENT_INDENT, width);
	for (size_t i = 0; i < intent->variable_count; i++) {
		const struct place_variable *variable = &intent->variables[i];
		ps__buffer_add(&line, "%s=%s", variable->name, variable->value);
		if (intent->places_of && strcmp(intent->places_of, variable->name) == 0) {
			ps__buffer_add(&line, ": %zu place%s ", intent->places.count,
			               intent->places.count == 1 ? "" : "s");
			tool_places_show(&intent->places, 56, &line);
		}
		ps__buffer_add(out, "%*s", INTENT_INDENT, "");
		tool_paragraph_of(out, &line, INTENT_INDENT, width);
	}
}

/* True if both tasks run under the same mask, or each is bound to one hardware thread. */
static bool masks_are_alike(const struct tool_cpus *one, const struct tool_cpus *other)
{
	if (!one || !other)
		return one == other;
	return tool_cpus_are_equal(one, other) || (one->count == 1 && other->count == 1);
}

static bool tasks_are_alike(const struct place_run *run, size_t one, size_t other)
{
	const struct place_task *tasks = run->sums.tasks;

	return tasks[one].leaves == 0 && tasks[other].leaves == 0 &&
	       strcmp(tool_slices_task(run->slices, one)->name,
	              tool_slices_task(run->slices, other)->name) == 0 &&
	       masks_are_alike(place_mask_of(run, one), place_mask_of(run, other));
}

/* Adds a task to the row. If memory runs out, the row's list of CPUs is incomplete. */
static void row_add(struct row *row, const struct place_run *run, size_t index)
{
	const struct place_task *task = &run->sums.tasks[index];
	const struct tool_cpus *first = place_mask_of(run, row->first);
	const struct tool_cpus *mask = place_mask_of(run, index);

	row->has_changed |= place_was_bound_later(run, index);
	row->has_several |= first && mask && !tool_cpus_are_equal(first, mask);
	row->count++;
	row->most_ns = task->run_ns > row->most_ns ? task->run_ns : row->most_ns;
	row->moves += task->moves;
	row->leaves += task->leaves;
	for (size_t i = 0; i < task->share_count; i++) {
		const struct place_share *share = &run->sums.shares[task->first_share + i];
		tool_cpus_add(&row->ran, share->cpu);
	}
}

static void show_mask(const struct row *row, const struct tool_cpus *mask, struct ps__buffer *cell)
{
	if (!mask)
		ps__buffer_add(cell, "not known");
	else if (row->has_several)
		ps__buffer_add(cell, "one CPU each");
	else
		tool_cpus_show(mask, cell);
	if (row->has_changed)
		ps__buffer_add(cell, "*");
}

/* Adds "0 60%, 1 40%" for one task; "0-3" for several. */
static void show_ran(const struct place_run *run, const struct row *row, struct ps__buffer *cell)
{
	const struct place_task *task = &run->sums.tasks[row->first];

	if (row->count > 1 || task->share_count == 1) {
		tool_cpus_show(&row->ran, cell);
		return;
	}
	if (task->share_count == 0)
		ps__buffer_add(cell, "-");
	for (size_t i = 0; i < task->share_count; i++) {
		const struct place_share *share = &run->sums.shares[task->first_share + i];
		double percent = 100.0 * (double)share->run_ns / (double)task->run_ns;
		ps__buffer_add(cell, "%s%d ", i ? ", " : "", share->cpu);
		if (percent < 1)
			ps__buffer_add(cell, "<1%%");
		else
			ps__buffer_add(cell, "%.0f%%", percent > 99 ? 99 : percent);
	}
}

static void show_number(uint64_t number, struct ps__buffer *out)
{
	struct ps__buffer cell = {0};

	ps__number_add_si(&cell, (double)number);
	ps__buffer_add(out, " %6s", ps__buffer_text(&cell));
	ps__buffer_clear(&cell);
}

static void show_row(const struct place_run *run, const struct row *row,
                     const struct widths *widths, struct ps__buffer *out)
{
	const struct tool_task *about = tool_slices_task(run->slices, row->first);
	struct ps__buffer cell = {0};

	if (row->count > 1)
		ps__buffer_add(&cell, "%zu tasks ", row->count);
	else
		ps__buffer_add(&cell, "%u ", about->tid);
	tool_put(&cell, about->name);
	show_cell(ps__buffer_text(&cell), widths->task, out);
	ps__buffer_restart(&cell);
	show_mask(row, place_mask_of(run, row->first), &cell);
	ps__buffer_add(out, " ");
	show_cell(ps__buffer_text(&cell), widths->mask, out);
	ps__buffer_restart(&cell);
	show_ran(run, row, &cell);
	ps__buffer_add(out, " ");
	show_cell(ps__buffer_text(&cell), widths->ran, out);
	ps__buffer_restart(&cell);
	ps__buffer_add(&cell, row->count > 1 ? "<=" : "");
	ps__number_add_time(&cell, (double)row->most_ns);
	ps__buffer_add(out, " %10s", ps__buffer_text(&cell));
	show_number(row->moves, out);
	show_number(row->leaves, out);
	ps__buffer_add(out, "\n");
	ps__buffer_clear(&cell);
}

/* Shows one line for the first task and all tasks that are like it and have no line yet. If these
 * are fewer than LEAST_ALIKE, shows a line for the first task only. */
static void show_alike(const struct place_run *run, bool shows_all, bool *is_shown, size_t first,
                       const struct widths *widths, struct ps__buffer *out)
{
	struct row one = {.first = first}, all = {.first = first};
	size_t count = run->sums.task_count;

	row_add(&one, run, first);
	for (size_t i = first; !shows_all && i < count; i++) {
		if (!is_shown[i] && tasks_are_alike(run, first, i))
			row_add(&all, run, i);
	}
	bool is_one = all.count < LEAST_ALIKE;
	show_row(run, is_one ? &one : &all, widths, out);
	for (size_t i = first; !is_one && i < count; i++)
		is_shown[i] |= tasks_are_alike(run, first, i);
	is_shown[first] = true;
	tool_cpus_clear(&one.ran);
	tool_cpus_clear(&all.ran);
}

static void show_rest(const struct place_run *run, const bool *is_shown, struct ps__buffer *out)
{
	uint64_t run_ns = 0;
	size_t count = 0;

	for (size_t i = 0; i < run->sums.task_count; i++) {
		count += !is_shown[i];
		run_ns += is_shown[i] ? 0 : run->sums.tasks[i].run_ns;
	}
	if (count == 0)
		return;
	ps__buffer_add(out, "%zu more tasks ran for ", count);
	ps__number_add_time(out, (double)run_ns);
	ps__buffer_add(out, " in all; --all shows them.\n");
}

static void show_tasks(const struct place_run *run, bool shows_all, size_t width,
                       struct ps__buffer *out)
{
	struct widths used = width && width < NARROW ? narrow : usual;
	const struct widths *widths = &used;
	size_t count = run->sums.task_count, rows = 0;
	bool *is_shown = ps__os_calloc(count + 1, sizeof *is_shown);

	if (!is_shown) {
		out->failed = true;
		return;
	}
	if (width > WIDE)
		used.ran += width - WIDE < MOST_MORE ? width - WIDE : MOST_MORE;
	ps__buffer_add(out, "%-*s %-*s %-*s %10s %6s %6s\n", (int)widths->task, "task",
	               (int)widths->mask, "may run on", (int)widths->ran, "ran on", "for", "moves",
	               "left");
	for (size_t i = 0; i < count && (shows_all || rows < MOST_ROWS); i++) {
		if (is_shown[i])
			continue;
		show_alike(run, shows_all, is_shown, i, widths, out);
		rows++;
	}
	show_rest(run, is_shown, out);
	if (width && width < NARROWEST) {
		char line[96];
		snprintf(line, sizeof line, "The width is %zu: this table takes %d.", width,
		         NARROWEST);
		tool_paragraph(out, line, 0, width);
	}
	ps__os_free(is_shown);
}

static bool has_changed_masks(const struct place_run *run)
{
	for (size_t i = 0; i < run->sums.task_count; i++) {
		if (place_was_bound_later(run, i))
			return true;
	}
	return false;
}

void place_show(const struct place_run *run, bool shows_all, size_t width, struct ps__buffer *out)
{
	struct ps__buffer line = {0};

	for (size_t i = 0; run->command[i]; i++) {
		ps__buffer_add(&line, i ? " " : "");
		tool_put(&line, run->command[i]);
	}
	tool_put_rank(&line, run->pid);
	/* A task that existed only inside a hole, or was created by a hidden one, was not seen. */
	ps__buffer_add(&line, ": %s%zu task%s in ",
	               tool_slices_are_all(run->slices) ? "" : "at least ", run->sums.task_count,
	               run->sums.task_count == 1 ? "" : "s");
	ps__number_add_duration(&line, place_elapsed_s(run));
	tool_paragraph_of(out, &line, 0, width);
	ps__buffer_add(out, "\n");
	show_intent(run, width, out);
	ps__buffer_add(out, "\n");
	show_tasks(run, shows_all, width, out);
	if (has_changed_masks(run))
		tool_paragraph(out, "*: the mask changed; this is the last one that was read.", 0,
		               width);
	ps__buffer_add(out, "\n");
	place_findings_show(run, width, out);
}

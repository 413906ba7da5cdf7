/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of perfsage timeline: hardware threads, tasks, waits and migrations. */
#include "tools/timeline.h"

#include "base/os.h"
#include "output/grid.h"
#include "output/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More columns of counts don't fit into 80 columns. */
#define MOST_COUNTS 5
/* Number of hardware threads that are shown at least, even if --rows is smaller. */
#define LEAST_CPUS 16

static const char *const kinds[TOOL_SPAN_KINDS] = {"on", "waits", "runnable", "off", "not known"};

/* A table, whose cells are set row by row, from left to right. */
struct sheet {
	struct ps__grid grid;
	size_t row, column;
};

static void end_cell(struct sheet *sheet)
{
	ps__grid_set(&sheet->grid, sheet->row, sheet->column++);
}

static void timeline_text_add_time(struct sheet *sheet, uint64_t time_ns)
{
	if (time_ns)
		ps__number_add_time(&sheet->grid.cell, (double)time_ns);
	else
		ps__buffer_add(&sheet->grid.cell, "0");
	end_cell(sheet);
}

static void timeline_text_add_number(struct sheet *sheet, uint64_t number)
{
	ps__buffer_add(&sheet->grid.cell, "%" PRIu64, number);
	end_cell(sheet);
}

static void timeline_text_add_share(struct sheet *sheet, uint64_t part, uint64_t whole)
{
	ps__number_add_fixed(&sheet->grid.cell, whole ? 100 * (double)part / (double)whole : 0, 1);
	ps__buffer_add(&sheet->grid.cell, "%%");
	end_cell(sheet);
}

static void next_row(struct sheet *sheet)
{
	sheet->row++;
	sheet->column = 0;
}

/* Begins a table. headings: ends with NULL. Returns -1 if memory runs out; the text then has
 * failed. */
static int begin_sheet(struct timeline *timeline, struct sheet *sheet, size_t rows,
                       const char *const *headings)
{
	size_t columns = 0;

	while (headings[columns])
		columns++;
	*sheet = (struct sheet){.row = 0};
	if (ps__grid_create(&sheet->grid, rows + 1, columns) != PS_OK) {
		ps__grid_clear(&sheet->grid);
		timeline->text.failed = true;
		return -1;
	}
	sheet->grid.has_colour = timeline->screen.has_colour;
	for (size_t i = 0; i < columns; i++) {
		tool_put(&sheet->grid.cell, headings[i]);
		end_cell(sheet);
	}
	next_row(sheet);
	return 0;
}

static void end_sheet(struct timeline *timeline, struct sheet *sheet)
{
	ps__buffer_add(&timeline->text, "\n");
	tool_add_grid(&timeline->text, &sheet->grid, timeline->screen.width, " (--json has all)");
	ps__grid_clear(&sheet->grid);
}

static void timeline_text_add_name(struct ps__buffer *out, const struct tool_task *task)
{
	tool_put(out, task->name);
	ps__buffer_add(out, "%s%u", *task->name ? " " : "", task->tid);
}

static int timeline_text_compare_cpus(const void *one, const void *other)
{
	const struct timeline_cpu *first = *(const struct timeline_cpu *const *)one,
				  *second = *(const struct timeline_cpu *const *)other;

	if (first->on_ns != second->on_ns)
		return first->on_ns < second->on_ns ? 1 : -1;
	return (first->cpu > second->cpu) - (first->cpu < second->cpu);
}

/* Returns the CPUs, sorted by number if all are shown, else by time on them. NULL if memory runs
 * out. */
static const struct timeline_cpu **sort_cpus(const struct timeline_sums *sums, size_t shown)
{
	const struct timeline_cpu **cpus = ps__os_calloc(sums->cpu_count, sizeof *cpus);

	if (!cpus)
		return NULL;
	for (size_t i = 0; i < sums->cpu_count; i++)
		cpus[i] = &sums->cpus[i];
	if (shown < sums->cpu_count)
		qsort(cpus, sums->cpu_count, sizeof *cpus, timeline_text_compare_cpus);
	return cpus;
}

/* Adds "and 240 more hardware threads, each with tasks on it for 1.200 ms to 3.400 ms: ...". */
static void timeline_text_add_other_cpus(struct timeline *timeline,
                                         const struct timeline_cpu *const *cpus, size_t shown)
{
	size_t count = timeline->sums.cpu_count;
	struct ps__buffer line = {0};

	ps__buffer_add(&line, "and %zu more hardware thread%s, each with tasks on it for ",
	               count - shown, count - shown == 1 ? "" : "s");
	ps__number_add_time(&line, (double)cpus[count - 1]->on_ns);
	ps__buffer_add(&line, " to ");
	ps__number_add_time(&line, (double)cpus[shown]->on_ns);
	ps__buffer_add(&line, ": --rows shows more, --json all");
	tool_paragraph_of(&timeline->text, &line, 0, timeline->screen.width);
}

/* Returns the number of CPUs to show: LEAST_CPUS or --rows, whichever is larger. */
static size_t shown_cpus(const struct timeline *timeline)
{
	size_t count = timeline->sums.cpu_count, rows = (size_t)timeline->options.rows;
	size_t most = rows > LEAST_CPUS ? rows : LEAST_CPUS;

	return count < most ? count : most;
}

static void timeline_text_add_cpus(struct timeline *timeline)
{
	static const char *const headings[] = {"Hardware thread", "on",        "share", "tasks",
	                                       "slices",          "not known", NULL};
	const struct timeline_sums *sums = &timeline->sums;
	uint64_t wall_ns =
	    tool_slices_end_ns(timeline->slices) - tool_slices_begin_ns(timeline->slices);
	size_t shown = shown_cpus(timeline);
	const struct timeline_cpu **cpus = shown ? sort_cpus(sums, shown) : NULL;
	struct sheet sheet;

	timeline->text.failed |= shown && !cpus;
	if (!cpus || begin_sheet(timeline, &sheet, shown, headings) < 0)
		goto free_cpus;
	for (size_t i = 0; i < shown; i++) {
		const struct timeline_cpu *cpu = cpus[i];
		ps__buffer_add(&sheet.grid.cell, "CPU %d", cpu->cpu);
		end_cell(&sheet);
		timeline_text_add_time(&sheet, cpu->on_ns);
		timeline_text_add_share(&sheet, cpu->on_ns, wall_ns);
		timeline_text_add_number(&sheet, cpu->tasks);
		timeline_text_add_number(&sheet, cpu->slices);
		timeline_text_add_time(&sheet, cpu->unknown_ns);
		next_row(&sheet);
	}
	end_sheet(timeline, &sheet);
	if (shown < sums->cpu_count)
		timeline_text_add_other_cpus(timeline, cpus, shown);
free_cpus:
	ps__os_free(cpus);
}

static int timeline_text_compare_tasks(const void *one, const void *other)
{
	const struct tool_task *first = *(const struct tool_task *const *)one,
			       *second = *(const struct tool_task *const *)other;
	uint64_t first_ns = first->sums_ns[TOOL_SPAN_ON], second_ns = second->sums_ns[TOOL_SPAN_ON];

	if (first_ns != second_ns)
		return first_ns < second_ns ? 1 : -1;
	return (first->index > second->index) - (first->index < second->index);
}

/* Returns the tasks, sorted by time on hardware threads. NULL if memory runs out. */
static const struct tool_task **sort_tasks(const struct timeline *timeline)
{
	size_t count = tool_slices_task_count(timeline->slices);
	const struct tool_task **tasks = ps__os_calloc(count + 1, sizeof *tasks);

	if (!tasks)
		return NULL;
	for (size_t i = 0; i < count; i++)
		tasks[i] = tool_slices_task(timeline->slices, i);
	qsort(tasks, count, sizeof *tasks, timeline_text_compare_tasks);
	return tasks;
}

static void timeline_text_add_task(const struct timeline *timeline, struct sheet *sheet,
                                   const struct tool_task *task)
{
	const uint64_t *sums = task->sums_ns;
	const struct timeline_sums *all = &timeline->sums;

	timeline_text_add_name(&sheet->grid.cell, task);
	end_cell(sheet);
	timeline_text_add_time(sheet, sums[TOOL_SPAN_ON]);
	timeline_text_add_time(sheet, sums[TOOL_SPAN_WAITING] + sums[TOOL_SPAN_OFF]);
	timeline_text_add_time(sheet, sums[TOOL_SPAN_RUNNABLE]);
	timeline_text_add_number(sheet, task->slices);
	timeline_text_add_number(sheet, task->migrations);
	const struct timeline_wait *longest =
	    task->index < all->task_count ? &all->tasks[task->index].longest : NULL;
	timeline_text_add_time(sheet, longest ? longest->end_ns - longest->begin_ns : 0);
	timeline_text_add_time(sheet, sums[TOOL_SPAN_UNKNOWN]);
	next_row(sheet);
}

static size_t shown_tasks(const struct timeline *timeline)
{
	size_t count = tool_slices_task_count(timeline->slices);
	size_t most = (size_t)timeline->options.rows;

	return count < most ? count : most;
}

static void timeline_text_add_tasks(struct timeline *timeline, const struct tool_task **tasks)
{
	static const char *const headings[] = {
	    "Task", "on", "off", "runnable", "slices", "moves", "longest wait", "not known", NULL};
	size_t shown = shown_tasks(timeline);
	size_t left = tool_slices_task_count(timeline->slices) - shown;
	struct sheet sheet;

	if (begin_sheet(timeline, &sheet, shown, headings) < 0)
		return;
	for (size_t i = 0; i < shown; i++)
		timeline_text_add_task(timeline, &sheet, tasks[i]);
	end_sheet(timeline, &sheet);
	if (left)
		ps__buffer_add(&timeline->text,
		               "and %zu task%s that ran less: --rows shows more, --json all\n",
		               left, left == 1 ? "" : "s");
}

static void timeline_text_add_counted(struct ps__buffer *out, const struct timeline_event *event,
                                      uint64_t count)
{
	if (strcmp(event->unit, "ns") == 0)
		ps__number_add_time(out, (double)count);
	else
		ps__buffer_add(out, "%" PRIu64 "%s%s", count, *event->unit ? " " : "", event->unit);
	ps__buffer_add(out, "%s", event->is_of_user_only ? "u" : "");
}

static void timeline_text_add_count(const struct timeline *timeline, struct sheet *sheet,
                                    const struct tool_task *task,
                                    const struct timeline_event *event)
{
	enum timeline_known known = timeline_knows_sum(timeline, event, task);

	if (known == TIMELINE_NOT_KNOWN) {
		ps__buffer_add(&sheet->grid.cell, "?");
	} else {
		ps__buffer_add(&sheet->grid.cell, "%s", known == TIMELINE_LEAST ? ">=" : "");
		timeline_text_add_counted(&sheet->grid.cell, event, task->counts[event->index]);
	}
	end_cell(sheet);
}

static void timeline_text_add_counts(struct timeline *timeline, const struct tool_task **tasks,
                                     size_t first)
{
	const char *headings[MOST_COUNTS + 2] = {"Task"};
	size_t count = timeline->event_count - first;
	size_t shown = shown_tasks(timeline);
	struct sheet sheet;

	if (count > MOST_COUNTS)
		count = MOST_COUNTS;
	for (size_t i = 0; i < count; i++)
		headings[i + 1] = timeline->events[first + i].name;
	if (begin_sheet(timeline, &sheet, shown, headings) < 0)
		return;
	for (size_t i = 0; i < shown; i++) {
		timeline_text_add_name(&sheet.grid.cell, tasks[i]);
		end_cell(&sheet);
		for (size_t event = 0; event < count; event++)
			timeline_text_add_count(timeline, &sheet, tasks[i],
			                        &timeline->events[first + event]);
		next_row(&sheet);
	}
	end_sheet(timeline, &sheet);
}

static void timeline_text_add_place(struct ps__buffer *out, int cpu)
{
	if (cpu >= 0)
		ps__buffer_add(out, "CPU %d", cpu);
	else
		ps__buffer_add(out, "-");
}

static void timeline_text_add_waits(struct timeline *timeline)
{
	static const char *const headings[] = {"Longest waits", "time", "at", "from", "to",
	                                       "why",           NULL};
	const struct timeline_sums *sums = &timeline->sums;
	uint64_t begin_ns = tool_slices_begin_ns(timeline->slices);
	struct sheet sheet;

	if (sums->wait_count == 0 || begin_sheet(timeline, &sheet, sums->wait_count, headings) < 0)
		return;
	sheet.grid.ends_in_words = true;
	for (size_t i = 0; i < sums->wait_count; i++) {
		const struct timeline_wait *wait = &sums->waits[i];
		timeline_text_add_name(&sheet.grid.cell,
		                       tool_slices_task(timeline->slices, wait->task));
		end_cell(&sheet);
		timeline_text_add_time(&sheet, wait->end_ns - wait->begin_ns);
		timeline_text_add_time(&sheet, wait->begin_ns - begin_ns);
		timeline_text_add_place(&sheet.grid.cell, wait->from_cpu);
		end_cell(&sheet);
		timeline_text_add_place(&sheet.grid.cell, wait->to_cpu);
		end_cell(&sheet);
		ps__buffer_add(&sheet.grid.cell, "%s", kinds[wait->kind]);
		end_cell(&sheet);
		next_row(&sheet);
	}
	end_sheet(timeline, &sheet);
}

static void timeline_text_add_moves(struct timeline *timeline)
{
	const struct timeline_sums *sums = &timeline->sums;
	size_t shown = (size_t)timeline->options.rows;

	if (sums->move_count == 0)
		return;
	ps__buffer_add(&timeline->text, "\nMigrations\n");
	for (size_t i = 0; i < sums->move_count && i < shown; i++)
		ps__buffer_add(&timeline->text, "  CPU %d to %d: %" PRIu64 "\n",
		               sums->moves[i].from, sums->moves[i].to, sums->moves[i].count);
	if (sums->move_count > shown)
		ps__buffer_add(&timeline->text, "  and %zu other pairs: --json has them\n",
		               sums->move_count - shown);
}

static void timeline_text_add_amount(struct ps__buffer *out, uint64_t count, const char *what)
{
	ps__buffer_add(out, "%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void timeline_text_add_summary(struct timeline *timeline)
{
	struct ps__buffer *out = &timeline->text;

	ps__number_add_time(out, (double)(tool_slices_end_ns(timeline->slices) -
	                                  tool_slices_begin_ns(timeline->slices)));
	tool_put_rank(out, timeline_pid(timeline));
	ps__buffer_add(out, ": ");
	timeline_text_add_amount(out, tool_slices_task_count(timeline->slices), "task");
	ps__buffer_add(out, " on ");
	timeline_text_add_amount(out, timeline->sums.cpu_count, "hardware thread");
	ps__buffer_add(out, " in ");
	timeline_text_add_amount(out, timeline->sums.slices, "slice");
	ps__buffer_add(out, "\n");
}

void timeline_text_add_sums(struct timeline *timeline)
{
	const struct tool_task **tasks = sort_tasks(timeline);

	timeline->text.failed |= !tasks;
	if (!tasks)
		return;
	timeline_text_add_summary(timeline);
	timeline_text_add_cpus(timeline);
	timeline_text_add_tasks(timeline, tasks);
	for (size_t first = 0; first < timeline->event_count; first += MOST_COUNTS)
		timeline_text_add_counts(timeline, tasks, first);
	timeline_text_add_waits(timeline);
	timeline_text_add_moves(timeline);
	timeline_notes_add(timeline);
	ps__os_free(tasks);
}

/* Adds "     0.001234567  CPU 1   12.35 us  name 123  page-faults 3". */
void timeline_text_add_span(struct timeline *timeline, const struct tool_span *span)
{
	struct ps__buffer *out = &timeline->text;
	struct ps__buffer length = {0};
	uint64_t at_ns = span->begin_ns - tool_slices_begin_ns(timeline->slices);
	char place[24] = "-";

	if (span->cpu >= 0)
		snprintf(place, sizeof place, "CPU %d", span->cpu);
	ps__number_add_time(&length, (double)(span->end_ns - span->begin_ns));
	ps__buffer_add(out, "%6" PRIu64 ".%09" PRIu64 "  %-7s %9s  %-9s  ", at_ns / 1000000000,
	               at_ns % 1000000000, place, ps__buffer_text(&length), kinds[span->kind]);
	timeline_text_add_name(out, span->task);
	for (size_t i = 0; span->counts && i < timeline->event_count; i++) {
		const struct timeline_event *event = &timeline->events[i];
		bool is_known = timeline_knows(timeline, event, span);
		if (!event->is_counted || (is_known && !span->counts[event->index]))
			continue;
		ps__buffer_add(out, "  %s ", event->name);
		if (is_known)
			timeline_text_add_counted(out, event, span->counts[event->index]);
		else
			ps__buffer_add(out, "?");
	}
	ps__buffer_add(out, "\n");
	ps__buffer_clear(&length);
}

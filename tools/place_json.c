/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage place as JSON. share/perfsage.schema.json describes its fields, under "placement". */
#include "output/json.h"
#include "output/rank.h"
#include "tools/command.h"
#include "tools/place.h"
#include "tools/terminal.h"

#include <perfsage/thread.h>

static void json_add_cpus(struct ps__json *json, const char *key, const struct tool_cpus *cpus)
{
	ps__json_open_line(json, key, '[');
	for (size_t i = 0; i < cpus->count; i++)
		ps__json_add_integer(json, NULL, cpus->numbers[i]);
	ps__json_close_line(json, ']');
}

static void json_add_intent(struct ps__json *json, const struct place_intent *intent)
{
	json_add_cpus(json, "cpuset", &intent->cpuset);
	json_add_cpus(json, "allowed", &intent->allowed);
	ps__json_open(json, "variables", '[');
	for (size_t i = 0; i < intent->variable_count; i++) {
		ps__json_open_line(json, NULL, '{');
		ps__json_add_string(json, "name", intent->variables[i].name);
		ps__json_add_string(json, "value", intent->variables[i].value);
		ps__json_add_string(json, "error", intent->variables[i].error);
		ps__json_close_line(json, '}');
	}
	ps__json_close(json, ']');
	ps__json_add_string(json, "places_of", intent->places_of);
	ps__json_open(json, "places", '[');
	for (size_t i = 0; i < intent->places.count; i++)
		json_add_cpus(json, NULL, &intent->places.list[i]);
	ps__json_close(json, ']');
	json_add_cpus(json, "refused", &intent->places.refused);
}

/* Adds a component's number; null if there is no component. */
static void json_add_number_of(struct ps__json *json, const char *key,
                               const struct ps_component *component)
{
	ps__json_add_known(json, key, (uint64_t)ps_component_logical_id(component), component);
}

static void json_add_share(struct ps__json *json, const struct place_share *share)
{
	const struct ps_component *component = ps_thread_component(share->thread);
	bool is_in_tree = ps_thread_cpu(share->thread) >= 0;

	ps__json_open_line(json, NULL, '{');
	ps__json_add_integer(json, "cpu", share->cpu);
	json_add_number_of(json, "core",
	                   is_in_tree ? ps_component_ancestor(component, PS_COMPONENT_CORE, 1)
	                              : NULL);
	json_add_number_of(json, "numa",
	                   is_in_tree ? ps_component_ancestor(component, PS_COMPONENT_NUMA, 1)
	                              : NULL);
	ps__json_add_unsigned(json, "run_ns", share->run_ns);
	ps__json_close_line(json, '}');
}

static void json_add_mask(struct ps__json *json, const char *key, const struct tool_cpus *mask)
{
	if (mask)
		json_add_cpus(json, key, mask);
	else
		ps__json_add_null(json, key);
}

static void json_add_masks(struct ps__json *json, const struct place_run *run, size_t index)
{
	const struct tool_cpus *first = place_first_mask_of(run, index);
	const struct tool_cpus *last = place_mask_of(run, index);
	bool is_later = place_was_bound_later(run, index);
	size_t place = place_index_of(run, index);

	json_add_mask(json, "first_mask", first || is_later ? first : last);
	json_add_mask(json, "mask", last);
	ps__json_add_bool(json, "bound_later", is_later);
	ps__json_add_known(json, "place", place, place != SIZE_MAX);
}

static void json_add_task(struct ps__json *json, const struct place_run *run, size_t index)
{
	const struct tool_task *about = tool_slices_task(run->slices, index);
	const struct place_task *task = &run->sums.tasks[index];
	uint64_t begin_ns = tool_slices_begin_ns(run->slices);

	ps__json_open(json, NULL, '{');
	ps__json_add_unsigned(json, "pid", about->pid);
	ps__json_add_unsigned(json, "tid", about->tid);
	ps__json_add_string(json, "name", about->name);
	json_add_masks(json, run, index);
	ps__json_add_unsigned(json, "begin_ns", about->begin_ns - begin_ns);
	ps__json_add_unsigned(json, "end_ns", about->end_ns - begin_ns);
	ps__json_add_bool(json, "hidden", about->is_hidden);
	ps__json_add_unsigned(json, "run_ns", task->run_ns);
	ps__json_add_unsigned(json, "waited_ns", task->wait_ns);
	ps__json_add_unsigned(json, "shared_thread_ns", task->shared_thread_ns);
	ps__json_add_unsigned(json, "shared_core_ns", task->shared_core_ns);
	ps__json_add_unsigned(json, "moves", task->moves);
	ps__json_add_unsigned(json, "left_numa", task->leaves);
	ps__json_open(json, "cpus", '[');
	for (size_t i = 0; i < task->share_count; i++)
		json_add_share(json, &run->sums.shares[task->first_share + i]);
	ps__json_close(json, ']');
	ps__json_close(json, '}');
}

static void json_add_component(struct ps__json *json, const struct ps_component *component)
{
	ps__json_add_string(json, "type", ps_component_type_name(ps_component_type(component)));
	ps__json_add_integer(json, "id", ps_component_logical_id(component));
	ps__json_open_line(json, "cpus", '[');
	for (size_t i = 0; i < ps_component_thread_count(component); i++)
		ps__json_add_integer(json, NULL,
		                     ps_thread_cpu(ps_component_thread_at(component, i)));
	ps__json_close_line(json, ']');
}

static void json_add_idles(struct ps__json *json, const struct place_run *run,
                           const struct place_finding *finding)
{
	if (!finding->has_idle) {
		ps__json_add_null(json, "idle");
		return;
	}
	ps__json_open(json, "idle", '[');
	for (size_t i = 0; i < finding->idle_count; i++) {
		const struct place_part *part = &run->sums.idles[finding->first_idle + i];
		ps__json_open_line(json, NULL, '{');
		json_add_component(json, part->component);
		ps__json_add_unsigned(json, "ns", part->ns);
		ps__json_close_line(json, '}');
	}
	ps__json_close(json, ']');
}

static void json_add_finding(struct ps__json *json, const struct place_run *run,
                             const struct place_finding *finding)
{
	ps__json_open(json, NULL, '{');
	json_add_component(json, finding->component);
	ps__json_add_unsigned(json, "ns", finding->ns);
	ps__json_open(json, "tasks", '[');
	for (size_t i = 0; i < finding->member_count; i++) {
		const struct place_part *part = &run->sums.members[finding->first_member + i];
		ps__json_open_line(json, NULL, '{');
		ps__json_add_unsigned(json, "tid", tool_slices_task(run->slices, part->task)->tid);
		ps__json_add_unsigned(json, "ns", part->ns);
		ps__json_close_line(json, '}');
	}
	ps__json_close(json, ']');
	json_add_idles(json, run, finding);
	ps__json_close(json, '}');
}

static void json_add_holes(struct ps__json *json, const struct place_run *run)
{
	uint64_t begin_ns = tool_slices_begin_ns(run->slices);

	ps__json_add_known(json, "lost", run->lost, !tool_slices_is_full(run->slices));
	ps__json_open(json, "holes", '[');
	for (size_t i = 0; i < tool_slices_hole_count(run->slices); i++) {
		const struct tool_hole *hole = tool_slices_hole(run->slices, i);
		ps__json_open_line(json, NULL, '{');
		ps__json_add_integer(json, "cpu", hole->cpu);
		ps__json_add_unsigned(json, "begin_ns", hole->begin_ns - begin_ns);
		ps__json_add_unsigned(json, "end_ns", hole->end_ns - begin_ns);
		ps__json_close_line(json, '}');
	}
	ps__json_close(json, ']');
}

static void json_add_head(struct ps__json *json, const struct place_run *run)
{
	struct ps__buffer command = {0};

	for (size_t i = 0; run->command[i]; i++)
		ps__buffer_add(&command, "%s%s", i ? " " : "", run->command[i]);
	struct ps_export_field fields[3 + PS__RANK_FIELDS + 1] = {
	    {.name = "command", .text = ps__buffer_text(&command)},
	    {.name = "elapsed_s", .number = place_elapsed_s(run)},
	    {.name = "exit_status", .number = tool_status_number(run->exit_status)},
	};
	size_t count = 3, of_rank = ps__rank_fields(&fields[count]);
	count += of_rank;
	if (of_rank)
		fields[count++] = (struct ps_export_field){.name = "pid", .number = run->pid};
	ps__json_add_head(json, run->topology, fields, count);
	json->buffer->failed |= command.failed;
	ps__buffer_clear(&command);
}

void place_json_add(const struct place_run *run, struct ps__buffer *out)
{
	struct ps__json json = ps__json_create(out, false);

	ps__json_open(&json, NULL, '{');
	json_add_head(&json, run);
	ps__json_open(&json, "placement", '{');
	json_add_intent(&json, &run->intent);
	ps__json_open(&json, "tasks", '[');
	for (size_t i = 0; i < run->sums.task_count; i++)
		json_add_task(&json, run, i);
	ps__json_close(&json, ']');
	ps__json_open(&json, "shared_while_idle", '[');
	for (size_t i = 0; i < run->sums.finding_count; i++)
		json_add_finding(&json, run, &run->sums.findings[i]);
	ps__json_close(&json, ']');
	json_add_holes(&json, run);
	ps__json_close(&json, '}');
	ps__json_close(&json, '}');
}

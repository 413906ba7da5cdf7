/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings of perfsage place, as sentences: what was shared while others were idle, which tasks
 * left their NUMA node, which intended places weren't used, and what is unknown. */
#include "output/number.h"
#include "tools/place.h"
#include "tools/terminal.h"

#include <perfsage/thread.h>
#include <perfsage/topology.h>
#include <string.h>

#define MOST_SENTENCES 8
#define MOST_NAMES     4
/* Shorter times of sharing (also relative to the run) aren't reported: they may be the kernel's. */
#define LEAST_NS    1000000u
#define LEAST_SHARE 1000
/* Tasks with less than this fraction of the shared time aren't named. */
#define LEAST_PART 100

/* Adds the separator before an item of a list: "a", "a and b", "a, b and 3 others". */
static void say_before(size_t index, size_t shown, size_t count, const char *last,
                       struct ps__buffer *out)
{
	bool is_end = index + 1 == shown && shown == count;

	ps__buffer_add(out, "%s", index == 0 ? "" : is_end ? last : ", ");
}

static void say_others(size_t shown, size_t count, const char *last, struct ps__buffer *out)
{
	if (shown < count)
		ps__buffer_add(out, "%s%zu other%s", last, count - shown,
		               count - shown == 1 ? "" : "s");
}

static uint32_t tid_of(const struct place_run *run, size_t task)
{
	return tool_slices_task(run->slices, task)->tid;
}

static size_t findings_least(size_t one, size_t other)
{
	return one < other ? one : other;
}

static int findings_number_of(const struct ps_component *component)
{
	return ps_component_os_id(component) >= 0 ? ps_component_os_id(component)
	                                          : ps_component_logical_id(component);
}

/* Adds the numbers of a component's hardware threads. The numbers of cores would be ambiguous: two
 * packages may have the same ones. */
static void say_numbers(const struct ps_component *component, struct ps__buffer *out)
{
	size_t threads = ps_component_thread_count(component);

	if (ps_component_type(component) == PS_COMPONENT_THREAD)
		ps__buffer_add(out, "%d", findings_number_of(component));
	for (size_t i = 0; i < threads && ps_component_type(component) != PS_COMPONENT_THREAD; i++)
		ps__buffer_add(out, "%s%d", i == 0 ? "" : "+",
		               ps_thread_cpu(ps_component_thread_at(component, i)));
}

static void say_component(const struct ps_component *component, struct ps__buffer *out)
{
	if (ps_component_type(component) == PS_COMPONENT_THREAD)
		ps__buffer_add(out, "CPU ");
	else
		ps__buffer_add(out, "the core of CPU%s ",
		               ps_component_thread_count(component) > 1 ? "s" : "");
	say_numbers(component, out);
}

/* True if both are named alike, so that a list needs to name their kind only once. */
static bool is_same_kind(const struct ps_component *one, const struct ps_component *other)
{
	return ps_component_type(one) == ps_component_type(other) &&
	       ps_component_thread_count(one) == ps_component_thread_count(other);
}

/* Returns the number of tasks to name; they come first in the list. */
static size_t finding_count_members(const struct place_run *run,
                                    const struct place_finding *finding)
{
	const struct place_part *members = &run->sums.members[finding->first_member];
	size_t count = 0;

	/* The second is always named: one task may have shared with many short ones. */
	while (count < finding->member_count &&
	       (count < 2 || members[count].ns >= finding->ns / LEAST_PART))
		count++;
	return count;
}

/* True if the mask has one of the hardware threads that were idle. */
static bool mask_has_idle(const struct place_run *run, const struct place_finding *finding,
                          const struct tool_cpus *mask)
{
	for (size_t i = 0; i < finding->idle_count; i++) {
		const struct ps_component *idle =
		    run->sums.idles[finding->first_idle + i].component;
		for (size_t k = 0; k < ps_component_thread_count(idle); k++) {
			if (tool_cpus_contain(mask, ps_thread_cpu(ps_component_thread_at(idle, k))))
				return true;
		}
	}
	return false;
}

/* Tells whether the tasks' masks allow the idle hardware threads; says nothing if a mask is
 * unknown. */
static void say_reason(const struct place_run *run, const struct place_finding *finding,
                       struct ps__buffer *out)
{
	size_t could = 0, count = finding_count_members(run, finding);

	for (size_t i = 0; i < count; i++) {
		const struct place_part *part = &run->sums.members[finding->first_member + i];
		const struct tool_cpus *mask = place_mask_of(run, part->task);
		if (!mask)
			return;
		could += mask_has_idle(run, finding, mask);
	}
	if (could == 0)
		ps__buffer_add(out, ", which their masks exclude");
	else if (could == count)
		ps__buffer_add(out, ", where they may run");
	else
		ps__buffer_add(out, ", where %zu of them may run", could);
}

static void say_finding(const struct place_run *run, const struct place_finding *finding,
                        struct ps__buffer *out)
{
	size_t count = finding_count_members(run, finding),
	       members = findings_least(count, MOST_NAMES);
	size_t idles = findings_least(finding->idle_count, MOST_NAMES);

	ps__buffer_add(out, "Tasks ");
	for (size_t i = 0; i < members; i++) {
		const struct place_part *part = &run->sums.members[finding->first_member + i];
		say_before(i, members, count, " and ", out);
		ps__buffer_add(out, "%u", tid_of(run, part->task));
	}
	say_others(members, count, " and ", out);
	ps__buffer_add(out, " shared ");
	say_component(finding->component, out);
	ps__buffer_add(out, " for ");
	ps__number_add_time(out, (double)finding->ns);
	ps__buffer_add(out, " while ");
	for (size_t i = 0; i < idles; i++) {
		const struct place_part *idle = &run->sums.idles[finding->first_idle + i];
		say_before(i, idles, finding->idle_count, " or ", out);
		if (i > 0 && is_same_kind(idle->component, idle[-1].component))
			say_numbers(idle->component, out);
		else
			say_component(idle->component, out);
	}
	say_others(idles, finding->idle_count, idles ? " or " : "", out);
	ps__buffer_add(out, "%s was idle", finding->has_idle ? "" : "another one");
	if (finding->has_idle)
		say_reason(run, finding, out);
	ps__buffer_add(out, ".");
}

/* True if a task ran on a CPU that isn't in the tree. It is unknown which tasks shared that CPU. */
static bool has_unknown_thread(const struct place_run *run)
{
	const struct ps_thread *unknown = ps_topology_unknown_thread(run->topology);

	for (size_t i = 0; i < run->sums.share_count; i++) {
		if (run->sums.shares[i].thread == unknown)
			return true;
	}
	return false;
}

static void say_none_shared(const struct place_run *run, struct ps__buffer *out)
{
	bool has_all = tool_slices_are_all(run->slices);

	if (has_all && !has_unknown_thread(run)) {
		ps__buffer_add(out,
		               "No task shared a hardware thread or core while another was idle.");
		return;
	}
	ps__buffer_add(out,
	               "It is not known whether tasks shared a hardware thread or core while "
	               "another was idle: %s.",
	               has_all ? "some ran on CPUs that the tree lacks"
	                       : "in what was recorded none did");
}

static void show_sharing(const struct place_run *run, size_t width, struct ps__buffer *out)
{
	struct ps__buffer sentence = {0};
	uint64_t least_ns = (uint64_t)(place_elapsed_s(run) * 1e9) / LEAST_SHARE, rest_ns = 0;
	size_t shown = 0, count = run->sums.finding_count;

	least_ns = least_ns < LEAST_NS ? LEAST_NS : least_ns;
	for (; shown < count && shown < MOST_SENTENCES; shown++) {
		if (run->sums.findings[shown].ns < least_ns)
			break;
		say_finding(run, &run->sums.findings[shown], &sentence);
		tool_paragraph_of(out, &sentence, 0, width);
	}
	for (size_t i = shown; i < count; i++)
		rest_ns += run->sums.findings[i].ns;
	if (count == 0)
		say_none_shared(run, &sentence);
	if (rest_ns) {
		ps__buffer_add(&sentence, "%zu %shardware thread%s or core%s shared for ",
		               count - shown, shown ? "more " : "", count - shown == 1 ? "" : "s",
		               count - shown == 1 ? " was" : "s were");
		ps__number_add_time(&sentence, (double)rest_ns);
		ps__buffer_add(&sentence, " in all while another was idle.");
	}
	if (count)
		ps__buffer_add(&sentence,
		               "%s\"Idle\": no task of this program ran or waited for "
		               "its turn there. Other programs are not seen.",
		               rest_ns ? " " : "");
	tool_paragraph_of(out, &sentence, 0, width);
}

static void show_leaves(const struct place_run *run, size_t width, struct ps__buffer *out)
{
	struct ps__buffer sentence = {0};
	const struct place_task *most = NULL;
	uint64_t leaves = 0;
	size_t count = 0;

	for (size_t i = 0; i < run->sums.task_count; i++) {
		const struct place_task *task = &run->sums.tasks[i];
		count += task->leaves > 0;
		leaves += task->leaves;
		if (task->leaves && (!most || task->leaves > most->leaves))
			most = task;
	}
	if (!most)
		return;
	if (count == 1)
		ps__buffer_add(&sentence, "Task %u left its NUMA node",
		               tid_of(run, (size_t)(most - run->sums.tasks)));
	else
		ps__buffer_add(&sentence, "%zu tasks left their NUMA node", count);
	ps__buffer_add(&sentence, leaves == 1 ? " once" : " %llu times",
	               (unsigned long long)leaves);
	if (count > 1)
		ps__buffer_add(&sentence, ", task %u most often: %llu",
		               tid_of(run, (size_t)(most - run->sums.tasks)),
		               (unsigned long long)most->leaves);
	ps__buffer_add(&sentence, ".");
	tool_paragraph_of(out, &sentence, 0, width);
}

/* Shows errors in the variables, and how the intended places were used. */
static void show_intended(const struct place_run *run, size_t width, struct ps__buffer *out)
{
	const struct place_intent *intent = &run->intent;
	struct ps__buffer sentence = {0};
	size_t bound = 0, known_masks = 0;

	for (size_t i = 0; i < intent->variable_count; i++) {
		if (!intent->variables[i].error)
			continue;
		tool_put(&sentence, intent->variables[i].error);
		ps__buffer_add(&sentence, ".");
		tool_paragraph_of(out, &sentence, 0, width);
	}
	if (intent->places.refused.count) {
		ps__buffer_add(&sentence,
		               "%s names CPUs that the program may not use: ", intent->places_of);
		tool_cpus_show(&intent->places.refused, &sentence);
		ps__buffer_add(&sentence, ".");
		tool_paragraph_of(out, &sentence, 0, width);
	}
	for (size_t i = 0; i < run->sums.task_count; i++) {
		known_masks += place_mask_of(run, i) != NULL;
		bound += place_index_of(run, i) != SIZE_MAX;
	}
	bool has_all = tool_places_find(&intent->places, &intent->allowed) != SIZE_MAX;
	if (intent->places_of && known_masks && bound == 0 && has_all)
		ps__buffer_add(&sentence,
		               "A place of %s is all CPUs that the program may use: no mask tells "
		               "who is bound to it.",
		               intent->places_of);
	else if (intent->places_of && known_masks && bound == 0)
		ps__buffer_add(&sentence, "No task was seen bound to a place of %s.",
		               intent->places_of);
	else if (intent->places_of && known_masks)
		ps__buffer_add(&sentence, "%zu of %zu tasks were seen bound to a place of %s.",
		               bound, run->sums.task_count, intent->places_of);
	if (sentence.length)
		tool_paragraph_of(out, &sentence, 0, width);
	ps__buffer_clear(&sentence);
}

static void say_loss(const struct place_run *run, struct ps__buffer *out)
{
	if (tool_slices_is_full(run->slices))
		ps__buffer_add(out, "The memory for records was used up");
	else if (run->lost)
		ps__buffer_add(out, "%llu record%s lost", (unsigned long long)run->lost,
		               run->lost == 1 ? " was" : "s were");
	else
		ps__buffer_add(out, "Records were lost");
}

static void show_holes(const struct place_run *run, size_t width, struct ps__buffer *out)
{
	struct ps__buffer sentence = {0};
	struct tool_cpus cpus = {0};
	uint64_t hole_ns = 0;

	for (size_t i = 0; i < tool_slices_hole_count(run->slices); i++) {
		const struct tool_hole *hole = tool_slices_hole(run->slices, i);
		tool_cpus_add(&cpus, hole->cpu);
		hole_ns += hole->end_ns > hole->begin_ns ? hole->end_ns - hole->begin_ns : 0;
	}
	if (cpus.count) {
		say_loss(run, &sentence);
		ps__buffer_add(&sentence, ", on CPU%s ", cpus.count == 1 ? "" : "s");
		tool_cpus_show(&cpus, &sentence);
		ps__buffer_add(&sentence, " in ");
		ps__number_add_time(&sentence, (double)hole_ns);
		ps__buffer_add(&sentence, ": who ran there then is not known, and all times and "
		                          "numbers above are the least that they can be.");
		if (tool_slices_is_full(run->slices))
			ps__buffer_add(&sentence,
			               " A larger --memory keeps more, 32 bytes for each "
			               "record.");
		tool_paragraph_of(out, &sentence, 0, width);
	}
	tool_cpus_clear(&cpus);
	ps__buffer_clear(&sentence);
}

static void show_left(const struct place_run *run, size_t width, struct ps__buffer *out)
{
	struct ps__buffer sentence = {0};

	tool_slices_say_left(run->slices, &sentence);
	if (sentence.length)
		tool_paragraph_of(out, &sentence, 0, width);
	tool_slices_say_hidden(run->slices, &sentence);
	if (sentence.length)
		tool_paragraph_of(out, &sentence, 0, width);
	ps__buffer_clear(&sentence);
}

void place_findings_show(const struct place_run *run, size_t width, struct ps__buffer *out)
{
	show_sharing(run, width, out);
	show_leaves(run, width, out);
	show_intended(run, width, out);
	show_left(run, width, out);
	show_holes(run, width, out);
}

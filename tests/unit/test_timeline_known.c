/* SPDX-License-Identifier: BSD-3-Clause */
/* A task's counts in perfsage timeline where a CPU lost its counters, or samples are left out: what
 * nothing tells is not 0, and what is told in part is a lower bound. */
#include "support/scene.h"
#include "tools/timeline.h"
#include "tools/timeline_counters.h"

#include <linux/perf_event.h>
#include <string.h>

#define MS UINT64_C(1000000)

static struct timeline timeline;
static struct timeline_switched cpus[2] = {{.cpu = 0}, {.cpu = 1}};
static struct timeline_counters counters = {.cpus = cpus, .cpu_count = 2, .count = 1};
static struct timeline_event events[2] = {
    {.name = "page-faults", .is_counted = true, .shares_samples = true, .index = 0},
    {.name = "branches", .is_counted = true, .is_counter = true, .index = 1}};

static int add_span(const struct tool_span *span, void *context)
{
	(void)context;
	int result = timeline_sums_add(&timeline.sums, span);
	timeline_counters_add_span(&timeline, span);
	return result;
}

static void hear(ps_session_hear *function, struct ps_record record)
{
	const struct ps_session_record heard = {.record = &record, .event = SIZE_MAX};

	function(tool_slices_listener(timeline.slices).context, &heard);
}

/* A slice of 10 ms; the counter of its CPU tells 5. */
static void run_task(uint32_t tid, uint32_t cpu, uint64_t at_ms)
{
	const struct ps_listener listener = tool_slices_listener(timeline.slices);
	struct ps_record record = {.pid = 100, .tid = tid, .cpu = cpu, .time = at_ms * MS};
	struct tool_slices_read read = {
	    .tid = tid, .cpu = (int)cpu, .time_ns = (at_ms + 10) * MS, .event = 1, .count = 5};

	hear(listener.switched, record);
	record.time = read.time_ns;
	record.misc = PERF_RECORD_MISC_SWITCH_OUT;
	if (at_ms * MS < cpus[cpu].until_ns)
		tool_slices_note_read(timeline.slices, &read);
	hear(listener.switched, record);
}

static uint32_t fault_tid = 101;

/* Task 101 has a page fault, or another one. */
static void fault(void)
{
	const struct ps_listener listener = tool_slices_listener(timeline.slices);
	const struct ps_record record = {.pid = 100, .tid = fault_tid, .cpu = 0, .time = 1015 * MS};
	const struct ps_session_record heard = {.record = &record, .event = 0, .period = 1};

	listener.sample(listener.context, &heard);
}

/* CPU 1 has counters until this time. Task 101 is on CPU 0, 102 on CPU 1, and 103 on both. */
static void record(uint64_t until_ns, bool has_fault, struct timeline_losses losses)
{
	const struct tool_slices_play play = {
	    .begin_ns = 1000 * MS, .end_ns = 1200 * MS, .visit = add_span};

	cpus[0].until_ns = UINT64_MAX;
	cpus[1].until_ns = until_ns;
	counters.has_gaps = until_ns != UINT64_MAX || cpus[0].from_ns;
	counters.unknown_cpu = -1;
	events[0].status = events[1].status = PS_STATUS_COUNTED;
	events[0].is_counted = true;
	timeline = (struct timeline){.options = {.rows = 10},
	                             .counters = &counters,
	                             .events = events,
	                             .event_count = 2,
	                             .counted = 2,
	                             .losses = losses};
	check_ok(tool_slices_create(&timeline.slices, 2));
	check_ok(timeline_sums_create(&timeline.sums, 10));
	run_task(101, 0, 1010);
	run_task(102, 1, 1030);
	run_task(103, 0, 1050);
	run_task(103, 1, 1070);
	if (has_fault)
		fault();
	timeline_events_note_losses(&timeline);
	check_ok(tool_slices_play(timeline.slices, &play));
	timeline_events_note_foreign(&timeline);
	timeline_sums_close(&timeline.sums);
}

static void record_until(uint64_t until_ns)
{
	record(until_ns, false, (struct timeline_losses){.records = 0});
}

static void end(void)
{
	ps__buffer_clear(&timeline.text);
	timeline_sums_clear(&timeline.sums);
	tool_slices_destroy(timeline.slices);
}

/* The line of the task in the table of counts goes on so. */
static void check_text(const char *tid, const char *faults, const char *branches)
{
	char first[16] = "", second[16] = "";
	const char *table;

	ps__buffer_restart(&timeline.text);
	timeline_text_add_sums(&timeline);
	table = strstr(ps__buffer_text(&timeline.text), "branches");
	ck_assert_ptr_nonnull(table);
	const char *line = strstr(table, tid);
	ck_assert_ptr_nonnull(line);
	ck_assert_int_eq(sscanf(line + strlen(tid), "%15s %15s", first, second), 2);
	ck_assert_str_eq(first, faults);
	ck_assert_str_eq(second, branches);
}

static void check_json_of(const char *tid, const char *is_whole, const char *faults,
                          const char *branches)
{
	char expected[120];

	ps__buffer_restart(&timeline.text);
	timeline_json_begin(&timeline);
	timeline_json_add_sums(&timeline);
	const char *task = strstr(ps__buffer_text(&timeline.text), tid);
	ck_assert_ptr_nonnull(task);
	snprintf(expected, sizeof expected,
	         "\"is_whole\": %s, \"counts\": {\"page-faults\": %s, \"branches\": %s}", is_whole,
	         faults, branches);
	task = strstr(task, "\"is_whole\"");
	ck_assert_ptr_nonnull(task);
	ck_assert_msg(strncmp(task, expected, strlen(expected)) == 0, "%.80s", task);
}

static void check_json(const char *tid, const char *is_whole, const char *branches)
{
	check_json_of(tid, is_whole, "0", branches);
}

static void check_says(const char *sentence)
{
	ck_assert_msg(strstr(ps__buffer_text(&timeline.text), sentence) != NULL, "%s",
	              ps__buffer_text(&timeline.text));
}

START_TEST(a_cpu_without_counters_leaves_no_zeros)
{
	record_until(0);
	check_text("101", "0", "5");
	check_text("102", "0", "?");
	check_text("103", "0", ">=5");
	check_json("\"tid\": 101", "true", "5");
	check_json("\"tid\": 102", "false", "null");
	check_json("\"tid\": 103", "false", "5");
	end();
}
END_TEST

START_TEST(a_cpu_that_goes_offline_is_known_until_then)
{
	record_until(1060 * MS);
	check_text("102", "0", "5");
	check_text("103", "0", ">=5");
	check_json("\"tid\": 102", "true", "5");
	check_json("\"tid\": 103", "false", "5");
	end();
}
END_TEST

/* A sample that names a task which isn't observed. */
START_TEST(what_is_of_no_observed_task_makes_lower_bounds)
{
	fault_tid = 77;
	record(UINT64_MAX, true, (struct timeline_losses){.records = 0});
	ck_assert_int_eq(events[0].status, PS_STATUS_INCOMPLETE);
	check_text("101", ">=0", "5");
	check_says("\n1 occurrence of events is left out: ");
	check_json_of("\"tid\": 101", "false", "0", "5");
	end();
	fault_tid = 101;
}
END_TEST

/* The counters of CPU 0 are started in the slice of task 101, those of CPU 1 are stopped in that of
 * task 102. */
START_TEST(a_slice_that_is_counted_in_part_is_a_lower_bound)
{
	cpus[0].from_ns = 1015 * MS;
	record_until(1035 * MS);
	ck_assert_int_eq(events[1].status, PS_STATUS_INCOMPLETE);
	check_text("101", "0", ">=5");
	check_text("102", "0", ">=5");
	check_text("103", "0", ">=5");
	check_json("\"tid\": 101", "false", "5");
	end();
	cpus[0].from_ns = 1030 * MS;
	record_until(UINT64_MAX);
	check_text("101", "0", "?");
	check_text("103", "0", "10");
	end();
	cpus[0].from_ns = 0;
}
END_TEST

START_TEST(with_all_counters_all_is_known)
{
	record_until(UINT64_MAX);
	check_text("103", "0", "10");
	check_json("\"tid\": 103", "true", "10");
	end();
}
END_TEST

/* Another program sampled the same event. */
START_TEST(an_event_without_its_samples_is_not_known)
{
	record(UINT64_MAX, false, (struct timeline_losses){.unassigned = 3});
	ck_assert_int_eq(events[0].status, PS_STATUS_INCOMPLETE);
	check_text("101", "?", "5");
	check_says("3 samples are left out");
	check_json_of("\"tid\": 101", "false", "null", "5");
	check_says("\"unassigned_samples\": 3,\n \"damaged_records\": 0,\n \"missed_tasks\": 0,");
	check_says("{\"event\": \"page-faults\", \"unit\": \"count\", \"status\": "
	           "\"incomplete\", \"flags\": []}");
	end();
}
END_TEST

START_TEST(an_event_that_lacks_samples_is_a_lower_bound)
{
	record(UINT64_MAX, true, (struct timeline_losses){.unassigned = 1, .missed = 2});
	ck_assert_int_eq(events[0].status, PS_STATUS_INCOMPLETE);
	check_text("101", ">=1", "5");
	check_text("102", ">=0", "5");
	check_says("\n1 sample is left out: ");
	check_says("\n2 tasks may be missing here, ");
	check_json_of("\"tid\": 101", "false", "1", "5");
	check_json_of("\"tid\": 102", "false", "0", "5");
	check_says("\"unassigned_samples\": 1,\n \"damaged_records\": 0,\n \"missed_tasks\": 2,");
	end();
}
END_TEST

/* A tracepoint's samples are its own; a record that can't be read may be one of them. */
START_TEST(samples_of_its_own_are_all_there_but_for_damaged_records)
{
	events[0].shares_samples = false;
	record(UINT64_MAX, true, (struct timeline_losses){.unassigned = 1});
	ck_assert_int_eq(events[0].status, PS_STATUS_COUNTED);
	check_text("101", "1", "5");
	end();
	record(UINT64_MAX, true, (struct timeline_losses){.damaged = 1});
	ck_assert_int_eq(events[0].status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(events[1].status, PS_STATUS_COUNTED);
	check_text("101", ">=1", "5");
	check_says("\n1 damaged record is left out: ");
	check_json_of("\"tid\": 101", "false", "1", "5");
	end();
	events[0].shares_samples = true;
}
END_TEST

/* Linux counts a wake-up for the task that is woken, and writes no record of it. */
START_TEST(what_is_counted_without_a_record_is_not_zero)
{
	events[0].shares_samples = false;
	events[0].total = 51;
	record_until(UINT64_MAX);
	ck_assert_int_eq(events[0].status, PS_STATUS_INCOMPLETE);
	check_text("101", "?", "5");
	check_says("\n51 occurrences of events are left out: ");
	check_json_of("\"tid\": 101", "false", "null", "5");
	end();
	record(UINT64_MAX, true, (struct timeline_losses){.records = 49});
	check_text("101", ">=1", "5");
	check_text("102", ">=0", "5");
	check_says("\n1 occurrence of events is left out: ");
	check_json_of("\"tid\": 101", "false", "1", "5");
	end();
	record(UINT64_MAX, true, (struct timeline_losses){.records = 50});
	/* They may be records of other kinds, or of other CPUs. */
	ck_assert_int_eq(events[0].status, PS_STATUS_INCOMPLETE);
	check_text("101", ">=1", "5");
	check_text("102", ">=0", "5");
	end();
	events[0].shares_samples = true;
	events[0].total = 0;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timeline_known");
	TCase *tests = scene_case(suite, "timeline_known");

	tcase_add_test(tests, a_cpu_without_counters_leaves_no_zeros);
	tcase_add_test(tests, a_cpu_that_goes_offline_is_known_until_then);
	tcase_add_test(tests, what_is_of_no_observed_task_makes_lower_bounds);
	tcase_add_test(tests, a_slice_that_is_counted_in_part_is_a_lower_bound);
	tcase_add_test(tests, with_all_counters_all_is_known);
	tcase_add_test(tests, an_event_without_its_samples_is_not_known);
	tcase_add_test(tests, an_event_that_lacks_samples_is_a_lower_bound);
	tcase_add_test(tests, samples_of_its_own_are_all_there_but_for_damaged_records);
	tcase_add_test(tests, what_is_counted_without_a_record_is_not_zero);
	return scene_run(suite);
}

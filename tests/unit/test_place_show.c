/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage place as text and JSON, of records on synthetic trees. */
#include "support/fixture.h"
#include "support/golden.h"
#include "support/machines.h"
#include "support/screen.h"
#include "tools/place.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#define MS        UINT64_C(1000000)
#define PREEMPTED (PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)

static char program[] = "./a.out", argument[] = "4";
static char *command[] = {program, argument, NULL};
static struct place_run run;
static struct ps_listener listener;
static struct ps__buffer text;

/* The program is process 10, which executes "main" at 0 ms. */
static void begin_on(const char *tree)
{
	run = (struct place_run){.command = command, .topology = fixture_synthetic(tree)};
	check_ok(place_intent_create(&run.intent, ps_topology_root(run.topology)));
	tool_cpus_clear(&run.intent.allowed);
	check_ok(tool_cpus_copy(&run.intent.allowed, &run.intent.cpuset));
	check_ok(tool_slices_create(&run.slices, 0));
	listener = tool_slices_listener(run.slices);
}

static void teardown(void)
{
	ps__buffer_clear(&text);
	place_sums_clear(&run.sums);
	tool_slices_destroy(run.slices);
	place_masks_clear(&run.masks);
	place_intent_clear(&run.intent);
	ps_topology_destroy(run.topology);
	scene_teardown();
}

static void setup(void)
{
	scene_setup();
	unsetenv("OMP_PLACES");
	unsetenv("OMP_PROC_BIND");
	unsetenv("GOMP_CPU_AFFINITY");
	unsetenv("OMP_NUM_THREADS");
}

static void hear(ps_session_hear *function, uint64_t ms, uint32_t tid, uint32_t cpu, uint16_t misc)
{
	struct ps_record record = {.type = function == listener.fork ? PS_RECORD_FORK : 0,
	                           .time = 1000 * MS + ms * MS,
	                           .pid = 10,
	                           .tid = tid,
	                           .cpu = cpu,
	                           .misc = misc,
	                           .text = "main"};
	const struct ps_session_record heard = {.record = &record, .event = SIZE_MAX};

	record.body.other.tid = 10;
	if (function == listener.lost)
		record.body.lost = 7;
	function(listener.context, &heard);
}

static void in(uint64_t ms, uint32_t tid, uint32_t cpu)
{
	hear(listener.switched, ms, tid, cpu, 0);
}

static void out(uint64_t ms, uint32_t tid, uint32_t cpu, uint16_t misc)
{
	hear(listener.switched, ms, tid, cpu, misc);
}

/* Its mask is a list of CPUs; later: that it is bound to. */
static void create(uint64_t ms, uint32_t tid, const char *cpus, const char *later)
{
	fake_set_tid((pid_t)tid);
	fake_set_affinity(cpus);
	fake_set_clock(1000 * MS + ms * MS, 0);
	check_ok(place_masks_begin(&run.masks, tid, 1000 * MS + ms * MS));
	if (tid != 10)
		hear(listener.fork, ms, tid, 0, 0);
	if (!later)
		return;
	fake_set_affinity(later);
	check_ok(place_masks_look(&run.masks, 1000 * MS + (ms + 10) * MS));
}

static void execute(void)
{
	create(0, 10, "0-3", NULL);
	in(0, 10, 0);
	hear(listener.comm, 0, 10, 0, PERF_RECORD_MISC_COMM_EXEC);
	out(5, 10, 0, PERF_RECORD_MISC_SWITCH_OUT);
}

static void check_columns(size_t most)
{
	for (const char *shown = ps__buffer_text(&text); *shown; shown += strcspn(shown, "\n") + 1)
		ck_assert_uint_le(strcspn(shown, "\n"), most);
}

static void check_says(const char *wanted)
{
	check_ok(place_spans_sum_up(&run, 10, 1100 * MS));
	place_show(&run, false, 80, &text);
	const char *shown = ps__buffer_text(&text);
	ck_assert_msg(strstr(shown, wanted), "'%s' is not in\n%s", wanted, shown);
	check_columns(80);
}

/* Tasks 11 and 12 take turns on a CPU. */
static void take_turns(uint32_t cpu)
{
	for (uint64_t ms = 10; ms < 50; ms += 20) {
		in(ms, 11, cpu);
		out(ms + 10, 11, cpu, PREEMPTED);
		in(ms + 10, 12, cpu);
		out(ms + 20, 12, cpu, PREEMPTED);
	}
	hear(listener.exit, 50, 12, cpu, 0);
}

START_TEST(tasks_and_sentences_stand_below_what_was_intended)
{
	begin_on("core:4 pu:1");
	execute();
	create(5, 11, "0-3", "1");
	create(5, 12, "0-3", "1");
	take_turns(1);
	check_says(
	    "./a.out 4: 3 tasks in 0.100 s\n"
	    "\n"
	    "intended  CPUs 0-3\n"
	    "\n"
	    "task                    may run on    ran on                  for  moves   left\n"
	    "10 main                 0-3           0                  5.000 ms      0      0\n"
	    "11 main                 1*            1                  20.00 ms      0      0\n"
	    "12 main                 1*            1                  20.00 ms      0      0\n"
	    "*: the mask changed; this is the last one that was read.\n"
	    "\n"
	    "Tasks 11 and 12 shared CPU 1 for 30.00 ms while CPU 0, 2 or 3 was idle, which\n"
	    "their masks exclude.\n"
	    "\"Idle\": no task of this program ran or waited for its turn there. Other programs\n"
	    "are not seen.\n");
}
END_TEST

/* Half of the tasks are bound to a CPU each, and two share one. */
static void run_everywhere(const char *tree, uint32_t cpus)
{
	char mask[16], all[16];

	begin_on(tree);
	execute();
	snprintf(all, sizeof all, "0-%u", cpus - 1);
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		uint32_t tid = 11 + cpu;
		snprintf(mask, sizeof mask, "%u", cpu);
		create(5, tid, all, cpu % 2 ? mask : NULL);
		in(10 + cpu % 3, tid, cpu);
		out(50 + cpu % 7, tid, cpu, PERF_RECORD_MISC_SWITCH_OUT);
	}
	create(5, 11 + cpus, all, "1");
	in(60, 11 + cpus, 1);
	in(62, 12, 1);
	out(70, 12, 1, PREEMPTED);
	in(70, 11 + cpus, 1);
	out(80, 11 + cpus, 1, PERF_RECORD_MISC_SWITCH_OUT);
	check_ok(place_spans_sum_up(&run, 10, 1100 * MS));
}

START_TEST(the_size_of_the_machine_does_not_decide_the_length)
{
	FILE *stream = golden_open();
	char file[32];

	run_everywhere(machines[_i].tree, (uint32_t)machines[_i].cpus);
	for (size_t i = 0; i < WIDTHS; i++) {
		ps__buffer_restart(&text);
		place_show(&run, false, machine_widths[i], &text);
		screen_check(ps__buffer_text(&text), machine_widths[i], 48);
		fprintf(stream, "%zu columns:\n%s\n", machine_widths[i], ps__buffer_text(&text));
	}
	snprintf(file, sizeof file, "screen_place_%d.txt", machines[_i].cpus);
	golden_check_file(stream, file);
}
END_TEST

/* No column is dropped: long cells are cut, and end in "..". */
START_TEST(a_narrow_terminal_has_narrower_columns)
{
	begin_on("core:4 pu:1");
	execute();
	create(5, 11, "0,2", "1,3");
	create(5, 12, "0-3", "1");
	take_turns(1);
	check_ok(place_spans_sum_up(&run, 10, 1100 * MS));
	place_show(&run, false, 60, &text);
	ck_assert_ptr_nonnull(
	    strstr(ps__buffer_text(&text),
	           "task          may run on ran on            for  moves   left\n"
	           "10 main       0-3        0            5.000 ms      0      0\n"
	           "11 main       1,3*       1            20.00 ms      0      0\n"));
	check_columns(60);
	place_show(&run, false, 59, &text);
	ck_assert_ptr_nonnull(strstr(ps__buffer_text(&text), "this table takes 60."));
}
END_TEST

START_TEST(a_command_that_is_hidden_is_told)
{
	begin_on("core:4 pu:1");
	create(0, 10, "0-3", NULL);
	in(0, 10, 0);
	hear(listener.comm, 0, 10, 0, PERF_RECORD_MISC_COMM_EXEC);
	hear(listener.exit, 1, 10, 0, 0);
	check_says("Not seen: 1 program, 'main' (process 10)");
	ck_assert(strstr(ps__buffer_text(&text), "It is not known whether tasks shared"));
	ck_assert(strstr(ps__buffer_text(&text), ": at least 1 task in 0.100 s"));
}
END_TEST

START_TEST(tasks_that_may_run_elsewhere_are_told)
{
	begin_on("core:4 pu:1");
	execute();
	create(5, 11, "1", NULL);
	create(5, 12, "0-3", NULL);
	take_turns(1);
	check_says("was idle, where 1\nof them may run.");
}
END_TEST

START_TEST(a_core_is_told_by_its_CPUs)
{
	begin_on("core:2 pu:2");
	execute();
	create(5, 11, "0-1", NULL);
	create(5, 12, "0-1", NULL);
	in(10, 11, 0);
	in(20, 12, 1);
	out(40, 11, 0, PERF_RECORD_MISC_SWITCH_OUT);
	out(60, 12, 1, PERF_RECORD_MISC_SWITCH_OUT);
	check_says(
	    "Tasks 11 and 12 shared the core of CPUs 0+1 for 20.00 ms while the core of CPUs\n"
	    "2+3 was idle, which their masks exclude.");
}
END_TEST

START_TEST(leaving_a_NUMA_node_is_told)
{
	begin_on("pack:2 [numa] core:2 pu:1");
	execute();
	create(5, 11, "0-3", NULL);
	create(5, 12, "0-3", NULL);
	for (uint32_t i = 0; i < 6; i++) {
		in(10 + 4 * i, 11, i % 2 * 2);
		out(12 + 4 * i, 11, i % 2 * 2, PERF_RECORD_MISC_SWITCH_OUT);
	}
	in(60, 12, 0);
	out(61, 12, 0, PERF_RECORD_MISC_SWITCH_OUT);
	in(62, 12, 3);
	out(63, 12, 3, PERF_RECORD_MISC_SWITCH_OUT);
	check_says("2 tasks left their NUMA node 6 times, task 11 most often: 5.");
}
END_TEST

START_TEST(alike_tasks_share_a_line)
{
	begin_on("core:4 pu:1");
	execute();
	for (uint32_t tid = 11; tid < 19; tid++) {
		char cpu[] = {(char)('0' + tid % 4), '\0'};
		create(5, tid, cpu, NULL);
		in(tid, tid, tid % 4);
		out(tid + 1, tid, tid % 4, PERF_RECORD_MISC_SWITCH_OUT);
	}
	check_says(
	    "10 main                 0-3           0                  5.000 ms      0      0\n"
	    "8 tasks main            one CPU each  0-3              <=1.000 ms      0      0\n");
}
END_TEST

START_TEST(a_task_that_ran_where_its_mask_excludes_was_bound_later)
{
	begin_on("core:4 pu:1");
	execute();
	create(5, 11, "1", NULL);
	in(10, 11, 0);
	out(11, 11, 0, PREEMPTED);
	in(11, 11, 1);
	out(20, 11, 1, PERF_RECORD_MISC_SWITCH_OUT);
	check_says("1*            1 90%, 0 10%       10.00 ms      1      0\n*: the mask changed;");
	place_json_add(&run, &text);
	ck_assert_ptr_nonnull(strstr(ps__buffer_text(&text), "\"bound_later\": true"));
}
END_TEST

START_TEST(places_are_held_beside_masks)
{
	setenv("OMP_PLACES", "{1},{2,3},{9}", 1);
	begin_on("core:4 pu:1");
	execute();
	create(5, 11, "1", NULL);
	create(5, 12, "2-3", NULL);
	take_turns(1);
	check_says("          OMP_PLACES={1},{2,3},{9}: 2 places {1} {2-3}\n");
	ck_assert_ptr_nonnull(strstr(ps__buffer_text(&text),
	                             "OMP_PLACES names CPUs that the program may not use: 9.\n"
	                             "2 of 3 tasks were seen bound to a place of OMP_PLACES.\n"));
}
END_TEST

START_TEST(a_mask_of_all_CPUs_is_no_binding)
{
	setenv("OMP_PLACES", "{0:4}", 1);
	begin_on("core:4 pu:1");
	execute();
	check_says(
	    "A place of OMP_PLACES is all CPUs that the program may use: no mask tells who is\n"
	    "bound to it.\n");
	ck_assert_uint_eq(place_index_of(&run, 0), SIZE_MAX);
	ck_assert_ptr_null(strstr(ps__buffer_text(&text), "seen bound"));
}
END_TEST

START_TEST(a_hole_is_told)
{
	begin_on("core:4 pu:1");
	execute();
	create(5, 11, "1", NULL);
	in(10, 11, 1);
	hear(listener.lost, 40, 0, 1, 0);
	run.lost = 7;
	check_says(
	    "7 records were lost, on CPU 1 in 30.00 ms: who ran there then is not known, and\n"
	    "all times and numbers above are the least that they can be.\n");
	const char *shown = ps__buffer_text(&text);
	ck_assert_ptr_nonnull(strstr(shown, "./a.out 4: at least 2 tasks in 0.100 s\n"));
	ck_assert_ptr_nonnull(
	    strstr(shown, "It is not known whether tasks shared a hardware thread or core"));
	ck_assert_ptr_null(strstr(shown, "No task shared"));
}
END_TEST

START_TEST(memory_that_is_used_up_is_told)
{
	begin_on("core:4 pu:1");
	execute();
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	in(10, 10, 1);
	fake_fail(FAKE_ALLOCATE, 0, 0);
	check_says("The memory for records was used up, on CPU");
	ck_assert_ptr_nonnull(strstr(ps__buffer_text(&text), "larger --memory"));
	ck_assert_ptr_null(strstr(ps__buffer_text(&text), "0 records"));
	ps__buffer_restart(&text);
	place_json_add(&run, &text);
	ck_assert_ptr_nonnull(strstr(ps__buffer_text(&text), "\"lost\": null"));
}
END_TEST

START_TEST(a_task_that_waits_in_a_new_place_waits_nowhere)
{
	begin_on("core:2 pu:1");
	execute();
	/* It was never seen to run: its place isn't known. */
	create(5, 11, "0-1", NULL);
	in(10, 10, 0);
	out(90, 10, 0, PERF_RECORD_MISC_SWITCH_OUT);
	in(90, 11, 0);
	check_says("No task shared a hardware thread or core while another was idle.");
	ck_assert_uint_eq(run.sums.tasks[1].wait_ns, 0);
}
END_TEST

START_TEST(a_hole_is_neither_a_run_nor_a_wait)
{
	begin_on("core:2 pu:1");
	execute();
	create(5, 11, "0-1", NULL);
	in(10, 11, 1);
	out(20, 11, 1, PREEMPTED);
	in(30, 11, 1);
	hear(listener.lost, 40, 0, 1, 0);
	out(50, 11, 1, PREEMPTED);
	in(60, 11, 0);
	check_ok(place_spans_sum_up(&run, 10, 1100 * MS));
	/* The hole is from 30 to 40 ms. */
	ck_assert_uint_eq(run.sums.tasks[1].wait_ns, 20 * MS);
	ck_assert_uint_eq(run.sums.tasks[1].run_ns, 60 * MS);
	ck_assert_uint_eq(run.sums.tasks[1].moves, 1);
}
END_TEST

START_TEST(without_memory_there_are_no_sums)
{
	for (unsigned nth = 1;; nth++) {
		begin_on("core:4 pu:1");
		execute();
		create(5, 11, "0-3", NULL);
		create(5, 12, "0-3", NULL);
		take_turns(1);
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = place_spans_sum_up(&run, 10, 1100 * MS);
		bool happened = fake_fail_happened();
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert_int_eq(result, happened ? PS_ENOMEM : PS_OK);
		if (!happened)
			break;
		ck_assert_uint_lt(nth, 100);
		place_sums_clear(&run.sums);
		tool_slices_destroy(run.slices);
		place_masks_clear(&run.masks);
		place_intent_clear(&run.intent);
		ps_topology_destroy(run.topology);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("place_show");
	TCase *tests = scene_case_of(suite, "place_show", setup, teardown);

	tcase_add_test(tests, tasks_and_sentences_stand_below_what_was_intended);
	tcase_add_loop_test(tests, the_size_of_the_machine_does_not_decide_the_length, 0,
	                    machine_count());
	tcase_add_test(tests, a_narrow_terminal_has_narrower_columns);
	tcase_add_test(tests, a_command_that_is_hidden_is_told);
	tcase_add_test(tests, tasks_that_may_run_elsewhere_are_told);
	tcase_add_test(tests, a_core_is_told_by_its_CPUs);
	tcase_add_test(tests, leaving_a_NUMA_node_is_told);
	tcase_add_test(tests, alike_tasks_share_a_line);
	tcase_add_test(tests, a_task_that_ran_where_its_mask_excludes_was_bound_later);
	tcase_add_test(tests, places_are_held_beside_masks);
	tcase_add_test(tests, a_mask_of_all_CPUs_is_no_binding);
	tcase_add_test(tests, a_hole_is_told);
	tcase_add_test(tests, memory_that_is_used_up_is_told);
	tcase_add_test(tests, a_task_that_waits_in_a_new_place_waits_nowhere);
	tcase_add_test(tests, a_hole_is_neither_a_run_nor_a_wait);
	tcase_add_test(tests, without_memory_there_are_no_sums);
	return scene_run(suite);
}

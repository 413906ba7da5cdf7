/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of tasks, divided by records of switches: who was where when. */
#include "test_slices.h"

START_TEST(a_command_begins_with_its_exec_and_ends_with_its_exit)
{
	in(50, 10, 1);
	executes(100, 10, 1, "prog");
	waits(150, 10, 1);
	in(200, 10, 0);
	out(250, 10, 0, MISC_PREEMPTED);
	in(260, 10, 0);
	exits(300, 10, 0);
	play(10);
	ck_assert_str_eq(ps__buffer_text(&seen),
	                 "10 on1 100-150; 10 waits 150-200; 10 on0<1 200-250; 10 ready 250-260; "
	                 "10 on0 260-300.; ");
	const struct tool_task *task = tool_slices_task(slices, 0);
	ck_assert_str_eq(task->name, "prog");
	ck_assert(task->has_exited && !task->was_there);
	ck_assert_uint_eq(task->slices, 3);
	ck_assert_uint_eq(task->migrations, 1);
	ck_assert_uint_eq(tool_slices_begin_ns(slices), 100);
}
END_TEST

START_TEST(records_of_two_cpus_are_played_by_time)
{
	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	waits(300, 10, 0);
	in(120, 11, 1);
	waits(200, 11, 1);
	in(400, 10, 1);
	exits(500, 11, 0); /* in another order of CPUs, and before its IN */
	in(450, 11, 0);
	play(10);
	ck_assert_str_eq(ps__buffer_text(&seen),
	                 "11 ready 110-120; 11 on1 120-200; 10 on0 100-300; 10 waits 300-400; "
	                 "11 waits 200-450; 11 on0<1 450-500.; 10 on1<0 400-1000; ");
	ck_assert_str_eq(tool_slices_task(slices, 1)->name, "prog");
}
END_TEST

START_TEST(what_was_there_before_is_told_by_its_first_record)
{
	const struct tool_slices_there there[] = {
	    {.pid = 10, .tid = 10, .name = "main", .read_ns = 5},
	    {.pid = 10, .tid = 11, .name = "a", .read_ns = 5, .is_runnable = true},
	    {.pid = 10, .tid = 12, .name = "b", .read_ns = 50},
	    {.pid = 10, .tid = 13, .name = "c", .read_ns = 5},
	    {.pid = 10, .tid = 14, .name = "d", .read_ns = 5, .is_runnable = true},
	    {.pid = 10, .tid = 15, .name = "e", .read_ns = 5, .is_runnable = true}};

	for (size_t i = 0; i < sizeof there / sizeof there[0]; i++)
		check_ok(tool_slices_note_task(slices, &there[i]));
	tool_slices_note_ran(slices, 14, 3, END_NS);
	tool_slices_note_ran(slices, 10, 3, END_NS);
	waits(20, 10, 0); /* it ran, though /proc told it otherwise later */
	in(30, 11, 0);
	in(40, 12, 1); /* before it was read: not known why it was off */
	exits(50, 16, 2);
	check_spans("10 on0 0-20; 11 ready 0-30; 12 off 0-40; 16 on2 0-50.; 10 waits 20-1000; "
	            "11 on0 30-1000; 12 on1 40-1000; 13 waits 0-1000; 14 on3 0-1000; "
	            "15 ? 0-1000; ");
	ck_assert(tool_slices_task(slices, 0)->was_there);
	ck_assert_str_eq(tool_slices_task(slices, 1)->name, "a");
}
END_TEST

START_TEST(a_listed_thread_that_was_created_since_begins_with_its_creation)
{
	const struct tool_slices_there there = {.pid = 10, .tid = 11, .name = "a", .read_ns = 50};

	check_ok(tool_slices_note_task(slices, &there));
	forks(20, 11, 10, 0);
	in(30, 11, 0);
	exits(60, 11, 0);
	check_spans("11 ready 20-30; 11 on0 30-60.; ");
}
END_TEST

START_TEST(events_belong_to_the_slice_in_which_they_happen)
{
	executes(0, 10, 0, "prog");
	counts(10, 10, 0, 0);
	counts(20, 10, 0, 0);
	counts(20, 10, 0, 1);
	waits(30, 10, 0);
	in(40, 10, 1);
	counts(40, 10, 1, 0);
	exits(40, 10, 1);
	play(10);
	ck_assert_str_eq(ps__buffer_text(&seen),
	                 "10 on0+2 0-30; 10 waits 30-40; 10 on1<0+1 40-40.; ");
	ck_assert_uint_eq(tool_slices_task(slices, 0)->counts[0], 3);
	ck_assert_uint_eq(tool_slices_task(slices, 0)->counts[1], 1);
}
END_TEST

/* The sample of a wake-up names the task that wakes, which may be any. */
START_TEST(a_sample_makes_no_task)
{
	executes(100, 10, 0, "command");
	counts(150, 77, 1, 0);
	counts(160, 10, 0, 0);
	exits(200, 10, 0);
	play(10);
	ck_assert_str_eq(ps__buffer_text(&seen), "10 on0+1 100-200.; ");
	ck_assert_uint_eq(tool_slices_task_count(slices), 1);
	ck_assert_uint_eq(tool_slices_foreign(slices, 0), 1);
}
END_TEST

START_TEST(a_number_that_is_given_again_is_another_task)
{
	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	in(120, 11, 1);
	exits(130, 11, 1);
	forks(200, 11, 10, 0);
	in(210, 11, 1);
	exits(220, 11, 1);
	exits(300, 10, 0);
	play(10);
	ck_assert_uint_eq(tool_slices_task_count(slices), 3);
	ck_assert_uint_eq(tool_slices_task(slices, 1)->end_ns, 130);
	ck_assert_uint_eq(tool_slices_task(slices, 2)->begin_ns, 200);
}
END_TEST

START_TEST(a_thread_that_executes_gets_the_first_threads_number)
{
	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	in(120, 11, 1);
	exits(150, 10, 0);
	executes(200, 10, 1, "next");
	exits(300, 10, 1);
	play(10);
	ck_assert_str_eq(ps__buffer_text(&seen),
	                 "11 ready 110-120; 10 on0 100-150.; 11 on1 120-200.; 10 on1 200-300.; ");
	ck_assert_str_eq(tool_slices_task(slices, 2)->name, "next");
}
END_TEST

static void maps(uint64_t time, uint32_t tid, uint32_t cpu)
{
	hear(listener.mmap, at(time, tid, cpu), SIZE_MAX);
}

static void play_mapped(void)
{
	const struct tool_slices_play play = {
	    .end_ns = END_NS, .exec_pid = 10, .has_mappings = true, .visit = write_span};

	ck_assert_int_eq(tool_slices_play(slices, &play), PS_OK);
	check_sums();
}

START_TEST(a_program_whose_code_is_never_mapped_is_hidden)
{
	executes(100, 10, 0, "prog");
	maps(101, 10, 0);
	forks(110, 11, 10, 0);
	in(120, 11, 1);
	executes(130, 11, 1, "su");
	exits(131, 11, 1);
	executes(200, 10, 0, "next");
	maps(201, 10, 0);
	exits(300, 10, 0);
	play_mapped();
	ck_assert(!tool_slices_task(slices, 0)->is_hidden);
	ck_assert(tool_slices_task(slices, 1)->is_hidden);
	ck_assert_str_eq(tool_slices_task(slices, 1)->name, "su");
	ck_assert_str_eq(ps__buffer_text(&seen),
	                 "11 ready 110-120; 11 on1 120-131; 10 on0 100-300.; 11 ? 131-1000; ");
}
END_TEST

START_TEST(a_hidden_task_has_ended_when_another_one_gets_its_number)
{
	executes(100, 10, 0, "prog");
	maps(101, 10, 0);
	forks(110, 11, 10, 0);
	in(120, 11, 1);
	executes(130, 11, 1, "su");
	exits(131, 11, 1);
	forks(200, 11, 10, 0);
	in(210, 11, 1);
	exits(220, 11, 1);
	exits(300, 10, 0);
	play_mapped();
	ck_assert_uint_eq(tool_slices_task_count(slices), 3);
	ck_assert(tool_slices_task(slices, 1)->is_hidden);
	ck_assert_str_eq(ps__buffer_text(&seen),
	                 "11 ready 110-120; 11 on1 120-131; 11 ? 131-200; 11 ready 200-210; "
	                 "11 on1 210-220.; 10 on0 100-300.; ");
	ck_assert_uint_eq(tool_slices_task(slices, 1)->end_ns, 200);
	/* Nothing of it goes on. */
	ck_assert_uint_eq(tool_slices_end_ns(slices), 300);
}
END_TEST

START_TEST(a_number_that_comes_again_without_a_creation_does_not_overlap)
{
	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	in(120, 11, 1);
	exits(130, 11, 1);
	in(200, 11, 1);
	waits(210, 11, 1);
	exits(300, 10, 0);
	play(10);
	const struct tool_task *again = tool_slices_task(slices, 2);
	ck_assert_uint_eq(again->begin_ns, 200);
	ck_assert(!again->was_there);
	ck_assert(again->is_begin_lost);
}
END_TEST

START_TEST(a_task_whose_number_is_given_again_does_not_outlive_the_command)
{
	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	in(120, 11, 1);
	waits(130, 11, 1);
	forks(200, 11, 10, 0);
	in(210, 11, 1);
	exits(220, 11, 1);
	exits(300, 10, 0);
	play(10);
	ck_assert(!tool_slices_task(slices, 1)->is_left);
	ck_assert_uint_eq(tool_slices_task(slices, 1)->end_ns, 200);
}
END_TEST

START_TEST(a_command_that_is_hidden_itself_is_not_known_until_the_end)
{
	executes(100, 10, 0, "su");
	exits(103, 10, 0);
	play_mapped();
	ck_assert(tool_slices_task(slices, 0)->is_hidden);
	ck_assert_str_eq(ps__buffer_text(&seen), "10 on0 100-103; 10 ? 103-1000; ");
	ck_assert_uint_eq(tool_slices_end_ns(slices), END_NS);
}
END_TEST

START_TEST(a_command_that_never_executes_has_no_slices)
{
	const struct tool_slices_play play = {.end_ns = END_NS, .exec_pid = 10};

	in(50, 10, 1);
	ck_assert_int_eq(tool_slices_play(slices, &play), PS_ENOTRUN);
}
END_TEST

static int refuse(const struct tool_span *span, void *context)
{
	(void)span;
	++*(int *)context;
	return -77;
}

START_TEST(the_visitor_ends_the_play)
{
	int calls = 0;
	const struct tool_slices_play play = {.end_ns = END_NS, .visit = refuse, .context = &calls};

	for (uint32_t time = 0; time < 100; time += 10)
		time % 20 ? waits(time, 10, 0) : in(time, 10, 0);
	ck_assert_int_eq(tool_slices_play(slices, &play), -77);
	ck_assert_int_eq(calls, 1);
}
END_TEST

START_TEST(what_a_cpu_counted_is_of_the_task_that_leaves_it)
{
	executes(100, 10, 0, "prog");
	reads(150, 10, 0, 5);
	waits(150, 10, 0);      /* the clock may be too coarse to tell that from the read */
	reads(180, 77, 0, 900); /* of another process */
	reads(190, 0, 0, 901);
	in(200, 10, 1);
	reads(END_NS, TOOL_TID_ON_CPU, 1, 7);
	reads(END_NS, TOOL_TID_ON_CPU, 0, 902);
	check_spans("10 on0+5 0-150; 10 waits 150-200; 10 on1<0+7 200-1000; ");
	ck_assert_uint_eq(tool_slices_task(slices, 0)->counts[0], 12);
}
END_TEST

/* The kernel has taken its number when it leaves the CPU. */
START_TEST(a_task_that_has_ended_has_what_its_cpu_counted_last)
{
	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	in(120, 11, 1);
	exits(200, 11, 1);
	reads(203, 0, 1, 6);
	reads(203, 0, 1, 1);
	reads(300, 0, 1, 900); /* of another task */
	forks(310, 12, 10, 0);
	in(320, 12, 1);
	exits(330, 12, 1);
	in(340, 10, 1);
	reads(350, 0, 1, 901);
	check_spans("11 ready 110-120; 11 on1+7 120-200.; 12 ready 310-320; 12 on1 320-330.; "
	            "10 ? 0-340; 10 on1 340-1000; ");
}
END_TEST

/* A zombie keeps its number until it is waited for. */
START_TEST(a_zombie_has_what_its_cpu_counted_last)
{
	executes(100, 10, 0, "prog");
	exits(200, 10, 0);
	reads(203, 10, 0, 6);
	reads(300, 77, 0, 900);
	check_spans("10 on0+6 0-200.; ");
}
END_TEST

START_TEST(a_task_that_ends_with_the_observation_has_the_last_count)
{
	executes(100, 10, 0, "prog");
	exits(200, 10, 0);
	reads(END_NS, TOOL_TID_ON_CPU, 0, 6);
	check_spans("10 on0+6 0-200.; ");
}
END_TEST

START_TEST(a_task_that_has_ended_has_no_other_tasks_count)
{
	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	in(120, 11, 1);
	exits(200, 11, 1);
	if (_i == 1)
		reads(203, 0, 1, 0);
	reads(300, _i == 1 ? 0 : 77, 1, 900);
	check_spans("11 ready 110-120; 11 on1 120-200.; 10 on0 0-1000; ");
}
END_TEST

START_TEST(a_thread_that_was_there_has_its_first_count)
{
	const struct tool_slices_there there = {.pid = 10, .tid = 10, .name = "a", .read_ns = 1};

	check_ok(tool_slices_note_task(slices, &there));
	reads(20, 10, 2, 4);
	waits(21, 10, 2);
	check_spans("10 on2+4 0-21; 10 waits 21-1000; ");
}
END_TEST

START_TEST(one_that_was_never_switched_has_the_last_count)
{
	const struct tool_slices_there there = {
	    .pid = 10, .tid = 10, .name = "a", .read_ns = 1, .is_runnable = true};

	check_ok(tool_slices_note_task(slices, &there));
	reads(END_NS, TOOL_TID_ON_CPU, 3, 8);
	tool_slices_note_ran(slices, 10, 3, END_NS);
	check_spans("10 on3+8 0-1000; ");
}
END_TEST

START_TEST(lost_switches_of_a_cpu_are_a_hole)
{
	executes(100, 10, 0, "prog");
	tool_slices_note_hole(slices, 0, 150, 250, 3);
	reads(300, 10, 0, 5);
	waits(300, 10, 0);
	check_spans("10 on0 0-150; 10 ? 150-250; 10 on0+5 250-300; 10 waits 300-1000; ");
	ck_assert_uint_eq(tool_slices_hole(slices, 0)->lost, 3);
}
END_TEST

/* One allocation fails: all is as it should be, or that is told. */
static bool run_without(unsigned nth)
{
	const struct tool_slices_play play = {.end_ns = END_NS, .visit = write_span};
	const struct tool_slices_there there = {.tid = 99, .name = "there", .read_ns = 1};

	tool_slices_destroy(slices);
	slices = NULL;
	fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
	if (tool_slices_create(&slices, 1) != PS_OK)
		return false;
	listener = tool_slices_listener(slices);
	int noted = tool_slices_note_task(slices, &there);
	ck_assert(noted == PS_OK || noted == PS_ENOMEM);
	for (uint32_t tid = 100; tid < 200; tid++)
		forks(tid, tid, 10, tid % 4);
	for (uint32_t tid = 100; tid < 200; tid++)
		in(200 + tid, tid, tid % 4);
	executes(450, 100, 0, "prog");
	loses(500, 1);
	int result = tool_slices_play(slices, &play);
	ck_assert(result == PS_OK || result == PS_ENOMEM);
	fake_fail(FAKE_ALLOCATE, 0, 0);
	if (result == PS_OK)
		check_sums();
	return result == PS_OK && noted == PS_OK && !tool_slices_is_full(slices);
}

START_TEST(a_lack_of_memory_is_told)
{
	unsigned nth = 1;

	while (!run_without(nth))
		ck_assert_uint_lt(nth++, 1000);
	ck_assert_uint_gt(nth, 100); /* each task has its counts */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slices");
	TCase *tests = scene_case_of(suite, "slices", setup, teardown);

	tcase_add_test(tests, a_command_begins_with_its_exec_and_ends_with_its_exit);
	tcase_add_test(tests, records_of_two_cpus_are_played_by_time);
	tcase_add_test(tests, what_was_there_before_is_told_by_its_first_record);
	tcase_add_test(tests, a_listed_thread_that_was_created_since_begins_with_its_creation);
	tcase_add_test(tests, events_belong_to_the_slice_in_which_they_happen);
	tcase_add_test(tests, what_a_cpu_counted_is_of_the_task_that_leaves_it);
	tcase_add_test(tests, a_task_that_has_ended_has_what_its_cpu_counted_last);
	tcase_add_test(tests, a_zombie_has_what_its_cpu_counted_last);
	tcase_add_test(tests, a_task_that_ends_with_the_observation_has_the_last_count);
	tcase_add_loop_test(tests, a_task_that_has_ended_has_no_other_tasks_count, 0, 2);
	tcase_add_test(tests, a_thread_that_was_there_has_its_first_count);
	tcase_add_test(tests, one_that_was_never_switched_has_the_last_count);
	tcase_add_test(tests, lost_switches_of_a_cpu_are_a_hole);
	tcase_add_test(tests, a_sample_makes_no_task);
	tcase_add_test(tests, a_number_that_is_given_again_is_another_task);
	tcase_add_test(tests, a_thread_that_executes_gets_the_first_threads_number);
	tcase_add_test(tests, a_program_whose_code_is_never_mapped_is_hidden);
	tcase_add_test(tests, a_hidden_task_has_ended_when_another_one_gets_its_number);
	tcase_add_test(tests, a_number_that_comes_again_without_a_creation_does_not_overlap);
	tcase_add_test(tests, a_task_whose_number_is_given_again_does_not_outlive_the_command);
	tcase_add_test(tests, a_command_that_is_hidden_itself_is_not_known_until_the_end);
	tcase_add_test(tests, a_command_that_never_executes_has_no_slices);
	tcase_add_test(tests, the_visitor_ends_the_play);
	tcase_add_test(tests, a_lack_of_memory_is_told);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Lost records of switches: nothing is guessed of the time in which they were written. */
#include "support/small.h"
#include "support/unmarked.h"
#include "test_slices.h"

/* CPU 0 loses what it wrote between 200 and 400. */
static void have_hole(void)
{
	executes(100, 10, 0, "prog");
	forks(200, 99, 10, 0);
	loses(400, 0);
}

static void check_hole(const char *wanted)
{
	play(10);
	const char *text = ps__buffer_text(&seen);
	/* Without the other task, which is never heard of. */
	char own[512] = "";
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, ";") + 2;
		if (strncmp(at, "99", 2) != 0)
			strncat(own, at, length);
		at += length;
	}
	ck_assert_str_eq(own, wanted);
	ck_assert_uint_eq(tool_slices_hole_count(slices), 1);
	ck_assert_uint_eq(tool_slices_hole(slices, 0)->begin_ns, 200);
	ck_assert_uint_eq(tool_slices_hole(slices, 0)->lost, 7);
}

START_TEST(a_hole_on_its_cpu_leaves_a_task_unknown_until_it_is_heard_of)
{
	have_hole();
	waits(500, 10, 0);
	check_hole("10 on0 100-200; 10 ? 200-400; 10 on0 400-500; 10 waits 500-1000; ");
}
END_TEST

START_TEST(one_that_comes_after_the_hole_was_off_since)
{
	have_hole();
	in(500, 10, 0);
	check_hole("10 on0 100-200; 10 ? 200-400; 10 off 400-500; 10 on0 500-1000; ");
}
END_TEST

START_TEST(one_that_leaves_another_cpu_was_off_or_on_until_then)
{
	have_hole();
	waits(500, 10, 1);
	check_hole("10 on0 100-200; 10 ? 200-500; 10 waits 500-1000; ");
}
END_TEST

START_TEST(one_that_is_not_heard_of_stays_unknown)
{
	have_hole();
	check_hole("10 on0 100-200; 10 ? 200-1000; ");
}
END_TEST

START_TEST(one_that_was_off_may_have_run_in_the_hole)
{
	executes(100, 10, 1, "prog");
	waits(150, 10, 1);
	in(600, 10, 1);
	forks(200, 99, 10, 0);
	loses(400, 0);
	check_hole("10 on1 100-150; 10 waits 150-200; 10 ? 200-400; 10 off 400-600; "
	           "10 on1 600-1000; ");
}
END_TEST

START_TEST(one_that_was_on_another_cpu_is_known)
{
	executes(100, 10, 1, "prog");
	waits(450, 10, 1);
	forks(200, 99, 10, 0);
	loses(400, 0);
	check_hole("10 on1 100-450; 10 waits 450-1000; ");
}
END_TEST

START_TEST(one_whose_creation_was_lost_begins_where_it_is_known)
{
	have_hole();
	waits(500, 11, 0);
	in(600, 12, 1);
	play(10);
	const struct tool_task *first = tool_slices_task(slices, 2);
	ck_assert(first->is_begin_lost && first->tid == 11);
	ck_assert_uint_eq(first->begin_ns, 400);
	ck_assert_uint_eq(first->sums_ns[TOOL_SPAN_ON], 100);
	ck_assert_uint_eq(tool_slices_task(slices, 3)->begin_ns, 600);
}
END_TEST

START_TEST(a_loss_that_no_record_tells_is_a_hole_up_to_the_end)
{
	executes(100, 10, 0, "prog");
	forks(200, 11, 10, 0);
	waits(250, 10, 0);
	tool_slices_note_lost(slices, 3);
	play(10);
	ck_assert_str_eq(ps__buffer_text(&seen),
	                 "10 on0 100-250; 10 ? 250-1000; 11 ready 200-250; 11 ? 250-1000; ");
}
END_TEST

START_TEST(a_ring_that_is_known_to_the_end_has_no_hole_there)
{
	executes(100, 10, 0, "prog");
	reads(1000, 10, 0, 5);
	waits(250, 10, 1);
	tool_slices_note_lost(slices, 3);
	play(10);
	ck_assert_uint_eq(tool_slices_hole_count(slices), 2);
	for (size_t i = 0; i < tool_slices_hole_count(slices); i++)
		ck_assert_uint_eq(tool_slices_hole(slices, i)->end_ns, 1000);
}
END_TEST

/* The counters' ring is read after the session's, so its records may be newer than the loss. */
START_TEST(a_loss_begins_with_the_newest_record_of_its_own_ring)
{
	executes(100, 10, 0, "prog");
	forks(200, 99, 10, 0);
	reads(300, 10, 0, 5);
	loses(400, 0);
	in(500, 10, 0);
	check_hole("10 on0 100-200; 10 ? 200-300; 10 on0+5 300-300; 10 ? 300-400; "
	           "10 off 400-500; 10 on0 500-1000; ");
}
END_TEST

START_TEST(a_hole_that_begins_in_another_one_ends_nothing_known)
{
	executes(100, 10, 0, "prog");
	waits(150, 10, 0);
	forks(200, 99, 10, 0);
	reads(250, 10, 0, 5);
	tool_slices_note_hole(slices, 0, 300, 350, 7);
	loses(400, 0);
	waits(500, 10, 0);
	play(10);
	ck_assert_str_eq(ps__buffer_text(&seen),
	                 "10 on0 100-150; 10 waits 150-200; 10 ? 200-250; 10 on0+5 250-250; "
	                 "10 ? 250-400; 10 on0 400-500; 10 waits 500-1000; 99 ? 200-1000; ");
}
END_TEST

START_TEST(one_in_whose_place_another_comes_is_not_known_any_more)
{
	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	counts(120, 10, 0, 0);
	in(200, 11, 0); /* what moved 10 away was lost, and not told */
	exits(250, 11, 0);
	in(300, 10, 0);
	exits(400, 10, 0);
	play(10);
	ck_assert_str_eq(ps__buffer_text(&seen),
	                 "11 ready 110-200; 10 on0+1 100-100; 11 on0 200-250.; 10 ? 100-300; "
	                 "10 on0 300-400.; ");
}
END_TEST

START_TEST(without_memory_the_rest_is_a_hole)
{
	executes(100, 10, 0, "prog");
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	in(150, 11, 2); /* needs a stream */
	waits(200, 10, 0);
	ck_assert(tool_slices_is_full(slices));
	play(10);
	ck_assert_str_eq(ps__buffer_text(&seen), "10 ? 100-1000; ");
}
END_TEST

/* A schedule that is known, of which some records are lost: what is told of it must be true. */
#define TASKS  6
#define CPUS   3
#define STEPS  400
#define NOBODY UINT32_MAX

struct truth {
	int cpu_of[TASKS][STEPS]; /* in each step, from its beginning on; -1: off */
	bool is_lossy;
	uint64_t last_ns[CPUS]; /* up to which the CPU's spans and holes were told */
	size_t unknown;
};

static unsigned draw(uint64_t *state, unsigned below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*state >> 33) % below;
}

static int check_span(const struct tool_span *span, void *context)
{
	struct truth *truth = context;

	if (span->kind == TOOL_SPAN_ON) {
		ck_assert_uint_le(truth->last_ns[span->cpu], span->begin_ns);
		truth->last_ns[span->cpu] = span->end_ns;
	}
	for (uint64_t step = span->begin_ns; step < span->end_ns && step < STEPS; step++) {
		int cpu = truth->cpu_of[span->task->tid - 1][step];
		if (span->kind == TOOL_SPAN_ON)
			ck_assert_int_eq(cpu, span->cpu);
		else if (span->kind != TOOL_SPAN_UNKNOWN)
			ck_assert_int_eq(cpu, -1);
		truth->unknown += span->kind == TOOL_SPAN_UNKNOWN;
	}
	return 0;
}

static int check_hole_order(const struct tool_hole *hole, void *context)
{
	struct truth *truth = context;

	ck_assert_uint_le(truth->last_ns[hole->cpu], hole->begin_ns);
	truth->last_ns[hole->cpu] = hole->end_ns;
	return 0;
}

/* One record a step, so that each has a time of its own. */
static void schedule(struct truth *truth, uint64_t *state)
{
	uint32_t on[CPUS] = {NOBODY, NOBODY, NOBODY};
	bool is_lost[CPUS] = {false};
	int now[TASKS];

	for (size_t task = 0; task < TASKS; task++)
		now[task] = -1;
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t cpu = draw(state, CPUS), task = draw(state, TASKS);
		bool comes = on[cpu] == NOBODY && now[task] < 0;
		bool leaves = on[cpu] != NOBODY;
		if (comes || leaves) {
			uint32_t tid = (comes ? task : on[cpu]) + 1;
			/* A ring that is full stays so for a while. */
			bool was_lost = is_lost[cpu];
			is_lost[cpu] = truth->is_lossy && step + 40 < STEPS &&
			               draw(state, 10) < (was_lost ? 7 : 1);
			if (was_lost && !is_lost[cpu])
				loses(step, cpu);
			if (!is_lost[cpu])
				comes ? in(step, tid, cpu) : waits(step, tid, cpu);
			now[tid - 1] = comes ? (int)cpu : -1;
			on[cpu] = comes ? task : NOBODY;
		}
		for (size_t each = 0; each < TASKS; each++)
			truth->cpu_of[each][step] = now[each];
	}
	tool_slices_note_lost(slices, is_lost[0] || is_lost[1] || is_lost[2] ? 1000000 : 0);
}

START_TEST(what_is_told_of_a_random_schedule_is_true)
{
	static struct truth truth;
	unsigned rounds = (unsigned)ps_test_serial_size(50, 10);
	size_t unknown = 0;
	uint64_t state = (uint64_t)_i + 1;

	for (unsigned round = 0; round < rounds; round++) {
		const struct tool_slices_play play = {.end_ns = STEPS,
		                                      .visit = check_span,
		                                      .visit_hole = check_hole_order,
		                                      .context = &truth};
		truth = (struct truth){.is_lossy = _i > 0};
		schedule(&truth, &state);
		ck_assert_int_eq(tool_slices_play(slices, &play), PS_OK);
		check_sums();
		unknown += truth.unknown;
		ck_assert_uint_lt(truth.unknown, TASKS * STEPS);
		tool_slices_destroy(slices);
		check_ok(tool_slices_create(&slices, 0));
		listener = tool_slices_listener(slices);
	}
	ck_assert_int_eq(unknown > 0, _i > 0);
}
END_TEST

static int write_hole(const struct tool_hole *hole, void *context)
{
	(void)context;
	ps__buffer_add(&seen, "%d ? %d-%d; ", hole->cpu, (int)hole->begin_ns, (int)hole->end_ns);
	return 0;
}

/* The rings of the session and of the counters each tell a loss of the same time. */
START_TEST(holes_of_a_cpu_that_overlap_are_visited_as_one)
{
	const struct tool_slices_play play = {.end_ns = END_NS, .visit_hole = write_hole};

	in(100, 10, 0);
	in(100, 11, 1);
	loses(400, 0);
	loses(300, 1);
	tool_slices_note_hole(slices, 0, 150, 300, 3);
	tool_slices_note_hole(slices, 0, 350, 500, 3);
	ck_assert_int_eq(tool_slices_play(slices, &play), PS_OK);
	ck_assert_str_eq(ps__buffer_text(&seen), "0 ? 100-400; 1 ? 100-300; 0 ? 400-500; ");
	ck_assert_uint_eq(tool_slices_hole_count(slices), 4);
	ck_assert_uint_eq(tool_slices_hole(slices, 3)->begin_ns, 350);
}
END_TEST

static void check_says(uint64_t lost, const char *wanted)
{
	struct ps__buffer text = {0};

	tool_slices_say_holes(slices, lost, &text);
	ck_assert_str_eq(ps__buffer_text(&text), wanted);
	ps__buffer_clear(&text);
}

START_TEST(a_sentence_tells_why_there_are_holes)
{
	in(10, 10, 0);
	loses(500, 0);
	play(0);
	check_says(1, "1 hole: 1 record was lost. Times in them are not known, and slices, "
	              "migrations and counts are at least so many; a larger --ring loses less.");
	check_says(0, "1 hole: records were lost. Times in them are not known, and slices, "
	              "migrations and counts are at least so many; a larger --ring loses less.");
}
END_TEST

START_TEST(a_sentence_tells_that_memory_was_used_up)
{
	in(10, 10, 0);
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	in(20, 10, 7);
	fake_fail(FAKE_ALLOCATE, 0, 0);
	play(0);
	ck_assert(tool_slices_is_full(slices));
	check_says(0,
	           "1 hole: the memory for records was used up. Times in them are not known, and "
	           "slices, migrations and counts are at least so many; a larger --memory keeps "
	           "more, 32 bytes for each record.");
}
END_TEST

/* A MiB has 32768 records. CPU 11 has a quarter of them, CPU 10 the rest. */
START_TEST(records_take_no_more_memory_than_they_may)
{
	struct tool_slices_play play = {.visit = write_span};

	tool_slices_limit(slices, 1);
	for (uint64_t turn = 0; turn < 4096; turn++) {
		in(2 * turn, 8, 11);
		waits(2 * turn + 1, 8, 11);
	}
	for (uint64_t turn = 0; turn < 12288; turn++) {
		in(2 * turn, 7, 10);
		waits(2 * turn + 1, 7, 10);
	}
	ck_assert(!tool_slices_is_full(slices));
	in(30000, 7, 10);
	ck_assert(tool_slices_is_full(slices));
	play.end_ns = 30000;
	ck_assert_int_eq(tool_slices_play(slices, &play), PS_OK);
	ck_assert_uint_eq(tool_slices_task_count(slices), 2);
	ck_assert_uint_eq(tool_slices_task(slices, 0)->sums_ns[TOOL_SPAN_ON] +
	                      tool_slices_task(slices, 1)->sums_ns[TOOL_SPAN_ON],
	                  4096 + 12288);
}
END_TEST

/* The first thread of the process had ended before the observation. _i: records were lost. Then the
 * second thread may have ended in the hole, and the first one have executed the program. */
START_TEST(a_program_of_another_thread_begins_with_its_exec)
{
	const struct tool_slices_there there = {.pid = 10, .tid = 11, .name = "worker"};

	check_ok(tool_slices_note_task(slices, &there));
	in(30, 11, 0);
	if (_i)
		loses(60, 1);
	executes(100, 10, 0, "next");
	exits(300, 10, 0);
	play(0);
	ck_assert_uint_eq(tool_slices_task_count(slices), 2);
	ck_assert_uint_eq(tool_slices_task(slices, 0)->end_ns, 100);
	ck_assert_uint_eq(tool_slices_task(slices, 1)->begin_ns, 100);
	ck_assert_int_eq(tool_slices_task(slices, 1)->was_there, false);
	ck_assert_int_eq(tool_slices_task(slices, 1)->is_begin_lost, _i);
	ck_assert_uint_eq(tool_slices_task(slices, 1)->sums_ns[TOOL_SPAN_ON], 200);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slice_holes");
	TCase *tests = scene_case_of(suite, "slice_holes", setup, teardown);

	tcase_add_test(tests, a_hole_on_its_cpu_leaves_a_task_unknown_until_it_is_heard_of);
	tcase_add_test(tests, one_that_comes_after_the_hole_was_off_since);
	tcase_add_test(tests, one_that_leaves_another_cpu_was_off_or_on_until_then);
	tcase_add_test(tests, one_that_is_not_heard_of_stays_unknown);
	tcase_add_test(tests, one_that_was_off_may_have_run_in_the_hole);
	tcase_add_test(tests, one_that_was_on_another_cpu_is_known);
	tcase_add_test(tests, one_whose_creation_was_lost_begins_where_it_is_known);
	tcase_add_test(tests, a_loss_that_no_record_tells_is_a_hole_up_to_the_end);
	tcase_add_test(tests, a_ring_that_is_known_to_the_end_has_no_hole_there);
	tcase_add_test(tests, a_loss_begins_with_the_newest_record_of_its_own_ring);
	tcase_add_test(tests, a_hole_that_begins_in_another_one_ends_nothing_known);
	tcase_add_test(tests, one_in_whose_place_another_comes_is_not_known_any_more);
	tcase_add_loop_test(tests, a_program_of_another_thread_begins_with_its_exec, 0, 2);
	tcase_add_test(tests, without_memory_the_rest_is_a_hole);
	tcase_add_loop_test(tests, what_is_told_of_a_random_schedule_is_true, 0, 4);
	tcase_add_test(tests, holes_of_a_cpu_that_overlap_are_visited_as_one);
	tcase_add_test(tests, a_sentence_tells_why_there_are_holes);
	tcase_add_test(tests, a_sentence_tells_that_memory_was_used_up);
	tcase_add_test(tests, records_take_no_more_memory_than_they_may);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of perfsage timeline for 2 to 512 hardware threads on screens of 60 to 200 columns,
 * against golden files timeline_*.txt: the machine does not decide its length, it is no wider than
 * the screen, and it names what it leaves out.
 */
#include "support/golden.h"
#include "support/machines.h"
#include "support/scene.h"
#include "tools/timeline.h"

#include <linux/perf_event.h>

#define MS         UINT64_C(1000000)
#define MOST_LINES 62

static struct timeline timeline;

static void hear(ps_session_hear *function, struct ps_record record)
{
	const struct ps_session_record heard = {.record = &record, .event = SIZE_MAX};

	function(tool_slices_listener(timeline.slices).context, &heard);
}

/* A task on each hardware thread; it is preempted once, and goes on elsewhere. */
static void run_task(const struct ps_listener *listener, uint32_t cpu, uint32_t cpus)
{
	uint64_t begin = 1000 * MS + cpu * MS / 8, turn = (3 + cpu * 7 % 16) * MS;
	struct ps_record record = {
	    .pid = 100, .tid = 100 + cpu, .cpu = cpu, .time = begin, .text = "worker"};

	hear(listener->comm, record);
	hear(listener->switched, record);
	record.time += turn;
	record.misc = PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	hear(listener->switched, record);
	record.time = 1040 * MS + cpu * MS / 8;
	record.cpu = (cpu + 1) % cpus;
	record.misc = 0;
	hear(listener->switched, record);
	record.time += turn / 2;
	record.misc = PERF_RECORD_MISC_SWITCH_OUT;
	hear(listener->switched, record);
}

static int add_span(const struct tool_span *span, void *context)
{
	(void)context;
	return timeline_sums_add(&timeline.sums, span);
}

static void record(int cpus, long long rows)
{
	const struct tool_slices_play play = {
	    .begin_ns = 1000 * MS, .end_ns = 1200 * MS, .visit = add_span};

	timeline = (struct timeline){.options = {.rows = rows}};
	check_ok(tool_slices_create(&timeline.slices, 0));
	const struct ps_listener listener = tool_slices_listener(timeline.slices);
	check_ok(timeline_sums_create(&timeline.sums, (size_t)rows));
	for (int cpu = 0; cpu < cpus; cpu++)
		run_task(&listener, (uint32_t)cpu, (uint32_t)cpus);
	check_ok(tool_slices_play(timeline.slices, &play));
	timeline_sums_close(&timeline.sums);
}

static const char *shown(size_t width)
{
	timeline.screen.width = width;
	ps__buffer_restart(&timeline.text);
	timeline_text_add_sums(&timeline);
	return ps__buffer_text(&timeline.text);
}

static void end(void)
{
	ps__buffer_clear(&timeline.text);
	timeline_sums_clear(&timeline.sums);
	tool_slices_destroy(timeline.slices);
}

START_TEST(the_size_of_the_machine_does_not_decide_the_length)
{
	FILE *stream = golden_open();
	char file[32];

	record(machines[_i].cpus, 10);
	for (size_t i = 0; i < WIDTHS; i++) {
		size_t lines = 0;
		const char *text = shown(machine_widths[i]);
		fprintf(stream, "%zu columns:\n%s\n", machine_widths[i], text);
		for (size_t length; *text; text += length + 1, lines++) {
			length = strcspn(text, "\n");
			ck_assert_uint_le(length, machine_widths[i]);
		}
		ck_assert_uint_le(lines, MOST_LINES);
	}
	snprintf(file, sizeof file, "timeline_%d.txt", machines[_i].cpus);
	golden_check_file(stream, file);
	end();
}
END_TEST

START_TEST(rows_shows_all_hardware_threads)
{
	char name[16];

	record(256, 256);
	const char *text = shown(0);
	for (int cpu = 0; cpu < 256; cpu++) {
		snprintf(name, sizeof name, "\nCPU %d ", cpu);
		ck_assert_ptr_nonnull(strstr(text, name));
	}
	ck_assert_ptr_null(strstr(text, "more hardware thread"));
	end();
}
END_TEST

START_TEST(the_other_hardware_threads_are_counted)
{
	record(17, 1);
	ck_assert_ptr_nonnull(strstr(shown(0), "\nand 1 more hardware thread, each "));
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timeline_text");
	TCase *tests = scene_case(suite, "timeline_text");

	tcase_add_loop_test(tests, the_size_of_the_machine_does_not_decide_the_length, 0, MACHINES);
	tcase_add_test(tests, rows_shows_all_hardware_threads);
	tcase_add_test(tests, the_other_hardware_threads_are_counted);
	return scene_run(suite);
}

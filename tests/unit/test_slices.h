/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of switches as a session gives them, and the spans that come of them, as text. */
#ifndef PS_TESTS_TEST_SLICES_H
#define PS_TESTS_TEST_SLICES_H

#include "base/os.h"
#include "output/buffer.h"
#include "support/scene.h"
#include "tools/slices.h"

#include <errno.h>
#include <linux/perf_event.h>

#define MISC_PREEMPTED (PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
#define END_NS         1000

static struct tool_slices *slices;
static struct ps_listener listener;
static struct ps__buffer seen;

static inline void setup(void)
{
	scene_setup();
	check_ok(tool_slices_create(&slices, 2));
	listener = tool_slices_listener(slices);
}

static inline void teardown(void)
{
	tool_slices_destroy(slices);
	ps__buffer_clear(&seen);
	scene_teardown();
}

static inline void hear(ps_session_hear *function, struct ps_record record, size_t event)
{
	const struct ps_session_record heard = {.record = &record, .event = event, .period = 1};

	function(listener.context, &heard);
}

static inline struct ps_record at(uint64_t time, uint32_t tid, uint32_t cpu)
{
	return (struct ps_record){.time = time, .pid = 10, .tid = tid, .cpu = cpu, .text = ""};
}

static inline void in(uint64_t time, uint32_t tid, uint32_t cpu)
{
	hear(listener.switched, at(time, tid, cpu), SIZE_MAX);
}

static inline void out(uint64_t time, uint32_t tid, uint32_t cpu, uint16_t misc)
{
	struct ps_record record = at(time, tid, cpu);

	record.misc = misc;
	hear(listener.switched, record, SIZE_MAX);
}

static inline void waits(uint64_t time, uint32_t tid, uint32_t cpu)
{
	out(time, tid, cpu, PERF_RECORD_MISC_SWITCH_OUT);
}

static inline void forks(uint64_t time, uint32_t tid, uint32_t by, uint32_t cpu)
{
	struct ps_record record = at(time, tid, cpu);

	record.body.other.tid = by;
	hear(listener.fork, record, SIZE_MAX);
}

static inline void exits(uint64_t time, uint32_t tid, uint32_t cpu)
{
	hear(listener.exit, at(time, tid, cpu), SIZE_MAX);
}

static inline void executes(uint64_t time, uint32_t tid, uint32_t cpu, const char *name)
{
	struct ps_record record = at(time, tid, cpu);

	record.misc = PERF_RECORD_MISC_COMM_EXEC;
	record.text = name;
	hear(listener.comm, record, SIZE_MAX);
}

static inline void counts(uint64_t time, uint32_t tid, uint32_t cpu, size_t event)
{
	hear(listener.sample, at(time, tid, cpu), event);
}

/* Counted on the CPU since its last switch, read when the task left it. */
static inline void reads(uint64_t time, uint32_t tid, int cpu, uint64_t count)
{
	const struct tool_slices_read read = {
	    .time_ns = time, .tid = tid, .cpu = cpu, .count = count};

	tool_slices_note_read(slices, &read);
}

static inline void loses(uint64_t time, uint32_t cpu)
{
	struct ps_record record = at(time, 0, cpu);

	record.body.lost = 7;
	hear(listener.lost, record, SIZE_MAX);
}

/* "10 on0 0-100" for each span, with "<1" behind a migration from 1 and "+3" for counts. */
static inline int write_span(const struct tool_span *span, void *context)
{
	static const char *const kinds[] = {"on", "waits", "ready", "off", "?"};
	(void)context;

	ps__buffer_add(&seen, "%u %s", span->task->tid, kinds[span->kind]);
	if (span->kind == TOOL_SPAN_ON)
		ps__buffer_add(&seen, "%d", span->cpu);
	if (span->from_cpu >= 0)
		ps__buffer_add(&seen, "<%d", span->from_cpu);
	if (span->counts && span->counts[0])
		ps__buffer_add(&seen, "+%d", (int)span->counts[0]);
	ps__buffer_add(&seen, " %d-%d%s; ", (int)span->begin_ns, (int)span->end_ns,
	               span->end == TOOL_END_EXIT ? "." : "");
	return 0;
}

static inline void check_sums(void)
{
	for (size_t i = 0; i < tool_slices_task_count(slices); i++) {
		const struct tool_task *task = tool_slices_task(slices, i);
		uint64_t sum = 0;
		for (size_t kind = 0; kind < TOOL_SPAN_KINDS; kind++)
			sum += task->sums_ns[kind];
		ck_assert_uint_eq(sum, task->end_ns - task->begin_ns);
		ck_assert_uint_eq(task->index, i);
	}
}

static inline void play(pid_t exec_pid)
{
	const struct tool_slices_play play = {
	    .end_ns = END_NS, .exec_pid = exec_pid, .visit = write_span};

	ck_assert_int_eq(tool_slices_play(slices, &play), PS_OK);
	check_sums();
}

static inline void check_spans(const char *wanted)
{
	play(0);
	ck_assert_str_eq(ps__buffer_text(&seen), wanted);
}

#endif

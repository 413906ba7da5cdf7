/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that a process had before it was observed, read from /proc: their names, and their state
 * until their first record. */
#include "tools/timeline.h"

#include "base/os.h"
#include "base/vector.h"
#include "sample/session.h"

#include <inttypes.h>
#include <string.h>

#define STAT_BYTES 1152
#define NAME_BYTES 64

struct timeline_there {
	pid_t tid;
	bool is_runnable;
	uint64_t ran_ns; /* time on CPUs before the observation; 0: unknown */
};

/* Returns the time that the thread was on a CPU; 0 if the kernel doesn't tell. */
static uint64_t there_read_ran(long long pid, pid_t tid)
{
	char path[64], text[128];
	uint64_t ran_ns = 0;

	snprintf(path, sizeof path, "/proc/%lld/task/%d/schedstat", pid, (int)tid);
	if (ps__os_read_file(path, text, sizeof text) < 0 || sscanf(text, "%" SCNu64, &ran_ns) != 1)
		return 0;
	return ran_ns;
}

static bool there_read_stat(long long pid, pid_t tid, char text[STAT_BYTES])
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%lld/task/%d/stat", pid, (int)tid);
	return ps__os_read_file(path, text, STAT_BYTES) >= 0;
}

/* Parses "12 (name) S ...". The name may contain any characters. */
static bool there_parse_stat(const char *text, char name[NAME_BYTES], char *state)
{
	const char *begin = strchr(text, '('), *end = strrchr(text, ')');

	if (!begin || !end || end < begin || end[1] != ' ' || !end[2])
		return false;
	snprintf(name, NAME_BYTES, "%.*s", (int)(end - begin - 1), begin + 1);
	*state = end[2];
	return true;
}

static int there_note(struct timeline *timeline, pid_t tid)
{
	char text[STAT_BYTES], name[NAME_BYTES], state;
	long long pid = timeline->options.pid;
	uint64_t ran_ns = there_read_ran(pid, tid);

	/* Skip a thread that can't be read. It has ended, or its records will show it. */
	if (!there_read_stat(pid, tid, text) || !there_parse_stat(text, name, &state))
		return 0;
	/* A process's first thread keeps its place in the list after its end, while others go on.
	 * It ended before the observation, or its EXIT record will show it. */
	if (state == 'Z' || state == 'X')
		return 0;
	if (!PS__VECTOR_GROW(&timeline->there.list, timeline->there.count, &timeline->there.room))
		return tool_complain("out of memory");
	timeline->there.list[timeline->there.count++] =
	    (struct timeline_there){.tid = tid, .is_runnable = state == 'R', .ran_ns = ran_ns};
	const struct tool_slices_there there = {.pid = (uint32_t)pid,
	                                        .tid = (uint32_t)tid,
	                                        .name = name,
	                                        .is_runnable = state == 'R',
	                                        .begin_ns = timeline->begin_ns,
	                                        .read_ns = ps__os_now_ns()};
	return tool_slices_note_task(timeline->slices, &there) == PS_OK ? 0
	                                                                : tool_complain_detail();
}

int timeline_there_read(struct timeline *timeline)
{
	const struct ps__session_lists *lists = &timeline->session->lists;

	for (size_t i = 0; i < lists->task_count; i++) {
		if (there_note(timeline, lists->tasks[i].tid) < 0)
			return -1;
	}
	return 0;
}

/* Notes threads that were runnable at the beginning and have run since. Such a thread without any
 * record was on its CPU all the time. */
void timeline_there_read_end(struct timeline *timeline)
{
	char text[STAT_BYTES];

	for (size_t i = 0; i < timeline->there.count; i++) {
		const struct timeline_there *there = &timeline->there.list[i];
		long long pid = timeline->options.pid;
		if (!there->is_runnable || there_read_ran(pid, there->tid) <= there->ran_ns ||
		    !there_read_stat(pid, there->tid, text))
			continue;
		int cpu = ps__task_parse_cpu(text, strlen(text));
		if (cpu >= 0)
			tool_slices_note_ran(timeline->slices, (uint32_t)there->tid, cpu,
			                     timeline->end_ns);
	}
}

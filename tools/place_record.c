/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the command of perfsage place with a session that records which task runs where. */
#include "base/os.h"
#include "tools/command.h"
#include "tools/place.h"
#include "tools/terminal.h"

#include <perfsage/error.h>
#include <perfsage/session.h>

/* Intervals for reading the rings. The first ones are short, so that masks of short tasks can be
 * read. They stay short while MANY_RECORDS come at a time: a ring has room for about 8000. */
#define FIRST_TICK_NS   1000000u
#define LONGEST_TICK_NS 20000000u
#define MANY_RECORDS    1000

struct recorder {
	struct place_run *run;
	struct ps_session *session;
	struct ps_listener slices; /* the listener of slices; gets all records from recorder_hear */
	size_t records;            /* number since the last tick */
	int result;                /* the first failure of reading masks */
};

static void recorder_hear(void *context, const struct ps_session_record *heard)
{
	struct recorder *recorder = context;
	const struct ps_listener *slices = &recorder->slices;
	uint32_t type = heard->record->type;
	ps_session_hear *hear = type == PS_RECORD_SWITCH ? slices->switched
	                        : type == PS_RECORD_FORK ? slices->fork
	                        : type == PS_RECORD_EXIT ? slices->exit
	                        : type == PS_RECORD_COMM ? slices->comm
	                        : type == PS_RECORD_LOST || type == PS_RECORD_LOST_SAMPLES
	                            ? slices->lost
	                            : slices->mmap;

	recorder->records++;
	hear(slices->context, heard);
	/* Masks of tasks are useless once memory for the records has run out. */
	if (recorder->result == PS_OK && !tool_slices_is_full(recorder->run->slices))
		recorder->result = place_masks_hear(&recorder->run->masks, heard->record);
}

/* Starts the session for a waiting child. Its other threads and child processes inherit the
 * events. */
static int recorder_start(struct recorder *recorder, pid_t pid)
{
	struct ps_listener listener = {.size = sizeof listener,
	                               .context = recorder,
	                               .mmap = recorder_hear,
	                               .comm = recorder_hear,
	                               .fork = recorder_hear,
	                               .exit = recorder_hear,
	                               .switched = recorder_hear,
	                               .lost = recorder_hear};
	struct ps_session_options options = {.size = sizeof options,
	                                     .listener = &listener,
	                                     .flags = PS_SESSION_SWITCHES | PS_SESSION_MAPPINGS};

	if (tool_slices_create(&recorder->run->slices, 0) != PS_OK)
		return tool_complain_detail();
	tool_slices_limit(recorder->run->slices, (size_t)recorder->run->memory_mib);
	recorder->slices = tool_slices_listener(recorder->run->slices);
	if (place_masks_begin(&recorder->run->masks, (uint32_t)pid, ps__os_now_ns()) != PS_OK ||
	    ps_session_create(&recorder->session, pid, &options) != PS_OK)
		return tool_complain_detail();
	int code = ps_session_start(recorder->session);
	if (code == PS_PARTIAL)
		tool_complain_detail();
	return code == PS_OK || code == PS_PARTIAL ? 0 : tool_complain_detail();
}

/* Reads the available records. Returns -1 on failure, with ps_error_detail. */
static int recorder_poll(struct recorder *recorder)
{
	int result = ps_session_poll(recorder->session, 0);

	if (recorder->result != PS_OK)
		return -1;
	return result == PS_OK || result == PS_ENOTRUN ? 0 : -1;
}

static int recorder_look(struct recorder *recorder)
{
	struct place_run *run = recorder->run;

	if (tool_slices_is_full(run->slices))
		return 0;
	return place_masks_look(&run->masks, ps__os_now_ns()) == PS_OK ? 0 : -1;
}

static uint64_t recorder_next_tick(struct recorder *recorder, uint64_t tick_ns)
{
	bool are_many = recorder->records > MANY_RECORDS;

	recorder->records = 0;
	tick_ns = are_many ? tick_ns / 2 : tick_ns + tick_ns / 8;
	if (tick_ns < FIRST_TICK_NS)
		return FIRST_TICK_NS;
	return tick_ns > LONGEST_TICK_NS ? LONGEST_TICK_NS : tick_ns;
}

/* Reads records until the command ends. A failure to record is reported at once; the command goes
 * on. */
static void recorder_wait(struct recorder *recorder, struct tool_watcher *watcher, bool *has_failed)
{
	uint64_t tick_ns = FIRST_TICK_NS;

	*has_failed = false;
	while (tool_watcher_wait(watcher, ps__os_now_ns() + tick_ns) != TOOL_WAKEUP_COMMAND) {
		if (*has_failed)
			continue;
		*has_failed = recorder_poll(recorder) < 0 || recorder_look(recorder) < 0;
		if (*has_failed)
			tool_complain_detail();
		tick_ns = recorder_next_tick(recorder, tick_ns);
	}
}

/* Called when the command has ended: reads the remaining records and plays all. */
static int recorder_finish(struct recorder *recorder, pid_t pid, uint64_t end_ns)
{
	struct ps_session_stats stats = {.size = sizeof stats};
	struct place_run *run = recorder->run;

	if (recorder_poll(recorder) < 0 || ps_session_stats(recorder->session, &stats) != PS_OK)
		return tool_complain_detail();
	tool_slices_complain_full(run->slices);
	run->lost = stats.lost;
	tool_slices_note_lost(run->slices, stats.lost);
	run->pid = pid;
	return place_spans_sum_up(run, pid, end_ns) == PS_OK ? 0 : tool_complain_detail();
}

static int recorder_run(struct recorder *recorder, struct tool_watcher *watcher,
                        struct tool_launch *launch, int *status)
{
	struct place_run *run = recorder->run;
	bool has_failed;

	*status = tool_launch_go(launch, run->command, watcher);
	if (*status != TOOL_OK)
		return -1;
	recorder_wait(recorder, watcher, &has_failed);
	uint64_t end_ns = ps__os_now_ns();
	run->exit_status = tool_launch_status(watcher->wait_status);
	*status = run->exit_status == TOOL_OK ? TOOL_FAILED : run->exit_status;
	return has_failed ? -1 : recorder_finish(recorder, launch->pid, end_ns);
}

int place_record_run(struct place_run *run, struct tool_watcher *watcher, int *status)
{
	struct recorder recorder = {.run = run};
	struct tool_launch launch;
	int result = -1;

	*status = TOOL_FAILED;
	if (tool_launch_create(&launch, run->command, watcher) < 0)
		return -1;
	if (recorder_start(&recorder, launch.pid) < 0)
		tool_launch_cancel(&launch);
	else
		result = recorder_run(&recorder, watcher, &launch, status);
	ps_session_destroy(recorder.session);
	return result;
}

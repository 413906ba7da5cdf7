/* SPDX-License-Identifier: BSD-3-Clause */
/* Records for perfsage timeline: opens a session for the command or process, and reads its rings
 * until the end. */
#include "tools/timeline.h"

#include "base/os.h"
#include "tools/command.h"

/* Interval for reading the rings. A ring of 512 KiB has room for 13,000 switches. */
#define TICK_NS 20000000u

static int open_session(struct timeline *timeline, pid_t pid)
{
	const struct ps_listener listener = tool_slices_listener(timeline->slices);
	const struct ps_session_options options = {
	    .size = sizeof options,
	    .listener = &listener,
	    .flags = PS_SESSION_SWITCHES | PS_SESSION_MAPPINGS,
	    .ring_bytes = (size_t)timeline->options.ring_kib << 10};

	tool_slices_limit(timeline->slices, (size_t)timeline->options.memory_mib);
	if (ps_session_create(&timeline->session, pid, &options) != PS_OK)
		return tool_complain_detail();
	if (timeline_events_add(timeline) < 0)
		return -1;
	int code = ps_session_start(timeline->session);
	if (code != PS_OK && code != PS_PARTIAL)
		return tool_complain_detail();
	return timeline_events_note_user(timeline);
}

static enum tool_wakeup read_rings(struct timeline *timeline)
{
	uint64_t limit_ns = UINT64_MAX;

	if (timeline->options.timeout_ms)
		limit_ns = timeline->begin_ns + (uint64_t)timeline->options.timeout_ms * 1000000;
	for (;;) {
		uint64_t now_ns = ps__os_now_ns();
		if (now_ns >= limit_ns) {
			limit_ns = UINT64_MAX;
			if (!tool_watcher_end_by_timeout(&timeline->watcher))
				return TOOL_WAKEUP_TICK;
		}
		uint64_t tick_ns = now_ns + TICK_NS;
		enum tool_wakeup wakeup =
		    tool_watcher_wait(&timeline->watcher, tick_ns < limit_ns ? tick_ns : limit_ns);
		if (wakeup != TOOL_WAKEUP_TICK)
			return wakeup;
		ps_session_poll(timeline->session, 0);
		timeline_counters_read(timeline);
	}
}

/* Ends the session. Called before the output is written, so that the process isn't observed during
 * that time. */
static void close_session(struct timeline *timeline)
{
	struct ps_session_stats stats = {.size = sizeof stats};
	struct timeline_losses *losses = &timeline->losses;

	timeline_events_read_totals(timeline);
	ps_session_poll(timeline->session, 0);
	timeline_there_read_end(timeline);
	uint64_t switches = timeline_counters_close(timeline);
	/* Read the number at the end, because some tasks are found only after the start. */
	losses->missed = ps_session_missed(timeline->session, NULL, 0);
	if (ps_session_stats(timeline->session, &stats) == PS_OK) {
		losses->records = stats.lost + switches;
		losses->unassigned = stats.unassigned;
		losses->damaged += stats.damaged;
		tool_slices_note_lost(timeline->slices, losses->records);
	}
	timeline_events_note_losses(timeline);
	ps_session_destroy(timeline->session);
	timeline->session = NULL;
}

static int create_child(struct timeline *timeline, struct tool_launch *launch)
{
	int result = tool_launch_create(launch, timeline->options.command, &timeline->watcher);

	tool_watcher_release(&timeline->watcher);
	return result;
}

int timeline_record(struct timeline *timeline, bool *is_recorded)
{
	char **command = timeline->options.command;
	struct tool_launch launch = {.pid = (pid_t)timeline->options.pid};

	if (command && create_child(timeline, &launch) < 0)
		return TOOL_FAILED;
	if (open_session(timeline, launch.pid) < 0) {
		if (command)
			tool_launch_cancel(&launch);
		return TOOL_FAILED;
	}
	tool_watcher_hold(&timeline->watcher);
	timeline->begin_ns = ps__os_now_ns();
	if (timeline_counters_start(timeline) < 0) {
		if (command)
			tool_launch_cancel(&launch);
		return TOOL_FAILED;
	}
	if (!command && timeline_there_read(timeline) < 0)
		return TOOL_FAILED;
	int status = command ? tool_launch_go(&launch, command, &timeline->watcher) : TOOL_OK;
	if (status != TOOL_OK)
		return status;
	timeline->command_pid = command ? launch.pid : 0;
	enum tool_wakeup wakeup = read_rings(timeline);
	timeline_counters_stop(timeline);
	timeline->end_ns = ps__os_now_ns();
	close_session(timeline);
	*is_recorded = true;
	return tool_watcher_status(&timeline->watcher, wakeup);
}

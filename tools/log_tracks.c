/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes tracks of a log's trace when they are first needed, so that no track is empty. */
#include "tools/log_tracks.h"

#include "base/os.h"
#include "base/vector.h"
#include "snapshot/reader.h"
#include "tools/terminal.h"

void tool_tracks_create(struct tool_tracks *tracks, const struct tool_log *log,
                        struct ps__trace *trace)
{
	*tracks = (struct tool_tracks){.log = log, .trace = trace};
}

static void clear_branch(struct tool_branch *branch)
{
	ps__os_free(branch->counters);
}

void tool_tracks_clear(struct tool_tracks *tracks)
{
	size_t count = tracks->streams ? ps_log_stream_count(tracks->log->reader) : 0;

	for (size_t stream = 0; stream < count; stream++) {
		struct tool_stream_tracks *each = &tracks->streams[stream];
		clear_branch(&each->all);
		for (size_t index = 0; index < each->branch_count; index++)
			clear_branch(&each->branches[index]);
		ps__os_free(each->branches);
	}
	ps__os_free(tracks->streams);
	ps__os_free(tracks->processes);
	ps__os_free(tracks->threads);
	ps__os_free(tracks->cpus);
}

static int tracks_allocate(struct tool_tracks *tracks)
{
	size_t streams = ps_log_stream_count(tracks->log->reader);

	tracks->cpu_count = tracks->log->reader->topology->thread_count + 1;
	tracks->streams = ps__os_calloc(streams, sizeof *tracks->streams);
	tracks->processes = ps__os_calloc(streams, sizeof *tracks->processes);
	tracks->threads = ps__os_calloc(streams, sizeof *tracks->threads);
	tracks->cpus = ps__os_calloc(tracks->cpu_count, sizeof *tracks->cpus);
	return tracks->streams && tracks->processes && tracks->threads && tracks->cpus
	           ? 0
	           : tool_complain_memory("the tracks of the trace");
}

static int init_branch(struct tool_tracks *tracks, struct tool_branch *branch)
{
	branch->counters = ps__os_calloc(tracks->log->events.count * TOOL_COUNTER_KINDS + 1,
	                                 sizeof *branch->counters);
	return branch->counters ? 0 : tool_complain_memory("the tracks of the trace");
}

static uint64_t add_named(struct tool_tracks *tracks, uint64_t parent, const char *name)
{
	const struct ps__trace_track track = {
	    .kind = PS__TRACE_GROUP, .parent = parent, .name = name};

	return tracks->trace->format->add_track(tracks->trace, &track);
}

static uint64_t process_of(struct tool_tracks *tracks, size_t stream,
                           const struct ps_log_info *info)
{
	char name[32];

	for (size_t other = 0; other < ps_log_stream_count(tracks->log->reader); other++) {
		struct ps_log_info about = {.size = sizeof about};
		ps_log_describe(tracks->log->reader, other, &about);
		if (tracks->processes[other] && about.process == info->process)
			return tracks->processes[stream] = tracks->processes[other];
	}
	snprintf(name, sizeof name, "process %d", info->process);
	const struct ps__trace_track track = {
	    .kind = PS__TRACE_PROCESS, .name = name, .process = info->process};
	return tracks->processes[stream] = tracks->trace->format->add_track(tracks->trace, &track);
}

/* Returns the task's track for the stream's slices. A task's first stream uses the task's own
 * track; other streams get tracks below it, because slices of several streams may overlap. */
static uint64_t task_of(struct tool_tracks *tracks, size_t stream, const struct ps_log_info *info)
{
	uint64_t process = process_of(tracks, stream, info);
	char name[32];

	for (size_t other = 0; other < ps_log_stream_count(tracks->log->reader); other++) {
		struct ps_log_info about = {.size = sizeof about};
		ps_log_describe(tracks->log->reader, other, &about);
		if (!tracks->threads[other] || about.process != info->process ||
		    about.thread != info->thread)
			continue;
		tracks->threads[stream] = tracks->threads[other];
		return add_named(tracks, tracks->threads[other], info->type);
	}
	snprintf(name, sizeof name, "thread %d", info->thread);
	const struct ps__trace_track track = {.kind = PS__TRACE_THREAD,
	                                      .parent = process,
	                                      .name = name,
	                                      .process = info->process,
	                                      .thread = info->thread};
	return tracks->threads[stream] = tracks->trace->format->add_track(tracks->trace, &track);
}

static uint64_t tracks_cpu_of(struct tool_tracks *tracks, const struct ps_thread *thread)
{
	uint64_t *track = &tracks->cpus[thread - tracks->log->reader->topology->threads];
	char name[32];

	if (*track)
		return *track;
	if (!tracks->hardware)
		tracks->hardware = add_named(tracks, 0, "hardware threads");
	snprintf(name, sizeof name, "CPU %d", thread->cpu);
	return *track = add_named(tracks, tracks->hardware, thread->cpu < 0 ? "CPU unknown" : name);
}

uint64_t tool_tracks_slices(struct tool_tracks *tracks, struct tool_branch *branch)
{
	struct ps_log_info info = {.size = sizeof info};
	char name[PS_LOG_TEXT_BYTES + 32];

	if (branch->slices)
		return branch->slices;
	ps_log_describe(tracks->log->reader, branch->stream, &info);
	snprintf(name, sizeof name, "thread %d: %s", info.thread, info.type);
	branch->slices = branch->thread
	                     ? add_named(tracks, tracks_cpu_of(tracks, branch->thread), name)
	                     : task_of(tracks, branch->stream, &info);
	return branch->slices;
}

static bool has_branch(const struct tool_stream_tracks *stream, const struct ps_thread *thread)
{
	for (size_t index = 0; index < stream->branch_count; index++) {
		if (stream->branches[index].thread == thread)
			return true;
	}
	return false;
}

static int add_branch(struct tool_tracks *tracks, struct tool_stream_tracks *stream,
                      const struct ps_thread *thread)
{
	if (has_branch(stream, thread))
		return 0;
	if (!PS__VECTOR_GROW(&stream->branches, stream->branch_count, &stream->branch_room))
		return tool_complain_memory("the tracks of the trace");
	struct tool_branch *branch = &stream->branches[stream->branch_count];
	*branch = (struct tool_branch){.stream = stream->all.stream, .thread = thread};
	if (init_branch(tracks, branch) < 0)
		return -1;
	stream->branch_count++;
	return 0;
}

struct tool_stream_tracks *tool_tracks_of(struct tool_tracks *tracks, size_t stream)
{
	const struct ps__log_source *source = &tracks->log->reader->sources[stream];

	if (!tracks->streams && tracks_allocate(tracks) < 0)
		return NULL;
	struct tool_stream_tracks *each = &tracks->streams[stream];
	each->all.stream = stream;
	if (!each->all.counters && init_branch(tracks, &each->all) < 0)
		return NULL;
	for (; each->places < source->place_count; each->places++) {
		const struct ps_thread *thread = ps__topology_thread(
		    tracks->log->reader->topology, source->places[each->places].cpu);
		if (add_branch(tracks, each, thread) < 0)
			return NULL;
	}
	return each;
}

/* Returns the kind of counter for a value, by its status and attribution; 0 for plain counts. */
static size_t branch_kind(const struct tool_branch *branch, const struct ps_value *value)
{
	size_t kind = value->status == PS_STATUS_COUNTED  ? 0
	              : value->status == PS_STATUS_SCALED ? 1
	                                                  : 2;

	if (!branch->thread || value->attribution < PS_ATTRIBUTION_MIXED)
		return kind;
	return kind + (value->attribution == PS_ATTRIBUTION_MIXED ? 3 : 6);
}

static uint64_t add_counter(struct tool_tracks *tracks, const struct tool_branch *branch,
                            size_t event, const struct ps_value *value)
{
	static const char *const words[TOOL_COUNTER_KINDS] = {
	    "",           ", estimate",           ", at least",
	    ", mixed",    ", estimate, mixed",    ", at least, mixed",
	    ", last-cpu", ", estimate, last-cpu", ", at least, last-cpu"};
	const struct ps__look look = tracks->log->looks[event];
	struct ps__buffer name = {0};

	ps__buffer_add(&name, "%s%s%s%s", tracks->log->events.names[event], *look.unit ? ", " : "",
	               look.unit, words[branch_kind(branch, value)]);
	if (value->flags & PS_VALUE_USER_ONLY)
		ps__buffer_add(&name, ", user space");
	const struct ps__trace_track track = {.kind = PS__TRACE_COUNTER,
	                                      .parent = branch->slices,
	                                      .name = ps__buffer_text(&name),
	                                      .unit = look.unit};
	uint64_t number = tracks->trace->format->add_track(tracks->trace, &track);
	tracks->trace->failed |= name.failed;
	ps__buffer_clear(&name);
	return number;
}

void tool_tracks_count(struct tool_tracks *tracks, struct tool_branch *branch, uint64_t time_ns,
                       const struct ps_value *values)
{
	for (size_t event = 0; event < tracks->log->events.count; event++) {
		const struct ps_value *value = &values[event];
		/* A counter can't show an unknown number. */
		if (!ps__known_has_number(value->status))
			continue;
		uint64_t *track =
		    &branch->counters[event * TOOL_COUNTER_KINDS + branch_kind(branch, value)];
		if (!*track)
			*track = add_counter(tracks, branch, event, value);
		const struct ps__look look = tracks->log->looks[event];
		if (look.scale == 1)
			tracks->trace->format->count(tracks->trace, *track, time_ns, value->value);
		else
			tracks->trace->format->measure(tracks->trace, *track, time_ns,
			                               (double)value->value * look.scale);
	}
}

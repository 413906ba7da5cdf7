/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes traces in OTF2, for Vampir, Cube and similar tools, with OTF2's own library. A process is
 * a location group; a track with slices is a location; a counter is a metric of the location above
 * it. The archive is a folder, which is renamed when it is complete.
 */
#include "tools/trace_otf2.h"
#include "base/os.h"
#include "base/vector.h"
#include "tools/terminal.h"
#include "tools/trace_file.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENT_CHUNK_BYTES      (256 * 1024)
#define DEFINITION_CHUNK_BYTES (1024 * 1024)
#define MOST_CHUNKS            2

static struct tool_otf2 *otf2_of(struct ps__trace *trace)
{
	return (struct tool_otf2 *)trace;
}

static uint64_t otf2_add_track(struct ps__trace *trace, const struct ps__trace_track *about)
{
	struct tool_otf2 *otf2 = otf2_of(trace);

	if (!PS__VECTOR_GROW(&otf2->tracks, trace->tracks, &otf2->track_room)) {
		trace->failed = true;
		return 1;
	}
	otf2->tracks[trace->tracks] =
	    (struct tool_otf2_track){.kind = about->kind,
	                             .parent = about->parent,
	                             .number = about->kind == PS__TRACE_COUNTER ? otf2->counters++
	                                       : !about->parent                 ? otf2->groups++
	                                                                        : 0,
	                             .name = tool_otf2_string(otf2, about->name),
	                             .unit = tool_otf2_string(otf2, about->unit ? about->unit : ""),
	                             .type = OTF2_TYPE_INT64};
	return ++trace->tracks;
}

/* Returns the writer of a track's location. NULL after a failure. */
static OTF2_EvtWriter *writer_of(struct tool_otf2 *otf2, uint64_t track, uint64_t time_ns)
{
	if (track > otf2->trace.tracks || otf2->code != OTF2_SUCCESS)
		return NULL;
	struct tool_otf2_track *at = &otf2->tracks[track - 1];
	if (!at->writer)
		at->writer = OTF2_Archive_GetEvtWriter(otf2->archive, track - 1);
	if (!at->writer)
		tool_otf2_check(otf2, OTF2_ERROR_INVALID_CALL);
	if (otf2->first_ns == 0 || time_ns < otf2->first_ns)
		otf2->first_ns = time_ns;
	if (time_ns > otf2->last_ns)
		otf2->last_ns = time_ns;
	at->last_ns = time_ns;
	return at->writer;
}

static void add_argument(struct tool_otf2 *otf2, OTF2_AttributeList *list,
                         const struct ps__trace_argument *argument)
{
	OTF2_AttributeRef name;

	switch (argument->kind) {
	case PS__TRACE_INTEGER:
		name = tool_otf2_attribute(otf2, argument->name, OTF2_TYPE_INT64);
		tool_otf2_check(otf2, OTF2_AttributeList_AddInt64(list, name, argument->integer));
		return;
	case PS__TRACE_REAL:
		name = tool_otf2_attribute(otf2, argument->name, OTF2_TYPE_DOUBLE);
		tool_otf2_check(otf2, OTF2_AttributeList_AddDouble(list, name, argument->real));
		return;
	default:
		name = tool_otf2_attribute(otf2, argument->name, OTF2_TYPE_STRING);
		tool_otf2_check(otf2, OTF2_AttributeList_AddStringRef(
					  list, name, tool_otf2_string(otf2, argument->text)));
	}
}

static void otf2_begin(struct ps__trace *trace, const struct ps__trace_event *event)
{
	struct tool_otf2 *otf2 = otf2_of(trace);
	OTF2_EvtWriter *writer = writer_of(otf2, event->track, event->time_ns);
	OTF2_RegionRef region = tool_otf2_region(otf2, event->name);
	OTF2_AttributeList *list = OTF2_AttributeList_New();

	if (!writer || !list) {
		trace->failed |= !list;
		OTF2_AttributeList_Delete(list);
		return;
	}
	for (size_t index = 0; index < event->argument_count; index++)
		add_argument(otf2, list, &event->arguments[index]);
	tool_otf2_check(otf2, OTF2_EvtWriter_Enter(writer, list, event->time_ns, region));
	OTF2_AttributeList_Delete(list);
	struct tool_otf2_track *track = &otf2->tracks[event->track - 1];
	if (track->depth < TOOL_OTF2_MOST_DEPTH)
		track->open[track->depth] = region;
	track->depth++;
}

static void otf2_end(struct ps__trace *trace, uint64_t track, uint64_t time_ns)
{
	struct tool_otf2 *otf2 = otf2_of(trace);
	OTF2_EvtWriter *writer = writer_of(otf2, track, time_ns);

	if (!writer || otf2->tracks[track - 1].depth == 0)
		return;
	size_t depth = --otf2->tracks[track - 1].depth;
	if (depth < TOOL_OTF2_MOST_DEPTH)
		tool_otf2_check(otf2, OTF2_EvtWriter_Leave(writer, NULL, time_ns,
		                                           otf2->tracks[track - 1].open[depth]));
}

/* Adds a moment as an empty region, because OTF2 has no moments with a name. */
static void otf2_mark(struct ps__trace *trace, const struct ps__trace_event *event)
{
	otf2_begin(trace, event);
	otf2_end(trace, event->track, event->time_ns);
}

static void put_metric(struct tool_otf2 *otf2, uint64_t counter, uint64_t time_ns, OTF2_Type type,
                       OTF2_MetricValue value)
{
	if (counter > otf2->trace.tracks)
		return;
	struct tool_otf2_track *track = &otf2->tracks[counter - 1];
	OTF2_EvtWriter *writer = writer_of(otf2, track->parent, time_ns);

	track->type = type;
	if (writer)
		tool_otf2_check(otf2, OTF2_EvtWriter_Metric(writer, NULL, time_ns, track->number, 1,
		                                            &type, &value));
}

static void otf2_count(struct ps__trace *trace, uint64_t track, uint64_t time_ns, long long value)
{
	put_metric(otf2_of(trace), track, time_ns, OTF2_TYPE_INT64,
	           (OTF2_MetricValue){.signed_int = value});
}

static void otf2_measure(struct ps__trace *trace, uint64_t track, uint64_t time_ns, double value)
{
	put_metric(otf2_of(trace), track, time_ns, OTF2_TYPE_DOUBLE,
	           (OTF2_MetricValue){.floating_point = value});
}

static const struct ps__trace_format otf2_format = {
    .add_track = otf2_add_track,
    .begin = otf2_begin,
    .end = otf2_end,
    .mark = otf2_mark,
    .count = otf2_count,
    .measure = otf2_measure,
};

static OTF2_FlushType pre_flush(void *context, OTF2_FileType type, OTF2_LocationRef location,
                                void *caller, bool is_final)
{
	(void)context, (void)type, (void)location, (void)caller, (void)is_final;
	return OTF2_FLUSH;
}

static OTF2_TimeStamp post_flush(void *context, OTF2_FileType type, OTF2_LocationRef location)
{
	const struct tool_otf2 *otf2 = context;

	(void)type;
	return location < otf2->trace.tracks ? otf2->tracks[location].last_ns : otf2->last_ns;
}

/* Memory callbacks, which limit the library's memory. Without them the library keeps the whole
 * trace in memory, because it flushes a writer only when it gets no memory for another chunk. */
struct chunks {
	void *chunk[MOST_CHUNKS];
	size_t count;
};

static void *allocate_chunk(void *context, OTF2_FileType type, OTF2_LocationRef location,
                            void **of_writer, uint64_t size_bytes)
{
	struct chunks *chunks = *of_writer;

	(void)context, (void)type, (void)location;
	if (!chunks)
		chunks = *of_writer = ps__os_calloc(1, sizeof *chunks);
	if (!chunks || chunks->count == MOST_CHUNKS)
		return NULL;
	void *chunk = ps__os_calloc(size_bytes, 1);
	if (chunk)
		chunks->chunk[chunks->count++] = chunk;
	return chunk;
}

static void free_chunks(void *context, OTF2_FileType type, OTF2_LocationRef location,
                        void **of_writer, bool is_final)
{
	struct chunks *chunks = *of_writer;

	(void)context, (void)type, (void)location;
	while (chunks && chunks->count > 0)
		ps__os_free(chunks->chunk[--chunks->count]);
	if (!is_final)
		return;
	ps__os_free(chunks);
	*of_writer = NULL;
}

/* Receives the library's error messages, so that it doesn't print them on stderr. */
static OTF2_ErrorCode keep_quiet(void *context, const char *file, uint64_t line,
                                 const char *function, OTF2_ErrorCode code, const char *format,
                                 va_list arguments)
{
	(void)file, (void)line, (void)function, (void)format, (void)arguments;
	tool_otf2_check(context, code);
	return code;
}

static int open_archive(struct tool_otf2 *otf2)
{
	static const OTF2_FlushCallbacks flush = {pre_flush, post_flush};
	static const OTF2_MemoryCallbacks memory = {allocate_chunk, free_chunks};

	OTF2_Error_RegisterCallback(keep_quiet, otf2);
	otf2->archive =
	    OTF2_Archive_Open(otf2->part, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK_BYTES,
	                      DEFINITION_CHUNK_BYTES, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!otf2->archive)
		return -1;
	tool_otf2_check(otf2, OTF2_Archive_SetFlushCallbacks(otf2->archive, &flush, otf2));
	tool_otf2_check(otf2, OTF2_Archive_SetMemoryCallbacks(otf2->archive, &memory, otf2));
	tool_otf2_check(otf2, OTF2_Archive_SetSerialCollectiveCallbacks(otf2->archive));
	tool_otf2_check(otf2, OTF2_Archive_SetCreator(otf2->archive, "perfsage"));
	tool_otf2_check(otf2, OTF2_Archive_OpenEvtFiles(otf2->archive));
	otf2->definitions = OTF2_Archive_GetGlobalDefWriter(otf2->archive);
	return otf2->definitions && otf2->code == OTF2_SUCCESS ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
	(void)about, (void)type, (void)where;
	return remove(path);
}

static void otf2_release(struct tool_otf2 *otf2)
{
	OTF2_Error_RegisterCallback(NULL, NULL);
	tool_otf2_clear_names(otf2);
	ps__os_free(otf2->tracks);
	ps__os_free(otf2->path);
	ps__os_free(otf2->part);
	ps__os_free(otf2);
}

static int complain_archive(const struct tool_otf2 *otf2)
{
	return tool_complain("the archive '%s' can't be written: %s", otf2->path,
	                     OTF2_Error_GetDescription(otf2->code));
}

/* Makes a folder with an unused name beside the archive's path. */
static int make_part(struct tool_otf2 *otf2, const char *path)
{
	size_t length = strlen(path);
	size_t size_bytes = length + sizeof ".perfsage-part-XXXXXX";
	mode_t mask = umask(0);

	umask(mask);
	otf2->path = ps__os_strdup(path);
	otf2->part = ps__os_calloc(size_bytes, 1);
	if (!otf2->path || !otf2->part)
		return tool_complain_memory("the trace");
	/* Remove slashes at the end: the part must be beside the folder, not in it. */
	while (length > 1 && path[length - 1] == '/')
		otf2->path[--length] = '\0';
	if (access(path, F_OK) == 0)
		return tool_complain("'%s' is there already: an archive of OTF2 is a new folder",
		                     path);
	snprintf(otf2->part, size_bytes, "%s.perfsage-part-XXXXXX", otf2->path);
	if (!mkdtemp(otf2->part) || chmod(otf2->part, 0777 & ~mask) < 0)
		return tool_complain("'%s' can't be written: %s", path, strerror(errno));
	return 0;
}

int tool_otf2_open(struct ps__trace **out, const char *path)
{
	struct tool_otf2 *otf2 = ps__os_calloc(1, sizeof *otf2);

	if (!otf2)
		return tool_complain_memory("the trace");
	otf2->trace.format = &otf2_format;
	if (make_part(otf2, path) < 0) {
		otf2_release(otf2);
		return -1;
	}
	if (open_archive(otf2) == 0) {
		*out = &otf2->trace;
		return 0;
	}
	complain_archive(otf2);
	if (otf2->archive)
		OTF2_Archive_Close(otf2->archive);
	nftw(otf2->part, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	otf2_release(otf2);
	return -1;
}

static void close_events(struct tool_otf2 *otf2)
{
	for (uint64_t track = 0; track < otf2->trace.tracks; track++) {
		struct tool_otf2_track *at = &otf2->tracks[track];
		if (!at->writer)
			continue;
		tool_otf2_check(otf2, OTF2_EvtWriter_GetNumberOfEvents(at->writer, &at->events));
		tool_otf2_check(otf2, OTF2_Archive_CloseEvtWriter(otf2->archive, at->writer));
	}
	tool_otf2_check(otf2, OTF2_Archive_CloseEvtFiles(otf2->archive));
}

/* Writes a file of definitions for each location. OTF2 requires the file even if it is empty. */
static void close_local_definitions(struct tool_otf2 *otf2)
{
	tool_otf2_check(otf2, OTF2_Archive_OpenDefFiles(otf2->archive));
	for (uint64_t track = 0; track < otf2->trace.tracks; track++) {
		if (!otf2->tracks[track].writer)
			continue;
		OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(otf2->archive, track);
		if (writer)
			tool_otf2_check(otf2, OTF2_Archive_CloseDefWriter(otf2->archive, writer));
	}
	tool_otf2_check(otf2, OTF2_Archive_CloseDefFiles(otf2->archive));
}

bool tool_otf2_has_failed(const struct ps__trace *trace)
{
	return ((const struct tool_otf2 *)trace)->code != OTF2_SUCCESS;
}

static int put_in_place(struct tool_otf2 *otf2)
{
	if (otf2->code != OTF2_SUCCESS)
		return complain_archive(otf2);
	if (otf2->trace.failed)
		return -1;
	if (rename(otf2->part, otf2->path) == 0)
		return 0;
	return tool_complain("'%s' can't be written: %s", otf2->path, strerror(errno));
}

static void close_archive(struct tool_otf2 *otf2)
{
	if (otf2->code != OTF2_SUCCESS)
		return;
	close_events(otf2);
	tool_otf2_define(otf2);
	close_local_definitions(otf2);
	tool_otf2_check(otf2, OTF2_Archive_Close(otf2->archive));
}

int tool_otf2_close(struct ps__trace *trace, bool is_whole)
{
	struct tool_otf2 *otf2 = otf2_of(trace);
	int result = 0;

	close_archive(otf2);
	if (is_whole || otf2->code != OTF2_SUCCESS)
		result = put_in_place(otf2);
	if (!is_whole || result < 0)
		nftw(otf2->part, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	otf2_release(otf2);
	return result;
}

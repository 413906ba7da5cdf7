/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, writes and closes traces. A Perfetto trace goes through a buffer to a file. An OTF2
 * archive is a folder that OTF2's own library writes. */
#include "tools/trace_file.h"

#include "tools/terminal.h"

#include <string.h>
#include <unistd.h>

#define FLUSH_BYTES 65536

int tool_trace_find_format(const char *name, enum tool_trace_format *out)
{
	static const char *const names[] = {"perfetto", "otf2"};

	for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
		if (strcmp(name, names[index]) != 0)
			continue;
		*out = (enum tool_trace_format)index;
		return 0;
	}
	return tool_complain("there is no format '%s' of traces: it is perfetto or otf2", name);
}

int tool_trace_open(struct tool_trace_file *file, enum tool_trace_format format, const char *path,
                    struct tool_watcher *watcher)
{
	*file = (struct tool_trace_file){
	    .perfetto = {.format = &ps__trace_perfetto, .out = &file->bytes}};
	if (format == TOOL_TRACE_OTF2 && strcmp(path, "-") == 0)
		return tool_complain("an archive of OTF2 is a folder: it can't go to stdout");
	if (format == TOOL_TRACE_OTF2)
		return tool_otf2_open(&file->trace, path);
	file->has_own = !watcher;
	if (file->has_own && tool_watcher_create(&file->own, false) < 0)
		return -1;
	if (tool_file_open(&file->file, path, watcher ? watcher : &file->own) < 0) {
		if (file->has_own)
			tool_watcher_destroy(&file->own);
		return -1;
	}
	tool_file_begin(&file->file);
	file->trace = &file->perfetto;
	return 0;
}

static int write_bytes(struct tool_trace_file *file)
{
	struct ps__buffer *bytes = &file->bytes;

	if (bytes->length)
		fwrite(bytes->text, 1, bytes->length, file->file.stream);
	bytes->length = 0;
	return tool_file_flush(&file->file);
}

int tool_trace_flush(struct tool_trace_file *file)
{
	struct ps__trace *trace = file->trace;

	trace->failed |= file->bytes.failed;
	if (trace->failed)
		return -1;
	if (trace != &file->perfetto)
		return tool_otf2_has_failed(trace) ? -1 : 0;
	return file->bytes.length < FLUSH_BYTES ? 0 : write_bytes(file);
}

static int close_file(struct tool_trace_file *file, bool is_whole)
{
	/* tool_file_finish complains about failed writes. */
	if (!file->trace->failed && (is_whole || file->file.error)) {
		write_bytes(file);
		return tool_file_finish(&file->file, false);
	}
	tool_file_discard(&file->file);
	return is_whole ? -1 : 0;
}

int tool_trace_close(struct tool_trace_file *file, bool is_whole)
{
	int result;

	file->trace->failed |= file->bytes.failed;
	if (file->trace->failed)
		tool_complain_memory("the trace");
	if (file->trace != &file->perfetto)
		return tool_otf2_close(file->trace, is_whole && !file->trace->failed);
	result = close_file(file, is_whole);
	if (file->has_own)
		tool_watcher_destroy(&file->own);
	ps__buffer_clear(&file->bytes);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a trace: it appears complete or not at all. */
#ifndef PS_TOOLS_TRACE_FILE_H
#define PS_TOOLS_TRACE_FILE_H

#include "output/trace.h"
#include "tools/file.h"

enum tool_trace_format {
	TOOL_TRACE_PERFETTO, /* a file */
	TOOL_TRACE_OTF2      /* a folder */
};

struct tool_trace_file {
	struct ps__trace *trace; /* what the caller writes to */
	struct ps__trace perfetto;
	struct ps__buffer bytes;
	struct tool_watcher own;
	bool has_own;
	struct tool_file file;
};

/* Finds "perfetto" or "otf2". Returns -1 after a complaint. */
int tool_trace_find_format(const char *name, enum tool_trace_format *out);

/* Opens a trace. path: "-" for stdout. watcher: the subcommand's; NULL if it has none. Returns -1
 * after a complaint. */
int tool_trace_open(struct tool_trace_file *file, enum tool_trace_format format, const char *path,
                    struct tool_watcher *watcher);
/* Writes the collected bytes if there are many. Returns -1 on failure, without a complaint;
 * tool_trace_close complains. */
int tool_trace_flush(struct tool_trace_file *file);
/* Renames the trace to its path if is_whole; else removes it. Returns -1 after a complaint. */
int tool_trace_close(struct tool_trace_file *file, bool is_whole);

/* trace_otf2.c: begins an OTF2 archive at a path that doesn't exist yet. Returns -1 after a
 * complaint; building without OTF2 is one reason. */
int tool_otf2_open(struct ps__trace **out, const char *path);
bool tool_otf2_has_failed(const struct ps__trace *trace);
int tool_otf2_close(struct ps__trace *trace, bool is_whole);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a trace goes: it appears when it is whole, or not at all. */
#ifndef PS_TOOLS_TRACE_FILE_H
#define PS_TOOLS_TRACE_FILE_H

#include "output/trace.h"
#include "tools/file.h"

enum tool_trace_format {
	TOOL_TRACE_PERFETTO, /* a file */
	TOOL_TRACE_OTF2      /* a folder */
};

struct tool_trace_file {
	struct ps__trace *trace; /* to be written to */
	struct ps__trace perfetto;
	struct ps__buffer bytes;
	struct tool_watcher own;
	bool has_own;
	struct tool_file file;
};

/* "perfetto", "otf2". -1 after a complaint. */
int tool_trace_find_format(const char *name, enum tool_trace_format *out);

/* path: "-" is stdout. watcher: of the subcommand; NULL: it has none. -1 after a complaint. */
int tool_trace_open(struct tool_trace_file *file, enum tool_trace_format format, const char *path,
                    struct tool_watcher *watcher);
/* Writes some of what is there, if it is much. -1 if that failed; tool_trace_close complains. */
int tool_trace_flush(struct tool_trace_file *file);
/* Puts it in its place if it is whole; else nothing stays of it. -1 after a complaint. */
int tool_trace_close(struct tool_trace_file *file, bool is_whole);

/* trace_otf2.c: an archive of OTF2, at a path where nothing is. -1 after a complaint: also if
 * perfsage was built without OTF2. */
int tool_otf2_open(struct ps__trace **out, const char *path);
bool tool_otf2_has_failed(const struct ps__trace *trace);
int tool_otf2_close(struct ps__trace *trace, bool is_whole);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The file or terminal that perfsage stat writes to, and which components it shows there in each
 * format. */
#include "tools/stat_output.h"

#include "output/text.h"
#include "tools/terminal.h"

#include <unistd.h>

static int output_open_file(struct stat_output *output, struct tool_watcher *watcher)
{
	const char *name = output->options->output;

	if (output->options->appends)
		return tool_file_append(&output->file, name,
		                        output->options->format == PS_FORMAT_CSV, watcher);
	return tool_file_open(&output->file, name, watcher);
}

int stat_output_open(struct stat_output *output, const struct stat_options *options,
                     struct tool_watcher *watcher)
{
	*output = (struct stat_output){.options = options};
	if (output_open_file(output, watcher) < 0)
		return -1;
	output->stream = output->file.stream;
	output->screen = tool_screen_of(output->file.fd);
	output->may_redraw = output->screen.is_terminal && output->screen.height > 2 &&
	                     (!isatty(STDOUT_FILENO) || !options->command);
	return 0;
}

void stat_output_begin(struct stat_output *output)
{
	if (!output->has_begun)
		tool_file_begin(&output->file);
	output->has_begun = true;
}

int stat_output_close(struct stat_output *output)
{
	ps__buffer_clear(&output->left_out);
	if (!output->file.stream)
		return 0;
	if (output->has_begun)
		return tool_file_finish(&output->file, output->options->interval_ms > 0);
	tool_file_discard(&output->file);
	return 0;
}

static bool output_is_tree(const struct stat_output *output)
{
	if (output->options->layout != STAT_LAYOUT_AUTO)
		return output->options->layout == STAT_LAYOUT_TREE;
	return output->screen.is_terminal;
}

unsigned stat_output_types(const struct stat_output *output)
{
	if (output->options->layout == STAT_LAYOUT_BY)
		return output->options->by.types;
	if (output->options->layout == STAT_LAYOUT_AUTO &&
	    output->options->target.method == STAT_METHOD_WHOLE)
		return PS_TYPE_BIT(PS_COMPONENT_MACHINE);
	/* Output for programs is the whole tree by default. */
	if (output_is_tree(output) || output->options->format != PS_FORMAT_TEXT)
		return 0;
	return PS_TYPE_BIT(PS_COMPONENT_THREAD);
}

struct ps_print_options stat_print_options(const struct stat_output *output)
{
	const struct stat_options *options = output->options;
	unsigned types = stat_output_types(output);

	return (struct ps_print_options){
	    .size = sizeof(struct ps_print_options),
	    .types = types,
	    .cache_level = options->by.cache_level,
	    .width = output->screen.width,
	    .flags = PS__PRINT_REPORT | (options->look.is_raw ? PS_PRINT_RAW : 0) |
	             (output->screen.has_utf8 ? PS_PRINT_UTF8 : 0) |
	             (output->screen.has_colour ? PS_PRINT_COLOUR : 0) |
	             (options->layout == STAT_LAYOUT_BY ? PS_PRINT_EACH : 0) |
	             (options->metrics.count ? PS__PRINT_UNKNOWN : PS__PRINT_ALL_METRICS) |
	             (types ? PS_PRINT_FLAT : 0) | options->look.flags};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage place: runs a command, and shows where its tasks were meant to run and where they
 * ran. */
#include "tools/place.h"

#include "base/os.h"
#include "tools/command.h"
#include "tools/file.h"
#include "tools/metrics.h"
#include "tools/options.h"
#include "tools/terminal.h"

#include <perfsage/error.h>
#include <string.h>
#include <unistd.h>

enum {
	OPTION_JSON = 256,
	OPTION_ALL,
	OPTION_MEMORY
};

static const struct tool_option options_of_place[] = {
    {'o', "output", "FILE",
     "write there, not to stderr; - is stdout. In the name\n%r for the MPI rank, %h for the host. "
     "A name that ends\nin .json gets JSON"},
    {OPTION_ALL, "all", NULL, "a line for each task, also for those that are alike"},
    {OPTION_JSON, "json", NULL, "as JSON"},
    {OPTION_MEMORY, "memory", "MIB", TOOL_SLICES_MEMORY_HELP},
};

static const struct tool_usage usage = {
    .manual = "perfsage-place(1)",
    .synopsis = "perfsage place [OPTIONS] COMMAND [ARGUMENT...]",
    .summary = "Runs a command, and shows for each of its tasks where it was told to run (masks, "
	       "OMP_PLACES, cpuset)\n"
	       "beside where it ran, and for how long. Tells which tasks shared a hardware thread "
	       "or core while others\n"
	       "were idle, and which left their NUMA node. Needs no privileges. The exit status is "
	       "the command's.",
    .options = options_of_place,
    .option_count = sizeof options_of_place / sizeof options_of_place[0],
    .examples = "perfsage place ./a.out\n"
		"OMP_PLACES=cores OMP_PROC_BIND=close perfsage place ./a.out\n"
		"perfsage place --json -o place.json mpirun -n 4 --bind-to core ./a.out\n"
		"mpirun -n 4 --bind-to core perfsage place -o place.%r ./a.out\n",
};

struct place_options {
	char *output; /* NULL: stderr */
	bool is_json, shows_all;
};

/* Longer lines of prose are hard to read. */
#define WIDTH 80

/* Returns -1 after a complaint. */
static int place_write(const struct place_run *run, const struct place_options *options,
                       struct tool_file *file)
{
	size_t width = tool_screen_of(file->fd).width;
	struct ps__buffer text = {0};

	if (options->is_json)
		place_json_add(run, &text);
	else
		place_show(run, options->shows_all, width && width < WIDTH ? width : WIDTH, &text);
	return tool_write(&text, file->stream);
}

/* Returns the exit status. */
static int place_run_in(struct place_run *run, const struct place_options *options,
                        struct tool_watcher *watcher)
{
	struct tool_file file;
	int status;

	if (tool_file_open(&file, options->output, watcher) < 0)
		return TOOL_FAILED;
	if (place_record_run(run, watcher, &status) < 0) {
		tool_file_discard(&file);
		return status;
	}
	tool_file_begin(&file);
	int written = place_write(run, options, &file);
	if (tool_file_finish(&file, false) < 0 || written < 0)
		return run->exit_status == TOOL_OK ? TOOL_FAILED : run->exit_status;
	return run->exit_status;
}

static int place_prepare(struct place_run *run)
{
	if (ps_topology_load(&run->topology, NULL) != PS_OK ||
	    place_intent_create(&run->intent, ps_topology_root(run->topology)) != PS_OK)
		return tool_complain_detail();
	if (ps_topology_origin(run->topology))
		tool_complain("the tree is not this machine's: %s",
		              ps_topology_origin(run->topology));
	return TOOL_OK;
}

static void place_clear(struct place_run *run)
{
	place_sums_clear(&run->sums);
	tool_slices_destroy(run->slices);
	place_masks_clear(&run->masks);
	place_intent_clear(&run->intent);
	ps_topology_destroy(run->topology);
}

/* Returns TOOL_OPTIONS_END to go on; else the exit status. */
static int place_parse(struct place_options *options, struct place_run *run, int argc, char **argv)
{
	const char *argument;
	int key;

	optind = 1;
	while ((key = tool_options_next(&usage, argc, argv, &argument)) > 0) {
		options->is_json |= key == OPTION_JSON;
		options->shows_all |= key == OPTION_ALL;
		if (key == 'o' && tool_file_take_name(&options->output, "--output", argument) < 0)
			return TOOL_FAILED;
		if (key == OPTION_MEMORY &&
		    tool_slices_parse_memory(argument, &run->memory_mib) < 0)
			return TOOL_FAILED;
	}
	if (key != TOOL_OPTIONS_END)
		return key;
	options->is_json |= tool_file_has_suffix(options->output, ".json");
	if (optind >= argc)
		return tool_complain("a COMMAND to run is needed. See perfsage place --help");
	run->command = &argv[optind];
	return TOOL_OPTIONS_END;
}

/* Returns the exit status. */
static int place_watch(struct place_run *run, const struct place_options *options)
{
	struct tool_watcher watcher;
	int status = place_prepare(run);

	if (status == TOOL_OK) {
		status = TOOL_FAILED;
		if (tool_watcher_create(&watcher, false) == 0)
			status = place_run_in(run, options, &watcher);
		tool_watcher_destroy(&watcher);
	}
	place_clear(run);
	return status;
}

int tool_place(int argc, char **argv)
{
	struct place_options options = {.output = NULL};
	struct place_run run = {.memory_mib = TOOL_SLICES_MEMORY_MIB};
	int status = place_parse(&options, &run, argc, argv);

	if (status == TOOL_OPTIONS_END) {
		tool_advise_itself();
		status = place_watch(&run, &options);
	}
	ps__os_free(options.output);
	return status;
}

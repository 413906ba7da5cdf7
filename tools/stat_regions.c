/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets the environment of a command whose processes count themselves, and manages the files for
 * their reports. */
#include "tools/stat_regions.h"

#include "base/os.h"
#include "base/stack.h"
#include "eventset/parts.h"
#include "output/destination.h"
#include "output/number.h"
#include "tools/file.h"
#include "tools/metrics.h"
#include "tools/stat_footer.h"
#include "tools/terminal.h"
#include "tools/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "libperfsage-preload.so"
#define FLUSH_S "5" /* default; the user's PERFSAGE_FLUSH is kept */

static bool regions_find_by_own_path(char *path, size_t size_bytes)
{
	char own[PATH_MAX - sizeof "/../.libs/" PRELOAD];

	if (!tool_find_own_folder(own, sizeof own))
		return false;
	/* In a build tree the library is beside the command. */
	snprintf(path, size_bytes, "%s/../.libs/" PRELOAD, own);
	return access(path, R_OK) == 0 || tool_find_installed(PS_LIBDIR, PRELOAD, path, size_bytes);
}

static int regions_find_preload(char *path, size_t size_bytes)
{
	const char *chosen = getenv("PERFSAGE_PRELOAD");

	if (chosen && *chosen) {
		snprintf(path, size_bytes, "%s", chosen);
		if (access(path, R_OK) == 0)
			return 0;
		return tool_complain("--regions: PERFSAGE_PRELOAD: '%s' can't be read: %s", path,
		                     strerror(errno));
	}
	if (regions_find_by_own_path(path, size_bytes))
		return 0;
	snprintf(path, size_bytes, "%s/" PRELOAD, PS_LIBDIR);
	if (access(path, R_OK) == 0)
		return 0;
	return tool_complain("--regions needs " PRELOAD ", which isn't in " PS_LIBDIR
	                     ": install perfsage's library, or set PERFSAGE_PRELOAD to its path");
}

/* Puts text and a colon before the variable's old value. */
static int regions_prepend(const char *variable, const char *text)
{
	const char *before = getenv(variable);
	struct ps__buffer value = {0};

	ps__buffer_add(&value, "%s", text);
	if (before && *before)
		ps__buffer_add(&value, ":%s", before);
	int result = value.failed ? -1 : setenv(variable, ps__buffer_text(&value), 1);
	ps__buffer_clear(&value);
	return result;
}

static int regions_preload(void)
{
	char preload[PATH_MAX], resolved[PATH_MAX];

	if (regions_find_preload(preload, sizeof preload) < 0)
		return -1;
	if (!realpath(preload, resolved))
		return tool_complain("--regions: '%s' can't be found: %s", preload,
		                     strerror(errno));
	if (strpbrk(resolved, " :"))
		return tool_complain("--regions: the loader can't preload '%s': a blank or a colon "
		                     "in its path divides it",
		                     resolved);
	/* A program with AddressSanitizer must be the first library, unless this option is set. */
	if (regions_prepend("LD_PRELOAD", resolved) < 0 ||
	    regions_prepend("ASAN_OPTIONS", "verify_asan_link_order=0") < 0)
		return tool_complain("out of memory");
	return 0;
}

static int regions_set_events(const struct ps_eventset *model)
{
	struct ps__buffer list = {0};

	for (size_t index = 0; index < ps_eventset_event_count(model); index++)
		ps__buffer_add(&list, "%s%s", index ? "," : "",
		               ps_eventset_event_name(model, index));
	int result = list.failed ? -1 : setenv("PERFSAGE_EVENTS", ps__buffer_text(&list), 1);
	ps__buffer_clear(&list);
	return result;
}

/* True if idle components are shown. As in counts without regions, text shows them on request, and
 * other formats by default. */
static bool regions_have_idle(const struct stat_options *options)
{
	return options->format == PS_FORMAT_TEXT ? options->look.flags & PS_PRINT_IDLE
	                                         : !options->look.hides_idle;
}

static int regions_set_settings(struct stat_regions *regions, const struct stat_output *output)
{
	const struct stat_options *options = output->options;
	bool is_text = options->format == PS_FORMAT_TEXT;

	regions->settings = (struct collect_settings){
	    .format = options->format,
	    .types = options->by.types,
	    .cache_level = options->by.cache_level,
	    .width = output->screen.width,
	    .hides_metrics = options->look.hides_metrics,
	    .hides_idle = options->look.hides_idle,
	    .has_each = options->look.flags & PS_PRINT_EACH,
	    .flags = (options->look.is_raw ? PS_PATHS_RAW : 0) |
	             (regions_have_idle(options) ? PS_PATHS_IDLE : 0) |
	             (is_text && output->screen.has_utf8 ? PS_PATHS_UTF8 : 0) |
	             (is_text && output->screen.has_colour ? PS_PATHS_COLOUR : 0)};
	for (size_t index = 0; index < options->of_regions.named_count; index++) {
		const char *name = options->of_regions.named[index];
		if (collect_settings_add_region(&regions->settings, name) != PS_OK)
			return -1;
	}
	return 0;
}

/* Makes a file with one line, which readers skip. Writing the line shows before the command runs
 * whether the disk is full: then a file can be made, but not written. */
static char *regions_make_file(const char *folder, const char *name)
{
	static const char line[] = "perfsage\n";
	char *copy = tool_file_path(folder, name);
	int fd = copy ? open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;

	if (fd < 0) {
		ps__os_free(copy);
		return NULL;
	}
	int error = ps__destination_write_all(fd, line, strlen(line));
	close(fd);
	if (!error)
		return copy;
	unlink(copy);
	ps__os_free(copy);
	errno = error;
	return NULL;
}

static int regions_make_folder(struct stat_regions *regions)
{
	const char *chosen = getenv("TMPDIR");
	char root[PATH_MAX];

	/* Use an absolute path: the command may change its working folder. */
	if (!chosen || !*chosen)
		chosen = "/tmp";
	if (!realpath(chosen, root))
		return tool_complain("--regions: no folder for reports: '%s': %s: set TMPDIR to a "
		                     "folder that exists",
		                     chosen, strerror(errno));
	char *folder = tool_file_path(root, "perfsage-XXXXXX");
	if (!folder || !mkdtemp(folder)) {
		tool_complain("--regions: no folder for the reports of processes in '%s': %s", root,
		              strerror(errno));
		ps__os_free(folder);
		return -1;
	}
	regions->folder = folder;
	regions->reports = regions_make_file(folder, "reports");
	if (regions->reports)
		regions->journal = regions_make_file(folder, "journal");
	if (regions->reports && regions->journal) {
		regions->lacks_modes = access(regions->journal, X_OK) == 0;
		return 0;
	}
	return tool_complain("--regions: no files in '%s': %s; TMPDIR chooses another folder",
	                     folder, strerror(errno));
}

/* Makes the files and registers them for removal. Holds signals meanwhile: otherwise a signal
 * between the two steps would leave the files behind. */
static int regions_make_files(struct stat_regions *regions)
{
	struct ps__held held;

	ps__signals_hold(&held);
	int result = regions_make_folder(regions);
	if (result == 0) {
		tool_ending_remove(regions->reports);
		tool_ending_remove(regions->journal);
		tool_ending_remove(regions->folder);
	}
	ps__signals_release(&held);
	return result;
}

void stat_regions_drop(struct stat_regions *regions)
{
	if (regions->folder) {
		stat_reports_remove(regions);
		rmdir(regions->folder);
		tool_ending_keep(regions->reports);
		tool_ending_keep(regions->journal);
		tool_ending_keep(regions->folder);
	}
	ps__os_free(regions->reports);
	ps__os_free(regions->journal);
	ps__os_free(regions->folder);
	regions->reports = regions->journal = regions->folder = NULL;
}

/* PERFSAGE_OUTPUT is a pattern, in which %% stands for %. */
static int regions_set_output(const struct stat_regions *regions)
{
	struct ps__buffer pattern = {0};

	for (const char *at = regions->reports; *at; at++)
		ps__buffer_add(&pattern, "%s%c", *at == '%' ? "%" : "", *at);
	int result = pattern.failed ? -1 : setenv("PERFSAGE_OUTPUT", ps__buffer_text(&pattern), 1);
	ps__buffer_clear(&pattern);
	return result;
}

int stat_regions_begin(struct stat_regions *regions)
{
	if (regions_make_files(regions) < 0)
		return -1;
	if (regions_set_output(regions) < 0 || setenv("PERFSAGE_JOURNAL", regions->journal, 1) < 0)
		return tool_complain("out of memory");
	return 0;
}

/* Tells an outer perfsage stat --regions that this perfsage, not the outer one, gets the reports of
 * its command's programs. */
static void regions_tell_outer(void)
{
	const char *journal = getenv("PERFSAGE_JOURNAL");
	int fd = journal && *journal
	             ? open(journal, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)
	             : -1;

	if (fd < 0)
		return;
	dprintf(fd, "inner %d\n", (int)getpid());
	close(fd);
}

/* Sets a variable; unsets it if value is NULL, so that the command doesn't inherit it. */
static int regions_set(const char *variable, const char *value)
{
	return value ? setenv(variable, value, 1) : unsetenv(variable);
}

static int regions_set_environment(const struct stat_regions *regions,
                                   const struct stat_options *options)
{
	/* Unset these, because perfsage itself formats the reports. */
	static const char *const others[] = {"PERFSAGE_FORMAT", "PERFSAGE_BY", "PERFSAGE_WIDTH",
	                                     "PERFSAGE_STYLE", "PERFSAGE_REGION"};

	for (size_t index = 0; index < sizeof others / sizeof others[0]; index++)
		unsetenv(others[index]);
	return regions_set_events(regions->model) < 0 || setenv("PERFSAGE_FLUSH", FLUSH_S, 0) < 0 ||
	               regions_set("PERFSAGE_BUDGET", options->of_regions.budget) < 0 ||
	               regions_set("PERFSAGE_ONE_IN", options->of_regions.one_in) < 0
	           ? -1
	           : 0;
}

/* Removes events that no counter here supports: processes couldn't start them, and would count
 * nothing. The user was told when they were added. */
static void regions_drop_unsupported(struct ps_eventset *model)
{
	for (size_t index = ps_eventset_event_count(model); index-- > 0;) {
		if (ps__set_event(model, index)->unsupported)
			ps_eventset_remove(model, ps_eventset_event_name(model, index));
	}
}

int stat_regions_create(struct stat_regions *regions, const struct stat_output *output,
                        struct ps_eventset *model)
{
	regions_drop_unsupported(model);
	*regions = (struct stat_regions){.command = output->options->command[0],
	                                 .model = model,
	                                 .shows_processes = output->options->shows_processes};
	if (regions_preload() < 0)
		return -1;
	regions_tell_outer();
	if (regions_set_settings(regions, output) < 0 ||
	    regions_set_environment(regions, output->options) < 0)
		return tool_complain("out of memory");
	if (ps_topology_load(&regions->topology, NULL) != PS_OK)
		return tool_complain_detail();
	return 0;
}

void stat_regions_destroy(struct stat_regions *regions)
{
	stat_regions_drop(regions);
	for (size_t run = 0; run < regions->run_count; run++)
		ps__os_free(regions->runs[run].text);
	ps__os_free(regions->runs);
	ps_eventset_destroy(regions->model);
	ps_topology_destroy(regions->topology);
	collect_settings_clear(&regions->settings);
	*regions = (struct stat_regions){.folder = NULL};
}

struct ps_eventset *stat_regions_model(void)
{
	struct ps_eventset *model;

	if (ps_eventset_create(&model) != PS_OK) {
		tool_complain_detail();
		return NULL;
	}
	if (ps_eventset_add(model, "task-clock") == PS_OK)
		return model;
	tool_complain_detail();
	ps_eventset_destroy(model);
	return NULL;
}

static void regions_describe_silence(const struct stat_regions *regions,
                                     const struct stat_heard *heard, struct ps__buffer *out)
{
	const char *why;

	if (heard->programs) {
		ps__buffer_add(out,
		               "no program that loaded " PRELOAD " told of marks: #include "
		               "<perfsage/marks.h> and PS_REGION, or count it as a whole without "
		               "--regions. A program that began without LD_PRELOAD (env -i, sudo) "
		               "isn't heard. One that began as another user (setpriv, su), or with "
		               "another root, can't write to the folder of TMPDIR: if it has "
		               "marks, its report is lost (see stderr)");
		return;
	}
	why = tool_program_find_obstacle(regions->command);
	ps__buffer_add(out, "nothing: ");
	tool_put(out, regions->command);
	ps__buffer_add(out, " %s",
	               why ? why
	                   : "took no preloaded library, or can't reach the folder of TMPDIR (as "
	                     "another user, or with another root)");
}

bool stat_regions_lost_all(const struct stat_regions *regions)
{
	const struct stat_heard *heard = &regions->heard;

	if (regions->has_reports || !(heard->processes || heard->silent || heard->lacks_notes))
		return false;
	tool_complain("--regions: all reports of processes were lost, so no region is shown");
	return true;
}

/* Describes reports that are missing or incomplete, and reports that another perfsage got. */
static void regions_describe_missing(const struct stat_heard *heard, struct ps__buffer *out)
{
	if (heard->silent) {
		stat_footer_line("lost", out);
		ps__buffer_add(
		    out,
		    "%zu process%s with marks left no report: still running, killed by a signal, "
		    "ended by _exit, replaced by another program, or refused (see stderr)\n",
		    heard->silent, heard->silent > 1 ? "es" : "");
	}
	if (heard->lacks_notes) {
		stat_footer_line("lost", out);
		ps__buffer_add(out, "it isn't known how many reports: the journal in the folder of "
		                    "TMPDIR is gone, or a process could not write to it\n");
	}
	if (heard->flushed) {
		stat_footer_line("cut short", out);
		ps__buffer_add(out,
		               "%zu process%s with marks, killed, ended by _exit or replaced by "
		               "another program: what %s counted last is not in the report\n",
		               heard->flushed, heard->flushed > 1 ? "es" : "",
		               heard->flushed > 1 ? "they" : "it");
	}
	if (heard->inner) {
		stat_footer_line("inner", out);
		ps__buffer_add(out,
		               "%zu perfsage stat --regions inside: the programs of %s are in %s\n",
		               heard->inner, heard->inner > 1 ? "their commands" : "its command",
		               heard->inner > 1 ? "their reports" : "its report");
	}
}

void stat_regions_describe(const struct stat_regions *regions, double cpu_s, struct ps__buffer *out)
{
	const struct stat_heard *heard = &regions->heard;

	regions_describe_missing(heard, out);
	if (!heard->processes && (heard->silent || heard->inner || heard->lacks_notes))
		return;
	stat_footer_line("heard", out);
	if (!heard->processes) {
		regions_describe_silence(regions, heard, out);
		ps__buffer_add(out, "\n");
		return;
	}
	ps__buffer_add(out, "%zu process%s with marks", heard->processes,
	               heard->processes > 1 ? "es" : "");
	if (!isnan(cpu_s) && !isnan(heard->cpu_s)) {
		ps__buffer_add(out, ": counted for ");
		ps__number_add_duration(out, heard->cpu_s);
		ps__buffer_add(out, " of the ");
		ps__number_add_duration(out, cpu_s);
		ps__buffer_add(
		    out, " CPU time of %zu program%s; the rest includes the start of counting",
		    heard->programs, heard->programs > 1 ? "s" : "");
	}
	ps__buffer_add(out, "\n");
}

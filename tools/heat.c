/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps. The library writes XML; hwloc's lstopo makes pictures of it. */
#include "heat.h"

#include "complaint.h"
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM    "lstopo"
#define PATH_BYTES 4096

extern char **environ;

/* "svg", "png" or "pdf" if lstopo is to draw; NULL: XML. */
static const char *picture_of(const char *path)
{
	static const char *const formats[] = {"svg", "png", "pdf"};
	const char *dot = strrchr(path, '.');

	for (size_t index = 0; dot && index < sizeof formats / sizeof formats[0]; index++) {
		if (strcasecmp(dot + 1, formats[index]) == 0)
			return formats[index];
	}
	return NULL;
}

/* Writes the XML and closes the stream, also after a failure. */
static int write_xml(struct ps_component *root, FILE *stream, const char *path, const char *by)
{
	struct ps_export_options how = {.size = sizeof how, .heat_by = by};
	int code = ps_export_with(root, PS_FORMAT_XML, &how, stream);

	if (fclose(stream) != 0 && code == PS_OK)
		return tool_complain("'%s' can't be written: %s", path, strerror(errno)), -1;
	if (code != PS_OK)
		tool_complain("the heat map '%s': %s", path, ps_error_detail());
	return code == PS_OK ? 0 : -1;
}

/* What lstopo is to draw, and in which file. A trial is silent. */
struct drawing {
	const char *input, *input_format;
	const char *format;
	const char *path;
	bool is_trial;
};

/* 0 if it is drawn, an errno value if lstopo can't be run, -1 if it failed. */
static int run_lstopo(const struct drawing *drawing)
{
	const char *const arguments[] = {
	    PROGRAM,           "--input",       drawing->input, "--input-format", drawing->input_format,
	    "--output-format", drawing->format, "--force",      drawing->path,    NULL};
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;

	int error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && drawing->is_trial && error == 0; fd++)
		error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
	/* Neither the call nor the program writes to the arguments. */
	if (error == 0)
		error = posix_spawnp(&pid, PROGRAM, &actions, NULL, (char *const *)arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		return error;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* A new file for `path`'s sake; complains. */
static int open_temporary(char path[PATH_BYTES])
{
	const char *folder = getenv("TMPDIR");

	snprintf(path, PATH_BYTES, "%s/perfsage-heat-XXXXXX", folder && *folder ? folder : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		tool_complain("'%s' can't be written: %s", path, strerror(errno));
	return fd;
}

/* Draws next to nothing: which formats lstopo has depends on how it was built. */
static int try_drawing(const char *path, const char *format)
{
	char trial[PATH_BYTES];
	const struct drawing drawing = {"pu:1", "synthetic", format, trial, true};
	int fd = open_temporary(trial);

	if (fd < 0)
		return -1;
	close(fd);
	int result = run_lstopo(&drawing);
	unlink(trial);
	if (result == 0)
		return 0;
	return tool_complain("'%s': the " PROGRAM
	                     " that is here draws no %s; install one with graphics (Debian: hwloc "
	                     "instead of hwloc-nox; Fedora: hwloc-gui), or have a FILE.svg or FILE.xml written",
	                     path, format),
	       -1;
}

/* Is there a program for it? */
static int check_picture(const char *path, const char *format)
{
	if (tool_launch_finds(PROGRAM, X_OK))
		return try_drawing(path, format);
	return tool_complain(
		   "'%s': " PROGRAM " draws such pictures, and it isn't in the folders of PATH; install it "
		   "(Debian: hwloc; Fedora: hwloc-gui; Spack: hwloc), or write FILE.xml and draw it elsewhere",
		   path),
	       -1;
}

/* Are the events counted that a derived value is made of? */
static int check_metric(const struct ps_eventset *model, const char *by)
{
	struct ps_value *nothing = calloc(ps_eventset_event_count(model), sizeof *nothing);
	struct ps_metric_value value;

	if (!nothing)
		return tool_complain("out of memory"), -1;
	int code = ps_metric_of_sums(model, by, nothing, NULL, &value);
	free(nothing);
	return code == PS_OK ? 0 : (tool_complain("--heat-by: %s", ps_error_detail()), -1);
}

/* Whether there will be a value is known at the end alone; whether it can be, now. */
static int check_colour(const struct ps_eventset *model, const char *by)
{
	if (!by)
		return 0;
	if (ps_metric_unit(by))
		return check_metric(model, by);
	for (size_t event = 0; event < ps_eventset_event_count(model); event++) {
		if (strcmp(ps_eventset_event_name(model, event), by) == 0)
			return 0;
	}
	return tool_complain(
		   "--heat-by: '%s' is neither a derived value nor one of the events that are counted; with "
		   "-e %s it is one",
		   by, by),
	       -1;
}

int tool_heat_check(const char *path, const struct ps_eventset *model, const char *by)
{
	const char *format = picture_of(path);
	bool is_new = access(path, F_OK) != 0;

	if (check_colour(model, by) < 0 || (format && check_picture(path, format) < 0))
		return -1;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return tool_complain("'%s' can't be written: %s", path, strerror(errno)), -1;
	close(fd);
	if (is_new)
		unlink(path);
	return 0;
}

/* lstopo without cairo writes viewBox='0 0 656px 394px', which has no units in SVG: some programs then show nothing. */
static void mend_view_box(const char *path)
{
	char head[512];
	FILE *stream = fopen(path, "r+e");

	if (!stream)
		return;
	head[fread(head, 1, sizeof head - 1, stream)] = '\0';
	char *box = strstr(head, "viewBox='");
	char *end = box ? strchr(box + strlen("viewBox='"), '\'') : NULL;
	for (char *unit = box; end && (unit = strstr(unit, "px")) && unit < end; unit += 2)
		memset(unit, ' ', 2);
	if (end && fseek(stream, 0, SEEK_SET) == 0)
		fwrite(head, 1, (size_t)(end - head), stream);
	fclose(stream);
}

static int draw(struct ps_component *root, const char *path, const char *format, const char *by)
{
	char xml[PATH_BYTES];
	const struct drawing drawing = {xml, "xml", format, path, false};
	int fd = open_temporary(xml);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");

	if (!stream) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	int result = write_xml(root, stream, path, by);
	if (result == 0) {
		result = run_lstopo(&drawing);
		if (result)
			tool_complain(PROGRAM " could not draw '%s'%s%s", path, result > 0 ? ": " : "",
			              result > 0 ? strerror(result) : "");
		else if (strcmp(format, "svg") == 0)
			mend_view_box(path);
	}
	unlink(xml);
	return result ? -1 : 0;
}

int tool_heat_write(struct ps_component *root, const char *path, const char *by)
{
	const char *format = picture_of(path);

	if (format)
		return draw(root, path, format, by);
	FILE *stream = fopen(path, "we");
	if (!stream)
		return tool_complain("'%s' can't be written: %s", path, strerror(errno)), -1;
	return write_xml(root, stream, path, by);
}

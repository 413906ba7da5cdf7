/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps. The library writes XML; hwloc's lstopo turns it into pictures. */
#include "tools/heat.h"

#include "base/os.h"
#include "base/stack.h"
#include "tools/processes.h"
#include "tools/terminal.h"
#include "tools/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM    "lstopo"
#define PATH_BYTES 4096

extern char **environ;

/* Returns the path's ending if it is in the list, which ends with NULL; else NULL. */
static const char *heat_ending_of(const char *path, const char *const *endings)
{
	const char *dot = strrchr(path, '.');

	while (*endings && (!dot || strcasecmp(dot + 1, *endings) != 0))
		endings++;
	return *endings;
}

/* Returns "svg", "png" or "pdf" if the path ends so and lstopo must draw it; NULL for XML. */
static const char *heat_picture_of(const char *path)
{
	static const char *const drawn[] = {"svg", "png", "pdf", NULL};

	return heat_ending_of(path, drawn);
}

/* Refuses the name of a picture that isn't drawn: its file would be XML. */
static int heat_check_ending(const char *path)
{
	static const char *const others[] = {"gif", "jpg",  "jpeg", "webp", "bmp",
	                                     "tif", "tiff", "ps",   "eps",  NULL};
	const char *ending = heat_ending_of(path, others);

	if (!ending)
		return 0;
	return tool_complain("the heat map '%s': there are no %s files of it: name it .svg, .png "
	                     "or .pdf, or .xml for hwloc's XML",
	                     path, ending);
}

static int heat_write_xml(struct ps_component *root, FILE *stream, const struct tool_heat *heat)
{
	struct ps_export_options how = {.size = sizeof how, .heat_by = heat->by};

	if (ps_export_with(root, PS_FORMAT_XML, &how, stream) == PS_OK)
		return 0;
	return tool_complain("the heat map '%s': %s", heat->file.name, ps_error_detail());
}

/* A picture for lstopo to draw. In a trial, lstopo's messages are discarded. */
struct drawing {
	const char *input, *input_format;
	const char *format;
	const char *path;
	bool is_trial;
};

/* Starts lstopo with the state that perfsage inherited: no blocked signals, three descriptors. */
static int heat_spawn(const struct drawing *drawing, const struct tool_state *state, pid_t *pid)
{
	const char *const arguments[] = {PROGRAM,
	                                 "--input",
	                                 drawing->input,
	                                 "--input-format",
	                                 drawing->input_format,
	                                 "--output-format",
	                                 drawing->format,
	                                 "--force",
	                                 drawing->path,
	                                 NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t ignored;

	int error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	if ((error = posix_spawnattr_init(&attributes)))
		goto destroy_actions;
	tool_state_ignored(state, &ignored);
	posix_spawnattr_setsigmask(&attributes, &state->mask);
	posix_spawnattr_setsigdefault(&attributes, &ignored);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && error == 0; fd++) {
		bool is_closed = fcntl(fd, F_GETFD) & FD_CLOEXEC;
		if (is_closed || (drawing->is_trial && fd != STDIN_FILENO))
			error =
			    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	}
	/* Safe cast: neither posix_spawnp nor lstopo writes to the arguments. */
	if (error == 0)
		error = posix_spawnp(pid, PROGRAM, &actions, &attributes, (char *const *)arguments,
		                     environ);
	posix_spawnattr_destroy(&attributes);
destroy_actions:
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Returns lstopo's status. A signal ends the wait and kills lstopo. */
static int heat_wait_for(pid_t pid, struct tool_watcher *watcher)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd >= 0 && !tool_watcher_until(watcher, pidfd, POLLIN))
		kill(pid, SIGKILL);
	if (pidfd >= 0)
		close(pidfd);
	return tool_process_reap(pid);
}

/* Returns 0 if the picture was drawn, an errno if lstopo can't be run, -1 if it failed. */
static int heat_run_lstopo(const struct drawing *drawing, struct tool_watcher *watcher)
{
	pid_t pid;

	tool_watcher_hold(watcher);
	int error = heat_spawn(drawing, &watcher->state, &pid);
	int status = error ? -1 : heat_wait_for(pid, watcher);
	tool_watcher_release(watcher);
	if (error || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return error;
	return -1;
}

/* Creates a temporary file. Returns -1 after a complaint. Signals are held until it is registered
 * for removal: else a signal in between would leave it behind. */
static int heat_open_temporary(char path[PATH_BYTES])
{
	const char *folder = getenv("TMPDIR");
	struct ps__held held;

	snprintf(path, PATH_BYTES, "%s/perfsage-heat-XXXXXX", folder && *folder ? folder : "/tmp");
	ps__signals_hold(&held);
	int fd = mkostemp(path, O_CLOEXEC);
	int error = errno;
	if (fd >= 0)
		tool_ending_remove(path);
	ps__signals_release(&held);
	if (fd < 0)
		tool_complain("'%s' can't be written: %s", path, strerror(error));
	return fd;
}

static void heat_remove_temporary(const char *path)
{
	unlink(path);
	tool_ending_keep(path);
}

/* Draws a tiny tree to find out whether lstopo can draw this format. This depends on how lstopo was
 * built. */
static int heat_try_drawing(const char *path, const char *format, struct tool_watcher *watcher)
{
	char trial[PATH_BYTES];
	const struct drawing drawing = {"pu:1", "synthetic", format, trial, true};
	int fd = heat_open_temporary(trial);

	if (fd < 0)
		return -1;
	close(fd);
	int result = heat_run_lstopo(&drawing, watcher);
	heat_remove_temporary(trial);
	if (result == 0 || watcher->signal)
		return result;
	return tool_complain(
	    "'%s': the " PROGRAM
	    " that is here draws no %s; install one with graphics (Debian: hwloc instead of "
	    "hwloc-nox; Fedora: hwloc-gui), or have a FILE.svg or FILE.xml written",
	    path, format);
}

/* Checks that lstopo exists and draws this format. */
static int heat_check_picture(const char *path, const char *format, struct tool_watcher *watcher)
{
	char file[PATH_MAX];

	if (tool_program_find(PROGRAM, X_OK, file))
		return heat_try_drawing(path, format, watcher);
	return tool_complain(
	    "'%s': " PROGRAM
	    " draws this picture, and is in no folder of PATH: install it (Debian: hwloc; Fedora: "
	    "hwloc-gui; Spack: hwloc), or name FILE.xml, which " PROGRAM
	    " draws on another machine",
	    path);
}

/* Checks that the set counts the events of a metric. */
static int heat_check_metric(const struct ps_eventset *model, const char *by)
{
	struct ps_value *nothing = ps__os_calloc(ps_eventset_event_count(model), sizeof *nothing);
	struct ps_metric_value value;

	if (!nothing)
		return tool_complain("out of memory");
	int code = ps_metric_of_sums(model, by, nothing, NULL, &value);
	ps__os_free(nothing);
	return code == PS_OK ? 0 : tool_complain("--heat-by: %s", ps_error_detail());
}

/* Checks that the event or metric can have a value. Whether it gets one is known only at the
 * end. */
static int heat_check_colour(const struct ps_eventset *model, const char *by)
{
	if (!by)
		return 0;
	if (ps_metric_unit(by))
		return heat_check_metric(model, by);
	for (size_t event = 0; event < ps_eventset_event_count(model); event++) {
		if (strcmp(ps_eventset_event_name(model, event), by) == 0)
			return 0;
	}
	return tool_complain("--heat-by: '%s' is neither a derived value nor one of the events "
	                     "that are counted; with -e %s it is one",
	                     by, by);
}

int tool_heat_open(struct tool_heat *heat, const char *path, const char *by,
                   const struct ps_eventset *model, struct tool_watcher *watcher)
{
	*heat = (struct tool_heat){.by = by, .format = heat_picture_of(path)};
	if (heat_check_colour(model, by) < 0 || heat_check_ending(path) < 0 ||
	    (heat->format && heat_check_picture(path, heat->format, watcher) < 0))
		return -1;
	return tool_file_open(&heat->file, path, watcher);
}

void tool_heat_close(struct tool_heat *heat)
{
	tool_file_discard(&heat->file);
}

/* Removes the units in viewBox='0 0 656px 394px', which lstopo writes without cairo. SVG allows no
 * units there, and some programs show nothing if there are any. */
static void heat_fix_view_box(const char *path)
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

/* True if the file ends as its format requires. lstopo doesn't report a full disk. */
static bool heat_is_whole(FILE *picture, const char *format)
{
	const char *end = strcmp(format, "svg") == 0   ? "</svg>"
	                  : strcmp(format, "png") == 0 ? "IEND"
	                                               : "%%EOF";
	char tail[64];

	if (fseek(picture, -(long)sizeof tail, SEEK_END) < 0)
		return false;
	size_t length = fread(tail, 1, sizeof tail, picture);
	rewind(picture);
	return memmem(tail, length, end, strlen(end)) != NULL;
}

/* Copies lstopo's picture into the file. */
static int heat_copy(const char *path, const struct tool_heat *heat)
{
	char bytes[4096];
	FILE *picture = fopen(path, "re");
	int result = 0;

	if (!picture || !heat_is_whole(picture, heat->format)) {
		tool_complain("'%s' can't be written: " PROGRAM
		              " left only a part of it in '%s'; is the disk full?",
		              heat->file.name, path);
		result = -1;
	}
	for (size_t some; result == 0 && (some = fread(bytes, 1, sizeof bytes, picture)) > 0;)
		fwrite(bytes, 1, some, heat->file.stream);
	if (picture)
		fclose(picture);
	return result;
}

static int heat_run_and_copy(struct tool_heat *heat, const char *xml, const char *picture)
{
	const struct drawing drawing = {xml, "xml", heat->format, picture, false};
	int result = heat_run_lstopo(&drawing, heat->file.watcher);

	if (result)
		return tool_complain(PROGRAM " could not draw '%s'%s%s", heat->file.name,
		                     result > 0 ? ": " : "", result > 0 ? strerror(result) : "");
	if (strcmp(heat->format, "svg") == 0)
		heat_fix_view_box(picture);
	return heat_copy(picture, heat);
}

static int heat_draw(struct ps_component *root, struct tool_heat *heat)
{
	char xml[PATH_BYTES], picture[PATH_BYTES];
	int result = -1;

	int fd = heat_open_temporary(xml);
	if (fd < 0)
		return -1;
	FILE *stream = fdopen(fd, "w");
	int picture_fd = heat_open_temporary(picture);
	if (stream && picture_fd >= 0)
		result = heat_write_xml(root, stream, heat);
	if (stream ? fclose(stream) : close(fd)) {
		tool_complain("'%s' can't be written: %s", xml, strerror(errno));
		result = -1;
	}
	if (result == 0)
		result = heat_run_and_copy(heat, xml, picture);
	heat_remove_temporary(xml);
	if (picture_fd >= 0) {
		close(picture_fd);
		heat_remove_temporary(picture);
	}
	return result;
}

int tool_heat_write(struct tool_heat *heat, struct ps_component *root)
{
	tool_file_begin(&heat->file);
	int result =
	    heat->format ? heat_draw(root, heat) : heat_write_xml(root, heat->file.stream, heat);
	/* Don't replace the old file by half a map. */
	if (result < 0)
		tool_file_discard(&heat->file);
	else
		result = tool_file_finish(&heat->file, false);
	return result;
}

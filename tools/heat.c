/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps. The library writes XML; hwloc's lstopo makes pictures of it. */
#include "heat.h"

#include "complaint.h"
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "lstopo"

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

int tool_heat_check(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		return tool_complain("'%s' can't be written: %s", path, strerror(errno)), -1;
	close(fd);
	if (!picture_of(path) || tool_launch_finds(PROGRAM, X_OK))
		return 0;
	return tool_complain(
		   "'%s': " PROGRAM " draws such pictures, and it isn't in the folders of PATH; install it "
		   "(Debian: hwloc; Fedora: hwloc-gui; Spack: hwloc), or write FILE.xml and draw it elsewhere",
		   path),
	       -1;
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

static int run_lstopo(const char *xml, const char *format, const char *path)
{
	const char *const arguments[] = {
	    PROGRAM, "--input", xml, "--input-format", "xml", "--output-format", format, "--force", path, NULL};
	int status = -1;
	pid_t pid;
	/* Neither the call nor the program writes to them. */
	int error = posix_spawnp(&pid, PROGRAM, NULL, NULL, (char *const *)arguments, environ);

	if (error)
		return tool_complain(PROGRAM " can't be run: %s", strerror(error)), -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return tool_complain(PROGRAM " could not draw '%s'", path), -1;
}

static int draw(struct ps_component *root, const char *path, const char *format, const char *by)
{
	char xml[4096];
	const char *folder = getenv("TMPDIR");

	snprintf(xml, sizeof xml, "%s/perfsage-heat-XXXXXX", folder && *folder ? folder : "/tmp");
	int fd = mkostemp(xml, O_CLOEXEC);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (!stream) {
		tool_complain("'%s' can't be written: %s", xml, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	int result = write_xml(root, stream, xml, by);
	if (result == 0)
		result = run_lstopo(xml, format, path);
	unlink(xml);
	return result;
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

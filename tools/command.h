/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of perfsage, each the file of its name, and the exit statuses
 * that they share. main.c has the table. */
#ifndef PS_TOOLS_COMMAND_H
#define PS_TOOLS_COMMAND_H

/* perfsage's own statuses; else a counted command's own, as shells and env(1)
 * have it. */
enum tool_status {
	TOOL_OK = 0,
	TOOL_FAILED = 125, /* perfsage itself: wrong options, no permission, no such event */
	TOOL_NOT_EXECUTABLE = 126, /* the command was found, and can't be run */
	TOOL_NOT_FOUND = 127,
	/* Plus the number of the signal that ended the command: no status of a command. perfsage
	 * ends by it, too. */
	TOOL_BY_SIGNAL = 256
};

/* The number that shells show: 128 plus that of the signal. */
static inline int tool_status_number(int status)
{
	return status > TOOL_BY_SIGNAL ? 128 + status - TOOL_BY_SIGNAL : status;
}

struct tool_command {
	const char *name;
	/* argv[0] is the subcommand's name. Returns the exit status. */
	int (*run)(int argc, char **argv);
	const char *help; /* one line */
};

int tool_stat(int argc, char **argv);
int tool_doctor(int argc, char **argv);
int tool_list(int argc, char **argv);
int tool_log(int argc, char **argv);
int tool_timeline(int argc, char **argv);
int tool_place(int argc, char **argv);
int tool_topo(int argc, char **argv);

#endif

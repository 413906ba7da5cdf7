/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of perfsage, each in the file of its name, and their exit statuses. main.c has
 * the table. */
#ifndef PS_TOOLS_COMMAND_H
#define PS_TOOLS_COMMAND_H

/* Statuses of perfsage itself, with the meanings that shells and env(1) give them. If a command is
 * counted, its own status is returned instead. */
enum tool_status {
	TOOL_OK = 0,
	/* perfsage failed: wrong options, no permission, unknown event. Shells show 125. */
	TOOL_FAILED = -1,
	TOOL_NOT_EXECUTABLE = 126, /* the command was found but can't be run */
	TOOL_NOT_FOUND = 127,
	/* If a signal ended the command: this number plus the signal's number. No command can
	 * return such a status. perfsage then ends by the same signal. */
	TOOL_BY_SIGNAL = 256
};

/* Returns the status that shells show: 128 plus the signal's number if a signal ended the
 * command. */
static inline int tool_status_number(int status)
{
	if (status == TOOL_FAILED)
		return 125;
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

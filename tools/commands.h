/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands: each is the file of its name. main.c has the table. */
#ifndef PS_TOOLS_COMMANDS_H
#define PS_TOOLS_COMMANDS_H

int tool_stat(int argc, char **argv);
int tool_doctor(int argc, char **argv);
int tool_list(int argc, char **argv);
int tool_topo(int argc, char **argv);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What went wrong, said on stderr in one form: "perfsage stat: SENTENCE". Used by all subcommands. */
#ifndef PS_TOOLS_COMPLAINT_H
#define PS_TOOLS_COMPLAINT_H

/* The subcommand that complains from now on; a string that stays. */
void tool_complain_as(const char *command);

/* One line on stderr. Returns TOOL_FAILED, so that `return tool_complain(...)` ends a subcommand. */
int tool_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

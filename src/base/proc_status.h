/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines "Name:\tvalue" of /proc/PID/status. ps__proc_status_read reads the caller's own file,
 * /proc/self/status; locate/task.c reads the file of another task. */
#ifndef PS_BASE_PROC_STATUS_H
#define PS_BASE_PROC_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#define PS__PROC_STATUS_BYTES 4096

/* Reads the caller's lines: as many whole lines as fit. Returns false, with an empty text, if the
 * file can't be read. */
bool ps__proc_status_read(char status[PS__PROC_STATUS_BYTES]);

/* The number of a line; fallback if there is none. */
unsigned long long ps__proc_status_number(const char *status, const char *name, int base,
                                          unsigned long long fallback);

/* The text of a line; false if there is no such line, or it doesn't fit. */
bool ps__proc_status_text(const char *status, const char *name, char *out, size_t size_bytes);

/* True if the process has this capability (its number in capabilities(7)). */
bool ps__proc_status_has_capability(const char *status, int number);
/* True in a user namespace other than the initial one (which maps all numbers to themselves). In
 * such a namespace, capabilities don't count for perf_event_open and bpf, not even root's. map
 * receives the first line of /proc/self/uid_map; map can be NULL. */
bool ps__proc_is_in_user_namespace(char *map, size_t size_bytes);

/* The words LACK, ROOT and GAIN of "... and LACK; as ROOT: GAIN", in sentences about a capability
 * that is missing or doesn't count. */
struct ps__privilege {
	const char *lack, *root, *gain;
};
struct ps__privilege ps__proc_privilege(void);

/* Returns PS__ADVICE_CAPABILITY, or PS__ADVICE_BPF. If ps__proc_name_program was called, the file
 * is in place of PROGRAM. */
const char *ps__proc_advise_capability(bool needs_bpf);
/* Names the program that needs the capabilities. The perfsage command calls this before it starts
 * threads. Ignores a file whose name a shell would not take as one plain word. */
void ps__proc_name_program(const char *file);

#define PS__CAP_SYS_ADMIN 21 /* kernels before 5.8 have no PERFMON and ask for this */
#define PS__CAP_PERFMON   38
#define PS__CAP_BPF       39

#endif

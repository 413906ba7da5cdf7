/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the lines of /proc/PID/status, such as capabilities, seccomp and CPUs, for error sentences,
 * the diagnosis, metric files, tasks and the flush of reports. */
#include "base/proc_status.h"

#include "base/advice.h"
#include "base/os.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ps__proc_status_read(char status[PS__PROC_STATUS_BYTES])
{
	ssize_t length = ps__os_read_head("/proc/self/status", status, PS__PROC_STATUS_BYTES);

	if (length < 0)
		length = 0;
	status[length] = '\0';
	/* The text was cut, as a process may have thousands of groups: drop the incomplete line. */
	char *end = length == PS__PROC_STATUS_BYTES - 1 ? strrchr(status, '\n') : NULL;
	if (end)
		end[1] = '\0';
	return length > 0;
}

/* The text behind "Name:"; NULL if no line has this name. */
static const char *status_find_line(const char *status, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && line[length] == ':')
			return line + length + 1;
	}
	return NULL;
}

unsigned long long ps__proc_status_number(const char *status, const char *name, int base,
                                          unsigned long long fallback)
{
	const char *value = status_find_line(status, name);
	char *end;

	if (!value)
		return fallback;
	unsigned long long number = strtoull(value, &end, base);
	return end == value ? fallback : number;
}

bool ps__proc_status_text(const char *status, const char *name, char *out, size_t size_bytes)
{
	const char *value = status_find_line(status, name);

	if (!value)
		return false;
	value += strspn(value, " \t");
	size_t length = strcspn(value, "\n");
	if (length >= size_bytes)
		return false;
	memcpy(out, value, length);
	out[length] = '\0';
	return true;
}

bool ps__proc_status_has_capability(const char *status, int number)
{
	return ps__proc_status_number(status, "CapEff", 16, 0) >> number & 1;
}

bool ps__proc_is_in_user_namespace(char *map, size_t size_bytes)
{
	unsigned inside, outside;
	unsigned long count;
	char line[128];

	if (ps__os_read_file("/proc/self/uid_map", line, sizeof line) <= 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	if (map)
		snprintf(map, size_bytes, "%s", line);
	return sscanf(line, "%u %u %lu", &inside, &outside, &count) == 3 &&
	       (inside != 0 || outside != 0 || count != UINT32_MAX);
}

#define ADVICE_BYTES 512

static char advice_capability[ADVICE_BYTES] = PS__ADVICE_CAPABILITY;
static char advice_bpf[ADVICE_BYTES] = PS__ADVICE_BPF;

const char *ps__proc_advise_capability(bool needs_bpf)
{
	return needs_bpf ? advice_bpf : advice_capability;
}

static void proc_advise(char advice[ADVICE_BYTES], const char *general, const char *file)
{
	size_t length = strlen(general) - strlen(PS__ADVICE_PROGRAM);

	snprintf(advice, ADVICE_BYTES, "%.*s%s", (int)length, general, file);
}

void ps__proc_name_program(const char *file)
{
	size_t length = strspn(file, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                             "0123456789/._+-");

	if (length == 0 || file[length] || length > ADVICE_BYTES / 2)
		return;
	proc_advise(advice_capability, PS__ADVICE_CAPABILITY, file);
	proc_advise(advice_bpf, PS__ADVICE_BPF, file);
}

struct ps__privilege ps__proc_privilege(void)
{
	if (ps__proc_is_in_user_namespace(NULL, 0))
		return (struct ps__privilege){"capabilities in a user namespace don't count",
		                              "root of the host", "run without a user namespace"};
	return (struct ps__privilege){"the process lacks CAP_PERFMON", "root",
	                              ps__proc_advise_capability(false)};
}

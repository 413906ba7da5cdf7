/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the diagnosis's steps: they write the draft and open events. */
#include "base/advice.h"
#include "base/os.h"
#include "base/proc_status.h"
#include "diagnose/diagnosis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE_NS \
	20000000u      /* the kernel changes groups that take turns at each tick: 1 to 10 ms */
#define STANDSTILLS 16 /* readings in a row with the same time: the event stands still */

__attribute__((format(printf, 3, 0))) static void add_text(char *text, size_t size_bytes,
                                                           const char *format, va_list arguments)
{
	size_t length = strlen(text);

	vsnprintf(text + length, size_bytes - length, format, arguments);
}

void ps__draft_fact(struct ps__diagnosis *diagnosis, enum ps_finding_state state,
                    const char *format, ...)
{
	va_list arguments;

	diagnosis->draft.finding.state = state;
	diagnosis->draft.fact[0] = '\0';
	va_start(arguments, format);
	add_text(diagnosis->draft.fact, sizeof diagnosis->draft.fact, format, arguments);
	va_end(arguments);
}

void ps__draft_add(struct ps__diagnosis *diagnosis, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_text(diagnosis->draft.fact, sizeof diagnosis->draft.fact, format, arguments);
	va_end(arguments);
}

void ps__draft_remedy(struct ps__diagnosis *diagnosis, enum ps_remedy_by by, const char *gain,
                      const char *format, ...)
{
	va_list arguments;

	diagnosis->draft.finding.by = by;
	snprintf(diagnosis->draft.gain, sizeof diagnosis->draft.gain, "%s", gain);
	diagnosis->draft.remedy[0] = '\0';
	va_start(arguments, format);
	add_text(diagnosis->draft.remedy, sizeof diagnosis->draft.remedy, format, arguments);
	va_end(arguments);
}

void ps__draft_lasting(struct ps__diagnosis *diagnosis, const char *format, ...)
{
	va_list arguments;

	diagnosis->draft.lasting[0] = '\0';
	va_start(arguments, format);
	add_text(diagnosis->draft.lasting, sizeof diagnosis->draft.lasting, format, arguments);
	va_end(arguments);
}

void ps__draft_lasting_sysctl(struct ps__diagnosis *diagnosis, const char *name, long value)
{
	ps__draft_lasting(diagnosis, PS__ADVICE_LASTING, name, value, name);
}

void ps__draft_level(struct ps__diagnosis *diagnosis, const char *gain, long level)
{
	ps__draft_remedy(
	    diagnosis, PS_REMEDY_BY_ADMINISTRATOR, gain, PS__ADVICE_LEVEL "  (%s)", level,
	    ps__proc_is_in_user_namespace(NULL, 0) ? "as root of the host"
						   : "or for one program: " PS__ADVICE_CAPABILITY);
	ps__draft_lasting_sysctl(diagnosis, "perf_event_paranoid", level);
}

int ps__probe_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = ps__os_open_event(attr, pid, cpu, -1, 0);

	if (fd < 0)
		return -fd;
	ps__os.close(fd);
	return 0;
}

struct perf_event_attr ps__probe_attr(uint32_t type, uint64_t config, bool is_user)
{
	return (struct perf_event_attr){
	    .type = type,
	    .size = sizeof(struct perf_event_attr),
	    .config = config,
	    .exclude_kernel = is_user,
	    .exclude_hv = is_user,
	};
}

struct times {
	uint64_t value, enabled_ns, running_ns;
};

/* Returns 0; an errno; or EAGAIN for an event in the error state, like a pinned event without a
 * counter. */
static int probe_read_times(int fd, struct times *out)
{
	ssize_t length = ps__os_read_retried(fd, out, sizeof *out);

	if (length < 0)
		return errno;
	return length == (ssize_t)sizeof *out ? 0 : EAGAIN;
}

bool ps__probe_is_scheduled(int fd, bool *is_certain)
{
	struct times first, before, now;
	int error = probe_read_times(fd, &first);

	before = first;
	for (unsigned standstills = 0; !error && standstills < STANDSTILLS;) {
		error = probe_read_times(fd, &now);
		if (error)
			break;
		*is_certain = now.running_ns > first.running_ns ||
		              now.enabled_ns - first.enabled_ns > PATIENCE_NS;
		if (*is_certain)
			return now.running_ns > first.running_ns;
		standstills = now.enabled_ns == before.enabled_ns ? standstills + 1 : 0;
		before = now;
	}
	*is_certain = error == EAGAIN;
	return false;
}

const char *ps__probe_errno(int error)
{
	static const struct {
		int number;
		const char *name;
	} known[] = {
	    {EACCES, "EACCES"}, {EPERM, "EPERM"},   {ENOSYS, "ENOSYS"}, {ENOENT, "ENOENT"},
	    {EINVAL, "EINVAL"}, {EMFILE, "EMFILE"}, {ENFILE, "ENFILE"}, {EOPNOTSUPP, "EOPNOTSUPP"},
	    {ENODEV, "ENODEV"}, {EBUSY, "EBUSY"},   {ENOSPC, "ENOSPC"}, {ENOMEM, "ENOMEM"},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (known[i].number == error)
			return known[i].name;
	}
	return strerror(error);
}

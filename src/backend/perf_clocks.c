/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks measure how long the tasks of a process were on each CPU, if its events count on any CPU.
 * A clock is a dummy event for a root and a CPU, and is inherited like the events. Its running time
 * is the time on its CPU. Its enabled time is the time on any CPU. Exception: when a task ends on
 * another CPU, the kernel drops the enabled time of the task's copy since the task was last on the
 * clock's CPU.
 *
 * The clocks are opened before the events, enabled before them, and disabled after them. So no task
 * has events without all clocks of its root, and nothing is counted while the clocks are off.
 */
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"

static pid_t root_of(const struct ps__perf *perf, size_t clock)
{
	return perf->target.roots[perf->target.clocks[clock].root];
}

static int clock_open(const struct ps__perf *perf, size_t clock)
{
	struct ps__instance instance = {.place = {.pid = root_of(perf, clock),
	                                          .cpu = perf->target.clocks[clock].cpu,
	                                          .inherit = true,
	                                          .counts_at_once = perf->base.counts_when_open,
	                                          .enables_on_exec = perf->target.enables_on_exec}};

	return ps__perf_open_dummy(&instance);
}

int ps__perf_open_clocks(struct ps__perf *perf)
{
	const struct ps__target *target = &perf->target;

	if (target->clock_count == 0)
		return PS_OK;
	perf->base.clocks = ps__os_calloc(target->clock_count, sizeof *perf->base.clocks);
	if (!perf->base.clocks)
		return ps__fail_memory("the clocks of a process");
	for (size_t index = 0; index < target->clock_count; index++) {
		int fd = clock_open(perf, index);
		if (fd < 0)
			return ps__perf_explain_event(perf, 0, root_of(perf, index), -fd);
		struct ps__clock_time *clock = &perf->base.clocks[perf->base.clock_count++];
		clock->fd = fd;
		clock->id = ps__os_event_id(fd);
	}
	return PS_OK;
}

void ps__perf_close_clocks(struct ps__perf *perf, bool abandon)
{
	for (size_t index = 0; index < perf->base.clock_count; index++)
		ps__os_close_event(perf->base.clocks[index].fd, perf->base.clocks[index].id,
		                   abandon);
	ps__os_free(perf->base.clocks);
	perf->base.clocks = NULL;
	perf->base.clock_count = 0;
}

static struct ps__dummy clock_dummy(const struct ps__perf *perf, size_t index)
{
	return (struct ps__dummy){perf->base.clocks[index].fd, perf->target.clocks[index].cpu,
	                          root_of(perf, index), perf->base.clocks[index].id};
}

/* Enables or disables all clocks. If the kernel refuses one, the others are still changed. */
int ps__perf_control_clocks(struct ps__perf *perf, unsigned long request)
{
	int result = PS_OK;

	for (size_t index = 0; index < perf->base.clock_count; index++) {
		int one = ps__perf_control_dummy(perf, clock_dummy(perf, index), request);
		if (one != PS_OK)
			result = one;
	}
	return result;
}

static int clock_read(struct ps__perf *perf, size_t index)
{
	struct ps__clock_time *clock = &perf->base.clocks[index];
	uint64_t words[PS__DUMMY_WORDS];
	int result = ps__perf_read_dummy(perf, clock_dummy(perf, index), words);

	if (result != PS_OK)
		return result;
	clock->enabled_ns = words[1];
	clock->running_ns = words[2];
	return PS_OK;
}

/* Reads a root's clocks. If there is one for any CPU, it is the last. It is also read before the
 * others: otherwise the time between two reads could be taken for time on another CPU. */
static int clock_read_root(struct ps__perf *perf, size_t first, size_t last)
{
	struct ps__clock_time *any = &perf->base.clocks[last];
	int result = PS_OK;

	if (perf->target.clocks[last].cpu == PS__CLOCK_ANY)
		result = clock_read(perf, last);
	any->earlier_ns = any->running_ns;
	for (size_t index = first; result == PS_OK && index <= last; index++)
		result = clock_read(perf, index);
	return result;
}

int ps__perf_read_clocks(struct ps__backend *backend)
{
	struct ps__perf *perf = (struct ps__perf *)backend;
	const struct ps__clock_place *places = perf->target.clocks;
	int result = PS_OK;

	for (size_t first = 0, next; result == PS_OK && first < backend->clock_count;
	     first = next) {
		for (next = first + 1; next < backend->clock_count; next++)
			if (places[next].root != places[first].root)
				break;
		result = clock_read_root(perf, first, next - 1);
	}
	return result;
}

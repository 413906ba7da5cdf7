/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting in a run of perfsage stat: until counting begins, for intervals, and for its end. */
#include "base/os.h"
#include "eventset/parts.h"
#include "output/number.h"
#include "tools/stat_run.h"
#include "tools/stat_show.h"
#include "tools/terminal.h"

#include <math.h>

/* Period of showing the elapsed time. */
#define BEAT_NS 1000000000u

/* Period of reading the kernel's records about tasks and uncounted programs. */
#define TAKE_NS 20000000u

/* Least period of looking where the tasks run. Looks take at most 1 / PART_OF_TIME of a CPU's
 * time. */
#define LOOK_NS      10000000u
#define PART_OF_TIME 100

int stat_wait_add_interval(struct run *run, bool has_ended)
{
	struct session *session = run->session;

	if (!session->has_aggregate &&
	    stat_aggregate_create(&session->aggregate, &session->output, &run->count) < 0)
		return -1;
	session->has_aggregate = true;
	return stat_aggregate_add(&session->aggregate, &run->count, has_ended);
}

int stat_wait_show_interval(struct run *run, const struct stat_facts *ending)
{
	/* The last interval ends when the run does. */
	uint64_t now =
	    ending ? run->started_ns + (uint64_t)llround(ending->elapsed_s * 1e9) : ps__os_now_ns();
	struct stat_facts facts = ending ? *ending : (struct stat_facts){0};

	facts.pid = run->command;
	facts.elapsed_s = (double)(now - run->started_ns) / 1e9;
	facts.interval_s = (double)(now - run->taken_ns) / 1e9;
	run->taken_ns = now;
	if (stat_wait_add_interval(run, ending != NULL) < 0)
		return -1;
	return stat_show(&run->session->output, &run->count, &facts);
}

static void wait_show_beat(struct run *run)
{
	struct ps__buffer text = {0};
	uint64_t seconds = (run->beat_ns - run->started_ns) / BEAT_NS;

	ps__buffer_add(&text, "\r");
	ps__number_add_duration(&text, (double)seconds);
	ps__buffer_add(&text, "\033[K");
	tool_write(&text, run->session->output.stream);
	tool_file_flush(&run->session->output.file);
	run->beat_ns += BEAT_NS;
}

void stat_wait_end_beat(struct run *run)
{
	if (run->beat_ns > run->started_ns + BEAT_NS)
		fprintf(run->session->output.stream, "\r\033[K");
}

static uint64_t wait_earliest(uint64_t one, uint64_t other)
{
	if (one == 0 || (other != 0 && other < one))
		return other;
	return one;
}

/* Called when the time is up. Asks the command to end; without a command, counting ends now.
 * Returns true if there is a command to wait for. */
static bool wait_end_by_timeout(struct run *run)
{
	run->limit_ns = 0;
	return tool_watcher_end_by_timeout(&run->session->watcher);
}

static void wait_take_records(struct run *run, uint64_t now)
{
	if (run->take_ns == 0 || now < run->take_ns)
		return;
	stat_uncounted_take(&run->count);
	run->take_ns = now + TAKE_NS;
}

static void wait_look(void *context)
{
	struct run *run = context;
	uint64_t before_ns = ps__os_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (size_t index = 0; index < run->count.set_count; index++)
		ps__set_look(run->count.sets[index]);
	uint64_t pause_ns =
	    (ps__os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns) * (PART_OF_TIME - 1);
	run->look_ns = ps__os_now_ns() + (pause_ns > LOOK_NS ? pause_ns : LOOK_NS);
}

/* Ends an interval. Returns false if counting must end. This is the case after the last interval,
 * which the caller shows when counting has ended, and after a failed write; but not while a command
 * is running. */
static bool wait_take_interval(struct run *run, uint64_t now)
{
	uint64_t interval_ns = (uint64_t)run->session->options.interval_ms * 1000000;

	if (run->intervals == 1) {
		run->tick_ns = 0;
		return wait_end_by_timeout(run);
	}
	run->intervals -= run->intervals > 0;
	stat_count_take(&run->count);
	bool is_shown = stat_wait_show_interval(run, NULL) == 0;
	run->lacks_interval |= !is_shown;
	/* The interval that was just shown includes the intervals that were missed. */
	run->tick_ns += interval_ns * ((now - run->tick_ns) / interval_ns + 1);
	return is_shown || run->session->watcher.command;
}

enum tool_wakeup stat_wait_for_begin(struct run *run)
{
	uint64_t begin_ns =
	    run->started_ns + (uint64_t)run->session->options.limits.delay_ms * 1000000;

	for (;;) {
		enum tool_wakeup wakeup = tool_watcher_wait(
		    &run->session->watcher,
		    wait_earliest(begin_ns, wait_earliest(run->look_ns, run->take_ns)));
		uint64_t now = ps__os_now_ns();
		if (wakeup != TOOL_WAKEUP_TICK || now >= begin_ns)
			return wakeup;
		wait_take_records(run, now);
		if (run->look_ns && now >= run->look_ns)
			wait_look(run);
	}
}

enum tool_wakeup stat_wait_for_end(struct run *run)
{
	for (;;) {
		uint64_t deadline = wait_earliest(wait_earliest(run->beat_ns, run->take_ns),
		                                  wait_earliest(run->tick_ns, run->limit_ns));
		deadline = wait_earliest(deadline, run->look_ns);
		enum tool_wakeup wakeup = tool_watcher_wait(&run->session->watcher, deadline);
		uint64_t now = ps__os_now_ns();
		if (wakeup != TOOL_WAKEUP_TICK)
			return wakeup;
		if (run->limit_ns && now >= run->limit_ns && !wait_end_by_timeout(run))
			return TOOL_WAKEUP_TICK;
		wait_take_records(run, now);
		if (run->look_ns && now >= run->look_ns)
			wait_look(run);
		if (run->beat_ns && now >= run->beat_ns)
			wait_show_beat(run);
		if (run->tick_ns && now >= run->tick_ns && !wait_take_interval(run, now))
			return TOOL_WAKEUP_TICK;
	}
}

void stat_wait_set_clocks(struct run *run)
{
	const struct stat_options *options = &run->session->options;

	uint64_t now_ns = ps__os_now_ns();

	run->started_ns = run->count.began_ns ? run->count.began_ns : now_ns;
	run->taken_ns = run->started_ns;
	if (options->interval_ms)
		run->tick_ns = now_ns + (uint64_t)options->interval_ms * 1000000;
	if (options->limits.timeout_ms)
		run->limit_ns = now_ns + (uint64_t)options->limits.timeout_ms * 1000000;
	run->intervals = options->limits.interval_count;
	if (run->count.uncounted.is_of_processes || run->count.online)
		run->take_ns = run->started_ns + TAKE_NS;
	bool looks = run->count.how.by_looks > 0;
	run->look_ns = looks ? run->started_ns + LOOK_NS : 0;
	run->session->watcher.before_end = looks ? wait_look : NULL;
	run->session->watcher.context = run;
	if (!options->interval_ms && options->format == PS_FORMAT_TEXT &&
	    run->session->output.may_redraw)
		run->beat_ns = run->started_ns + BEAT_NS;
}

void stat_wait_forget(struct run *run)
{
	run->session->watcher.before_end = NULL;
	run->session->watcher.context = NULL;
}

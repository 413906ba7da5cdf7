/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether something else has switched the counters off.
 * prctl(PR_TASK_PERF_EVENTS_DISABLE) does this to all counters that its thread has opened. Its only
 * trace is that their enabled time stands still while the thread runs. So ps_stop compares the
 * enabled time with the thread's processor time since the last comparison. The processor time while
 * the set was stopped isn't known separately, so an interruption of up to that length is not
 * noticed.
 *
 * A hypervisor can take the CPU away for a time: a stall. A stall is enabled time, but not
 * processor time, so it can hide an interruption of the same length. If the hypervisor doesn't
 * report stolen time, a stall is processor time as well. A stall during a switch of tasks is only
 * processor time, and can't be told from an interruption. So some stalls are allowed for if there
 * were switches.
 */
#include "base/identity.h"
#include "base/os.h"
#include "eventset/eventset.h"

/* If more enabled time than this is missing, the thread was off its CPU, or its counters were off.
 * Only then is the processor time read. */
#define SHORTEST_DOUBT_NS 1000000u
#define PART_IN_DOUBT     64u

/* The two times may differ by this much. A switch of tasks is processor time that isn't counted; so
 * are parts of ps_start and ps_stop. With many instances ps_start and ps_stop take long, so a
 * multiple of the last start's time is allowed for them. A switch starts and stops one instance,
 * which on an emulated machine takes longer than SWITCH_TOLERANCE_NS. */
#define TOLERANCE_NS        200000u
#define TOLERANCE_PART      16u
#define SWITCH_TOLERANCE_NS 100000u
#define STOP_TOLERANCE_NS   50000u
#define STOP_IN_STARTS      4u

/* Stalls of STALL_NS are allowed for in each second. In measurements, a hypervisor took the CPU
 * away for 6 ms, and 3.6 ms were missing after switches. */
#define STALL_NS   10000000u
#define STALL_PART 100u

static uint64_t interruption_enabled_ns(const struct ps_eventset *set)
{
	return ps__set_assigned(set, 0)[0];
}

/* Begins a new comparison at now_ns. If the set is stopped now, it counts as stopped since then.
 * The processor time is read from a clock, because getrusage(2) gives that of the last tick or
 * switch. */
static void interruption_settle(struct ps_eventset *set, const struct rusage *usage,
                                uint64_t now_ns)
{
	uint64_t over_ns = (now_ns - set->balance.wall_ns) / STALL_PART;
	uint64_t stall_ns = set->balance.stall_ns;

	set->balance =
	    (struct ps__balance){.is_begun = true,
	                         .stall_ns = stall_ns > over_ns ? stall_ns - over_ns : 0,
	                         .wall_ns = now_ns,
	                         .cpu_ns = ps__os_clock_ns(CLOCK_THREAD_CPUTIME_ID),
	                         .switches = (uint64_t)usage->ru_nvcsw + (uint64_t)usage->ru_nivcsw,
	                         .enabled_ns = interruption_enabled_ns(set),
	                         .stop_ns = now_ns};
}

static bool is_balanced(const struct ps_eventset *set)
{
	return set->counters.target.kind == PS__TARGET_SELF && !set->counters.papi &&
	       set->recorder.recording->groups > 0 && set->calls.owner == ps__thread_number();
}

void ps__set_begin_balance(struct ps_eventset *set)
{
	struct rusage usage;

	if (!set->balance.is_begun && is_balanced(set) &&
	    ps__os.getrusage(RUSAGE_THREAD, &usage) == 0)
		interruption_settle(set, &usage, ps__clock_now_ns(&set->recorder.clock));
}

/* True if enabled time is missing. If there was a switch, the missing time is first taken from the
 * allowance for stalls. */
static bool is_short(const struct ps__balance *before, struct ps__balance *now, uint64_t switch_ns)
{
	uint64_t switches = now->switches - before->switches;
	uint64_t ran_ns = now->cpu_ns - before->cpu_ns;
	uint64_t explained_ns = now->enabled_ns - before->enabled_ns + before->stopped_ns +
	                        before->allowed_ns + TOLERANCE_NS + ran_ns / TOLERANCE_PART +
	                        switches * switch_ns;

	if (ran_ns <= explained_ns)
		return false;
	uint64_t missing_ns = ran_ns - explained_ns;
	if (switches == 0 || missing_ns > STALL_NS - now->stall_ns) {
		now->stall_ns = STALL_NS;
		return true;
	}
	now->stall_ns += missing_ns;
	return false;
}

bool ps__set_end_balance(struct ps_eventset *set, uint64_t now_ns)
{
	struct rusage usage;

	if (!set->balance.is_begun || !is_balanced(set))
		return false;
	if (set->counters.backend->run.started_ns > set->balance.stop_ns)
		set->balance.stopped_ns +=
		    set->counters.backend->run.started_ns - set->balance.stop_ns;
	/* Fetching the final counts also counts as stopped time: a hypervisor may take the CPU away
	 * then, and that is processor time. */
	if (now_ns > set->counters.backend->run.stopped_ns)
		set->balance.stopped_ns += now_ns - set->counters.backend->run.stopped_ns;
	set->balance.allowed_ns +=
	    STOP_TOLERANCE_NS + STOP_IN_STARTS * set->counters.backend->run.start_ns;
	uint64_t due_ns = now_ns - set->balance.wall_ns - set->balance.stopped_ns;
	uint64_t known_ns = interruption_enabled_ns(set) - set->balance.enabled_ns;
	set->balance.stop_ns = now_ns;
	if (due_ns <= known_ns + SHORTEST_DOUBT_NS + known_ns / PART_IN_DOUBT ||
	    ps__os.getrusage(RUSAGE_THREAD, &usage) != 0)
		return false;
	struct ps__balance before = set->balance;
	uint64_t one_start_ns =
	    set->counters.backend->run.start_ns / set->counters.backend->instances;
	interruption_settle(set, &usage, now_ns);
	return is_short(&before, &set->balance,
	                SWITCH_TOLERANCE_NS + STOP_IN_STARTS * one_start_ns);
}

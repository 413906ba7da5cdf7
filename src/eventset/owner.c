/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles calls of a foreign thread on a set that counts its owner. While the owner lives, the call
 * is refused. The counts of an ended owner can be fetched once, by ps_read or ps_stop. Further
 * readings are refused: if they returned the old counts, a team whose threads come and go would not
 * notice that its new threads aren't counted.
 */
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "eventset/eventset.h"

static bool is_foreign(const struct ps_eventset *set)
{
	return set->counters.target.kind == PS__TARGET_SELF &&
	       set->calls.owner != ps__thread_number();
}

static const char *owner_remedy(const struct ps_eventset *set)
{
	return set->counters.papi ? "make a PAPI event set in each thread, and wrap it there"
	                          : "give each thread a set of its own (ps_eventset_clone), or let "
	                            "ps_start take this one over for the calling thread";
}

static int check_owner_ended(struct ps_eventset *set)
{
	if (ps__locate_is_alive(set->calls.owner_tid))
		return ps__fail(
		    PS_EINVAL,
		    "thread %d called, but this set counts thread %d, its owner, which still "
		    "runs: %s",
		    (int)ps__os.gettid(), (int)set->calls.owner_tid,
		    set->counters.papi ? "make a PAPI event set in each thread, and wrap it there"
				       : "give each thread a set of its own (ps_eventset_clone)");
	set->is_ended = true;
	return PS_OK;
}

int ps__set_check_caller(struct ps_eventset *set)
{
	return is_foreign(set) && !set->is_ended ? check_owner_ended(set) : PS_OK;
}

int ps__set_check_foreign(struct ps_eventset *set, const char *call, bool is_final)
{
	if (!is_foreign(set) || set->state == PS__SET_NEW)
		return PS_OK;
	int result = ps__set_check_caller(set);
	if (result != PS_OK)
		return result;
	/* This is the last reading: it must read all instances. */
	set->attribution.per_cpu.must_sweep = true;
	if (is_final && !set->is_settled)
		return PS_OK;
	return ps__fail(PS_EINVAL,
	                "%s: the set counted thread %d, which has ended, and not thread %d: %s; %s",
	                call, (int)set->calls.owner_tid, (int)ps__os.gettid(),
	                ps__set_has_uncollected(set) ? "ps_stop gives its final counts, once"
	                                             : "its final counts are in the tree",
	                owner_remedy(set));
}

void ps__set_settle_foreign(struct ps_eventset *set)
{
	if (!is_foreign(set))
		return;
	set->is_settled = true;
	set->is_paused = false;
	if (set->state != PS__SET_RUNNING)
		return;
	/* The counted thread has ended. */
	set->counters.backend->ops->stop(set->counters.backend);
	set->state = PS__SET_STOPPED;
}

int ps__set_fail_running(struct ps_eventset *set)
{
	if (!is_foreign(set) || ps__set_check_caller(set) != PS_OK)
		return ps__fail(PS_EISRUN, "ps_start: the event set is %s",
		                set->is_paused ? "paused: ps_resume goes on with it" : "running");
	return ps__fail(PS_EISRUN,
	                "ps_start: the event set is running, and thread %d, which it counts, has "
	                "ended: ps_stop gives its final counts; then ps_start takes the set over",
	                (int)set->calls.owner_tid);
}

int ps__set_fail_new(const char *call)
{
	return ps__fail(PS_ENOTRUN,
	                "%s: the event set was never started, or was changed after the last start: "
	                "call ps_start first",
	                call);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies the paths of a profile, of all threads together or of one; and computes its residual. */
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "region/paths.h"
#include "region/profile.h"
#include "region/rest.h"

#include <string.h>

#define ALL_THREADS ((pid_t)-1)

/* Adds a thread. 0, -1 if out of memory, or 1: no such thread. The caller holds the lock. */
static int take_add_thread(const struct ps_profile *profile, struct ps_paths *paths, pid_t tid)
{
	const struct ps__ended_thread *thread = ps__ended_find(profile, tid);
	int added = thread ? ps__paths_add(paths, thread->paths) : 1;

	for (struct ps__member *member = profile->members; member && added >= 0;
	     member = member->next) {
		if (member->tid == tid)
			added = ps__rest_add_member(paths, member);
	}
	return added;
}

static int take_add_all(const struct ps_profile *profile, struct ps_paths *paths)
{
	int added = ps__paths_add(paths, profile->ended.all);

	for (struct ps__member *member = profile->members; member && added == 0;
	     member = member->next)
		added = ps__rest_add_member(paths, member);
	return added;
}

/* Adds the counts up to now: first makes a boundary in the calling thread, and ends the members of
 * threads that are gone. */
static int take_add_up(struct ps_profile *profile, struct ps_paths *paths, pid_t tid)
{
	struct ps__member *own = ps__member_find(profile);
	uint64_t now_ns;
	int result = own ? ps__member_boundary(own, &now_ns) : PS_OK;

	if (result != PS_OK)
		return result;
	ps__gone_end_all(profile);
	pthread_mutex_lock(&profile->lock);
	int added = tid == ALL_THREADS ? take_add_all(profile, paths)
	                               : take_add_thread(profile, paths, tid);
	pthread_mutex_unlock(&profile->lock);
	if (added > 0)
		return ps__fail(PS_ENOEVST,
		                "ps_paths_create_of_thread: the profile counts no thread %d, and "
		                "has kept none; ps_profile_threads lists them",
		                (int)tid);
	return added == 0 ? PS_OK : ps__fail_memory("the paths of a profile");
}

/* Extrapolates the counts of sampled regions. */
static int take_extrapolate(struct ps_paths **paths)
{
	if (!(*paths)->is_sampled)
		return PS_OK;
	struct ps_paths *estimate = ps__paths_estimate(*paths);
	if (!estimate)
		return ps__fail_memory("the paths of a profile");
	ps_paths_destroy(*paths);
	*paths = estimate;
	return PS_OK;
}

static int take_paths(struct ps_paths **out, struct ps_profile *profile, pid_t tid,
                      const char *call)
{
	if (!out || !profile)
		return ps__fail(PS_EINVAL, "%s: the %s is NULL", call,
		                out ? "profile" : "pointer for the paths");
	int result = ps__profile_begin(profile, call);
	if (result != PS_OK)
		return result;
	int cancel = ps__cancel_hold();
	struct ps_paths *paths = ps__paths_make(profile, ps_eventset_event_count(profile->model));
	result =
	    paths ? take_add_up(profile, paths, tid) : ps__fail_memory("the paths of a profile");
	if (result == PS_OK)
		result = take_extrapolate(&paths);
	if (result == PS_OK && tid == ALL_THREADS)
		ps__paths_doubt_uncounted(paths);
	if (result == PS_OK)
		ps__paths_settle(paths);
	ps__cancel_release(cancel);
	ps__profile_end();
	if (result == PS_OK)
		*out = paths;
	else
		ps_paths_destroy(paths);
	return result;
}

int ps_paths_create(struct ps_paths **out, struct ps_profile *profile)
{
	return take_paths(out, profile, ALL_THREADS, "ps_paths_create");
}

int ps_paths_create_of_thread(struct ps_paths **out, struct ps_profile *profile, pid_t tid)
{
	if (tid <= 0)
		return ps__fail(PS_EINVAL, "ps_paths_create_of_thread: %d is no thread", (int)tid);
	return take_paths(out, profile, tid, "ps_paths_create_of_thread");
}

static int take_check(struct ps_profile *profile, long long *residual)
{
	struct ps__member *own = ps__member_find(profile);
	size_t events = profile->ended.all->events;
	long long *sums = ps__os_calloc(events, sizeof *sums);
	uint64_t now_ns;

	if (!sums)
		return ps__fail_memory("the residuals of a profile");
	pthread_mutex_lock(&profile->lock);
	memcpy(sums, profile->ended.residual, events * sizeof *sums);
	pthread_mutex_unlock(&profile->lock);
	int result = own ? ps__member_boundary(own, &now_ns) : PS_OK;
	if (own && result == PS_OK)
		result = ps__member_check(own, sums);
	if (result == PS_OK)
		memcpy(residual, sums, events * sizeof *sums);
	ps__os_free(sums);
	return result;
}

int ps_profile_check(struct ps_profile *profile, long long *residual, int n)
{
	if (!profile || !residual)
		return ps__fail(PS_EINVAL, "ps_profile_check: the %s is NULL",
		                profile ? "array" : "profile");
	if (n < 0 || (size_t)n != profile->ended.all->events)
		return ps__fail(PS_EINVAL,
		                "ps_profile_check: room for %d numbers given for a profile of %zu "
		                "events",
		                n, profile->ended.all->events);
	int result = ps__profile_begin(profile, "ps_profile_check");
	if (result != PS_OK)
		return result;
	int cancel = ps__cancel_hold();
	result = take_check(profile, residual);
	ps__cancel_release(cancel);
	ps__profile_end();
	return result;
}

int ps_profile_keep_threads(struct ps_profile *profile)
{
	if (!profile)
		return ps__fail(PS_EINVAL, "ps_profile_keep_threads: the profile is NULL");
	int result = ps__profile_begin(profile, "ps_profile_keep_threads");
	if (result != PS_OK)
		return result;
	pthread_mutex_lock(&profile->lock);
	profile->ended.are_kept = true;
	pthread_mutex_unlock(&profile->lock);
	ps__profile_end();
	return PS_OK;
}

static void take_list(pid_t tid, pid_t *tids, size_t room, size_t *count)
{
	if (*count < room)
		tids[*count] = tid;
	++*count;
}

int ps_profile_threads(struct ps_profile *profile, pid_t *tids, size_t room, size_t *count)
{
	if (!profile || !count || (room && !tids))
		return ps__fail(PS_EINVAL, "ps_profile_threads: the %s is NULL",
		                !profile ? "profile"
		                : !count ? "pointer for the number"
		                         : "array");
	int result = ps__profile_begin(profile, "ps_profile_threads");
	if (result != PS_OK)
		return result;
	*count = 0;
	pthread_mutex_lock(&profile->lock);
	for (const struct ps__ended_thread *thread = profile->ended.threads; thread;
	     thread = thread->next)
		take_list(thread->tid, tids, room, count);
	for (const struct ps__member *member = profile->members; member; member = member->next) {
		if (!ps__ended_find(profile, member->tid))
			take_list(member->tid, tids, room, count);
	}
	pthread_mutex_unlock(&profile->lock);
	ps__profile_end();
	return PS_OK;
}

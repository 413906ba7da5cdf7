/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the event sets and the counts of ended threads. A later thread reuses the set of an ended
 * thread, and adds to the readings of that set. So a profile takes memory for the threads that run
 * at one time, not for each thread that ever ran. The counts of each single thread are kept only
 * after ps_profile_keep_threads.
 */
#include "base/os.h"
#include "eventset/parts.h"
#include "eventset/take.h"
#include "region/paths.h"
#include "region/profile.h"

#include <perfsage/read.h>

/* If there is no memory for a list element, the set is destroyed; its readings stay in the tree. */
void ps__spare_put(struct ps_profile *profile, struct ps_eventset *set)
{
	struct ps__spare *spare = ps__os_calloc(1, sizeof *spare);

	if (!spare) {
		ps_eventset_destroy(set);
		return;
	}
	ps__set_give_up(set);
	spare->set = set;
	pthread_mutex_lock(&profile->lock);
	spare->next = profile->spares;
	profile->spares = spare;
	pthread_mutex_unlock(&profile->lock);
}

static struct ps_eventset *spare_take(struct ps_profile *profile)
{
	pthread_mutex_lock(&profile->lock);
	struct ps__spare *spare = profile->spares;
	if (spare)
		profile->spares = spare->next;
	pthread_mutex_unlock(&profile->lock);
	struct ps_eventset *set = spare ? spare->set : NULL;
	ps__os_free(spare);
	return set;
}

static int spare_clone(struct ps_profile *profile, struct ps_eventset **out)
{
	pthread_mutex_lock(&profile->lock);
	int result = ps_eventset_clone(out, profile->model);
	pthread_mutex_unlock(&profile->lock);
	return result == PS_OK ? ps_start(*out) : result;
}

/* Starts a spare set. If its events were opened in other groups than before, its readings would
 * replace the earlier ones in totals, so it is destroyed. */
int ps__spare_start(struct ps_profile *profile, struct ps_eventset **out)
{
	*out = spare_take(profile);
	if (!*out)
		return spare_clone(profile, out);
	int result = ps_start(*out);
	if (result == PS_OK && ps__set_goes_on(*out))
		return PS_OK;
	ps_eventset_destroy(*out);
	*out = NULL;
	return result == PS_OK ? spare_clone(profile, out) : result;
}

void ps__spare_free_all(struct ps_profile *profile)
{
	struct ps_eventset *set;

	while ((set = spare_take(profile)))
		ps_eventset_destroy(set);
}

/* Counts by thread. */

/* The table's keys are pointers, so a tid is cast to a pointer. */
static const void *ended_key(pid_t tid)
{
	return (const void *)(uintptr_t)tid;
}

static const char ended_tids; /* first key of all entries; the second one is the tid */

struct ps__ended_thread *ps__ended_find(const struct ps_profile *profile, pid_t tid)
{
	return ps__links_find(&profile->ended.links, &ended_tids, ended_key(tid));
}

static int ended_make(struct ps_profile *profile, struct ps__member *member, ps__add_member *add)
{
	struct ps__ended_thread *thread = ps__os_calloc(1, sizeof *thread);
	struct ps_paths *paths =
	    thread ? ps__paths_make(profile, profile->ended.all->events) : NULL;

	if (!paths || add(paths, member) < 0 || ps__links_reserve(&profile->ended.links) < 0) {
		ps_paths_destroy(paths);
		ps__os_free(thread);
		return -1;
	}
	*thread = (struct ps__ended_thread){
	    .next = profile->ended.threads, .tid = member->tid, .paths = paths};
	profile->ended.threads = thread;
	ps__links_add(&profile->ended.links, &ended_tids, ended_key(member->tid), thread);
	return 0;
}

/* The kernel can reuse a tid: the counts of threads with the same tid are added up. */
int ps__ended_add(struct ps_profile *profile, struct ps__member *member, ps__add_member *add)
{
	const struct ps__ended_thread *thread = ps__ended_find(profile, member->tid);

	return thread ? add(thread->paths, member) : ended_make(profile, member, add);
}

void ps__ended_free_all(struct ps_profile *profile)
{
	struct ps__ended_thread *next;

	for (struct ps__ended_thread *thread = profile->ended.threads; thread; thread = next) {
		next = thread->next;
		ps_paths_destroy(thread->paths);
		ps__os_free(thread);
	}
	profile->ended.threads = NULL;
	ps__links_clear(&profile->ended.links);
}

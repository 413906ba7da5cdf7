/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a thread's member. First ends the members of threads that are gone without notice, because
 * the new member may need their descriptors. */
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "locate/locate.h"
#include "region/paths.h"
#include "region/profile.h"
#include "region/rest.h"

/* Adds the counts of a gone thread. Its counters aren't stopped. 0, or -1 if out of memory. */
static int join_add_gone(struct ps_profile *profile, struct ps__member *member)
{
	bool is_known = ps__rest_is_known(member);

	if (ps__rest_add_member(profile->ended.all, member) < 0)
		return -1;
	if (profile->ended.are_kept && ps__ended_add(profile, member, ps__rest_add_member) < 0)
		ps__profile_note(profile, PS__FAULT_NO_MEMORY);
	if (!is_known)
		ps__profile_note(profile, PS__FAULT_INSIDE_ELSEWHERE);
	for (size_t depth = 0; depth < member->depth; depth++)
		ps__profile_note(profile, PS__FAULT_LEFT_OPEN);
	return 0;
}

/* Removes the members of gone threads from the list, and returns them. If looks_at_all is false, to
 * be cheap, the search begins with the newest member, and ends at the first thread that still
 * lives. If another member has the caller's tid, its thread is gone: the kernel has reused the tid.
 * The caller holds the lock. */
static struct ps__member *join_unlink_gone(struct ps_profile *profile, bool looks_at_all)
{
	const struct ps__member *own = ps__member_find(profile);
	pid_t own_tid = ps__os.gettid();
	struct ps__member *gone = NULL, *next;
	bool looks = true;

	for (struct ps__member *member = profile->members; member; member = next) {
		next = member->next;
		bool is_gone = member != own &&
		               (member->tid == own_tid || (looks && !ps__task_exists(member->tid)));
		looks = looks_at_all || (looks && is_gone);
		if (!is_gone || join_add_gone(profile, member) < 0)
			continue;
		ps__member_unlink(member);
		member->next = gone;
		gone = member;
	}
	return gone;
}

/* Keeps the struct until the profile is destroyed: a later thread may find it under the profile's
 * key (ps__member_look_up). */
static void join_keep_gone(struct ps_profile *profile, struct ps__member *gone)
{
	pthread_mutex_lock(&profile->lock);
	gone->next = profile->ended.gone;
	profile->ended.gone = gone;
	pthread_mutex_unlock(&profile->lock);
}

static void join_end_gone(struct ps_profile *profile, bool looks_at_all)
{
	struct ps__member *next;

	pthread_mutex_lock(&profile->lock);
	struct ps__member *gone = join_unlink_gone(profile, looks_at_all);
	pthread_mutex_unlock(&profile->lock);
	for (; gone; gone = next) {
		next = gone->next;
		ps__member_clear(gone);
		join_keep_gone(profile, gone);
	}
}

void ps__gone_end_all(struct ps_profile *profile)
{
	join_end_gone(profile, true);
}

void ps__gone_free_all(struct ps_profile *profile)
{
	for (struct ps__member *gone = profile->ended.gone; gone; gone = profile->ended.gone) {
		profile->ended.gone = gone->next;
		ps__os_free(gone);
	}
}

/* Notes that the thread can't be counted. The reason, most often too few descriptors, lasts for a
 * while: trying again at each mark would cost a program more than counting. */
static void join_refuse(struct ps_profile *profile, int code)
{
	char *why = NULL;

	ps__own.refused = profile->number;
	ps__own.refusal = code;
	if (atomic_load(&profile->uncounted_why))
		return;
	char *detail = ps__os_strdup(ps_error_detail());
	if (!atomic_compare_exchange_strong(&profile->uncounted_why, &why, detail))
		ps__os_free(detail);
}

/* Counts the thread, but only once. A thread can join again after ps_profile_leave, or by a mark in
 * its last destructors. */
static void join_count_thread(struct ps_profile *profile)
{
	if (ps__own.known == profile->number)
		return;
	atomic_fetch_add(&profile->threads.all, 1);
	atomic_fetch_add(&profile->threads.first, ps__own.known == 0);
	ps__own.known = profile->number;
}

/* False if the profile is over: a mark of an earlier start of the collector began just before the
 * next start. */
static bool join_begin(struct ps_profile *profile)
{
	pthread_mutex_lock(&profile->lock);
	bool may_join = !profile->threads.is_over;
	profile->threads.joining += may_join;
	pthread_mutex_unlock(&profile->lock);
	return may_join;
}

static void join_end(struct ps_profile *profile)
{
	pthread_mutex_lock(&profile->lock);
	profile->threads.joining--;
	pthread_mutex_unlock(&profile->lock);
}

static int join_make(struct ps_profile *profile, struct ps__member **out)
{
	if (!join_begin(profile))
		return ps__fail(PS_ENOTRUN, "the profile is over: a later start counts the thread");
	ps__member_end_earlier(profile);
	join_count_thread(profile);
	join_end_gone(profile, false);
	int result = ps__member_make(profile, out);
	/* Maybe no descriptors are left, and gone threads still hold some. */
	if (result != PS_OK) {
		join_end_gone(profile, true);
		result = ps__member_make(profile, out);
	}
	if (result != PS_OK)
		join_refuse(profile, result);
	join_end(profile);
	return result;
}

int ps__member_create(struct ps_profile *profile, struct ps__member **out)
{
	if (ps__own.refused == profile->number)
		return ps__fail(ps__own.refusal, "the thread could not be counted before: "
		                                 "ps_profile_join tries it again");
	int cancel = ps__cancel_hold();
	struct ps__held held;
	ps__signals_hold(&held);
	int result = join_make(profile, out);
	ps__signals_release(&held);
	ps__cancel_release(cancel);
	return result;
}

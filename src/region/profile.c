/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: created, joined, left, and destroyed. */
#include "region/profile.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "eventset/parts.h"
#include "region/paths.h"
#include "region/rest.h"
#include "topology/tree.h"

/* NULL unless the library or the program has ThreadSanitizer. ThreadSanitizer itself calls signal
 * handlers in the midst of a call, without the kernel's large frame. So ps__stack_was_left can't
 * distinguish an interrupted call from one that a jump left. */
void __tsan_init(void) __attribute__((weak));

int ps__profile_refuse(struct ps_profile *profile, const char *call)
{
	volatile uintptr_t stack;

	ps__arch_note_stack(&stack);
	if (!ps__fork_is_same(profile->generation))
		return ps__fail(PS_ECLOST,
		                "%s: the profile counts the parent of this process: create one "
		                "here",
		                call);
	if (!__tsan_init && ps__stack_was_left(ps__stack_noted, stack)) {
		ps__own_note_jump();
		return PS_OK;
	}
	ps__profile_note(profile, PS__FAULT_IN_HANDLER);
	return ps__fail(
	    PS_ECNFLCT,
	    "%s: inside another call of a profile, by a signal handler that interrupted "
	    "it or by a callback of ps_region_set_slower_than",
	    call);
}

static uint64_t profile_next_number(void)
{
	static _Atomic uint64_t last;

	return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static int profile_check(struct ps_profile *const *out, const struct ps_eventset *model,
                         const struct ps_component *root)
{
	if (!out || !model || !root)
		return ps__fail(PS_EINVAL, "ps_profile_create: the %s is NULL",
		                !out     ? "pointer for the profile"
		                : !model ? "model"
		                         : "root");
	if (root->magic != PS__COMPONENT_MAGIC || root != root->topology->root)
		return ps__fail(PS_EINVAL, "ps_profile_create: the component isn't the root of a "
		                           "topology: give it that of ps_topology_root");
	if (ps_eventset_event_count(model) == 0)
		return ps__fail(PS_EINVAL, "ps_profile_create: the model has no event: add some "
		                           "with ps_eventset_add");
	if (!ps__set_counts_its_caller(model))
		return ps__fail(PS_ENOSUPP,
		                "ps_profile_create: the model is attached to a target, or wraps a "
		                "PAPI event set; a profile counts its own threads: give it a set "
		                "that isn't attached");
	return PS_OK;
}

static void profile_free_settings(struct ps_region *region)
{
	struct ps__rate *next;
	struct ps__slow *before;

	for (struct ps__rate *rate = region->chosen; rate; rate = next) {
		next = rate->next;
		ps__os_free(rate);
	}
	ps__os_free(region->powers);
	for (struct ps__slow *slow = atomic_load(&region->slow); slow; slow = before) {
		before = slow->before;
		if (slow->writer)
			slow->writer->release(slow->context);
		ps__os_free(slow);
	}
}

/* Frees all that the profile has counted, and what counts threads. */
static void profile_free_counts(struct ps_profile *profile)
{
	ps__spare_free_all(profile);
	ps__ended_free_all(profile);
	ps__os_free(profile->ended.residual);
	profile->ended.residual = NULL;
	ps_paths_destroy(profile->ended.all);
	profile->ended.all = NULL;
	ps_eventset_destroy(profile->model);
	profile->model = NULL;
}

static void profile_free(struct ps_profile *profile)
{
	for (size_t place = 0; place < profile->region_room; place++) {
		struct ps_region *next;
		for (struct ps_region *region = profile->regions[place]; region; region = next) {
			next = region->next;
			profile_free_settings(region);
			ps__os_free(region);
		}
	}
	ps__os_free(profile->regions);
	profile_free_counts(profile);
	ps__gone_free_all(profile);
	ps__os_free(atomic_load(&profile->uncounted_why));
	pthread_mutex_destroy(&profile->lock);
	ps__os_free(profile);
}

/* Makes the key, or takes the earlier profile's. */
static int profile_set_key(struct ps_profile *profile, struct ps_profile *earlier)
{
	if (earlier) {
		profile->key.id = earlier->key.id;
		profile->key.is_of_earlier = true;
		pthread_mutex_lock(&earlier->lock);
		earlier->threads.is_over = true;
		pthread_mutex_unlock(&earlier->lock);
		return PS_OK;
	}
	if (pthread_key_create(&profile->key.id, ps__member_thread_ends) != 0)
		return ps__fail(PS_ENOMEM,
		                "ps_profile_create: the process has no key for thread-specific "
		                "data left (pthread_key_create)");
	return PS_OK;
}

static int profile_fill(struct ps_profile *profile, const struct ps_eventset *model,
                        struct ps_profile *earlier)
{
	int result = ps_eventset_clone(&profile->model, model);

	if (result != PS_OK)
		return result;
	profile->ended.all = ps__paths_make(profile, ps_eventset_event_count(model));
	profile->ended.residual =
	    ps__os_calloc(ps_eventset_event_count(model), sizeof *profile->ended.residual);
	if (!profile->ended.all || !profile->ended.residual)
		return ps__fail_memory("a profile");
	return profile_set_key(profile, earlier);
}

int ps__profile_create_after(struct ps_profile **out, const struct ps_eventset *model,
                             struct ps_component *root, struct ps_profile *earlier)
{
	struct ps_profile *profile;
	int result = profile_check(out, model, root);

	if (result != PS_OK)
		return result;
	profile = ps__os_calloc(1, sizeof *profile);
	if (!profile)
		return ps__fail_memory("a profile");
	profile->number = profile_next_number();
	profile->generation = ps__fork_generation();
	profile->root = root;
	profile->seed = ps__os_now_ns();
	pthread_mutex_init(&profile->lock, NULL);
	int cancel = ps__cancel_hold();
	result = profile_fill(profile, model, earlier);
	ps__cancel_release(cancel);
	if (result != PS_OK) {
		profile_free(profile);
		return result;
	}
	*out = profile;
	return PS_OK;
}

int ps_profile_create(struct ps_profile **out, const struct ps_eventset *model,
                      struct ps_component *root)
{
	return ps__profile_create_after(out, model, root, NULL);
}

/* A thread that is joining, or has a member, uses what is freed here. */
bool ps__profile_release(struct ps_profile *profile)
{
	if (!ps__fork_is_same(profile->generation))
		return false;
	ps__gone_end_all(profile);
	pthread_mutex_lock(&profile->lock);
	bool is_free =
	    profile->threads.is_over && !profile->members && profile->threads.joining == 0;
	pthread_mutex_unlock(&profile->lock);
	if (is_free)
		profile_free_counts(profile);
	return is_free;
}

void ps_profile_destroy(struct ps_profile *profile)
{
	if (!profile)
		return;
	ps__member_give_up_call();
	if (profile->unlisten)
		profile->unlisten(profile);
	int cancel = ps__cancel_hold();
	bool is_own = ps__fork_is_same(profile->generation);
	/* In a child of fork() a thread that doesn't exist there may hold the lock. */
	if (!is_own)
		pthread_mutex_init(&profile->lock, NULL);
	struct ps__member *member = is_own ? ps__member_find(profile) : NULL;
	/* From now on a mark in a signal handler is refused: it would use memory that is being
	 * freed. */
	bool was_inside = ps__own.is_inside;
	ps__stack_noted = UINTPTR_MAX;
	ps__own.is_inside = true;
	atomic_signal_fence(memory_order_seq_cst);
	if (member)
		ps__member_end(member);
	atomic_signal_fence(memory_order_seq_cst);
	ps__own.is_inside = was_inside;
	struct ps__member *next;
	for (member = profile->members; member; member = next) {
		next = member->next;
		ps__member_free(member);
	}
	if (!profile->key.is_of_earlier)
		pthread_key_delete(profile->key.id);
	profile_free(profile);
	ps__cancel_release(cancel);
}

int ps_profile_join(struct ps_profile *profile)
{
	struct ps__member *member;

	if (!profile)
		return ps__fail(PS_EINVAL, "ps_profile_join: the profile is NULL");
	int result = ps__profile_begin(profile, "ps_profile_join");
	if (result != PS_OK)
		return result;
	ps__own.refused = 0;
	result = ps__member_get(profile, &member);
	ps__profile_end();
	return result;
}

int ps_profile_leave(struct ps_profile *profile)
{
	if (!profile)
		return ps__fail(PS_EINVAL, "ps_profile_leave: the profile is NULL");
	int result = ps__profile_begin(profile, "ps_profile_leave");
	if (result != PS_OK)
		return result;
	struct ps__member *member = ps__member_find(profile);
	result = member ? ps__member_end(member)
	                : ps__fail(PS_ENOTRUN, "ps_profile_leave: the calling thread isn't "
	                                       "counted: it has entered no region");
	ps__profile_end();
	return result;
}

static int profile_count_inside(struct ps_profile *profile, uint64_t *out)
{
	*out = 0;
	if (!ps__fork_is_same(profile->generation))
		return PS_OK; /* the child has no other threads */
	int result = ps__profile_begin(profile, "ps_profile_faults");
	if (result != PS_OK)
		return result;
	const struct ps__member *own = ps__member_find(profile);
	pthread_mutex_lock(&profile->lock);
	for (struct ps__member *member = profile->members; member; member = member->next)
		*out += member != own && !ps__rest_is_known(member);
	pthread_mutex_unlock(&profile->lock);
	ps__profile_end();
	return PS_OK;
}

int ps_profile_faults(struct ps_profile *profile, struct ps_profile_faults *out)
{
	if (!profile || !out)
		return ps__fail(PS_EINVAL, "ps_profile_faults: the %s is NULL",
		                profile ? "pointer for the result" : "profile");
	if (out->size != sizeof *out)
		return ps__fail(
		    PS_EINVAL,
		    "ps_profile_faults: out->size is %zu, not %zu: set it to sizeof *out",
		    out->size, sizeof *out);
	uint64_t inside;
	int result = profile_count_inside(profile, &inside);
	if (result != PS_OK)
		return result;
	_Atomic uint64_t *faults = profile->faults;
	out->unmatched = atomic_load(&faults[PS__FAULT_UNMATCHED]);
	out->crossed = atomic_load(&faults[PS__FAULT_CROSSED]);
	out->left_open = atomic_load(&faults[PS__FAULT_LEFT_OPEN]);
	out->in_handler = atomic_load(&faults[PS__FAULT_IN_HANDLER]);
	out->failed = 0;
	for (int fault = PS__FAULT_UNREAD; fault <= PS__FAULT_UNREPORTED; fault++)
		out->failed += atomic_load(&faults[fault]);
	out->uncounted = atomic_load(&faults[PS__FAULT_UNCOUNTED]);
	out->uncounted_why = atomic_load(&profile->uncounted_why);
	out->inside = inside + atomic_load(&faults[PS__FAULT_INSIDE_ELSEWHERE]);
	return PS_OK;
}

uint64_t ps__profile_threads(struct ps_profile *profile)
{
	return atomic_load(&profile->threads.all);
}

uint64_t ps__profile_new_threads(struct ps_profile *profile)
{
	return atomic_load(&profile->threads.first);
}

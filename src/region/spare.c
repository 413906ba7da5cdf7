/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event sets of threads that have ended, for threads that come. A set goes on in the readings
 * that it has made: a profile takes memory for the threads that are there at one time, not for each
 * that ever was.
 */
#include "base/os.h"
#include "eventset/parts.h"
#include "eventset/take.h"
#include "region/profile.h"

#include <perfsage/read.h>

/* Without memory for its place in the list the set is destroyed: its readings stay all the same. */
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

/* What is grouped otherwise than before would take the place of the earlier readings in totals. */
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

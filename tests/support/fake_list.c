/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake kernel's open counters, oldest first: all of them, and those of each CPU. A group is on
 * one CPU; machines have hundreds. */
#include "fake_internal.h"

#include <stdlib.h>

static struct fake_counter *first, *last;
/* The first place has those that count on any CPU. */
static struct {
	struct fake_counter *first, *last;
} on_cpu[1 + FAKE_CPUS];

struct fake_counter *fake__counters_first(void)
{
	return first;
}

struct fake_counter *fake__counters_on(int cpu)
{
	return on_cpu[1 + cpu].first;
}

void fake__counters_add(struct fake_counter *counter)
{
	if (counter->cpu >= FAKE_CPUS)
		abort();
	struct fake_counter **last_there = &on_cpu[1 + counter->cpu].last;
	counter->all.before = last;
	counter->there.before = *last_there;
	*(last ? &last->all.next : &first) = counter;
	*(*last_there ? &(*last_there)->there.next : &on_cpu[1 + counter->cpu].first) = counter;
	last = *last_there = counter;
}

void fake__counters_remove(struct fake_counter *counter)
{
	struct fake_counter *before = counter->all.before, *there = counter->there.before;

	*(before ? &before->all.next : &first) = counter->all.next;
	*(counter->all.next ? &counter->all.next->all.before : &last) = before;
	*(there ? &there->there.next : &on_cpu[1 + counter->cpu].first) = counter->there.next;
	*(counter->there.next ? &counter->there.next->there.before
	                      : &on_cpu[1 + counter->cpu].last) = there;
}

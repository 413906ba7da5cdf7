/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake kernel's open counters, oldest first: all of them, and those of each CPU. A group is on
 * one CPU; machines have hundreds. */
#include "fake_internal.h"

#include <stdlib.h>

#define MOST_CPUS 8192

static struct fake_counter *first, *last;
/* The first place has those that count on any CPU. */
static struct {
	struct fake_counter *first, *last;
} on_cpu[1 + MOST_CPUS];

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
	if (counter->cpu >= MOST_CPUS)
		abort();
	struct fake_counter **last_there = &on_cpu[1 + counter->cpu].last;
	counter->before = last;
	counter->before_there = *last_there;
	*(last ? &last->next : &first) = counter;
	*(*last_there ? &(*last_there)->next_there : &on_cpu[1 + counter->cpu].first) = counter;
	last = *last_there = counter;
}

void fake__counters_remove(struct fake_counter *counter)
{
	struct fake_counter *before = counter->before, *there = counter->before_there;

	*(before ? &before->next : &first) = counter->next;
	*(counter->next ? &counter->next->before : &last) = before;
	*(there ? &there->next_there : &on_cpu[1 + counter->cpu].first) = counter->next_there;
	*(counter->next_there ? &counter->next_there->before_there
	                      : &on_cpu[1 + counter->cpu].last) = there;
}

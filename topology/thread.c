/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The getters of a Thread: its CPU number and its place in the tree. Its
 * attribute map belongs to the store.
 */
#include "topology/tree.h"

#include <perfsage/thread.h>

int ps_thread_cpu(const struct ps_thread *thread)
{
	return thread ? thread->cpu : -1;
}

struct ps_component *ps_thread_component(const struct ps_thread *thread)
{
	return thread ? thread->component : NULL;
}

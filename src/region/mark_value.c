/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that the program gives under a name: each thread's sums. */
#include "base/error.h"
#include "base/os.h"
#include "region/group.h"

static __attribute__((cold, noinline)) struct ps__value_cell *
value_make_cell(struct ps__member *member, struct ps__node *node, const struct ps_region *name)
{
	struct ps__value_cell *cell;

	if (ps__links_reserve(&member->links) < 0)
		return NULL;
	cell = ps__os_calloc(1, sizeof *cell);
	if (!cell)
		return NULL;
	cell->name = name;
	ps__links_add(&member->links, &node->values, name, cell);
	/* Pairs with the acquiring loads of paths.c. */
	atomic_store_explicit(node->newest_value ? &node->newest_value->next : &node->values, cell,
	                      memory_order_release);
	node->newest_value = cell;
	return cell;
}

static struct ps__value_cell *value_cell(struct ps__member *member, struct ps__node *node,
                                         const struct ps_region *name)
{
	struct ps__value_cell *cell = node->last_value;

	if (cell && cell->name == name)
		return cell;
	cell = ps__links_find(&member->links, &node->values, name);
	if (!cell) {
		struct ps__held held;
		ps__signals_hold(&held);
		cell = value_make_cell(member, node, name);
		ps__signals_release(&held);
	}
	if (cell)
		node->last_value = cell;
	return cell;
}

static void value_add_to_cell(struct ps__value_cell *cell, int64_t value)
{
	uint64_t turn = atomic_load_explicit(&cell->turn, memory_order_relaxed);
	struct ps__value_total *from = &cell->totals[turn & 1], *to = &cell->totals[~turn & 1];
	uint64_t low = atomic_load_explicit(&from->low, memory_order_relaxed);
	uint64_t sum = low + (uint64_t)value;
	uint64_t carry = (sum < low) - (uint64_t)(value < 0);

	atomic_store_explicit(&to->count,
	                      atomic_load_explicit(&from->count, memory_order_relaxed) + 1,
	                      memory_order_release);
	atomic_store_explicit(&to->low, sum, memory_order_release);
	atomic_store_explicit(&to->high,
	                      atomic_load_explicit(&from->high, memory_order_relaxed) + carry,
	                      memory_order_release);
	/* Pairs with the acquiring load of paths.c. */
	atomic_store_explicit(&cell->turn, turn + 1, memory_order_release);
}

static int value_add(struct ps_region *named, int64_t value)
{
	struct ps__member *member;
	int result = ps__member_get(named->profile, &member);

	if (result != PS_OK) {
		ps__profile_note(named->profile, PS__FAULT_UNCOUNTED);
		return result;
	}
	if (member->depth &&
	    atomic_load_explicit(&named->profile->group, memory_order_relaxed) == named)
		return ps__group_change(member, named, value);
	struct ps__node *node = ps__member_innermost(member);
	struct ps__value_cell *cell = value_cell(member, node, named);
	if (!cell) {
		ps__profile_note(named->profile, PS__FAULT_NO_MEMORY);
		return ps__fail_memory("a number's name in a path; the number is lost");
	}
	member->is_changing = true;
	value_add_to_cell(cell, value);
	member->is_changing = false;
	return PS_OK;
}

int ps_region_add_value(struct ps_region *named, int64_t value)
{
	if (!named)
		return ps__fail(PS_EINVAL, "ps_region_add_value: the name is NULL");
	int result = ps__profile_begin_visit(named->profile, "ps_region_add_value");
	if (result != PS_OK)
		return result;
	result = value_add(named, value);
	ps__profile_end();
	return result;
}

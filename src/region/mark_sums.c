/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that the program gave under a name: their sums in paths, and the calls that return these
 * sums. */
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "region/paths.h"
#include "region/profile.h"

#include <string.h>

static int sums_add_name(struct ps_paths *paths, const struct ps_region *name)
{
	if (ps__links_find(&paths->links, paths, name))
		return 0;
	if (ps__links_reserve(&paths->links) < 0)
		return -1;
	if (!PS__VECTOR_GROW(&paths->names, paths->name_count, &paths->name_room))
		return -1;
	paths->names[paths->name_count++] = name;
	ps__links_add(&paths->links, paths, name, paths);
	return 0;
}

struct ps__value_sum *ps__value_sum_find(const struct ps_path *path, const struct ps_region *name)
{
	return ps__links_find(&path->paths->links, &path->values, name);
}

struct ps__value_sum *ps__value_sum_get(struct ps_path *path, const struct ps_region *name)
{
	struct ps_paths *paths = path->paths;
	struct ps__value_sum *sum = ps__value_sum_find(path, name);

	if (sum)
		return sum;
	sum = ps__os_calloc(1, sizeof *sum);
	if (!sum)
		return NULL;
	sum->name = name;
	if (sums_add_name(paths, name) < 0 || ps__links_reserve(&paths->links) < 0) {
		ps__os_free(sum);
		return NULL;
	}
	ps__links_add(&paths->links, &path->values, name, sum);
	*(path->values ? &path->last_value->next : &path->values) = sum;
	path->last_value = sum;
	return sum;
}

void ps__value_sum_free_all(struct ps_path *path)
{
	struct ps__value_sum *next;

	for (struct ps__value_sum *sum = path->values; sum; sum = next) {
		next = sum->next;
		ps__os_free(sum);
	}
}

void ps__value_sum_show(__int128 sum, uint64_t count, struct ps_mark_value *out)
{
	*out = (struct ps_mark_value){.size = sizeof *out, .count = count};
	out->sum = sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
	out->flags = out->sum == sum ? 0 : PS_VALUE_SATURATED;
}

const char *ps_paths_mark_value_name(const struct ps_paths *paths, size_t index)
{
	return paths && index < paths->name_count ? paths->names[index]->name : NULL;
}

static int sums_check(const struct ps_path *path, const char *name, enum ps_share share,
                      const struct ps_mark_value *out)
{
	if (!path || !name || !out)
		return ps__fail(PS_EINVAL, "ps_path_mark_value: the %s is NULL",
		                !path   ? "path"
		                : !name ? "name"
		                        : "pointer for the result");
	if (share != PS_SHARE_EXCLUSIVE && share != PS_SHARE_INCLUSIVE)
		return ps__fail(PS_EINVAL, "ps_path_mark_value: there is no share %d", (int)share);
	if (out->size != sizeof *out)
		return ps__fail(
		    PS_EINVAL,
		    "ps_path_mark_value: out->size is %zu, not %zu: set it to sizeof *out",
		    out->size, sizeof *out);
	return PS_OK;
}

static const struct ps_region *sums_find_name(const struct ps_paths *paths, const char *name)
{
	for (size_t index = 0; index < paths->name_count; index++) {
		if (strcmp(paths->names[index]->name, name) == 0)
			return paths->names[index];
	}
	return NULL;
}

int ps_path_mark_value(const struct ps_path *path, const char *name, enum ps_share share,
                       struct ps_mark_value *out)
{
	uint64_t count = 0;
	__int128 sum = 0;
	int result = sums_check(path, name, share, out);

	if (result != PS_OK)
		return result;
	const struct ps_region *named = sums_find_name(path->paths, name);
	if (!named)
		return ps__fail(PS_ENOEVNT,
		                "ps_path_mark_value: no number was given under the name '%s'",
		                name);
	for (const struct ps_path *below = path; below;
	     below = share == PS_SHARE_INCLUSIVE ? ps__path_next_below(path, below) : NULL) {
		const struct ps__value_sum *own = ps__value_sum_find(below, named);
		count += own ? own->count : 0;
		sum += own ? own->sum : 0;
	}
	ps__value_sum_show(sum, count, out);
	return PS_OK;
}

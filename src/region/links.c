/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing: an entry is in its hash's place or the next free one. At most half of the places
 * are taken. */
#include "region/links.h"

#include "base/os.h"

#include <stdint.h>

#define LEAST_ROOM ((size_t)16)
/* 2^64 divided by the golden ratio: spreads keys that differ in few bits. */
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)

static size_t links_place(const struct ps__links *links, const void *from, const void *by)
{
	uint64_t hash = ((uint64_t)(uintptr_t)from * SPREAD) ^ (uint64_t)(uintptr_t)by;

	return (size_t)((hash * SPREAD) >> 32) & (links->room - 1);
}

static struct ps__link *links_look(const struct ps__links *links, const void *from, const void *by)
{
	size_t place = links_place(links, from, by);

	while (links->list[place].from &&
	       (links->list[place].from != from || links->list[place].by != by))
		place = (place + 1) & (links->room - 1);
	return &links->list[place];
}

void *ps__links_find(const struct ps__links *links, const void *from, const void *by)
{
	return links->room ? links_look(links, from, by)->to : NULL;
}

int ps__links_reserve(struct ps__links *links)
{
	struct ps__links larger = {.count = links->count,
	                           .room = links->room ? 2 * links->room : LEAST_ROOM};

	if (2 * (links->count + 1) <= links->room)
		return 0;
	larger.list = ps__os_calloc(larger.room, sizeof *larger.list);
	if (!larger.list)
		return -1;
	for (size_t place = 0; place < links->room; place++) {
		const struct ps__link *link = &links->list[place];
		if (link->from)
			*links_look(&larger, link->from, link->by) = *link;
	}
	ps__os_free(links->list);
	*links = larger;
	return 0;
}

void ps__links_add(struct ps__links *links, const void *from, const void *by, void *to)
{
	*links_look(links, from, by) = (struct ps__link){.from = from, .by = by, .to = to};
	links->count++;
}

void ps__links_clear(struct ps__links *links)
{
	ps__os_free(links->list);
	*links = (struct ps__links){0};
}

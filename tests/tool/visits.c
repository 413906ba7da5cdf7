/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes visits of regions to a log: 20 of "outer" that touch 5 pages, with one of "inner" in each,
 * which touches 2 of them; only the visits of "inner" and those of "last" are written.
 *
 *     visits LOG
 */
#include <perfsage.h>
#include <stdio.h>
#include <sys/mman.h>

#define PAGE ((size_t)65536)

static volatile char *pages;

static void touch(int count)
{
	for (; count > 0; count--, pages += PAGE)
		*pages = 1;
}

static struct ps_topology *topology;
static struct ps_eventset *model;
static struct ps_log *written;

static int begin(struct ps_profile **profile, const char *path, struct ps_region *regions[3])
{
	static const char *const names[] = {"outer", "inner", "last"};

	if (ps_topology_load(&topology, NULL) != PS_OK || ps_eventset_create(&model) != PS_OK ||
	    ps_eventset_add(model, "page-faults:u") != PS_OK ||
	    ps_profile_create(profile, model, ps_topology_root(topology)) != PS_OK ||
	    ps_log_create(&written, path, ps_topology_root(topology), NULL) != PS_OK)
		return -1;
	for (int index = 0; index < 3; index++) {
		if (ps_region_define(&regions[index], *profile, names[index]) != PS_OK)
			return -1;
		if (index > 0 && ps_region_log_slower_than(regions[index], 0, written) != PS_OK)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct ps_profile *profile = NULL;
	struct ps_region *regions[3];

	pages = mmap(NULL, 200 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* A touch is a fault only of small pages. Kernels without large ones refuse it. */
	if (pages != MAP_FAILED)
		madvise((void *)pages, 200 * PAGE, MADV_NOHUGEPAGE);
	if (argc != 2 || pages == MAP_FAILED || begin(&profile, argv[1], regions) < 0) {
		fprintf(stderr, "visits: %s\n", ps_error_detail());
		return 1;
	}
	for (int visit = 0; visit < 20; visit++) {
		ps_region_enter(regions[0]);
		touch(1);
		ps_region_enter(regions[1]);
		touch(2);
		ps_region_leave(regions[1]);
		touch(2);
		ps_region_leave(regions[0]);
	}
	ps_region_enter(regions[2]);
	touch(50);
	ps_region_leave(regions[2]);
	ps_profile_destroy(profile);
	ps_log_destroy(written);
	ps_eventset_destroy(model);
	ps_topology_destroy(topology);
	return 0;
}

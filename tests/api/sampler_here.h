/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the API suites of samplers. */
#ifndef PS_TESTS_SAMPLER_HERE_H
#define PS_TESTS_SAMPLER_HERE_H

#include "here.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES   64
#define ALL_IDS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

static inline size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static inline struct ps_attr *new_attr(const char *event, uint64_t period, uint64_t sample_type)
{
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, event));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, period));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_TYPE, sample_type));
	return attr;
}

/* Small rings: locked memory is limited for each user, and tests run at the same time. */
static inline struct ps_sampler *open_sampler(struct ps_attr *attr, pid_t tid, int cpu,
                                              size_t pages)
{
	struct ps_sampler *sampler = NULL;

	check_ok(ps_sampler_create(&sampler, attr, tid, cpu, pages * page_bytes()));
	ps_attr_destroy(attr);
	return sampler;
}

static inline struct ps_sampler_count read_count(struct ps_sampler *sampler)
{
	struct ps_sampler_count count = {0};

	check_ok(ps_sampler_read(sampler, &count));
	return count;
}

/* Fresh pages, each of which faults when it is touched first. */
static inline unsigned char *map_pages(size_t pages)
{
	unsigned char *memory = mmap(NULL, pages * page_bytes(), PROT_READ | PROT_WRITE,
	                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	madvise(memory, pages * page_bytes(), MADV_NOHUGEPAGE);
	return memory;
}

static inline void touch_pages(unsigned char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		*(volatile unsigned char *)&memory[i * page_bytes()] = 1;
}

#endif

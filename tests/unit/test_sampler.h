/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the suites of samplers on the fake kernel. */
#ifndef PS_TESTS_TEST_SAMPLER_H
#define PS_TESTS_TEST_SAMPLER_H

#include "sample/sampler.h"
#include "support/scene.h"

#define SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)

static inline struct ps_attr *new_attr(const char *event)
{
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, event));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_TYPE, SAMPLE_TYPE));
	return attr;
}

static inline struct ps_sampler *new_sampler(size_t ring_bytes)
{
	struct ps_attr *attr = new_attr("page-faults");
	struct ps_sampler *sampler = NULL;

	check_ok(ps_sampler_create(&sampler, attr, 0, -1, ring_bytes));
	ck_assert_ptr_nonnull(sampler);
	ps_attr_destroy(attr);
	return sampler;
}

static inline struct ps_sampler *started_sampler(size_t ring_bytes)
{
	struct ps_sampler *sampler = new_sampler(ring_bytes);

	check_ok(ps_sampler_start(sampler));
	return sampler;
}

/* A sample of SAMPLE_TYPE. */
static inline bool put_sample(const struct ps_sampler *sampler, uint64_t address)
{
	uint64_t words[] = {UINT64_C(7) << 32 | 7, 1000 + address, address};

	return fake_put_record(ps_sampler_fd(sampler), PERF_RECORD_SAMPLE, 0, words, 3);
}

static inline const struct perf_event_mmap_page *page_of(const struct ps_sampler *sampler)
{
	return fake_ring_of_fd(ps_sampler_fd(sampler));
}

#endif

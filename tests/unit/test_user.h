/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What test_user.c and test_user_open.c share: the source files that they test, on a CPU of the
 * test's, and counters whose pages the test writes as the kernel would.
 */
#ifndef PS_TESTS_TEST_USER_H
#define PS_TESTS_TEST_USER_H

#include "support/fake_arch.h"

/* What is tested, on that CPU. */
#include "backend/perf_user.c"
#include "backend/perf_user_open.c"
#include "support/scene.h"

#define SETTING "/sys/fake/counters"

#define MOST_PAGES 64

static struct {
	void *(*real_mmap)(void *address, size_t length_bytes, int protection, int flags, int fd,
	                   off_t offset);
	struct perf_event_mmap_page *pages[MOST_PAGES];
	size_t count;
	struct perf_event_mmap_page model; /* what a page is when it is mapped */
	uint64_t counters[33];
	uint64_t ticks;
	void (*before)(uint32_t index); /* what the kernel does just before a counter is read */
	unsigned reads;
} machine;

static void *map_page(void *address, size_t length_bytes, int protection, int flags, int fd,
                      off_t offset)
{
	struct perf_event_mmap_page *page =
	    machine.real_mmap(address, length_bytes, protection, flags, fd, offset);

	/* One page of a counter; a ring has several. */
	if (page == MAP_FAILED || fd < 0 || length_bytes != (size_t)sysconf(_SC_PAGESIZE))
		return page;
	ck_assert_int_eq(protection, PROT_READ);
	*page = machine.model;
	if (machine.count < MOST_PAGES)
		machine.pages[machine.count++] = page;
	return page;
}

static uint64_t read_ticks(void)
{
	return machine.ticks;
}

static uint64_t read_counter(uint32_t index)
{
	machine.reads++;
	if (machine.before)
		machine.before(index);
	return machine.counters[index];
}

static inline void arrange(void)
{
	memset(&machine, 0, sizeof machine);
	machine.real_mmap = ps__os.mmap;
	ps__os.mmap = map_page;
	machine.model.cap_user_rdpmc = 1;
	machine.model.cap_user_time = 1;
	machine.model.pmc_width = 48;
	machine.model.time_mult = 1;
	fake_arch.ticks = read_ticks;
	fake_arch.counter = read_counter;
	fake_arch.most_counters = 32;
	fake_arch.is_valgrind = false;
	fake_add_core_pmu(6);
	fake_file(SETTING, "1\n");
}

/* The kernel puts page i on counter i + 1, of which `count` is to come. */
static inline void schedule(size_t i, uint64_t count)
{
	machine.pages[i]->lock += 2;
	machine.pages[i]->index = (uint32_t)i + 1;
	machine.counters[i + 1] = 1000 * (i + 1);
	machine.pages[i]->offset = (int64_t)(count - machine.counters[i + 1]);
}

static inline void deschedule(size_t i)
{
	machine.pages[i]->lock += 2;
	machine.pages[i]->index = 0;
}

static inline struct ps_eventset *started(void)
{
	struct ps_eventset *set = scene_set("instructions", "cycles", NULL);

	check_ok(ps_start(set));
	return set;
}

static inline void check_path(const struct ps_eventset *set, enum ps_read_path path,
                              const char *part_of_why)
{
	const char *why = NULL;
	enum ps_read_path is = ps_eventset_read_path(set, &why);

	ck_assert_msg(is == path, "%s: %s", ps_read_path_name(is), why);
	ck_assert_msg(strstr(why, part_of_why) && (*why != '\0') == (*part_of_why != '\0'),
	              "'%s' is not in: %s", part_of_why, why);
}

static inline void check_counts(struct ps_eventset *set, long long instructions, long long cycles)
{
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total("instructions").value, instructions);
	ck_assert_int_eq(scene_total("cycles").value, cycles);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/sampler_read.c: a sampler's counter read in user space, on a CPU and a page that the
 * test makes up. */
#include "test_user.h"

#include "sample/sampler.h"

#include <pthread.h>

#define VALUE 500

static struct perf_event_mmap_page *page;

/* Also a ring's first page. */
static void *map_ring(void *address, size_t length_bytes, int protection, int flags, int fd,
                      off_t offset)
{
	struct perf_event_mmap_page *mapped =
	    machine.real_mmap(address, length_bytes, protection, flags, fd, offset);

	if (mapped == MAP_FAILED || fd < 0)
		return mapped;
	mapped->capabilities = machine.model.capabilities;
	mapped->pmc_width = machine.model.pmc_width;
	mapped->time_mult = machine.model.time_mult;
	page = mapped;
	return mapped;
}

static struct ps_sampler *new_sampler(const char *event, int cpu)
{
	struct ps_attr *attr = NULL;
	struct ps_sampler *sampler = NULL;

	ps__os.mmap = map_ring;
	check_ok(ps_attr_create(&attr, event));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 1000));
	check_ok(ps_sampler_create(&sampler, attr, 0, cpu, 0));
	check_ok(ps_sampler_start(sampler));
	ps_attr_destroy(attr);
	page->lock += 2;
	page->index = 1;
	machine.counters[1] = 1000;
	page->offset = VALUE - 1000;
	return sampler;
}

static uint64_t count_of(struct ps_sampler *sampler)
{
	struct ps_sampler_count count = {.value = 1};

	check_ok(ps_sampler_read(sampler, &count));
	return count.value;
}

static void setup(void)
{
	scene_setup();
	arrange();
}

START_TEST(the_counter_is_read_without_a_system_call)
{
	struct ps_sampler *sampler = new_sampler("instructions", -1);
	struct ps_sampler_count count;

	machine.ticks = 42;
	page->time_enabled = 1000;
	page->time_running = 900;
	fake_count_reset();
	check_ok(ps_sampler_read(sampler, &count));
	ck_assert_uint_eq(count.value, VALUE);
	ck_assert_uint_eq(count.enabled_ns, 1042);
	ck_assert_uint_eq(count.running_ns, 942);
	machine.counters[1] += 7;
	ck_assert_uint_eq(count_of(sampler), VALUE + 7);
	ck_assert_uint_eq(fake_count(FAKE_READ), 0);
	ps_sampler_destroy(sampler);
}
END_TEST

START_TEST(an_event_off_the_hardware_is_read_by_the_kernel)
{
	struct ps_sampler *sampler = new_sampler("instructions", -1);

	page->lock += 2;
	page->index = 0;
	fake_set_count(INSTRUCTIONS, 77);
	ck_assert_uint_eq(count_of(sampler), 77);
	ps_sampler_destroy(sampler);
}
END_TEST

static void *count_elsewhere(void *context)
{
	ck_assert_uint_eq(count_of(context), 77);
	return NULL;
}

/* The counter would be that thread's own. */
START_TEST(another_thread_asks_the_kernel)
{
	struct ps_sampler *sampler = new_sampler("instructions", -1);
	pthread_t thread;

	fake_set_count(INSTRUCTIONS, 77);
	ck_assert_int_eq(pthread_create(&thread, NULL, count_elsewhere, sampler), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(count_of(sampler), VALUE);
	ps_sampler_destroy(sampler);
}
END_TEST

START_TEST(what_the_kernel_does_not_permit_is_not_done)
{
	struct ps_sampler *sampler;

	machine.model.cap_user_rdpmc = _i != 0;
	machine.model.cap_user_time = _i != 1;
	machine.model.pmc_width = _i == 2 ? 0 : 48;
	if (_i == 3)
		fake_file(SETTING, "0\n");
	sampler = new_sampler("instructions", -1);
	fake_set_count(INSTRUCTIONS, 77);
	ck_assert_uint_eq(count_of(sampler), 77);
	ck_assert_uint_eq(machine.reads, 0);
	ps_sampler_destroy(sampler);
}
END_TEST

/* A software event's page says nothing. */
START_TEST(a_software_event_is_read_by_the_kernel)
{
	struct ps_sampler *sampler = new_sampler("page-faults", -1);

	fake_set_count(PAGE_FAULTS, 77);
	ck_assert_uint_eq(count_of(sampler), 77);
	ps_sampler_destroy(sampler);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampler_user");
	TCase *tests = scene_case_of(suite, "sampler_user", setup, scene_teardown);

	tcase_add_test(tests, the_counter_is_read_without_a_system_call);
	tcase_add_test(tests, an_event_off_the_hardware_is_read_by_the_kernel);
	tcase_add_test(tests, another_thread_asks_the_kernel);
	tcase_add_loop_test(tests, what_the_kernel_does_not_permit_is_not_done, 0, 4);
	tcase_add_test(tests, a_software_event_is_read_by_the_kernel);
	return scene_run(suite);
}

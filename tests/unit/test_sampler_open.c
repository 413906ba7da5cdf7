/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/sampler.c on the fake kernel: what is opened, started and counted, and every failure.
 */
#include "test_sampler.h"

#include <errno.h>
#include <unistd.h>

START_TEST(it_is_opened_as_the_attr_says_and_a_little_more)
{
	struct ps_attr *attr = new_attr("page-faults:u");
	struct ps_sampler *sampler = NULL;
	uint64_t format = 0;

	fake_count_lost();
	fake_task(4000, "other", 1);
	check_ok(ps_attr_set(attr, PS_ATTR_MMAP, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_CONFIG3, 9));
	check_ok(ps_sampler_create(&sampler, attr, 4000, 1, 3 * 4096));
	const struct perf_event_attr *opened = fake_attr_of_fd(ps_sampler_fd(sampler));
	ck_assert_uint_eq(opened->config, PERF_COUNT_SW_PAGE_FAULTS);
	ck_assert_uint_eq(opened->sample_period, 1);
	ck_assert_uint_eq(opened->sample_type, SAMPLE_TYPE);
	ck_assert(opened->mmap && opened->disabled && opened->exclude_kernel);
	ck_assert(!opened->inherit && !opened->exclude_user);
	ck_assert_uint_eq(opened->read_format, PERF_FORMAT_TOTAL_TIME_ENABLED |
	                                           PERF_FORMAT_TOTAL_TIME_RUNNING |
	                                           PS__FORMAT_LOST);
	ck_assert(opened->watermark && opened->wakeup_watermark == 1);
	ck_assert_uint_eq(fake_later_config_of_fd(ps_sampler_fd(sampler), 3), 9);
	pid_t tid;
	int cpu;
	fake_target_of_fd(ps_sampler_fd(sampler), &tid, &cpu);
	ck_assert_int_eq(tid, 4000);
	ck_assert_int_eq(cpu, 1);
	ck_assert_uint_eq(page_of(sampler)->data_size, 4 * (uint64_t)sysconf(_SC_PAGESIZE));
	check_ok(ps_attr_get(ps_sampler_attr(sampler), PS_ATTR_READ_FORMAT, &format));
	ck_assert_uint_eq(format, opened->read_format);
	struct ps_record_config config;
	check_ok(ps_sampler_record_config(sampler, &config));
	ck_assert_uint_eq(config.sample_type, SAMPLE_TYPE);
	ck_assert_uint_eq(config.read_format, format);
	ps_attr_destroy(attr);
	ps_sampler_destroy(sampler);
}
END_TEST

START_TEST(a_wakeup_of_ones_own_is_kept)
{
	struct ps_attr *attr = new_attr("page-faults");
	struct ps_sampler *sampler = NULL;

	check_ok(ps_attr_set(attr, PS_ATTR_WAKEUP_EVENTS, 50));
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	ck_assert_int_eq(fake_attr_of_fd(ps_sampler_fd(sampler))->watermark, 0);
	ck_assert_uint_eq(fake_attr_of_fd(ps_sampler_fd(sampler))->wakeup_events, 50);
	ps_sampler_destroy(sampler);
	check_ok(ps_attr_set(attr, PS_ATTR_WAKEUP_WATERMARK, 2048));
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	ck_assert_int_eq(fake_attr_of_fd(ps_sampler_fd(sampler))->watermark, 1);
	ck_assert_uint_eq(fake_attr_of_fd(ps_sampler_fd(sampler))->wakeup_watermark, 2048);
	ps_sampler_destroy(sampler);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(it_is_started_and_stopped_once)
{
	struct ps_sampler *sampler = new_sampler(0);
	struct ps_record record;

	ck_assert(!fake_enabled_of_fd(ps_sampler_fd(sampler)));
	check_fails(ps_sampler_wait(sampler, -1, &record), PS_ENOTRUN);
	check_fails(ps_sampler_stop(sampler), PS_ENOTRUN);
	/* The first one asks whether the descriptor is still the event's. */
	fake_fail(FAKE_IOCTL, 2, EIO);
	check_fails(ps_sampler_start(sampler), PS_ESYS);
	check_ok(ps_sampler_start(sampler));
	ck_assert(fake_enabled_of_fd(ps_sampler_fd(sampler)));
	check_fails(ps_sampler_start(sampler), PS_EISRUN);
	fake_fail(FAKE_IOCTL, 2, EIO);
	check_fails(ps_sampler_stop(sampler), PS_ESYS);
	check_ok(ps_sampler_stop(sampler));
	ck_assert(!fake_enabled_of_fd(ps_sampler_fd(sampler)));
	ps_sampler_destroy(sampler);
}
END_TEST

START_TEST(an_enabled_attr_that_can_not_be_enabled_leaves_nothing_behind)
{
	struct ps_attr *attr = new_attr("page-faults");
	struct ps_sampler *sampler = NULL;

	check_ok(ps_attr_set(attr, PS_ATTR_DISABLED, 0));
	/* The ids at the opening and before the enabling are read first. */
	fake_fail(FAKE_IOCTL, 3, EIO);
	check_fails(ps_sampler_create(&sampler, attr, 0, -1, 0), PS_ESYS);
	ck_assert_uint_eq(fake_open_fds(), 0);
	check_ok(ps_attr_set(attr, PS_ATTR_INHERIT, 1));
	check_ok(ps_sampler_create(&sampler, attr, 0, 0, 0));
	ck_assert(!fake_attr_of_fd(ps_sampler_fd(sampler))->disabled);
	ps_sampler_destroy(sampler);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(an_enabled_attr_counts_at_once)
{
	struct ps_attr *attr = new_attr("page-faults");
	struct ps_sampler *sampler = NULL;
	struct ps_sampler_count count;
	uint64_t disabled = 1;

	check_ok(ps_attr_set(attr, PS_ATTR_DISABLED, 0));
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	/* It is enabled when the ring is there. */
	ck_assert(fake_attr_of_fd(ps_sampler_fd(sampler))->disabled);
	ck_assert(fake_enabled_of_fd(ps_sampler_fd(sampler)));
	check_ok(ps_attr_get(ps_sampler_attr(sampler), PS_ATTR_DISABLED, &disabled));
	ck_assert_uint_eq(disabled, 0);
	fake_advance(PAGE_FAULTS, 12);
	fake_run(500, 400);
	check_ok(ps_sampler_read(sampler, &count));
	ck_assert_uint_eq(count.value, 12);
	ck_assert_uint_eq(count.enabled_ns, 500);
	ck_assert_uint_eq(count.running_ns, 400);
	check_ok(ps_sampler_stop(sampler));
	ps_sampler_destroy(sampler);
	check_ok(ps_attr_set(attr, PS_ATTR_DISABLED, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_ENABLE_ON_EXEC, 1));
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	struct ps_record record;
	check_fails(ps_sampler_wait(sampler, 1, &record), PS_ENOEVST);
	/* The exec would enable it, and nobody could stop it then. */
	check_fails(ps_sampler_stop(sampler), PS_ENOTRUN);
	check_detail("exec");
	check_fails(ps_sampler_wait(sampler, 1, &record), PS_ENOEVST);
	pid_t tid;
	int cpu;
	fake_target_of_fd(ps_sampler_fd(sampler), &tid, &cpu);
	fake_task_exec(tid);
	fake_run(500, 400);
	check_ok(ps_sampler_stop(sampler));
	ck_assert(!fake_enabled_of_fd(ps_sampler_fd(sampler)));
	ps_sampler_destroy(sampler);
	ps_attr_destroy(attr);
}
END_TEST

/* Whatever else a read(2) holds. */
START_TEST(the_count_is_found_in_each_format)
{
	static const uint64_t formats[] = {0, PERF_FORMAT_ID, PERF_FORMAT_GROUP,
	                                   PERF_FORMAT_GROUP | PERF_FORMAT_ID};
	struct ps_attr *attr = new_attr("page-faults");
	struct ps_sampler *sampler = NULL;
	struct ps_sampler_count count;

	if (_i >= 4)
		fake_count_lost();
	check_ok(ps_attr_set(attr, PS_ATTR_READ_FORMAT, formats[_i % 4]));
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	check_ok(ps_sampler_start(sampler));
	fake_advance(PAGE_FAULTS, 12);
	fake_run(500, 400);
	check_ok(ps_sampler_read(sampler, &count));
	ck_assert_uint_eq(count.value, 12);
	ck_assert_uint_eq(count.enabled_ns, 500);
	ck_assert_uint_eq(count.running_ns, 400);
	ck_assert_uint_eq(count.lost, 0);
	ck_assert_int_eq(count.is_lost_known, _i >= 4);
	fake_fail(FAKE_READ, 1, EIO);
	check_fails(ps_sampler_read(sampler, &count), PS_ESYS);
	ps_sampler_destroy(sampler);
	ps_attr_destroy(attr);
}
END_TEST

static const struct refusal {
	const char *event;
	enum ps_attr_field field;
	uint64_t value;
	pid_t tid;
	int cpu;
	size_t ring_bytes;
	int code;
	const char *sentence;
} refusals[] = {
    {"page-faults", PS_ATTR_MMAP, 0, -1, -1, 0, PS_EINVAL, "thread -1 on CPU -1"},
    {"page-faults", PS_ATTR_MMAP, 0, -2, 0, 0, PS_EINVAL, "thread -2 on CPU 0"},
    {"page-faults", PS_ATTR_MMAP, 0, 0, -2, 0, PS_EINVAL, "thread 0 on CPU -2"},
    {"page-faults", PS_ATTR_MMAP, 0, 0, 9999, 0, PS_EINVAL, "no CPU 9999"},
    {"page-faults", PS_ATTR_MMAP, 0, 0, -1, SIZE_MAX, PS_EINVAL, "too large"},
    {"page-faults", PS_ATTR_MMAP, 0, 4444, -1, 0, PS_ESYS, "thread 4444 has ended"},
    {"page-faults", PS_ATTR_INHERIT, 1, 0, -1, 0, PS_ECOMBO, "inherit needs a CPU"},
    {"page-faults", PS_ATTR_WRITE_BACKWARD, 1, 0, -1, 0, PS_ECOMBO, "write_backward"},
    {"page-faults", PS_ATTR_SAMPLE_TYPE, UINT64_C(1) << 25, 0, -1, 0, PS_ENOSUPP, "sample_type"},
    {"page-faults", PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_STACK_USER, 0, -1, 0, PS_ECOMBO,
     "sample_stack_user of 0"},
    {"page-faults", PS_ATTR_READ_FORMAT, 64, 0, -1, 0, PS_ENOSUPP, "read_format"},
    {"context-switches", PS_ATTR_EXCLUDE_KERNEL, 1, 0, -1, 0, PS_EINVAL_DOM, "never happens"},
    {"page-faults", PS_ATTR_CONFIG, 99, 0, -1, 0, PS_ENOSUPP, "no PMU has such an event"},
    {"page-faults", PS_ATTR_CONFIG4, 99, 0, -1, 0, PS_ENOSUPP, "too old for config4"},
    {"cycles", PS_ATTR_MMAP, 0, 0, -1, 0, PS_ENOSUPP, "not available on this machine"},
    {"energy/event=1/", PS_ATTR_MMAP, 0, 0, -1, 0, PS_ECOMBO, "counts for a package"},
    {"uprobe/path=/x,offset=1/", PS_ATTR_INHERIT, 1, 0, 0, 0, PS_ECOMBO, "fail (EFAULT)"},
};

START_TEST(what_can_not_be_sampled_is_refused)
{
	const struct refusal *refusal = &refusals[_i];
	struct ps_attr *attr;
	struct ps_sampler *sampler = NULL;

	fake_set_attr_size(136);
	fake_add_pmu(30, 2);
	fake_set_pmu_flags(30, FAKE_PMU_CPU_ONLY);
	fake_file("/sys/bus/event_source/devices/energy/type", "30\n");
	fake_file("/sys/bus/event_source/devices/energy/cpumask", "0\n");
	fake_file("/sys/bus/event_source/devices/energy/format/event", "config:0-7\n");
	fake_add_pmu(7, 1);
	fake_file("/sys/bus/event_source/devices/uprobe/type", "7\n");
	attr = new_attr(refusal->event);
	check_ok(ps_attr_set(attr, refusal->field, refusal->value));
	check_fails(
	    ps_sampler_create(&sampler, attr, refusal->tid, refusal->cpu, refusal->ring_bytes),
	    refusal->code);
	check_detail(refusal->sentence);
	ck_assert_ptr_null(sampler);
	ck_assert_uint_eq(fake_open_fds(), 0);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(an_event_of_a_package_is_sampled_on_a_cpu)
{
	struct ps_attr *attr;
	struct ps_sampler *sampler = NULL;

	fake_add_pmu(30, 2);
	fake_set_pmu_flags(30, FAKE_PMU_CPU_ONLY);
	fake_file("/sys/bus/event_source/devices/energy/type", "30\n");
	fake_file("/sys/bus/event_source/devices/energy/cpumask", "0\n");
	fake_file("/sys/bus/event_source/devices/energy/format/event", "config:0-7\n");
	attr = new_attr("energy/event=1/");
	check_ok(ps_sampler_create(&sampler, attr, -1, 0, 0));
	ps_sampler_destroy(sampler);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(arguments_that_are_none_are_refused)
{
	struct ps_sampler *sampler = new_sampler(0), *other = NULL;
	struct ps_record record;
	struct ps_sampler_count count;
	struct ps_record_config config;

	check_fails(ps_sampler_create(NULL, ps_sampler_attr(sampler), 0, -1, 0), PS_EINVAL);
	check_fails(ps_sampler_create(&other, NULL, 0, -1, 0), PS_EINVAL);
	check_fails(ps_sampler_start(NULL), PS_EINVAL);
	check_fails(ps_sampler_stop(NULL), PS_EINVAL);
	check_fails(ps_sampler_next(NULL, &record), PS_EINVAL);
	check_fails(ps_sampler_next(sampler, NULL), PS_EINVAL);
	check_fails(ps_sampler_wait(NULL, 0, &record), PS_EINVAL);
	check_fails(ps_sampler_wait(sampler, 0, NULL), PS_EINVAL);
	check_fails(ps_sampler_read(NULL, &count), PS_EINVAL);
	check_fails(ps_sampler_read(sampler, NULL), PS_EINVAL);
	check_fails(ps_sampler_record_config(NULL, &config), PS_EINVAL);
	check_fails(ps_sampler_record_config(sampler, NULL), PS_EINVAL);
	ck_assert_int_eq(ps_sampler_fd(NULL), -1);
	ck_assert_ptr_null(ps_sampler_attr(NULL));
	ps_sampler_destroy(NULL);
	ps_sampler_destroy(sampler);
}
END_TEST

/* Each kernel call and each allocation fails once: all is given back (the fixture looks). */
START_TEST(a_failure_leaves_nothing_behind)
{
	static const struct {
		enum fake_call call;
		int error, code;
	} rows[] = {{FAKE_ALLOCATE, ENOMEM, PS_ENOMEM},
	            {FAKE_MMAP, ENOMEM, PS_ENOMEM},
	            {FAKE_MMAP, EPERM, PS_EPERM},
	            {FAKE_MMAP, ENODEV, PS_ESYS},
	            {FAKE_PERF_EVENT_OPEN, EMFILE, PS_ECOUNT},
	            {FAKE_PERF_EVENT_OPEN, ENOSPC, PS_ENOCNTR}};
	struct ps_attr *attr = new_attr("page-faults");

	fake_count_lost();
	for (unsigned nth = 1;; nth++) {
		struct ps_sampler *sampler = NULL;
		fake_fail(rows[_i].call, nth, rows[_i].error);
		int result = ps_sampler_create(&sampler, attr, 0, -1, 0);
		if (!fake_fail_happened()) {
			check_ok(result);
			ck_assert_uint_gt(nth, 1);
			ps_sampler_destroy(sampler);
			break;
		}
		ck_assert_int_eq(result, rows[_i].code);
		ck_assert_ptr_null(sampler);
		ck_assert_uint_eq(fake_open_fds(), 0);
		ck_assert_uint_eq(fake_mapped_bytes(), 0);
	}
	fake_fail(rows[_i].call, 0, 0);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(it_falls_back_to_user_space_and_tells)
{
	struct ps_sampler *sampler = NULL;
	struct ps_attr *attr = new_attr("cpu-clock");
	uint64_t value = 0;

	fake_set_paranoid(2, false);
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	check_ok(ps_attr_get(ps_sampler_attr(sampler), PS_ATTR_EXCLUDE_KERNEL, &value));
	ck_assert_uint_eq(value, 1);
	ps_sampler_destroy(sampler);
	check_ok(ps_attr_set(attr, PS_ATTR_EXCLUDE_KERNEL, 0));
	sampler = NULL;
	/* The remedy is the one that is enough for both. */
	check_fails(ps_sampler_create(&sampler, attr, -1, 0, 0), PS_EPERM);
	check_detail("sysctl kernel.perf_event_paranoid=0");
	check_fails(ps_sampler_create(&sampler, attr, 0, -1, 0), PS_EPERM);
	check_detail("set exclude_kernel to 1");
	check_ok(ps_attr_set(attr, PS_ATTR_EXCLUDE_KERNEL, 1));
	check_fails(ps_sampler_create(&sampler, attr, -1, 0, 0), PS_EPERM);
	check_detail("all tasks of a CPU");
	ps_attr_destroy(attr);
}
END_TEST

/* The encoding of the CPU's kind of cores. */
START_TEST(on_a_hybrid_machine_the_cpu_decides_the_pmu)
{
	struct ps_attr *attr;
	struct ps_sampler *sampler = NULL;

	fake_add_hybrid(4, "0-1", 4, "2-3");
	attr = new_attr("instructions");
	check_ok(ps_sampler_create(&sampler, attr, 0, 3, 0));
	uint64_t config = fake_attr_of_fd(ps_sampler_fd(sampler))->config;
	ck_assert_uint_eq(config >> 32, FAKE_CPU_ATOM);
	ps_sampler_destroy(sampler);
	check_ok(ps_sampler_create(&sampler, attr, 0, 1, 0));
	config = fake_attr_of_fd(ps_sampler_fd(sampler))->config;
	ck_assert_uint_eq(config >> 32, FAKE_CPU_CORE);
	ps_sampler_destroy(sampler);
	check_fails(ps_sampler_create(&sampler, attr, 0, -1, 0), PS_ECOMBO);
	check_detail("for each CPU");
	ps_attr_destroy(attr);
	attr = new_attr("page-faults");
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	ps_sampler_destroy(sampler);
	ps_attr_destroy(attr);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampler_open");
	TCase *tests = scene_case(suite, "sampler_open");

	tcase_add_test(tests, it_is_opened_as_the_attr_says_and_a_little_more);
	tcase_add_test(tests, a_wakeup_of_ones_own_is_kept);
	tcase_add_test(tests, it_is_started_and_stopped_once);
	tcase_add_test(tests, an_enabled_attr_that_can_not_be_enabled_leaves_nothing_behind);
	tcase_add_test(tests, an_enabled_attr_counts_at_once);
	tcase_add_loop_test(tests, the_count_is_found_in_each_format, 0, 8);
	tcase_add_loop_test(tests, what_can_not_be_sampled_is_refused, 0,
	                    sizeof refusals / sizeof *refusals);
	tcase_add_test(tests, an_event_of_a_package_is_sampled_on_a_cpu);
	tcase_add_test(tests, arguments_that_are_none_are_refused);
	tcase_add_loop_test(tests, a_failure_leaves_nothing_behind, 0, 6);
	tcase_add_test(tests, it_falls_back_to_user_space_and_tells);
	tcase_add_test(tests, on_a_hybrid_machine_the_cpu_decides_the_pmu);
	return scene_run(suite);
}

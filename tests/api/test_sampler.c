/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples on this kernel: of clocks, page faults, context switches and tracepoints;
 * unprivileged where that is permitted. */
#include "sampler_here.h"

#include <sys/resource.h>
#include <time.h>

static uint64_t in_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static uint64_t cpu_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return in_ns(&now);
}

/* Nearly all of it in user space, where the samples are taken. */
static void spin(uint64_t ns)
{
	uint64_t end_ns = cpu_time_ns() + ns;
	volatile unsigned rounds = 0;

	while (cpu_time_ns() < end_ns) {
		while (++rounds % 100000)
			;
	}
}

START_TEST(each_touched_page_is_a_sample_with_its_address)
{
	struct ps_sampler *sampler = open_sampler(
	    new_attr("page-faults:u", 1, ALL_IDS | PERF_SAMPLE_ADDR | PERF_SAMPLE_IP), 0, -1, 8);
	unsigned char *memory = map_pages(PAGES);
	bool is_seen[PAGES] = {false};
	uint64_t samples = 0, last_ns = 0;
	struct ps_record record;
	unsigned seen = 0;

	check_ok(ps_sampler_start(sampler));
	touch_pages(memory, PAGES);
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		if (record.type != PS_RECORD_SAMPLE)
			continue;
		samples++;
		ck_assert_uint_eq(record.has & (ALL_IDS | PERF_SAMPLE_ADDR),
		                  ALL_IDS | PERF_SAMPLE_ADDR);
		ck_assert_uint_eq(record.pid, (uint32_t)getpid());
		ck_assert_uint_ge(record.time, last_ns);
		last_ns = record.time;
		uint64_t page = (record.addr - (uintptr_t)memory) / page_bytes();
		if (record.addr >= (uintptr_t)memory && page < PAGES && !is_seen[page]) {
			is_seen[page] = true;
			seen++;
		}
	}
	ck_assert_uint_eq(seen, PAGES);
	ck_assert_uint_eq(samples + ps_sampler_lost(sampler), read_count(sampler).value);
	ps_sampler_destroy(sampler);
	munmap(memory, PAGES * page_bytes());
}
END_TEST

/* The ring holds some of them; the kernel counts the others. */
START_TEST(records_and_losses_are_what_was_counted)
{
	const size_t pages = 1000;
	struct ps_sampler *sampler = open_sampler(new_attr("page-faults:u", 1, ALL_IDS), 0, -1, 1);
	unsigned char *memory = map_pages(pages);
	struct ps_record record;
	uint64_t samples = 0;

	check_ok(ps_sampler_start(sampler));
	touch_pages(memory, pages);
	check_ok(ps_sampler_stop(sampler));
	struct ps_sampler_count count = read_count(sampler);
	while (ps_sampler_next(sampler, &record) == PS_OK)
		samples += record.type == PS_RECORD_SAMPLE;
	ck_assert_uint_ge(count.value, pages);
	if (count.is_lost_known) {
		ck_assert_uint_gt(count.lost, 0);
		ck_assert_uint_eq(samples + count.lost, count.value);
		ck_assert_uint_eq(ps_sampler_lost(sampler), count.lost);
	}
	ck_assert_uint_lt(samples, count.value);
	ps_sampler_destroy(sampler);
	munmap(memory, pages * page_bytes());
}
END_TEST

/* _i: by the thread's time; by a CPU's. As many samples as there were periods, or fewer: a
 * hypervisor may take a turn. */
START_TEST(a_clock_is_sampled)
{
	const uint64_t period_ns = 2000000;
	struct ps_sampler *sampler =
	    open_sampler(new_attr(_i ? "cpu-clock:u" : "task-clock:u", period_ns,
	                          ALL_IDS | PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD),
	                 0, -1, 4);
	struct ps_record record;
	unsigned samples = 0;

	check_ok(ps_sampler_start(sampler));
	spin(60000000);
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		if (record.type != PS_RECORD_SAMPLE)
			continue;
		samples++;
		ck_assert_uint_ne(record.ip, 0);
		ck_assert_uint_ge(record.period, period_ns);
		ck_assert_uint_eq(record.tid, (uint32_t)getpid());
	}
	uint64_t value = read_count(sampler).value;
	ck_assert_uint_ge(value, 45000000);
	ck_assert_uint_ge(samples, 1);
	ck_assert_uint_le(samples, value / period_ns + 1);
	ps_sampler_destroy(sampler);
}
END_TEST

/* Sleeps, and returns how often the thread left its CPU for that: where a machine is slow the time
 * may be over before it does. */
static uint64_t sleep_often(unsigned times)
{
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	while (times-- > 0)
		usleep(1000);
	getrusage(RUSAGE_THREAD, &after);
	return (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
}

START_TEST(context_switches_are_sampled)
{
	struct ps_attr *attr;
	struct ps_sampler *sampler = NULL;
	struct ps_record record;
	unsigned samples = 0;

	if (!here_may_count("context-switches"))
		return;
	attr = new_attr("context-switches", 1, ALL_IDS);
	check_ok(ps_sampler_create(&sampler, attr, 0, -1, 0));
	ps_attr_destroy(attr);
	check_ok(ps_sampler_start(sampler));
	uint64_t switches = sleep_often(10);
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK)
		samples += record.type == PS_RECORD_SAMPLE;
	ck_assert_uint_gt(switches, 0);
	ck_assert_uint_ge(samples, switches);
	ck_assert_uint_eq(samples, read_count(sampler).value);
	ps_sampler_destroy(sampler);
}
END_TEST

/* Its raw data begins with the tracepoint's number. */
START_TEST(a_tracepoint_is_sampled_with_its_data)
{
	struct ps_attr *attr;
	uint64_t config = 0;
	struct ps_record record;
	unsigned samples = 0;

	if (!here_may_count("sched:sched_switch"))
		return;
	attr = new_attr("sched:sched_switch", 1, ALL_IDS | PERF_SAMPLE_RAW);
	check_ok(ps_attr_get(attr, PS_ATTR_CONFIG, &config));
	struct ps_sampler *sampler = open_sampler(attr, 0, -1, 2);
	check_ok(ps_sampler_start(sampler));
	uint64_t switches = sleep_often(5);
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		uint16_t number;
		if (record.type != PS_RECORD_SAMPLE)
			continue;
		samples++;
		ck_assert_uint_ge(record.sample.raw.size, sizeof number);
		memcpy(&number, record.sample.raw.at, sizeof number);
		ck_assert_uint_eq(number, config);
	}
	ck_assert_uint_gt(switches, 0);
	ck_assert_uint_ge(samples + ps_sampler_lost(sampler), switches);
	ps_sampler_destroy(sampler);
}
END_TEST

/* Between two looks at that clock. */
START_TEST(times_are_of_the_clock_that_was_asked_for)
{
	struct ps_attr *attr = new_attr("page-faults:u", 1, ALL_IDS);
	unsigned char *memory = map_pages(PAGES);
	struct timespec before, after;
	struct ps_record record;
	unsigned samples = 0;

	check_ok(ps_attr_set(attr, PS_ATTR_USE_CLOCKID, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_CLOCKID, CLOCK_MONOTONIC_RAW));
	struct ps_sampler *sampler = open_sampler(attr, 0, -1, 8);
	clock_gettime(CLOCK_MONOTONIC_RAW, &before);
	check_ok(ps_sampler_start(sampler));
	touch_pages(memory, PAGES);
	check_ok(ps_sampler_stop(sampler));
	clock_gettime(CLOCK_MONOTONIC_RAW, &after);
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		samples += record.type == PS_RECORD_SAMPLE;
		ck_assert_uint_ge(record.time, in_ns(&before));
		ck_assert_uint_le(record.time, in_ns(&after));
	}
	ck_assert_uint_ge(samples, PAGES);
	ps_sampler_destroy(sampler);
	munmap(memory, PAGES * page_bytes());
}
END_TEST

#if defined(__x86_64__)
#define REGISTER_IP 8
#define REGISTER_SP 7
#elif defined(__aarch64__)
#define REGISTER_IP 32
#define REGISTER_SP 31
#endif

#ifdef REGISTER_IP
#define STACK_BYTES 512

/* The instruction pointer is the sample's, and the stack holds the caller's number. */
START_TEST(registers_and_the_stack_are_sampled)
{
	struct ps_attr *attr =
	    new_attr("page-faults:u", 1,
	             ALL_IDS | PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	unsigned char *memory = map_pages(4);
	volatile unsigned char mark[16] = "on the stack";
	struct ps_record record;
	unsigned samples = 0;

	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_REGS_USER,
	                     UINT64_C(1) << REGISTER_IP | UINT64_C(1) << REGISTER_SP));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_STACK_USER, STACK_BYTES));
	struct ps_sampler *sampler = open_sampler(attr, 0, -1, 8);
	check_ok(ps_sampler_start(sampler));
	touch_pages(memory, 4);
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		const struct ps_record_registers *registers = &record.sample.user_registers;
		uint64_t ip = 0, sp = 0;
		if (record.type != PS_RECORD_SAMPLE)
			continue;
		samples++;
		check_ok(ps_record_register(&record, registers, REGISTER_IP, &ip));
		check_ok(ps_record_register(&record, registers, REGISTER_SP, &sp));
		ck_assert_uint_eq(ip, record.ip);
		ck_assert_uint_eq(record.sample.user_stack.size, STACK_BYTES);
		ck_assert_uint_le(sp, (uintptr_t)mark);
	}
	ck_assert_uint_ge(samples, 4);
	ps_sampler_destroy(sampler);
	munmap(memory, 4 * page_bytes());
}
END_TEST
#endif

START_TEST(a_frequency_is_kept_about)
{
	struct ps_attr *attr = NULL;
	struct ps_record record;
	unsigned samples = 0;

	check_ok(ps_attr_create(&attr, "cpu-clock:u"));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_FREQ, 500));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_TYPE, ALL_IDS | PERF_SAMPLE_PERIOD));
	struct ps_sampler *sampler = open_sampler(attr, 0, -1, 4);
	check_ok(ps_sampler_start(sampler));
	spin(60000000);
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		samples += record.type == PS_RECORD_SAMPLE;
		if (record.type == PS_RECORD_SAMPLE)
			ck_assert_uint_gt(record.period, 0);
	}
	ck_assert_uint_ge(samples, 1);
	ps_sampler_destroy(sampler);
}
END_TEST

/* The count in the sample itself. */
START_TEST(samples_hold_counts_and_callchains)
{
	struct ps_attr *attr =
	    new_attr("page-faults:u", 10, ALL_IDS | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN);
	unsigned char *memory = map_pages(PAGES);
	struct ps_record record;
	uint64_t last = 0;
	unsigned samples = 0;

	struct ps_sampler *sampler = open_sampler(attr, 0, -1, 4);
	check_ok(ps_sampler_start(sampler));
	touch_pages(memory, PAGES);
	check_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		struct ps_record_count count;
		if (record.type != PS_RECORD_SAMPLE)
			continue;
		samples++;
		check_ok(ps_record_count(&record, 0, &count));
		ck_assert_uint_gt(count.value, last);
		last = count.value;
		ck_assert_uint_ge(record.sample.callchain.count, 1);
	}
	ck_assert_uint_ge(samples, PAGES / 10);
	ps_sampler_destroy(sampler);
	munmap(memory, PAGES * page_bytes());
}
END_TEST

/* Each sample has what the others counted until then, and the last read has all. */
START_TEST(samples_hold_the_counts_of_a_group)
{
	struct ps_attr *leader = new_attr("page-faults:u", 8, ALL_IDS | PERF_SAMPLE_READ);
	struct ps_attr *member = new_attr("minor-faults:u", 0, 0);
	unsigned char *memory = map_pages(PAGES);
	struct ps_sampler_count counts[2];
	struct ps_record record;
	uint64_t last = 0;
	unsigned samples = 0;

	check_ok(ps_attr_set(leader, PS_ATTR_READ_FORMAT, PERF_FORMAT_GROUP | PERF_FORMAT_ID));
	struct ps_sampler *sampler = open_sampler(leader, 0, -1, 4);
	check_ok(ps_sampler_add(sampler, member));
	check_ok(ps_sampler_start(sampler));
	touch_pages(memory, PAGES);
	check_ok(ps_sampler_stop(sampler));
	check_ok(ps_sampler_read_group(sampler, counts, 2));
	ck_assert_uint_ge(counts[1].value, PAGES);
	ck_assert_uint_ge(counts[0].value, counts[1].value);
	ck_assert_uint_eq(counts[0].running_ns, counts[0].enabled_ns);
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		struct ps_record_count first, second;
		if (record.type != PS_RECORD_SAMPLE)
			continue;
		ck_assert_uint_eq(record.sample.counts.count, 2);
		check_ok(ps_record_count(&record, 0, &first));
		check_ok(ps_record_count(&record, 1, &second));
		ck_assert_uint_eq(first.value, 8 * ++samples);
		/* The kernel counts a fault, and then that it was a minor one. */
		ck_assert_uint_lt(second.value, first.value);
		ck_assert_uint_ge(second.value, last);
		last = second.value;
	}
	ck_assert_uint_ge(samples, PAGES / 8);
	ck_assert_uint_ge(last, PAGES - 8);
	close(ps_sampler_fd(sampler));
	ck_assert_int_eq(ps_sampler_add(sampler, member), PS_ECLOST);
	ck_assert_int_eq(ps_sampler_read_group(sampler, counts, 2), PS_ECLOST);
	ps_attr_destroy(member);
	ps_sampler_destroy(sampler);
	munmap(memory, PAGES * page_bytes());
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampler");
	TCase *tests = here_case(suite, "sampler");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, each_touched_page_is_a_sample_with_its_address);
	tcase_add_test(tests, records_and_losses_are_what_was_counted);
	tcase_add_loop_test(tests, a_clock_is_sampled, 0, 2);
	tcase_add_test(tests, context_switches_are_sampled);
	tcase_add_test(tests, a_tracepoint_is_sampled_with_its_data);
	tcase_add_test(tests, samples_hold_counts_and_callchains);
	tcase_add_test(tests, samples_hold_the_counts_of_a_group);
	tcase_add_test(tests, times_are_of_the_clock_that_was_asked_for);
	tcase_add_test(tests, a_frequency_is_kept_about);
#ifdef REGISTER_IP
	tcase_add_test(tests, registers_and_the_stack_are_sampled);
#endif
	return here_run_if_counted(suite);
}

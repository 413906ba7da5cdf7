/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/session*.c on the fake kernel: what is opened, what is refused, records of any event
 * of the session. Failures: test_session_faults. Real processes: tests/api/test_session.c. */
#include "test_session.h"

START_TEST(each_thread_and_cpu_has_each_event_and_each_cpu_one_ring)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	struct ps_session_stats stats = {.size = sizeof stats};
	int fds[64];

	check_ok(ps_session_stats(session, &stats));
	ck_assert_uint_eq(stats.threads, 2);
	ck_assert_uint_eq(stats.rings, CPUS);
	ck_assert_uint_eq(fake_counter_fds(fds, 64), 2 * 2 * CPUS);
	for (int i = 0; i < 2 * 2 * CPUS; i++) {
		const struct perf_event_attr *attr = fake_attr_of_fd(fds[i]);
		bool is_leader = attr->config == PERF_COUNT_SW_DUMMY;
		ck_assert(attr->inherit && attr->sample_id_all && attr->use_clockid);
		ck_assert_int_eq(attr->task, is_leader);
		ck_assert_uint_ne(attr->sample_type & PERF_SAMPLE_IDENTIFIER, 0);
		ck_assert_uint_eq(attr->sample_type & PERF_SAMPLE_PERIOD, 0);
		ck_assert(fake_enabled_of_fd(fds[i]));
	}
	ps_session_destroy(session);
}
END_TEST

START_TEST(a_cpu_that_is_offline_is_opened_for_the_day_it_comes)
{
	struct ps_session_options options = usual();
	fake_set_online(3, false);
	struct ps_session *session = started(&options);

	ck_assert_uint_eq(session->lists.ring_count, CPUS);
	ps_session_destroy(session);
}
END_TEST

START_TEST(a_sample_is_known_by_its_id_with_period_and_hardware_thread)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	struct ps_value value = {.value = 0};

	put_sample(session, instance_of(session, 0)->id, 2);
	put_sample(session, instance_of(session, 0)->id, 2);
	put_sample(session, instance_of(session, 0)->id, 77);
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(samples_heard, 3);
	ck_assert_uint_eq(last_period, 5);
	ck_assert_ptr_eq(last_thread, ps_topology_unknown_thread(scene.topology));
	check_ok(ps_session_sum(session, 0, NULL, &value));
	ck_assert_int_eq(value.value, 15);
	ck_assert_uint_eq(value.raw, 3);
	const struct ps_thread *thread = ps_topology_thread(scene.topology, 2);
	check_ok(ps_session_sum(session, 0, ps_thread_component(thread), &value));
	ck_assert_int_eq(value.value, 10);
	ck_assert_uint_eq(value.flags, PS_VALUE_SAMPLED);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	check_fails(ps_session_sum(session, 1, NULL, &value), PS_ENOEVNT);
	ps_session_destroy(session);
}
END_TEST

START_TEST(with_few_descriptors_it_is_refused_or_closes_all_but_the_leaders)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	int fds[64];

	make_process();
	options.descriptors = 2 * 2 * CPUS;
	check_fails(start_with(&session, &options), PS_ECOUNT);
	check_detail("PS_SESSION_CLOSE");
	ck_assert_uint_eq(fake_counter_fds(fds, 64), 0);
	ps_session_destroy(session);
	options.shortage = PS_SESSION_CLOSE;
	/* Each sentence names a remedy that is left. */
	options.descriptors = 3;
	check_fails(start_with(&session, &options), PS_ECOUNT);
	ck_assert_ptr_null(strstr(ps_error_detail(), "PS_SESSION_CLOSE"));
	ps_session_destroy(session);
	options.descriptors = 2 * 2 * CPUS;
	fake_fail(FAKE_MMAP, CPUS + 2, ENOMEM);
	check_fails(start_with(&session, &options), PS_ENOMEM);
	check_detail("vm.max_map_count");
	ps_session_destroy(session);
	check_ok(start_with(&session, &options));
	ck_assert_uint_eq(session->lists.ring_count, 2 * 2 * CPUS);
	ck_assert_uint_eq(ps__session_descriptors(session), CPUS + 3);
	ps_session_destroy(session);
}
END_TEST

START_TEST(wrong_arguments_are_named)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	struct ps_attr *attr = new_attr("page-faults");
	struct ps_session_stats stats = {.size = 1};
	struct ps_value value;
	uint64_t count;

	make_process();
	check_fails(ps_session_create(NULL, 0, NULL), PS_EINVAL);
	check_fails(ps_session_create(&session, -1, NULL), PS_EINVAL);
	check_fails(ps_session_create(&session, 9999, NULL), PS_ESYS);
	options.size--;
	check_fails(ps_session_create(&session, 0, &options), PS_EINVAL);
	options = usual();
	options.ring_bytes = SIZE_MAX;
	check_fails(ps_session_create(&session, 0, &options), PS_EINVAL);
	options = usual();
	options.flags = 0x200;
	check_fails(ps_session_create(&session, 0, &options), PS_EINVAL);
	check_detail("0x200");
	options = usual();
	options.shortage = (enum ps_session_shortage)9;
	check_fails(ps_session_create(&session, 0, &options), PS_EINVAL);
	ck_assert_ptr_null(session);
	check_ok(ps_session_create(&session, PROCESS, NULL));
	check_fails(ps_session_add(NULL, attr), PS_EINVAL);
	check_fails(ps_session_add(session, NULL), PS_EINVAL);
	check_ok(ps_attr_set(attr, PS_ATTR_WRITE_BACKWARD, 1));
	check_fails(ps_session_add(session, attr), PS_ECOMBO);
	check_detail("write_backward");
	check_fails(ps_session_stats(session, &stats), PS_EINVAL);
	check_fails(ps_session_sum(session, 0, NULL, &value), PS_EINVAL);
	check_fails(ps_session_count(session, 0, &count), PS_ENOEVNT);
	check_fails(ps_session_poll(NULL, 0), PS_EINVAL);
	check_fails(ps_session_stop(NULL), PS_EINVAL);
	ck_assert_uint_eq(ps_session_missed(NULL, NULL, 0), 0);
	ps_session_destroy(session);
	ps_session_destroy(NULL);
	ps_attr_destroy(attr);
}
END_TEST

/* Two readings of one name could not be told apart, nor samples that have one id. */
START_TEST(an_event_that_can_not_be_told_from_another_is_refused)
{
	struct ps_session *session = NULL;
	struct ps_attr *attr = new_attr("page-faults"), *user = new_attr("page-faults:u");
	struct ps_attr *clock = new_attr("cpu-clock"), *clock_user = new_attr("cpu-clock:u");

	check_ok(ps_session_create(&session, 0, NULL));
	check_ok(ps_session_add(session, attr));
	check_fails(ps_session_add(session, attr), PS_ECNFLCT);
	check_detail("'page-faults' is in the session already");
	check_fails(ps_session_add(session, user), PS_ECNFLCT);
	check_detail("the id of one");
	/* Without samples there are no ids. */
	check_ok(ps_attr_set(user, PS_ATTR_SAMPLE_PERIOD, 0));
	check_ok(ps_session_add(session, user));
	check_ok(ps_session_add(session, clock));
	check_ok(ps_session_add(session, clock_user));
	ck_assert_uint_eq(session->user_events, 4);
	ps_session_destroy(session);
	ps_attr_destroy(clock_user);
	ps_attr_destroy(clock);
	ps_attr_destroy(user);
	ps_attr_destroy(attr);
}
END_TEST

/* The kernel would sample each 10 microseconds, and say the period that was asked for. */
START_TEST(a_clock_has_no_shorter_period_than_the_kernels_timers)
{
	static const struct {
		uint64_t is_frequency, asked, opened;
	} rows[] = {{0, 1, 10000}, {0, 9999, 10000},  {0, 10001, 10001},
	            {0, 0, 0},     {1, 99999, 99999}, {1, 1000000, 100000}};
	struct ps_session_options options = usual();

	make_process();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ps_attr *attr = new_attr(i % 2 ? "task-clock" : "cpu-clock");
		struct ps_session *session = NULL;
		enum ps_attr_field field =
		    rows[i].is_frequency ? PS_ATTR_SAMPLE_FREQ : PS_ATTR_SAMPLE_PERIOD;
		check_ok(ps_attr_set(attr, field, rows[i].asked));
		check_ok(ps_attr_set(attr, PS_ATTR_FREQ, rows[i].is_frequency));
		check_ok(start_of(&session, &options, attr));
		ck_assert_uint_eq(fake_attr_of_fd(instance_of(session, 0)->fd)->sample_period,
		                  rows[i].opened);
		ps_session_destroy(session);
		ps_attr_destroy(attr);
	}
}
END_TEST

/* The kernel counts sched:sched_stat_runtime by nanoseconds. */
START_TEST(samples_of_each_time_tell_how_much_it_counts_for)
{
	static const struct {
		const char *name;
		uint64_t period;
		bool has_period;
	} rows[] = {{"sched:sched_stat_runtime", 1, true},
	            {"sched:sched_stat_runtime", 2, false},
	            {"page-faults", 1, false}};
	struct ps_session_options options = usual();

	fake_file("/sys/kernel/tracing/events/sched/sched_stat_runtime/id", "310\n");
	fake_add_event(PERF_TYPE_TRACEPOINT, 310);
	make_process();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ps_attr *attr = new_attr(rows[i].name);
		struct ps_session *session = NULL;
		check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, rows[i].period));
		check_ok(start_of(&session, &options, attr));
		uint64_t fields = fake_attr_of_fd(instance_of(session, 0)->fd)->sample_type;
		ck_assert_int_eq((fields & PERF_SAMPLE_PERIOD) != 0, rows[i].has_period);
		ps_session_destroy(session);
		ps_attr_destroy(attr);
	}
}
END_TEST

/* Else the counts in its samples would lack what was asked for. */
START_TEST(the_read_format_is_kept_and_the_count_found_in_it)
{
	static const uint64_t formats[] = {0, PERF_FORMAT_ID, PERF_FORMAT_TOTAL_TIME_ENABLED,
	                                   PERF_FORMAT_TOTAL_TIME_ENABLED |
	                                       PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID};
	struct ps_session_options options = usual();
	uint64_t count = 0;

	make_process();
	fake_count_lost();
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct ps_session *session = NULL;
		struct ps_attr *attr = new_attr("page-faults");
		check_ok(ps_attr_set(attr, PS_ATTR_READ_FORMAT, formats[i]));
		check_ok(start_of(&session, &options, attr));
		int fd = instance_of(session, 0)->fd;
		ck_assert_uint_eq(fake_attr_of_fd(fd)->read_format & formats[i], formats[i]);
		fake_run(3000, 3000);
		fake_advance_on(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, PROCESS, 1, 7);
		check_ok(ps_session_count(session, 0, &count));
		ck_assert_uint_eq(count, 7);
		ps_session_destroy(session);
		ps_attr_destroy(attr);
	}
}
END_TEST

#define MINOR_FAULTS PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN

START_TEST(an_event_without_a_counter_hides_neither_another_ones_count_nor_losses)
{
	struct ps_session_options options = usual();
	struct ps_session_stats stats = {.size = sizeof stats};
	struct ps_attr *attr = new_attr("minor-faults"), *other = new_attr("page-faults");
	struct ps_session *session = NULL;
	uint64_t count = 0;

	make_process();
	fake_count_lost();
	options.flags = PS_SESSION_SWITCHES;
	check_ok(ps_session_create(&session, PROCESS, &options));
	check_ok(ps_session_add(session, attr));
	check_ok(ps_session_add(session, other));
	check_ok(ps_session_start(session));
	for (int i = 0; i < 400; i++)
		fake_switch_task(PROCESS);
	fake_set_error_state(MINOR_FAULTS, true);
	fake_advance_on(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, PROCESS, 1, 7);
	check_fails(ps_session_count(session, 0, &count), PS_ENOCNTR);
	unsigned reads = fake_count(FAKE_READ);
	check_ok(ps_session_count(session, 1, &count));
	ck_assert_uint_eq(count, 7);
	ck_assert_uint_eq(fake_count(FAKE_READ) - reads, 2 * CPUS);
	check_ok(ps_session_stats(session, &stats));
	ck_assert_uint_gt(stats.lost, 0);
	ck_assert_uint_eq(lost_heard, 0);
	/* A loss of the hardware is not among those of the rings. */
	uint64_t before = stats.lost, leader = instance_of(session, 2)->id;
	uint64_t lost[] = {4, UINT64_C(4711) << 32 | 4711, 1000, 0, leader};
	ck_assert(
	    fake_put_record(session->lists.rings[0].fd, PERF_RECORD_LOST_SAMPLES, 0, lost, 5));
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(lost_heard, 4);
	check_ok(ps_session_stats(session, &stats));
	ck_assert_uint_eq(stats.lost, before + 4);
	ps_session_destroy(session);
	ps_attr_destroy(other);
	ps_attr_destroy(attr);
}
END_TEST

/* Time of one thread, as the kernel tells it: an instance is enabled while its thread runs
 * anywhere, and runs on its own CPU alone. */
static void run_thread(const struct ps_session *session, size_t first, int cpu, uint64_t ns,
                       uint64_t running_ns)
{
	for (int i = 0; i < CPUS; i++)
		fake_run_fd(session->lists.instances[first + (size_t)i].fd, ns,
		            i == cpu ? running_ns : 0);
}

#define INSTRUCTIONS PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS

START_TEST(an_event_that_waits_for_a_counter_has_no_count)
{
	struct ps_session_options options = usual();
	struct ps_attr *attr;
	struct ps_session *session = NULL;
	size_t one = CPUS, other = 3 * CPUS; /* behind the leader's */
	uint64_t count = 99;

	fake_add_core_pmu(4);
	make_process();
	attr = new_attr("instructions");
	check_ok(start_of(&session, &options, attr));
	ck_assert_uint_eq(session->lists.instances[one].event, 0);
	ck_assert_uint_eq(session->lists.instances[other].event, 0);
	check_ok(ps_session_count(session, 0, &count));
	ck_assert_uint_eq(count, 0);
	/* Never. */
	run_thread(session, one, 1, 2000000, 0);
	check_fails(ps_session_count(session, 0, &count), PS_ENOCNTR);
	check_detail("0.000 of the 2.000 ms");
	/* Always, on two CPUs; one instance was enabled for longer. */
	run_thread(session, one, 2, 0, 2000000);
	run_thread(session, one, 3, 5000000, 5000000);
	fake_run_fd(session->lists.instances[one].fd, 4000000, 0);
	fake_advance_on(INSTRUCTIONS, PROCESS, 1, 7);
	check_ok(ps_session_count(session, 0, &count));
	ck_assert_uint_eq(count, 7);
	/* For a part of the time, in one of two threads. */
	run_thread(session, other, 0, 3000000, 1000000);
	count = 99;
	check_fails(ps_session_count(session, 0, &count), PS_ENOCNTR);
	check_detail("8.000 of the 10.000 ms");
	ck_assert_uint_eq(count, 99);
	ps_session_destroy(session);
	ps_attr_destroy(attr);
}
END_TEST

/* Clocks that are not one make the times of two CPUs differ. */
START_TEST(a_software_event_has_its_count_whatever_the_times_say)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	uint64_t count = 0;

	run_thread(session, CPUS, 1, 1044000000, 982000000);
	fake_advance_on(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, PROCESS, 1, 7);
	check_ok(ps_session_count(session, 0, &count));
	ck_assert_uint_eq(count, 7);
	ps_session_destroy(session);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session");
	TCase *tests = scene_case(suite, "session");

	tcase_add_test(tests, each_thread_and_cpu_has_each_event_and_each_cpu_one_ring);
	tcase_add_test(tests, a_cpu_that_is_offline_is_opened_for_the_day_it_comes);
	tcase_add_test(tests, a_sample_is_known_by_its_id_with_period_and_hardware_thread);
	tcase_add_test(tests, with_few_descriptors_it_is_refused_or_closes_all_but_the_leaders);
	tcase_add_test(tests, wrong_arguments_are_named);
	tcase_add_test(tests, an_event_that_can_not_be_told_from_another_is_refused);
	tcase_add_test(tests, a_clock_has_no_shorter_period_than_the_kernels_timers);
	tcase_add_test(tests, samples_of_each_time_tell_how_much_it_counts_for);
	tcase_add_test(tests, the_read_format_is_kept_and_the_count_found_in_it);
	tcase_add_test(tests,
	               an_event_without_a_counter_hides_neither_another_ones_count_nor_losses);
	tcase_add_test(tests, an_event_that_waits_for_a_counter_has_no_count);
	tcase_add_test(tests, a_software_event_has_its_count_whatever_the_times_say);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions on the fake kernel when something fails or ends: nothing is left open, a start can be
 * repeated, and the end of a process is told. */
#include "test_session.h"

START_TEST(the_processs_limit_is_told_from_the_systems)
{
	static const struct {
		int error;
		const char *says;
	} rows[] = {{EMFILE, "ulimit -n"}, {ENFILE, "file-max"}};
	struct ps_session_options options = usual();
	struct ps_session *unlisted = NULL;

	make_process();
	fake_fail(FAKE_LIST, 1, EMFILE);
	check_fails(start_with(&unlisted, &options), PS_ECOUNT);
	check_detail("ulimit -n");
	ps_session_destroy(unlisted);
	for (size_t i = 0; i < 2; i++) {
		struct ps_session *session = NULL;
		unsigned before = fake_open_fds();
		fake_fail(FAKE_PERF_EVENT_OPEN, 9, rows[i].error);
		check_fails(start_with(&session, &options), PS_ECOUNT);
		check_detail(rows[i].says);
		ps_session_destroy(session);
		ck_assert_uint_eq(fake_open_fds(), before);
	}
}
END_TEST

/* The first event that is opened is the session's own. */
START_TEST(a_refusal_names_no_event_that_the_user_doesnt_know)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;

	make_process();
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EACCES);
	check_fails(start_with(&session, &options), PS_EPERM);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	check_detail("'the records of tasks': ");
	ps_session_destroy(session);
}
END_TEST

/* _i: PS_SESSION_REFUSE, PS_SESSION_CLOSE. */
START_TEST(whatever_fails_nothing_is_left)
{
	static const struct {
		enum fake_call call;
		int error;
	} faults[] = {{FAKE_ALLOCATE, ENOMEM},
	              {FAKE_PERF_EVENT_OPEN, EINTR},
	              {FAKE_PERF_EVENT_OPEN, ESRCH},
	              {FAKE_PERF_EVENT_OPEN, EMFILE},
	              {FAKE_IOCTL, EIO},
	              {FAKE_MMAP, EPERM},
	              {FAKE_MMAP, ENOMEM},
	              {FAKE_LIST, ENOENT},
	              {FAKE_OPEN, EMFILE},
	              {FAKE_PIPE, ENFILE},
	              {FAKE_FSTAT, EIO},
	              {FAKE_POLL, EINTR},
	              {FAKE_GETRLIMIT, EINVAL}};
	struct ps_session_options options = usual();

	make_process();
	if (_i)
		options.descriptors = CPUS + 4;
	options.shortage = _i ? PS_SESSION_CLOSE : PS_SESSION_REFUSE;
	struct ps_attr *attr = new_attr("page-faults");
	for (size_t fault = 0; fault < sizeof faults / sizeof *faults; fault++) {
		bool happened = true;
		for (unsigned nth = 1; happened; nth++) {
			struct ps_session *session = NULL;
			unsigned before = fake_open_fds();
			size_t mapped = fake_mapped_bytes();
			unsigned uses = fake_count(faults[fault].call);
			fake_fail(faults[fault].call, nth, faults[fault].error);
			int result = start_of(&session, &options, attr);
			fake_fail(faults[fault].call, 0, 0);
			happened = fake_count(faults[fault].call) - uses >= nth;
			if (!happened)
				ck_assert_int_eq(result, PS_OK);
			ck_assert_int_le(result, 0);
			ps_session_destroy(session);
			ck_assert_uint_eq(fake_open_fds(), before);
			ck_assert_uint_eq(fake_mapped_bytes(), mapped);
			ck_assert_uint_lt(nth, 500);
		}
	}
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_failed_start_can_be_repeated)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;

	make_process();
	fake_fail(FAKE_MMAP, 3, EPERM);
	check_fails(start_with(&session, &options), PS_EPERM);
	check_detail("perf_event_mlock_kb");
	check_fails(ps_session_run(session), PS_ENOTRUN);
	check_ok(ps_session_start(session));
	check_fails(ps_session_start(session), PS_EISRUN);
	put_sample(session, instance_of(session, 0)->id, 0);
	check_ok(ps_session_stop(session));
	check_ok(ps_session_run(session));
	ck_assert_uint_eq(samples_heard, 1);
	ps_session_destroy(session);
}
END_TEST

/* The events that are added later must stand before the leader, and have sums. */
START_TEST(events_can_be_added_after_a_failed_start)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	struct ps_attr *attr = new_attr("minor-faults");
	struct ps_value value = {.value = 0};

	make_process();
	fake_fail(FAKE_MMAP, 3, EPERM);
	check_fails(start_with(&session, &options), PS_EPERM);
	check_ok(ps_session_add(session, attr));
	check_ok(ps_session_start(session));
	put_sample(session, instance_of(session, 1)->id, 2);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_sum(session, 1, NULL, &value));
	ck_assert_int_eq(value.value, 5);
	check_fails(ps_session_sum(session, 0, NULL, &value), PS_ENOEVST);
	check_fails(ps_session_sum(session, 2, NULL, &value), PS_ENOEVNT);
	int fd = instance_of(session, 2)->fd;
	ck_assert_uint_eq(fake_attr_of_fd(fd)->config, PERF_COUNT_SW_DUMMY);
	ps_session_destroy(session);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_run_ends_when_the_process_has_ended)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);

	put_sample(session, instance_of(session, 0)->id, 0);
	fake_task_end(PROCESS + 1);
	fake_task_end(PROCESS);
	check_ok(ps_session_run(session));
	ck_assert_uint_eq(samples_heard, 1);
	ps_session_destroy(session);
}
END_TEST

START_TEST(a_process_goes_on_without_its_first_thread)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);

	put_sample(session, instance_of(session, 0)->id, 0);
	fake_task_zombie(PROCESS, 2);
	check_ok(ps_session_poll(session, -1));
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(samples_heard, 1);
	fake_task_zombie(PROCESS, 1);
	check_fails(ps_session_poll(session, -1), PS_ENOTRUN);
	check_detail("has ended");
	ps_session_destroy(session);
}
END_TEST

START_TEST(a_thread_is_no_process)
{
	struct ps_session *session = NULL;

	make_process();
	fake_file("/proc/4712/status", "Name:\tsolver\nTgid:\t4711\nPid:\t4712\n");
	check_fails(ps_session_create(&session, PROCESS + 1, NULL), PS_EINVAL);
	check_detail("of process 4711");
	ck_assert_ptr_null(session);
}
END_TEST

/* _i: which file finds no descriptor */
START_TEST(without_descriptors_no_session_is_made)
{
	static const char *const files[] = {"/proc/4711/status", "/sys/devices/system/cpu/present",
	                                    "/sys/devices/system/cpu/online"};
	struct ps_session *session = NULL;

	make_process();
	for (int file = _i; file < 3 && (file == _i || _i == 1); file++)
		fake_file_error(files[file], EMFILE);
	check_fails(ps_session_create(&session, PROCESS, NULL), PS_ECOUNT);
	check_detail("ulimit -n");
	ck_assert_ptr_null(session);
}
END_TEST

static int (*fake_open)(const char *path, int flags);

static int open_as_another(const char *path, int flags)
{
	return fake_open(strcmp(path, "/proc/self/stat") ? path : "/proc/4711/task/4711/stat",
	                 flags);
}

/* /proc is another PID namespace's: its numbers are those of other tasks. */
START_TEST(without_a_proc_of_its_own_no_session_is_made)
{
	struct ps_session *session = NULL;

	make_process();
	fake_open = ps__os.open;
	ps__os.open = open_as_another;
	check_fails(ps_session_create(&session, PROCESS, NULL), PS_ESYS);
	ps__os.open = fake_open;
	check_detail("no /proc of this PID namespace");
	ck_assert_ptr_null(session);
}
END_TEST

START_TEST(a_descriptor_that_the_program_closed_is_told)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);

	fake_hang_up(session->lists.rings[2].fd, POLLNVAL);
	check_fails(ps_session_run(session), PS_ECLOST);
	fake_hang_up(session->lists.rings[2].fd, POLLHUP);
	check_ok(ps_session_poll(session, 0));
	ck_assert_int_eq(session->lists.rings[2].fd, -1);
	put_sample(session, instance_of(session, 0)->id, 0);
	check_ok(ps_session_poll(session, 10));
	ck_assert_uint_eq(samples_heard, 1);
	fake_fail(FAKE_POLL, 1, EBADF);
	check_fails(ps_session_poll(session, 10), PS_ESYS);
	fake_fail(FAKE_POLL, 1, EINTR);
	check_ok(ps_session_poll(session, 10));
	ps_session_destroy(session);
}
END_TEST

static int refuse_branches(const struct perf_event_attr *attr)
{
	return attr->branch_sample_type ? EINVAL : 0;
}

START_TEST(a_field_that_the_kernel_refuses_is_named)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	struct ps_attr *attr = new_attr("page-faults");

	make_process();
	check_ok(ps_attr_set(attr, PS_ATTR_BRANCH_SAMPLE_TYPE, 1));
	fake_set_refusal(refuse_branches);
	check_fails(start_of(&session, &options, attr), PS_ENOSUPP);
	check_detail("branch_sample_type");
	fake_set_refusal(NULL);
	ps_session_destroy(session);
	ps_attr_destroy(attr);
}
END_TEST

/* The count would be 0, and not known. */
START_TEST(what_never_happens_is_no_event_of_a_session)
{
	struct ps_session *session = NULL;
	struct ps_attr *attr = new_attr("context-switches");

	check_ok(ps_session_create(&session, 0, NULL));
	check_ok(ps_attr_set(attr, PS_ATTR_EXCLUDE_KERNEL, 1));
	check_fails(ps_session_add(session, attr), PS_EINVAL_DOM);
	check_ok(ps_attr_set(attr, PS_ATTR_EXCLUDE_KERNEL, 0));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_TYPE, UINT64_C(1) << 40));
	check_fails(ps_session_add(session, attr), PS_ENOSUPP);
	ps_session_destroy(session);
	ps_attr_destroy(attr);
}
END_TEST

static int total_of(struct ps_value *value)
{
	return ps_component_total(ps_topology_root(scene.topology), "sampled page-faults", value);
}

START_TEST(sums_stay_when_a_reading_finds_no_memory)
{
	for (unsigned nth = 1; nth < 100; nth++) {
		struct ps_session_options options = usual();
		struct ps_session *session = started(&options);
		struct ps_value value = {.value = 0};
		put_sample(session, instance_of(session, 0)->id, 1);
		put_sample(session, instance_of(session, 0)->id, 2);
		check_ok(ps_session_poll(session, 0));
		check_ok(ps_topology_clear_readings(scene.topology));
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_session_store(session, NULL);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		if (result != PS_OK) {
			ck_assert_int_eq(result, PS_ENOMEM);
			ck_assert_int_ne(total_of(&value), PS_OK);
			check_ok(ps_session_store(session, NULL));
		}
		check_ok(total_of(&value));
		ck_assert_int_eq(value.value, 10);
		ps_session_destroy(session);
		if (result == PS_OK) {
			ck_assert_uint_gt(nth, 4);
			return;
		}
	}
	ck_abort_msg("storing never ends");
}
END_TEST

START_TEST(sums_of_user_space_alone_say_so)
{
	struct ps_session_options options = usual();
	struct ps_value value = {.value = 0};

	fake_set_paranoid(2, false);
	struct ps_session *session = started(&options);
	put_sample(session, instance_of(session, 0)->id, 2);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_sum(session, 0, NULL, &value));
	ck_assert_uint_eq(value.flags, PS_VALUE_SAMPLED | PS_VALUE_USER_ONLY);
	ps_session_destroy(session);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session_faults");
	TCase *tests = scene_case(suite, "session_faults");

	tcase_add_test(tests, the_processs_limit_is_told_from_the_systems);
	tcase_add_test(tests, a_refusal_names_no_event_that_the_user_doesnt_know);
	tcase_add_loop_test(tests, whatever_fails_nothing_is_left, 0, 2);
	tcase_add_test(tests, a_failed_start_can_be_repeated);
	tcase_add_test(tests, events_can_be_added_after_a_failed_start);
	tcase_add_test(tests, a_run_ends_when_the_process_has_ended);
	tcase_add_test(tests, a_process_goes_on_without_its_first_thread);
	tcase_add_test(tests, a_thread_is_no_process);
	tcase_add_test(tests, a_descriptor_that_the_program_closed_is_told);
	tcase_add_test(tests, without_a_proc_of_its_own_no_session_is_made);
	tcase_add_loop_test(tests, without_descriptors_no_session_is_made, 0, 2);
	tcase_add_test(tests, a_field_that_the_kernel_refuses_is_named);
	tcase_add_test(tests, what_never_happens_is_no_event_of_a_session);
	tcase_add_test(tests, sums_of_user_space_alone_say_so);
	tcase_add_test(tests, sums_stay_when_a_reading_finds_no_memory);
	return scene_run(suite);
}

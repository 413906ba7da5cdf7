/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/session_attach.c and session_fork.c on the fake kernel: tasks that are made while a
 * session is started, or took longer than that, are observed or told. Real threads:
 * tests/api/test_session_threads. */
#include "test_session.h"

#define LATE   (UINT64_C(1) << 62)
#define SECOND UINT64_C(1000000000)

static void show_thread(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/4711/task/%d/stat", (int)tid);
	fake_file(path, "");
}

/* Its FORK record has found no room: to open it would perhaps observe it twice. */
START_TEST(a_thread_that_comes_when_a_ring_is_full_is_missed_and_told)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	uint64_t words[] = {instance_of(session, 0)->id, UINT64_C(4711) << 32 | 4711, 1000, 0};
	pid_t missed = 0;

	while (fake_put_record(session->lists.rings[0].fd, PERF_RECORD_SAMPLE, 0, words, 4))
		;
	fake_task(PROCESS + 2, "solver", 3);
	show_thread(PROCESS + 2);
	check_fails(ps__session_attach(session), PS_PARTIAL);
	check_detail("larger rings");
	ck_assert_uint_eq(ps_session_missed(session, &missed, 1), 1);
	ck_assert_int_eq(missed, PROCESS + 2);
	ps_session_destroy(session);
}
END_TEST

/* The second one was opened although a record says that it inherits; it made the third. _i: 1: the
 * third one's record is found first, as it is in another ring; 2: it has ended, too. */
START_TEST(heirs_of_a_doubtful_thread_are_doubtful)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	pid_t heir = PROCESS + 2 + (_i == 2), missed[2] = {0};

	fake_task(heir, "solver", 3);
	show_thread(heir);
	if (_i == 2)
		put_fork(session, (uint32_t)heir, PROCESS + 2, LATE);
	if (_i >= 1)
		put_fork(session, PROCESS + 2, PROCESS + 1, LATE);
	put_fork(session, PROCESS + 1, PROCESS, LATE);
	if (_i == 0)
		put_fork(session, PROCESS + 2, PROCESS + 1, LATE);
	check_fails(ps__session_attach(session), PS_PARTIAL);
	ck_assert_uint_eq(ps_session_missed(session, missed, 2), 2);
	ck_assert_int_eq(missed[0], PROCESS + 1);
	ck_assert_int_eq(missed[1], heir);
	ps_session_destroy(session);
}
END_TEST

/* Each event that asks for records of tasks writes one. _i: in which look the second one is found
 */
START_TEST(a_second_record_takes_no_doubt_away)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started_in_state(&options, 'R');
	uint64_t from_ns = opened_ns(session, PROCESS);
	pid_t missed = 0;

	fake_task(5000, "solver", 3);
	show_thread(5000);
	put_fork(session, 5000, PROCESS, from_ns + 10);
	if (_i == 1)
		check_fails(ps__session_attach(session), PS_PARTIAL);
	put_fork(session, 5000, PROCESS, from_ns + 11);
	check_fails(ps__session_attach(session), PS_PARTIAL);
	ck_assert_uint_eq(ps_session_missed(session, &missed, 1), 1);
	ck_assert_int_eq(missed, 5000);
	ps_session_destroy(session);
}
END_TEST

/* It has ended on another CPU, whose ring is looked at first. */
START_TEST(a_creator_may_have_ended_before_its_record_is_found)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started_in_state(&options, 'R');
	uint64_t from_ns = opened_ns(session, PROCESS + 1);
	uint64_t ended[] = {UINT64_C(4711) << 32 | (PROCESS + 1),
	                    UINT64_C(4711) << 32 | (PROCESS + 1),
	                    from_ns + 20,
	                    UINT64_C(4711) << 32 | (PROCESS + 1),
	                    from_ns + 20,
	                    0,
	                    instance_of(session, 1)->id};
	pid_t missed = 0;

	fake_task(5000, "solver", 3);
	show_thread(5000);
	ck_assert(fake_put_record(session->lists.rings[0].fd, PERF_RECORD_EXIT, 0, ended, 7));
	put_fork(session, 5000, PROCESS + 1, from_ns + 10);
	check_fails(ps__session_attach(session), PS_PARTIAL);
	ck_assert_uint_eq(ps_session_missed(session, &missed, 1), 1);
	ck_assert_int_eq(missed, 5000);
	ps_session_destroy(session);
}
END_TEST

/* Such a thread has inherited the leader alone, before it had a ring: its heirs have records, and
 * no event that counts. _i: 1: it has ended before it was in a list. */
START_TEST(heirs_of_a_thread_without_a_record_are_doubtful)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	pid_t missed = 0;

	fake_task(5001, "solver", 3);
	show_thread(5001);
	if (_i == 0) {
		fake_task(5000, "solver", 3);
		show_thread(5000);
	}
	put_fork(session, 5001, 5000, LATE);
	check_fails(ps__session_attach(session), PS_PARTIAL);
	ck_assert_uint_eq(ps_session_missed(session, &missed, 1), 1);
	ck_assert_int_eq(missed, 5001);
	ps_session_destroy(session);
}
END_TEST

static void put_of_leader(const struct ps_session *session, uint32_t type, uint16_t misc,
                          const uint64_t *words, size_t count)
{
	uint64_t all[8] = {0};

	memcpy(all, words, count * sizeof *words);
	all[count] = UINT64_C(4711) << 32 | PROCESS;
	all[count + 1] = 1000;
	all[count + 3] = instance_of(session, 1)->id;
	ck_assert(fake_put_record(session->lists.rings[0].fd, type, misc, all, count + 4));
}

/* _i: 0: the task goes on, 1: it exits, 2: it has ended, 3: there was a record in between */
START_TEST(a_task_whose_program_is_not_observed_is_told)
{
	static const char *const stats[] = {
	    "4711 (sudo) S 1 1 1 0 -1 4194560 0\n", "4711 (sudo) R 1 1 1 0 -1 4194564 0\n",
	    "4711 (sudo) Z 1 1 1 0 -1 4194560 0\n", "4711 (sudo) S 1 1 1 0 -1 4194560 0\n"};
	static const uint64_t name[] = {UINT64_C(4711) << 32 | PROCESS, 0x6f647573};
	static const uint64_t end[] = {UINT64_C(1) << 32 | PROCESS, UINT64_C(1) << 32 | PROCESS,
	                               1000};
	struct ps_session_options options = usual();
	struct ps_session *session = started(&options);
	pid_t missed;

	fake_file("/proc/4711/task/4711/stat", stats[_i]);
	put_of_leader(session, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, name, 2);
	if (_i == 3)
		put_of_leader(session, PERF_RECORD_COMM, 0, name, 2);
	put_of_leader(session, PERF_RECORD_EXIT, 0, end, 3);
	ck_assert_uint_eq(missed_of(session, &missed), _i == 0);
	ck_assert_int_eq(missed, _i == 0 ? PROCESS : 0);
	ps_session_destroy(session);
}
END_TEST

/* The creator was running: it may have been making the thread when it was opened. */
START_TEST(a_thread_whose_making_outlasts_the_start_is_told)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started_in_state(&options, _i ? 'D' : 'R');
	uint64_t from_ns = opened_ns(session, PROCESS);
	pid_t missed;

	ck_assert_uint_eq(ps_session_missed(session, NULL, 0), 0);
	put_fork(session, 5000, PROCESS, from_ns + SECOND / 2);
	ck_assert_uint_eq(missed_of(session, &missed), 1);
	ck_assert_int_eq(missed, 5000);
	/* A task makes one at a time: the next one inherits. */
	put_fork(session, 5001, PROCESS, from_ns + SECOND / 2 + 1);
	ck_assert_uint_eq(missed_of(session, &missed), 1);
	/* Another ring is read later, and told of an earlier one. */
	put_fork(session, 5002, PROCESS, from_ns + SECOND / 4);
	ck_assert_uint_eq(missed_of(session, &missed), 2);
	/* Heirs' threads inherit; the second thread made nothing until now. */
	put_fork(session, 5003, 5001, from_ns + SECOND / 2 + 2);
	put_fork(session, 5004, PROCESS + 1, from_ns + SECOND * 3);
	ck_assert_uint_eq(missed_of(session, &missed), 2);
	ps_session_destroy(session);
}
END_TEST

/* A task that it made before may have been begun before. */
START_TEST(a_creator_that_was_seen_asleep_makes_heirs)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started_in_state(&options, "STt"[_i]);
	const struct ps__session_task *creator = ps__session_find_task(session, PROCESS);
	pid_t missed;

	put_fork(session, 5000, PROCESS, creator->settled_ns + 1);
	ck_assert_uint_eq(missed_of(session, &missed), 0);
	ck_assert_uint_gt(creator->settled_ns, creator->since_ns);
	put_fork(session, 5001, PROCESS, creator->settled_ns - 1);
	ck_assert_uint_eq(missed_of(session, &missed), 1);
	ck_assert_int_eq(missed, 5001);
	ps_session_destroy(session);
}
END_TEST

START_TEST(a_thread_that_is_made_while_its_creator_is_opened_is_told)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started_in_state(&options, 'S');
	uint64_t from_ns = opened_ns(session, PROCESS);
	pid_t missed;

	put_fork(session, 5000, PROCESS, from_ns - 2);
	put_fork(session, 5001, PROCESS, from_ns - 1);
	ck_assert_uint_eq(missed_of(session, &missed), 2);
	ps_session_destroy(session);
}
END_TEST

/* Its record came when it had been opened, as it was in the list for so long. */
START_TEST(a_thread_that_was_opened_and_inherits_is_told)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started_in_state(&options, 'S');
	uint64_t from_ns = opened_ns(session, PROCESS + 1);
	pid_t missed;

	/* Another thread has got its number later. */
	put_fork(session, PROCESS + 1, 5000, from_ns + 2 * SECOND);
	ck_assert_uint_eq(missed_of(session, &missed), 0);
	put_fork(session, PROCESS + 1, 5000, from_ns + 1000);
	ck_assert_uint_eq(missed_of(session, &missed), 1);
	ck_assert_int_eq(missed, PROCESS + 1);
	ps_session_destroy(session);
}
END_TEST

START_TEST(without_memory_for_a_thread_its_creator_is_told)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started_in_state(&options, 'R');
	uint64_t from_ns = opened_ns(session, PROCESS);
	size_t told = 0;
	pid_t missed;

	fake_fail_always(FAKE_ALLOCATE, ENOMEM);
	for (uint32_t tid = 5000; told == 0 || missed > PROCESS; tid++) {
		put_fork(session, tid, PROCESS, from_ns + SECOND / 2 - tid);
		ck_assert_uint_eq(missed_of(session, &missed), ++told);
		ck_assert_uint_lt(tid, 5100);
	}
	fake_fail_always(FAKE_ALLOCATE, 0);
	ck_assert_int_eq(missed, PROCESS);
	ps_session_destroy(session);
}
END_TEST

/* Another process copies memory while it is made, which takes long. */
START_TEST(a_process_that_is_made_meanwhile_is_told_by_the_start)
{
	struct ps_session_options options = usual();
	struct ps_session *session = started_in_state(&options, 'R');
	uint64_t time_ns = opened_ns(session, PROCESS) + 1;
	uint64_t parent = UINT64_C(4711) << 32 | 6000;
	uint64_t words[] = {parent,
	                    parent,
	                    time_ns,
	                    UINT64_C(4711) << 32 | 4711,
	                    time_ns,
	                    0,
	                    instance_of(session, 1)->id};
	pid_t missed = 0;

	fake_task(6000, "child", 2);
	ck_assert(fake_put_record(session->lists.rings[0].fd, PERF_RECORD_FORK, 0, words, 7));
	check_fails(ps__session_attach(session), PS_PARTIAL);
	ck_assert_uint_eq(ps_session_missed(session, &missed, 1), 1);
	ck_assert_int_eq(missed, 6000);
	/* The start has seen the record; nobody looks at it again. */
	fake_task_end(6000);
	check_ok(ps__session_attach(session));
	ck_assert_uint_eq(missed_of(session, &missed), 0);
	ps_session_destroy(session);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session_attach");
	TCase *tests = scene_case(suite, "session_attach");

	tcase_add_test(tests, a_thread_that_comes_when_a_ring_is_full_is_missed_and_told);
	tcase_add_loop_test(tests, heirs_of_a_doubtful_thread_are_doubtful, 0, 3);
	tcase_add_loop_test(tests, heirs_of_a_thread_without_a_record_are_doubtful, 0, 2);
	tcase_add_loop_test(tests, a_second_record_takes_no_doubt_away, 0, 2);
	tcase_add_test(tests, a_creator_may_have_ended_before_its_record_is_found);
	tcase_add_loop_test(tests, a_task_whose_program_is_not_observed_is_told, 0, 4);
	tcase_add_loop_test(tests, a_thread_whose_making_outlasts_the_start_is_told, 0, 2);
	tcase_add_loop_test(tests, a_creator_that_was_seen_asleep_makes_heirs, 0, 3);
	tcase_add_test(tests, a_thread_that_is_made_while_its_creator_is_opened_is_told);
	tcase_add_test(tests, a_thread_that_was_opened_and_inherits_is_told);
	tcase_add_test(tests, without_memory_for_a_thread_its_creator_is_told);
	tcase_add_test(tests, a_process_that_is_made_meanwhile_is_told_by_the_start);
	return scene_run(suite);
}

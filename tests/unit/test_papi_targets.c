/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a PAPI event set counts: its thread, an attached one, a CPU; how each is labelled, and which
 * of the public calls a wrapped set takes.
 */
#include "support/papi_scene.h"

#include <pthread.h>

START_TEST(a_thread_on_several_cpus_shares_its_counts_out_and_says_why)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	const char *why;
	uint64_t timestamp = 0;

	fake_set_clock(1000000, 0);
	check_ok(ps_start(set));
	ck_assert_int_eq(ps_eventset_attribution(set, &why), PS_ATTRIBUTION_MIXED);
	ck_assert_ptr_nonnull(strstr(why, "pin it"));
	fake_papi_count(papi, 0, 100);
	fake_set_clock(4000000, 0);
	fake_set_cpu(2);
	fake_set_clock(5000000, 0);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_part(2, EVENT, timestamp).attribution, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 75);
	ck_assert_int_eq(scene_count(2, EVENT, timestamp), 25);
}
END_TEST

START_TEST(a_pinned_thread_is_pinned_and_followed_when_that_changes)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	fake_set_affinity("3");
	fake_set_cpu(3);
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 10);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_part(3, EVENT, timestamp).attribution, PS_ATTRIBUTION_PINNED);
	ck_assert_int_eq(ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_PINNED);
	fake_set_affinity("0-3");
	timestamp = 0;
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 11);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(3, EVENT, timestamp), 11);
	ck_assert_int_eq(scene_part(3, EVENT, timestamp).attribution, PS_ATTRIBUTION_MIXED);
}
END_TEST

START_TEST(a_set_that_inherits_is_never_called_pinned)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set;
	const char *why;
	uint64_t timestamp = 0;

	fake_papi.sets[papi].options[PS__PAPI_OPTION_INHERIT] = 1;
	fake_set_affinity("0");
	set = papi_scene_wrap(papi);
	check_ok(ps_start(set));
	ck_assert_int_eq(ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_ptr_nonnull(strstr(why, "PAPI_INHERIT"));
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_part(0, EVENT, timestamp).attribution, PS_ATTRIBUTION_LAST_CPU);
}
END_TEST

START_TEST(an_attached_thread_is_looked_for_and_its_end_keeps_the_last_counts)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set;
	uint64_t timestamp = 0;

	fake_task(4711, "worker", 2);
	fake_papi.sets[papi].state = PS__PAPI_ATTACHED;
	fake_papi.sets[papi].options[PS__PAPI_OPTION_TID] = 4711;
	set = papi_scene_wrap(papi);
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(2, EVENT, timestamp), 10);
	fake_papi_count(papi, 0, 5);
	fake_task_end(4711);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(2, EVENT, timestamp), 15);
	ck_assert_uint_ne(scene_part(2, EVENT, timestamp).flags & PS_VALUE_ENDED, 0);
	ck_assert_int_eq(ps_eventset_is_ended(set), 1);
}
END_TEST

static struct ps_eventset *attach(int papi, int tid)
{
	fake_papi.sets[papi].state = PS__PAPI_ATTACHED;
	fake_papi.sets[papi].options[PS__PAPI_OPTION_TID] = tid;
	return papi_scene_wrap(papi);
}

START_TEST(an_attached_thread_that_was_not_switched_is_not_looked_up_again)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set;
	uint64_t timestamp = 0;

	fake_task(4711, "worker", 2);
	set = attach(papi, 4711);
	check_ok(ps_start(set));
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_count_reset();
	for (int i = 0; i < 10; i++) {
		fake_papi_count(papi, 0, 1);
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	}
	ck_assert_uint_eq(fake_count(FAKE_PREAD), 0);
	ck_assert_int_eq(scene_count(2, EVENT, timestamp), 10);
	fake_task(4711, "worker", 3); /* moves */
	fake_papi_count(papi, 0, 5);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	fake_papi_count(papi, 0, 5);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 20);
	ck_assert_int_ge(scene_count(3, EVENT, timestamp), 5);
	fake_switch_task(4711);
	fake_task_end(4711);
	fake_papi_count(papi, 0, 1);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 21);
	ck_assert_int_eq(ps_eventset_is_ended(set), 1);
}
END_TEST

START_TEST(an_attached_thread_that_can_not_be_watched_is_looked_up_each_time)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set;
	const char *why;
	uint64_t timestamp = 0;

	fake_task(4711, "worker", 2);
	set = attach(papi, 4711);
	fake_fail(FAKE_MMAP, 1, 1);
	check_ok(ps_start(set));
	ps_eventset_attribution(set, &why);
	ck_assert_ptr_nonnull(strstr(why, "perf_event_mlock_kb"));
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_count_reset();
	fake_papi_count(papi, 0, 1);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_uint_eq(fake_count(FAKE_PREAD), 1);
	ck_assert_int_eq(scene_count(2, EVENT, timestamp), 1);
}
END_TEST

START_TEST(an_attached_thread_may_be_read_by_any_thread_and_changed_between_runs)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	fake_task(4711, "worker", 1);
	fake_papi.sets[papi].state = PS__PAPI_ATTACHED;
	fake_papi.sets[papi].options[PS__PAPI_OPTION_TID] = 4711;
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 10);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 10);
	fake_papi.sets[papi].options[PS__PAPI_OPTION_TID] = 4712;
	check_fails(ps_start(set), PS_ESYS);
	check_detail("4712");
}
END_TEST

START_TEST(a_cpu_attached_set_says_whether_one_thread_or_all_are_counted_there)
{
	static const struct {
		long granularity;
		const char *words;
	} kinds[] = {{PS__PAPI_GRN_THR, "one thread alone"},
	             {PS__PAPI_GRN_SYS, "all that happens on CPU 3"}};

	for (size_t i = 0; i < 2; i++) {
		int papi = fake_papi_create(EVENT, NULL);
		struct ps_eventset *set;
		const char *why;
		uint64_t timestamp = 0;

		fake_papi.sets[papi].state = PS__PAPI_CPU_ATTACHED;
		fake_papi.sets[papi].options[PS__PAPI_OPTION_CPU] = 3;
		fake_papi.sets[papi].options[PS__PAPI_OPTION_GRANULARITY] = kinds[i].granularity;
		set = papi_scene_wrap(papi);
		check_ok(ps_start(set));
		ck_assert_int_eq(ps_eventset_attribution(set, &why), PS_ATTRIBUTION_ATTACHED);
		ck_assert_msg(strstr(why, kinds[i].words) != NULL, "%s", why);
		fake_papi_count(papi, 0, 10);
		check_ok(ps_stop(set, scene.root, &timestamp, NULL));
		ck_assert_int_eq(scene_part(3, EVENT, timestamp).attribution,
		                 PS_ATTRIBUTION_ATTACHED);
		ck_assert_int_eq(scene_count(3, EVENT, timestamp), 10);
		papi_scene_destroy(set);
	}
}
END_TEST

START_TEST(a_whole_cpu_that_papi_does_not_name_is_last_cpu)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set;
	const char *why;

	fake_set_affinity("0");
	fake_papi.sets[papi].options[PS__PAPI_OPTION_GRANULARITY] = PS__PAPI_GRN_SYS;
	set = papi_scene_wrap(papi);
	check_ok(ps_start(set));
	ck_assert_int_eq(ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_ptr_nonnull(strstr(why, "PAPI_CPU_ATTACH"));
}
END_TEST

struct stranger {
	struct ps_eventset *set;
	uint64_t timestamp;
	int codes[6];
	char detail[256];
};

static void *use_a_strangers_set(void *context)
{
	struct stranger *stranger = context;
	long long counters[1] = {0};

	stranger->codes[0] = ps_start(stranger->set);
	strncpy(stranger->detail, ps_error_detail(), sizeof stranger->detail - 1);
	stranger->codes[1] = ps_read(stranger->set, scene.root, &stranger->timestamp, NULL);
	stranger->codes[2] = ps_accum(stranger->set, scene.root, &stranger->timestamp, NULL);
	stranger->codes[3] = ps_stop(stranger->set, scene.root, &stranger->timestamp, NULL);
	stranger->codes[4] = ps_reset(stranger->set);
	stranger->codes[5] =
	    ps_store(stranger->set, counters, 1, scene.root, &stranger->timestamp, NULL);
	return NULL;
}

static struct stranger ask_a_stranger(struct ps_eventset *set)
{
	struct stranger stranger = {.set = set};
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, use_a_strangers_set, &stranger), 0);
	pthread_join(thread, NULL);
	return stranger;
}

START_TEST(another_thread_is_refused_whatever_it_calls)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	struct stranger stranger;
	unsigned reads;

	fake_papi_start(papi); /* so that a reading would take it over */
	stranger = ask_a_stranger(set);
	for (int i = 0; i < 6; i++)
		ck_assert_msg(stranger.codes[i] == PS_EINVAL, "call %d: %d", i, stranger.codes[i]);
	ck_assert_ptr_nonnull(strstr(stranger.detail, "make a PAPI event set in each thread"));
	check_ok(ps_read(set, scene.root, NULL, NULL));
	reads = fake_papi.calls[FAKE_PAPI_READ];
	stranger = ask_a_stranger(set);
	ck_assert_int_eq(stranger.codes[0], PS_EISRUN);
	for (int i = 1; i < 6; i++)
		ck_assert_msg(stranger.codes[i] == PS_EINVAL, "call %d: %d", i, stranger.codes[i]);
	ck_assert_uint_eq(fake_papi.calls[FAKE_PAPI_READ], reads);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
}
END_TEST

static void *wrap_here_and_end(void *context)
{
	struct ps_eventset **set = context;

	check_ok(ps_eventset_from_papi(set, 0));
	check_ok(ps_start(*set));
	return NULL;
}

START_TEST(the_counts_of_a_thread_that_has_ended_can_be_fetched_but_not_started_anew)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = NULL;
	pthread_t thread;
	uint64_t timestamp = 0;

	ck_assert_int_eq(pthread_create(&thread, NULL, wrap_here_and_end, &set), 0);
	pthread_join(thread, NULL);
	fake_papi_count(papi, 0, 10);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 10);
	ck_assert_uint_ne(scene_part(0, EVENT, timestamp).flags & PS_VALUE_ENDED, 0);
	check_fails(ps_start(set), PS_EINVAL);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_the_set_is_made_of_is_changed_through_papi_alone)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi), *clone = NULL;

	check_fails(ps_eventset_add(set, "page-faults"), PS_ENOSUPP);
	check_detail("PAPI_add_event");
	check_fails(ps_eventset_add_optional(set, "page-faults"), PS_ENOSUPP);
	check_fails(ps_eventset_add_default(set), PS_ENOSUPP);
	check_fails(ps_eventset_remove(set, EVENT), PS_ENOSUPP);
	check_fails(ps_eventset_attach_tid(set, 4711), PS_ENOSUPP);
	check_detail("PAPI_attach");
	check_fails(ps_eventset_attach_process(set, 4711), PS_ENOSUPP);
	check_fails(ps_eventset_attach_cpu(set, 0), PS_ENOSUPP);
	fake_file("/sys/fs/cgroup/job/cgroup.procs", "");
	check_fails(ps_eventset_attach_cgroup(set, "/sys/fs/cgroup/job"), PS_ENOSUPP);
	check_detail("ps_eventset_create");
	check_fails(ps_eventset_detach(set), PS_ENOSUPP);
	check_fails(ps_eventset_clone(&clone, set), PS_ENOSUPP);
	ck_assert_ptr_null(clone);
	check_fails(ps_eventset_set_attribution(set, PS_ATTRIBUTE_EXACT), PS_ENOSUPP);
	ck_assert_uint_eq(ps_eventset_event_count(set), 1);
}
END_TEST

START_TEST(options_of_the_readings_work_as_on_any_set)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp;

	fake_set_affinity("0");
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_AUTO));
	check_ok(ps_eventset_set_history(set, 64));
	check_ok(ps_eventset_reserve(set, 200));
	check_ok(ps_start(set));
	check_ok(ps_eventset_reserve(set, 300));
	fake_count_reset();
	for (int i = 0; i < 200; i++) {
		timestamp = 0;
		fake_papi_count(papi, 0, 1);
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	}
	ck_assert_uint_eq(fake_count(FAKE_ALLOCATE), 0);
	ck_assert_uint_le(scene_rows(0, EVENT), 128);
	ck_assert_uint_gt(ps_thread_dropped(ps_topology_thread(scene.topology, 0), EVENT), 0);
	scene_check_residual(set);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
}
END_TEST

START_TEST(destroying_a_wrap_leaves_the_papi_set_running)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);

	check_ok(ps_start(set));
	papi_scene_destroy(set);
	ck_assert(fake_papi.sets[papi].exists && fake_papi.sets[papi].is_running);
	ck_assert_uint_eq(fake_papi.calls[FAKE_PAPI_STOP], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("papi targets");
	TCase *tests = papi_scene_case(suite, "targets");

	tcase_add_test(tests, a_thread_on_several_cpus_shares_its_counts_out_and_says_why);
	tcase_add_test(tests, a_pinned_thread_is_pinned_and_followed_when_that_changes);
	tcase_add_test(tests, a_set_that_inherits_is_never_called_pinned);
	tcase_add_test(tests, an_attached_thread_is_looked_for_and_its_end_keeps_the_last_counts);
	tcase_add_test(tests, an_attached_thread_that_was_not_switched_is_not_looked_up_again);
	tcase_add_test(tests, an_attached_thread_that_can_not_be_watched_is_looked_up_each_time);
	tcase_add_test(tests,
	               an_attached_thread_may_be_read_by_any_thread_and_changed_between_runs);
	tcase_add_test(tests, a_cpu_attached_set_says_whether_one_thread_or_all_are_counted_there);
	tcase_add_test(tests, a_whole_cpu_that_papi_does_not_name_is_last_cpu);
	tcase_add_test(tests, another_thread_is_refused_whatever_it_calls);
	tcase_add_test(tests,
	               the_counts_of_a_thread_that_has_ended_can_be_fetched_but_not_started_anew);
	tcase_add_test(tests, what_the_set_is_made_of_is_changed_through_papi_alone);
	tcase_add_test(tests, options_of_the_readings_work_as_on_any_set);
	tcase_add_test(tests, destroying_a_wrap_leaves_the_papi_set_running);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's counters of a set are told, and get the filters and programs of its events. */
#include "support/scene.h"

#include <errno.h>

#define TRACEPOINT "sched:sched_switch"
#define ID         316

static void setup(void)
{
	scene_setup();
	fake_file("/sys/kernel/tracing/events/sched/sched_switch/id", "316\n");
	fake_add_event(PERF_TYPE_TRACEPOINT, ID);
}

struct seen {
	size_t count, limit;
	struct ps_counter counters[32];
};

static int note(const struct ps_counter *counter, void *context)
{
	struct seen *seen = context;

	ck_assert_uint_eq(counter->size, sizeof *counter);
	ck_assert_uint_lt(seen->count, 32);
	seen->counters[seen->count++] = *counter;
	return seen->count == seen->limit ? 42 : 0;
}

START_TEST(each_counter_is_told_once_with_its_place)
{
	struct ps_eventset *set = scene_started("page-faults", "minor-faults", NULL);
	struct seen seen = {0};

	check_ok(ps_eventset_for_each_counter(set, note, &seen));
	ck_assert_uint_eq(seen.count, scene.means == FAKE_MEANS_PER_CPU ? 8 : 2);
	for (size_t i = 0; i < seen.count; i++) {
		const struct ps_counter *counter = &seen.counters[i];
		const struct perf_event_attr *attr = fake_attr_of_fd(counter->fd);
		pid_t tid;
		int cpu;

		ck_assert_ptr_nonnull(attr);
		ck_assert_uint_eq(attr->config, counter->event ? PERF_COUNT_SW_PAGE_FAULTS_MIN
		                                               : PERF_COUNT_SW_PAGE_FAULTS);
		fake_target_of_fd(counter->fd, &tid, &cpu);
		ck_assert_int_eq(counter->cpu, cpu);
		ck_assert_int_eq(counter->tid, 0);
		for (size_t other = 0; other < i; other++) {
			ck_assert_uint_ne(seen.counters[other].id, counter->id);
			ck_assert_int_ne(seen.counters[other].fd, counter->fd);
		}
	}
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_visitor_may_end_the_visits)
{
	struct ps_eventset *set = scene_started("page-faults", "minor-faults", NULL);
	struct seen seen = {.limit = 1};

	ck_assert_int_eq(ps_eventset_for_each_counter(set, note, &seen), 42);
	ck_assert_uint_eq(seen.count, 1);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	seen = (struct seen){0};
	check_ok(ps_eventset_for_each_counter(set, note, &seen));
	ck_assert_uint_ge(seen.count, 2);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(counters_that_are_not_open_are_not_told)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	struct seen seen = {0};

	check_fails(ps_eventset_for_each_counter(NULL, note, &seen), PS_EINVAL);
	check_fails(ps_eventset_for_each_counter(set, NULL, &seen), PS_EINVAL);
	check_fails(ps_eventset_for_each_counter(set, note, &seen), PS_ENOTRUN);
	check_ok(ps_start(set));
	fake_fail(FAKE_IOCTL, 2, EIO);
	check_fails(ps_eventset_for_each_counter(set, note, &seen), PS_ESYS);
	ck_assert_uint_eq(seen.count, 0);
	ps_eventset_destroy(set);
}
END_TEST

static void check_filters(const char *filter)
{
	int fds[64];
	size_t count = fake_counter_fds(fds, 64), found = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_of_event = fake_attr_of_fd(fds[i])->type == PERF_TYPE_TRACEPOINT;
		ck_assert_str_eq(fake_filter_of_fd(fds[i]), is_of_event ? filter : "");
		found += is_of_event;
	}
	ck_assert_uint_ge(found, 1);
}

START_TEST(every_counter_of_a_tracepoint_has_its_filter)
{
	struct ps_eventset *set = scene_set("page-faults", TRACEPOINT, NULL), *clone;
	char filter[] = "prev_pid == 7";

	check_ok(ps_eventset_set_filter(set, 1, filter));
	filter[0] = '!';
	check_ok(ps_start(set));
	check_filters("prev_pid == 7");
	check_fails(ps_eventset_set_filter(set, 1, "prev_pid == 8"), PS_EISRUN);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_clone(&clone, set));
	check_ok(ps_eventset_set_filter(set, 1, ""));
	check_ok(ps_start(set));
	check_filters("");
	ps_eventset_destroy(set);
	check_ok(ps_start(clone));
	check_filters("prev_pid == 7");
	ps_eventset_destroy(clone);
}
END_TEST

START_TEST(a_filter_that_the_kernel_does_not_understand_is_refused)
{
	char filter[4097] = "";
	struct ps_eventset *set = scene_set("page-faults", TRACEPOINT, NULL);

	check_ok(ps_eventset_set_filter(set, 1, "prev_pid == 7"));
	check_fails(ps_eventset_set_filter(set, 1, "nonsense"), PS_EATTR);
	check_detail("'nonsense'");
	check_detail("lists the tracepoint's fields");
	check_fails(ps_eventset_set_filter(set, 0, "prev_pid == 7"), PS_ENOSUPP);
	check_detail("'page-faults' is no tracepoint: only tracepoints take a filter");
	check_fails(ps_eventset_set_filter(set, 2, "prev_pid == 7"), PS_EINVAL);
	check_fails(ps_eventset_set_filter(NULL, 0, "prev_pid == 7"), PS_EINVAL);
	fake_fail(FAKE_PERF_EVENT_OPEN, 1, EMFILE);
	check_fails(ps_eventset_set_filter(set, 1, "prev_pid == 9"), PS_ECOUNT);
	fake_fail(FAKE_IOCTL, 1, EPERM); /* the kernel's answer to some wrong filters */
	check_fails(ps_eventset_set_filter(set, 1, "prev_pid == 9 garbage"), PS_EATTR);
	check_detail("'prev_pid == 9 garbage'");
	memset(filter, 'x', sizeof filter - 1);
	check_fails(ps_eventset_set_filter(set, 1, filter), PS_EATTR);
	check_detail("the filter has 4096 bytes, and the kernel takes at most 4095");
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	check_fails(ps_eventset_set_filter(set, 1, "prev_pid == 9"), PS_ENOMEM);
	fake_fail(FAKE_ALLOCATE, 0, 0);
	check_ok(ps_start(set));
	check_filters("prev_pid == 7");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_program_is_attached_while_counters_are_open)
{
	struct ps_eventset *set = scene_set("page-faults", TRACEPOINT, NULL);

	check_ok(ps_eventset_set_bpf(set, 1, FAKE_BPF_PROGRAM));
	ck_assert_int_eq(fake_bpf_count(), 0);
	check_ok(ps_start(set));
	ck_assert_int_eq(fake_bpf_count(), 1);
	check_fails(ps_eventset_set_bpf(set, 1, -1), PS_EISRUN);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_fails(ps_eventset_set_bpf(set, 1, -ENOENT), PS_EINVAL); /* what libbpf returned */
	check_fails(ps_eventset_set_bpf(set, 1, 5), PS_EINVAL);
	check_detail("descriptor 5");
	check_fails(ps_eventset_set_bpf(set, 0, FAKE_BPF_PROGRAM), PS_ENOSUPP);
	check_detail("is no tracepoint, kprobe or uprobe: only these take a program");
	check_fails(ps_eventset_set_bpf(set, 2, FAKE_BPF_PROGRAM), PS_EINVAL);
	check_fails(ps_eventset_set_bpf(NULL, 0, FAKE_BPF_PROGRAM), PS_EINVAL);
	check_ok(ps_eventset_set_bpf(set, 1, -1));
	check_ok(ps_start(set));
	ck_assert_int_eq(fake_bpf_count(), 0);
	ps_eventset_destroy(set);
}
END_TEST

/* The program would end with the first set, and the second would count unfiltered. */
START_TEST(a_program_is_of_one_set)
{
	struct ps_eventset *one = scene_set(TRACEPOINT, NULL), *two = scene_set(TRACEPOINT, NULL);

	check_ok(ps_eventset_set_bpf(one, 0, FAKE_BPF_PROGRAM));
	check_ok(ps_start(one));
	check_ok(ps_eventset_set_bpf(two, 0, FAKE_BPF_PROGRAM));
	check_fails(ps_start(two), PS_ECNFLCT);
	check_detail("load the program once more");
	ck_assert_int_eq(fake_bpf_count(), 1);
	ps_eventset_destroy(one);
	check_ok(ps_start(two));
	ck_assert_int_eq(fake_bpf_count(), 1);
	check_ok(ps_stop(two, scene.root, NULL, NULL));
	check_ok(ps_eventset_set_bpf(two, 0, FAKE_BPF_PROGRAM));
	check_ok(ps_start(two));
	ps_eventset_destroy(two);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counter");
	TCase *tests = scene_case_of(suite, "attached", setup, scene_teardown);

	tcase_add_test(tests, counters_that_are_not_open_are_not_told);
	tcase_add_test(tests, the_visitor_may_end_the_visits);
	tcase_add_test(tests, every_counter_of_a_tracepoint_has_its_filter);
	tcase_add_test(tests, a_filter_that_the_kernel_does_not_understand_is_refused);
	tcase_add_test(tests, a_program_is_attached_while_counters_are_open);
	tcase_add_test(tests, a_program_is_of_one_set);
	tests = scene_case_instances(suite, "instances");
	tcase_add_test(tests, each_counter_is_told_once_with_its_place);
	tests = scene_case_last_cpu(suite, "last cpu");
	tcase_add_test(tests, each_counter_is_told_once_with_its_place);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Where metrics are loaded from, what an event set gets of them, and the built-in ones against
 * counts that are known. */
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ONE  "group one: a\nmetric first: b\n page\\-faults\n"
#define TWO  "group two: a\nmetric second: b\n page\\-faults\n"
#define TAIL "metric last: b\n page\\-faults\n"

static bool is_there(const char *metric)
{
	return ps_metric_unit(metric) != NULL;
}

START_TEST(a_folder_has_files_of_metrics)
{
	fake_file("/sys/m/b.metrics", TWO "metric first: of two\n page\\-faults * 2\n");
	fake_file("/sys/m/a.metrics", ONE);
	fake_file("/sys/m/a.metrics~", "not looked at");
	fake_file("/sys/m/.c.metrics", "not looked at");
	fake_file("/sys/m/.metrics", "not looked at");
	check_ok(ps_metric_load("/sys/m"));
	ck_assert_str_eq(ps_metric_description("first"), "of two");
	ck_assert(is_there("second"));
	check_ok(ps_metric_undefine("first"));
	ck_assert_str_eq(ps_metric_description("first"), "b");
	check_ok(ps_metric_undefine("first"));
	check_ok(ps_metric_undefine("second"));
}
END_TEST

START_TEST(one_file_that_is_wrong_leaves_the_others)
{
	fake_file("/sys/m/a.metrics", ONE);
	fake_file("/sys/m/b.metrics", "nonsense\n");
	fake_file("/sys/m/c.metrics", "other nonsense\n");
	fake_file("/sys/m/d.metrics", TWO);
	check_fails(ps_metric_load("/sys/m"), PS_EINVAL);
	check_detail("/sys/m/b.metrics:1:1: ");
	ck_assert(is_there("first"));
	ck_assert(is_there("second"));
	check_ok(ps_metric_undefine("first"));
	check_ok(ps_metric_undefine("second"));
}
END_TEST

START_TEST(what_cannot_be_read_is_told)
{
	check_fails(ps_metric_load("/sys/none"), PS_ESYS);
	check_detail("/sys/none can't be read: No such file");
	fake_file("/sys/m/a.metrics", ONE);
	fake_file_error("/sys/m/a.metrics", EACCES);
	check_fails(ps_metric_load("/sys/m"), PS_EPERM);
	check_detail("/sys/m/a.metrics can't be read: Permission denied");
	char *large = malloc((1 << 20) + 100);
	memset(large, '#', (1 << 20) + 50);
	large[(1 << 20) + 50] = '\0';
	fake_file("/sys/m/a.metrics", large);
	fake_file_error("/sys/m/a.metrics", 0);
	check_fails(ps_metric_load("/sys/m/a.metrics"), PS_EINVAL);
	check_detail("larger than 1 MiB");
	free(large);
}
END_TEST

static ssize_t read_nothing_yet(int fd, void *buffer, size_t size_bytes)
{
	(void)fd, (void)buffer, (void)size_bytes;
	errno = EAGAIN;
	return -1;
}

static int poll_in_vain(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	(void)fds, (void)count;
	ck_assert_int_gt(timeout_ms, 0);
	return 0;
}

START_TEST(a_pipe_in_which_nothing_comes_is_told)
{
	fake_file("/sys/m/a.metrics", ONE);
	ps__os.read = read_nothing_yet;
	ps__os.poll = poll_in_vain;
	check_fails(ps_metric_load("/sys/m/a.metrics"), PS_ESYS);
	check_detail("/sys/m/a.metrics: nothing was written to it for 10 s");
	ck_assert(!is_there("first"));
}
END_TEST

/* The longest that is taken, and one that just doesn't fit into the usual room. */
START_TEST(a_long_file_is_read_whole)
{
	static const size_t lengths[] = {(1 << 14) - 1, 1 << 14, 1 << 20};
	size_t length = lengths[_i];
	char *text = malloc(length + 1);

	memset(text, '\n', length);
	memcpy(text, ONE, strlen(ONE));
	memcpy(text + length - strlen(TAIL), TAIL, strlen(TAIL) + 1);
	fake_file("/sys/m/a.metrics", text);
	check_ok(ps_metric_load("/sys/m/a.metrics"));
	ck_assert(is_there("first"));
	ck_assert(is_there("last"));
	check_ok(ps_metric_undefine("first"));
	check_ok(ps_metric_undefine("last"));
	free(text);
}
END_TEST

START_TEST(each_call_that_fails_is_told)
{
	static const enum fake_call calls[] = {FAKE_OPEN, FAKE_READ, FAKE_LIST, FAKE_ALLOCATE};

	fake_file("/sys/m/a.metrics", ONE);
	fake_file("/sys/m/b.metrics", TWO);
	for (size_t call = 0; call < sizeof calls / sizeof calls[0]; call++) {
		bool happened = true;
		for (unsigned nth = 1; happened && nth < 100; nth++) {
			fake_fail(calls[call], nth, calls[call] == FAKE_ALLOCATE ? ENOMEM : EIO);
			int result = ps_metric_load("/sys/m");
			happened = fake_fail_happened();
			fake_fail(calls[call], 0, 0);
			ck_assert_int_eq(result == PS_OK, !happened);
			ps_metric_undefine("first");
			ps_metric_undefine("second");
		}
		ck_assert(!happened);
	}
}
END_TEST

START_TEST(the_users_folder_is_told_if_it_is_there_and_cannot_be_read)
{
	setenv("XDG_CONFIG_HOME", "/sys/config", 1);
	unsetenv("PERFSAGE_METRICS");
	fake_file_error("/sys/config/perfsage/metrics", EACCES);
	check_ok(ps_metric_load(NULL)); /* it can't be reached */
	fake_file("/sys/config/perfsage/metrics/a.metrics", ONE);
	check_fails(ps_metric_load(NULL), PS_EPERM);
	check_detail("/sys/config/perfsage/metrics can't be read: Permission denied");
	ck_assert(!is_there("first"));
}
END_TEST

START_TEST(the_users_folder_and_variable_are_read)
{
	setenv("XDG_CONFIG_HOME", "/sys/config", 1);
	setenv("HOME", "/sys/home", 1);
	unsetenv("PERFSAGE_METRICS");
	check_ok(ps_metric_load(NULL)); /* nothing is there */
	fake_file("/sys/config/perfsage/metrics/a.metrics", ONE);
	check_ok(ps_metric_load(NULL));
	ck_assert(is_there("first"));
	check_ok(ps_metric_undefine("first"));
	unsetenv("XDG_CONFIG_HOME");
	check_ok(ps_metric_load(NULL));
	ck_assert(!is_there("first"));
	fake_file("/sys/home/.config/perfsage/metrics/a.metrics", ONE);
	fake_file("/sys/x/y.metrics", TWO);
	fake_file("/sys/z", "group z: a\nmetric third: b\n page\\-faults\n");
	setenv("PERFSAGE_METRICS", ":/sys/x:/sys/z:", 1);
	check_ok(ps_metric_load(NULL));
	ck_assert(is_there("first") && is_there("second") && is_there("third"));
	check_ok(ps_metric_undefine("first"));
	check_ok(ps_metric_undefine("second"));
	check_ok(ps_metric_undefine("third"));
	setenv("PERFSAGE_METRICS", "/sys/none:/sys/z", 1);
	check_fails(ps_metric_load(NULL), PS_ESYS);
	check_detail("/sys/none");
	ck_assert(is_there("third"));
	check_ok(ps_metric_undefine("first"));
	check_ok(ps_metric_undefine("third"));
}
END_TEST

static void check_events(struct ps_eventset *set, const char *const *names)
{
	size_t index = 0;

	for (; names[index]; index++) {
		ck_assert_ptr_nonnull(ps_eventset_event_name(set, index));
		ck_assert_str_eq(ps_eventset_event_name(set, index), names[index]);
	}
	ck_assert_uint_eq(ps_eventset_event_count(set), index);
}

START_TEST(a_set_gets_the_events_of_a_metric)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	check_ok(ps_eventset_create(&set));
	check_ok(ps_metric_add_events(set, "ipc"));
	check_events(set, (const char *const[]){"instructions", "cycles", NULL});
	check_ok(ps_metric_add_events(set, "GHz"));
	check_events(set, (const char *const[]){"instructions", "cycles", "task-clock", NULL});
	check_ok(ps_metric_add_events(set, "GHz:u"));
	check_events(
	    set, (const char *const[]){"instructions", "cycles", "task-clock", "cycles:u", NULL});
	check_fails(ps_metric_add_events(set, "none"), PS_ENOEVNT);
	check_detail("'none'");
	check_fails(ps_metric_add_events(set, NULL), PS_EINVAL);
	check_fails(ps_metric_add_events(NULL, "IPC"), PS_EINVAL);
	ps_eventset_destroy(set);
}
END_TEST

/* Names of metrics that stand below, which a formula takes for events. */
START_TEST(a_metric_that_stands_below_is_told_from_an_unknown_event)
{
	static const struct {
		const char *name, *sentence;
	} metrics[] = {
	    {"a", "'b' is no event, and as a metric it stands below the formula that names it"},
	    {"b", "'b' is no event, and as a metric"},
	    {"self", "'self' is no event, and as a metric"},
	    {"early", "'late' is no event, and as a metric"},
	    {"other", "unknown event 'nonsense'"},
	};
	struct ps_eventset *set = scene_set(NULL, NULL);

	fake_file("/sys/m", "group mine: m\n"
	                    "metric a: m\n b + page\\-faults\n"
	                    "metric b: m\n a + 1\n"
	                    "metric self: m\n page\\-faults / self\n"
	                    "metric early: m\n late + a\n"
	                    "metric late: m\n page\\-faults\n"
	                    "metric other: m\n nonsense\n"
	                    "metric page-faults: as the event that it needs\n 2 * page\\-faults\n");
	check_ok(ps_metric_load("/sys/m"));
	for (size_t index = 0; index < sizeof metrics / sizeof *metrics; index++) {
		check_fails(ps_metric_add_events(set, metrics[index].name), PS_ENOEVNT);
		check_detail(metrics[index].sentence);
		check_ok(ps_metric_undefine(metrics[index].name));
	}
	ck_assert_uint_eq(ps_eventset_event_count(set), 0);
	check_ok(ps_metric_add_events(set, "page-faults"));
	check_ok(ps_metric_undefine("page-faults"));
	check_ok(ps_metric_undefine("late"));
	ps_eventset_destroy(set);
}
END_TEST

/* The first name, and the first formula, that can be counted. */
START_TEST(events_that_are_not_here_are_passed_over)
{
	struct ps_eventset *set;

	fake_file("/sys/m", "group mine: a\nevent x = nonsense or page-faults\n"
	                    "metric some: a\n minor\\-faults + also_nonsense\nor\n x + 1\n"
	                    "metric nothing: a\n minor\\-faults + other_nonsense\n");
	check_ok(ps_metric_load("/sys/m"));
	check_ok(ps_eventset_create(&set));
	check_ok(ps_metric_add_events(set, "some"));
	check_events(set, (const char *const[]){"page-faults", NULL});
	check_fails(ps_metric_add_events(set, "nothing"), PS_ENOEVNT);
	check_detail("nothing can't be counted here: unknown event 'other_nonsense'");
	check_events(set, (const char *const[]){"page-faults", NULL});
	check_ok(ps_metric_add_events(set, "mine"));
	check_events(set, (const char *const[]){"page-faults", NULL});
	ps_eventset_destroy(set);
	/* No metric of the group. */
	check_ok(ps_eventset_create(&set));
	check_fails(ps_metric_add_events(set, "cycles"), PS_ENOSUPP);
	check_detail("IPC can't be counted here");
	ck_assert_uint_eq(ps_eventset_event_count(set), 0);
	check_ok(ps_metric_undefine("some"));
	check_ok(ps_metric_undefine("nothing"));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_group_gives_the_events_of_its_metrics)
{
	struct ps_eventset *set;

	check_ok(ps_eventset_create(&set));
	check_ok(
	    ps_metric_add_events(set, "Tasks")); /* without duration_time, if that isn't here */
	ck_assert_uint_ge(ps_eventset_event_count(set), 4);
	ck_assert_str_eq(ps_eventset_event_name(set, 0), "page-faults");
	ps_eventset_destroy(set);
}
END_TEST

struct known {
	const char *metric;
	double value;
};

/* Counters of a machine whose sysfs has the events. */
static void check_builtin(const char *pmu_events[][2], const char *const *names,
                          const long long *counts, const struct known *known)
{
	struct ps_value sums[16] = {{.value = 0}};
	struct ps_eventset *set;
	char path[256];

	fake_file("/sys/bus/event_source/devices/cpu/type", "4");
	fake_file("/sys/bus/event_source/devices/cpu/cpus", "0-3");
	fake_file("/sys/bus/event_source/devices/cpu/format/event", "config:0-15");
	fake_add_pmu(4, 10);
	for (size_t index = 0; pmu_events[index][0]; index++) {
		snprintf(path, sizeof path, "/sys/bus/event_source/devices/cpu/events/%s",
		         pmu_events[index][0]);
		fake_file(path, pmu_events[index][1]);
	}
	check_ok(ps_eventset_create(&set));
	check_ok(ps_metric_add_events(set, known[0].metric));
	for (size_t index = 1; known[index].metric; index++)
		check_ok(ps_metric_add_events(set, known[index].metric));
	for (size_t index = 0; names[index]; index++) {
		size_t at = 0;
		while (ps_eventset_event_name(set, at) &&
		       !strstr(ps_eventset_event_name(set, at), names[index]))
			at++;
		ck_assert_msg(at < ps_eventset_event_count(set), "%s", names[index]);
		sums[at].value = counts[index];
	}
	for (size_t index = 0; known[index].metric; index++) {
		struct ps_metric_value value;
		check_ok(ps_metric_of_sums(set, known[index].metric, sums, NULL, &value));
		ck_assert_msg(fabs(value.value - known[index].value) < 1e-9, "%s: %.12g",
		              known[index].metric, value.value);
	}
	ps_eventset_destroy(set);
}

START_TEST(top_down_shares_of_slots_that_the_core_counts)
{
	const char *events[][2] = {{"slots", "event=0x400"},
	                           {"topdown-retiring", "event=0x8000"},
	                           {"topdown-bad-spec", "event=0x8100"},
	                           {"topdown-fe-bound", "event=0x8200"},
	                           {"topdown-be-bound", "event=0x8300"},
	                           {NULL, NULL}};

	check_builtin(events,
	              (const char *const[]){"slots", "topdown-retiring", "topdown-bad-spec",
	                                    "topdown-fe-bound", "topdown-be-bound", NULL},
	              (const long long[]){1000, 500, 100, 150, 250},
	              (const struct known[]){{"retiring", 50},
	                                     {"bad-speculation", 10},
	                                     {"frontend-bound", 15},
	                                     {"backend-bound", 25},
	                                     {NULL, 0}});
}
END_TEST

START_TEST(top_down_shares_of_slots_that_are_issued_and_retired)
{
	const char *events[][2] = {
	    {"topdown-total-slots", "event=0x3c"},   {"topdown-total-slots.scale", "4"},
	    {"topdown-slots-issued", "event=0xe"},   {"topdown-slots-retired", "event=0xc2"},
	    {"topdown-fetch-bubbles", "event=0x9c"}, {"topdown-recovery-bubbles", "event=0xd"},
	    {"topdown-recovery-bubbles.scale", "4"}, {NULL, NULL}};

	check_builtin(events,
	              (const char *const[]){"topdown-total-slots", "topdown-slots-issued",
	                                    "topdown-slots-retired", "topdown-fetch-bubbles",
	                                    "topdown-recovery-bubbles", NULL},
	              (const long long[]){250, 600, 500, 150, 10},
	              (const struct known[]){{"retiring", 50},
	                                     {"bad-speculation", 14},
	                                     {"frontend-bound", 15},
	                                     {"backend-bound", 21},
	                                     {NULL, 0}});
}
END_TEST

START_TEST(top_down_shares_of_an_arm_core)
{
	const char *events[][2] = {{"cpu_cycles", "event=0x11"},
	                           {"stall_slot", "event=0x3f"},
	                           {"stall_slot_frontend", "event=0x3e"},
	                           {"stall_slot_backend", "event=0x3d"},
	                           {"op_retired", "event=0x3a"},
	                           {"op_spec", "event=0x3b"},
	                           {NULL, NULL}};

	fake_file("/sys/bus/event_source/devices/cpu/caps/slots", "0x5");
	check_builtin(events,
	              (const char *const[]){"cpu_cycles", "stall_slot_frontend",
	                                    "stall_slot_backend", "op_retired", "op_spec",
	                                    "stall_slot", NULL},
	              (const long long[]){200, 150, 250, 480, 600, 400},
	              (const struct known[]){{"retiring", 48},
	                                     {"bad-speculation", 12},
	                                     {"frontend-bound", 15},
	                                     {"backend-bound", 25},
	                                     {NULL, 0}});
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("metric_load");
	TCase *tests = scene_case(suite, "metric_load");

	tcase_add_test(tests, a_folder_has_files_of_metrics);
	tcase_add_test(tests, one_file_that_is_wrong_leaves_the_others);
	tcase_add_test(tests, what_cannot_be_read_is_told);
	tcase_add_test(tests, a_pipe_in_which_nothing_comes_is_told);
	tcase_add_loop_test(tests, a_long_file_is_read_whole, 0, 3);
	tcase_add_test(tests, each_call_that_fails_is_told);
	tcase_add_test(tests, the_users_folder_is_told_if_it_is_there_and_cannot_be_read);
	tcase_add_test(tests, the_users_folder_and_variable_are_read);
	tcase_add_test(tests, a_set_gets_the_events_of_a_metric);
	tcase_add_test(tests, a_metric_that_stands_below_is_told_from_an_unknown_event);
	tcase_add_test(tests, events_that_are_not_here_are_passed_over);
	tcase_add_test(tests, a_group_gives_the_events_of_its_metrics);
	tcase_add_test(tests, top_down_shares_of_slots_that_the_core_counts);
	tcase_add_test(tests, top_down_shares_of_slots_that_are_issued_and_retired);
	tcase_add_test(tests, top_down_shares_of_an_arm_core);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of known names: complete, with what is known of each, and each is a name that parses. */
#include "test_event.h"

#include <errno.h>
#include <perfsage/event.h>

struct wanted {
	const char *name;
	struct ps_event_info info; /* its strings are copies, in text */
	char text[3][160];
	size_t visits, total;
};

static int look(const struct ps_event_info *info, void *context)
{
	struct wanted *wanted = context;

	wanted->total++;
	ck_assert_uint_eq(info->size, sizeof *info);
	ck_assert(info->name && *info->name && info->pmu && *info->pmu && info->description &&
	          info->unit);
	if (strcmp(info->name, wanted->name) != 0)
		return 0;
	wanted->visits++;
	wanted->info = *info;
	snprintf(wanted->text[0], sizeof wanted->text[0], "%s", info->pmu);
	snprintf(wanted->text[1], sizeof wanted->text[1], "%s", info->description);
	snprintf(wanted->text[2], sizeof wanted->text[2], "%s", info->unit);
	return 0;
}

static struct wanted find(const char *name)
{
	struct wanted wanted = {.name = name};

	ck_assert_int_eq(ps_event_for_each(look, &wanted), 0);
	return wanted;
}

static void check_known(const char *name, const char *pmu, const char *unit, enum ps_scope scope)
{
	struct wanted wanted = find(name);

	ck_assert_msg(wanted.visits == 1, "%s: visited %zu times", name, wanted.visits);
	ck_assert_msg(!strcmp(wanted.text[0], pmu), "%s: PMU %s", name, wanted.text[0]);
	ck_assert_msg(!strcmp(wanted.text[2], unit), "%s: unit %s", name, wanted.text[2]);
	ck_assert_msg(wanted.info.scope == scope, "%s: scope %s", name,
	              ps_scope_name(wanted.info.scope));
}

START_TEST(each_kind_of_name_is_listed_with_what_is_known_of_it)
{
	use_machine("skx");
	fake_file("/sys/kernel/tracing/events/sched/enable", "0\n");
	fake_file("/sys/kernel/tracing/events/sched/filter", "none\n");
	fake_file("/sys/kernel/tracing/events/sched/sched_switch/id", "312\n");
	fake_file("/sys/kernel/tracing/events/ftrace/bprint/format", "name: bprint\n");
	fake_file("/sys/kernel/tracing/events/enable", "0\n");
	check_known("instructions", "cpu", "", PS_SCOPE_THREAD);
	check_known("task-clock", "software", "ns", PS_SCOPE_THREAD);
	check_known("page-faults", "software", "", PS_SCOPE_THREAD);
	check_known("LLC-load-misses", "cpu", "", PS_SCOPE_THREAD);
	check_known("uncore_imc_0/cas_count_read/", "uncore_imc_0", "MiB", PS_SCOPE_PACKAGE);
	check_known("power/energy-pkg/", "power", "Joules", PS_SCOPE_PACKAGE);
	check_known("sched:sched_switch", "tracepoint", "", PS_SCOPE_THREAD);
	ck_assert_uint_eq(find("sched:enable").visits, 0);
	ck_assert_uint_eq(find("sched:filter").visits, 0);
	ck_assert_uint_eq(find("ftrace:bprint").visits, 0);
	ck_assert_str_ne(find("instructions").text[1], "");
}
END_TEST

static int parse(const struct ps_event_info *info, void *context)
{
	struct ps__event event;
	size_t *count = context;

	if (strchr(info->name, '?'))
		return 0;
	int code = ps__event_parse(&event, info->name);
	ck_assert_msg(code == PS_OK, "%s: %s", info->name, ps_error_detail());
	ck_assert_msg(event.scope == info->scope, "%s: %s is listed", info->name,
	              ps_scope_name(info->scope));
	ps__event_clear(&event);
	++*count;
	return 0;
}

START_TEST(every_listed_name_parses_with_the_listed_scope)
{
	static const char *const machines[] = {"arm", "hybrid", "skx", "zen"};

	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		size_t count = 0;
		use_machine(machines[i]);
		ck_assert_int_eq(ps_event_for_each(parse, &count), 0);
		ck_assert_uint_gt(count, 60);
	}
}
END_TEST

START_TEST(terms_that_the_user_must_give_are_shown)
{
	fake_file("/sys/bus/event_source/devices/hv_24x7/type", "40\n");
	fake_file("/sys/bus/event_source/devices/hv_24x7/format/chip", "config:16-31\n");
	fake_file("/sys/bus/event_source/devices/hv_24x7/format/domain", "config:0-3\n");
	fake_file("/sys/bus/event_source/devices/hv_24x7/events/PM_X", "domain=1,chip=?\n");
	check_known("hv_24x7/PM_X,chip=?/", "hv_24x7", "", PS_SCOPE_THREAD);
}
END_TEST

static int stop_at(const struct ps_event_info *info, void *context)
{
	return strcmp(info->name, context) == 0 ? -77 : 0;
}

START_TEST(what_the_visitor_returns_ends_the_walk_in_every_place)
{
	static const char *const names[] = {"cycles", "iTLB-load-misses", "power/energy-pkg/",
	                                    "sched:sched_switch"};

	use_machine("skx");
	fake_file("/sys/kernel/tracing/events/sched/sched_switch/id", "312\n");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		ck_assert_msg(ps_event_for_each(stop_at, (void *)(uintptr_t)names[i]) == -77, "%s",
		              names[i]);
	ck_assert_int_eq(ps_event_for_each(NULL, NULL), PS_EINVAL);
}
END_TEST

START_TEST(a_source_that_may_not_be_looked_into_is_left_out)
{
	use_machine("skx");
	fake_file_error("/sys/kernel/tracing/events/sched/sched_switch/id", EACCES);
	fake_file_error("/sys/bus/event_source/devices/power/type", EACCES);
	ck_assert_uint_eq(find("sched:sched_switch").visits, 0);
	ck_assert_uint_eq(find("power/energy-pkg/").visits, 0);
	ck_assert_uint_eq(find("instructions").visits, 1);
}
END_TEST

static int count_names(const struct ps_event_info *info, void *context)
{
	(void)info;
	++*(size_t *)context;
	return 0;
}

static void check_shortage(enum fake_call call, int error, int code)
{
	for (unsigned nth = 1;; nth++) {
		size_t count = 0;
		fake_fail(call, nth, error);
		int got = ps_event_for_each(count_names, &count);
		if (!fake_fail_happened())
			break;
		ck_assert_msg(got == code, "call %u: %d with %zu names", nth, got, count);
	}
	fake_fail(call, 0, 0);
}

START_TEST(a_shortage_is_not_taken_for_the_end_of_the_list)
{
	use_machine("zen");
	fake_file("/sys/kernel/tracing/events/sched/sched_switch/id", "312\n");
	check_shortage(FAKE_OPEN, EMFILE, PS_ECOUNT);
	check_shortage(FAKE_LIST, EMFILE, PS_ECOUNT);
	check_shortage(FAKE_LIST, ENOMEM, PS_ENOMEM);
}
END_TEST

START_TEST(a_clock_is_in_nanoseconds_under_any_name)
{
	use_machine("zen");
	struct ps__event clock = parsed("software/config=1/"),
			 faults = parsed("software/config=2/");

	ck_assert_str_eq(clock.unit, "ns");
	ck_assert_str_eq(faults.unit, "");
	ps__event_clear(&clock);
	ps__event_clear(&faults);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("known");
	TCase *tests = tcase_create("names");

	tcase_add_checked_fixture(tests, fake_install, fake_remove);
	tcase_add_test(tests, a_clock_is_in_nanoseconds_under_any_name);
	tcase_add_test(tests, each_kind_of_name_is_listed_with_what_is_known_of_it);
	tcase_add_test(tests, every_listed_name_parses_with_the_listed_scope);
	tcase_add_test(tests, terms_that_the_user_must_give_are_shown);
	tcase_add_test(tests, what_the_visitor_returns_ends_the_walk_in_every_place);
	tcase_add_test(tests, a_source_that_may_not_be_looked_into_is_left_out);
	tcase_add_test(tests, a_shortage_is_not_taken_for_the_end_of_the_list);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a formula's names mean (an event's number and its unit, numbers of the machine,
 * questions), and how a result is known. */
#include "analysis/formula.h"
#include "arch/arch.h"
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sys/mman.h>

static struct ps_formula *formula_of(const char *text)
{
	struct ps_formula *formula = NULL;

	check_ok(ps_formula_create(&formula, text));
	return formula;
}

/* A reading of the set, and the formula of its values. */
static struct ps_metric_value of_set(struct ps_eventset *set, const char *text, int expected)
{
	struct ps_formula *formula = formula_of(text);
	struct ps_value values[8];
	struct ps_metric_value out = {.value = -1};

	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_values(set, 0, values, 8));
	if (expected == PS_OK)
		check_ok(ps_formula_value(formula, set, values, scene.root, &out));
	else
		check_fails(ps_formula_value(formula, set, values, scene.root, &out), expected);
	ps_formula_destroy(formula);
	return out;
}

START_TEST(a_result_is_known_as_its_counts_are)
{
	struct ps_eventset *set;
	struct ps_metric_value value;

	fake_add_core_pmu(4);
	fake_set_affinity("0");
	set = scene_started("instructions", "cycles", "page-faults", NULL);
	fake_run(1000, 500);
	fake_advance(INSTRUCTIONS, 300);
	fake_advance(CYCLES, 200);
	fake_advance(PAGE_FAULTS, 7);
	value = of_set(set, "instructions / cycles", PS_OK);
	ck_assert(value.value == 1.5);
	ck_assert_int_eq((int)value.status, PS_STATUS_SCALED);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_PINNED);
	ck_assert_uint_ne(value.timestamp, 0);
	/* Only what matters. */
	value = of_set(set, "page\\-faults if 1 else instructions", PS_OK);
	ck_assert(value.value == 14); /* scaled, too */
	value = of_set(set, "#num_cpus + #num_cores * 100 + #num_packages * 10000", PS_OK);
	ck_assert(value.value == 20404);
	ck_assert(of_set(set, "#smt_on", PS_OK).value == 0);
	ck_assert(isnan(of_set(set, "#no_such_number", PS_OK).value));
	ck_assert(of_set(set, "#core_wide", PS_OK).value == 0);
	ck_assert(of_set(set, "has_event(cycles) + has_event(nothing)", PS_OK).value == 1);
	ck_assert(of_set(set, "source_count(cycles)", PS_OK).value == 1);
	of_set(set, "source_count(nothing)", PS_ENOEVNT);
	check_detail("'nothing'");
	ck_assert(isnan(of_set(set, "strcmp_cpuid_str(0x1)", PS_OK).value));
	value = of_set(set, "page-faults", PS_ENOEVNT);
	check_detail("'page'");
	check_detail("'\\-'");
	ck_assert(value.value == -1);
	ps_eventset_destroy(set);
}
END_TEST

static double number_on(const char *synthetic, bool counts_cpus, const char *name)
{
	struct ps_topology *topology;

	check_ok(ps_topology_load_synthetic(&topology, synthetic));
	double number = ps__formula_machine_number(
	    &(struct ps__formula_machine){ps_topology_root(topology), counts_cpus}, name);
	ps_topology_destroy(topology);
	return number;
}

START_TEST(a_package_without_dies_in_the_tree_is_one_die)
{
	ck_assert(number_on("pack:2 core:2 pu:1", false, "#num_dies") == 2);
	ck_assert(number_on("pack:2 die:2 core:1 pu:1", false, "#num_dies") == 4);
	ck_assert(isnan(
	    ps__formula_machine_number(&(struct ps__formula_machine){NULL, false}, "#num_dies")));
}
END_TEST

/* The count of a CPU tells nothing of the core's other hardware threads. */
START_TEST(counts_of_cpus_are_of_whole_cores_where_those_have_one_thread)
{
	ck_assert(number_on("core:2 pu:1", true, "#core_wide") == 1);
	ck_assert(isnan(number_on("core:2 pu:2", true, "#Core_Wide")));
	ck_assert(number_on("core:2 pu:1", false, "#core_wide") == 0);
	ck_assert(number_on("core:2 pu:2", false, "#core_wide") == 0);
}
END_TEST

static void *(*real_mmap)(void *address, size_t length_bytes, int protection, int flags, int fd,
                          off_t offset);
static struct perf_event_mmap_page model;

static void *map_page(void *address, size_t length_bytes, int protection, int flags, int fd,
                      off_t offset)
{
	struct perf_event_mmap_page *page = real_mmap(
	    address, length_bytes, protection | PROT_WRITE, flags | MAP_ANONYMOUS, -1, offset);

	ck_assert_int_ge(fd, 0);
	*page = model;
	return page;
}

/* Where neither says it, the number isn't known. */
START_TEST(the_kernel_or_the_processor_tells_the_frequency_of_ticks)
{
	double processor = (double)ps__arch_tick_hz();

	real_mmap = ps__os.mmap;
	ps__os.mmap = map_page;
	model = (struct perf_event_mmap_page){
	    .cap_user_time = 1, .time_shift = 31, .time_mult = UINT32_C(858993459)};
	fake_count_reset();
	ck_assert(fabs(ps__formula_tick_hz() - 2.5e9) < 10);
	model.cap_user_time = 0;
	double other = ps__formula_tick_hz();
	ck_assert(processor > 0 ? other == processor : isnan(other));
	fake_fail(FAKE_PERF_EVENT_OPEN, 1, EACCES);
	model.cap_user_time = 1;
	other = ps__formula_tick_hz();
	ck_assert(processor > 0 ? other == processor : isnan(other));
	ps__os.mmap = real_mmap;
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

/* perf's times of a run are seconds in formulas, and counts have no scale. */
START_TEST(events_have_the_unit_that_perf_gives_them)
{
	struct ps_value values[2] = {{.value = 3000000000}, {.value = 10}};
	struct ps_metric_value out;
	struct ps_eventset *set;

	fake_file("/sys/bus/event_source/devices/power/type", "20");
	fake_file("/sys/bus/event_source/devices/power/format/event", "config:0-7");
	fake_file("/sys/bus/event_source/devices/power/events/energy-pkg", "event=0x02");
	fake_file("/sys/bus/event_source/devices/power/events/energy-pkg.scale", "0.5");
	fake_file("/sys/bus/event_source/devices/power/events/energy-pkg.unit", "Joules");
	fake_add_pmu(20, 1);
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add_optional(set, "duration_time"));
	check_ok(ps_eventset_add(set, "power/energy-pkg/"));
	struct ps_formula *formula = formula_of("power@energy\\-pkg@ / duration_time");
	check_ok(ps_formula_value(formula, set, values, NULL, &out));
	ck_assert(fabs(out.value - 10 / 3.0) < 1e-12);
	check_ok(ps_metric_define("rate", "power@energy\\-pkg@ / duration_time", NULL));
	check_ok(ps_metric_of_sums(set, "rate", values, NULL, &out));
	ck_assert(fabs(out.value - 10 / 3.0) < 1e-12);
	check_ok(ps_metric_undefine("rate"));
	/* An event line has it as it is shown: in joules and nanoseconds. */
	fake_file("/sys/m", "group mine: a\nevent energy = power/energy-pkg/\n"
	                    "event time = duration_time\nmetric rate: a\n energy / time * 1e9\n");
	check_ok(ps_metric_load("/sys/m"));
	check_ok(ps_metric_of_sums(set, "rate", values, NULL, &out));
	ck_assert(fabs(out.value - 5 / 3.0) < 1e-12);
	check_ok(ps_metric_undefine("rate"));
	ps_formula_destroy(formula);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_count_that_is_not_known_makes_no_number)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	fake_set_affinity("0");
	set = scene_started("instructions", "cycles", NULL);
	fake_run(1000, 0);
	struct ps_metric_value value = of_set(set, "instructions + 1", PS_OK);
	ck_assert(isnan(value.value));
	ck_assert_int_eq((int)value.status, PS_STATUS_NEVER_SCHEDULED);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("formula_names");
	TCase *tests = scene_case(suite, "formula_names");

	tcase_add_test(tests, a_result_is_known_as_its_counts_are);
	tcase_add_test(tests, a_package_without_dies_in_the_tree_is_one_die);
	tcase_add_test(tests, counts_of_cpus_are_of_whole_cores_where_those_have_one_thread);
	tcase_add_test(tests, the_kernel_or_the_processor_tells_the_frequency_of_ticks);
	tcase_add_test(tests, events_have_the_unit_that_perf_gives_them);
	tcase_add_test(tests, a_count_that_is_not_known_makes_no_number);
	return scene_run(suite);
}

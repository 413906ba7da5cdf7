/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table behind the text outputs: every cell is what ps_component_total gives for its component,
 * below any root, with several sets, wide scopes and the unknown Thread; and a finished table
 * leaves the error sentence alone.
 */
#include "output/table.h"
#include "support/fixture.h"

#include <pthread.h>
#include <stdatomic.h>

static const char *const machines[] = {"pack:2 [numa] l3:2 core:2 pu:2",
                                       "[numa] pack:2 core:2 pu:1", "pack:2 core:1 pu:1",
                                       "pack:1 [numa] [numa] l3:1 core:2 pu:1"};

static void check_cell(const struct ps__table *table, size_t row, size_t event)
{
	const struct ps__cell *cell = ps__table_cell(table, row, event);
	struct ps_component *component = table->rows[row].component;
	struct ps_value expected;
	int code = ps_component_total(component, ps__table_event(table, event), &expected);

	ck_assert_msg((code == PS_OK) == (cell->parts > 0 && !cell->is_absent), "%s, %s: %s",
	              ps_component_name(component), ps__table_event(table, event),
	              ps_error_detail());
	if (code != PS_OK) {
		ck_assert_int_eq(cell->value.value, 0);
		return;
	}
	ck_assert_int_eq(cell->value.value, expected.value);
	ck_assert_uint_eq(cell->value.raw, expected.raw);
	ck_assert_uint_eq(cell->value.timestamp, expected.timestamp);
	ck_assert_uint_eq(cell->value.enabled_ns, expected.enabled_ns);
	ck_assert_uint_eq(cell->value.running_ns, expected.running_ns);
	ck_assert_int_eq((int)cell->value.status, (int)expected.status);
	ck_assert_int_eq((int)cell->value.attribution, (int)expected.attribution);
	ck_assert_uint_eq(cell->value.flags, expected.flags);
}

static int check_table_below(struct ps_component *root, void *context)
{
	struct ps__table table;

	(void)context;
	check_ok(ps__table_create(&table, root, NULL, 0));
	ck_assert_ptr_eq(table.rows[0].component, root);
	for (size_t row = 0; row < table.row_count; row++) {
		bool counted = false;
		for (size_t event = 0; event < table.event_count; event++) {
			check_cell(&table, row, event);
			const struct ps__cell *cell = ps__table_cell(&table, row, event);
			counted |= cell->parts > 0 && !cell->is_absent;
		}
		ck_assert_int_eq(table.rows[row].counted, counted);
		ck_assert_int_eq(table.rows[row].depth,
		                 ps_component_depth(table.rows[row].component) -
		                     ps_component_depth(root));
		if (row > 0)
			ck_assert_ptr_eq(table.rows[table.rows[row].parent].component,
			                 ps_component_parent(table.rows[row].component));
	}
	ps__table_clear(&table);
	return 0;
}

static void use_machine(const char *description)
{
	ps_topology_destroy(scene.topology);
	scene.topology = fixture_synthetic(description);
	scene.root = ps_topology_root(scene.topology);
}

/* Two sets that walk over the CPUs, one of them twice as far, and also where the tree knows
 * none. */
static struct ps_eventset *count_somewhere(const char *event, int step, int last_cpu)
{
	struct ps_eventset *set = scene_set(event, "task-clock", NULL);

	fake_set_affinity("0-9");
	check_ok(ps_start(set));
	for (int cpu = 0; cpu <= last_cpu; cpu += step) {
		fake_set_cpu(cpu);
		fake_advance(PAGE_FAULTS, (uint64_t)cpu + 1);
		fake_advance(TASK_CLOCK, 1000);
		fake_run(100, 100 - (uint64_t)cpu);
		check_ok(ps_read(set, scene.root, NULL, NULL));
	}
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	return set;
}

START_TEST(each_cell_is_the_total_of_its_component)
{
	struct ps_eventset *first, *second;

	use_machine(machines[_i]);
	first = count_somewhere("page-faults", 1, 3);
	second = count_somewhere("page-faults", 2, 9);
	ps_component_for_each(scene.root, check_table_below, NULL);
	ps_eventset_destroy(first);
	ps_eventset_destroy(second);
}
END_TEST

static struct ps__cell cell_of_cpu(int cpu)
{
	struct ps__table table;
	struct ps__cell found = {0};

	check_ok(ps__table_create(&table, scene.root, NULL, 0));
	for (size_t row = 0; row < table.row_count; row++) {
		struct ps_thread *thread = ps_component_thread(table.rows[row].component);
		if (!thread || ps_thread_cpu(thread) != cpu)
			continue;
		found = *ps__table_cell(&table, row, 0);
		ck_assert_int_eq(table.rows[row].counted, found.parts && !found.is_absent);
	}
	ps__table_clear(&table);
	return found;
}

START_TEST(where_a_task_never_was_it_counted_0_if_its_places_are_known)
{
	struct ps_eventset *exact, *guessed;

	use_machine(machines[0]);
	exact = count_somewhere("page-faults", 1, 3);
	ck_assert(!cell_of_cpu(3).is_absent);
	struct ps__cell cell = cell_of_cpu(5);
	ck_assert(cell.is_absent);
	ck_assert_int_eq(cell.value.value, 0);
	ck_assert_int_eq((int)cell.value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)cell.value.attribution, PS_ATTRIBUTION_EXACT);
	guessed = scene_set("page-faults", NULL);
	check_ok(ps_eventset_set_attribution(guessed, PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_start(guessed));
	check_ok(ps_stop(guessed, scene.root, NULL, NULL));
	ck_assert_uint_eq(cell_of_cpu(5).parts, 0);
	ps_eventset_destroy(exact);
	ps_eventset_destroy(guessed);
}
END_TEST

/* Returns the number of components with a known 0 below a root, whose own sum is exact. */
static size_t count_zeros(struct ps_component *root)
{
	struct ps__table table;
	size_t zeros = 0;

	check_ok(ps__table_create(&table, root, NULL, 0));
	ck_assert_int_eq((int)ps__table_cell(&table, 0, 0)->value.attribution,
	                 PS_ATTRIBUTION_EXACT);
	for (size_t row = 0; row < table.row_count; row++)
		zeros += ps__table_cell(&table, row, 0)->is_absent;
	ps__table_clear(&table);
	return zeros;
}

/* The tree has CPU 0 to 3. CPU 9 may be one of either package. */
START_TEST(beside_a_cpu_that_the_tree_lacks_no_0_is_known)
{
	struct ps_eventset *exact;

	use_machine(machines[1]);
	exact = count_somewhere("page-faults", 9, 9);
	ck_assert_uint_eq(count_zeros(scene.root), 0);
	ck_assert_uint_eq(
	    count_zeros(ps_component_find_logical(scene.root, PS_COMPONENT_PACKAGE, 0, 0)), 0);
	ps_eventset_destroy(exact);
}
END_TEST

/* Another set's counts are on the other package, but it isn't known whether all of them are. */
START_TEST(counts_outside_that_may_be_inside_leave_no_0_known)
{
	struct ps_eventset *exact, *guessed;

	use_machine(machines[1]);
	exact = count_somewhere("page-faults", 1, 0);
	struct ps_component *package =
	    ps_component_find_logical(scene.root, PS_COMPONENT_PACKAGE, 0, 0);
	ck_assert_uint_gt(count_zeros(package), 0);
	guessed = scene_set("page-faults", NULL);
	check_ok(ps_eventset_set_attribution(guessed, PS_ATTRIBUTE_LAST_CPU));
	fake_set_cpu(3);
	check_ok(ps_start(guessed));
	check_ok(ps_stop(guessed, scene.root, NULL, NULL));
	ck_assert_uint_eq(count_zeros(package), 0);
	ps_eventset_destroy(exact);
	ps_eventset_destroy(guessed);
}
END_TEST

START_TEST(each_cell_of_a_wide_event_is_the_total_of_its_component)
{
	static const int cpus[] = {0, 1, 3, 0, 9};
	struct ps_eventset *sets[5];

	use_machine(machines[_i]);
	fake_file("/sys/devices/system/cpu/possible", "0-9\n");
	fake_file("/sys/devices/system/cpu/online", "0-9\n");
	fake_add_pmu(20, 4);
	fake_set_pmu_flags(20, FAKE_PMU_CPU_ONLY | FAKE_PMU_NO_EXCLUDE);
	fake_file("/sys/bus/event_source/devices/power/type", "20\n");
	fake_file("/sys/bus/event_source/devices/power/cpumask", "0\n");
	fake_file("/sys/bus/event_source/devices/power/format/event", "config:0-7\n");
	fake_file("/sys/bus/event_source/devices/power/events/energy-pkg", "event=0x02\n");
	for (int i = 0; i < 5; i++) {
		sets[i] = scene_set("power/energy-pkg/", NULL);
		ck_assert_int_eq((int)ps_eventset_event_scope(sets[i], 0), PS_SCOPE_PACKAGE);
		check_ok(ps_eventset_attach_cpu(sets[i], cpus[i]));
		check_ok(ps_store(sets[i], (const long long[]){10 + i}, 1, scene.root, NULL, NULL));
	}
	ps_component_for_each(scene.root, check_table_below, NULL);
	for (int i = 0; i < 5; i++)
		ps_eventset_destroy(sets[i]);
}
END_TEST

START_TEST(events_stand_in_the_order_in_which_they_came)
{
	struct ps_eventset *first = count_somewhere("page-faults", 1, 1), *second;
	struct ps__table table;

	second = count_somewhere("minor-faults", 1, 1);
	check_ok(ps__table_create(&table, scene.root, NULL, 0));
	ck_assert_uint_eq(table.event_count, 3);
	ck_assert_str_eq(ps__table_event(&table, 0), "page-faults");
	ck_assert_str_eq(ps__table_event(&table, 1), "task-clock");
	ck_assert_str_eq(ps__table_event(&table, 2), "minor-faults");
	ps__table_clear(&table);
	ps_eventset_destroy(first);
	ps_eventset_destroy(second);
}
END_TEST

START_TEST(a_table_that_could_be_made_leaves_the_error_sentence)
{
	struct ps_eventset *set = count_somewhere("page-faults", 1, 1);
	struct ps__table table;
	const char *sentence;

	check_fails(ps_component_for_each(NULL, NULL, NULL), PS_EINVAL);
	sentence = ps_error_detail();
	check_ok(ps__table_create(&table, scene.root, NULL, 0));
	ck_assert_ptr_eq(ps_error_detail(), sentence);
	check_detail("ps_component_for_each");
	ps__table_clear(&table);
	ps_eventset_destroy(set);
}
END_TEST

static atomic_bool done;

static void *store_on_and_on(void *unused)
{
	struct ps_eventset *set = NULL;
	long wrong =
	    ps_eventset_create(&set) != PS_OK || ps_eventset_add(set, "page-faults") != PS_OK;

	for (int i = 0; i < 3000 && !wrong; i++) {
		uint64_t timestamp = i % 3 ? UINT64_MAX : 0; /* what no reading has: a new one */
		fake_set_cpu(i % 4);
		wrong +=
		    ps_store(set, (const long long[]){i}, 1, scene.root, &timestamp, NULL) != PS_OK;
		fake_set_cpu((i + 1) % 4);
		wrong += ps_store(set, (const long long[]){i + 7}, 1, scene.root, &timestamp,
		                  NULL) != PS_OK;
	}
	ps_eventset_destroy(set);
	atomic_store(&done, true);
	(void)unused;
	return (void *)wrong;
}

/* The first row's value less those of all Threads. */
static long long difference(const struct ps__table *table)
{
	long long rest = table->cells[0].value.value;

	for (size_t row = 1; row < table->row_count; row++) {
		const struct ps__cell *cell = ps__table_cell(table, row, 0);
		if (ps_component_type(table->rows[row].component) == PS_COMPONENT_THREAD &&
		    cell->parts)
			rest -= cell->value.value;
	}
	return rest;
}

START_TEST(all_numbers_of_a_table_belong_together_beside_a_writer)
{
	pthread_t writer;
	void *wrong;
	size_t tables = 0;

	atomic_store(&done, false);
	ck_assert_int_eq(pthread_create(&writer, NULL, store_on_and_on, NULL), 0);
	for (bool last = false; !last;) {
		struct ps__table table;
		last = atomic_load(&done);
		check_ok(ps__table_create(&table, scene.root, NULL, 0));
		if (table.event_count && table.cells[0].parts) {
			ck_assert_int_eq(difference(&table), 0);
			tables++;
		}
		ps__table_clear(&table);
	}
	pthread_join(writer, &wrong);
	ck_assert_ptr_null(wrong);
	ck_assert_uint_gt(tables, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("table");
	TCase *tests = scene_case(suite, "table");

	tcase_add_loop_test(tests, each_cell_is_the_total_of_its_component, 0, 4);
	tcase_add_loop_test(tests, each_cell_of_a_wide_event_is_the_total_of_its_component, 0, 4);
	tcase_add_test(tests, where_a_task_never_was_it_counted_0_if_its_places_are_known);
	tcase_add_test(tests, beside_a_cpu_that_the_tree_lacks_no_0_is_known);
	tcase_add_test(tests, counts_outside_that_may_be_inside_leave_no_0_known);
	tcase_add_test(tests, events_stand_in_the_order_in_which_they_came);
	tcase_add_test(tests, all_numbers_of_a_table_belong_together_beside_a_writer);
	tcase_add_test(tests, a_table_that_could_be_made_leaves_the_error_sentence);
	return scene_run(suite);
}

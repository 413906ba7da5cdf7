/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of tasks' rows: what is of one process or task is added up, and what only had the same
 * number is not. */
#include "base/os.h"
#include "support/scene.h"
#include "tools/stat_tasks.h"

static struct ps_eventset *model;
static struct matrix matrix;

static void rows_begin(void)
{
	model = scene_set("page-faults", NULL);
	matrix = (struct matrix){.model = model,
	                         .topology = scene.topology,
	                         .totals = ps__os_calloc(2, sizeof *matrix.totals),
	                         .rows = ps__os_calloc(16, sizeof *matrix.rows),
	                         .room = 16};
}

static void rows_end(void)
{
	stat_matrix_clear(&matrix);
	ps_eventset_destroy(model);
}

/* The task and its process by the set's numbers, on a CPU. tid 0: of others. */
static void put_row(pid_t pid, pid_t tid, size_t task, size_t process, int cpu, long long count)
{
	struct task_row *row = &matrix.rows[matrix.count];

	*row =
	    (struct task_row){.pid = pid,
	                      .tid = tid,
	                      .set = matrix.set,
	                      .task = task,
	                      .process = process,
	                      .cpu = cpu,
	                      .where = ps_thread_component(ps_topology_thread(scene.topology, cpu)),
	                      .place = matrix.count++,
	                      .counts = ps__os_calloc(1, sizeof *row->counts)};
	row->counts[0] = count;
}

static void check_row(const struct matrix *of, size_t index, pid_t pid, long long count)
{
	ck_assert_uint_lt(index, of->count);
	ck_assert_int_eq(of->rows[index].pid, pid);
	ck_assert_int_eq(of->rows[index].counts[0], count);
}

START_TEST(processes_that_had_the_same_number_have_sums_of_their_own)
{
	rows_begin();
	put_row(600, 600, 1, 1, 0, 10);
	put_row(600, 601, 2, 1, 1, 5);
	put_row(700, 700, 3, 3, 0, 100);
	put_row(600, 600, 4, 4, 0, 20);
	put_row(600, 600, 4, 4, 1, 2);
	put_row(600, 0, 0, 0, 0, 1);
	put_row(600, 0, 0, 0, 1, 1);
	stat_matrix_sum_processes(&matrix);
	ck_assert_uint_eq(matrix.count, 4);
	check_row(&matrix, 0, 600, 15);
	check_row(&matrix, 1, 700, 100);
	check_row(&matrix, 2, 600, 22);
	check_row(&matrix, 3, 600, 2);
	rows_end();
}
END_TEST

/* Each set has its own numbers. */
START_TEST(processes_of_two_sets_have_sums_of_their_own)
{
	rows_begin();
	put_row(600, 600, 1, 1, 0, 10);
	put_row(600, 0, 0, 0, 0, 1);
	matrix.set++;
	put_row(700, 700, 1, 1, 0, 20);
	put_row(700, 0, 0, 0, 0, 2);
	stat_matrix_sum_processes(&matrix);
	ck_assert_uint_eq(matrix.count, 4);
	check_row(&matrix, 0, 600, 10);
	check_row(&matrix, 1, 600, 1);
	check_row(&matrix, 2, 700, 20);
	check_row(&matrix, 3, 700, 2);
	rows_end();
}
END_TEST

START_TEST(tasks_that_had_the_same_number_have_sums_of_their_own)
{
	struct stat_by by = {.types = PS_TYPE_BIT(PS_COMPONENT_MACHINE)};
	struct matrix sums;

	rows_begin();
	put_row(600, 600, 1, 1, 0, 10);
	put_row(600, 600, 1, 1, 1, 5);
	put_row(600, 600, 2, 2, 0, 20);
	put_row(600, 600, 2, 2, 1, 2);
	ck_assert_int_eq(stat_matrix_sum_components(&sums, &matrix, &by), 0);
	ck_assert_uint_eq(sums.count, 2);
	check_row(&sums, 0, 600, 15);
	check_row(&sums, 1, 600, 22);
	stat_matrix_clear(&sums);
	rows_end();
}
END_TEST

/* Two events that take turns on one counter, while a task is on these CPUs. */
static void check_label_of_turns(int cpu, int other, enum ps_attribution label)
{
	struct stat_count count = {.topology = scene.topology, .root = scene.root};

	fake_add_core_pmu(1);
	struct ps_eventset *set = scene_started("cycles", "branches", NULL);
	for (int turn = 0; turn < 2; turn++) {
		fake_set_cpu(turn ? other : cpu);
		fake_set_waiting(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, turn);
		fake_run(1000000, 1000000);
		fake_advance(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000);
	}
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	count.model = set;
	ck_assert_int_eq(stat_matrix_fill(&matrix, &count, NULL), 0);
	const struct task_row row = {.counts = (long long[]){10, 10}};
	struct ps_value value = stat_matrix_value(&matrix, &row, 0);
	ck_assert_int_eq((int)value.status, PS_STATUS_SCALED);
	ck_assert_int_eq(value.value, 20);
	ck_assert_int_eq((int)value.attribution, (int)label);
	stat_matrix_clear(&matrix);
	ps_eventset_destroy(set);
}

START_TEST(counts_scaled_by_the_factor_of_several_cpus_are_mixed)
{
	check_label_of_turns(0, 1, PS_ATTRIBUTION_MIXED);
}
END_TEST

START_TEST(counts_scaled_by_the_factor_of_one_cpu_are_exact)
{
	check_label_of_turns(0, 0, PS_ATTRIBUTION_EXACT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stat_task_rows");
	TCase *tests = scene_case(suite, "rows");

	tcase_add_test(tests, processes_that_had_the_same_number_have_sums_of_their_own);
	tcase_add_test(tests, processes_of_two_sets_have_sums_of_their_own);
	tcase_add_test(tests, tasks_that_had_the_same_number_have_sums_of_their_own);
	tcase_add_test(tests, counts_scaled_by_the_factor_of_several_cpus_are_mixed);
	tcase_add_test(tests, counts_scaled_by_the_factor_of_one_cpu_are_exact);
	return scene_run(suite);
}

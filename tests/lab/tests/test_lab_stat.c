/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage stat on hardware counters: a command that works on the first and on the last CPU, in two
 * packages where there are two. Instructions and cycles are on the right ones, and instructions per
 * cycle are those of the shape.
 *
 * Run as `test_lab_stat work FIRST LAST` this program is that command.
 */
#include "lab.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERFSAGE "tools/perfsage"
#define COUNTS   "/tmp/lab_stat.csv"

/* Counters go on in the turns of other CPUs, which are mostly idle; and what is around the loops is
 * counted, too. */
#define TOLERANCE 0.03

static char program[512];

/* No test runs here, so nothing of Check's may be used. */
static int work_on(int cpu, const char *iterations)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET((size_t)cpu, &mask);
	if (sched_setaffinity(0, sizeof mask, &mask) < 0)
		return 1;
	lab_loop(strtoul(iterations, NULL, 10));
	return 0;
}

static int work(char **iterations)
{
	return work_on(0, iterations[0]) ||
	       work_on((int)sysconf(_SC_NPROCESSORS_ONLN) - 1, iterations[1]);
}

static void count(const char *options, unsigned long first, unsigned long last)
{
	char line[1024];

	snprintf(line, sizeof line,
	         PERFSAGE " stat -e instructions:u,cycles:u --csv -o " COUNTS
	                  " %s -- %s work %lu %lu",
	         options, program, first, last);
	ck_assert_msg(system(line) == 0, "failed: %s", line);
}

static double value_of(const char *type, int os_id, const char *event)
{
	return lab_csv_value(COUNTS, type, os_id, event);
}

static void check_near(double value, double wanted, const char *what)
{
	ck_assert_msg(value > wanted * (1 - TOLERANCE) && value < wanted * (1 + TOLERANCE),
	              "%s: %.0f, not %.0f", what, value, wanted);
}

/* Twice as many instructions as iterations; the command's own beginning is on either CPU, or on a
 * third one. */
static void check_counts(const char *type, int first, int last)
{
	double cycles = (double)(1u << lab_shift());
	double begin = 600000;

	ck_assert_int_ge((int)value_of(type, first, "instructions:u"), 2 * 8000000);
	ck_assert_int_le((int)value_of(type, first, "instructions:u"),
	                 (int)(2 * 8000000 * (1 + TOLERANCE) + begin));
	ck_assert_int_ge((int)value_of(type, last, "instructions:u"), 2 * 24000000);
	ck_assert_int_le((int)value_of(type, last, "instructions:u"),
	                 (int)(2 * 24000000 * (1 + TOLERANCE) + begin));
	check_near(value_of(type, last, "cycles:u"),
	           value_of(type, last, "instructions:u") * cycles, "cycles");
	printf("lab: %s %d: %.0f instructions; %s %d: %.0f\n", type, first,
	       value_of(type, first, "instructions:u"), type, last,
	       value_of(type, last, "instructions:u"));
}

START_TEST(instructions_and_cycles_are_on_the_hardware_threads_that_ran_them)
{
	count("--by thread", 8000000, 24000000);
	check_counts("Thread", 0, (int)lab_cpus() - 1);
}
END_TEST

START_TEST(instructions_and_cycles_are_in_the_packages_that_ran_them)
{
	unsigned packages = lab_smp("sockets", 1);

	count("--by package", 8000000, 24000000);
	if (packages > 1)
		check_counts("Package", 0, (int)packages - 1);
	else
		check_near(value_of("Package", 0, "instructions:u"), 2 * 32000000,
		           "the package's instructions");
}
END_TEST

START_TEST(instructions_per_cycle_are_those_of_the_shape)
{
	double wanted = 1.0 / (double)(1u << lab_shift());
	double found;

	count("--by machine", 8000000, 24000000);
	found = value_of("Machine", 0, "IPC:u");
	ck_assert_msg(found > wanted * (1 - TOLERANCE) && found < wanted * (1 + TOLERANCE),
	              "IPC is %f, not %f", found, wanted);
	printf("lab: IPC %.4f, where %.4f is right\n", found, wanted);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "work"))
		return work(argv + 2);
	snprintf(program, sizeof program, "%s", argv[0]);
	Suite *suite = suite_create("lab: perfsage stat");
	TCase *counts = tcase_create("counts");

	tcase_add_test(counts, instructions_and_cycles_are_on_the_hardware_threads_that_ran_them);
	tcase_add_test(counts, instructions_and_cycles_are_in_the_packages_that_ran_them);
	tcase_add_test(counts, instructions_per_cycle_are_those_of_the_shape);
	suite_add_tcase(suite, counts);
	return lab_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage stat and timeline on hardware counters: a command that works on the first and on the
 * last CPU, in two packages where there are two. Instructions and cycles are on the right ones, and
 * instructions per cycle are those of the shape.
 *
 * Run as `test_lab_stat work FIRST LAST` this program is that command. It counts its instructions
 * itself, too, and writes them down. As `test_lab_stat cycle N` it works on the last CPU, takes it
 * offline and back, and works there again.
 */
#include "lab.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PERFSAGE "tools/perfsage"
#define COUNTS   "/tmp/lab_stat.csv"
#define SLICES   "/tmp/lab_timeline.txt"
#define OWN      "/tmp/lab_stat.own"

#define TOLERANCE 0.03
/* The loader's work before main(): 742,000 to 753,000 were seen. */
#define BEGINNING 1000000
/* Iterations on the first and on the last CPU. */
#define FIRST 8000000
#define LAST  24000000
/* Counters go on while other CPUs work, and the kernel takes a CPU offline and back with all of
 * them: 1.2 million were seen on a busy machine. What is counted twice would be 16 million. */
#define HOTPLUG 4000000

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

/* A counter goes on in the turns of other CPUs. So the command's own counter tells what others must
 * show: it goes on just as long. */
static int count_own(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_HW_INSTRUCTIONS,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int work(char **iterations)
{
	uint64_t first, both;
	int fd = count_own();

	if (fd < 0 || work_on(0, iterations[0]) || read(fd, &first, sizeof first) != sizeof first ||
	    work_on((int)sysconf(_SC_NPROCESSORS_ONLN) - 1, iterations[1]) ||
	    read(fd, &both, sizeof both) != sizeof both)
		return 1;
	FILE *stream = fopen(OWN, "we");
	if (!stream)
		return 1;
	fprintf(stream, "%llu %llu\n", (unsigned long long)first,
	        (unsigned long long)(both - first));
	return fclose(stream) != 0;
}

static int set_online(int cpu, const char *state)
{
	char path[64];

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", cpu);
	FILE *stream = fopen(path, "we");
	if (!stream)
		return 1;
	int written = fputs(state, stream);
	return fclose(stream) != 0 || written < 0;
}

static int last_cpu(void)
{
	return (int)sysconf(_SC_NPROCESSORS_CONF) - 1;
}

/* If the CPU is offline at first there is no work before. */
static int cycle(const char *iterations)
{
	int cpu = last_cpu();
	bool is_online = sysconf(_SC_NPROCESSORS_ONLN) == sysconf(_SC_NPROCESSORS_CONF);

	if (is_online && (work_on(cpu, iterations) || work_on(0, "1") || set_online(cpu, "0")))
		return 1;
	return set_online(cpu, "1") || work_on(cpu, iterations) || work_on(0, "1");
}

static void count(const char *options)
{
	char line[1024];

	snprintf(line, sizeof line,
	         PERFSAGE " stat -e instructions:u,cycles:u --csv -o " COUNTS
	                  " %s -- %s work %d %d",
	         options, program, FIRST, LAST);
	ck_assert_msg(system(line) == 0, "failed: %s", line);
}

static double value_of(const char *type, int os_id, const char *event)
{
	return lab_csv_value(COUNTS, type, os_id, event);
}

struct own {
	long long first, last;
};

/* Returns the command's own counts: at least twice as many instructions as iterations. */
static struct own own_counts(void)
{
	FILE *stream = fopen(OWN, "re");
	struct own own;

	ck_assert_ptr_nonnull(stream);
	ck_assert_int_eq(fscanf(stream, "%lld %lld", &own.first, &own.last), 2);
	fclose(stream);
	ck_assert_int_ge(own.first, 2 * FIRST);
	ck_assert_int_ge(own.last, 2 * LAST);
	return own;
}

/* The loader ran on either CPU, or on a third one. */
static void check_own(long long shown, long long own)
{
	ck_assert_int_ge(shown, own);
	ck_assert_int_le(shown, own + BEGINNING);
}

static void check_instructions(const char *type, int os_id, long long own)
{
	double instructions = value_of(type, os_id, "instructions:u");
	double cycles = value_of(type, os_id, "cycles:u");
	double wanted = instructions * (double)(1u << lab_shift());

	check_own((long long)instructions, own);
	ck_assert_msg(cycles > wanted * (1 - TOLERANCE) && cycles < wanted * (1 + TOLERANCE),
	              "cycles: %.0f, not %.0f", cycles, wanted);
	printf("lab: %s %d: %.0f instructions, the command's own counter: %lld\n", type, os_id,
	       instructions, own);
}

static void check_counts(const char *type, int first, int last)
{
	struct own own = own_counts();

	check_instructions(type, first, own.first);
	check_instructions(type, last, own.last);
}

START_TEST(instructions_and_cycles_are_on_the_hardware_threads_that_ran_them)
{
	count("--by thread");
	check_counts("Thread", 0, (int)lab_cpus() - 1);
}
END_TEST

START_TEST(instructions_and_cycles_are_in_the_packages_that_ran_them)
{
	unsigned packages = lab_smp("sockets", 1);

	count("--by package");
	if (packages > 1)
		check_counts("Package", 0, (int)packages - 1);
	else
		check_instructions("Package", 0, own_counts().first + own_counts().last);
}
END_TEST

START_TEST(instructions_per_cycle_are_those_of_the_shape)
{
	double wanted = 1.0 / (double)(1u << lab_shift());
	double found;

	count("--by machine");
	found = value_of("Machine", 0, "IPC:u");
	ck_assert_msg(found > wanted * (1 - TOLERANCE) && found < wanted * (1 + TOLERANCE),
	              "IPC is %f, not %f", found, wanted);
	printf("lab: IPC %.4f, where %.4f is right\n", found, wanted);
}
END_TEST

/* Adds up the lines of slices, as "0.0001  CPU 1  432.3 us  on  prog 14292  instructions:u 830". */
static long long sum_of_slices(int wanted)
{
	FILE *stream = fopen(SLICES, "re");
	char line[512];
	long long sum = 0;

	ck_assert_ptr_nonnull(stream);
	while (fgets(line, sizeof line, stream)) {
		double begin;
		int cpu;
		const char *count = strstr(line, LAB_INSTRUCTIONS " ");
		if (count && sscanf(line, " %lf CPU %d", &begin, &cpu) == 2 && cpu == wanted)
			sum += strtoll(count + strlen(LAB_INSTRUCTIONS), NULL, 10);
	}
	fclose(stream);
	return sum;
}

static long long slices_of(int cpu)
{
	long long sum = sum_of_slices(cpu);

	printf("lab: CPU %d: %lld instructions in its slices\n", cpu, sum);
	return sum;
}

START_TEST(instructions_are_in_the_slices_that_ran_them)
{
	char line[1024];

	snprintf(line, sizeof line,
	         PERFSAGE " timeline -e " LAB_INSTRUCTIONS " --slices -o " SLICES
	                  " -- %s work %d %d",
	         program, FIRST, LAST);
	ck_assert_msg(system(line) == 0, "failed: %s", line);
	check_own(slices_of(0), own_counts().first);
	check_own(slices_of((int)lab_cpus() - 1), own_counts().last);
}
END_TEST

static void bring_back(void)
{
	set_online(last_cpu(), "1");
}

/* Counts the lines of the CPU's slices whose count is not known. The notes must name the CPU. */
static unsigned count_unknown(void)
{
	FILE *stream = fopen(SLICES, "re");
	char line[512], note[64];
	unsigned found = 0;
	bool is_told = false;

	ck_assert_ptr_nonnull(stream);
	snprintf(note, sizeof note, "CPU %d had no counters", last_cpu());
	while (fgets(line, sizeof line, stream)) {
		double begin;
		int cpu;
		is_told |= strstr(line, note) != NULL;
		if (strstr(line, LAB_INSTRUCTIONS " ?") &&
		    sscanf(line, " %lf CPU %d", &begin, &cpu) == 2) {
			ck_assert_int_eq(cpu, last_cpu());
			found++;
		}
	}
	fclose(stream);
	ck_assert_int_eq(is_told, found > 0);
	return found;
}

static void record_cycle(void)
{
	char line[1024];

	snprintf(line, sizeof line,
	         "COLUMNS=200 " PERFSAGE " timeline -e " LAB_INSTRUCTIONS " --slices -o " SLICES
	         " -- %s cycle %d",
	         program, FIRST);
	ck_assert_msg(system(line) == 0, "failed: %s", line);
}

START_TEST(slices_on_a_cpu_that_comes_online_later_are_not_known)
{
	set_online(last_cpu(), "0");
	record_cycle();
	ck_assert_uint_gt(count_unknown(), 0);
	ck_assert_int_eq(sum_of_slices(last_cpu()), 0);
}
END_TEST

START_TEST(slices_on_a_cpu_that_was_offline_are_not_known_afterwards)
{
	record_cycle();
	ck_assert_uint_gt(count_unknown(), 0);
	long long sum = slices_of(last_cpu());
	ck_assert_int_ge(sum, 2 * FIRST);
	ck_assert_int_le(sum, (long long)(2 * FIRST * (1 + TOLERANCE)) + HOTPLUG);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "work"))
		return work(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "cycle"))
		return cycle(argv[2]);
	snprintf(program, sizeof program, "%s", argv[0]);
	Suite *suite = suite_create("lab: perfsage stat and timeline");
	TCase *counts = tcase_create("counts");

	tcase_add_test(counts, instructions_and_cycles_are_on_the_hardware_threads_that_ran_them);
	tcase_add_test(counts, instructions_and_cycles_are_in_the_packages_that_ran_them);
	tcase_add_test(counts, instructions_per_cycle_are_those_of_the_shape);
	tcase_add_test(counts, instructions_are_in_the_slices_that_ran_them);
	suite_add_tcase(suite, counts);
	TCase *hotplug = tcase_create("hotplug");
	tcase_add_checked_fixture(hotplug, NULL, bring_back);
	tcase_add_test(hotplug, slices_on_a_cpu_that_comes_online_later_are_not_known);
	tcase_add_test(hotplug, slices_on_a_cpu_that_was_offline_are_not_known_afterwards);
	suite_add_tcase(suite, hotplug);
	return lab_run(suite);
}

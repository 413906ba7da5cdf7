/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the instructions of a reading and of a visit of a region, including the kernel's. Four
 * hardware counters are read in user space, by read(2) and by PAPI. This needs a machine that
 * counts instructions; in the lab every run counts the same number. */
#include "counted.h"
#include "harness.h"
#include "papi_rival.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS 4
#define CALLS  200

/* Limits that are promised, and checked in the lab. */
#define MOST_INSTRUCTIONS 260
#define MOST_OF_A_VISIT   800
#define LEAST_GAIN        8

static struct {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *set;
	int group;   /* leader of a raw group */
	int counter; /* counts instructions, in user space and in the kernel */
	struct ps_region *region;
} bench;

/* Opens a counter of the calling thread's instructions, including the kernel's unless
 * is_user_only. */
static int open_instructions(int group_fd, bool is_user_only)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_HW_INSTRUCTIONS,
	                               .exclude_kernel = is_user_only,
	                               .exclude_hv = is_user_only};

	if (is_user_only)
		attr.read_format = BENCH_FULL_FORMAT;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t read_counter(void)
{
	uint64_t value;

	if (read(bench.counter, &value, sizeof value) != (ssize_t)sizeof value)
		bench_die("the counter of instructions can't be read");
	return value;
}

/* Returns the instructions of a call: the least of many measurements, which no interrupt disturbed,
 * without those of reading the counter. */
static double instructions_of(void (*call)(void))
{
	uint64_t least = UINT64_MAX, nothing = UINT64_MAX;

	for (int i = 0; i < CALLS; i++) {
		uint64_t before = read_counter();
		uint64_t between = read_counter();
		call();
		uint64_t after = read_counter();
		if (between - before < nothing)
			nothing = between - before;
		if (after - between < least)
			least = after - between;
	}
	return (double)least - (double)nothing;
}

static void call_read(void)
{
	ps_read(bench.set, bench.root, NULL, NULL);
}

static void call_read_new(void)
{
	uint64_t timestamp = 0;

	ps_read(bench.set, bench.root, &timestamp, NULL);
}

static void call_accum(void)
{
	ps_accum(bench.set, bench.root, NULL, NULL);
}

static void call_visit(void)
{
	ps_region_enter(bench.region);
	ps_region_leave(bench.region);
}

static void call_group(void)
{
	uint64_t buffer[3 + 2 * EVENTS];

	if (read(bench.group, buffer, sizeof buffer) <= 0)
		bench_die("a group of instructions can't be read");
}

/* Opens four hardware events. A machine with fewer of the common ones counts instructions again, by
 * other names. */
static void open_set(void)
{
	static const char *const names[] = {"instructions:u", "cycles:u", "branch-misses:u",
	                                    "cache-misses:u", "r8:u",     "r08:u",
	                                    "r008:u",         "r0008:u"};

	bench_expect_ok(ps_eventset_create(&bench.set), "ps_eventset_create");
	for (size_t i = 0; ps_eventset_event_count(bench.set) < EVENTS; i++) {
		if (i == sizeof names / sizeof *names)
			bench_die("the hardware counts fewer than %d events", EVENTS);
		ps_eventset_add(bench.set, names[i]);
	}
	bench_expect_ok(ps_eventset_reserve(bench.set, 4 * CALLS), "ps_eventset_reserve");
	bench_expect_ok(ps_start(bench.set), "ps_start");
	bench_expect_ok(ps_read(bench.set, bench.root, NULL, NULL), "ps_read");
}

static void close_set(void)
{
	ps_eventset_destroy(bench.set);
	bench.set = NULL;
}

static void measure_raw(struct bench_figure *figure)
{
	int fds[EVENTS];

	for (int i = 0; i < EVENTS; i++) {
		fds[i] = open_instructions(i ? fds[0] : -1, true);
		if (fds[i] < 0)
			bench_die("perf_event_open of a group: %s", strerror(errno));
	}
	bench.group = fds[0];
	figure->value = instructions_of(call_group);
	for (int i = EVENTS; i-- > 0;)
		close(fds[i]);
}

/* Measures the read path that the kernel permits now, and returns it. */
static enum ps_read_path measure_set(struct bench_figure *update, struct bench_figure *appended,
                                     struct bench_figure *accum)
{
	open_set();
	enum ps_read_path path = ps_eventset_read_path(bench.set, NULL);
	update->value = instructions_of(call_read);
	appended->value = instructions_of(call_read_new);
	accum->value = instructions_of(call_accum);
	close_set();
	return path;
}

static void measure_visit(struct bench_figure *figure)
{
	struct ps_profile *profile;

	open_set();
	bench_expect_ok(ps_profile_create(&profile, bench.set, bench.root), "ps_profile_create");
	close_set();
	bench_expect_ok(ps_region_define(&bench.region, profile, "visit"), "ps_region_define");
	figure->value = instructions_of(call_visit);
	ps_profile_destroy(profile);
}

/* Permits or forbids reading counters in user space, for this measurement. Returns false if the
 * setting can't be changed. */
static bool instructions_permit(const char *setting)
{
	static const char *const files[] = {"/proc/sys/kernel/perf_user_access",
	                                    "/sys/bus/event_source/devices/cpu/rdpmc"};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		int fd = open(files[i], O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		bool is_set = write(fd, setting, 1) == 1;
		close(fd);
		return is_set;
	}
	return false;
}

/* Prints the result of a check; used in the lab. */
static int instructions_judge(const char *what, bool holds)
{
	printf("%s: bench_instructions: %s\n", holds ? "PASS" : "FAIL", what);
	return holds ? 0 : 1;
}

static int instructions_check(const struct bench_figure *user, const struct bench_figure *visit,
                              const struct bench_figure *raw, const struct bench_figure *papi)
{
	int failures = 0;

	if (!getenv("PS_LAB_SHAPE"))
		return 0;
	printf("lab: ps_read of %d hardware counters in user space: %.0f instructions; raw group "
	       "read(2) %.0f, PAPI_read %.0f\n",
	       EVENTS, user->value, raw->value, papi->value);
	failures += instructions_judge("ps_read in user space takes at most 260 instructions",
	                               user->value <= MOST_INSTRUCTIONS);
	failures +=
	    instructions_judge("ps_read in user space takes at most an eighth of PAPI_read's",
	                       papi->value > 0 && user->value * LEAST_GAIN <= papi->value);
	printf("lab: a visit of a region: %.0f instructions\n", visit->value);
	failures += instructions_judge("a visit in user space takes at most 800 instructions",
	                               visit->value > 0 && visit->value <= MOST_OF_A_VISIT);
	return failures ? 1 : 0;
}

/* Rows of the two read paths have names of their own. */
enum row {
	RAW,
	READ_USER,
	READ_NEW_USER,
	ACCUM_USER,
	VISIT_USER,
	READ_SYSCALL,
	READ_NEW_SYSCALL,
	ACCUM_SYSCALL,
	PAPI_READ,
	PAPI_ACCUM,
	ROWS
};

static struct bench_figure figures[ROWS] = {
    [RAW] = {.name = "raw", .events = EVENTS},
    [READ_USER] = {.name = "ps_read_user", .events = EVENTS, .versus = "raw"},
    [READ_NEW_USER] = {.name = "ps_read_new_user", .events = EVENTS, .versus = "raw"},
    [ACCUM_USER] = {.name = "ps_accum_user", .events = EVENTS, .versus = "ps_read_user"},
    [VISIT_USER] = {.name = "visit_user", .events = EVENTS, .versus = "ps_read_user"},
    [READ_SYSCALL] = {.name = "ps_read_syscall", .events = EVENTS, .versus = "raw"},
    [READ_NEW_SYSCALL] = {.name = "ps_read_new_syscall", .events = EVENTS, .versus = "raw"},
    [ACCUM_SYSCALL] = {.name = "ps_accum_syscall", .events = EVENTS, .versus = "ps_read_syscall"},
    [PAPI_READ] = {.name = "PAPI_read", .events = EVENTS, .versus = "ps_read_user"},
    [PAPI_ACCUM] = {.name = "PAPI_accum", .events = EVENTS, .versus = "ps_accum_user"},
};

static void measure_papi(void)
{
	const char *why = papi_rival_open_hardware(EVENTS);

	if (why) {
		fprintf(stderr, "PAPI: %s\n", why);
		return;
	}
	figures[PAPI_READ].value = instructions_of(papi_rival_read);
	figures[PAPI_ACCUM].value = instructions_of(papi_rival_accum);
	papi_rival_close();
}

/* Prints the figures that could be measured here. */
static void print_measured(void)
{
	struct bench_figure measured[ROWS];
	size_t count = 0;

	for (size_t row = 0; row < ROWS; row++) {
		if (figures[row].value > 0)
			measured[count++] = figures[row];
	}
	bench_print_figures("Instructions of a call, the kernel's among them", "instructions",
	                    measured, count);
}

int main(int argc, char **argv)
{
	bench_begin(argc, argv);
	bench.counter = open_instructions(-1, false);
	if (bench.counter < 0) {
		fprintf(stderr, "bench_instructions: no instructions are counted here: %s\n",
		        strerror(errno));
		return 0;
	}
	bench_expect_ok(ps_topology_load(&bench.topology, NULL), "ps_topology_load");
	bench.root = ps_topology_root(bench.topology);
	measure_raw(&figures[RAW]);
	bool may_switch = instructions_permit("0");
	if (may_switch)
		measure_set(&figures[READ_SYSCALL], &figures[READ_NEW_SYSCALL],
		            &figures[ACCUM_SYSCALL]);
	instructions_permit("1");
	bool is_user = measure_set(&figures[READ_USER], &figures[READ_NEW_USER],
	                           &figures[ACCUM_USER]) == PS_READ_PATH_USER;
	measure_visit(&figures[VISIT_USER]);
	measure_papi();
	if (!is_user)
		fprintf(stderr, "the kernel doesn't permit reading in user space: what is called "
		                "so was read by read(2)\n");
	print_measured();
	close(bench.counter);
	ps_topology_destroy(bench.topology);
	return instructions_check(&figures[READ_USER], &figures[VISIT_USER], &figures[RAW],
	                          &figures[PAPI_READ]);
}

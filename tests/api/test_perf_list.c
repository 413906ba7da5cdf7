/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All events that `perf list` shows for the software, msr, tracepoint and breakpoint PMUs of this
 * machine can be added by the name that perf gives them, started and stopped. An unprivileged user
 * gets those that the kernel permits, and for the others a code and a sentence.
 */

#include "here.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind {
	KIND_SOFTWARE,
	KIND_PMU,
	KIND_TRACEPOINT,
	KIND_BREAKPOINT,
	KIND_OTHER
};

struct tally {
	size_t tried[KIND_OTHER + 1], opened[KIND_OTHER + 1];
	size_t tracepoints; /* in the list */
	struct ps_topology *topology;
};

static bool runs_in_valgrind(void)
{
	return getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "vgpreload");
}

/* What stands in brackets at the end of a line. */
static enum kind kind_of(const char *line, const char *name)
{
	if (strstr(line, "[Software event]"))
		return KIND_SOFTWARE;
	if (strstr(line, "[Kernel PMU event]"))
		return !strncmp(name, "msr/", 4) || !strncmp(name, "software/", 9) ? KIND_PMU
		                                                                   : KIND_OTHER;
	if (strstr(line, "[Tracepoint event]"))
		return KIND_TRACEPOINT;
	return strstr(line, "[Hardware breakpoint]") ? KIND_BREAKPOINT : KIND_OTHER;
}

/* Root has the right only with CAP_PERFMON, which a container may take. */
static bool may_count_kernel(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_CONTEXT_SWITCHES};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What the kernel refuses to perf, too, isn't available, though perf shows it. */
static bool is_refused_to_perf(const char *name)
{
	char command[600];

	snprintf(command, sizeof command, "perf stat -e '%s' true >/dev/null 2>&1 </dev/null",
	         name);
	return system(command) != 0;
}

/*
 * The kernel waits some 50 ms when the last counter of a tracepoint is closed, and the library
 * opens it several times: one that is held meanwhile makes that one wait for each name. -1 if there
 * is none to hold.
 */
static int hold(const char *name)
{
	char path[512];
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_TRACEPOINT, .size = sizeof attr, .disabled = 1};
	const char *colon = strchr(name, ':');
	unsigned long long id;

	if (!colon)
		return -1;
	snprintf(path, sizeof path, "/sys/kernel/tracing/events/%.*s/%s/id", (int)(colon - name),
	         name, colon + 1);
	FILE *file = fopen(path, "r");
	if (!file)
		return -1;
	int found = fscanf(file, "%llu", &id);
	fclose(file);
	attr.config = id;
	return found == 1
	           ? (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)
	           : -1;
}

static int use(const char *name, struct tally *tally)
{
	struct ps_eventset *set;

	ck_assert_int_eq(ps_eventset_create(&set), PS_OK);
	ck_assert_int_eq(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU), PS_OK);
	int code = ps_eventset_add(set, name);
	if (code == PS_OK)
		code = ps_start(set);
	if (code == PS_OK)
		code = ps_stop(set, ps_topology_root(tally->topology), NULL, NULL);
	ps_eventset_destroy(set);
	return code;
}

/* The kernel takes some 45 ms to close a tracepoint, of which there are thousands: all are for
 * PS_TEST_ALL_NAMES, which the CI sets once. Sanitizers are for the code, which is the same for
 * each. */
static bool is_left_out(size_t number)
{
	const char *all = getenv("PS_TEST_ALL_NAMES");

	return (PS_TEST_HAS_SANITIZER || !all || !*all) && number % 16 != 0;
}

static void check_name(const char *name, enum kind kind, struct tally *tally)
{
	if (kind == KIND_TRACEPOINT && is_left_out(tally->tracepoints++))
		return;
	int held = kind == KIND_TRACEPOINT ? hold(name) : -1;
	int code = use(name, tally);
	if (held >= 0)
		close(held);
	tally->tried[kind]++;
	tally->opened[kind] += code == PS_OK;
	if (code == PS_OK)
		return;
	bool may_refuse = (code == PS_EPERM && (geteuid() != 0 || !may_count_kernel())) ||
	                  is_refused_to_perf(name);
	if (geteuid() == 0)
		printf("refused to perf, too: %s\n", ps_error_detail());
	ck_assert_msg(may_refuse, "'%s': %s: %s", name, ps_strerror(code), ps_error_detail());
	ck_assert_msg(strstr(ps_error_detail(), name) != NULL, "'%s': %s", name, ps_error_detail());
}

/* A line is "  name OR other name   [kind]", or a pattern of breakpoints, in which an address is
 * put. */
static void check_line(char *line, struct tally *tally)
{
	static volatile long target;
	char breakpoint[64], copy[1024];
	char *rest, *name = line;

	snprintf(copy, sizeof copy, "%s", line);
	name = strtok_r(line, " \n", &rest);
	if (!name)
		return;
	enum kind kind = kind_of(copy, name);
	if (kind == KIND_BREAKPOINT) {
		ck_assert_str_eq(name, "mem:<addr>[/len][:access]");
		snprintf(breakpoint, sizeof breakpoint, "mem:%#lx",
		         (unsigned long)(uintptr_t)&target);
		check_name(breakpoint, kind, tally);
		strcat(breakpoint, "/8");
		check_name(breakpoint, kind, tally);
		strcat(breakpoint, ":w");
		check_name(breakpoint, kind, tally);
		return;
	}
	for (; name && *name != '[' && kind != KIND_OTHER; name = strtok_r(NULL, " \n", &rest)) {
		if (strcmp(name, "OR") != 0)
			check_name(name, kind, tally);
	}
}

static bool check_all(struct tally *tally)
{
	char *line = NULL;
	size_t size = 0;
	FILE *list = popen("perf list </dev/null 2>/dev/null", "r");

	ck_assert_ptr_nonnull(list);
	while (getline(&line, &size, list) > 0)
		check_line(line, tally);
	free(line);
	int status = pclose(list);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

START_TEST(what_perf_list_shows_can_be_opened_by_perfs_names)
{
	struct tally tally = {.topology = NULL};

	if (runs_in_valgrind()) {
		ps_test_skip("thousands of events take too long in valgrind");
		return;
	}
	if (system("perf list >/dev/null 2>&1 </dev/null") != 0) {
		ps_test_skip("perf is not installed (Debian: linux-perf)");
		return;
	}
	ck_assert_int_eq(ps_topology_load(&tally.topology, NULL), PS_OK);
	ck_assert(check_all(&tally));
	ps_topology_destroy(tally.topology);
	printf("opened: %zu of %zu software, %zu of %zu PMU, %zu of %zu tracepoint, %zu of %zu "
	       "breakpoint events\n",
	       tally.opened[KIND_SOFTWARE], tally.tried[KIND_SOFTWARE], tally.opened[KIND_PMU],
	       tally.tried[KIND_PMU], tally.opened[KIND_TRACEPOINT], tally.tried[KIND_TRACEPOINT],
	       tally.opened[KIND_BREAKPOINT], tally.tried[KIND_BREAKPOINT]);
	ck_assert_uint_ge(tally.tried[KIND_SOFTWARE], 10);
	ck_assert_uint_gt(tally.opened[KIND_SOFTWARE], 0);
	if (access("/sys/kernel/tracing/events/sched", R_OK | X_OK) != 0) {
		ps_test_skip("tracepoints: tracefs is not mounted or not readable (mount -t "
		             "tracefs nodev /sys/kernel/tracing)");
		return;
	}
	ck_assert_uint_gt(tally.tracepoints, 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_list");
	TCase *tests = tcase_create("names");

	tcase_set_timeout(tests, 900);
	tcase_add_test(tests, what_perf_list_shows_can_be_opened_by_perfs_names);
	suite_add_tcase(suite, tests);
	return here_run_if_counted(suite);
}

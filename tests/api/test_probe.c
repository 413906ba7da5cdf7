/* SPDX-License-Identifier: BSD-3-Clause */
/* A probe on a function of this program counts its calls, as many as there were; who may not set
 * one is told why. */

#include "here.h"
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 1000

static volatile int sink;

__attribute__((noinline)) static void counted_function(void)
{
	sink++;
}

struct place {
	uintptr_t address;
	uintptr_t offset; /* in the file; 0: not found */
};

static int find_segment(struct dl_phdr_info *info, size_t size, void *context)
{
	struct place *place = context;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
		if (segment->p_type != PT_LOAD || place->address < begin ||
		    place->address >= begin + segment->p_memsz)
			continue;
		place->offset = place->address - begin + segment->p_offset;
		return 1;
	}
	return 0;
}

/* uprobe/path=this program,offset=counted_function.../ */
static const char *event_name(const char *more)
{
	static char name[PATH_MAX + 100];
	char path[PATH_MAX];
	struct place place = {.address = (uintptr_t)&counted_function};
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

	ck_assert_int_gt(length, 0);
	path[length] = '\0';
	dl_iterate_phdr(find_segment, &place);
	ck_assert_uint_ne(place.offset, 0);
	snprintf(name, sizeof name, "uprobe/path=%s,offset=%#lx,name=calls%s/", path,
	         (unsigned long)place.offset, more);
	return name;
}

static bool skip(const char *test, int code)
{
	if (getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "vgpreload")) {
		ps__test_skip(test,
		              "valgrind runs a translation of the program, which has no probes");
		return true;
	}
	if (access("/sys/bus/event_source/devices/uprobe/type", F_OK) != 0) {
		ps__test_skip(test, "this kernel has no uprobe PMU (CONFIG_UPROBE_EVENTS)");
		return true;
	}
	if (code == PS_EPERM) {
		ps__test_skip(test, "probes need CAP_PERFMON");
		return true;
	}
	return false;
}

static void count_calls(const char *test, const char *more)
{
	struct ps_topology *topology;
	struct ps_eventset *set;
	struct ps_value calls;

	ck_assert_int_eq(ps_topology_load(&topology, NULL), PS_OK);
	ck_assert_int_eq(ps_eventset_create(&set), PS_OK);
	int code = ps_eventset_add(set, event_name(more));
	if (!skip(test, code)) {
		ck_assert_msg(code == PS_OK, "%s", ps_error_detail());
		ck_assert_int_eq(ps_eventset_add(set, "page-faults"), PS_OK);
		ck_assert_int_eq(ps_start(set), PS_OK);
		for (int i = 0; i < CALLS; i++)
			counted_function();
		ck_assert_int_eq(ps_stop(set, ps_topology_root(topology), NULL, NULL), PS_OK);
		ck_assert_int_eq(ps_component_total(ps_topology_root(topology), "calls", &calls),
		                 PS_OK);
		ck_assert_int_eq(calls.value, CALLS);
		ck_assert_int_eq(calls.status, PS_STATUS_COUNTED);
	}
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}

START_TEST(a_uprobe_counts_the_calls_of_a_function)
{
	count_calls(__func__, "");
}
END_TEST

START_TEST(a_return_probe_counts_the_returns)
{
	count_calls(__func__, ",retprobe");
}
END_TEST

/* The event's text must outlive the model that it was cloned from. */
START_TEST(a_clone_counts_when_its_model_is_gone)
{
	struct ps_topology *topology;
	struct ps_eventset *model, *set;
	struct ps_value calls;

	ck_assert_int_eq(ps_eventset_create(&model), PS_OK);
	int code = ps_eventset_add(model, event_name(""));
	if (!skip(__func__, code)) {
		ck_assert_int_eq(ps_topology_load(&topology, NULL), PS_OK);
		ck_assert_int_eq(ps_eventset_clone(&set, model), PS_OK);
		ps_eventset_destroy(model);
		model = NULL;
		ck_assert_int_eq(ps_start(set), PS_OK);
		counted_function();
		ck_assert_int_eq(ps_stop(set, ps_topology_root(topology), NULL, NULL), PS_OK);
		ck_assert_int_eq(ps_component_total(ps_topology_root(topology), "calls", &calls),
		                 PS_OK);
		ck_assert_int_eq(calls.value, 1);
		ps_eventset_destroy(set);
		ps_topology_destroy(topology);
	}
	ps_eventset_destroy(model);
}
END_TEST

/* In a child that has given its privileges up: 0 if it is refused with words that help. */
static int try_as_user(void)
{
	struct ps_eventset *set;

	if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
		return 1;
	if (ps_eventset_create(&set) != PS_OK || ps_eventset_add(set, event_name("")) != PS_EPERM)
		return 2;
	return strstr(ps_error_detail(), "CAP_PERFMON") ? 0 : 3;
}

START_TEST(an_unprivileged_user_is_told_what_is_missing)
{
	int status = -1;

	if (skip(__func__, PS_OK))
		return;
	pid_t child = fork();
	if (child == 0)
		_exit(try_as_user());
	waitpid(child, &status, 0);
	ck_assert_msg(status == 0, "status %#x", (unsigned)status);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("probe");
	TCase *tests = tcase_create("probes");

	tcase_add_test(tests, a_uprobe_counts_the_calls_of_a_function);
	tcase_add_test(tests, a_return_probe_counts_the_returns);
	tcase_add_test(tests, a_clone_counts_when_its_model_is_gone);
	tcase_add_test(tests, an_unprivileged_user_is_told_what_is_missing);
	suite_add_tcase(suite, tests);
	return here_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Visits that are left in their midst by siglongjmp out of a handler, while a timer goes: the
 * thread goes on being counted, and what its paths have is what the tree has. Real events, real
 * signals. And a handler that returns is not taken for one that has left a visit.
 */
#include "here.h"
#include "storm.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENT      "page-faults"
#define JUMPS      300
#define MOST_PAGES 400000
#define OWN_FAULTS 2000

static struct ps_profile *profile;
static struct ps_region *outer, *inner;
static char *memory;
static volatile size_t touched;

static void visit_until_jumped(size_t page_bytes)
{
	while (storm_jumps < JUMPS && touched < MOST_PAGES) {
		storm_let_jump();
		ps_region_enter(outer);
		ps_region_enter(inner);
		memory[touched * page_bytes] = 1;
		touched++;
		ps_region_leave(inner);
		ps_region_leave(outer);
		storm_may_jump = 0;
	}
}

static void begin(enum ps_attribution_mode mode, size_t page_bytes)
{
	struct ps_eventset *model;

	check_ok(ps_eventset_create(&model));
	check_ok(ps_eventset_add(model, EVENT));
	check_ok(ps_eventset_set_attribution(model, mode));
	check_ok(ps_profile_create(&profile, model, here.root));
	ps_eventset_destroy(model);
	check_ok(ps_region_define(&outer, profile, "outer"));
	check_ok(ps_region_define(&inner, profile, "inner"));
	memory = mmap(NULL, MOST_PAGES * page_bytes, PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	madvise(memory, MOST_PAGES * page_bytes, MADV_NOHUGEPAGE);
	check_ok(ps_profile_join(profile));
	touched = 0;
	storm_jumps = 0;
}

/* What is counted twice or not at all is told: it is no more than one page each time. */
static void check_counts(void)
{
	struct ps_profile_faults faults = {.size = sizeof faults};
	struct ps_visits visits = {.size = sizeof visits};
	struct ps_value all, tree;
	struct ps_paths *paths = NULL;
	const char *name = "outer";

	check_ok(ps_profile_leave(profile));
	check_ok(ps_profile_faults(profile, &faults));
	check_ok(ps_paths_create(&paths, profile));
	check_ok(ps_path_value(ps_paths_root(paths), here.root, EVENT, PS_SHARE_INCLUSIVE, &all));
	check_ok(ps_path_visits(ps_path_find(ps_paths_root(paths), &name, 1), &visits));
	check_ok(ps_component_total(here.root, EVENT, &tree));
	printf(
	    "%d jumps, %zu pages, %lld in the paths, %lld in the tree; %llu visits, %llu failed, "
	    "%llu in a handler\n",
	    (int)storm_jumps, (size_t)touched, all.value, tree.value,
	    (unsigned long long)visits.count, (unsigned long long)faults.failed,
	    (unsigned long long)faults.in_handler);
	ck_assert_uint_eq(faults.in_handler, 0);
	ck_assert_int_le(llabs(all.value - tree.value), 2 * (long long)faults.failed);
	if (faults.failed)
		ck_assert_uint_ne(all.flags & PS_VALUE_INTERRUPTED, 0);
	ck_assert_int_ge(tree.value, (long long)touched);
	ck_assert(PS_TEST_HAS_SANITIZER || tree.value <= (long long)touched + OWN_FAULTS);
	ck_assert_uint_ge(visits.count + (uint64_t)storm_jumps, touched);
	ps_paths_destroy(paths);
}

START_TEST(a_thread_whose_visits_are_left_is_counted_on)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (!here_may_count(EVENT))
		return;
	begin(here_modes[_i], page_bytes);
	if (sigsetjmp(storm_back, 1) == 0)
		storm_begin();
	else
		check_ok(ps_region_close(profile, 0));
	visit_until_jumped(page_bytes);
	storm_end();
	check_counts();
	ps_profile_destroy(profile);
	munmap(memory, MOST_PAGES * page_bytes);
}
END_TEST

static volatile sig_atomic_t refusals, failures;

static void visit_in_handler(int number)
{
	(void)number;
	int entered = ps_region_enter(inner);
	int left = entered == PS_OK ? ps_region_leave(inner) : entered;

	refusals += entered == PS_ECNFLCT;
	failures += left != PS_OK && left != PS_ECNFLCT;
}

/* It returns to the visit that it interrupted. */
static void visit_until_refused(void)
{
	struct sigaction action = {.sa_handler = visit_in_handler, .sa_flags = SA_ONSTACK};
	struct ps_profile_faults faults = {.size = sizeof faults};
	struct ps_visits visits = {.size = sizeof visits};
	struct ps_paths *paths = NULL;
	const char *name = "outer";
	uint64_t visited = 1;

	begin(PS_ATTRIBUTE_AUTO, (size_t)sysconf(_SC_PAGESIZE));
	/* The handler's paths are made here: that takes memory. */
	check_ok(ps_region_enter(inner));
	check_ok(ps_region_leave(inner));
	check_ok(ps_region_enter(outer));
	check_ok(ps_region_enter(inner));
	check_ok(ps_region_leave(inner));
	check_ok(ps_region_leave(outer));
	refusals = failures = 0;
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	storm_set_timer(100);
	for (; refusals < 20 && visited < MOST_PAGES; visited++) {
		check_ok(ps_region_enter(outer));
		check_ok(ps_region_leave(outer));
	}
	storm_end();
	ck_assert_int_eq(failures, 0);
	ck_assert_int_gt(refusals, 0);
	check_ok(ps_profile_leave(profile));
	check_ok(ps_profile_faults(profile, &faults));
	ck_assert_uint_eq(faults.in_handler, (uint64_t)refusals);
	ck_assert_uint_eq(faults.unmatched + faults.left_open + faults.failed, 0);
	check_ok(ps_paths_create(&paths, profile));
	check_ok(ps_path_visits(ps_path_find(ps_paths_root(paths), &name, 1), &visits));
	ck_assert_uint_eq(visits.count, visited);
	ps_paths_destroy(paths);
}

START_TEST(a_handler_on_a_stack_with_ss_autodisarm_leaves_no_visit)
{
	if (!here_may_count(EVENT))
		return;
	storm_run_disarmed(visit_until_refused);
	ps_profile_destroy(profile);
	munmap(memory, MOST_PAGES * (size_t)sysconf(_SC_PAGESIZE));
}
END_TEST

int main(void)
{
	if (ps_test_is_in_valgrind()) {
		ps_test_skip("valgrind delays signals, and has page faults of its own in the "
		             "counted thread");
		return EXIT_SUCCESS;
	}
	if (PS_TEST_HAS_THREAD_SANITIZER) {
		ps_test_skip("ThreadSanitizer calls handlers itself, in the midst of a call");
		return EXIT_SUCCESS;
	}
	Suite *suite = suite_create("region_jump");
	TCase *tests = here_case(suite, "jumps");

	tcase_add_loop_test(tests, a_thread_whose_visits_are_left_is_counted_on, 0, HERE_MODES);
	tcase_add_test(tests, a_handler_on_a_stack_with_ss_autodisarm_leaves_no_visit);
	return here_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that refuses what hwloc can't do without: loading this machine fails with a sentence,
 * and doesn't hang. */
#include "support/scene.h"

#include <errno.h>

/* hwloc would ask for ever. */
START_TEST(a_machine_that_does_not_tell_the_affinity_is_refused_with_a_sentence)
{
	static const int errors[] = {EPERM, EACCES, ENOSYS};
	struct ps_topology *topology = NULL;

	for (size_t i = 0; i < 3; i++) {
		fake_fail_always(FAKE_GETAFFINITY, errors[i]);
		check_fails(ps_topology_load(&topology, NULL),
		            errors[i] == ENOSYS ? PS_ESYS : PS_EPERM);
		check_detail("sched_getaffinity");
		check_detail(strerror(errors[i]));
		ck_assert_ptr_null(topology);
	}
}
END_TEST

/* hwloc would find a machine without NUMA nodes. */
START_TEST(without_free_descriptors_no_machine_is_guessed)
{
	struct ps_topology *topology = NULL;

	fake_file("/", "");
	for (unsigned nth = 1; nth <= 3; nth++) {
		unsigned closed = fake_count(FAKE_CLOSE);
		fake_fail(FAKE_OPEN, nth, nth == 2 ? ENFILE : EMFILE);
		check_fails(ps_topology_load(&topology, NULL), PS_ECOUNT);
		check_detail("hwloc needs 3 free file descriptors");
		ck_assert_ptr_null(topology);
		ck_assert_uint_eq(fake_count(FAKE_CLOSE) - closed, nth - 1);
	}
	check_ok(ps_topology_load(&topology, NULL));
	ps_topology_destroy(topology);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("topology_refused");
	TCase *tests = scene_case(suite, "refused");

	tcase_add_test(tests, a_machine_that_does_not_tell_the_affinity_is_refused_with_a_sentence);
	tcase_add_test(tests, without_free_descriptors_no_machine_is_guessed);
	return scene_run(suite);
}

# SPDX-License-Identifier: BSD-3-Clause
# The PMU lab. Its tests are built only by cross builds (make lab-programs), and run in an emulated guest.
# Makefile.am sets EXTRA_DIST, CLEANFILES and public_cppflags before it includes this file.

lab_tests = \
	tests/lab/tests/test_lab_cycles \
	tests/lab/tests/test_lab_diagnose \
	tests/lab/tests/test_lab_exact \
	tests/lab/tests/test_lab_exact_cost \
	tests/lab/tests/test_lab_exact_disturbed \
	tests/lab/tests/test_lab_hotplug \
	tests/lab/tests/test_lab_loop \
	tests/lab/tests/test_lab_methods \
	tests/lab/tests/test_lab_multiplex \
	tests/lab/tests/test_lab_region \
	tests/lab/tests/test_lab_session \
	tests/lab/tests/test_lab_stat \
	tests/lab/tests/test_lab_threads \
	tests/lab/tests/test_lab_topology \
	tests/lab/tests/test_lab_turns \
	tests/lab/tests/test_lab_unschedulable \
	tests/lab/tests/test_lab_user
if HAVE_PAPI
lab_tests += tests/lab/tests/test_lab_papi
endif
# A test with a wrong expectation: the lab uses it to prove that it notices a failure.
lab_wrong = tests/lab/tests/wrong_loop

EXTRA_PROGRAMS = $(lab_tests) $(lab_wrong)
EXTRA_LTLIBRARIES = tests/lab/tests/liblab.la
CLEANFILES += $(EXTRA_PROGRAMS) $(EXTRA_LTLIBRARIES)
EXTRA_DIST += \
	tests/lab/build.sh \
	tests/lab/check.sh \
	tests/lab/fetch \
	tests/lab/guest.sh \
	tests/lab/host.sh \
	tests/lab/init \
	tests/lab/lab \
	tests/lab/shapes

# The tests use only the public headers. Their calls are bound at load: binding them later would be counted as instructions.
lab_cppflags = -D_GNU_SOURCE -I$(top_srcdir)/tests $(public_cppflags)
lab_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
lab_libs = tests/lab/tests/liblab.la libperfsage.la $(CHECK_LIBS) -lm
lab_ldflags = $(AM_LDFLAGS) -Wl,-z,now

tests_lab_tests_liblab_la_SOURCES = tests/lab/tests/lab.c tests/lab/tests/lab.h
tests_lab_tests_liblab_la_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_liblab_la_CFLAGS = $(lab_cflags)

tests_lab_tests_test_lab_cycles_SOURCES = tests/lab/tests/test_lab_cycles.c
tests_lab_tests_test_lab_cycles_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_cycles_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_cycles_LDADD = $(lab_libs)
tests_lab_tests_test_lab_cycles_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_diagnose_SOURCES = tests/lab/tests/test_lab_diagnose.c
tests_lab_tests_test_lab_diagnose_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_diagnose_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_diagnose_LDADD = $(lab_libs)
tests_lab_tests_test_lab_diagnose_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_exact_SOURCES = tests/lab/tests/test_lab_exact.c
tests_lab_tests_test_lab_exact_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_exact_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_exact_LDADD = $(lab_libs)
tests_lab_tests_test_lab_exact_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_exact_cost_SOURCES = tests/lab/tests/test_lab_exact_cost.c
tests_lab_tests_test_lab_exact_cost_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_exact_cost_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_exact_cost_LDADD = $(lab_libs)
tests_lab_tests_test_lab_exact_cost_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_exact_disturbed_SOURCES = tests/lab/tests/test_lab_exact_disturbed.c
tests_lab_tests_test_lab_exact_disturbed_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_exact_disturbed_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_exact_disturbed_LDADD = $(lab_libs)
tests_lab_tests_test_lab_exact_disturbed_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_hotplug_SOURCES = tests/lab/tests/test_lab_hotplug.c
tests_lab_tests_test_lab_hotplug_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_hotplug_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_hotplug_LDADD = $(lab_libs)
tests_lab_tests_test_lab_hotplug_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_loop_SOURCES = tests/lab/tests/test_lab_loop.c
tests_lab_tests_test_lab_loop_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_loop_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_loop_LDADD = $(lab_libs)
tests_lab_tests_test_lab_loop_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_methods_SOURCES = tests/lab/tests/test_lab_methods.c
tests_lab_tests_test_lab_methods_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_methods_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_methods_LDADD = $(lab_libs)
tests_lab_tests_test_lab_methods_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_multiplex_SOURCES = tests/lab/tests/test_lab_multiplex.c
tests_lab_tests_test_lab_multiplex_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_multiplex_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_multiplex_LDADD = $(lab_libs)
tests_lab_tests_test_lab_multiplex_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_region_SOURCES = tests/lab/tests/test_lab_region.c
tests_lab_tests_test_lab_region_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_region_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_region_LDADD = $(lab_libs)
tests_lab_tests_test_lab_region_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_session_SOURCES = tests/lab/tests/test_lab_session.c
tests_lab_tests_test_lab_session_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_session_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_session_LDADD = $(lab_libs)
tests_lab_tests_test_lab_session_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_stat_SOURCES = tests/lab/tests/test_lab_stat.c
tests_lab_tests_test_lab_stat_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_stat_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_stat_LDADD = $(lab_libs)
tests_lab_tests_test_lab_stat_LDFLAGS = $(lab_ldflags)
tests_lab_tests_test_lab_papi_SOURCES = tests/lab/tests/test_lab_papi.c
tests_lab_tests_test_lab_papi_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_papi_CFLAGS = $(lab_cflags) $(PAPI_CFLAGS)
tests_lab_tests_test_lab_papi_LDADD = $(lab_libs) $(PAPI_LIBS)
tests_lab_tests_test_lab_papi_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_threads_SOURCES = tests/lab/tests/test_lab_threads.c
tests_lab_tests_test_lab_threads_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_threads_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_threads_LDADD = $(lab_libs)
tests_lab_tests_test_lab_threads_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_turns_SOURCES = tests/lab/tests/test_lab_turns.c
tests_lab_tests_test_lab_turns_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_turns_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_turns_LDADD = $(lab_libs)
tests_lab_tests_test_lab_turns_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_topology_SOURCES = tests/lab/tests/test_lab_topology.c
tests_lab_tests_test_lab_topology_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_topology_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_topology_LDADD = $(lab_libs)
tests_lab_tests_test_lab_topology_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_unschedulable_SOURCES = tests/lab/tests/test_lab_unschedulable.c
tests_lab_tests_test_lab_unschedulable_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_unschedulable_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_unschedulable_LDADD = $(lab_libs)
tests_lab_tests_test_lab_unschedulable_LDFLAGS = $(lab_ldflags)

tests_lab_tests_test_lab_user_SOURCES = tests/lab/tests/test_lab_user.c
tests_lab_tests_test_lab_user_CPPFLAGS = $(lab_cppflags)
tests_lab_tests_test_lab_user_CFLAGS = $(lab_cflags)
tests_lab_tests_test_lab_user_LDADD = $(lab_libs)
tests_lab_tests_test_lab_user_LDFLAGS = $(lab_ldflags)

tests_lab_tests_wrong_loop_SOURCES = tests/lab/tests/test_lab_loop.c
tests_lab_tests_wrong_loop_CPPFLAGS = $(lab_cppflags) -DPS_LAB_WRONG
tests_lab_tests_wrong_loop_CFLAGS = $(lab_cflags)
tests_lab_tests_wrong_loop_LDADD = $(lab_libs)
tests_lab_tests_wrong_loop_LDFLAGS = $(lab_ldflags)

lab-programs: $(EXTRA_PROGRAMS)

# It has its own cross build, so it needs nothing of this one, and must not inherit this make's MAKEFLAGS.
check-lab:
	MAKEFLAGS= $(top_srcdir)/tests/lab/lab check

.PHONY: check-lab lab-programs

# SPDX-License-Identifier: BSD-3-Clause
# Tests of the shared library as a user sees it: they link nothing else of perfsage.
api_tests = \
	tests/api/test_attr \
	tests/api/test_bound \
	tests/api/test_bpf \
	tests/api/test_bpf_busy \
	tests/api/test_cancel \
	tests/api/test_cgroup \
	tests/api/test_closed \
	tests/api/test_counter \
	tests/api/test_exact \
	tests/api/test_exact_limits \
	tests/api/test_exact_process \
	tests/api/test_exact_tid \
	tests/api/test_fork \
	tests/api/test_jump \
	tests/api/test_log \
	tests/api/test_log_left \
	tests/api/test_visit_log \
	tests/api/test_malloc \
	tests/api/test_marks \
	tests/api/test_collect_start \
	tests/api/test_mixed \
	tests/api/test_perf_list \
	tests/api/test_prctl \
	tests/api/test_probe \
	tests/api/test_process_churn \
	tests/api/test_rebound \
	tests/api/test_record \
	tests/api/test_region \
	tests/api/test_region_jump \
	tests/api/test_region_running \
	tests/api/test_sampler \
	tests/api/test_sampler_breakpoint \
	tests/api/test_sampler_tasks \
	tests/api/test_session \
	tests/api/test_session_descriptors \
	tests/api/test_session_threads \
	tests/api/test_snapshot \
	tests/api/test_step \
	tests/api/test_step_log \
	tests/api/test_step_moves \
	tests/api/test_step_regions \
	tests/api/test_teams \
	tests/api/test_truth \
	tests/api/test_uncounted \
	tests/api/test_user \
	tests/api/test_values

if HAVE_PAPI
api_tests += tests/api/test_papi tests/api/test_papi_malloc tests/api/test_papi_targets
else
api_tests += tests/api/test_papi_absent
endif

# Helpers that the tests share; each program links those that it uses.
if HAVE_CHECK
check_LTLIBRARIES += tests/api/libhere.la
endif
tests_api_libhere_la_SOURCES = tests/api/actor.c tests/api/actor.h tests/api/here.c tests/api/here.h tests/api/storm.c tests/api/storm.h \
	tests/api/wander.c tests/api/wander.h
tests_api_libhere_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
api_libs = tests/api/libhere.la libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_attr_LDADD = $(api_libs)
tests_api_test_bound_LDADD = $(api_libs)
tests_api_test_bpf_LDADD = $(api_libs)
tests_api_test_bpf_busy_LDADD = $(api_libs)
EXTRA_DIST += tests/api/bpf_here.h
tests_api_test_cancel_LDADD = $(api_libs)
tests_api_test_cgroup_LDADD = $(api_libs)
tests_api_test_closed_LDADD = $(api_libs)
tests_api_test_counter_LDADD = $(api_libs)
tests_api_test_exact_LDADD = $(api_libs)
tests_api_test_exact_limits_LDADD = $(api_libs)
tests_api_test_exact_process_LDADD = $(api_libs)
tests_api_test_exact_tid_LDADD = $(api_libs)
tests_api_test_fork_LDADD = $(api_libs)
tests_api_test_jump_LDADD = $(api_libs)
tests_api_test_log_LDADD = $(api_libs)
tests_api_test_log_left_LDADD = $(api_libs)
tests_api_test_visit_log_LDADD = $(api_libs)
tests_api_test_mixed_LDADD = $(api_libs)
EXTRA_DIST += tests/api/log_here.h

# The program's own malloc replaces the C library's, so it must be visible to the shared library.
tests_api_test_malloc_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_api_test_malloc_SOURCES = tests/api/test_malloc.c tests/api/count_malloc.c tests/api/count_malloc.h
tests_api_test_malloc_LDADD = $(api_libs)

papi_here = tests/api/papi_here.c tests/api/papi_here.h tests/support/papi_pmu.c tests/support/papi_pmu.h
tests_api_test_papi_SOURCES = tests/api/test_papi.c $(papi_here)
tests_api_test_papi_CFLAGS = $(AM_CFLAGS) $(PAPI_CFLAGS)
tests_api_test_papi_LDADD = $(api_libs) $(PAPI_LIBS) -ldl

tests_api_test_papi_absent_LDADD = $(api_libs)

tests_api_test_papi_malloc_SOURCES = tests/api/test_papi_malloc.c $(papi_here) \
	tests/api/count_malloc.c tests/api/count_malloc.h
tests_api_test_papi_malloc_CFLAGS = $(AM_CFLAGS) $(PAPI_CFLAGS) -fvisibility=default
tests_api_test_papi_malloc_LDADD = $(api_libs) $(PAPI_LIBS) -ldl

tests_api_test_papi_targets_SOURCES = tests/api/test_papi_targets.c $(papi_here)
tests_api_test_papi_targets_CFLAGS = $(AM_CFLAGS) $(PAPI_CFLAGS)
tests_api_test_papi_targets_LDADD = $(api_libs) $(PAPI_LIBS) -ldl

# A shared object that a test loads.
if HAVE_CHECK
check_LTLIBRARIES += tests/api/loaded_marks.la
endif
tests_api_loaded_marks_la_SOURCES = tests/api/loaded_marks.c
tests_api_loaded_marks_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_api_loaded_marks_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
tests_api_test_marks_LDADD = $(api_libs) -ldl

tests_api_test_collect_start_LDADD = $(api_libs)
tests_api_test_perf_list_LDADD = $(api_libs)
tests_api_test_prctl_LDADD = $(api_libs)
tests_api_test_probe_LDADD = $(api_libs)
tests_api_test_process_churn_LDADD = $(api_libs)
tests_api_test_rebound_LDADD = $(api_libs)
tests_api_test_record_LDADD = $(api_libs)
tests_api_test_region_LDADD = $(api_libs)
tests_api_test_region_jump_LDADD = $(api_libs)
tests_api_test_region_running_LDADD = $(api_libs)
tests_api_test_sampler_LDADD = $(api_libs)
tests_api_test_sampler_breakpoint_LDADD = $(api_libs)
tests_api_test_sampler_tasks_LDADD = $(api_libs)
EXTRA_DIST += tests/api/sampler_here.h
tests_api_test_session_LDADD = $(api_libs)
tests_api_test_session_descriptors_LDADD = $(api_libs)
tests_api_test_session_threads_LDADD = $(api_libs)
EXTRA_DIST += tests/api/session_here.h
tests_api_test_snapshot_LDADD = $(api_libs)
tests_api_test_step_LDADD = $(api_libs)
tests_api_test_step_log_LDADD = $(api_libs)
tests_api_test_step_moves_LDADD = $(api_libs)
tests_api_test_step_regions_LDADD = $(api_libs)
tests_api_test_teams_LDADD = $(api_libs)
tests_api_test_truth_LDADD = $(api_libs)
tests_api_test_uncounted_LDADD = $(api_libs)
tests_api_test_user_LDADD = $(api_libs)
tests_api_test_values_LDADD = $(api_libs)

# SPDX-License-Identifier: BSD-3-Clause
# What a user of the shared library sees: these link nothing else of perfsage.
api_tests = \
	tests/api/test_cancel \
	tests/api/test_cgroup \
	tests/api/test_closed \
	tests/api/test_exact \
	tests/api/test_exact_limits \
	tests/api/test_exact_process \
	tests/api/test_exact_tid \
	tests/api/test_fork \
	tests/api/test_jump \
	tests/api/test_malloc \
	tests/api/test_perf_list \
	tests/api/test_prctl \
	tests/api/test_probe \
	tests/api/test_rebound \
	tests/api/test_step \
	tests/api/test_teams \
	tests/api/test_truth \
	tests/api/test_uncounted \
	tests/api/test_user

if HAVE_PAPI
api_tests += tests/api/test_papi tests/api/test_papi_malloc tests/api/test_papi_targets
else
api_tests += tests/api/test_papi_absent
endif

tests_api_test_cancel_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_cgroup_SOURCES = tests/api/test_cgroup.c tests/api/wander.c tests/api/wander.h
tests_api_test_cgroup_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_closed_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_exact_SOURCES = tests/api/test_exact.c tests/api/wander.c tests/api/wander.h
tests_api_test_exact_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_exact_limits_SOURCES = tests/api/test_exact_limits.c tests/api/wander.c tests/api/wander.h
tests_api_test_exact_limits_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_exact_process_SOURCES = tests/api/test_exact_process.c tests/api/wander.c tests/api/wander.h
tests_api_test_exact_process_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_exact_tid_SOURCES = tests/api/test_exact_tid.c tests/api/wander.c tests/api/wander.h
tests_api_test_exact_tid_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_fork_SOURCES = tests/api/test_fork.c tests/api/wander.c tests/api/wander.h
tests_api_test_fork_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_jump_LDADD = libperfsage.la $(CHECK_LIBS) -lm

# Its own malloc comes before the C library's, so it must be seen by the shared library.
tests_api_test_malloc_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_api_test_malloc_SOURCES = tests/api/test_malloc.c tests/api/count_malloc.c tests/api/count_malloc.h
tests_api_test_malloc_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_papi_SOURCES = tests/api/test_papi.c tests/api/papi_here.c tests/api/papi_here.h
tests_api_test_papi_CFLAGS = $(AM_CFLAGS) $(PAPI_CFLAGS)
tests_api_test_papi_LDADD = libperfsage.la $(PAPI_LIBS) -ldl $(CHECK_LIBS) -lm

tests_api_test_papi_absent_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_papi_malloc_SOURCES = tests/api/test_papi_malloc.c tests/api/papi_here.c tests/api/papi_here.h \
	tests/api/count_malloc.c tests/api/count_malloc.h
tests_api_test_papi_malloc_CFLAGS = $(AM_CFLAGS) $(PAPI_CFLAGS) -fvisibility=default
tests_api_test_papi_malloc_LDADD = libperfsage.la $(PAPI_LIBS) -ldl $(CHECK_LIBS) -lm

tests_api_test_papi_targets_SOURCES = tests/api/test_papi_targets.c tests/api/papi_here.c tests/api/papi_here.h
tests_api_test_papi_targets_CFLAGS = $(AM_CFLAGS) $(PAPI_CFLAGS)
tests_api_test_papi_targets_LDADD = libperfsage.la $(PAPI_LIBS) -ldl $(CHECK_LIBS) -lm

tests_api_test_perf_list_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_prctl_SOURCES = tests/api/test_prctl.c tests/api/wander.c tests/api/wander.h
tests_api_test_prctl_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_probe_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_rebound_SOURCES = tests/api/test_rebound.c tests/api/wander.c tests/api/wander.h
tests_api_test_rebound_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_step_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_teams_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_truth_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_uncounted_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_user_LDADD = libperfsage.la $(CHECK_LIBS) -lm

# SPDX-License-Identifier: BSD-3-Clause
# Unit tests reach hidden code through the layers' libraries; API tests see only the shared library.
# Each test prints what it checked, and tests/scripts/totals adds it up.

script_tests = \
	tests/scripts/check-layers \
	tests/scripts/check-symbols \
	tests/scripts/check-cffi \
	tests/scripts/check-fortran \
	tests/scripts/check-headers \
	tests/scripts/check-marks \
	tests/scripts/check-sizes \
	tests/scripts/check-words \
	tests/scripts/check-format \
	tests/scripts/check-docs \
	tests/scripts/check-examples \
	tests/scripts/check-export \
	tests/scripts/check-install \
	tests/scripts/check-quickstart \
	tests/scripts/check-totals

include tests/unit/local.mk
include tests/api/local.mk
include tests/lab/local.mk
include tests/machines/local.mk
include tests/tool/local.mk

# private: libraries that tests need are still made by libtool itself.
$(check_PROGRAMS): private LIBTOOL = $(SHELL) $(srcdir)/tests/link

if HAVE_CHECK
check_PROGRAMS += $(unit_tests) $(api_tests)
# The longest test comes first, so that the others run at the same time.
TESTS += tests/tool/without-memory $(unit_tests) $(api_tests) $(script_tests) $(tool_tests)
endif

EXTRA_DIST += $(script_tests) tests/scripts/totals tests/scripts/formulas.py tests/scripts/fortran.f90 tests/scripts/fortran.awk tests/scripts/perf_metrics.py tests/scripts/perf_metrics.c tests/scripts/slowdown.py tests/link tests/scripts/common.sh tests/scripts/validate.py tests/valgrind.supp tests/fixtures tests/golden

# For all tests. Check's limit of 4 seconds per test is too short on a busy machine. hwloc searches for its plugins of graphics
# and PCI cards whenever it has no topology, which took most of the time of suites that load many topologies.
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	CC='$(CC)'; export CC; \
	CFLAGS='$(CFLAGS) $(SANITIZER_CFLAGS)'; export CFLAGS; \
	NM='$(NM)'; export NM; \
	MAKE='$(MAKE)'; export MAKE; \
	EXAMPLES='$(examples_programs) $(fortran_examples)'; export EXAMPLES; \
	WITHOUT_OPENMP="$(ps_without_openmp)"; export WITHOUT_OPENMP; \
	WITHOUT_PAPI="$(ps_without_papi)"; export WITHOUT_PAPI; \
	FC='$(FC)'; export FC; \
	FCFLAGS='$(FCFLAGS)'; export FCFLAGS; \
	FC_OPENMP='$(FC_OPENMP)'; export FC_OPENMP; \
	WITHOUT_FORTRAN="$(ps_without_fortran)"; export WITHOUT_FORTRAN; \
	SANITIZERS='$(SANITIZER_CFLAGS)'; export SANITIZERS; \
	CK_DEFAULT_TIMEOUT="$${CK_DEFAULT_TIMEOUT-120}"; export CK_DEFAULT_TIMEOUT; \
	HWLOC_PLUGINS_PATH="$${HWLOC_PLUGINS_PATH-/nonexistent}"; export HWLOC_PLUGINS_PATH; \
	ASAN_OPTIONS="$${ASAN_OPTIONS-detect_leaks=1}"; export ASAN_OPTIONS;

# Replaces automake's target of this name: the totals are always printed last, and the status is kept.
check-TESTS:
if HAVE_CHECK
	@rm -f $(TEST_LOGS) $(TEST_LOGS:.log=.trs) $(TEST_SUITE_LOG); \
	status=0; \
	$(MAKE) $(AM_MAKEFLAGS) $(TEST_SUITE_LOG) || status=1; \
	$(top_srcdir)/tests/scripts/totals $(TEST_LOGS) || status=1; \
	exit $$status
else
	@echo 'make check needs the Check library: Debian: check; Fedora: check-devel; Spack: check. Then configure again.' >&2
	@exit 1
endif

# Builds everything that make check runs, without running it, for cross builds. The makes run one after the other, because
# two at a time would build the same files.
check-build: all
	@$(MAKE) $(AM_MAKEFLAGS) $(check_LTLIBRARIES) $(check_PROGRAMS)

# Prints the tests and their environment, as lines for a shell. tests/machines runs the tests without make, which would
# examine thousands of files first.
print-tests:
	@$(AM_TESTS_ENVIRONMENT) export -p; echo "tests='$(TESTS)'"

# The unit and API tests under valgrind. Suites aren't forked, so each is one process, which must free everything at its end.
# Left out: tests of PAPI and libpfm4, which keep the state of an earlier test in the process; the layout test, which reads
# memory that was never written; test_screens*, because valgrind would write on their terminals; test_log_condition, whose
# long doubles valgrind computes as doubles. The longest tests have their small form (tests/support/small.h) unless
# PS_TEST_SMALL=0 is given.
check-valgrind:
	@test -n '$(VALGRIND)' || { echo 'make check-valgrind needs valgrind. Install it and configure again.' >&2; exit 1; }
	@tests=; for test in $(unit_tests) $(api_tests); do \
		case $$test in \
		*/test_event_pfm | */test_layout | */test_log_condition | */test_screens* | */api/test_papi*) ;; \
		*) tests="$$tests $$test" ;; \
		esac; \
	done; \
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="$$tests" CK_FORK=no PS_TEST_SMALL="$${PS_TEST_SMALL-1}" \
		LOG_COMPILER='$(VALGRIND)' \
		LOG_FLAGS='-q --read-inline-info=no --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible --suppressions=$(abs_top_srcdir)/tests/valgrind.supp'

.PHONY: check-build check-valgrind print-tests

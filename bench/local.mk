# SPDX-License-Identifier: BSD-3-Clause
# The benchmarks. Only `make bench` builds and runs them, one after the other; BENCH_FLAGS goes to each of them
# (--json, --quick, --rounds N, --cpu N). They use only the public headers; PAPI and hwloc are rivals.
# Makefile.am sets public_cppflags, and includes tests/lab/local.mk, which begins EXTRA_PROGRAMS, before this file.

bench_programs = \
	bench/bench_read \
	bench/bench_record \
	bench/bench_region \
	bench/bench_marks \
	bench/bench_stop \
	bench/bench_attached \
	bench/bench_lookup \
	bench/bench_log \
	bench/bench_memory \
	bench/bench_threads \
	bench/bench_topology \
	bench/bench_cost \
	bench/bench_scale \
	bench/bench_instructions

EXTRA_PROGRAMS += $(bench_programs)
EXTRA_LTLIBRARIES += bench/libbench.la

bench_cppflags = -D_GNU_SOURCE $(public_cppflags)
bench_libs = bench/libbench.la libperfsage.la $(bench_papi_libs)
if HAVE_PAPI
bench_papi_cppflags = -DBENCH_WITH_PAPI
bench_papi_libs = $(PAPI_LIBS) -ldl
endif

bench_libbench_la_SOURCES = \
	bench/counted.c \
	bench/counted.h \
	bench/harness.c \
	bench/harness.h \
	bench/logged.c \
	bench/logged.h \
	bench/methods.c \
	bench/methods.h \
	bench/papi_rival.c \
	bench/papi_rival.h \
	bench/report.c \
	bench/report.h \
	bench/shared.c \
	bench/shared.h \
	bench/stats.c \
	bench/stats.h \
	bench/subject.c \
	bench/subject.h \
	tests/support/papi_pmu.c \
	tests/support/papi_pmu.h
bench_libbench_la_CPPFLAGS = $(bench_cppflags) $(bench_papi_cppflags) -I$(top_srcdir)/tests
bench_libbench_la_CFLAGS = $(AM_CFLAGS) $(PAPI_CFLAGS)

bench_bench_attached_SOURCES = bench/bench_attached.c
bench_bench_attached_CPPFLAGS = $(bench_cppflags)
bench_bench_attached_LDADD = $(bench_libs)

bench_bench_cost_SOURCES = bench/bench_cost.c
bench_bench_cost_CPPFLAGS = $(bench_cppflags)
bench_bench_cost_LDADD = $(bench_libs)

bench_bench_instructions_SOURCES = bench/bench_instructions.c
bench_bench_instructions_CPPFLAGS = $(bench_cppflags)
bench_bench_instructions_LDADD = $(bench_libs)

bench_bench_log_SOURCES = bench/bench_log.c
bench_bench_log_CPPFLAGS = $(bench_cppflags)
bench_bench_log_LDADD = $(bench_libs)

bench_bench_lookup_SOURCES = bench/bench_lookup.c
bench_bench_lookup_CPPFLAGS = $(bench_cppflags)
bench_bench_lookup_LDADD = $(bench_libs)

bench_bench_marks_SOURCES = bench/bench_marks.c
bench_bench_marks_CPPFLAGS = $(bench_cppflags)
bench_bench_marks_LDADD = $(bench_libs)

bench_bench_memory_SOURCES = bench/bench_memory.c
bench_bench_memory_CPPFLAGS = $(bench_cppflags)
bench_bench_memory_LDADD = $(bench_libs)

bench_bench_read_SOURCES = bench/bench_read.c
bench_bench_read_CPPFLAGS = $(bench_cppflags)
bench_bench_read_LDADD = $(bench_libs)

bench_bench_record_SOURCES = bench/bench_record.c tests/support/record_bytes.c tests/support/record_bytes.h
bench_bench_record_CPPFLAGS = $(bench_cppflags) -I$(top_srcdir)/tests
bench_bench_record_LDADD = $(bench_libs)

bench_bench_region_SOURCES = bench/bench_region.c
bench_bench_region_CPPFLAGS = $(bench_cppflags)
bench_bench_region_LDADD = $(bench_libs)

bench_bench_scale_SOURCES = bench/bench_scale.c
bench_bench_scale_CPPFLAGS = $(bench_cppflags)
bench_bench_scale_LDADD = $(bench_libs)

bench_bench_stop_SOURCES = bench/bench_stop.c
bench_bench_stop_CPPFLAGS = $(bench_cppflags)
bench_bench_stop_LDADD = $(bench_libs)

bench_bench_threads_SOURCES = bench/bench_threads.c
bench_bench_threads_CPPFLAGS = $(bench_cppflags)
bench_bench_threads_LDADD = $(bench_libs)

bench_bench_topology_SOURCES = bench/bench_topology.c
bench_bench_topology_CPPFLAGS = $(bench_cppflags)
bench_bench_topology_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
bench_bench_topology_LDADD = $(bench_libs) $(HWLOC_LIBS)

# The build's messages go to stderr, so that stdout has only the results: text for people, or JSON lines.
bench:
	@$(MAKE) $(AM_MAKEFLAGS) $(bench_programs) >&2
	@status=0; \
	for program in $(bench_programs); do \
		./$$program $(BENCH_FLAGS) || status=1; \
	done; \
	exit $$status

.PHONY: bench

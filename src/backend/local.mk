# SPDX-License-Identifier: BSD-3-Clause
# The backends: groups of perf events; event sets of PAPI, if configure found it.
noinst_LTLIBRARIES += src/backend/libbackend.la
src_backend_libbackend_la_SOURCES = \
	src/backend/backend.h \
	src/backend/bpf.c \
	src/backend/bpf.h \
	src/backend/bpf_code.c \
	src/backend/bpf_explain.c \
	src/backend/bpf_open.c \
	src/backend/btf.c \
	src/backend/papi.c \
	src/backend/papi_calls.c \
	src/backend/papi_calls.h \
	src/backend/papi_describe.c \
	src/backend/papi_names.c \
	src/backend/papi_scope.c \
	src/backend/papi_set.h \
	src/backend/perf.c \
	src/backend/perf.h \
	src/backend/perf_clocks.c \
	src/backend/perf_direct.c \
	src/backend/perf_event.c \
	src/backend/perf_counter.c \
	src/backend/perf_execs.c \
	src/backend/perf_explain.c \
	src/backend/perf_hybrid.c \
	src/backend/perf_join.c \
	src/backend/perf_queue.c \
	src/backend/perf_queue.h \
	src/backend/perf_open.c \
	src/backend/perf_pause.c \
	src/backend/perf_plan.c \
	src/backend/perf_probe.c \
	src/backend/perf_read.c \
	src/backend/perf_records.c \
	src/backend/perf_recover.c \
	src/backend/perf_residency.c \
	src/backend/perf_tasks.c \
	src/backend/perf_tasks.h \
	src/backend/perf_tasks_open.c \
	src/backend/perf_user.c \
	src/backend/perf_user.h \
	src/backend/perf_user_open.c
if HAVE_PAPI
src_backend_libbackend_la_CFLAGS = $(AM_CFLAGS) $(PAPI_CFLAGS)
src_backend_libbackend_la_LIBADD = $(PAPI_LIBS)
endif

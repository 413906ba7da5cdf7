# SPDX-License-Identifier: BSD-3-Clause
# What counts: groups of perf events.
noinst_LTLIBRARIES += src/backend/libbackend.la
src_backend_libbackend_la_SOURCES = \
	src/backend/backend.h \
	src/backend/perf.c \
	src/backend/perf.h \
	src/backend/perf_event.c \
	src/backend/perf_explain.c \
	src/backend/perf_hybrid.c \
	src/backend/perf_open.c \
	src/backend/perf_recover.c \
	src/backend/perf_tasks.c \
	src/backend/perf_user.c \
	src/backend/perf_user.h \
	src/backend/perf_user_open.c

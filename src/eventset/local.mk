# SPDX-License-Identifier: BSD-3-Clause
# Event sets: add, plan, start, read, accum, stop, store.
noinst_LTLIBRARIES += src/eventset/libeventset.la
src_eventset_libeventset_la_SOURCES = \
	src/eventset/attribution.c \
	src/eventset/attribution.h \
	src/eventset/bind.c \
	src/eventset/budget.c \
	src/eventset/check.c \
	src/eventset/choose_papi.c \
	src/eventset/cost.c \
	src/eventset/enter.c \
	src/eventset/event_names.c \
	src/eventset/events.c \
	src/eventset/eventset.c \
	src/eventset/eventset.h \
	src/eventset/fast_path.c \
	src/eventset/fast_path.h \
	src/eventset/fast_path_open.c \
	src/eventset/fetch.c \
	src/eventset/find_cpu.c \
	src/eventset/from_papi.c \
	src/eventset/interruption.c \
	src/eventset/locate.c \
	src/eventset/method.h \
	src/eventset/method_bound.c \
	src/eventset/method_cgroup.c \
	src/eventset/method_last_cpu.c \
	src/eventset/method_mixed.c \
	src/eventset/method_per_cpu.c \
	src/eventset/method_places.c \
	src/eventset/method_records.c \
	src/eventset/open.c \
	src/eventset/owner.c \
	src/eventset/papi_changes.c \
	src/eventset/parts.h \
	src/eventset/process.c \
	src/eventset/reading.c \
	src/eventset/reading_of.c \
	src/eventset/recover.c \
	src/eventset/recover.h \
	src/eventset/reopen.c \
	src/eventset/reset.c \
	src/eventset/shares.c \
	src/eventset/slot.c \
	src/eventset/start.c \
	src/eventset/storage.c \
	src/eventset/take.c \
	src/eventset/take.h \
	src/eventset/task_cpus.c \
	src/eventset/tasks.c \
	src/eventset/tasks.h \
	src/eventset/uncounted.c \
	src/eventset/undo.h \
	src/eventset/values.c \
	src/eventset/waiting.c \
	src/eventset/waiting.h \
	src/eventset/write.c

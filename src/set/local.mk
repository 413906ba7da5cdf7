# SPDX-License-Identifier: BSD-3-Clause
# Event sets: add, plan, start, read, accum, stop, store.
noinst_LTLIBRARIES += src/set/libset.la
src_set_libset_la_SOURCES = \
	src/set/attribution.c \
	src/set/bind.c \
	src/set/bound.c \
	src/set/cgroup.c \
	src/set/check.c \
	src/set/control.c \
	src/set/cost.c \
	src/set/event_names.c \
	src/set/events.c \
	src/set/eventset.c \
	src/set/fetch.c \
	src/set/from_papi.c \
	src/set/interruption.c \
	src/set/lanes.c \
	src/set/last_cpu.c \
	src/set/method.h \
	src/set/mixed.c \
	src/set/open.c \
	src/set/owner.c \
	src/set/places.c \
	src/set/process.c \
	src/set/fast_path.c \
	src/set/fast_path.h \
	src/set/fast_path_open.c \
	src/set/reading.c \
	src/set/reading_of.c \
	src/set/records.c \
	src/set/recover.c \
	src/set/recover.h \
	src/set/reopen.c \
	src/set/set.h \
	src/set/shares.c \
	src/set/slot.c \
	src/set/tasks.c \
	src/set/tasks.h \
	src/set/uncounted.c \
	src/set/undo.h \
	src/set/waiting.c \
	src/set/waiting.h \
	src/set/write.c

# SPDX-License-Identifier: BSD-3-Clause
# Translates event names into attributes of perf_event_open.
noinst_LTLIBRARIES += src/event/libevent.la
src_event_libevent_la_SOURCES = \
	src/event/alias.c \
	src/event/breakpoint.c \
	src/event/cache.c \
	src/event/attr.h \
	src/event/event.h \
	src/event/generic.c \
	src/event/hybrid.c \
	src/event/event_list.c \
	src/event/lookup.h \
	src/event/modifiers.c \
	src/event/names.c \
	src/event/names.h \
	src/event/parse.c \
	src/event/pfm.h \
	src/event/pmu.c \
	src/event/pmu.h \
	src/event/pmu_apply.c \
	src/event/pmu_event.c \
	src/event/pmu_format.c \
	src/event/pmu_term.c \
	src/event/preset.c \
	src/event/probe.c \
	src/event/run_time.c \
	src/event/recode.c \
	src/event/scope.c \
	src/event/split.c \
	src/event/suggest.c \
	src/event/tracepoint.c \
	src/event/unreadable.c
if HAVE_PFM
src_event_libevent_la_SOURCES += src/event/pfm.c src/event/pfm_explain.c src/event/pfm_names.c
src_event_libevent_la_LIBADD = $(PFM_LIBS)
else
src_event_libevent_la_SOURCES += src/event/pfm_none.c
endif

# SPDX-License-Identifier: BSD-3-Clause
# The collector: counts a process as its environment says; and what is preloaded into programs that know nothing of it.
noinst_LTLIBRARIES += collect/libcollect.la
collect_libcollect_la_SOURCES = \
	collect/collect.c \
	collect/exchange.c \
	collect/exchange.h \
	collect/files.c \
	collect/files.h \
	collect/flush.c \
	collect/flush.h \
	collect/hush.h \
	collect/process.c \
	collect/process.h \
	collect/report.c \
	collect/report.h \
	collect/report_lines.c \
	collect/settings.c \
	collect/settings.h \
	collect/signals.h \
	collect/source.c \
	collect/threads.h \
	collect/tree.c \
	collect/tree.h

# Is installed beside the library, which it loads when there are marks to hear. It needs only the C library: what is preloaded
# into every program must not bring others along.
lib_LTLIBRARIES += libperfsage-preload.la
libperfsage_preload_la_SOURCES = \
	collect/hush.h \
	collect/keep.c \
	collect/preload.c \
	collect/signals.c \
	collect/signals.h \
	collect/threads.h \
	src/base/kept.h \
	src/region/notes.c
libperfsage_preload_la_CPPFLAGS = $(AM_CPPFLAGS) -DPS_LIBRARY='"libperfsage.so.0"'
libperfsage_preload_la_LDFLAGS = $(AM_LDFLAGS) -module -shared -avoid-version -no-undefined -Wl,-z,now

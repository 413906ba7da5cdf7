# SPDX-License-Identifier: BSD-3-Clause
# The collector, which counts a process as its environment says; and the library that is preloaded into programs.
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

# Installed beside libperfsage, which it loads if a program has marks. It needs only the C library: a library that is
# preloaded into every program must not load further ones.
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

# SPDX-License-Identifier: BSD-3-Clause
# Finds the hardware thread that a task runs on.
noinst_LTLIBRARIES += src/locate/liblocate.la
src_locate_liblocate_la_SOURCES = \
	src/locate/affinity.c \
	src/locate/cgroup.c \
	src/locate/locate.h \
	src/locate/ring.c \
	src/locate/ring.h \
	src/locate/switch_ring.c \
	src/locate/switch_ring.h \
	src/locate/task.c

# SPDX-License-Identifier: BSD-3-Clause
# The tree of components, its import from hwloc, its annotation.
noinst_LTLIBRARIES += topology/libtopology.la
topology_libtopology_la_SOURCES = \
	topology/annotate.c \
	topology/annotate.h \
	topology/arena.c \
	topology/arena.h \
	topology/child.c \
	topology/child.h \
	topology/component.c \
	topology/find.c \
	topology/import.c \
	topology/import.h \
	topology/import_component.c \
	topology/import_file.c \
	topology/import_limits.c \
	topology/import_tree.c \
	topology/thread.c \
	topology/topology.c \
	topology/tree.h
topology_libtopology_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
topology_libtopology_la_LIBADD = $(HWLOC_LIBS)

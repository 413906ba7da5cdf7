# SPDX-License-Identifier: BSD-3-Clause
# The tree and its counters, as text.
noinst_LTLIBRARIES += src/export/libexport.la
src_export_libexport_la_SOURCES = \
	src/export/buffer.c \
	src/export/buffer.h \
	src/export/known.c \
	src/export/known.h \
	src/export/label.c \
	src/export/label.h \
	src/export/table.c \
	src/export/table.h \
	src/export/text.c \
	src/export/text_thread.c

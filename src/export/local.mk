# SPDX-License-Identifier: BSD-3-Clause
# The tree and its counters in all output formats.
noinst_LTLIBRARIES += src/export/libexport.la
src_export_libexport_la_SOURCES = \
	src/export/buffer.c \
	src/export/buffer.h \
	src/export/colour.c \
	src/export/colour.h \
	src/export/csv.c \
	src/export/export.c \
	src/export/grid.c \
	src/export/grid.h \
	src/export/json.c \
	src/export/json_writer.c \
	src/export/json_writer.h \
	src/export/known.c \
	src/export/known.h \
	src/export/label.c \
	src/export/label.h \
	src/export/legend.c \
	src/export/number.c \
	src/export/number.h \
	src/export/report.c \
	src/export/report.h \
	src/export/cost.c \
	src/export/cost.h \
	src/export/residual.c \
	src/export/residual.h \
	src/export/spread.h \
	src/export/table.c \
	src/export/table.h \
	src/export/table_metric.c \
	src/export/table_select.c \
	src/export/text.c \
	src/export/text.h \
	src/export/text_cell.c \
	src/export/text_thread.c \
	src/export/wrap.c \
	src/export/wrap.h \
	src/export/xml.c

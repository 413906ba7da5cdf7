# SPDX-License-Identifier: BSD-3-Clause
# The tree and its counters in all output formats, for the library and the command.
noinst_LTLIBRARIES += src/output/liboutput.la
src_output_liboutput_la_SOURCES = \
	src/output/buffer.c \
	src/output/buffer.h \
	src/output/by.c \
	src/output/by.h \
	src/output/colour.c \
	src/output/colour.h \
	src/output/csv.c \
	src/output/csv.h \
	src/output/destination.c \
	src/output/destination.h \
	src/output/export.c \
	src/output/grid.c \
	src/output/grid.h \
	src/output/json.c \
	src/output/json.h \
	src/output/json_writer.c \
	src/output/json_writer.h \
	src/output/known.c \
	src/output/known.h \
	src/output/label.c \
	src/output/label.h \
	src/output/lines.c \
	src/output/lines.h \
	src/output/lines_fold.c \
	src/output/number.c \
	src/output/number.h \
	src/output/rank.c \
	src/output/rank.h \
	src/output/path_csv.c \
	src/output/path_faults.c \
	src/output/path_export.c \
	src/output/path_json.c \
	src/output/path_label.c \
	src/output/path_label.h \
	src/output/path_table.c \
	src/output/path_table.h \
	src/output/path_text.c \
	src/output/report.c \
	src/output/report.h \
	src/output/spread.h \
	src/output/table.c \
	src/output/table.h \
	src/output/table_metric.c \
	src/output/table_path.c \
	src/output/table_select.c \
	src/output/text.c \
	src/output/text.h \
	src/output/text_cell.c \
	src/output/text_footer.c \
	src/output/text_label.c \
	src/output/text_thread.c \
	src/output/wrap.c \
	src/output/wrap.h \
	src/output/heat_map.c

# SPDX-License-Identifier: BSD-3-Clause
# Derived metrics and unit costs.
noinst_LTLIBRARIES += src/analysis/libanalysis.la
src_analysis_libanalysis_la_SOURCES = \
	src/analysis/formula.c \
	src/analysis/formula.h \
	src/analysis/formula_machine.c \
	src/analysis/formula_parse.c \
	src/analysis/least_squares.c \
	src/analysis/least_squares.h \
	src/analysis/metric.c \
	src/analysis/metric.h \
	src/analysis/metric_compute.c \
	src/analysis/metric_define.c \
	src/analysis/metric_events.c \
	src/analysis/metric_file.c \
	src/analysis/metric_file.h \
	src/analysis/metric_list.c \
	src/analysis/metric_load.c \
	src/analysis/metric_make.c \
	src/analysis/metric_names.c \
	src/analysis/metric_operands.c \
	src/analysis/student.c \
	src/analysis/student.h \
	src/analysis/unit_cost.c

# The built-in metrics, in the order in which they are shown. They are part of the library. The files are also installed,
# so that users can read and copy them.
metric_files = \
	share/metrics/cycles.metrics \
	share/metrics/branches.metrics \
	share/metrics/caches.metrics \
	share/metrics/tlbs.metrics \
	share/metrics/tasks.metrics \
	share/metrics/topdown.metrics \
	share/metrics/roofline.metrics \
	share/metrics/instrumentation.metrics
metricsdir = $(pkgdatadir)/metrics
dist_metrics_DATA = $(metric_files)
EXTRA_DIST += src/analysis/embed-metrics
nodist_src_analysis_libanalysis_la_SOURCES = src/analysis/metric_builtin.c
CLEANFILES += src/analysis/metric_builtin.c
src/analysis/metric_builtin.c: src/analysis/embed-metrics $(metric_files)
	$(AM_V_GEN)cd $(srcdir) && src/analysis/embed-metrics $(metric_files) > $(abs_top_builddir)/$@.new
	$(AM_V_at)mv $@.new $@

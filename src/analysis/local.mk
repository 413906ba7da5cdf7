# SPDX-License-Identifier: BSD-3-Clause
# Derived metrics, unit costs.
noinst_LTLIBRARIES += src/analysis/libanalysis.la
src_analysis_libanalysis_la_SOURCES = \
	src/analysis/formula.c \
	src/analysis/formula.h \
	src/analysis/formula_parse.c \
	src/analysis/least_squares.c \
	src/analysis/least_squares.h \
	src/analysis/metric.c \
	src/analysis/metric.h \
	src/analysis/metric_define.c \
	src/analysis/metric_formula.c \
	src/analysis/metric_operands.c \
	src/analysis/student.c \
	src/analysis/student.h \
	src/analysis/unit_cost.c

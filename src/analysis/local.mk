# SPDX-License-Identifier: BSD-3-Clause
# Derived metrics.
noinst_LTLIBRARIES += src/analysis/libanalysis.la
src_analysis_libanalysis_la_SOURCES = \
	src/analysis/metric.c \
	src/analysis/metric.h

# SPDX-License-Identifier: BSD-3-Clause
# Readings: histories by hardware thread, look-up, attribute maps, totals.
noinst_LTLIBRARIES += src/store/libstore.la
src_store_libstore_la_SOURCES = \
	src/store/aggregate.c \
	src/store/aggregate.h \
	src/store/attrmap.c \
	src/store/attrmap.h \
	src/store/clear.c \
	src/store/history.c \
	src/store/history.h \
	src/store/history_update.c \
	src/store/parts.c \
	src/store/readings.c \
	src/store/recording.c \
	src/store/recording.h \
	src/store/search.c \
	src/store/sum.c \
	src/store/sum.h \
	src/store/total.c

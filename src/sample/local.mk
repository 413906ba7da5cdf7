# SPDX-License-Identifier: BSD-3-Clause
# Records: the formats that the kernel writes into rings.
noinst_LTLIBRARIES += src/sample/libsample.la
src_sample_libsample_la_SOURCES = \
	src/sample/cursor.h \
	src/sample/record.c \
	src/sample/record_body.c \
	src/sample/record_fields.c \
	src/sample/record_parts.h \
	src/sample/record_sample.c

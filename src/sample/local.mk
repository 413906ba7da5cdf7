# SPDX-License-Identifier: BSD-3-Clause
# Records that the kernel writes: attrs, records, samplers and sessions.
noinst_LTLIBRARIES += src/sample/libsample.la
src_sample_libsample_la_SOURCES = \
	src/sample/add_attr.c \
	src/sample/attr.c \
	src/sample/attr.h \
	src/sample/attr_bit.c \
	src/sample/attr_blame.c \
	src/sample/attr_check.c \
	src/sample/attr_field.c \
	src/sample/cursor.h \
	src/sample/record.c \
	src/sample/record_body.c \
	src/sample/record_fields.c \
	src/sample/record_parts.h \
	src/sample/record_sample.c \
	src/sample/sampler.c \
	src/sample/sampler.h \
	src/sample/sampler_group.c \
	src/sample/sampler_next.c \
	src/sample/sampler_read.c \
	src/sample/session.c \
	src/sample/session.h \
	src/sample/session_attach.c \
	src/sample/session_fork.c \
	src/sample/session_hear.c \
	src/sample/session_open.c \
	src/sample/session_read.c \
	src/sample/session_stop.c \
	src/sample/session_store.c \
	src/sample/session_sum.c

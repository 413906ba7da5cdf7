# SPDX-License-Identifier: BSD-3-Clause
# The snapshot log: its writer and its reader.
noinst_LTLIBRARIES += src/snapshot/libsnapshot.la
src_snapshot_libsnapshot_la_SOURCES = \
	src/snapshot/blocks.c \
	src/snapshot/describe.c \
	src/snapshot/file.c \
	src/snapshot/format.h \
	src/snapshot/log.c \
	src/snapshot/log.h \
	src/snapshot/reader.c \
	src/snapshot/reader.h \
	src/snapshot/reader_file.c \
	src/snapshot/reader_interval.c \
	src/snapshot/reader_record.c \
	src/snapshot/reader_stream.c \
	src/snapshot/record.c \
	src/snapshot/stream.c \
	src/snapshot/stream.h

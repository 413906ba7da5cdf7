# SPDX-License-Identifier: BSD-3-Clause
# The base of all other layers: errors, the OS seam, lists of CPUs.
noinst_LTLIBRARIES += src/base/libbase.la
src_base_libbase_la_SOURCES = \
	src/arch/arch.h \
	src/arch/arm64.h \
	src/arch/none.h \
	src/arch/x86.h \
	src/base/advice.h \
	src/base/cancel.h \
	src/base/clock.c \
	src/base/clock.h \
	src/base/decimal.h \
	src/base/distance.c \
	src/base/distance.h \
	src/base/error.c \
	src/base/error.h \
	src/base/file_id.h \
	src/base/hash.h \
	src/base/hot.h \
	src/base/identity.c \
	src/base/identity.h \
	src/base/kept.h \
	src/base/list.c \
	src/base/list.h \
	src/base/lock.c \
	src/base/lock.h \
	src/base/os.c \
	src/base/os_event.c \
	src/base/os.h \
	src/base/printable.c \
	src/base/printable.h \
	src/base/printable_ranges.h \
	src/base/proc_status.c \
	src/base/proc_status.h \
	src/base/stack.c \
	src/base/stack.h \
	src/base/time_namespace.c \
	src/base/time_namespace.h \
	src/base/value.c \
	src/base/vector.c \
	src/base/vector.h \
	src/base/version.c

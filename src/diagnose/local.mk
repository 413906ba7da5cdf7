# SPDX-License-Identifier: BSD-3-Clause
# The diagnosis: what can be counted here, and what prevents the rest.
noinst_LTLIBRARIES += src/diagnose/libdiagnose.la
src_diagnose_libdiagnose_la_SOURCES = \
	src/diagnose/counters.c \
	src/diagnose/cpus.c \
	src/diagnose/diagnose.c \
	src/diagnose/diagnosis.h \
	src/diagnose/events.c \
	src/diagnose/kernel.c \
	src/diagnose/limits.c \
	src/diagnose/methods.c \
	src/diagnose/papi.c \
	src/diagnose/permission.c \
	src/diagnose/pmu.c \
	src/diagnose/probe.c \
	src/diagnose/sources.c

# SPDX-License-Identifier: BSD-3-Clause
# What a user of the shared library sees: these link nothing else of perfsage.
api_tests = \
	tests/api/test_malloc \
	tests/api/test_truth

# Its own malloc comes before the C library's, so it must be seen by the shared library.
tests_api_test_malloc_SOURCES = tests/api/test_malloc.c tests/api/count_malloc.c tests/api/count_malloc.h
tests_api_test_malloc_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_api_test_malloc_LDADD = libperfsage.la $(CHECK_LIBS) -lm

tests_api_test_truth_LDADD = libperfsage.la $(CHECK_LIBS) -lm

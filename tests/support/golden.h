/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Golden files: what is printed must be what a file of tests/golden holds. With PS_GOLDEN_UPDATE=1
 * in the environment the file is written instead: look at the difference before it is committed.
 */
#ifndef PS_TESTS_GOLDEN_H
#define PS_TESTS_GOLDEN_H

#include <stdio.h>

/* A stream into memory; golden_check closes it and compares what was written. */
FILE *golden_open(void);
void golden_check(FILE *stream,
                  const char *name); /* NAME.txt, which is ASCII without control characters */
void golden_check_file(FILE *stream, const char *file); /* the whole name; any bytes */

#endif

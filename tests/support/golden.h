/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Golden files: what is printed must be what tests/golden/NAME.txt holds. With PS_GOLDEN_UPDATE=1 in the environment the
 * file is written instead: look at the difference before it is committed.
 */
#ifndef PS_TESTS_GOLDEN_H
#define PS_TESTS_GOLDEN_H

#include <stdio.h>

/* A stream into memory; golden_check closes it and compares what was written. */
FILE *golden_open(void);
void golden_check(FILE *stream, const char *name);

#endif

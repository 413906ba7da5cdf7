/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Golden files: output must equal a file in tests/golden. With PS_GOLDEN_UPDATE=1 in the
 * environment the file is written instead: check the difference before you commit it.
 */
#ifndef PS_TESTS_GOLDEN_H
#define PS_TESTS_GOLDEN_H

#include <stddef.h>
#include <stdio.h>

/* golden_open returns a stream into memory; golden_check closes it and compares what was
 * written. */
FILE *golden_open(void);
void golden_check(FILE *stream,
                  const char *name); /* the file NAME.txt, ASCII without control characters */
void golden_check_file(FILE *stream, const char *file); /* the complete file name; any bytes */

size_t count_of(const char *all, const char *what); /* how often a text contains another one */

#endif

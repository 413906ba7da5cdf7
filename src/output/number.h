/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text, the same in every locale. */
#ifndef PS_OUTPUT_NUMBER_H
#define PS_OUTPUT_NUMBER_H

#include "output/buffer.h"

#include <stdbool.h>

/* Writes a fixed number of decimals; the decimal separator is always a point. */
void ps__number_add_fixed(struct ps__buffer *buffer, double number, int decimals);

/* Writes the fewest digits that are read back as the same double: "0.1". number is finite. */
void ps__number_add_exact(struct ps__buffer *buffer, double number);

/* For people: two decimals, or three significant digits if the number is below 0.1. */
void ps__number_add_plain(struct ps__buffer *buffer, double number);

/* Writes four digits and an SI prefix, "12.35M"; whole numbers below 1000 without a prefix. */
void ps__number_add_si(struct ps__buffer *buffer, double number);

/* Writes a number of nanoseconds: "7.215 ms", "12.35 s". */
void ps__number_add_time(struct ps__buffer *buffer, double time_ns);

/* Writes a number of seconds: "7.215 s", "12.35 s", "1 min 02.0 s", "1 h 02 min 03 s". */
void ps__number_add_duration(struct ps__buffer *buffer, double seconds);

/* Reads "12" or "0.5", in any locale. Returns false for anything else, and for more than 18
 * digits. */
bool ps__number_parse(const char *text, double *number);

#endif

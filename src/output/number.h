/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text, the same in every locale. */
#ifndef PS_OUTPUT_NUMBER_H
#define PS_OUTPUT_NUMBER_H

#include "output/buffer.h"

#include <stdbool.h>

/* With a point for the decimals, whatever the program's locale has. */
void ps__number_add_fixed(struct ps__buffer *buffer, double number, int decimals);

/* In the fewest digits that give the same double again: "0.1". Neither NaN nor
 * infinite. */
void ps__number_add_exact(struct ps__buffer *buffer, double number);

/* For people: two decimals, or three digits of what is below 0.1. */
void ps__number_add_plain(struct ps__buffer *buffer, double number);

/* Four digits and an SI prefix: "12.35M"; whole numbers below 1000 as they
 * are. */
void ps__number_add_si(struct ps__buffer *buffer, double number);

/* Nanoseconds: "7.215 ms", "12.35 s". */
void ps__number_add_time(struct ps__buffer *buffer, double time_ns);

/* "7.215 s", "12.35 s", "1 min 02.0 s", "1 h 02 min 03 s". */
void ps__number_add_duration(struct ps__buffer *buffer, double seconds);

/* Reads "12" or "0.5", in any locale. False for all else, also for more than 18 digits. */
bool ps__number_parse(const char *text, double *number);

#endif

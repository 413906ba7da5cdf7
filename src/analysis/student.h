/* SPDX-License-Identifier: BSD-3-Clause */
/* Student's t distribution: the width of an interval that few measurements determine. */
#ifndef PS_ANALYSIS_STUDENT_H
#define PS_ANALYSIS_STUDENT_H

/* Returns the t with P(-t < T < t) = probability, 0 < probability < 1. freedom: degrees of freedom,
 * 1 or more; need not be a whole number. */
double ps__student_two_sided(double probability, double freedom);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Student's t distribution: how wide an interval is that is estimated from few measurements. */
#ifndef PS_ANALYSIS_STUDENT_H
#define PS_ANALYSIS_STUDENT_H

/* The t with P(-t < T < t) = probability, 0 < probability < 1. freedom: degrees of freedom, 1 or
 * more; need not be whole. */
double ps__student_two_sided(double probability, double freedom);

#endif

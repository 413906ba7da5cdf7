/* SPDX-License-Identifier: BSD-3-Clause */
/* Made-up formulas: for tests/unit/test_formula.c and tests/fuzz/fuzz_formula.c. */
#ifndef PS_TESTS_SUPPORT_FORMULA_FUZZ_H
#define PS_TESTS_SUPPORT_FORMULA_FUZZ_H

#include <stdbool.h>
#include <stdint.h>

struct formula_fuzz {
	uint64_t
	    compared; /* made by the grammar: each gave the number that was reckoned beside it */
	uint64_t taken, refused; /* damaged ones */
	char wrong[512];         /* the first that did not do as it should; "": there is none */
};

/* Reads `runs` formulas, and as many that are damaged; the same ones for a seed. False: see
 * `wrong`. */
bool formula_fuzz(uint64_t seed, uint64_t runs, struct formula_fuzz *result);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Random formulas, for tests/unit/test_formula.c and tests/fuzz/fuzz_formula.c. */
#ifndef PS_TESTS_SUPPORT_FORMULA_FUZZ_H
#define PS_TESTS_SUPPORT_FORMULA_FUZZ_H

#include <stdbool.h>
#include <stdint.h>

struct formula_fuzz {
	uint64_t
	    compared; /* number of formulas made by the grammar; each gave the expected number */
	uint64_t taken, refused; /* numbers of damaged formulas */
	char wrong[512];         /* the first formula that failed; "": none */
};

/* Reads `runs` formulas, and as many damaged ones; a seed always gives the same ones. Returns false
 * on a failure: see `wrong`. */
bool formula_fuzz(uint64_t seed, uint64_t runs, struct formula_fuzz *result);

#endif

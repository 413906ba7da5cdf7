/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads made-up formulas: fuzz_formula [RUNS [SEED]]. Built by `make tests/fuzz/fuzz_formula`; make
 * check runs a little of it (unit/test_formula). */
#include "support/formula_fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct formula_fuzz result;
	int is_good = formula_fuzz(seed, runs, &result);

	printf("%s: seed %" PRIu64 ", %" PRIu64 " right; damaged: %" PRIu64 " taken, %" PRIu64
	       " refused\n",
	       is_good ? "good" : "BAD", seed, result.compared, result.taken, result.refused);
	if (!is_good)
		printf("%s\n", result.wrong);
	return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}

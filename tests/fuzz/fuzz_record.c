/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses mutated records: fuzz_record [RUNS [SEED]]. Built by `make tests/fuzz/fuzz_record`; make
 * check runs a little of it (unit/test_record_damage). */
#include "support/record_bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct record_fuzz result;
	int is_good = record_fuzz(seed, runs, &result);

	printf("%s: seed %" PRIu64 ", %" PRIu64 " parsed, %" PRIu64 " refused\n",
	       is_good ? "good" : "BAD", seed, result.parsed, result.refused);
	return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}

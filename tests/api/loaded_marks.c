/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared object with marks, for test_marks. */
#include <perfsage/marks.h>

int loaded_work(int rounds);

int loaded_work(int rounds)
{
	int sum = 0;

	for (int round = 0; round < rounds; round++) {
		PS_REGION("loaded")
		{
			sum += round;
		}
	}
	return sum;
}

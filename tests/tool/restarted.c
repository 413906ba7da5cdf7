/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts the collector itself three times, has a visit of "phase" and ends it; then one of "tail".
 * Prints what the calls return.
 */
#include <perfsage.h>
#include <perfsage/marks.h>
#include <stdio.h>

int main(void)
{
	for (int turn = 0; turn < 3; turn++) {
		printf("start %d\n", ps_collect_start());
		PS_REGION("phase")
		{
		}
		printf("end %d\n", ps_collect_end());
	}
	PS_REGION("tail")
	{
	}
	return 0;
}

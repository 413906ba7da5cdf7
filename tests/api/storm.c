/* SPDX-License-Identifier: BSD-3-Clause */
/* See storm.h. */
#include "storm.h"

#include <check.h>
#include <sys/time.h>

#define INTERVAL_US 200

sigjmp_buf storm_back;
volatile sig_atomic_t storm_may_jump, storm_jumps;

static void storm_leave(int number)
{
	(void)number;
	if (!storm_may_jump)
		return;
	storm_may_jump = 0;
	storm_jumps++;
	siglongjmp(storm_back, 1);
}

void storm_set_timer(long interval_us)
{
	struct itimerval timer = {.it_interval = {0, interval_us}, .it_value = {0, interval_us}};

	ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

void storm_begin(void)
{
	struct sigaction action = {.sa_handler = storm_leave};

	sigemptyset(&action.sa_mask);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	storm_jumps = 0;
	storm_set_timer(INTERVAL_US);
}

void storm_end(void)
{
	storm_set_timer(0);
	signal(SIGALRM, SIG_DFL);
}

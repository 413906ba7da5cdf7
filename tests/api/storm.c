/* SPDX-License-Identifier: BSD-3-Clause */
/* See storm.h. */
#include "storm.h"

#include <check.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/time.h>

#define INTERVAL_US 200
#define LONGEST_US  3200
#define MOST_IDLE   50
#define STACK_BYTES ((size_t)1 << 20)
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31) /* Linux 4.7; in linux/signal.h */
#endif

sigjmp_buf storm_back;
volatile sig_atomic_t storm_may_jump, storm_jumps, storm_calls;
static volatile sig_atomic_t interval_us, last_call, idle;

/* For handlers, too. */
static int set_timer(int every_us)
{
	struct itimerval timer = {.it_interval = {0, every_us}, .it_value = {0, every_us}};

	interval_us = every_us;
	return setitimer(ITIMER_REAL, &timer, NULL);
}

/* Where a signal takes as long as the timer, the program gets no further: no call has begun since
 * many signals. */
static void slow_down(void)
{
	idle = last_call == storm_calls ? idle + 1 : 0;
	last_call = storm_calls;
	if (idle < MOST_IDLE || interval_us >= LONGEST_US)
		return;
	idle = 0;
	set_timer(2 * interval_us);
}

static void storm_leave(int number)
{
	(void)number;
	if (!storm_may_jump) {
		slow_down();
		return;
	}
	storm_may_jump = 0;
	storm_jumps++;
	siglongjmp(storm_back, 1);
}

void storm_set_timer(int every_us)
{
	ck_assert_int_eq(set_timer(every_us), 0);
}

void storm_begin(void)
{
	struct sigaction action = {.sa_handler = storm_leave};

	sigemptyset(&action.sa_mask);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	storm_jumps = 0;
	idle = 0;
	storm_set_timer(INTERVAL_US);
}

void storm_end(void)
{
	storm_set_timer(0);
	signal(SIGALRM, SIG_DFL);
}

struct storm_thread {
	void (*run)(void);
	stack_t signals;
};

static void *storm_run(void *argument)
{
	const struct storm_thread *thread = argument;
	sigset_t alarm;
	stack_t before; /* AddressSanitizer's, which it removes when the thread ends */

	ck_assert_int_eq(sigaltstack(&thread->signals, &before), 0);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	thread->run();
	sigaltstack(&before, NULL);
	return NULL;
}

void storm_run_disarmed(void (*run)(void))
{
	char *stacks =
	    mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct storm_thread thread = {.run = run};
	pthread_attr_t attributes;
	sigset_t alarm;
	pthread_t id;

	ck_assert_ptr_ne(stacks, MAP_FAILED);
	thread.signals = (stack_t){
	    .ss_sp = stacks + STACK_BYTES, .ss_size = STACK_BYTES, .ss_flags = (int)SS_AUTODISARM};
	pthread_attr_init(&attributes);
	ck_assert_int_eq(pthread_attr_setstack(&attributes, stacks, STACK_BYTES), 0);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	ck_assert_int_eq(pthread_create(&id, &attributes, storm_run, &thread), 0);
	pthread_join(id, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	pthread_attr_destroy(&attributes);
	munmap(stacks, 2 * STACK_BYTES);
}

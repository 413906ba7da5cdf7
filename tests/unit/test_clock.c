/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of readings on ticks that a test scripts: it must stay within some nanoseconds of
 * CLOCK_MONOTONIC, whatever the ticks do, and must look at the kernel's clock seldom when they
 * behave.
 */
#include "support/fake_arch.h"
#include "support/unmarked.h"

/* What is tested, on those ticks. */
#include "base/clock.c"
#include "support/scene.h"

#define SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* The true time, and what the machine makes of it. */
static struct {
	uint64_t now_ns;
	double hz;
	int64_t skew_ticks;
	double slew;                    /* CLOCK_MONOTONIC's nanoseconds in a true one */
	uint64_t slew_since, slew_from; /* when that began, and what it told then */
	uint64_t look_ns;               /* what a look at the ticks takes */
} world;

static struct ps__clock clock_;

static uint64_t monotonic(void)
{
	return world.slew_from + (uint64_t)((double)(world.now_ns - world.slew_since) * world.slew);
}

static void pass(uint64_t ns)
{
	world.now_ns += ns;
	fake_set_clock(monotonic(), 0);
}

static uint64_t ticks(void)
{
	pass(world.look_ns);
	return (uint64_t)((int64_t)((double)world.now_ns / 1e9 * world.hz) + world.skew_ticks);
}

static void setup(void)
{
	fake_install();
	fake_arch.ticks = ticks;
	world.now_ns = world.slew_since = world.slew_from = 5000000000u;
	world.hz = 2.6e9;
	world.skew_ticks = 0;
	world.slew = 1.0;
	world.look_ns = 10;
	pass(0);
	ps__clock_trust(&clock_);
}

static void teardown(void)
{
	fake_remove();
}

/* How far the clock is off, after some time. */
static uint64_t off_after(uint64_t ns)
{
	pass(ns);
	uint64_t told = ps__clock_now_ns(&clock_), now = monotonic();

	return told > now ? told - now : now - told;
}

static void learn_for(unsigned looks)
{
	for (unsigned i = 0; i < looks; i++)
		ck_assert_uint_le(off_after(10000), 20);
}

START_TEST(it_is_within_20_ns_at_any_rate_of_the_ticks)
{
	static const double rates[] = {19.2e6, 24e6, 62.5e6, 1e9, 2.6e9, 5.1e9};

	world.hz = rates[_i];
	ps__clock_trust(&clock_);
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t resolution = (uint64_t)(1e9 / world.hz);
		ck_assert_uint_le(off_after(1 + i % 777), 20 + 2 * resolution);
	}
}
END_TEST

START_TEST(ticks_that_behave_leave_a_look_in_100_us)
{
	learn_for(200);
	fake_count_reset();
	for (unsigned i = 0; i < 10000; i++)
		ck_assert_uint_le(off_after(90), 20);
	/* A millisecond is ten spans. */
	ck_assert_uint_le(fake_count(FAKE_CLOCK_GETTIME), 12);
	ck_assert_uint_ge(fake_count(FAKE_CLOCK_GETTIME), 9);
}
END_TEST

START_TEST(it_is_right_at_once_after_any_pause)
{
	static const uint64_t pauses[] = {99000,     101000,     5000000,
	                                  999000000, 3000000000, 86400000000000};

	learn_for(200);
	ck_assert_uint_le(off_after(pauses[_i]), 20);
	ck_assert_uint_le(off_after(50000), 20);
	learn_for(300);
}
END_TEST

START_TEST(a_clock_that_is_slewed_leads_astray_by_50_ns_at_most)
{
	learn_for(200);
	for (int step = 0; step < 40; step++) {
		world.slew_from = monotonic();
		world.slew_since = world.now_ns;
		world.slew = step % 2 ? 1.0005 : 0.9995;
		for (int i = 0; i < 100; i++)
			ck_assert_uint_le(off_after(9000), 120);
	}
}
END_TEST

START_TEST(ticks_that_were_set_back_are_noticed_at_once)
{
	learn_for(200);
	world.skew_ticks = -1000000000;
	ck_assert_uint_le(off_after(100), 20);
	learn_for(200);
	ck_assert(clock_.is_trusted && clock_.span_ticks);
}
END_TEST

START_TEST(ticks_that_jumped_ahead_are_noticed_at_once)
{
	learn_for(200);
	world.skew_ticks = 1000000000;
	ck_assert_uint_le(off_after(100), 20);
	/* The old rate isn't trusted meanwhile. */
	ck_assert_uint_eq(clock_.span_ticks, 0);
	learn_for(200);
	ck_assert(clock_.is_trusted && clock_.span_ticks);
}
END_TEST

START_TEST(ticks_at_another_rate_are_learnt_anew)
{
	learn_for(200);
	/* As on the machine to which a virtual one was moved. */
	world.skew_ticks = (int64_t)((double)world.now_ns / 1e9 * (2.6e9 - 2.1e9));
	world.hz = 2.1e9;
	off_after(150000);
	off_after(150000);
	learn_for(300);
	ck_assert(clock_.is_trusted && clock_.span_ticks);
}
END_TEST

START_TEST(ticks_that_are_wild_are_given_up)
{
	learn_for(200);
	for (int i = 0; i < 20000 && clock_.is_trusted; i++) {
		world.skew_ticks += (i % 2 ? 1 : -1) * 900000000;
		ck_assert_uint_le(off_after(20000), 20);
	}
	ck_assert(!clock_.is_trusted);
	fake_arch.ticks = NULL; /* not looked at any more */
	ck_assert_uint_eq(off_after(10), 0);
}
END_TEST

START_TEST(ticks_that_cost_more_than_the_clock_are_given_up)
{
	learn_for(200);
	world.look_ns = 700; /* a hypervisor traps them */
	for (int i = 0; i < 100; i++)
		off_after(200000);
	ck_assert(!clock_.is_trusted);
}
END_TEST

START_TEST(ticks_that_cost_much_from_the_beginning_give_no_wrong_time)
{
	world.look_ns = 5000;
	for (int i = 0; i < 1000; i++)
		ck_assert_uint_le(off_after(3000), 10000);
}
END_TEST

/* An interrupt just between the looks at ticks and clock. */
static uint64_t ticks_with_a_pause(void)
{
	fake_arch.ticks = ticks;
	uint64_t now = ticks();

	pass(5000000);
	return now;
}

START_TEST(a_look_that_was_interrupted_teaches_nothing)
{
	if (_i)
		learn_for(_i == 1 ? 20 : 200);
	fake_arch.ticks = ticks_with_a_pause;
	off_after(200000);
	learn_for(1000);
	ck_assert(clock_.span_ticks);
}
END_TEST

START_TEST(ticks_that_stand_still_are_not_believed)
{
	world.hz = 0;
	for (int i = 0; i < 1000; i++)
		ck_assert_uint_le(off_after(10000), 20);
	ck_assert_uint_eq(clock_.span_ticks, 0);
}
END_TEST

START_TEST(a_zeroed_clock_looks_each_time)
{
	clock_ = (struct ps__clock){0};
	fake_arch.ticks = NULL;
	fake_count_reset();
	for (int i = 0; i < 10; i++)
		ck_assert_uint_eq(off_after(10), 0);
	ck_assert_uint_eq(fake_count(FAKE_CLOCK_GETTIME), 10);
}
END_TEST

START_TEST(the_ticks_are_not_trusted_beside_a_scripted_clock)
{
	fake_file(SOURCE, PS__ARCH_CLOCKSOURCE "\n");
	ps__clock_open(&clock_);
	ck_assert(!clock_.is_trusted);
}
END_TEST

START_TEST(the_ticks_are_trusted_where_the_kernel_trusts_them)
{
	static const struct {
		const char *source;
		bool is_trusted;
	} rows[] = {{PS__ARCH_CLOCKSOURCE "\n", true},
	            {"hpet\n", false},
	            {"kvm-clock\n", false},
	            {NULL, false}};

	ps__os.clock_gettime = ps_hooks_default()->clock_gettime;
	fake_file(SOURCE, rows[_i].source);
	ps__clock_open(&clock_);
	ck_assert(clock_.is_trusted == rows[_i].is_trusted);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clock");
	TCase *cases = scene_case_of(suite, "ticks", setup, teardown);

	tcase_add_loop_test(cases, it_is_within_20_ns_at_any_rate_of_the_ticks, 0, 6);
	tcase_add_test(cases, ticks_that_behave_leave_a_look_in_100_us);
	tcase_add_loop_test(cases, it_is_right_at_once_after_any_pause, 0, 6);
	tcase_add_test(cases, a_clock_that_is_slewed_leads_astray_by_50_ns_at_most);
	tcase_add_test(cases, ticks_that_were_set_back_are_noticed_at_once);
	tcase_add_test(cases, ticks_that_jumped_ahead_are_noticed_at_once);
	tcase_add_test(cases, ticks_at_another_rate_are_learnt_anew);
	tcase_add_test(cases, ticks_that_are_wild_are_given_up);
	tcase_add_test(cases, ticks_that_cost_more_than_the_clock_are_given_up);
	tcase_add_test(cases, ticks_that_cost_much_from_the_beginning_give_no_wrong_time);
	tcase_add_loop_test(cases, a_look_that_was_interrupted_teaches_nothing, 0, 3);
	tcase_add_test(cases, ticks_that_stand_still_are_not_believed);
	tcase_add_test(cases, a_zeroed_clock_looks_each_time);
	tcase_add_test(cases, the_ticks_are_not_trusted_beside_a_scripted_clock);
	tcase_add_loop_test(cases, the_ticks_are_trusted_where_the_kernel_trusts_them, 0, 4);
	return scene_run(suite);
}

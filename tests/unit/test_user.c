/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading in user space, on pages and counters that a test makes up: what the kernel may do to a
 * page at any moment must never show in a value.
 */
#include "test_user.h"
#include "support/skip.h"

START_TEST(a_group_on_the_hardware_is_read_without_a_system_call)
{
	struct ps_eventset *set = started();

	check_path(set, PS_READ_PATH_USER, "");
	ck_assert_uint_eq(machine.count, 2);
	schedule(0, 500);
	schedule(1, 700);
	fake_count_reset();
	check_counts(set, 500, 700);
	machine.counters[1] += 11;
	machine.counters[2] += 22;
	check_counts(set, 511, 722);
	machine.counters[1] += 11;
	check_counts(set, 522, 722);
	ck_assert_uint_eq(fake_count(FAKE_READ), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_counter_is_extended_from_its_width)
{
	static const struct {
		uint16_t width;
		uint64_t counter;
		int64_t is;
	} rows[] = {
	    {48, 0x0000ffffffffffff, -1},
	    {48, 0x0000800000000000, -(INT64_C(1) << 47)},
	    {48, 0x00007fffffffffff, (INT64_C(1) << 47) - 1},
	    {32, 0xffffffff, -1},
	    {32, 0x80000000, -(INT64_C(1) << 31)},
	    {32, 0x7fffffff, 0x7fffffff},
	    {40, 0xfffffffffe, -2},
	    {64, UINT64_MAX - 4, -5},
	    {64, 12345, 12345},
	    {1, 1, -1},
	};

	machine.model.pmc_width = rows[_i].width;
	struct ps_eventset *set = started();
	schedule(0, 0);
	schedule(1, 0);
	machine.counters[1] = rows[_i].counter;
	machine.counters[2] = 0;
	machine.pages[1]->offset = 0;
	machine.pages[0]->offset = INT64_C(1) << 50;
	check_counts(set, (INT64_C(1) << 50) + rows[_i].is, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(one_that_is_not_on_the_hardware_means_read_2_for_all)
{
	struct ps_eventset *set = started();

	fake_advance(INSTRUCTIONS, 30);
	fake_advance(CYCLES, 40);
	schedule(0, 500);
	schedule(1, 700);
	deschedule((size_t)_i);
	fake_count_reset();
	check_counts(set, 30, 40);
	ck_assert_uint_eq(fake_count(FAKE_READ), 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_counter_that_the_processor_cannot_name_means_read_2)
{
	struct ps_eventset *set = started();

	fake_advance(INSTRUCTIONS, 30);
	schedule(0, 500);
	schedule(1, 700);
	machine.pages[1]->index = 33;
	check_counts(set, 30, 0);
	ps_eventset_destroy(set);
}
END_TEST

/* The kernel takes the group from the hardware, and puts it back with other offsets: once, while
 * the second is read. */
static void reschedule_once(uint32_t index)
{
	if (index != 2)
		return;
	machine.before = NULL;
	machine.counters[2] = 999999;
	schedule(0, 5000);
	schedule(1, 7000);
}

/* The same while the first is read. */
static void reschedule_at_once(uint32_t index)
{
	if (index == 1)
		reschedule_once(2);
}

/* An event that was read already is put on another counter, to make room for somebody else's: the
 * others stay. */
static void move_the_first(uint32_t index)
{
	if (index != 2)
		return;
	machine.before = NULL;
	schedule(0, 5000);
}

static void reschedule_always(uint32_t index)
{
	if (index != 2)
		return;
	schedule(0, 5000);
	schedule(1, 7000);
}

START_TEST(a_group_that_is_moved_meanwhile_is_read_again)
{
	static void (*const moves[])(uint32_t index) = {reschedule_once, reschedule_at_once};

	struct ps_eventset *set = started();
	schedule(0, 500);
	schedule(1, 700);
	machine.before = moves[_i];
	fake_count_reset();
	check_counts(set, 5000, 7000);
	ck_assert_uint_eq(machine.reads, 4);
	ck_assert_uint_eq(fake_count(FAKE_READ), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_counter_that_is_moved_after_it_was_read_was_read_right)
{
	struct ps_eventset *set = started();
	schedule(0, 500);
	schedule(1, 700);
	machine.before = move_the_first;
	check_counts(set, 500, 700);
	ck_assert_uint_eq(machine.reads, 2);
	machine.counters[1] += 10;
	check_counts(set, 5010, 700);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_group_that_is_moved_all_the_time_is_read_by_read_2)
{
	struct ps_eventset *set = started();
	fake_advance(INSTRUCTIONS, 30);
	fake_advance(CYCLES, 40);
	schedule(0, 500);
	schedule(1, 700);
	machine.before = reschedule_always;
	fake_count_reset();
	check_counts(set, 30, 40);
	ck_assert_uint_eq(fake_count(FAKE_READ), 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_page_that_is_being_written_is_not_believed)
{
	struct ps_eventset *set = started();
	fake_advance(INSTRUCTIONS, 30);
	fake_advance(CYCLES, 40);
	schedule(0, 500);
	schedule(1, 700);
	machine.pages[_i]->lock |= 1;
	check_counts(set, 30, 40);
	machine.pages[_i]->lock++;
	fake_count_reset();
	check_counts(set, 500, 700);
	ck_assert_uint_eq(fake_count(FAKE_READ), 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Ticks in 3 ns; the page's times are those of tick 1000. */
static void set_times(uint64_t enabled_ns, uint64_t running_ns)
{
	machine.pages[0]->time_mult = 3u << 10;
	machine.pages[0]->time_shift = 10;
	machine.pages[0]->time_offset = (uint64_t)-3000;
	machine.pages[0]->time_enabled = enabled_ns;
	machine.pages[0]->time_running = running_ns;
}

START_TEST(times_are_those_of_the_reading)
{
	struct ps_eventset *set = started();

	schedule(0, 500);
	schedule(1, 700);
	set_times(90000, 45000);
	machine.ticks = 1000 + 5001;
	check_counts(set, 500 * (90000 + 15003) / (45000 + 15003),
	             700 * (90000 + 15003) / (45000 + 15003));
	struct ps_value value = scene_part(0, "cycles", 0);
	ck_assert_uint_eq(value.enabled_ns, 90000 + 15003);
	ck_assert_uint_eq(value.running_ns, 45000 + 15003);
	ck_assert_uint_eq(value.raw, 700);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_tick_register_of_few_bits_may_have_gone_round)
{
#ifdef HAVE_STRUCT_PERF_EVENT_MMAP_PAGE_TIME_CYCLES
	struct ps_eventset *set = started();

	schedule(0, 500);
	schedule(1, 700);
	set_times(90000, 90000);
	machine.pages[0]->cap_user_time_short = 1;
	machine.pages[0]->time_mask = 0xffffffff;
	machine.pages[0]->time_cycles = UINT64_C(0x7fffffff0);
	machine.pages[0]->time_offset = 0 - 3 * UINT64_C(0x7fffffff0);
	machine.ticks = 0x10; /* 32 after 0x...f0, the low bits alone */
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(scene_part(0, "cycles", 0).enabled_ns, 90000 + 3 * 32);
	ps_eventset_destroy(set);
#else
	ps_test_skip("the kernel's headers don't know it");
#endif
}
END_TEST

START_TEST(without_the_rate_of_ticks_it_is_read_2)
{
	struct ps_eventset *set = started();

	fake_advance(INSTRUCTIONS, 30);
	schedule(0, 500);
	schedule(1, 700);
	machine.pages[0]->cap_user_time = 0; /* the kernel has ceased to trust the ticks */
	check_counts(set, 30, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_stopped_set_is_read_by_read_2)
{
	struct ps_eventset *set = started();

	schedule(0, 500);
	schedule(1, 700);
	check_counts(set, 500, 700);
	fake_advance(INSTRUCTIONS, 501);
	fake_advance(CYCLES, 701);
	deschedule(0);
	deschedule(1);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total("instructions").value, 501);
	ck_assert_int_eq(scene_total("cycles").value, 701);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_pinned_group_that_lost_its_counter_keeps_what_it_counted)
{
	struct ps_eventset *set = scene_started("instructions:D", "cycles", NULL);
	struct ps_value value;

	check_path(set, PS_READ_PATH_USER, "");
	schedule(0, 500);
	schedule(1, 700);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	for (size_t i = 0; i < 2; i++) {
		deschedule(i);
		machine.pages[i]->offset = 800 + (int64_t)i;
	}
	fake_set_error_state(INSTRUCTIONS, true);
	ck_assert_int_eq(ps_read(set, scene.root, NULL, NULL), PS_PARTIAL);
	value = scene_part(0, "instructions:D", 0);
	ck_assert_uint_eq(value.raw, 800);
	ck_assert_uint_eq(scene_part(0, "cycles", 0).raw, 801);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: the next run is read by read(2). */
START_TEST(a_pinned_group_that_lost_its_counter_tells_its_time_and_begins_anew)
{
	struct ps_eventset *set = scene_started("instructions:D", "cycles", NULL);
	struct ps_value value;

	schedule(0, 500);
	schedule(1, 700);
	set_times(90000, 90000);
	machine.ticks = 1000;
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_count(INSTRUCTIONS, 800);
	fake_run(150000, 150000);
	deschedule(0);
	deschedule(1);
	machine.pages[0]->offset = 800;
	set_times(150000, 150000);
	fake_set_error_state(INSTRUCTIONS, true);
	ck_assert_int_eq(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	value = scene_part(0, "instructions:D", 0);
	ck_assert_uint_eq(value.raw, 800);
	ck_assert_uint_eq(value.running_ns, 150000);
	fake_set_error_state(INSTRUCTIONS, false);
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 7);
	fake_run(5000, 5000);
	if (!_i)
		schedule(0, 807);
	if (!_i)
		schedule(1, 700);
	set_times(155000, 155000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	value = scene_part(0, "instructions:D", 0);
	ck_assert_uint_eq(value.raw, 7);
	ck_assert_uint_eq(value.running_ns, 5000);
	ck_assert_uint_eq(value.enabled_ns, 5000);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(accumulating_and_new_readings_add_up)
{
	struct ps_eventset *set = started();
	uint64_t stamp = 0;

	schedule(0, 0);
	schedule(1, 0);
	for (int i = 1; i <= 10; i++) {
		machine.counters[1] += 7;
		check_ok(ps_accum(set, scene.root, &stamp, NULL));
		ck_assert_int_eq(scene_count(0, "instructions", 0), 7 * i);
	}
	for (int i = 1; i <= 10; i++) {
		stamp = 0;
		machine.counters[1] += 5;
		check_ok(ps_read(set, scene.root, &stamp, NULL));
		ck_assert_int_eq(scene_count(0, "instructions", stamp), 5 * i);
	}
	ps_eventset_destroy(set);
}
END_TEST

/* Twelve events on six counters are two groups: pages 0 to 5, and 6 to 11. */
START_TEST(of_two_groups_the_one_that_waits_is_read_by_read_2)
{
	static const char *const names[] = {"r1", "r2", "r3", "r4", "r5", "r6",
	                                    "r7", "r8", "r9", "ra", "rb", "rc"};

	struct ps_eventset *set = scene_set(NULL, NULL);
	for (size_t i = 0; i < 12; i++)
		check_ok(ps_eventset_add(set, names[i]));
	check_ok(ps_start(set));
	check_path(set, PS_READ_PATH_USER, "");
	ck_assert_uint_eq(machine.count, 12);
	ck_assert_uint_eq(ps_eventset_group_count(set), 2);
	fake_advance(PERF_TYPE_RAW, 1, 10);
	fake_advance(PERF_TYPE_RAW, 7, 70);
	fake_run(1000, 1000);
	for (size_t i = 6; i < 12; i++)
		schedule(i, 5 * i);
	machine.pages[6]->time_enabled = machine.pages[6]->time_running = 1000;
	fake_count_reset();
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(fake_count(FAKE_READ), 1);
	ck_assert_int_eq(scene_total("r1").value, 10);
	ck_assert_int_eq(scene_total("r7").value, 5 * 6);
	ck_assert_int_eq(scene_total("rc").value, 5 * 11);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(of_instances_the_one_where_the_thread_is_is_read_in_user_space)
{
	struct ps_eventset *set = scene_set("instructions", "cycles", NULL);

	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_EXACT));
	check_ok(ps_start(set));
	check_path(set, PS_READ_PATH_USER, "");
	ck_assert_uint_eq(machine.count, 8); /* two for each CPU */
	fake_set_cpu(0);
	schedule(0, 100);
	schedule(1, 200);
	fake_count_reset();
	check_counts(set, 100, 200);
	ck_assert_uint_eq(fake_count(FAKE_READ), 0);
	/* To CPU 2: what was counted on CPU 0 is the kernel's to tell. */
	deschedule(0);
	deschedule(1);
	fake_advance(INSTRUCTIONS, 150);
	fake_advance(CYCLES, 250);
	fake_set_cpu(2);
	schedule(4, 1000);
	schedule(5, 2000);
	check_counts(set, 1150, 2250);
	ck_assert_uint_eq(fake_count(FAKE_READ), 1);
	ck_assert_int_eq(scene_count(0, "instructions", 0), 150);
	ck_assert_int_eq(scene_count(2, "instructions", 0), 1000);
	for (size_t i = 0; i < 8; i++)
		deschedule(i);
	fake_advance(INSTRUCTIONS, 1000);
	fake_advance(CYCLES, 2000);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reading in user space");
	TCase *reading = scene_case_last_cpu(suite, "reading");

	tcase_add_checked_fixture(reading, arrange, NULL);
	tcase_add_test(reading, a_group_on_the_hardware_is_read_without_a_system_call);
	tcase_add_loop_test(reading, a_counter_is_extended_from_its_width, 0, 10);
	tcase_add_loop_test(reading, one_that_is_not_on_the_hardware_means_read_2_for_all, 0, 2);
	tcase_add_test(reading, a_counter_that_the_processor_cannot_name_means_read_2);
	tcase_add_loop_test(reading, a_group_that_is_moved_meanwhile_is_read_again, 0, 2);
	tcase_add_test(reading, a_counter_that_is_moved_after_it_was_read_was_read_right);
	tcase_add_test(reading, a_group_that_is_moved_all_the_time_is_read_by_read_2);
	tcase_add_loop_test(reading, a_page_that_is_being_written_is_not_believed, 0, 2);
	tcase_add_test(reading, times_are_those_of_the_reading);
	tcase_add_test(reading, a_tick_register_of_few_bits_may_have_gone_round);
	tcase_add_test(reading, without_the_rate_of_ticks_it_is_read_2);
	tcase_add_test(reading, a_stopped_set_is_read_by_read_2);
	tcase_add_test(reading, a_pinned_group_that_lost_its_counter_keeps_what_it_counted);
	tcase_add_loop_test(
	    reading, a_pinned_group_that_lost_its_counter_tells_its_time_and_begins_anew, 0, 2);
	tcase_add_test(reading, accumulating_and_new_readings_add_up);
	tcase_add_test(reading, of_two_groups_the_one_that_waits_is_read_by_read_2);
	tcase_add_test(reading, of_instances_the_one_where_the_thread_is_is_read_in_user_space);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The labels of intervals between snapshots, in memory and in a log: an interval that spans
 * ps_accum, ps_reset or ps_start has the labels of what was counted before it, too; one that begins
 * after it has not. The clock stands still but where a test moves it.
 */
#include "eventset/eventset.h"
#include "support/unmarked.h"
#include "test_log.h"

#define US     UINT64_C(1000)
#define POINTS 4

/* Snapshots, and the points of one record. */
struct course {
	struct ps_eventset *set;
	struct ps_log *log;
	struct ps_log_stream *stream;
	struct ps_log_reader *reader;
	struct ps_snapshot *snapshots[POINTS];
	unsigned taken;
};

/* The set is started on CPU 0, to which its thread is bound; then it is unbound. */
static struct course begun(void)
{
	static const char *const points[POINTS] = {"a", "b", "c", "d"};
	const struct ps_log_type type = {
	    .size = sizeof type, .name = "course", .points = points, .point_count = POINTS};
	struct course course = {.set = scene_set(EVENT, NULL), .log = log_of(NULL)};

	scene_pass(0);
	fake_set_affinity("0");
	check_ok(ps_start(course.set));
	fake_set_affinity("0-3");
	check_ok(ps_log_stream_create(&course.stream, course.log, course.set, &type));
	return course;
}

/* The next snapshot, and the log's point beside it. */
static void take(struct course *course)
{
	check_ok(ps_snapshot_take(course->set, &course->snapshots[course->taken]));
	check_ok(ps_log_take(course->stream, course->taken++));
	scene_pass(US);
}

/* The record is written, and can be read. */
static void finish(struct course *course)
{
	check_ok(ps_log_write(course->stream));
	ps_log_stream_destroy(course->stream);
	ps_log_destroy(course->log);
	course->reader = log_reader();
	check_ok(ps_log_next(course->reader, NULL));
	ck_assert_uint_eq(ps_log_damaged_blocks(course->reader), 0);
}

static void end(struct course *course)
{
	for (unsigned point = 0; point < course->taken; point++)
		ps_snapshot_destroy(course->snapshots[point]);
	ps_log_close(course->reader);
	ps_eventset_destroy(course->set);
}

static struct ps_value in_memory(const struct course *course, int from, int to, int cpu)
{
	struct ps_value value;

	check_ok(ps_snapshot_difference(
	    course->set, from < 0 ? NULL : course->snapshots[from], course->snapshots[to],
	    ps_component_find(scene.root, PS_COMPONENT_THREAD, cpu), &value, 1));
	return value;
}

static struct ps_value in_log(const struct course *course, int from, int to, int cpu)
{
	struct ps_component *thread =
	    ps_component_find(ps_log_root(course->reader), PS_COMPONENT_THREAD, cpu);
	struct ps_value value;

	check_ok(ps_log_interval(course->reader, from < 0 ? PS_LOG_START : (unsigned)from,
	                         (unsigned)to, thread, &value, 1));
	return value;
}

/* from -1: since the beginning. */
static void check(const struct course *course, int from, int to, int cpu, long long count,
                  enum ps_attribution attribution, uint32_t flags)
{
	const struct ps_value values[] = {in_memory(course, from, to, cpu),
	                                  in_log(course, from, to, cpu)};

	for (size_t index = 0; index < 2; index++) {
		ck_assert_int_eq(values[index].value, count);
		ck_assert_str_eq(ps_attribution_name(values[index].attribution),
		                 ps_attribution_name(attribution));
		ck_assert_uint_eq(values[index].flags, flags);
	}
}

/* The counts start over, in one of the ways. */
static void start_over(struct ps_eventset *set, int way)
{
	uint64_t timestamp = 0;

	if (way == 0) {
		check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	} else if (way == 1) {
		check_ok(ps_reset(set));
	} else {
		check_ok(ps_stop(set, scene.root, &timestamp, NULL));
		check_ok(ps_start(set));
	}
}

/* 800 faults while the task moved from CPU 0 to CPU 2: an estimate. */
static void move(void)
{
	scene_pass(600 * US);
	fake_set_cpu(2);
	scene_pass(200 * US);
	fake_advance(PAGE_FAULTS, 800);
}

/* _i: how the counts start over. Before they do, the estimate is in no snapshot. */
START_TEST(an_estimate_is_called_so_across_a_new_start_and_not_after_it)
{
	struct course course = begun();

	take(&course);
	move();
	start_over(course.set, _i);
	fake_advance(PAGE_FAULTS, 1);
	take(&course);
	fake_advance(PAGE_FAULTS, 7);
	take(&course);
	ck_assert_ptr_nonnull(course.set->fast_path.root);
	fake_advance(PAGE_FAULTS, 3);
	take(&course);
	finish(&course);
	check(&course, 0, 1, 0, 600, PS_ATTRIBUTION_MIXED, 0);
	check(&course, 0, 1, 2, 201, PS_ATTRIBUTION_MIXED, 0);
	check(&course, 0, 3, 2, 211, PS_ATTRIBUTION_MIXED, 0);
	check(&course, -1, 3, 0, 600, PS_ATTRIBUTION_MIXED, 0);
	check(&course, 1, 2, 2, 7, PS_ATTRIBUTION_EXACT, 0);
	check(&course, 1, 3, 2, 10, PS_ATTRIBUTION_EXACT, 0);
	end(&course);
}
END_TEST

START_TEST(an_interval_within_one_start_has_its_labels_as_ever)
{
	struct course course = begun();

	start_over(course.set, _i);
	take(&course);
	fake_advance(PAGE_FAULTS, 4);
	take(&course);
	start_over(course.set, _i);
	fake_advance(PAGE_FAULTS, 5);
	take(&course);
	finish(&course);
	check(&course, 0, 1, 0, 4, PS_ATTRIBUTION_PINNED, 0);
	check(&course, 0, 2, 0, 9, PS_ATTRIBUTION_PINNED, 0);
	check(&course, 1, 2, 0, 5, PS_ATTRIBUTION_PINNED, 0);
	end(&course);
}
END_TEST

START_TEST(flags_are_kept_across_a_new_start_and_not_after_it)
{
	struct course course = begun();

	fake_advance(PAGE_FAULTS, 100);
	take(&course);
	fake_set_count(PAGE_FAULTS, 30);
	start_over(course.set, _i);
	fake_advance(PAGE_FAULTS, 2);
	take(&course);
	fake_advance(PAGE_FAULTS, 5);
	take(&course);
	finish(&course);
	ck_assert_uint_eq(in_memory(&course, 0, 1, 0).flags, PS_VALUE_WENT_BACK);
	ck_assert_uint_eq(in_log(&course, 0, 1, 0).flags, PS_VALUE_WENT_BACK);
	check(&course, 1, 2, 0, 5, PS_ATTRIBUTION_PINNED, 0);
	end(&course);
}
END_TEST

/* The switch ring overflows after the counts started over on CPU 2: some of them may be CPU 0's. It
 * has none of its own since, but the interval has. */
START_TEST(a_part_without_new_counts_is_in_doubt_too)
{
	struct course course = begun();

	take(&course);
	fake_advance(PAGE_FAULTS, 9);
	take(&course);
	fake_set_cpu(2);
	start_over(course.set, _i);
	take(&course);
	for (int turn = 0; turn < 2003; turn++)
		fake_set_cpu(turn % 4);
	scene_pass(100 * US);
	fake_advance(PAGE_FAULTS, 80);
	take(&course);
	finish(&course);
	check(&course, 0, 1, 0, 9, PS_ATTRIBUTION_PINNED, 0);
	check(&course, 2, 3, 2, 80, PS_ATTRIBUTION_LAST_CPU, 0);
	check(&course, 0, 3, 0, 9, PS_ATTRIBUTION_LAST_CPU, 0);
	check(&course, 2, 3, 0, 0, PS_ATTRIBUTION_LAST_CPU, 0);
	end(&course);
}
END_TEST

/* Records on all paths of the writer, in several blocks. */
START_TEST(each_record_of_a_set_that_starts_over_has_its_labels)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	unsigned records = 2000;

	scene_pass(0);
	fake_set_affinity("0");
	check_ok(ps_start(set));
	fake_set_affinity("0-3");
	struct ps_log_stream *stream = log_stream(log, set);
	for (unsigned number = 0; number < records; number++) {
		if (number == 20)
			move();
		if (number % 16 == 8)
			check_ok(ps_reset(set));
		log_record(stream, 3);
		scene_pass(US);
	}
	ck_assert_int_gt(log_size(), 3 * 65536);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	struct ps_log_reader *reader = log_reader();
	for (unsigned number = 0; number < records; number++) {
		struct ps_value value;
		ck_assert(log_next(reader, number));
		check_ok(ps_log_interval(reader, BEGIN, END, NULL, &value, 1));
		ck_assert_int_eq(value.value, 3);
		ck_assert_int_eq((int)value.attribution, number < 20   ? PS_ATTRIBUTION_PINNED
		                                         : number < 24 ? PS_ATTRIBUTION_MIXED
		                                                       : PS_ATTRIBUTION_EXACT);
		check_ok(ps_log_interval(reader, PS_LOG_START, END, NULL, &value, 1));
		ck_assert_int_eq(value.value, 3 * (number + 1) + (number < 20 ? 0 : 800));
		ck_assert_int_eq((int)value.attribution,
		                 number < 20 ? PS_ATTRIBUTION_PINNED : PS_ATTRIBUTION_MIXED);
	}
	ck_assert(!log_next(reader, records));
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
	ps_log_close(reader);
}
END_TEST

/* The set keeps room for readings on all CPUs, and the task was on one of them. */
START_TEST(no_interval_is_known_where_the_task_never_was)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_value value = {.value = 42};

	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_eventset_reserve(set, 10));
	check_ok(ps_start(set));
	struct ps_log_stream *stream = log_stream(log, set);
	log_record(stream, 0);
	log_record(stream, 3);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	struct ps_log_reader *reader = log_reader();
	const struct ps_component *root = ps_log_root(reader);
	ck_assert(log_next(reader, 0));
	check_ok(ps_log_interval(reader, BEGIN, END, root, &value, 1));
	ck_assert_int_eq(value.value, 0);
	value.value = 42;
	ck_assert(log_next(reader, 1));
	check_fails(ps_log_interval(reader, BEGIN, END,
	                            ps_component_find(root, PS_COMPONENT_THREAD, 1), &value, 1),
	            PS_ENOEVST);
	ck_assert_int_eq(value.value, 42);
	const struct ps_component *here = ps_component_find(root, PS_COMPONENT_THREAD, 0);
	check_ok(ps_log_interval(reader, BEGIN, END, here, &value, 1));
	ck_assert_int_eq(value.value, 3);
	check_ok(ps_log_interval(reader, END, END, here, &value, 1));
	ck_assert_int_eq(value.value, 0);
	ps_log_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("labels of intervals");
	TCase *tests = scene_case_of(suite, "interval_label", log_setup, log_teardown);

	tcase_add_loop_test(tests, an_estimate_is_called_so_across_a_new_start_and_not_after_it, 0,
	                    3);
	tcase_add_loop_test(tests, an_interval_within_one_start_has_its_labels_as_ever, 0, 2);
	tcase_add_loop_test(tests, flags_are_kept_across_a_new_start_and_not_after_it, 0, 2);
	tcase_add_loop_test(tests, a_part_without_new_counts_is_in_doubt_too, 0, 2);
	tcase_add_test(tests, no_interval_is_known_where_the_task_never_was);
	tcase_add_test(tests, each_record_of_a_set_that_starts_over_has_its_labels);
	return scene_run(suite);
}

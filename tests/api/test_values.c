/* SPDX-License-Identifier: BSD-3-Clause */
/* A set's values as an array, on this machine: what a program that kept PAPI's values[] wants. */
#include "here.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGES 100

static struct ps_eventset *set;

static void setup(void)
{
	here_setup();
	here_map_page();
	set = NULL;
}

static void teardown(void)
{
	ps_eventset_destroy(set);
	here_teardown();
}

static void touch(int pages)
{
	for (int page = 0; page < pages; page++)
		here_touch();
}

START_TEST(two_lines_take_the_place_of_papi_stop)
{
	struct ps_value values[2], sum;
	long long counts[2];

	if (!here_may_count(HERE_FAULTS))
		return;
	set = here_faults(PS_ATTRIBUTE_AUTO, 100);
	check_ok(ps_start(set));
	touch(PAGES);
	check_ok(ps_stop(set, here.root, NULL, NULL));
	check_ok(ps_eventset_values(set, 0, values, 2));
	for (size_t index = 0; index < 2; index++) {
		check_ok(ps_eventset_reading(set, here.root, ps_eventset_event_name(set, index), 0,
		                             &sum));
		ck_assert_int_eq(values[index].value, sum.value);
		ck_assert_uint_eq(values[index].timestamp, sum.timestamp);
		ck_assert_int_eq((int)values[index].status, PS_STATUS_COUNTED);
		check_ok(ps_component_reading(here.root, ps_eventset_event_name(set, index),
		                              sum.timestamp, &sum));
		ck_assert_int_eq(values[index].value, sum.value);
	}
	ck_assert_int_ge(values[0].value, PAGES);
	check_ok(ps_eventset_counts(set, 0, counts, 2));
	ck_assert_int_eq(counts[0], values[0].value);
	ck_assert_int_eq(counts[1], values[1].value);
}
END_TEST

/* Through the calls for languages without FILE *. */
START_TEST(an_earlier_reading_goes_to_a_path_and_to_a_descriptor)
{
	struct ps_export_options options = {.size = sizeof options};
	char path[] = "/tmp/perfsage-test-XXXXXX";
	uint64_t first = 0, second = 0;
	struct stat status;

	if (!here_may_count(HERE_FAULTS))
		return;
	set = here_faults(PS_ATTRIBUTE_AUTO, 100);
	check_ok(ps_start(set));
	touch(PAGES);
	check_ok(ps_read(set, here.root, &first, NULL));
	check_ok(ps_stop(set, here.root, &second, NULL));
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	options.timestamp = first;
	check_ok(ps_export_to_path(here.root, PS_FORMAT_JSON, &options, path));
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_int_gt((int)status.st_size, 100);
	check_ok(ps_export_to_fd(here.root, PS_FORMAT_JSON, &options, fd));
	struct ps_print_options print = {.size = sizeof print, .timestamp = second};
	check_ok(ps_print_to_fd(here.root, &print, fd));
	check_ok(ps_print_to_path(here.root, &print, path));
	print.timestamp = 1;
	ck_assert_int_eq(ps_print_to_path(here.root, &print, path), PS_ENOEVST);
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(another_sets_count_of_the_event_is_not_in_them)
{
	struct ps_value values[2], again[2];

	if (!here_may_count(HERE_FAULTS))
		return;
	set = here_faults(PS_ATTRIBUTE_AUTO, 100);
	check_ok(ps_start(set));
	touch(PAGES);
	check_ok(ps_stop(set, here.root, NULL, NULL));
	check_ok(ps_eventset_values(set, 0, values, 2));
	struct ps_eventset *other = here_faults(PS_ATTRIBUTE_AUTO, 100);
	check_ok(ps_start(other));
	touch(PAGES);
	check_ok(ps_stop(other, here.root, NULL, NULL));
	check_ok(ps_eventset_values(set, 0, again, 2));
	ck_assert_int_eq(again[0].value, values[0].value);
	ck_assert_int_eq(again[1].value, values[1].value);
	ps_eventset_destroy(other);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("values");
	TCase *tests = tcase_create("a set's values");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, two_lines_take_the_place_of_papi_stop);
	tcase_add_test(tests, an_earlier_reading_goes_to_a_path_and_to_a_descriptor);
	tcase_add_test(tests, another_sets_count_of_the_event_is_not_in_them);
	suite_add_tcase(suite, tests);
	return here_run(suite);
}

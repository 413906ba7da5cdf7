/* SPDX-License-Identifier: BSD-3-Clause */
/* Attrs on this kernel: what it refuses is named, and sets count with what it takes. */
#include "here.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

#define NOTHING ((enum ps_attr_field)999)

static struct ps_attr *new_attr(const char *event)
{
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, event));
	return attr;
}

START_TEST(the_kernel_tells_the_size_of_its_struct)
{
	size_t size_bytes = 0;

	check_ok(ps_attr_kernel_size(&size_bytes));
	/* Linux 4.10 had 112, and all fields are words. */
	ck_assert_uint_ge(size_bytes, 112);
	ck_assert_uint_le(size_bytes, 4096);
	ck_assert_uint_eq(size_bytes % 8, 0);
}
END_TEST

/* Each field alone, beside some that are always taken: this kernel takes it, or it is blamed
 * itself; never another one. */
START_TEST(a_field_that_is_refused_is_the_one_that_was_set)
{
	uint64_t value;

	for (int field = 0; ps_attr_field_name((enum ps_attr_field)field); field++) {
		struct ps_attr *attr = new_attr("cpu-clock:u");
		enum ps_attr_field refused = NOTHING;
		check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 1000000));
		check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_IP | PERF_SAMPLE_TID));
		check_ok(ps_attr_set(attr, PS_ATTR_TASK, 1));
		check_ok(ps_attr_get(attr, (enum ps_attr_field)field, &value));
		/* Another encoding would be another event; aux_action is three other fields. */
		if (field == PS_ATTR_SIZE || field == PS_ATTR_TYPE || field == PS_ATTR_CONFIG ||
		    field == PS_ATTR_AUX_ACTION ||
		    ps_attr_set(attr, (enum ps_attr_field)field, value ^ 1) != PS_OK) {
			ps_attr_destroy(attr);
			continue;
		}
		int result = ps_attr_check(attr, &refused);
		const char *name = ps_attr_field_name((enum ps_attr_field)field);
		if (result == PS_OK)
			ck_assert_int_eq(refused, NOTHING);
		else
			ck_assert_msg(strstr(ps_error_detail(), name) != NULL, "%s: %s, %s", name,
			              ps_attr_field_name(refused), ps_error_detail());
		ps_attr_destroy(attr);
	}
}
END_TEST

START_TEST(precise_ip_of_a_software_event_is_refused)
{
	struct ps_attr *attr = new_attr("cpu-clock:u");
	enum ps_attr_field refused = NOTHING;

	check_ok(ps_attr_check(attr, &refused));
	check_ok(ps_attr_set(attr, PS_ATTR_PRECISE_IP, 2));
	ck_assert_int_eq(ps_attr_check(attr, &refused), PS_ENOSUPP);
	ck_assert_int_eq(refused, PS_ATTR_PRECISE_IP);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(the_field_is_found_among_many)
{
	struct ps_attr *attr = new_attr("cpu-clock:u");
	enum ps_attr_field refused = NOTHING;

	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 1000000));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_TYPE,
	                     PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME));
	check_ok(ps_attr_set(attr, PS_ATTR_MMAP, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_COMM, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_ID_ALL, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_EXCLUSIVE, 1));
	check_ok(ps_attr_check(attr, &refused));
	check_ok(ps_attr_set(attr, PS_ATTR_READ_FORMAT, UINT64_C(1) << 40));
	ck_assert_int_eq(ps_attr_check(attr, &refused), PS_ENOSUPP);
	ck_assert_int_eq(refused, PS_ATTR_READ_FORMAT);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "bit 40"));
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_set_counts_with_an_attr)
{
	struct ps_eventset *set = NULL;
	struct ps_attr *attr = new_attr(HERE_FAULTS);

	check_ok(ps_attr_set(attr, PS_ATTR_EXCLUSIVE, 1));
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add_attr(set, attr));
	ps_attr_destroy(attr);
	here_map_page();
	check_ok(ps_start(set));
	for (int i = 0; i < 20; i++)
		here_touch();
	check_ok(ps_stop(set, here.root, NULL, NULL));
	ck_assert_int_ge(here_sum(HERE_FAULTS, 0), 20);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attr");
	TCase *tests = here_case(suite, "attr");

	tcase_add_test(tests, the_kernel_tells_the_size_of_its_struct);
	tcase_add_test(tests, a_field_that_is_refused_is_the_one_that_was_set);
	tcase_add_test(tests, precise_ip_of_a_software_event_is_refused);
	tcase_add_test(tests, the_field_is_found_among_many);
	tcase_add_test(tests, a_set_counts_with_an_attr);
	return here_run_if_counted(suite);
}

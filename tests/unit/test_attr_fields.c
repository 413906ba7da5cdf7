/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/attr.c and attr_field.c: an attr from a name, and each field of the kernel's struct
 * set and read. */
#include "event/attr.h"
#include "sample/attr.h"
#include "support/scene.h"

#include <errno.h>

static struct ps_attr *new_attr(const char *event)
{
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, event));
	ck_assert_ptr_nonnull(attr);
	return attr;
}

static uint64_t get(const struct ps_attr *attr, enum ps_attr_field field)
{
	uint64_t value = 12345;

	check_ok(ps_attr_get(attr, field, &value));
	return value;
}

/* The compiler's own idea of where the fields are. */
#define PLACES(X)                                             \
	X(TYPE, type)                                         \
	X(CONFIG, config)                                     \
	X(SAMPLE_TYPE, sample_type)                           \
	X(READ_FORMAT, read_format)                           \
	X(DISABLED, disabled)                                 \
	X(INHERIT, inherit)                                   \
	X(PINNED, pinned)                                     \
	X(EXCLUSIVE, exclusive)                               \
	X(EXCLUDE_USER, exclude_user)                         \
	X(EXCLUDE_KERNEL, exclude_kernel)                     \
	X(EXCLUDE_HV, exclude_hv)                             \
	X(EXCLUDE_IDLE, exclude_idle)                         \
	X(MMAP, mmap)                                         \
	X(COMM, comm)                                         \
	X(FREQ, freq)                                         \
	X(INHERIT_STAT, inherit_stat)                         \
	X(ENABLE_ON_EXEC, enable_on_exec)                     \
	X(TASK, task)                                         \
	X(WATERMARK, watermark)                               \
	X(PRECISE_IP, precise_ip)                             \
	X(MMAP_DATA, mmap_data)                               \
	X(SAMPLE_ID_ALL, sample_id_all)                       \
	X(EXCLUDE_HOST, exclude_host)                         \
	X(EXCLUDE_GUEST, exclude_guest)                       \
	X(EXCLUDE_CALLCHAIN_KERNEL, exclude_callchain_kernel) \
	X(EXCLUDE_CALLCHAIN_USER, exclude_callchain_user)     \
	X(MMAP2, mmap2)                                       \
	X(COMM_EXEC, comm_exec)                               \
	X(USE_CLOCKID, use_clockid)                           \
	X(CONTEXT_SWITCH, context_switch)                     \
	X(WRITE_BACKWARD, write_backward)                     \
	X(NAMESPACES, namespaces)                             \
	X(BP_TYPE, bp_type)                                   \
	X(BP_ADDR, bp_addr)                                   \
	X(CONFIG1, config1)                                   \
	X(BP_LEN, bp_len)                                     \
	X(CONFIG2, config2)                                   \
	X(BRANCH_SAMPLE_TYPE, branch_sample_type)             \
	X(SAMPLE_REGS_USER, sample_regs_user)                 \
	X(CLOCKID, clockid)                                   \
	X(SAMPLE_REGS_INTR, sample_regs_intr)                 \
	X(AUX_WATERMARK, aux_watermark)                       \
	X(SAMPLE_MAX_STACK, sample_max_stack)

START_TEST(each_field_is_where_the_compiler_has_it)
{
	struct ps_attr *attr = new_attr("page-faults");

#define CHECK_PLACE(upper, lower)                                  \
	{                                                          \
		uint64_t old = get(attr, PS_ATTR_##upper);         \
		check_ok(ps_attr_set(attr, PS_ATTR_##upper, 1));   \
		ck_assert((uint64_t)attr->event.attr.lower == 1);  \
		check_ok(ps_attr_set(attr, PS_ATTR_##upper, 0));   \
		ck_assert((uint64_t)attr->event.attr.lower == 0);  \
		check_ok(ps_attr_set(attr, PS_ATTR_##upper, old)); \
	}
	PLACES(CHECK_PLACE)
	ps_attr_destroy(attr);
}
END_TEST

/* All bits of one field set, and no bit of another field that isn't in its word. */
START_TEST(each_field_keeps_its_whole_range_and_touches_no_other)
{
	struct ps_attr *attr = new_attr("page-faults");
	union ps__attr none = {.later = {0}}, words;

	for (int field = 0; field < PS__ATTR_FIELDS; field++) {
		const struct ps__attr_field *where = ps__attr_field((enum ps_attr_field)field);
		uint64_t largest = ps__attr_field_largest((enum ps_attr_field)field);
		int changed = 0;
		words = none;
		ps__attr_field_write(&words, (enum ps_attr_field)field, largest);
		ck_assert_uint_eq(ps__attr_field_read(&words, (enum ps_attr_field)field), largest);
		for (size_t at = 0; at < sizeof words; at++) {
			bool is_inside =
			    at >= where->offset && at < where->offset + where->size_bytes;
			unsigned char byte = ((unsigned char *)&words)[at];
			ck_assert_msg(is_inside || byte == 0, "%s", where->name);
			changed += __builtin_popcount(byte);
		}
		if (!where->largest)
			ck_assert_int_eq(changed, where->bits);
		ps__attr_field_write(&words, (enum ps_attr_field)field, 0);
		ck_assert_mem_eq(&words, &none, sizeof none);
	}
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(each_field_has_a_name_of_its_own)
{
	for (int field = 0; field < PS__ATTR_FIELDS; field++) {
		const char *name = ps_attr_field_name((enum ps_attr_field)field);
		ck_assert_ptr_nonnull(name);
		for (int other = 0; other < field; other++)
			ck_assert_str_ne(ps_attr_field_name((enum ps_attr_field)other), name);
	}
	ck_assert_str_eq(ps_attr_field_name(PS_ATTR_SAMPLE_PERIOD), "sample_period");
	ck_assert_ptr_null(ps_attr_field_name((enum ps_attr_field)PS__ATTR_FIELDS));
	ck_assert_ptr_null(ps_attr_field_name((enum ps_attr_field) - 1));
}
END_TEST

START_TEST(a_new_attr_has_what_the_name_says)
{
	struct ps_attr *attr = new_attr("page-faults:u");

	ck_assert_uint_eq(get(attr, PS_ATTR_TYPE), PERF_TYPE_SOFTWARE);
	ck_assert_uint_eq(get(attr, PS_ATTR_CONFIG), PERF_COUNT_SW_PAGE_FAULTS);
	ck_assert_uint_eq(get(attr, PS_ATTR_EXCLUDE_KERNEL), 1);
	ck_assert_uint_eq(get(attr, PS_ATTR_EXCLUDE_USER), 0);
	ck_assert_uint_eq(get(attr, PS_ATTR_DISABLED), 1);
	ck_assert_uint_eq(get(attr, PS_ATTR_SIZE), sizeof(struct perf_event_attr));
	ck_assert_uint_eq(get(attr, PS_ATTR_SAMPLE_PERIOD), 0);
	ps_attr_destroy(attr);
	ps_attr_destroy(NULL);
}
END_TEST

/* Only clocks count nanoseconds. */
START_TEST(the_unit_is_that_of_what_is_counted)
{
	struct ps_attr *attr = new_attr("task-clock");

	ck_assert_str_eq(attr->event.unit, "ns");
	check_ok(ps_attr_set(attr, PS_ATTR_CONFIG, PERF_COUNT_SW_PAGE_FAULTS));
	ck_assert_str_eq(attr->event.unit, "");
	check_ok(ps_attr_set(attr, PS_ATTR_CONFIG, PERF_COUNT_SW_CPU_CLOCK));
	ck_assert_str_eq(attr->event.unit, "ns");
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(later_words_make_the_struct_longer)
{
	struct ps_attr *attr = new_attr("page-faults");

	check_ok(ps_attr_set(attr, PS_ATTR_CONFIG3, UINT64_MAX));
	check_ok(ps_attr_set(attr, PS_ATTR_CONFIG4, 7));
	ck_assert_uint_eq(get(attr, PS_ATTR_SIZE), sizeof(union ps__attr));
	ck_assert_uint_eq(get(attr, PS_ATTR_CONFIG3), UINT64_MAX);
	ck_assert_uint_eq(get(attr, PS_ATTR_CONFIG4), 7);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_word_with_two_meanings_has_one_of_them)
{
	struct ps_attr *attr = new_attr("page-faults");

	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_FREQ, 4000));
	ck_assert_uint_eq(get(attr, PS_ATTR_FREQ), 1);
	ck_assert_uint_eq(get(attr, PS_ATTR_SAMPLE_FREQ), 4000);
	ck_assert_uint_eq(get(attr, PS_ATTR_SAMPLE_PERIOD), 0);
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 10));
	ck_assert_uint_eq(get(attr, PS_ATTR_FREQ), 0);
	ck_assert_uint_eq(get(attr, PS_ATTR_SAMPLE_FREQ), 0);
	ck_assert_uint_eq(get(attr, PS_ATTR_SAMPLE_PERIOD), 10);
	check_ok(ps_attr_set(attr, PS_ATTR_WAKEUP_WATERMARK, 4096));
	ck_assert_uint_eq(get(attr, PS_ATTR_WATERMARK), 1);
	ck_assert_uint_eq(get(attr, PS_ATTR_WAKEUP_EVENTS), 0);
	check_ok(ps_attr_set(attr, PS_ATTR_WAKEUP_EVENTS, 3));
	ck_assert_uint_eq(get(attr, PS_ATTR_WATERMARK), 0);
	ck_assert_uint_eq(get(attr, PS_ATTR_WAKEUP_EVENTS), 3);
	ck_assert_uint_eq(get(attr, PS_ATTR_WAKEUP_WATERMARK), 0);
	ps_attr_destroy(attr);
}
END_TEST

static const struct range {
	enum ps_attr_field field;
	uint64_t largest, beyond;
	const char *sentence;
} ranges[] = {
    {PS_ATTR_PRECISE_IP, 3, 4, "precise_ip: 4 is out of its range, 0 to 3"},
    {PS_ATTR_EXCLUSIVE, 1, 2, "exclusive: 2 is out of its range, 0 to 1"},
    {PS_ATTR_SIGTRAP, 1, 3, "sigtrap: 3 is out of its range, 0 to 1"},
    {PS_ATTR_SAMPLE_MAX_STACK, 65535, 65536, "sample_max_stack: 65536 is out of its range"},
    {PS_ATTR_WAKEUP_EVENTS, UINT32_MAX, UINT64_C(1) << 32, "0 to 4294967295"},
    {PS_ATTR_SAMPLE_STACK_USER, 65528, 65536, "sample_stack_user: 65536 is out of its range"},
    {PS_ATTR_SAMPLE_STACK_USER, 8, 12, "12 is out of its range, the multiples of 8"},
    {PS_ATTR_SAMPLE_PERIOD, INT64_MAX, UINT64_C(1) << 63, "0 to 9223372036854775807"},
    {PS_ATTR_CLOCKID, (uint64_t)INT32_MIN, UINT64_C(1) << 31,
     "clockid: 2147483648 is out of its range, -2147483648 to 2147483647"},
    {PS_ATTR_AUX_RESUME, 1, 2, "aux_resume: 2 is out of its range"},
};

START_TEST(a_value_out_of_range_is_refused_with_the_range)
{
	const struct range *range = &ranges[_i];
	struct ps_attr *attr = new_attr("page-faults");

	check_ok(ps_attr_set(attr, range->field, range->largest));
	ck_assert_uint_eq(get(attr, range->field), range->largest);
	check_fails(ps_attr_set(attr, range->field, range->beyond), PS_EATTR);
	check_detail("'page-faults'");
	check_detail(range->sentence);
	ck_assert_uint_eq(get(attr, range->field), range->largest);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(arguments_that_are_none_are_refused)
{
	struct ps_attr *attr = new_attr("page-faults"), *other = NULL;
	uint64_t value = 77;

	check_fails(ps_attr_create(NULL, "page-faults"), PS_EINVAL);
	check_fails(ps_attr_create(&other, NULL), PS_EINVAL);
	check_fails(ps_attr_create(&other, ""), PS_EINVAL);
	check_fails(ps_attr_create(&other, "page-fault"), PS_ENOEVNT);
	check_detail("'page-faults'");
	check_fails(ps_attr_create(&other, "page-faults:x"), PS_EATTR);
	check_fails(ps_attr_clone(NULL, attr), PS_EINVAL);
	check_fails(ps_attr_clone(&other, NULL), PS_EINVAL);
	ck_assert_ptr_null(other);
	check_fails(ps_attr_set(NULL, PS_ATTR_CONFIG, 1), PS_EINVAL);
	check_fails(ps_attr_set(attr, (enum ps_attr_field)PS__ATTR_FIELDS, 1), PS_EATTR);
	check_detail("there is no field");
	check_fails(ps_attr_set(attr, PS_ATTR_SIZE, 128), PS_EATTR);
	check_detail("size is not to be set");
	check_fails(ps_attr_get(NULL, PS_ATTR_CONFIG, &value), PS_EINVAL);
	check_fails(ps_attr_get(attr, PS_ATTR_CONFIG, NULL), PS_EINVAL);
	check_fails(ps_attr_get(attr, (enum ps_attr_field) - 1, &value), PS_EATTR);
	ck_assert_uint_eq(value, 77);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_clone_has_fields_of_its_own)
{
	struct ps_attr *attr = new_attr("page-faults"), *clone = NULL;

	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 5));
	check_ok(ps_attr_clone(&clone, attr));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 6));
	ck_assert_uint_eq(get(clone, PS_ATTR_SAMPLE_PERIOD), 5);
	ps_attr_destroy(attr);
	ck_assert_str_eq(clone->event.name, "page-faults");
	ps_attr_destroy(clone);
}
END_TEST

/* The address of the path is that of the copy's own string. */
START_TEST(a_probe_keeps_its_path_until_another_is_set)
{
	static const char path[] = "/bin/other";
	struct ps_attr *attr, *clone = NULL;

	fake_add_pmu(7, 1);
	fake_file("/sys/bus/event_source/devices/uprobe/type", "7\n");
	fake_file("/sys/bus/event_source/devices/uprobe/format/retprobe", "config:0\n");
	attr = new_attr("uprobe/path=/bin/sh,offset=0x10/");
	check_ok(ps_attr_clone(&clone, attr));
	ps_attr_destroy(attr);
	ck_assert_str_eq((const char *)(uintptr_t)get(clone, PS_ATTR_UPROBE_PATH), "/bin/sh");
	check_ok(ps_attr_set(clone, PS_ATTR_PROBE_OFFSET, 0x20));
	ck_assert_str_eq((const char *)(uintptr_t)get(clone, PS_ATTR_UPROBE_PATH), "/bin/sh");
	check_ok(ps_attr_set(clone, PS_ATTR_UPROBE_PATH, (uintptr_t)path));
	ck_assert_uint_eq(get(clone, PS_ATTR_CONFIG1), (uintptr_t)path);
	check_ok(ps_attr_clone(&attr, clone));
	ck_assert_uint_eq(get(attr, PS_ATTR_CONFIG1), (uintptr_t)path);
	ps_attr_destroy(attr);
	ps_attr_destroy(clone);
}
END_TEST

/* An event type of the user's own: what a set must know of it follows from the PMU. */
START_TEST(another_type_is_another_pmu)
{
	struct ps_attr *attr = new_attr("page-faults");

	fake_add_core_pmu(4);
	fake_file("/sys/bus/event_source/devices/energy/type", "30\n");
	fake_file("/sys/bus/event_source/devices/energy/cpumask", "0\n");
	check_ok(ps_attr_set(attr, PS_ATTR_TYPE, 30));
	ck_assert_int_eq(attr->event.klass, PS__EVENT_CLASS_OTHER);
	ck_assert_int_eq(attr->event.scope, PS_SCOPE_PACKAGE);
	check_ok(ps_attr_set(attr, PS_ATTR_TYPE, PERF_TYPE_RAW));
	ck_assert_int_eq(attr->event.klass, PS__EVENT_CLASS_CORE);
	ck_assert_int_eq(attr->event.scope, PS_SCOPE_THREAD);
	check_ok(ps_attr_set(attr, PS_ATTR_TYPE, PERF_TYPE_SOFTWARE));
	ck_assert(!attr->event.kernel_side);
	check_ok(ps_attr_set(attr, PS_ATTR_CONFIG, PERF_COUNT_SW_CONTEXT_SWITCHES));
	ck_assert(attr->event.kernel_side);
	check_ok(ps_attr_set(attr, PS_ATTR_TYPE, 99));
	ck_assert_int_eq(attr->event.klass, PS__EVENT_CLASS_SOFTWARE);
	fake_fail(FAKE_LIST, 1, EMFILE);
	check_fails(ps_attr_set(attr, PS_ATTR_TYPE, 30), PS_ECOUNT);
	ck_assert_uint_eq(get(attr, PS_ATTR_TYPE), 99);
	ps_attr_destroy(attr);
}
END_TEST

START_TEST(a_lack_of_memory_leaves_nothing_behind)
{
	struct ps_attr *attr = NULL, *clone = NULL;
	unsigned nth = 1;

	do {
		fake_fail(FAKE_ALLOCATE, nth++, ENOMEM);
	} while (ps_attr_create(&attr, "page-faults") == PS_ENOMEM);
	ck_assert_uint_gt(nth, 2);
	nth = 1;
	do {
		fake_fail(FAKE_ALLOCATE, nth++, ENOMEM);
	} while (ps_attr_clone(&clone, attr) == PS_ENOMEM);
	ck_assert_uint_gt(nth, 2);
	fake_fail(FAKE_ALLOCATE, 0, 0);
	ps_attr_destroy(attr);
	ps_attr_destroy(clone);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attr_fields");
	TCase *tests = scene_case(suite, "fields");

	tcase_add_test(tests, each_field_is_where_the_compiler_has_it);
	tcase_add_test(tests, each_field_keeps_its_whole_range_and_touches_no_other);
	tcase_add_test(tests, each_field_has_a_name_of_its_own);
	tcase_add_test(tests, a_new_attr_has_what_the_name_says);
	tcase_add_test(tests, the_unit_is_that_of_what_is_counted);
	tcase_add_test(tests, later_words_make_the_struct_longer);
	tcase_add_test(tests, a_word_with_two_meanings_has_one_of_them);
	tcase_add_loop_test(tests, a_value_out_of_range_is_refused_with_the_range, 0,
	                    sizeof ranges / sizeof *ranges);
	tcase_add_test(tests, arguments_that_are_none_are_refused);
	tcase_add_test(tests, a_clone_has_fields_of_its_own);
	tcase_add_test(tests, a_probe_keeps_its_path_until_another_is_set);
	tcase_add_test(tests, another_type_is_another_pmu);
	tcase_add_test(tests, a_lack_of_memory_leaves_nothing_behind);
	return scene_run(suite);
}

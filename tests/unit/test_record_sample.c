/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples, and the counts of READ records: each field, alone and among all others. */
#include "test_record.h"

static void check_counts(uint64_t format)
{
	struct ps_record_count count = {.value = 0};
	size_t expected = format & PERF_FORMAT_GROUP ? 3 : 1;

	ck_assert_uint_eq(record.sample.counts.count, expected);
	ck_assert_uint_eq(record.sample.counts.read_format, format);
	ck_assert_uint_eq(record.sample.counts.enabled_ns, format & 1 ? 231 : 0);
	ck_assert_uint_eq(record.sample.counts.running_ns, format & 2 ? 232 : 0);
	for (size_t i = 0; i < expected; i++) {
		check_ok(ps_record_count(&record, i, &count));
		ck_assert_uint_eq(count.value, 201 + i);
		ck_assert_uint_eq(count.id, format & PERF_FORMAT_ID ? 211 + i : 0);
		ck_assert_uint_eq(count.lost, format & PERF_FORMAT_LOST ? 221 + i : 0);
	}
	check_fails(ps_record_count(&record, expected, &count), PS_ENOEVST);
}

START_TEST(counts_are_read_in_each_of_32_formats)
{
	for (uint64_t format = 0; format < 32; format++) {
		config_of(_i, PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN);
		config.read_format = format;
		record_of(&bytes, PS_RECORD_SAMPLE, &config);
		parsed();
		check_counts(format);
		ck_assert_uint_eq(record.sample.callchain.count, 4);
		record_of(&bytes, PS_RECORD_READ, &config);
		parsed();
		ck_assert_uint_eq(record.pid, 21);
		ck_assert_uint_eq(record.tid, 22);
		check_counts(format);
	}
}
END_TEST

static void check_numbers(void)
{
	ck_assert_uint_eq(record.ip, 101);
	check_task(11, 12, 13);
	ck_assert_uint_eq(record.addr, 102);
	ck_assert_uint_eq(record.id, 14);
	ck_assert_uint_eq(record.stream_id, 15);
	ck_assert_uint_eq(record.cpu, 16);
	ck_assert_uint_eq(record.period, 103);
	ck_assert_uint_eq(record.sample.weight, 0x0007000600000005);
	ck_assert_uint_eq(record.sample.data_src, 602);
	ck_assert_uint_eq(record.sample.transaction, 603);
	ck_assert_uint_eq(record.sample.phys_addr, 604);
	ck_assert_uint_eq(record.sample.cgroup, 605);
	ck_assert_uint_eq(record.sample.data_page_size, 4096);
	ck_assert_uint_eq(record.sample.code_page_size, 8192);
}

static void check_arrays(void)
{
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(ps_record_word(&record, &record.sample.callchain, i), 401 + i);
	ck_assert_uint_eq(ps_record_word(&record, &record.sample.callchain, 4), 0);
	ck_assert_uint_eq(record.sample.raw.size, 12);
	ck_assert_mem_eq(record.sample.raw.at, "raw bytes...", 12);
	ck_assert_uint_eq(record.sample.user_stack.size, 16);
	ck_assert_mem_eq(record.sample.user_stack.at, "stackstackstack!", 16);
	ck_assert_uint_eq(record.sample.user_stack_used, 9);
	ck_assert_uint_eq(record.sample.aux.size, 8);
	ck_assert_mem_eq(record.sample.aux.at, "auxiliar", 8);
}

static void check_branches(void)
{
	struct ps_record_branch branch = {.from = 0};

	ck_assert_uint_eq(record.sample.branches.index, 301);
	ck_assert_uint_eq(record.sample.branches.count, 2);
	for (size_t i = 0; i < 2; i++) {
		check_ok(ps_record_branch(&record, i, &branch));
		ck_assert_uint_eq(branch.from, 311 + i);
		ck_assert_uint_eq(branch.to, 321 + i);
		ck_assert_uint_eq(branch.cycles, 300);
		ck_assert_uint_eq(branch.type, 5);
		ck_assert_uint_eq(branch.flags, 1 | 1 << 3 | 300 << 4 | 5 << 20 | 2 << 24 |
		                                    9 << 26 | UINT64_C(3) << 30);
		ck_assert_uint_eq(ps_record_word(&record, &record.sample.branches.counters, i),
		                  331 + i);
	}
	check_fails(ps_record_branch(&record, 2, &branch), PS_ENOEVST);
}

static void check_registers(void)
{
	uint64_t value = 0;

	check_ok(ps_record_register(&record, &record.sample.user_registers, 0, &value));
	ck_assert_uint_eq(value, 501);
	check_ok(ps_record_register(&record, &record.sample.user_registers, 12, &value));
	ck_assert_uint_eq(value, 509);
	check_ok(ps_record_register(&record, &record.sample.interrupt_registers, 8, &value));
	ck_assert_uint_eq(value, 552);
	check_fails(ps_record_register(&record, &record.sample.interrupt_registers, 0, &value),
	            PS_ENOEVST);
	check_fails(ps_record_register(&record, &record.sample.interrupt_registers, 64, &value),
	            PS_ENOEVST);
	ck_assert_uint_eq(value, 552);
}

#define ALL_FIELDS ((UINT64_C(1) << 25) - 1)

START_TEST(a_sample_with_all_25_fields_has_each_of_them)
{
	config_of(_i, ALL_FIELDS);
	record_of(&bytes, PS_RECORD_SAMPLE, &config);
	parsed();
	ck_assert_uint_eq(record.has, ALL_FIELDS | PS_RECORD_HAS_BRANCH_INDEX);
	ck_assert_uint_eq(record.misc, PERF_RECORD_MISC_USER);
	check_numbers();
	check_counts(31);
	check_arrays();
	check_branches();
	check_registers();
}
END_TEST

START_TEST(each_field_of_a_sample_stands_alone_and_can_be_left_out)
{
	for (int bit = 0; bit < 25; bit++) {
		config_of(_i, UINT64_C(1) << bit);
		record_of(&bytes, PS_RECORD_SAMPLE, &config);
		parsed();
		ck_assert_uint_eq(record.has & config.sample_type, config.sample_type);
		config_of(_i, ALL_FIELDS & ~(UINT64_C(1) << bit));
		record_of(&bytes, PS_RECORD_SAMPLE, &config);
		parsed();
		ck_assert_uint_eq(record.has & ALL_FIELDS & ~(uint64_t)PS_RECORD_HAS_ID,
		                  config.sample_type & ~(uint64_t)PS_RECORD_HAS_ID);
	}
}
END_TEST

START_TEST(empty_stacks_and_registers_are_no_faults)
{
	uint64_t value;

	config_of(_i, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_PHYS_ADDR);
	record_begin(&bytes, _i, PS_RECORD_SAMPLE, 0);
	record_put64(&bytes, PERF_SAMPLE_REGS_ABI_NONE);
	record_put64(&bytes, 0);
	record_put64(&bytes, 77);
	record_finish(&bytes);
	parsed();
	ck_assert_uint_eq(record.sample.user_registers.values.count, 0);
	ck_assert_uint_eq(record.sample.user_stack.size, 0);
	ck_assert_uint_eq(record.sample.phys_addr, 77);
	check_fails(ps_record_register(&record, &record.sample.user_registers, 0, &value),
	            PS_ENOEVST);
}
END_TEST

/* A sample whose branch stack has no branch, with the index or without, among other fields. */
static void take_no_branches(int is_swapped, bool has_index, uint64_t stack_bytes)
{
	config_of(is_swapped, PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK |
	                          PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT);
	record_begin(&bytes, is_swapped, PS_RECORD_SAMPLE, 0);
	record_put64(&bytes, 1);
	record_put64(&bytes, 401);
	record_put64(&bytes, 0);
	if (has_index)
		record_put64(&bytes, 301);
	record_put64(&bytes, stack_bytes);
	for (uint64_t word = 0; word < stack_bytes / 8; word++)
		record_put64(&bytes, 88);
	if (stack_bytes)
		record_put64(&bytes, 5);
	record_put64(&bytes, 77);
	record_finish(&bytes);
	parsed();
}

/* The kernel writes the count 0 alone for a sample that has no branch stack at all. */
START_TEST(an_empty_branch_stack_has_an_index_or_none)
{
	for (int has_index = 0; has_index < 2; has_index++) {
		for (uint64_t stack_bytes = 0; stack_bytes < 32; stack_bytes += 8) {
			take_no_branches(_i, has_index, stack_bytes);
			ck_assert_int_eq((record.has & PS_RECORD_HAS_BRANCH_INDEX) != 0, has_index);
			ck_assert_uint_eq(record.sample.branches.index, has_index ? 301 : 0);
			ck_assert_uint_eq(record.sample.branches.count, 0);
			ck_assert_uint_eq(record.sample.callchain.count, 1);
			ck_assert_uint_eq(record.sample.user_stack.size, stack_bytes);
			ck_assert_uint_eq(record.sample.user_stack_used, stack_bytes ? 5 : 0);
			ck_assert_uint_eq(record.sample.weight, 77);
		}
	}
}
END_TEST

/* It is there with each branch, so this is no stack without one. */
START_TEST(a_branch_without_the_index_is_refused)
{
	config_of(_i, PERF_SAMPLE_BRANCH_STACK);
	config.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
	record_begin(&bytes, _i, PS_RECORD_SAMPLE, 0);
	record_put64(&bytes, 1);
	for (uint64_t word = 0; word < 3; word++)
		record_put64(&bytes, 311);
	record_finish(&bytes);
	check_fails(ps_record_parse(&config, bytes.at, bytes.size, &record), PS_EINVAL);
}
END_TEST

START_TEST(a_record_at_any_address_is_the_same)
{
	unsigned char room[RECORD_BYTES_MOST + 8];

	config_of(_i, ALL_FIELDS);
	record_of(&bytes, PS_RECORD_SAMPLE, &config);
	for (size_t offset = 0; offset < 8; offset++) {
		memcpy(room + offset, bytes.at, bytes.size);
		check_ok(ps_record_parse(&config, room + offset, bytes.size, &record));
		check_numbers();
		check_counts(31);
		check_arrays();
		check_branches();
		check_registers();
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record_sample");
	TCase *tests = scene_case_of(suite, "record_sample", fake_install, fake_remove);

	tcase_add_loop_test(tests, counts_are_read_in_each_of_32_formats, 0, 2);
	tcase_add_loop_test(tests, a_sample_with_all_25_fields_has_each_of_them, 0, 2);
	tcase_add_loop_test(tests, each_field_of_a_sample_stands_alone_and_can_be_left_out, 0, 2);
	tcase_add_loop_test(tests, empty_stacks_and_registers_are_no_faults, 0, 2);
	tcase_add_loop_test(tests, an_empty_branch_stack_has_an_index_or_none, 0, 2);
	tcase_add_loop_test(tests, a_branch_without_the_index_is_refused, 0, 2);
	tcase_add_loop_test(tests, a_record_at_any_address_is_the_same, 0, 2);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of every type, written by hand in both byte orders (support/record_bytes.h
 * has the numbers). Samples: test_record_sample; damaged ones: test_record_damage. */
#include "test_record.h"

static const struct ps_record *record_like(uint32_t type, int is_swapped)
{
	config_of(is_swapped, ALL_SAMPLE_ID);
	record_of(&bytes, type, &config);
	parsed();
	ck_assert_uint_eq(record.type, type);
	ck_assert_uint_ne(record.has & PS_RECORD_HAS_BODY, 0);
	ck_assert_uint_ne(record.has & PS_RECORD_HAS_SAMPLE_ID, 0);
	ck_assert_uint_eq(record.sample_id.has, ALL_SAMPLE_ID);
	ck_assert_uint_eq(record.sample_id.pid, 11);
	ck_assert_uint_eq(record.sample_id.tid, 12);
	ck_assert_uint_eq(record.sample_id.time, 13);
	ck_assert_uint_eq(record.sample_id.id, 14);
	ck_assert_uint_eq(record.sample_id.stream_id, 15);
	ck_assert_uint_eq(record.sample_id.cpu, 16);
	ck_assert_uint_eq(record.cpu, 16);
	return &record;
}

static void check_text(const char *text)
{
	ck_assert_uint_ne(record.has & PS_RECORD_HAS_TEXT, 0);
	ck_assert_str_eq(record.text, text);
	ck_assert_uint_eq(record.text_length, strlen(text));
}

START_TEST(mappings_have_their_own_task_and_the_sample_ids_beside_it)
{
	record_like(PS_RECORD_MMAP, _i);
	check_task(21, 22, 13);
	ck_assert_uint_eq(record.addr, 701);
	ck_assert_uint_eq(record.body.mapping.length, 702);
	ck_assert_uint_eq(record.body.mapping.offset, 703);
	ck_assert_uint_eq(record.has & (PS_RECORD_HAS_INODE | PS_RECORD_HAS_BUILD_ID), 0);
	check_text("/bin/true");
	record_like(PS_RECORD_MMAP2, _i);
	check_task(21, 22, 13);
	ck_assert_uint_eq(record.addr, 701);
	ck_assert_uint_eq(record.body.mapping.offset, 703);
	ck_assert_uint_eq(record.body.mapping.device_major, 8);
	ck_assert_uint_eq(record.body.mapping.device_minor, 3);
	ck_assert_uint_eq(record.body.mapping.inode, 711);
	ck_assert_uint_eq(record.body.mapping.inode_generation, 712);
	ck_assert_uint_eq(record.body.mapping.protection, 5);
	ck_assert_uint_eq(record.body.mapping.flags, 2);
	check_text("/lib/libm.so.6");
}
END_TEST

START_TEST(a_build_id_stands_in_the_inodes_place)
{
	static const unsigned char id[24] = {20, 0, 0, 0, 0xab, 0xcd, [23] = 0xef};

	config_of(_i, ALL_SAMPLE_ID);
	record_of(&bytes, PS_RECORD_MMAP2, &config);
	memcpy(bytes.at + 40, id, sizeof id);
	bytes.at[_i ? 4 : 5] |= PERF_RECORD_MISC_MMAP_BUILD_ID >> 8;
	parsed();
	ck_assert_uint_eq(record.has & PS_RECORD_HAS_INODE, 0);
	ck_assert_uint_ne(record.has & PS_RECORD_HAS_BUILD_ID, 0);
	ck_assert_uint_eq(record.body.mapping.build_id.size, 20);
	ck_assert_mem_eq(record.body.mapping.build_id.at, id + 4, 20);
	check_text("/lib/libm.so.6");
	bytes.at[40] = 21;
	check_fails(ps_record_parse(&config, bytes.at, bytes.size, &record), PS_EINVAL);
}
END_TEST

START_TEST(tasks_begin_end_and_take_names)
{
	record_like(PS_RECORD_FORK, _i);
	check_task(21, 22, 23);
	ck_assert_uint_eq(record.body.other.pid, 31);
	ck_assert_uint_eq(record.body.other.tid, 32);
	record_like(PS_RECORD_EXIT, _i);
	check_task(21, 22, 23);
	ck_assert_uint_eq(record.body.other.tid, 32);
	record_like(PS_RECORD_COMM, _i);
	check_task(21, 22, 13);
	check_text(") R 1 (");
	record_like(PS_RECORD_NAMESPACES, _i);
	check_task(21, 22, 13);
	ck_assert_uint_eq(record.body.namespaces.count, 14);
	for (size_t i = 0; i < 14; i++)
		ck_assert_uint_eq(ps_record_word(&record, &record.body.namespaces, i), 801 + i);
	record_like(PS_RECORD_CGROUP, _i);
	ck_assert_uint_eq(record.sample.cgroup, 761);
	check_text("/user.slice");
}
END_TEST

/* As in a time namespace, whose clocks may also be set back. */
START_TEST(times_are_shifted)
{
	record_like(PS_RECORD_FORK, _i);
	config.time_shift_ns = 1000;
	parsed();
	check_task(21, 22, 1023);
	ck_assert_uint_eq(record.sample_id.time, 1013);
	config.time_shift_ns = (uint64_t)-3;
	parsed();
	check_task(21, 22, 20);
	ck_assert_uint_eq(record.sample_id.time, 10);
}
END_TEST

START_TEST(switches_name_the_task_of_the_sample_id_and_the_other_one)
{
	record_like(PS_RECORD_SWITCH, _i);
	check_task(11, 12, 13);
	record_like(PS_RECORD_SWITCH_CPU_WIDE, _i);
	check_task(11, 12, 13);
	ck_assert_uint_eq(record.body.other.pid, 31);
	ck_assert_uint_eq(record.body.other.tid, 32);
	record_like(PS_RECORD_ITRACE_START, _i);
	check_task(31, 32, 13);
}
END_TEST

START_TEST(losses_and_throttles_have_their_numbers)
{
	record_like(PS_RECORD_LOST, _i);
	ck_assert_uint_eq(record.id, 24);
	ck_assert_uint_eq(record.body.lost, 25);
	record_like(PS_RECORD_LOST_SAMPLES, _i);
	ck_assert_uint_eq(record.body.lost, 25);
	ck_assert_uint_eq(record.id, 14);
	for (uint32_t type = PS_RECORD_THROTTLE; type <= PS_RECORD_UNTHROTTLE; type++) {
		record_like(type, _i);
		ck_assert_uint_eq(record.time, 23);
		ck_assert_uint_eq(record.id, 24);
		ck_assert_uint_eq(record.stream_id, 25);
	}
}
END_TEST

START_TEST(the_hardwares_and_the_kernels_own_records_are_whole)
{
	record_like(PS_RECORD_AUX, _i);
	ck_assert_uint_eq(record.body.aux.offset, 23);
	ck_assert_uint_eq(record.body.aux.size, 24);
	ck_assert_uint_eq(record.body.aux.flags, 25);
	record_like(PS_RECORD_AUX_OUTPUT_HW_ID, _i);
	ck_assert_uint_eq(record.body.hw_id, 25);
	record_like(PS_RECORD_KSYMBOL, _i);
	ck_assert_uint_eq(record.addr, 701);
	ck_assert_uint_eq(record.body.symbol.length, 702);
	ck_assert_uint_eq(record.body.symbol.type, 1);
	ck_assert_uint_eq(record.body.symbol.flags, 2);
	check_text("bpf_prog_1");
	record_like(PS_RECORD_BPF_EVENT, _i);
	ck_assert_uint_eq(record.body.bpf.type, PERF_BPF_EVENT_PROG_LOAD);
	ck_assert_uint_eq(record.body.bpf.flags, 7);
	ck_assert_uint_eq(record.body.bpf.id, 751);
	ck_assert_mem_eq(record.body.bpf.tag.at, "tagtagta", 8);
	record_like(PS_RECORD_TEXT_POKE, _i);
	ck_assert_uint_eq(record.addr, 701);
	ck_assert_uint_eq(record.body.poke.before.size, 5);
	ck_assert_mem_eq(record.body.poke.before.at, "befor", 5);
	ck_assert_uint_eq(record.body.poke.after.size, 3);
	ck_assert_mem_eq(record.body.poke.after.at, "eaf", 3);
	record_like(PS_RECORD_CALLCHAIN_DEFERRED, _i);
	ck_assert_uint_eq(record.body.cookie, 771);
	ck_assert_uint_eq(record.sample.callchain.count, 3);
	ck_assert_uint_eq(ps_record_word(&record, &record.sample.callchain, 2), 403);
}
END_TEST

START_TEST(unknown_types_pass_through_whole_with_the_kernels_sample_id)
{
	static const uint32_t types[] = {0, 23, 63, 64, 81, UINT32_MAX};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		config_of(_i, ALL_SAMPLE_ID);
		record_begin(&bytes, _i, types[i], 9);
		record_put64(&bytes, 1);
		record_put_sample_id(&bytes, &config);
		record_finish(&bytes);
		parsed();
		ck_assert_uint_eq(record.type, types[i]);
		ck_assert_uint_eq(record.misc, 9);
		ck_assert_uint_eq(!!(record.has & PS_RECORD_HAS_SAMPLE_ID), types[i] < 64);
		ck_assert_uint_eq(record.tid, types[i] < 64 ? 12 : 0);
		ck_assert_str_eq(ps_record_type_name(types[i]), "unknown");
		record_begin(&bytes, _i, types[i], 9);
		record_finish(&bytes);
		ck_assert_uint_eq(parsed()->has, 0);
	}
}
END_TEST

START_TEST(without_sample_id_all_a_record_has_its_own_members_alone)
{
	for (uint32_t type = 1; type <= 22; type++) {
		config_of(_i, ALL_SAMPLE_ID);
		config.sample_id_all = 0;
		record_of(&bytes, type, &config);
		parsed();
		ck_assert_uint_eq(record.has & PS_RECORD_HAS_SAMPLE_ID, 0);
	}
	ck_assert_uint_eq(record.has & PS_RECORD_HAS_TID, 0);
}
END_TEST

START_TEST(members_that_newer_kernels_add_before_the_sample_id_do_no_harm)
{
	config_of(_i, ALL_SAMPLE_ID);
	record_begin(&bytes, _i, PS_RECORD_LOST_SAMPLES, 0);
	record_put64(&bytes, 25);
	record_put64(&bytes, 99);
	record_put_sample_id(&bytes, &config);
	record_finish(&bytes);
	parsed();
	ck_assert_uint_eq(record.body.lost, 25);
	ck_assert_uint_eq(record.sample_id.tid, 12);
}
END_TEST

START_TEST(records_are_read_one_behind_the_other)
{
	unsigned char room[RECORD_BYTES_MOST];
	size_t size = 0, at = 0;
	uint32_t type = 1;

	config_of(_i, ALL_SAMPLE_ID);
	for (uint32_t each = 1; each <= 22; each++) {
		record_of(&bytes, each, &config);
		memcpy(room + size, bytes.at, bytes.size);
		size += bytes.size;
	}
	for (; at < size; at += record.size, type++) {
		check_ok(ps_record_parse(&config, room + at, size - at, &record));
		ck_assert_uint_eq(record.type, type);
		ck_assert_uint_eq(ps_record_size(&config, room + at, size - at), record.size);
	}
	ck_assert_uint_eq(type, 23);
}
END_TEST

START_TEST(each_type_has_the_kernels_name)
{
	ck_assert_str_eq(ps_record_type_name(PS_RECORD_MMAP), "MMAP");
	ck_assert_str_eq(ps_record_type_name(PS_RECORD_SAMPLE), "SAMPLE");
	ck_assert_str_eq(ps_record_type_name(PS_RECORD_LOST_SAMPLES), "LOST_SAMPLES");
	ck_assert_str_eq(ps_record_type_name(PS_RECORD_CALLCHAIN_DEFERRED), "CALLCHAIN_DEFERRED");
	ck_assert_str_eq(ps_record_type_name(23), "unknown");
}
END_TEST

START_TEST(wrong_arguments_and_configs_are_named)
{
	config_of(0, PERF_SAMPLE_IP);
	record_of(&bytes, PS_RECORD_SAMPLE, &config);
	memset(&record, 0x5a, sizeof record);
	struct ps_record before = record;

	check_fails(ps_record_parse(NULL, bytes.at, bytes.size, &record), PS_EINVAL);
	check_fails(ps_record_parse(&config, NULL, bytes.size, &record), PS_EINVAL);
	check_fails(ps_record_parse(&config, bytes.at, bytes.size, NULL), PS_EINVAL);
	config.size--;
	check_fails(ps_record_parse(&config, bytes.at, bytes.size, &record), PS_EINVAL);
	check_detail("struct ps_record_config");
	config_of(0, UINT64_C(1) << 25);
	check_fails(ps_record_parse(&config, bytes.at, bytes.size, &record), PS_ENOSUPP);
	config_of(0, 0);
	config.read_format = 32;
	check_fails(ps_record_parse(&config, bytes.at, bytes.size, &record), PS_ENOSUPP);
	config_of(0, 0);
	config.branch_sample_type = 1 << 20;
	check_fails(ps_record_parse(&config, bytes.at, bytes.size, &record), PS_ENOSUPP);
	ck_assert_mem_eq(&record, &before, sizeof record);
	ck_assert_uint_eq(ps_record_size(NULL, bytes.at, bytes.size), 0);
	ck_assert_uint_eq(ps_record_size(&config, NULL, bytes.size), 0);
	check_fails(ps_record_count(NULL, 0, NULL), PS_EINVAL);
	check_fails(ps_record_branch(NULL, 0, NULL), PS_EINVAL);
	check_fails(ps_record_register(NULL, NULL, 0, NULL), PS_EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *tests = scene_case_of(suite, "record", fake_install, fake_remove);

	tcase_add_loop_test(tests, mappings_have_their_own_task_and_the_sample_ids_beside_it, 0, 2);
	tcase_add_loop_test(tests, a_build_id_stands_in_the_inodes_place, 0, 2);
	tcase_add_loop_test(tests, tasks_begin_end_and_take_names, 0, 2);
	tcase_add_loop_test(tests, times_are_shifted, 0, 2);
	tcase_add_loop_test(tests, switches_name_the_task_of_the_sample_id_and_the_other_one, 0, 2);
	tcase_add_loop_test(tests, losses_and_throttles_have_their_numbers, 0, 2);
	tcase_add_loop_test(tests, the_hardwares_and_the_kernels_own_records_are_whole, 0, 2);
	tcase_add_loop_test(tests, unknown_types_pass_through_whole_with_the_kernels_sample_id, 0,
	                    2);
	tcase_add_loop_test(tests, without_sample_id_all_a_record_has_its_own_members_alone, 0, 2);
	tcase_add_loop_test(tests, members_that_newer_kernels_add_before_the_sample_id_do_no_harm,
	                    0, 2);
	tcase_add_loop_test(tests, records_are_read_one_behind_the_other, 0, 2);
	tcase_add_test(tests, each_type_has_the_kernels_name);
	tcase_add_test(tests, wrong_arguments_and_configs_are_named);
	return scene_run(suite);
}

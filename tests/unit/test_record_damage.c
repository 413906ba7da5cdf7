/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damaged records: cut at every byte, each byte changed, and mutated at random. None is read past
 * its end (each copy has no byte more: sanitizers and valgrind see to it); whatever is accepted
 * points into itself; what is refused leaves the caller's record as it was.
 */
#include "support/record_bytes.h"
#include "support/scene.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#define FUZZ_RUNS ((uint64_t)ps_test_serial_size(300000, 10000))

static const struct ps_record_config everything = {.size = sizeof everything,
                                                   .sample_type = (1 << 25) - 1,
                                                   .read_format = 31,
                                                   .branch_sample_type = 0xe0000,
                                                   .sample_regs_user = 0xff0ff,
                                                   .sample_regs_intr = 0x108,
                                                   .sample_id_all = 1};

/* Parses `size` bytes that end where their memory does. */
static int parse_exact(const struct record_bytes *bytes, size_t size, struct ps_record *out)
{
	unsigned char *copy = malloc(size ? size : 1);
	struct ps_record record;

	memset(&record, 0x5a, sizeof record);
	struct ps_record before = record;
	memcpy(copy, bytes->at, size);
	int result = ps_record_parse(&everything, copy, size, &record);
	if (result == PS_OK)
		ck_assert(record_is_within(&record));
	else
		ck_assert_mem_eq(&record, &before, sizeof record);
	free(copy);
	*out = record;
	return result;
}

static void write_size(struct record_bytes *bytes, size_t size)
{
	size_t whole = bytes->size;

	bytes->size = 6;
	record_put16(bytes, (uint16_t)size);
	bytes->size = whole;
}

/* Test n is of type n. */
START_TEST(a_cut_record_needs_more_bytes)
{
	struct record_bytes bytes;
	struct ps_record record;

	record_of(&bytes, (uint32_t)_i, &everything);
	ck_assert_int_eq(parse_exact(&bytes, bytes.size, &record), PS_OK);
	for (size_t size = 0; size < bytes.size; size++) {
		ck_assert_int_eq(parse_exact(&bytes, size, &record), PS_EBUF);
		ck_assert_uint_eq(ps_record_size(&everything, bytes.at, size), 0);
	}
}
END_TEST

/* The header agrees to each shorter size: fields are missing then, and a reader goes on behind. */
START_TEST(a_record_whose_header_is_too_small_is_refused)
{
	struct record_bytes bytes;
	struct ps_record record;

	record_of(&bytes, (uint32_t)_i, &everything);
	for (size_t size = 0; size < bytes.size; size++) {
		write_size(&bytes, size);
		int result = parse_exact(&bytes, bytes.size, &record);
		ck_assert_uint_eq(ps_record_size(&everything, bytes.at, bytes.size),
		                  size < 8 ? 0 : size);
		/* A shorter sample_id is found a little before where it was: what stands there
		 * may pass as a body, but never in a sample. */
		if (size < 8 || _i == PS_RECORD_SAMPLE)
			ck_assert_int_eq(result, PS_EINVAL);
	}
}
END_TEST

START_TEST(any_changed_byte_is_refused_or_harmless)
{
	static const unsigned char values[] = {0, 1, 2, 0x7f, 0x80, 0xfe, 0xff};
	struct record_bytes bytes;
	struct ps_record record;

	record_of(&bytes, (uint32_t)_i, &everything);
	for (size_t at = 0; at < bytes.size; at++) {
		unsigned char before = bytes.at[at];
		for (size_t i = 0; i < sizeof values; i++) {
			bytes.at[at] = values[i];
			parse_exact(&bytes, bytes.size, &record);
		}
		bytes.at[at] = before;
	}
}
END_TEST

static struct ps_record_config config_of(uint64_t sample_type, uint64_t read_format)
{
	return (struct ps_record_config){.size = sizeof(struct ps_record_config),
	                                 .sample_type = sample_type,
	                                 .read_format = read_format,
	                                 .sample_regs_user = 7};
}

/* Each number of the sample that says how much follows is one too large, and as large as can be. */
START_TEST(numbers_that_announce_too_much_are_refused)
{
	static const uint64_t fields[] = {PERF_SAMPLE_READ,         PERF_SAMPLE_CALLCHAIN,
	                                  PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_STACK_USER,
	                                  PERF_SAMPLE_AUX,          PERF_SAMPLE_RAW};
	/* Times 8, the third is what was announced, in 64 bits. */
	const uint64_t excesses[] = {1, 1 << 16, UINT64_C(1) << 61, UINT64_MAX / 8,
	                             UINT64_MAX - 100};
	struct record_bytes bytes;
	struct ps_record record;

	for (size_t field = 0; field < sizeof fields / sizeof *fields; field++) {
		struct ps_record_config config = config_of(fields[field], PERF_FORMAT_GROUP);
		record_of(&bytes, PS_RECORD_SAMPLE, &config);
		size_t size = bytes.size;
		check_ok(ps_record_parse(&config, bytes.at, size, &record));
		for (size_t i = 0; i < sizeof excesses / sizeof *excesses; i++) {
			uint64_t announced;
			memcpy(&announced, bytes.at + 8, sizeof announced);
			bytes.size = 8;
			if (fields[field] == PERF_SAMPLE_RAW)
				record_put32(&bytes, 13 | (uint32_t)excesses[i]);
			else
				record_put64(&bytes, announced + excesses[i]);
			check_fails(ps_record_parse(&config, bytes.at, size, &record), PS_EINVAL);
			memcpy(bytes.at + 8, &announced, sizeof announced);
		}
	}
}
END_TEST

START_TEST(a_sample_that_is_longer_than_its_config_says_is_refused)
{
	struct ps_record_config config = config_of(PERF_SAMPLE_IP | PERF_SAMPLE_TID, 0);
	struct record_bytes bytes;
	struct ps_record record;

	record_of(&bytes, PS_RECORD_SAMPLE, &config);
	config.sample_type = PERF_SAMPLE_IP;
	check_fails(ps_record_parse(&config, bytes.at, bytes.size, &record), PS_EINVAL);
	check_detail("longer than its fields");
	config.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	check_fails(ps_record_parse(&config, bytes.at, bytes.size, &record), PS_EINVAL);
	check_detail("ends before its fields do");
}
END_TEST

START_TEST(text_without_an_end_is_refused)
{
	static const uint32_t types[] = {PS_RECORD_MMAP, PS_RECORD_COMM, PS_RECORD_MMAP2,
	                                 PS_RECORD_KSYMBOL, PS_RECORD_CGROUP};
	struct ps_record_config config = config_of(0, 0);
	struct record_bytes bytes;
	struct ps_record record;

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		record_of(&bytes, types[i], &config);
		for (size_t at = bytes.size; !bytes.at[at - 1]; at--)
			bytes.at[at - 1] = 'x';
		check_fails(ps_record_parse(&config, bytes.at, bytes.size, &record), PS_EINVAL);
		check_detail(ps_record_type_name(types[i]));
	}
}
END_TEST

START_TEST(mutated_records_hurt_nobody)
{
	struct record_fuzz result;

	ck_assert(record_fuzz((uint64_t)_i, FUZZ_RUNS, &result));
	ck_assert_uint_eq(result.parsed + result.refused, FUZZ_RUNS);
	ck_assert_uint_gt(result.parsed, FUZZ_RUNS / 10);
	ck_assert_uint_gt(result.refused, FUZZ_RUNS / 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record_damage");
	TCase *tests = scene_case_of(suite, "record_damage", fake_install, fake_remove);

	tcase_add_loop_test(tests, a_cut_record_needs_more_bytes, 1, 23);
	tcase_add_loop_test(tests, a_record_whose_header_is_too_small_is_refused, 1, 23);
	tcase_add_loop_test(tests, any_changed_byte_is_refused_or_harmless, 1, 23);
	tcase_add_test(tests, numbers_that_announce_too_much_are_refused);
	tcase_add_test(tests, a_sample_that_is_longer_than_its_config_says_is_refused);
	tcase_add_test(tests, text_without_an_end_is_refused);
	tcase_add_loop_test(tests, mutated_records_hurt_nobody, 1, 3);
	return scene_run(suite);
}

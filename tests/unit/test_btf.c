/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's description of its types: members are found, and damage is no member. */
#include "support/scene.h"

#include "backend/bpf.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>

#define INFO(kind, parts) ((uint32_t)(kind) << 24 | (parts))

#define NAMES "\0task_struct\0pid\0tgid\0comm\0other\0pids"
enum {
	NO_NAME = 0,
	TASK = 1,
	PID = 13,
	TGID = 17,
	COMM = 22,
	OTHER = 27
};

/* An int, an array, an enum, a function's type, a struct without a name, and task_struct; and one
 * more with that name, which is no struct. */
static const struct {
	struct btf_header header;
	struct btf_type integer;
	uint32_t bits;
	struct btf_type array;
	struct btf_array of;
	struct btf_type list;
	struct btf_enum one[2];
	struct btf_type call;
	struct btf_param parameter;
	struct btf_type name;
	struct btf_type inner;
	struct btf_member inner_members[2];
	struct btf_type task;
	struct btf_member members[3];
	char names[44];
} example = {
    .header = {.magic = BTF_MAGIC,
               .version = 1,
               .hdr_len = sizeof(struct btf_header),
               .type_len = sizeof(example) - sizeof(struct btf_header) - 44,
               .str_off = sizeof(example) - sizeof(struct btf_header) - 44,
               .str_len = sizeof(NAMES)},
    .integer = {.name_off = OTHER, .info = INFO(BTF_KIND_INT, 0), .size = 4},
    .array = {.info = INFO(BTF_KIND_ARRAY, 0)},
    .list = {.info = INFO(BTF_KIND_ENUM, 2)},
    .call = {.info = INFO(BTF_KIND_FUNC_PROTO, 1)},
    .name = {.name_off = TASK, .info = INFO(BTF_KIND_FWD, 0)},
    .inner = {.info = INFO(BTF_KIND_UNION, 2), .size = 8},
    .inner_members = {{.name_off = COMM, .type = 1, .offset = 0},
                      {.name_off = PID, .type = 1, .offset = 32}},
    .task = {.name_off = TASK, .info = INFO(BTF_KIND_STRUCT, 3) | 1u << 31, .size = 64},
    .members = {{.name_off = OTHER, .type = 1, .offset = 0},
                {.name_off = NO_NAME, .type = 6, .offset = 128},
                {.name_off = TGID, .type = 1, .offset = 5u << 24 | 256}},
    .names = NAMES,
};

START_TEST(a_member_is_found_by_its_name)
{
	ck_assert_int_eq(ps__btf_offset(&example, sizeof(example), "task_struct", "tgid"), 32);
	ck_assert_int_eq(ps__btf_offset(&example, sizeof(example), "task_struct", "other"), 0);
	/* It is in a struct without a name. */
	ck_assert_int_eq(ps__btf_offset(&example, sizeof(example), "task_struct", "pid"), 20);
	ck_assert_int_eq(ps__btf_offset(&example, sizeof(example), "task_struct", "pids"), -1);
	ck_assert_int_eq(ps__btf_offset(&example, sizeof(example), "task", "pid"), -1);
}
END_TEST

/* Of the bytes that are left none lies behind the end: the sanitizers would tell. */
START_TEST(what_is_cut_off_or_damaged_is_no_member)
{
	const size_t whole = example.header.hdr_len + example.header.str_off + sizeof(NAMES);

	for (size_t length = 0; length < whole; length++) {
		unsigned char *copy = malloc(length ? length : 1);
		memcpy(copy, &example, length);
		ck_assert_int_eq(ps__btf_offset(copy, length, "task_struct", "tgid"), -1);
		free(copy);
	}
	for (size_t at = 0; at < sizeof(example); at++) {
		for (int bit = 0; bit < 8; bit++) {
			unsigned char *copy = malloc(sizeof(example));
			memcpy(copy, &example, sizeof(example));
			copy[at] ^= (unsigned char)(1 << bit);
			ck_assert_int_lt(
			    ps__btf_offset(copy, sizeof(example), "task_struct", "tgid"), 1L << 29);
			free(copy);
		}
	}
}
END_TEST

START_TEST(the_file_of_the_kernel_is_read)
{
	size_t offset = 0;

	fake_bpf_put_btf("task_struct", "pid");
	check_ok(ps__btf_find_offset("task_struct", "pid", &offset));
	ck_assert_uint_eq(offset, 100);
	check_fails(ps__btf_find_offset("task_struct", "tgid", &offset), PS_ENOSUPP);
	check_detail("no member 'tgid' of struct task_struct");
	fake_fail(FAKE_READ, 2, EIO);
	check_fails(ps__btf_find_offset("task_struct", "pid", &offset), PS_ENOSUPP);
	check_detail("Input/output error");
	fake_fail(FAKE_OPEN, 1, EMFILE);
	check_fails(ps__btf_find_offset("task_struct", "pid", &offset), PS_ECOUNT);
	check_detail("ulimit -n");
	fake_fail(FAKE_MMAP, 1, ENOMEM);
	check_fails(ps__btf_find_offset("task_struct", "pid", &offset), PS_ENOMEM);
	ck_assert_uint_eq(fake_mapped_bytes(), 0);
	fake_file("/sys/kernel/btf/vmlinux", "no description");
	check_fails(ps__btf_find_offset("task_struct", "pid", &offset), PS_ENOSUPP);
	fake_file("/sys/kernel/btf/vmlinux", NULL);
	check_fails(ps__btf_find_offset("task_struct", "pid", &offset), PS_ENOSUPP);
	check_detail("CONFIG_DEBUG_INFO_BTF");
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("btf");
	TCase *tests = scene_case(suite, "btf");

	tcase_add_test(tests, a_member_is_found_by_its_name);
	tcase_add_test(tests, what_is_cut_off_or_damaged_is_no_member);
	tcase_add_test(tests, the_file_of_the_kernel_is_read);
	return scene_run(suite);
}

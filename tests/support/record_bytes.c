/* SPDX-License-Identifier: BSD-3-Clause */
/* Records written by hand. The numbers are such that no two members have the same one. */
#include "support/record_bytes.h"

#include <linux/perf_event.h>
#include <string.h>

void record_put(struct record_bytes *bytes, const void *from, size_t size)
{
	memcpy(bytes->at + bytes->size, from, size);
	bytes->size += size;
}

void record_put64(struct record_bytes *bytes, uint64_t value)
{
	value = bytes->is_swapped ? __builtin_bswap64(value) : value;
	record_put(bytes, &value, sizeof value);
}

void record_put32(struct record_bytes *bytes, uint32_t value)
{
	value = bytes->is_swapped ? __builtin_bswap32(value) : value;
	record_put(bytes, &value, sizeof value);
}

void record_put16(struct record_bytes *bytes, uint16_t value)
{
	value = bytes->is_swapped ? __builtin_bswap16(value) : value;
	record_put(bytes, &value, sizeof value);
}

void record_put_text(struct record_bytes *bytes, const char *text)
{
	record_put(bytes, text, strlen(text) + 1);
	while (bytes->size % 8)
		record_put(bytes, "", 1);
}

void record_begin(struct record_bytes *bytes, bool is_swapped, uint32_t type, uint16_t misc)
{
	bytes->size = 0;
	bytes->is_swapped = is_swapped;
	record_put32(bytes, type);
	record_put16(bytes, misc);
	record_put16(bytes, 0);
}

void record_finish(struct record_bytes *bytes)
{
	uint16_t size = (uint16_t)bytes->size;

	bytes->size = 6;
	record_put16(bytes, size);
	bytes->size = size;
}

static void put_task(struct record_bytes *bytes, uint32_t pid, uint32_t tid)
{
	record_put32(bytes, pid);
	record_put32(bytes, tid);
}

void record_put_sample_id(struct record_bytes *bytes, const struct ps_record_config *config)
{
	uint64_t type = config->sample_type;

	if (!config->sample_id_all)
		return;
	if (type & PERF_SAMPLE_TID)
		put_task(bytes, 11, 12);
	if (type & PERF_SAMPLE_TIME)
		record_put64(bytes, 13);
	if (type & PERF_SAMPLE_ID)
		record_put64(bytes, 14);
	if (type & PERF_SAMPLE_STREAM_ID)
		record_put64(bytes, 15);
	if (type & PERF_SAMPLE_CPU)
		put_task(bytes, 16, 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		record_put64(bytes, 14);
}

/* Three events in a group, else one: values 201.., ids 211.., lost 221... */
static void put_counts(struct record_bytes *bytes, uint64_t format)
{
	bool is_group = format & PERF_FORMAT_GROUP;
	uint64_t count = is_group ? 3 : 1;

	record_put64(bytes, is_group ? count : 201);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		record_put64(bytes, 231);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		record_put64(bytes, 232);
	for (uint64_t i = 0; i < count; i++) {
		if (is_group)
			record_put64(bytes, 201 + i);
		if (format & PERF_FORMAT_ID)
			record_put64(bytes, 211 + i);
		if (format & PERF_FORMAT_LOST)
			record_put64(bytes, 221 + i);
	}
}

static void put_words(struct record_bytes *bytes, uint64_t first, int count)
{
	for (int i = 0; i < count; i++)
		record_put64(bytes, first + (uint64_t)i);
}

/* The flags of a branch: mispredicted, abort, 300 cycles, type 5, speculation 2, new type 9,
 * privilege 3; a bit-field, so from the other end on a machine of big byte order. */
#define BRANCH_FLAGS (1 | 1 << 3 | 300 << 4 | 5 << 20 | 2 << 24 | 9 << 26 | UINT64_C(3) << 30)
#define BRANCH_FLAGS_BIG                                                                   \
	(UINT64_C(1) << 63 | UINT64_C(1) << 60 | UINT64_C(300) << 44 | UINT64_C(5) << 40 | \
	 UINT64_C(2) << 38 | UINT64_C(9) << 34 | UINT64_C(3) << 31)

static void put_branches(struct record_bytes *bytes, uint64_t type)
{
	bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != bytes->is_swapped;

	record_put64(bytes, 2);
	if (type & PERF_SAMPLE_BRANCH_HW_INDEX)
		record_put64(bytes, 301);
	for (uint64_t i = 0; i < 2; i++) {
		record_put64(bytes, 311 + i);
		record_put64(bytes, 321 + i);
		record_put64(bytes, is_big ? BRANCH_FLAGS_BIG : BRANCH_FLAGS);
	}
	if (type & (UINT64_C(1) << 19))
		put_words(bytes, 331, 2);
}

static void put_registers(struct record_bytes *bytes, uint64_t first, uint64_t mask)
{
	record_put64(bytes, PERF_SAMPLE_REGS_ABI_64);
	put_words(bytes, first, __builtin_popcountll(mask));
}

static void put_first_fields(struct record_bytes *bytes, uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		record_put64(bytes, 14);
	if (type & PERF_SAMPLE_IP)
		record_put64(bytes, 101);
	if (type & PERF_SAMPLE_TID)
		put_task(bytes, 11, 12);
	if (type & PERF_SAMPLE_TIME)
		record_put64(bytes, 13);
	if (type & PERF_SAMPLE_ADDR)
		record_put64(bytes, 102);
	if (type & PERF_SAMPLE_ID)
		record_put64(bytes, 14);
	if (type & PERF_SAMPLE_STREAM_ID)
		record_put64(bytes, 15);
	if (type & PERF_SAMPLE_CPU)
		put_task(bytes, 16, 0);
	if (type & PERF_SAMPLE_PERIOD)
		record_put64(bytes, 103);
}

static void put_sized_fields(struct record_bytes *bytes, const struct ps_record_config *config)
{
	uint64_t type = config->sample_type;

	if (type & PERF_SAMPLE_READ)
		put_counts(bytes, config->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		record_put64(bytes, 4);
		put_words(bytes, 401, 4);
	}
	if (type & PERF_SAMPLE_RAW) {
		record_put32(bytes, 12);
		record_put(bytes, "raw bytes...", 12);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(bytes, config->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		put_registers(bytes, 501, config->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER) {
		record_put64(bytes, 16);
		record_put(bytes, "stackstackstack!", 16);
		record_put64(bytes, 9);
	}
}

void record_sample(struct record_bytes *bytes, const struct ps_record_config *config)
{
	uint64_t type = config->sample_type;

	record_begin(bytes, config->is_swapped, PS_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_first_fields(bytes, type);
	put_sized_fields(bytes, config);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		record_put64(bytes, UINT64_C(0x0007000600000005));
	if (type & PERF_SAMPLE_DATA_SRC)
		record_put64(bytes, 602);
	if (type & PERF_SAMPLE_TRANSACTION)
		record_put64(bytes, 603);
	if (type & PERF_SAMPLE_REGS_INTR)
		put_registers(bytes, 551, config->sample_regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		record_put64(bytes, 604);
	if (type & PERF_SAMPLE_CGROUP)
		record_put64(bytes, 605);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		record_put64(bytes, 4096);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		record_put64(bytes, 8192);
	if (type & PERF_SAMPLE_AUX) {
		record_put64(bytes, 8);
		record_put(bytes, "auxiliar", 8);
	}
	record_finish(bytes);
}

static void put_mmap2(struct record_bytes *bytes)
{
	put_task(bytes, 21, 22);
	put_words(bytes, 701, 3);
	put_task(bytes, 8, 3);
	record_put64(bytes, 711);
	record_put64(bytes, 712);
	put_task(bytes, 5, 2);
	record_put_text(bytes, "/lib/libm.so.6");
}

static void put_bpf(struct record_bytes *bytes)
{
	record_put16(bytes, PERF_BPF_EVENT_PROG_LOAD);
	record_put16(bytes, 7);
	record_put32(bytes, 751);
	record_put(bytes, "tagtagta", 8);
}

static void put_symbol(struct record_bytes *bytes)
{
	record_put64(bytes, 701);
	record_put32(bytes, 702);
	record_put16(bytes, 1);
	record_put16(bytes, 2);
	record_put_text(bytes, "bpf_prog_1");
}

static void put_poke(struct record_bytes *bytes)
{
	record_put64(bytes, 701);
	record_put16(bytes, 5);
	record_put16(bytes, 3);
	record_put(bytes, "beforeaf", 8);
}

static void put_namespaces(struct record_bytes *bytes)
{
	put_task(bytes, 21, 22);
	record_put64(bytes, 7);
	put_words(bytes, 801, 14);
}

static void put_text_of_task(struct record_bytes *bytes, const char *text)
{
	put_task(bytes, 21, 22);
	record_put_text(bytes, text);
}

static void put_body_of_kernel(struct record_bytes *bytes, uint32_t type)
{
	switch (type) {
	case PS_RECORD_KSYMBOL:
		put_symbol(bytes);
		break;
	case PS_RECORD_BPF_EVENT:
		put_bpf(bytes);
		break;
	case PS_RECORD_TEXT_POKE:
		put_poke(bytes);
		break;
	case PS_RECORD_LOST:
		put_words(bytes, 24, 2);
		break;
	case PS_RECORD_LOST_SAMPLES:
	case PS_RECORD_AUX_OUTPUT_HW_ID:
		record_put64(bytes, 25);
		break;
	default: /* THROTTLE, UNTHROTTLE, AUX */
		put_words(bytes, 23, 3);
	}
}

static void put_body(struct record_bytes *bytes, uint32_t type,
                     const struct ps_record_config *config)
{
	switch (type) {
	case PS_RECORD_MMAP:
		put_task(bytes, 21, 22);
		put_words(bytes, 701, 3);
		record_put_text(bytes, "/bin/true");
		break;
	case PS_RECORD_COMM:
		put_text_of_task(bytes, ") R 1 (");
		break;
	case PS_RECORD_EXIT:
	case PS_RECORD_FORK:
		put_task(bytes, 21, 31);
		put_task(bytes, 22, 32);
		record_put64(bytes, 23);
		break;
	case PS_RECORD_READ:
		put_task(bytes, 21, 22);
		put_counts(bytes, config->read_format);
		break;
	case PS_RECORD_MMAP2:
		put_mmap2(bytes);
		break;
	case PS_RECORD_ITRACE_START:
	case PS_RECORD_SWITCH_CPU_WIDE:
		put_task(bytes, 31, 32);
		break;
	case PS_RECORD_SWITCH:
		break;
	case PS_RECORD_NAMESPACES:
		put_namespaces(bytes);
		break;
	case PS_RECORD_CGROUP:
		record_put64(bytes, 761);
		record_put_text(bytes, "/user.slice");
		break;
	case PS_RECORD_CALLCHAIN_DEFERRED:
		record_put64(bytes, 771);
		record_put64(bytes, 3);
		put_words(bytes, 401, 3);
		break;
	default:
		put_body_of_kernel(bytes, type);
	}
}

void record_of(struct record_bytes *bytes, uint32_t type, const struct ps_record_config *config)
{
	if (type == PS_RECORD_SAMPLE) {
		record_sample(bytes, config);
		return;
	}
	record_begin(bytes, config->is_swapped, type, 0);
	put_body(bytes, type, config);
	while (bytes->size % 8)
		record_put(bytes, "", 1);
	record_put_sample_id(bytes, config);
	record_finish(bytes);
}

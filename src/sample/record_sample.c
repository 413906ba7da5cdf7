/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses SAMPLE records: 25 fields, in the order of the kernel's perf_output_sample. */
#include "sample/record_parts.h"

#include <linux/perf_event.h>

/* The first fields. Each has one word, so sample_type alone tells where each of them is. */
#define FIRST_FIELDS                                                                    \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
	 PERF_SAMPLE_PERIOD)

void ps__record_take_counts(struct ps__cursor *cursor, uint64_t read_format,
                            struct ps_record_counts *counts)
{
	bool is_group = read_format & PERF_FORMAT_GROUP;
	size_t words = 1 + (size_t) !!(read_format & PERF_FORMAT_ID) +
	               (size_t) !!(read_format & PERF_FORMAT_LOST);
	uint64_t count = is_group ? ps__cursor_u64(cursor) : 1;

	counts->read_format = read_format;
	/* Without a group, the times are between the value and the id. */
	const void *value = is_group ? NULL : ps__cursor_skip(cursor, sizeof(uint64_t));
	if (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		counts->enabled_ns = ps__cursor_u64(cursor);
	if (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		counts->running_ns = ps__cursor_u64(cursor);
	if (is_group)
		value = ps__cursor_array(cursor, count, words * sizeof(uint64_t));
	else
		ps__cursor_skip(cursor, (words - 1) * sizeof(uint64_t));
	counts->at = value;
	counts->count = value ? (size_t)count : 0;
}

static void sample_take_first(struct ps__cursor *cursor, uint64_t type, struct ps_record *record)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		record->id = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_IP)
		record->ip = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_TID) {
		record->pid = ps__cursor_u32(cursor);
		record->tid = ps__cursor_u32(cursor);
	}
	if (type & PERF_SAMPLE_TIME)
		record->time = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_ADDR)
		record->addr = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_ID)
		record->id = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_STREAM_ID)
		record->stream_id = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_CPU) {
		record->cpu = ps__cursor_u32(cursor);
		ps__cursor_u32(cursor);
	}
	if (type & PERF_SAMPLE_PERIOD)
		record->period = ps__cursor_u64(cursor);
}

/* Tells whether the branch index follows a count of 0 branches. If an event took no branch stack,
 * the kernel writes only the count 0. For a stack without branches the kernel writes the index,
 * too. */
enum empty_stack {
	WITH_INDEX,
	WITHOUT_INDEX
};

static void sample_take_branches(struct ps__cursor *cursor, const struct ps_record_config *config,
                                 enum empty_stack empty, struct ps_record *record)
{
	struct ps_record_branches *branches = &record->sample.branches;
	uint64_t count = ps__cursor_u64(cursor);

	if (config->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX &&
	    (count || empty == WITH_INDEX)) {
		branches->index = ps__cursor_u64(cursor);
		record->has |= PS_RECORD_HAS_BRANCH_INDEX;
	}
	branches->at = ps__cursor_array(cursor, count, 3 * sizeof(uint64_t));
	branches->count = branches->at ? (size_t)count : 0;
	if (config->branch_sample_type & PS__BRANCH_COUNTERS)
		branches->counters = ps__cursor_words(cursor, count);
}

static void sample_take_registers(struct ps__cursor *cursor, uint64_t mask,
                                  struct ps_record_registers *registers)
{
	registers->abi = ps__cursor_u64(cursor);
	registers->mask = mask;
	if (registers->abi != PERF_SAMPLE_REGS_ABI_NONE)
		registers->values = ps__cursor_words(cursor, (uint64_t)__builtin_popcountll(mask));
}

static void sample_take_stack(struct ps__cursor *cursor, struct ps_record *record)
{
	uint64_t size = ps__cursor_u64(cursor);

	record->sample.user_stack = ps__cursor_bytes(cursor, size);
	if (!size)
		return;
	record->sample.user_stack_used = ps__cursor_u64(cursor);
	if (record->sample.user_stack_used > size)
		ps__cursor_fail(cursor, "it has more of the stack in use than it copied");
}

/* Takes the fields whose size is in the record itself, except the AUX area, which comes last. */
static void sample_take_sized(struct ps__cursor *cursor, const struct ps_record_config *config,
                              enum empty_stack empty, struct ps_record *record)
{
	uint64_t type = config->sample_type;

	if (type & PERF_SAMPLE_READ)
		ps__record_take_counts(cursor, config->read_format, &record->sample.counts);
	if (type & PERF_SAMPLE_CALLCHAIN)
		record->sample.callchain = ps__cursor_words(cursor, ps__cursor_u64(cursor));
	if (type & PERF_SAMPLE_RAW)
		record->sample.raw = ps__cursor_bytes(cursor, ps__cursor_u32(cursor));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		sample_take_branches(cursor, config, empty, record);
	if (type & PERF_SAMPLE_REGS_USER)
		sample_take_registers(cursor, config->sample_regs_user,
		                      &record->sample.user_registers);
	if (type & PERF_SAMPLE_STACK_USER)
		sample_take_stack(cursor, record);
}

static void sample_take_last(struct ps__cursor *cursor, const struct ps_record_config *config,
                             struct ps_record *record)
{
	uint64_t type = config->sample_type;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		record->sample.weight = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_DATA_SRC)
		record->sample.data_src = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_TRANSACTION)
		record->sample.transaction = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_REGS_INTR)
		sample_take_registers(cursor, config->sample_regs_intr,
		                      &record->sample.interrupt_registers);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		record->sample.phys_addr = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_CGROUP)
		record->sample.cgroup = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		record->sample.data_page_size = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		record->sample.code_page_size = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_AUX)
		record->sample.aux = ps__cursor_bytes(cursor, ps__cursor_u64(cursor));
}

static void sample_take_rest(struct ps__cursor *cursor, const struct ps_record_config *config,
                             enum empty_stack empty, struct ps_record *record)
{
	if (config->sample_type & ~(uint64_t)FIRST_FIELDS) {
		sample_take_sized(cursor, config, empty, record);
		sample_take_last(cursor, config, record);
	}
	/* A sample has no padding: bytes that are left are of a field that config lacks. */
	if (ps__cursor_left(cursor))
		ps__cursor_fail(cursor, "it is longer than its fields");
}

void ps__record_take_sample(struct ps__cursor *cursor, const struct ps_record_config *config,
                            struct ps_record *record)
{
	uint64_t type = config->sample_type;

	record->has = type;
	if (type & PERF_SAMPLE_IDENTIFIER)
		record->has |= PS_RECORD_HAS_ID;
	sample_take_first(cursor, type, record);
	const unsigned char *rest = cursor->at;
	sample_take_rest(cursor, config, WITH_INDEX, record);
	/* Parses again without an index: only the record's size tells whether there is one. */
	if (cursor->fault && record->has & PS_RECORD_HAS_BRANCH_INDEX) {
		cursor->at = rest;
		cursor->fault = NULL;
		record->has &= ~(uint64_t)PS_RECORD_HAS_BRANCH_INDEX;
		memset(&record->sample, 0, sizeof record->sample);
		sample_take_rest(cursor, config, WITHOUT_INDEX, record);
	}
}

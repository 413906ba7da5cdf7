/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a record's arrays where the kernel wrote them: at any address, in either byte order. */
#include "base/error.h"
#include "sample/cursor.h"

#include <linux/perf_event.h>

static const char *const names[] = {
    "unknown",
    "MMAP",
    "LOST",
    "COMM",
    "EXIT",
    "THROTTLE",
    "UNTHROTTLE",
    "FORK",
    "READ",
    "SAMPLE",
    "MMAP2",
    "AUX",
    "ITRACE_START",
    "LOST_SAMPLES",
    "SWITCH",
    "SWITCH_CPU_WIDE",
    "NAMESPACES",
    "KSYMBOL",
    "BPF_EVENT",
    "CGROUP",
    "TEXT_POKE",
    "AUX_OUTPUT_HW_ID",
    "CALLCHAIN_DEFERRED",
};

const char *ps_record_type_name(uint32_t type)
{
	return names[type < sizeof names / sizeof *names ? type : 0];
}

static uint64_t word_at(const struct ps_record *record, const void *at, size_t index)
{
	return ps__word64((const unsigned char *)at + index * sizeof(uint64_t), record->is_swapped);
}

uint64_t ps_record_word(const struct ps_record *record, const struct ps_record_words *words,
                        size_t index)
{
	return index < words->count ? word_at(record, words->at, index) : 0;
}

int ps_record_count(const struct ps_record *record, size_t index, struct ps_record_count *out)
{
	if (!record || !out)
		return ps__fail(PS_EINVAL, "ps_record_count: an argument is NULL");
	const struct ps_record_counts *counts = &record->sample.counts;
	if (index >= counts->count)
		return ps__fail(PS_ENOEVST, "the record has %zu counts, and no number %zu",
		                counts->count, index);
	uint64_t format = counts->read_format;
	size_t has_id = !!(format & PERF_FORMAT_ID), has_lost = !!(format & PERF_FORMAT_LOST);
	size_t value = index * (1 + has_id + has_lost), next = value + 1;

	/* Without a group, the times are behind the value. */
	if (!(format & PERF_FORMAT_GROUP))
		next += (size_t) !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		        !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	*out = (struct ps_record_count){
	    .value = word_at(record, counts->at, value),
	    .id = has_id ? word_at(record, counts->at, next) : 0,
	    .lost = has_lost ? word_at(record, counts->at, next + has_id) : 0};
	return PS_OK;
}

/* The kernel's flags are a bit-field: on big-endian machines the first bit is the highest one. This
 * moves each member to its place on little-endian machines. */
static uint64_t flags_from_big(uint64_t flags)
{
	static const unsigned char widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3};
	uint64_t out = 0;
	unsigned from = 64, to = 0;

	for (size_t i = 0; i < sizeof widths; i++) {
		from -= widths[i];
		out |= (flags >> from & ((UINT64_C(1) << widths[i]) - 1)) << to;
		to += widths[i];
	}
	return out;
}

static bool is_written_big(const struct ps_record *record)
{
	return (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != !!record->is_swapped;
}

int ps_record_branch(const struct ps_record *record, size_t index, struct ps_record_branch *out)
{
	if (!record || !out)
		return ps__fail(PS_EINVAL, "ps_record_branch: an argument is NULL");
	if (index >= record->sample.branches.count)
		return ps__fail(PS_ENOEVST, "the record has %zu branches, and no number %zu",
		                record->sample.branches.count, index);
	uint64_t flags = word_at(record, record->sample.branches.at, 3 * index + 2);
	if (is_written_big(record))
		flags = flags_from_big(flags);
	*out = (struct ps_record_branch){
	    .from = word_at(record, record->sample.branches.at, 3 * index),
	    .to = word_at(record, record->sample.branches.at, 3 * index + 1),
	    .flags = flags,
	    .cycles = flags >> 4 & 0xffff,
	    .type = flags >> 20 & 0xf};
	return PS_OK;
}

int ps_record_register(const struct ps_record *record, const struct ps_record_registers *registers,
                       unsigned number, uint64_t *out)
{
	if (!record || !registers || !out)
		return ps__fail(PS_EINVAL, "ps_record_register: an argument is NULL");
	uint64_t bit = number < 64 ? UINT64_C(1) << number : 0;
	if (!registers->values.count || !(registers->mask & bit))
		return ps__fail(PS_ENOEVST, "the record has no register %u", number);
	size_t index = (size_t)__builtin_popcountll(registers->mask & (bit - 1));
	*out = word_at(record, registers->values.at, index);
	return PS_OK;
}

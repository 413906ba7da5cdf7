/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where each field of perf_event_attr is. The fields are accessed by offset, and not as members of
 * the compiler's struct, because a header may be older than the kernel.
 */
#include "sample/attr.h"

#include <string.h>

#define FLAGS 40 /* the word of one-bit fields begins here */

#define WORD(name, offset, size_bytes)                          \
	{                                                       \
		name, offset, size_bytes, 0, 8 * size_bytes, 0, \
	}
#define LIMITED(name, offset, size_bytes, largest)                    \
	{                                                             \
		name, offset, size_bytes, 0, 8 * size_bytes, largest, \
	}
#define FLAG(name, bit)                    \
	{                                  \
		name, FLAGS, 8, bit, 1, 0, \
	}

static const struct ps__attr_field fields[PS__ATTR_FIELDS] = {
    [PS_ATTR_TYPE] = WORD("type", 0, 4),
    [PS_ATTR_SIZE] = WORD("size", 4, 4),
    [PS_ATTR_CONFIG] = WORD("config", 8, 8),
    [PS_ATTR_SAMPLE_PERIOD] = LIMITED("sample_period", 16, 8, INT64_MAX),
    [PS_ATTR_SAMPLE_FREQ] = LIMITED("sample_freq", 16, 8, INT64_MAX),
    [PS_ATTR_SAMPLE_TYPE] = WORD("sample_type", 24, 8),
    [PS_ATTR_READ_FORMAT] = WORD("read_format", 32, 8),
    [PS_ATTR_DISABLED] = FLAG("disabled", 0),
    [PS_ATTR_INHERIT] = FLAG("inherit", 1),
    [PS_ATTR_PINNED] = FLAG("pinned", 2),
    [PS_ATTR_EXCLUSIVE] = FLAG("exclusive", 3),
    [PS_ATTR_EXCLUDE_USER] = FLAG("exclude_user", 4),
    [PS_ATTR_EXCLUDE_KERNEL] = FLAG("exclude_kernel", 5),
    [PS_ATTR_EXCLUDE_HV] = FLAG("exclude_hv", 6),
    [PS_ATTR_EXCLUDE_IDLE] = FLAG("exclude_idle", 7),
    [PS_ATTR_MMAP] = FLAG("mmap", 8),
    [PS_ATTR_COMM] = FLAG("comm", 9),
    [PS_ATTR_FREQ] = FLAG("freq", 10),
    [PS_ATTR_INHERIT_STAT] = FLAG("inherit_stat", 11),
    [PS_ATTR_ENABLE_ON_EXEC] = FLAG("enable_on_exec", 12),
    [PS_ATTR_TASK] = FLAG("task", 13),
    [PS_ATTR_WATERMARK] = FLAG("watermark", 14),
    [PS_ATTR_PRECISE_IP] = {"precise_ip", FLAGS, 8, 15, 2, 0},
    [PS_ATTR_MMAP_DATA] = FLAG("mmap_data", 17),
    [PS_ATTR_SAMPLE_ID_ALL] = FLAG("sample_id_all", 18),
    [PS_ATTR_EXCLUDE_HOST] = FLAG("exclude_host", 19),
    [PS_ATTR_EXCLUDE_GUEST] = FLAG("exclude_guest", 20),
    [PS_ATTR_EXCLUDE_CALLCHAIN_KERNEL] = FLAG("exclude_callchain_kernel", 21),
    [PS_ATTR_EXCLUDE_CALLCHAIN_USER] = FLAG("exclude_callchain_user", 22),
    [PS_ATTR_MMAP2] = FLAG("mmap2", 23),
    [PS_ATTR_COMM_EXEC] = FLAG("comm_exec", 24),
    [PS_ATTR_USE_CLOCKID] = FLAG("use_clockid", 25),
    [PS_ATTR_CONTEXT_SWITCH] = FLAG("context_switch", 26),
    [PS_ATTR_WRITE_BACKWARD] = FLAG("write_backward", 27),
    [PS_ATTR_NAMESPACES] = FLAG("namespaces", 28),
    [PS_ATTR_KSYMBOL] = FLAG("ksymbol", 29),
    [PS_ATTR_BPF_EVENT] = FLAG("bpf_event", 30),
    [PS_ATTR_AUX_OUTPUT] = FLAG("aux_output", 31),
    [PS_ATTR_CGROUP] = FLAG("cgroup", 32),
    [PS_ATTR_TEXT_POKE] = FLAG("text_poke", 33),
    [PS_ATTR_BUILD_ID] = FLAG("build_id", 34),
    [PS_ATTR_INHERIT_THREAD] = FLAG("inherit_thread", 35),
    [PS_ATTR_REMOVE_ON_EXEC] = FLAG("remove_on_exec", 36),
    [PS_ATTR_SIGTRAP] = FLAG("sigtrap", 37),
    [PS_ATTR_DEFER_CALLCHAIN] = FLAG("defer_callchain", 38),
    [PS_ATTR_DEFER_OUTPUT] = FLAG("defer_output", 39),
    [PS_ATTR_WAKEUP_EVENTS] = WORD("wakeup_events", 48, 4),
    [PS_ATTR_WAKEUP_WATERMARK] = WORD("wakeup_watermark", 48, 4),
    [PS_ATTR_BP_TYPE] = WORD("bp_type", 52, 4),
    [PS_ATTR_BP_ADDR] = WORD("bp_addr", 56, 8),
    [PS_ATTR_KPROBE_FUNC] = WORD("kprobe_func", 56, 8),
    [PS_ATTR_UPROBE_PATH] = WORD("uprobe_path", 56, 8),
    [PS_ATTR_CONFIG1] = WORD("config1", 56, 8),
    [PS_ATTR_BP_LEN] = WORD("bp_len", 64, 8),
    [PS_ATTR_KPROBE_ADDR] = WORD("kprobe_addr", 64, 8),
    [PS_ATTR_PROBE_OFFSET] = WORD("probe_offset", 64, 8),
    [PS_ATTR_CONFIG2] = WORD("config2", 64, 8),
    [PS_ATTR_BRANCH_SAMPLE_TYPE] = WORD("branch_sample_type", 72, 8),
    [PS_ATTR_SAMPLE_REGS_USER] = WORD("sample_regs_user", 80, 8),
    /* The size of a record has only 16 bits. */
    [PS_ATTR_SAMPLE_STACK_USER] = LIMITED("sample_stack_user", 88, 4, 65528),
    [PS_ATTR_CLOCKID] = WORD("clockid", 92, 4),
    [PS_ATTR_SAMPLE_REGS_INTR] = WORD("sample_regs_intr", 96, 8),
    [PS_ATTR_AUX_WATERMARK] = WORD("aux_watermark", 104, 4),
    [PS_ATTR_SAMPLE_MAX_STACK] = WORD("sample_max_stack", 108, 2),
    [PS_ATTR_AUX_SAMPLE_SIZE] = WORD("aux_sample_size", 112, 4),
    [PS_ATTR_AUX_ACTION] = WORD("aux_action", 116, 4),
    [PS_ATTR_AUX_START_PAUSED] = {"aux_start_paused", 116, 4, 0, 1, 0},
    [PS_ATTR_AUX_PAUSE] = {"aux_pause", 116, 4, 1, 1, 0},
    [PS_ATTR_AUX_RESUME] = {"aux_resume", 116, 4, 2, 1, 0},
    [PS_ATTR_SIG_DATA] = WORD("sig_data", 120, 8),
    [PS_ATTR_CONFIG3] = WORD("config3", 128, 8),
    [PS_ATTR_CONFIG4] = WORD("config4", 136, 8),
};

const struct ps__attr_field *ps__attr_field(enum ps_attr_field field)
{
	return (unsigned)field < PS__ATTR_FIELDS ? &fields[field] : NULL;
}

const char *ps_attr_field_name(enum ps_attr_field field)
{
	return (unsigned)field < PS__ATTR_FIELDS ? fields[field].name : NULL;
}

static uint64_t field_load(const union ps__attr *attr, const struct ps__attr_field *field)
{
	const unsigned char *at = (const unsigned char *)attr + field->offset;
	uint64_t word = 0;
	uint32_t half = 0;
	uint16_t quarter = 0;

	if (field->size_bytes == sizeof word) {
		memcpy(&word, at, sizeof word);
	} else if (field->size_bytes == sizeof half) {
		memcpy(&half, at, sizeof half);
		word = half;
	} else {
		memcpy(&quarter, at, sizeof quarter);
		word = quarter;
	}
	return word;
}

static void field_store(union ps__attr *attr, const struct ps__attr_field *field, uint64_t word)
{
	unsigned char *at = (unsigned char *)attr + field->offset;
	uint32_t half = (uint32_t)word;
	uint16_t quarter = (uint16_t)word;

	if (field->size_bytes == sizeof word)
		memcpy(at, &word, sizeof word);
	else if (field->size_bytes == sizeof half)
		memcpy(at, &half, sizeof half);
	else
		memcpy(at, &quarter, sizeof quarter);
}

static uint64_t field_mask(const struct ps__attr_field *field)
{
	return UINT64_MAX >> (64 - field->bits);
}

/* Compilers for big-endian machines number bit fields from the other end. */
static unsigned field_shift(const struct ps__attr_field *field)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return 8u * field->size_bytes - field->bit - field->bits;
#else
	return field->bit;
#endif
}

uint64_t ps__attr_field_read(const union ps__attr *attr, enum ps_attr_field field)
{
	const struct ps__attr_field *where = &fields[field];

	return field_load(attr, where) >> field_shift(where) & field_mask(where);
}

void ps__attr_field_write(union ps__attr *attr, enum ps_attr_field field, uint64_t value)
{
	const struct ps__attr_field *where = &fields[field];
	uint64_t mask = field_mask(where) << field_shift(where);

	field_store(attr, where,
	            (field_load(attr, where) & ~mask) | (value << field_shift(where) & mask));
}

uint64_t ps__attr_field_largest(enum ps_attr_field field)
{
	return fields[field].largest ? fields[field].largest : field_mask(&fields[field]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses records that are no samples: a function for each layout. perf_event_open(2) and the
 * kernel's uapi/linux/perf_event.h describe them. */
#include "sample/record_parts.h"

#include <linux/perf_event.h>

#define BUILD_ID_BYTES 20
#define BPF_TAG_BYTES  8

static void body_take_task(struct ps__cursor *cursor, struct ps_record *record)
{
	record->pid = ps__cursor_u32(cursor);
	record->tid = ps__cursor_u32(cursor);
	record->has |= PS_RECORD_HAS_TID;
}

static void body_take_addr(struct ps__cursor *cursor, struct ps_record *record)
{
	record->addr = ps__cursor_u64(cursor);
	record->has |= PS_RECORD_HAS_ADDR;
}

/* Takes a string, which fills all bytes before the sample_id; zeros pad it. */
static void body_take_text(struct ps__cursor *cursor, struct ps_record *record)
{
	const char *text = (const char *)cursor->at;
	const char *end = memchr(text, 0, ps__cursor_left(cursor));

	if (!end) {
		ps__cursor_fail(cursor, "its text has no end");
		return;
	}
	record->text = text;
	record->text_length = (size_t)(end - text);
	record->has |= PS_RECORD_HAS_TEXT;
}

static void body_take_mapped(struct ps__cursor *cursor, struct ps_record *record)
{
	body_take_task(cursor, record);
	body_take_addr(cursor, record);
	record->body.mapping.length = ps__cursor_u64(cursor);
	record->body.mapping.offset = ps__cursor_u64(cursor);
}

static void body_take_mmap(struct ps__cursor *cursor, struct ps_record *record)
{
	body_take_mapped(cursor, record);
	body_take_text(cursor, record);
}

static void mmap2_take_build_id(struct ps__cursor *cursor, struct ps_record *record)
{
	const unsigned char *size = ps__cursor_skip(cursor, 4);
	const unsigned char *id = ps__cursor_skip(cursor, BUILD_ID_BYTES);

	if (!id)
		return;
	if (*size > BUILD_ID_BYTES) {
		ps__cursor_fail(cursor, "its build id is longer than a build id can be");
		return;
	}
	record->body.mapping.build_id = (struct ps_record_bytes){.at = id, .size = *size};
	record->has |= PS_RECORD_HAS_BUILD_ID;
}

static void mmap2_take_inode(struct ps__cursor *cursor, struct ps_record *record)
{
	struct ps_record_mapping *mapping = &record->body.mapping;

	mapping->device_major = ps__cursor_u32(cursor);
	mapping->device_minor = ps__cursor_u32(cursor);
	mapping->inode = ps__cursor_u64(cursor);
	mapping->inode_generation = ps__cursor_u64(cursor);
	record->has |= PS_RECORD_HAS_INODE;
}

static void body_take_mmap2(struct ps__cursor *cursor, struct ps_record *record)
{
	body_take_mapped(cursor, record);
	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		mmap2_take_build_id(cursor, record);
	else
		mmap2_take_inode(cursor, record);
	record->body.mapping.protection = ps__cursor_u32(cursor);
	record->body.mapping.flags = ps__cursor_u32(cursor);
	body_take_text(cursor, record);
}

static void body_take_lost(struct ps__cursor *cursor, struct ps_record *record)
{
	record->id = ps__cursor_u64(cursor);
	record->has |= PS_RECORD_HAS_ID;
	record->body.lost = ps__cursor_u64(cursor);
}

static void body_take_lost_samples(struct ps__cursor *cursor, struct ps_record *record)
{
	record->body.lost = ps__cursor_u64(cursor);
}

static void body_take_comm(struct ps__cursor *cursor, struct ps_record *record)
{
	body_take_task(cursor, record);
	body_take_text(cursor, record);
}

/* FORK, EXIT: first both pids, then both tids. */
static void body_take_fork(struct ps__cursor *cursor, struct ps_record *record)
{
	record->pid = ps__cursor_u32(cursor);
	record->body.other.pid = ps__cursor_u32(cursor);
	record->tid = ps__cursor_u32(cursor);
	record->body.other.tid = ps__cursor_u32(cursor);
	record->time = ps__cursor_u64(cursor);
	record->has |= PS_RECORD_HAS_TID | PS_RECORD_HAS_TIME;
}

static void body_take_throttle(struct ps__cursor *cursor, struct ps_record *record)
{
	record->time = ps__cursor_u64(cursor);
	record->id = ps__cursor_u64(cursor);
	record->stream_id = ps__cursor_u64(cursor);
	record->has |= PS_RECORD_HAS_TIME | PS_RECORD_HAS_ID | PS_RECORD_HAS_STREAM_ID;
}

static void body_take_aux(struct ps__cursor *cursor, struct ps_record *record)
{
	record->body.aux.offset = ps__cursor_u64(cursor);
	record->body.aux.size = ps__cursor_u64(cursor);
	record->body.aux.flags = ps__cursor_u64(cursor);
}

/* SWITCH has nothing but its sample_id. */
static void body_take_switch(struct ps__cursor *cursor, struct ps_record *record)
{
	(void)cursor;
	(void)record;
}

static void body_take_switch_cpu_wide(struct ps__cursor *cursor, struct ps_record *record)
{
	record->body.other.pid = ps__cursor_u32(cursor);
	record->body.other.tid = ps__cursor_u32(cursor);
}

static void body_take_namespaces(struct ps__cursor *cursor, struct ps_record *record)
{
	struct ps_record_words *namespaces = &record->body.namespaces;

	body_take_task(cursor, record);
	uint64_t count = ps__cursor_u64(cursor);
	namespaces->at = ps__cursor_array(cursor, count, 2 * sizeof(uint64_t));
	namespaces->count = namespaces->at ? 2 * (size_t)count : 0;
}

static void body_take_symbol(struct ps__cursor *cursor, struct ps_record *record)
{
	body_take_addr(cursor, record);
	record->body.symbol.length = ps__cursor_u32(cursor);
	record->body.symbol.type = ps__cursor_u16(cursor);
	record->body.symbol.flags = ps__cursor_u16(cursor);
	body_take_text(cursor, record);
}

static void body_take_bpf(struct ps__cursor *cursor, struct ps_record *record)
{
	record->body.bpf.type = ps__cursor_u16(cursor);
	record->body.bpf.flags = ps__cursor_u16(cursor);
	record->body.bpf.id = ps__cursor_u32(cursor);
	record->body.bpf.tag = ps__cursor_bytes(cursor, BPF_TAG_BYTES);
}

static void body_take_cgroup(struct ps__cursor *cursor, struct ps_record *record)
{
	record->sample.cgroup = ps__cursor_u64(cursor);
	record->has |= PS_RECORD_HAS_CGROUP;
	body_take_text(cursor, record);
}

static void body_take_poke(struct ps__cursor *cursor, struct ps_record *record)
{
	body_take_addr(cursor, record);
	uint16_t before = ps__cursor_u16(cursor);
	uint16_t after = ps__cursor_u16(cursor);
	record->body.poke.before = ps__cursor_bytes(cursor, before);
	record->body.poke.after = ps__cursor_bytes(cursor, after);
}

static void body_take_hw_id(struct ps__cursor *cursor, struct ps_record *record)
{
	record->body.hw_id = ps__cursor_u64(cursor);
}

static void body_take_deferred(struct ps__cursor *cursor, struct ps_record *record)
{
	record->body.cookie = ps__cursor_u64(cursor);
	record->sample.callchain = ps__cursor_words(cursor, ps__cursor_u64(cursor));
	record->has |= PS_RECORD_HAS_CALLCHAIN;
}

typedef void body_take(struct ps__cursor *cursor, struct ps_record *record);

/* READ and SAMPLE need the config, and have no row. */
static body_take *const takes[] = {
    [PS_RECORD_MMAP] = body_take_mmap,
    [PS_RECORD_LOST] = body_take_lost,
    [PS_RECORD_COMM] = body_take_comm,
    [PS_RECORD_EXIT] = body_take_fork,
    [PS_RECORD_THROTTLE] = body_take_throttle,
    [PS_RECORD_UNTHROTTLE] = body_take_throttle,
    [PS_RECORD_FORK] = body_take_fork,
    [PS_RECORD_MMAP2] = body_take_mmap2,
    [PS_RECORD_AUX] = body_take_aux,
    [PS_RECORD_ITRACE_START] = body_take_task,
    [PS_RECORD_LOST_SAMPLES] = body_take_lost_samples,
    [PS_RECORD_SWITCH] = body_take_switch,
    [PS_RECORD_SWITCH_CPU_WIDE] = body_take_switch_cpu_wide,
    [PS_RECORD_NAMESPACES] = body_take_namespaces,
    [PS_RECORD_KSYMBOL] = body_take_symbol,
    [PS_RECORD_BPF_EVENT] = body_take_bpf,
    [PS_RECORD_CGROUP] = body_take_cgroup,
    [PS_RECORD_TEXT_POKE] = body_take_poke,
    [PS_RECORD_AUX_OUTPUT_HW_ID] = body_take_hw_id,
    [PS_RECORD_CALLCHAIN_DEFERRED] = body_take_deferred,
};

void ps__record_take_body(struct ps__cursor *cursor, const struct ps_record_config *config,
                          struct ps_record *record)
{
	if (record->type == PS_RECORD_READ) {
		body_take_task(cursor, record);
		ps__record_take_counts(cursor, config->read_format, &record->sample.counts);
		record->has |= PS_RECORD_HAS_READ;
	} else {
		takes[record->type](cursor, record);
	}
	record->has |= PS_RECORD_HAS_BODY;
}

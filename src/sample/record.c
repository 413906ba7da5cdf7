/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses records: the header, the sample_id, and the choice of the function that parses the rest.
 * Readers of rings and of files call this for each record, so it allocates nothing and takes no
 * lock. */
#include <perfsage/record.h>

#include "base/error.h"
#include "sample/record_parts.h"

#include <linux/perf_event.h>

#define KNOWN_BRANCH_TYPE ((UINT64_C(1) << 20) - 1)
#define FIRST_OF_PERF     64 /* types from here on are perf's own, in its files */
#define SAMPLE_ID_WORDS                                                                \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static bool record_is_known(uint32_t type)
{
	return type >= PS_RECORD_MMAP && type <= PS_RECORD_CALLCHAIN_DEFERRED;
}

/* True if the config has fields that aren't known here: their sizes are unknown, so all fields
 * behind them would be misread. */
static bool has_unknown_fields(const struct ps_record_config *config)
{
	return (config->sample_type & ~PS__KNOWN_SAMPLE_TYPE) ||
	       (config->read_format & ~PS__KNOWN_READ_FORMAT) ||
	       (config->branch_sample_type & ~KNOWN_BRANCH_TYPE);
}

static int check_config(const struct ps_record_config *config)
{
	if (config->size != sizeof *config)
		return ps__fail(PS_EINVAL,
		                "struct ps_record_config has %zu bytes, and not %zu: "
		                "set its size to sizeof(struct ps_record_config)",
		                sizeof *config, config->size);
	if (has_unknown_fields(config))
		return ps__fail(PS_ENOSUPP,
		                "records with sample_type %#llx, read_format %#llx and "
		                "branch_sample_type %#llx have fields that are newer than this "
		                "perfsage",
		                (unsigned long long)config->sample_type,
		                (unsigned long long)config->read_format,
		                (unsigned long long)config->branch_sample_type);
	return PS_OK;
}

static void take_sample_id(struct ps__cursor *cursor, uint64_t type, struct ps_record *record)
{
	struct ps_record_sample_id *id = &record->sample_id;

	if (type & PERF_SAMPLE_TID) {
		id->pid = ps__cursor_u32(cursor);
		id->tid = ps__cursor_u32(cursor);
	}
	if (type & PERF_SAMPLE_TIME)
		id->time = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_ID)
		id->id = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_STREAM_ID)
		id->stream_id = ps__cursor_u64(cursor);
	if (type & PERF_SAMPLE_CPU) {
		id->cpu = ps__cursor_u32(cursor);
		ps__cursor_u32(cursor);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		id->id = ps__cursor_u64(cursor);
	id->has = type & SAMPLE_ID_WORDS;
	if (type & PERF_SAMPLE_IDENTIFIER)
		id->has |= PS_RECORD_HAS_ID;
	record->has |= PS_RECORD_HAS_SAMPLE_ID;
}

/* Copies from the sample_id the fields that the record itself doesn't have. */
static void adopt_sample_id(struct ps_record *record)
{
	const struct ps_record_sample_id *id = &record->sample_id;
	uint64_t missing = id->has & ~record->has;

	if (missing & PS_RECORD_HAS_TID) {
		record->pid = id->pid;
		record->tid = id->tid;
	}
	if (missing & PS_RECORD_HAS_TIME)
		record->time = id->time;
	if (missing & PS_RECORD_HAS_ID)
		record->id = id->id;
	if (missing & PS_RECORD_HAS_STREAM_ID)
		record->stream_id = id->stream_id;
	record->cpu = id->cpu;
	record->has |= missing;
}

/* Parses a record other than a sample. The sample_id is at the record's end, and is found from
 * there, because newer kernels put new members before it. */
static void take_other(struct ps__cursor *cursor, const struct ps_record_config *config,
                       struct ps_record *record)
{
	uint64_t type = config->sample_type & SAMPLE_ID_WORDS;
	size_t bytes = (size_t)__builtin_popcountll(type) * sizeof(uint64_t);
	struct ps__cursor id = *cursor;

	if (!config->sample_id_all || record->type >= FIRST_OF_PERF)
		bytes = 0;
	if (bytes > ps__cursor_left(cursor)) {
		if (record_is_known(record->type))
			ps__cursor_fail(cursor, "it has no room for its sample_id");
		return;
	}
	cursor->end -= bytes;
	if (record_is_known(record->type))
		ps__record_take_body(cursor, config, record);
	if (bytes) {
		id.at = cursor->end;
		take_sample_id(&id, type, record);
		adopt_sample_id(record);
	}
}

static int record_refuse(const struct ps_record *record, const char *fault)
{
	return ps__fail(PS_EINVAL,
	                "a record of type %u (%s) and %zu bytes is damaged: %s; or it was not "
	                "written with this config",
	                record->type, ps_record_type_name(record->type), record->size, fault);
}

static int record_refuse_size(size_t is, size_t announced)
{
	if (is < sizeof(struct perf_event_header) || announced > is)
		return ps__fail(PS_EBUF, "%zu bytes are not a whole record: give all of its bytes",
		                is);
	return ps__fail(PS_EINVAL, "a record is damaged: it has %zu bytes, fewer than a header",
	                announced);
}

/* Returns the record's size, as its header gives it; 0 if there are fewer bytes. */
static size_t record_size(const unsigned char *at, size_t size, bool is_swapped)
{
	if (size < sizeof(struct perf_event_header))
		return 0;
	size_t announced = ps__word16(at + offsetof(struct perf_event_header, size), is_swapped);
	return announced <= size && announced >= sizeof(struct perf_event_header) ? announced : 0;
}

size_t ps_record_size(const struct ps_record_config *config, const void *bytes, size_t size)
{
	return config && bytes ? record_size(bytes, size, config->is_swapped) : 0;
}

/* Returns sizeof(struct ps_record), but hides the number from the compiler. If the compiler knew
 * it, it would clear and copy records with string instructions, which take longer than the parsing.
 * memset and memcpy take a tenth of that. */
static inline size_t size_of_record(void)
{
	size_t size = sizeof(struct ps_record);

	__asm__("" : "+r"(size));
	return size;
}

int ps_record_parse(const struct ps_record_config *config, const void *bytes, size_t size,
                    struct ps_record *out)
{
	if (!config || !bytes || !out)
		return ps__fail(PS_EINVAL, "ps_record_parse: an argument is NULL");
	if (config->size != sizeof *config || has_unknown_fields(config))
		return check_config(config);
	const unsigned char *at = bytes;
	bool is_swapped = config->is_swapped;
	size_t whole = record_size(at, size, is_swapped);
	if (!whole)
		return record_refuse_size(size, size < sizeof(struct perf_event_header)
		                                    ? 0
		                                    : ps__word16(at + 6, is_swapped));
	struct ps_record record;
	memset(&record, 0, size_of_record());
	record.type = ps__word32(at, is_swapped);
	record.misc = ps__word16(at + offsetof(struct perf_event_header, misc), is_swapped);
	record.is_swapped = is_swapped;
	record.bytes = bytes;
	record.size = whole;
	struct ps__cursor cursor = {.at = at + sizeof(struct perf_event_header),
	                            .end = at + whole,
	                            .is_swapped = is_swapped};
	if (record.type == PS_RECORD_SAMPLE)
		ps__record_take_sample(&cursor, config, &record);
	else
		take_other(&cursor, config, &record);
	if (cursor.fault)
		return record_refuse(&record, cursor.fault);
	if (record.has & PS_RECORD_HAS_TIME)
		record.time += config->time_shift_ns;
	if (record.sample_id.has & PS_RECORD_HAS_TIME)
		record.sample_id.time += config->time_shift_ns;
	memcpy(out, &record, size_of_record());
	return PS_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutated records: what a parser must survive. The same seed gives the same records, so a failure
 * can be repeated. */
#include "support/random.h"
#include "support/record_bytes.h"

#include <perfsage/error.h>

#include <stdlib.h>
#include <string.h>

/* Reads the bytes too, so that a sanitizer sees them. */
static bool is_range_within(const struct ps_record *record, const void *at, size_t size)
{
	const volatile unsigned char *from = at;
	const unsigned char *begin = record->bytes;

	if (!size)
		return true;
	if (!from || from < begin || size > record->size ||
	    (size_t)(from - begin) > record->size - size)
		return false;
	(void)from[0];
	(void)from[size - 1];
	return true;
}

static bool are_words_within(const struct ps_record *record, const struct ps_record_words *words)
{
	return words->count <= record->size && is_range_within(record, words->at, 8 * words->count);
}

static bool are_bytes_within(const struct ps_record *record, const struct ps_record_bytes *bytes)
{
	return is_range_within(record, bytes->at, bytes->size);
}

static bool are_arrays_read(const struct ps_record *record)
{
	struct ps_record_count count;
	struct ps_record_branch branch;

	for (size_t i = 0; i < record->sample.counts.count; i++)
		if (ps_record_count(record, i, &count) != PS_OK)
			return false;
	for (size_t i = 0; i < record->sample.branches.count; i++)
		if (ps_record_branch(record, i, &branch) != PS_OK)
			return false;
	return true;
}

static bool is_body_within(const struct ps_record *record)
{
	switch (record->type) {
	case PS_RECORD_MMAP2:
		return are_bytes_within(record, &record->body.mapping.build_id);
	case PS_RECORD_NAMESPACES:
		return are_words_within(record, &record->body.namespaces);
	case PS_RECORD_BPF_EVENT:
		return are_bytes_within(record, &record->body.bpf.tag);
	case PS_RECORD_TEXT_POKE:
		return are_bytes_within(record, &record->body.poke.before) &&
		       are_bytes_within(record, &record->body.poke.after);
	default:
		return true;
	}
}

bool record_is_within(const struct ps_record *record)
{
	if (record->text && (!is_range_within(record, record->text, record->text_length + 1) ||
	                     strlen(record->text) != record->text_length))
		return false;
	return are_words_within(record, &record->sample.callchain) &&
	       are_words_within(record, &record->sample.branches.counters) &&
	       are_words_within(record, &record->sample.user_registers.values) &&
	       are_words_within(record, &record->sample.interrupt_registers.values) &&
	       are_bytes_within(record, &record->sample.raw) &&
	       are_bytes_within(record, &record->sample.user_stack) &&
	       are_bytes_within(record, &record->sample.aux) && is_body_within(record) &&
	       record->sample.branches.count <= record->size &&
	       is_range_within(record, record->sample.branches.at,
	                       24 * record->sample.branches.count) &&
	       are_arrays_read(record);
}

static struct ps_record_config random_config(struct random *random)
{
	uint64_t bits = random_next(random);

	return (struct ps_record_config){
	    .size = sizeof(struct ps_record_config),
	    .sample_type = random_next(random) >> 20 & ((1 << 25) - 1),
	    .read_format = bits & 31,
	    .branch_sample_type =
		bits >> 5 & 7 ? (bits >> 8 & 3) << 17 | (bits >> 10 & 1) << 19 : 0,
	    .sample_regs_user = bits >> 11 & 0xffff,
	    .sample_regs_intr = bits >> 27 & 0xff,
	    .sample_id_all = bits >> 35 & 1,
	    .is_swapped = bits >> 36 & 1};
}

/* Some bytes take values at which lengths break; in a third of the runs the header stays good. */
static void mutate(struct random *random, struct record_bytes *bytes)
{
	static const unsigned char values[] = {0, 1, 7, 8, 0x7f, 0x80, 0xfe, 0xff};
	uint64_t kind = random_next(random);
	size_t first = kind % 3 ? 8 : 0;

	if (bytes->size <= first)
		return;
	for (uint64_t i = 0; i < (kind >> 8) % 4; i++) {
		uint64_t bits = random_next(random);
		size_t at = first + (size_t)(bits >> 16) % (bytes->size - first);
		bytes->at[at] = bits & 1 ? values[bits >> 1 & 7] : (unsigned char)(bits >> 4);
	}
}

/* The copy has no byte more than the record, at an address that varies. */
static bool fuzz_one(struct random *random, unsigned char *end, struct record_fuzz *result)
{
	struct record_bytes bytes;
	struct ps_record_config config = random_config(random);
	struct ps_record record, untouched;
	uint64_t bits = random_next(random);

	record_of(&bytes, 1 + (uint32_t)(bits % 22), &config);
	mutate(random, &bytes);
	size_t size = bits >> 8 & 3 ? bytes.size : (size_t)(bits >> 16) % (bytes.size + 1);
	unsigned char *at = end - size;
	memcpy(at, bytes.at, size);
	memset(&record, 0x5a, sizeof record);
	memcpy(&untouched, &record, sizeof record);
	if (ps_record_parse(&config, at, size, &record) != PS_OK) {
		result->refused++;
		return memcmp(&record, &untouched, sizeof record) == 0;
	}
	result->parsed++;
	return record.size <= size && record_is_within(&record);
}

bool record_fuzz(uint64_t seed, uint64_t runs, struct record_fuzz *result)
{
	struct random random = random_of(seed);
	unsigned char *room = malloc(RECORD_BYTES_MOST);
	bool is_good = room;

	*result = (struct record_fuzz){.parsed = 0};
	for (uint64_t run = 0; is_good && run < runs; run++)
		is_good = fuzz_one(&random, room + RECORD_BYTES_MOST, result);
	free(room);
	return is_good;
}

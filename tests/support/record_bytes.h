/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes records as perf_event_open(2) describes them, in either byte order, for the tests of
 * records and the fuzzer. It shares no code with the parser.
 */
#ifndef PS_TESTS_RECORD_BYTES_H
#define PS_TESTS_RECORD_BYTES_H

#include <perfsage/record.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_BYTES_MOST 4096

struct record_bytes {
	unsigned char at[RECORD_BYTES_MOST];
	size_t size;
	bool is_swapped;
};

/* Begins a record without content; record_finish writes its size. */
void record_begin(struct record_bytes *bytes, bool is_swapped, uint32_t type, uint16_t misc);
void record_put64(struct record_bytes *bytes, uint64_t value);
void record_put32(struct record_bytes *bytes, uint32_t value);
void record_put16(struct record_bytes *bytes, uint16_t value);
void record_put(struct record_bytes *bytes, const void *from, size_t size);
void record_put_text(struct record_bytes *bytes, const char *text); /* padded to 8 bytes */
void record_finish(struct record_bytes *bytes);

/* Adds the sample_id that the config asks for: pid 11, tid 12, time 13, id 14, stream 15, CPU
 * 16. */
void record_put_sample_id(struct record_bytes *bytes, const struct ps_record_config *config);

/* Writes a sample with every field of sample_type. The function shows the fields' values. */
void record_sample(struct record_bytes *bytes, const struct ps_record_config *config);
/* Writes a valid record of any type from 1 to 22. */
void record_of(struct record_bytes *bytes, uint32_t type, const struct ps_record_config *config);

/* True if everything that the record points at is within its bytes. Reads every byte of it. */
bool record_is_within(const struct ps_record *record);

/* Parses `runs` mutated records; a seed always gives the same ones. Returns false if a record
 * pointed elsewhere, or if a failed parse changed `out`. */
struct record_fuzz {
	uint64_t parsed, refused;
};
bool record_fuzz(uint64_t seed, uint64_t runs, struct record_fuzz *result);

#endif

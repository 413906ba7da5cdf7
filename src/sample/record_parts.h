/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the parser of records: record.c calls them. */
#ifndef PS_SAMPLE_RECORD_PARTS_H
#define PS_SAMPLE_RECORD_PARTS_H

#include "sample/cursor.h"

/* PERF_SAMPLE_BRANCH_COUNTERS, which headers older than Linux 6.8 don't have. */
#define PS__BRANCH_COUNTERS (1u << 19)

/* The bits of sample_type and read_format whose fields the parser knows. */
#define PS__KNOWN_SAMPLE_TYPE ((UINT64_C(1) << 25) - 1)
#define PS__KNOWN_READ_FORMAT ((UINT64_C(1) << 5) - 1)

/* Parses the fields of a SAMPLE, from the header's end on. */
void ps__record_take_sample(struct ps__cursor *cursor, const struct ps_record_config *config,
                            struct ps_record *record);

/* Parses the members of records of all other types. The cursor's end is where the sample_id
 * begins. */
void ps__record_take_body(struct ps__cursor *cursor, const struct ps_record_config *config,
                          struct ps_record *record);

/* Parses the counts of a sample or a READ record. */
void ps__record_take_counts(struct ps__cursor *cursor, uint64_t read_format,
                            struct ps_record_counts *counts);

#endif

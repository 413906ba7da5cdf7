/* SPDX-License-Identifier: BSD-3-Clause */
/* A log of several blocks, whose bytes a test changes. */
#ifndef PS_TESTS_TEST_LOG_BLOCKS_H
#define PS_TESTS_TEST_LOG_BLOCKS_H

#include "test_log.h"

#include <fcntl.h>

#define BLOCK  65536
#define BLOCKS 4

/* Fills blocks of the stream, until the file has so many. */
static inline void fill_blocks(struct ps_log_stream *stream, size_t blocks)
{
	off_t first = log_size();

	while (log_size() < first + (off_t)(blocks * BLOCK))
		log_record(stream, 1);
}

/* A growing log of BLOCKS + 1 blocks, or a ring of BLOCKS. */
static inline void write_log(size_t ring_bytes)
{
	const struct ps_log_options options = {
	    .size = sizeof options, .block_bytes = BLOCK, .ring_bytes = ring_bytes};
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_log *log = log_of(&options);
	struct ps_log_stream *stream = log_stream(log, set);

	if (ring_bytes)
		log_record(stream, 1);
	else
		fill_blocks(stream, BLOCKS);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}

static inline void change_bytes(off_t at, const void *bytes, size_t size)
{
	int fd = open(log_path, O_WRONLY);

	ck_assert_int_eq(pwrite(fd, bytes, size, at), (ssize_t)size);
	close(fd);
}

#endif

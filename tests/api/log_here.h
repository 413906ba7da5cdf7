/* SPDX-License-Identifier: BSD-3-Clause */
/* What the API tests of logs share: a file in a folder of the test's own, and records that say
 * which they are. */
#ifndef PS_TESTS_LOG_HERE_H
#define PS_TESTS_LOG_HERE_H

#include "wander.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BEGIN,
	END
};
enum {
	NUMBER,
	NEGATIVE
};

static char folder[64], path[96];

static inline void log_setup(void)
{
	here_setup();
	strcpy(folder, "/tmp/perfsage-test-log-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/log", folder);
}

static inline void log_teardown(void)
{
	unlink(path);
	rmdir(folder);
	here_teardown();
}

static inline struct ps_log *new_log(const struct ps_log_options *options)
{
	struct ps_log *log = NULL;

	check_ok(ps_log_create(&log, path, here.root, options));
	return log;
}

static inline struct ps_log_stream *new_stream(struct ps_log *log, struct ps_eventset *set)
{
	static const char *const points[] = {"begin", "end"};
	static const struct ps_log_field fields[] = {{"number", PS_LOG_INTEGER},
	                                             {"negative", PS_LOG_REAL}};
	static const struct ps_log_type type = {sizeof type, "work", points, 2, fields, 2};
	struct ps_log_stream *stream = NULL;

	check_ok(ps_log_stream_create(&stream, log, set, &type));
	return stream;
}

static inline struct ps_eventset *new_set(void)
{
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, HERE_FAULTS));
	check_ok(ps_start(set));
	return set;
}

static inline int write_number(struct ps_log_stream *stream, long long number)
{
	ps_log_set_integer(stream, NUMBER, number);
	ps_log_set_real(stream, NEGATIVE, (double)-number);
	return ps_log_write(stream);
}

/* Is the record what was written? */
static inline bool is_whole(const struct ps_log_reader *reader, const struct ps_log_record *record)
{
	struct ps_log_value number, negative;

	return ps_log_value(reader, NUMBER, &number) == PS_OK &&
	       ps_log_value(reader, NEGATIVE, &negative) == PS_OK &&
	       number.integer == (long long)record->number &&
	       negative.real == -(double)record->number;
}

#endif

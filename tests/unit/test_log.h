/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of logs have in common: a log of a file of the test's own. */
#ifndef PS_TESTS_TEST_LOG_H
#define PS_TESTS_TEST_LOG_H

#include "base/os.h"
#include "support/scene.h"
#include "support/unmarked.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENT "page-faults"

enum {
	BEGIN,
	END
};

static const char *const log_points[] = {"begin", "end"};
static const struct ps_log_field log_fields[] = {
    {"units", PS_LOG_INTEGER}, {"share", PS_LOG_REAL}, {"phase", PS_LOG_TEXT}};
static const struct ps_log_type log_type = {.size = sizeof log_type,
                                            .name = "request",
                                            .points = log_points,
                                            .point_count = 2,
                                            .fields = log_fields,
                                            .field_count = 3};
static char log_path[64];

/* There is no such file. */
static inline void log_setup(void)
{
	int fd;

	strcpy(log_path, "/tmp/perfsage-test-log-XXXXXX");
	fd = mkstemp(log_path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	unlink(log_path);
	scene_setup();
}

static inline void log_teardown(void)
{
	unlink(log_path);
	scene_teardown();
}

/* Of the file; -1: there is none. */
static inline off_t log_size(void)
{
	struct stat status;

	return stat(log_path, &status) == 0 ? status.st_size : -1;
}

/* NULL: of small blocks, so that a test fills several. */
static inline struct ps_log *log_of(const struct ps_log_options *options)
{
	static const struct ps_log_options small = {.size = sizeof small, .block_bytes = 65536};
	struct ps_log *log = NULL;

	check_ok(ps_log_create(&log, log_path, scene.root, options ? options : &small));
	return log;
}

static inline struct ps_log_stream *log_stream(struct ps_log *log, struct ps_eventset *set)
{
	struct ps_log_stream *stream = NULL;

	check_ok(ps_log_stream_create(&stream, log, set, &log_type));
	return stream;
}

static inline struct ps_log_reader *log_reader(void)
{
	struct ps_log_reader *reader = NULL;

	check_ok(ps_log_open(&reader, log_path));
	return reader;
}

static inline struct ps_log_info log_info(const struct ps_log_reader *reader, size_t stream)
{
	struct ps_log_info info = {.size = sizeof info};

	check_ok(ps_log_describe(reader, stream, &info));
	return info;
}

/* A full disk, as far as this process is concerned: files have at most so many bytes. */
static rlim_t log_most_bytes;

static inline int log_tell_limit(int resource, struct rlimit *limit)
{
	*limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	if (resource == RLIMIT_FSIZE)
		limit->rlim_cur = log_most_bytes;
	return 0;
}

static inline void limit_files(rlim_t bytes)
{
	log_most_bytes = bytes;
	ps__os.getrlimit = log_tell_limit;
}

/* Is there another record? It must have this number. */
static inline bool log_next(struct ps_log_reader *reader, uint64_t number)
{
	struct ps_log_record record = {.size = sizeof record};
	int result = ps_log_next(reader, &record);

	ck_assert_msg(result == PS_OK || result == PS_ENOEVST, "%s", ps_error_detail());
	if (result == PS_OK)
		ck_assert_uint_eq(record.number, number);
	return result == PS_OK;
}

/* Of the first event. */
static inline long long log_count(struct ps_log_reader *reader, unsigned from, unsigned to)
{
	struct ps_value values[8];

	check_ok(ps_log_interval(reader, from, to, NULL, values, 8));
	return values[0].value;
}

static inline long long log_units(const struct ps_log_reader *reader)
{
	struct ps_log_value value;

	check_ok(ps_log_value(reader, 0, &value));
	return value.integer;
}

/* A record whose interval has so many faults, of a unit each. */
static inline void log_record(struct ps_log_stream *stream, unsigned units)
{
	check_ok(ps_log_take(stream, BEGIN));
	fake_advance(PAGE_FAULTS, units);
	check_ok(ps_log_take(stream, END));
	check_ok(ps_log_set_integer(stream, 0, units));
	check_ok(ps_log_write(stream));
}

#endif

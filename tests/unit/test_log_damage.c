/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damaged logs: cut at any byte, with any byte changed, of another machine, or of nothing but
 * chance. No complete record is lost, none is invented, and what is missing is counted.
 */
#include "base/os.h"
#include "snapshot/reader.h"
#include "support/small.h"
#include "support/unmarked.h"
#include "test_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define RECORDS 40

/* A log of one block, as it stands in the file. */
struct image {
	unsigned char *bytes;
	size_t size, first_block;
	size_t ends[RECORDS]; /* of each record, in the file */
	size_t end;           /* of the last one */
};

static void write_bytes(const unsigned char *bytes, size_t size)
{
	/* A new file: ext4 writes one that is cut and filled again to the disk. */
	unlink(log_path);
	int fd = open(log_path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

/* As ps_log_open, but the topology is the scene's: to load the file's takes most of the time, and
 * it is not what these tests are about. */
static struct ps_log_reader *open_bytes(const unsigned char *bytes, size_t size)
{
	struct ps_log_reader *reader = ps__os_calloc(1, sizeof *reader);

	write_bytes(bytes, size);
	reader->fd = open(log_path, O_RDONLY | O_CLOEXEC);
	ck_assert(ps__file_id_of(reader->fd, &reader->id));
	reader->path = ps__os_strdup(log_path);
	memcpy(&reader->header, bytes, sizeof reader->header);
	reader->topology = scene.topology;
	check_ok(ps__log_list_blocks(reader));
	reader->buffer = ps__os_calloc(1, reader->header.block_bytes);
	return reader;
}

static void close_bytes(struct ps_log_reader *reader)
{
	reader->topology = NULL;
	ps_log_close(reader);
}

static void read_image(struct image *image)
{
	struct stat status;
	int fd = open(log_path, O_RDONLY);

	ck_assert_int_eq(fstat(fd, &status), 0);
	image->size = (size_t)status.st_size;
	image->bytes = malloc(image->size);
	ck_assert_int_eq(read(fd, image->bytes, image->size), status.st_size);
	close(fd);
}

static void find_records(struct image *image)
{
	const struct ps__log_header *header = (const void *)image->bytes;
	const struct ps__log_block *block = (const void *)(image->bytes + header->first_block);
	const uint64_t *at =
	    (const void *)((const unsigned char *)(block + 1) + block->description_bytes);

	image->first_block = header->first_block;
	for (size_t record = 0; record < RECORDS; record++) {
		at += *at & PS__LOG_LENGTH;
		image->ends[record] = (size_t)((const unsigned char *)at - image->bytes);
	}
	image->end = image->ends[RECORDS - 1];
	ck_assert_uint_eq(*at, 0);
	/* The rest of the block is zeros, as what is behind the end of the file. */
	image->size = image->end + 256;
}

/* Record N has N units, on CPU N % 4. */
static void make_image(struct image *image, bool is_finished)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	for (unsigned number = 0; number < RECORDS; number++) {
		if (number % 8 == 0)
			scene_count_on((int)number % 4, 1);
		if (number % 5 == 0)
			check_ok(ps_log_set_text(stream, 2, number % 2 ? "odd" : "an even number"));
		log_record(stream, number);
	}
	if (!is_finished)
		read_image(image);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	if (is_finished)
		read_image(image);
	find_records(image);
}

/* Each assertion of Check's that holds is a system call: so there is none in the usual case. */
static bool is_record(struct ps_log_reader *reader, const struct ps_log_record *record,
                      unsigned number)
{
	struct ps_value values[8];
	struct ps_log_value units;

	return record->number == number && ps_log_value(reader, 0, &units) == PS_OK &&
	       units.integer == number &&
	       ps_log_interval(reader, BEGIN, END, NULL, values, 8) == PS_OK &&
	       values[0].value == number;
}

/* Reads all that is there, and checks it. Returns how many there are. */
static unsigned count_good(struct ps_log_reader *reader)
{
	struct ps_log_record record = {.size = sizeof record};
	unsigned count = 0;

	while (ps_log_next(reader, &record) == PS_OK) {
		if (!is_record(reader, &record, count))
			ck_abort_msg("record %u", count);
		count++;
	}
	return count;
}

static unsigned records_before(const struct image *image, size_t at)
{
	unsigned count = 0;

	while (count < RECORDS && image->ends[count] <= at)
		count++;
	return count;
}

static bool is_zero(const unsigned char *bytes, size_t from, size_t to)
{
	while (from < to && bytes[from] == 0)
		from++;
	return from >= to;
}

/* What is behind the end is read as zeros: a record that ends with zeros is whole without them. */
static unsigned records_until(const struct image *image, size_t size)
{
	unsigned count = 0;

	while (count < RECORDS && is_zero(image->bytes, size, image->ends[count]))
		count++;
	return count;
}

/* _i: 1 if the writer was killed before it ended the block. */
START_TEST(cut_at_each_byte)
{
	struct image image;

	make_image(&image, _i == 0);
	for (size_t size = image.first_block; size < image.end + 100;
	     size += (size_t)ps_test_serial_size(1, 7)) {
		struct ps_log_reader *reader = open_bytes(image.bytes, size);
		unsigned count = count_good(reader);
		ck_assert_msg(count == records_until(&image, size), "%u at %zu", count, size);
		if (ps_log_stream_count(reader))
			ck_assert_uint_eq(log_info(reader, 0).missing,
			                  _i == 0 ? RECORDS - count : 0);
		else
			ck_assert_uint_eq(count, 0);
		close_bytes(reader);
	}
	free(image.bytes);
}
END_TEST

/* The disk has some pages of the new state, and others of the old one. */
START_TEST(zeros_from_each_byte_on)
{
	struct image image;

	make_image(&image, true);
	unsigned char *bytes = malloc(image.size);
	for (size_t from = image.first_block + 8; from < image.end;
	     from += (size_t)ps_test_serial_size(3, 37)) {
		memcpy(bytes, image.bytes, image.size);
		memset(bytes + from, 0, 200);
		struct ps_log_reader *reader = open_bytes(bytes, image.size);
		unsigned count = count_good(reader);
		ck_assert_uint_ge(records_until(&image, from + 8), count);
		if (ps_log_stream_count(reader)) {
			ck_assert_uint_le(records_until(&image, from), count);
			ck_assert_uint_eq(log_info(reader, 0).missing, RECORDS - count);
		} else {
			ck_assert_uint_eq(ps_log_damaged_blocks(reader), 1);
		}
		close_bytes(reader);
	}
	free(bytes);
	free(image.bytes);
}
END_TEST

/* A changed byte is in one record, or in the header of the block. */
START_TEST(each_byte_changed)
{
	struct image image;

	make_image(&image, true);
	for (size_t at = image.first_block; at < image.end;
	     at += (size_t)ps_test_serial_size(3, 23)) {
		image.bytes[at] ^= (unsigned char)(1u << at % 8);
		struct ps_log_reader *reader = open_bytes(image.bytes, image.size);
		image.bytes[at] ^= (unsigned char)(1u << at % 8);
		unsigned count = count_good(reader);
		if (ps_log_stream_count(reader))
			ck_assert_msg(count == records_before(&image, at) ||
			                  at < image.first_block + sizeof(struct ps__log_block),
			              "%u at %zu", count, at);
		else
			ck_assert_uint_eq(count, 0);
		close_bytes(reader);
	}
	free(image.bytes);
}
END_TEST

static void check_refused(const struct image *image, size_t size, const char *part)
{
	struct ps_log_reader *reader = NULL;

	write_bytes(image->bytes, size);
	check_fails(ps_log_open(&reader, log_path), PS_EINVAL);
	check_detail(log_path);
	check_detail(part);
	ck_assert_ptr_null(reader);
}

START_TEST(headers_of_others_are_refused)
{
	struct image image;

	make_image(&image, true);
	struct ps__log_header *header = (void *)image.bytes, good = *header;
	header->byte_order = __builtin_bswap32(header->byte_order);
	check_refused(&image, image.size, "other byte order");
	*header = good;
	header->version = 2;
	check_refused(&image, image.size, "version 2");
	*header = good;
	header->magic[0] = 'P';
	check_refused(&image, image.size, "no log of perfsage");
	*header = good;
	header->block_bytes = 4096;
	check_refused(&image, image.size, "impossible size");
	*header = good;
	header->xml_bytes = UINT64_MAX - 8;
	check_refused(&image, image.size, "impossible size");
	*header = good;
	header->realtime_ns++;
	check_refused(&image, image.size, "checksum");
	*header = good;
	image.bytes[sizeof *header + 100] ^= 1;
	check_refused(&image, image.size, "checksum");
	image.bytes[sizeof *header + 100] ^= 1;
	check_refused(&image, 0, "no log of perfsage");
	check_refused(&image, 30, "was cut off in its header");
	check_refused(&image, sizeof *header + 100, "was cut off in its topology");
	write_bytes(image.bytes, image.size);
	struct ps_log_reader *reader = log_reader();
	ck_assert_uint_eq(count_good(reader), RECORDS);
	ps_log_close(reader);
	free(image.bytes);
}
END_TEST

/* Numbers that are the same everywhere, unless PS_TEST_FUZZ_SEED asks for others. */
static uint64_t number_state = 5;
static unsigned next_number(unsigned below)
{
	number_state = number_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(number_state >> 33) % below;
}

/* PS_TEST_FUZZ_RUNS asks for more. */
static unsigned fuzz_runs(int usual, int small)
{
	const char *wanted = getenv("PS_TEST_FUZZ_RUNS"), *seed = getenv("PS_TEST_FUZZ_SEED");

	number_state = seed ? strtoull(seed, NULL, 0) : number_state;
	return (unsigned)(wanted ? atoi(wanted) : ps_test_serial_size(usual, small));
}

/* The checks of changed words are made right again: nothing but the reader's own care is between
 * them and its memory. */
static void seal_again(struct image *image)
{
	struct ps__log_block *block = (void *)(image->bytes + image->first_block);
	uint64_t *record, *end = (void *)(image->bytes + image->size);

	if (next_number(2))
		image->bytes[image->size - 1 - next_number(1000)] = 0;
	block->description_bytes = block->description_bytes / 8 * 8;
	if (block->description_bytes > image->size - image->first_block - sizeof *block)
		return;
	record = (void *)((unsigned char *)(block + 1) + block->description_bytes);
	block->check = ps__log_check(block, offsetof(struct ps__log_block, check),
	                             (uint64_t *)(block + 1), block->description_bytes / 8);
	while (record < end && (*record & PS__LOG_LENGTH) &&
	       (*record & PS__LOG_LENGTH) <= (uint64_t)(end - record)) {
		size_t length = *record & PS__LOG_LENGTH;
		*record =
		    ps__log_seal(ps__log_seed(block), (uint32_t)*record, record + 1, length - 1);
		record += length;
	}
}

static void read_somehow(struct ps_log_reader *reader)
{
	struct ps_log_record record = {.size = sizeof record};

	while (ps_log_next(reader, &record) == PS_OK) {
		struct ps_value values[16];
		struct ps_log_value value;
		ps_log_interval(reader, next_number(4), next_number(4), NULL, values, 16);
		ps_log_interval(reader, next_number(4) | PS_LOG_PREVIOUS, next_number(4),
		                ps_log_root(reader), values, 16);
		ps_log_interval(reader, PS_LOG_START, next_number(4), ps_log_root(reader), values,
		                16);
		ps_log_value(reader, next_number(4), &value);
	}
	for (size_t stream = 0; stream < ps_log_stream_count(reader); stream++)
		log_info(reader, stream);
}

/* The changed bytes are in the block's header, its description and its first records. */
static void change(struct image *image)
{
	size_t range = image->end - image->first_block;

	for (unsigned changes = 1 + next_number(4); changes > 0; changes--) {
		size_t at = image->first_block + next_number((unsigned)range);
		static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff, '\t', '\n', '9'};
		image->bytes[at] =
		    next_number(2) ? values[next_number(8)] : (unsigned char)next_number(256);
	}
}

START_TEST(what_a_fuzzer_makes_of_it_does_no_harm)
{
	unsigned runs = fuzz_runs(8000, 300), opened = 0;
	struct image image, work;

	make_image(&image, true);
	work = image;
	work.bytes = malloc(work.size);
	for (unsigned run = 0; run < runs; run++) {
		memcpy(work.bytes, image.bytes, work.size);
		change(&work);
		seal_again(&work);
		struct ps_log_reader *reader = open_bytes(work.bytes, work.size);
		opened += ps_log_stream_count(reader) > 0;
		read_somehow(reader);
		close_bytes(reader);
	}
	/* They are not all refused at once. */
	ck_assert_uint_gt(opened, runs / 4);
	free(work.bytes);
	free(image.bytes);
}
END_TEST

/* A size or a time becomes another one, or bytes of the topology do; the check is made right again.
 */
static void change_header(struct image *image)
{
	struct ps__log_header *header = (void *)image->bytes;
	unsigned char *xml = image->bytes + sizeof *header;
	size_t xml_bytes = header->xml_bytes;
	uint64_t *word = &header->block_bytes + next_number(6);

	if (next_number(2))
		*word = next_number(2) ? *word << next_number(64) : *word + 4096 * next_number(99);
	for (unsigned changes = next_number(3); changes > 0; changes--)
		xml[next_number((unsigned)xml_bytes)] =
		    (unsigned char)"<>\"/= 09azP"[next_number(11)];
	if (header->xml_bytes <= image->size - sizeof *header - sizeof *word)
		header->check = ps__log_check(header, offsetof(struct ps__log_header, check),
		                              (uint64_t *)(void *)xml, (header->xml_bytes + 7) / 8);
}

START_TEST(what_a_fuzzer_makes_of_the_header_does_no_harm)
{
	unsigned runs = fuzz_runs(40000, 4000) / 100, opened = 0;
	struct image image, work;

	make_image(&image, true);
	work = image;
	work.bytes = malloc(work.size);
	for (unsigned run = 0; run < runs; run++) {
		struct ps_log_reader *reader = NULL;
		memcpy(work.bytes, image.bytes, work.size);
		change_header(&work);
		write_bytes(work.bytes, work.size);
		int result = ps_log_open(&reader, log_path);
		if (result != PS_OK) {
			ck_assert_ptr_null(reader);
			ck_assert_ptr_nonnull(strstr(ps_error_detail(), log_path));
			continue;
		}
		opened++;
		read_somehow(reader);
		ps_log_close(reader);
	}
	ck_assert_uint_gt(opened, 0);
	ck_assert_uint_lt(opened, runs);
	free(work.bytes);
	free(image.bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("damaged logs");
	TCase *tests = scene_case_of(suite, "damage", log_setup, log_teardown);

	tcase_set_timeout(tests, getenv("PS_TEST_FUZZ_RUNS") ? 36000 : 240);
	tcase_add_loop_test(tests, cut_at_each_byte, 0, 2);
	tcase_add_test(tests, zeros_from_each_byte_on);
	tcase_add_test(tests, each_byte_changed);
	tcase_add_test(tests, headers_of_others_are_refused);
	tcase_add_test(tests, what_a_fuzzer_makes_of_it_does_no_harm);
	tcase_add_test(tests, what_a_fuzzer_makes_of_the_header_does_no_harm);
	return scene_run(suite);
}

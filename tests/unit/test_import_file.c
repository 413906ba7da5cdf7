/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XML files good and bad. Foreign files must never hurt the caller: mutated ones give a tree, which
 * can also be written as a heat map, or an error.
 */
#include "support/fixture.h"
#include "support/small.h"
#include "support/unmarked.h"
#include "topology/tree.h"

#include <errno.h>
#include <perfsage/export.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MUTATIONS ((uint32_t)ps_test_serial_size(200, 20))

static char memory_path[64];

/* A file that lives in memory alone: its path, good until the next one is made. */
static const char *file_of(const char *bytes, size_t size_bytes)
{
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = memfd_create("fixture", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size_bytes), (ssize_t)size_bytes);
	snprintf(memory_path, sizeof memory_path, "/proc/self/fd/%d", fd);
	return memory_path;
}

START_TEST(a_file_that_cannot_be_read_is_named_with_the_reason)
{
	struct ps_topology *topology = NULL;

	check_fails(ps_topology_load_xml(&topology, "/nonexistent/topology.xml"), PS_ESYS);
	check_detail("/nonexistent/topology.xml");
	check_detail(strerror(ENOENT));
	check_fails(ps_topology_load_xml(&topology, "/"), PS_ESYS);
	check_detail(strerror(EISDIR));
	check_fails(ps_topology_load_xml(&topology, NULL), PS_EINVAL);
	check_fails(ps_topology_load_xml(NULL, "x"), PS_EINVAL);
	ck_assert_ptr_null(topology);
}
END_TEST

START_TEST(a_file_that_is_no_topology_is_refused_and_named)
{
	static const struct {
		const char *content;
		const char *says;
	} rows[] = {
	    {"", "is not XML"},
	    {"cpu MHz : 3400\n", "is not XML"},
	    {"\x1f\x8b\x08", "is not XML"},
	    {"<html><body>404</body></html>", "is not hwloc's XML"},
	    {"<?xml version=\"1.0\"?>\n<topology", "is damaged"},
	    {"<?xml version=\"1.0\"?>\n<topology version=\"2.0\"></topology>", "is damaged"},
	    {"<?xml version=\"1.0\"?>\n<topology version=\"9.0\"><object "
	     "type=\"Machine\"/></topology>",
	     "is damaged"},
	};
	struct ps_topology *topology = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *path = file_of(rows[i].content, strlen(rows[i].content));
		check_fails(ps_topology_load_xml(&topology, path), PS_EINVAL);
		check_detail(path);
		check_detail(rows[i].says);
	}
	ck_assert_ptr_null(topology);
}
END_TEST

START_TEST(a_file_without_an_end_is_refused)
{
	struct ps_topology *topology = NULL;

	check_fails(ps_topology_load_xml(&topology, "/dev/zero"), PS_EINVAL);
	check_detail("larger than");
}
END_TEST

/* Replaces the first occurrence of a text in a fixture, and gives the path of the result. */
static const char *edited(const char *name, const char *from, const char *to)
{
	char *text = fixture_read(fixture_path("fixtures/topology", name), NULL);
	char *at = strstr(text, from);
	char result[16384];

	ck_assert_ptr_nonnull(at);
	int length = snprintf(result, sizeof result, "%.*s%s%s", (int)(at - text), text, to,
	                      at + strlen(from));
	free(text);
	ck_assert_int_lt(length, (int)sizeof result);
	return file_of(result, (size_t)length);
}

START_TEST(a_tree_that_contradicts_itself_is_refused)
{
	static const struct {
		const char *from;
		const char *to;
	} rows[] = {
	    {"type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"0\""},
	    {"type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"4000000000\""},
	    {"type=\"PU\" os_index=\"1\"", "type=\"PU\""},
	    {"depth=\"3\"", "depth=\"77\""},
	    {"depth=\"3\"", "depth=\"-1\""},
	};
	struct ps_topology *topology = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *path = edited("two_packages.xml", rows[i].from, rows[i].to);
		check_fails(ps_topology_load_xml(&topology, path), PS_EINVAL);
		check_detail(path);
	}
	ck_assert_ptr_null(topology);
}
END_TEST

#define A_THREAD "os_index=\"7\" cpuset=\"0x00000080\" complete_cpuset=\"0x00000080\""

START_TEST(a_file_that_cannot_be_written_again_is_refused_at_load)
{
	struct ps_topology *topology = NULL;
	const char *path =
	    edited("two_packages.xml", A_THREAD,
	           "os_index=\"7\" cpuset=\"0x00000080\" complete_cpuset=\"0x0000000c\"");

	check_fails(ps_topology_load_xml(&topology, path), PS_EINVAL);
	check_detail(path);
	check_detail("is another tree once it was written and read again, at Thread 7");
	ck_assert_ptr_null(topology);
}
END_TEST

/* hwloc's bitmaps of such a node have half a gigabyte each, and are written as a text of one. */
START_TEST(a_node_with_a_number_beyond_all_machines_is_refused_at_load)
{
	struct ps_topology *topology = NULL;
	const char *path = edited("two_packages.xml", "type=\"NUMANode\" os_index=\"1\"",
	                          "type=\"NUMANode\" os_index=\"4294967294\"");

	int code = ps_topology_load_xml(&topology, path);
	ck_assert_msg(code == PS_EINVAL || code == PS_ENOMEM, "%d", code);
	check_detail(path);
	ck_assert_ptr_null(topology);
	check_fails(ps_topology_load_xml(
			&topology, edited("two_packages.xml", "type=\"NUMANode\" os_index=\"1\"",
	                                  "type=\"NUMANode\" os_index=\"1048576\"")),
	            PS_EINVAL);
	check_detail("a NUMA node has no usable number (1048576)");
}
END_TEST

START_TEST(a_file_that_a_variable_of_hwloc_s_names_is_guarded_too)
{
	struct ps_topology *topology = NULL;

	/* hwloc 2.9 ends with a segmentation fault on it. */
	setenv("HWLOC_XMLFILE",
	       edited("two_packages.xml", A_THREAD, "os_index=\"7\" cpuset=\"0x00000080\""), 1);
	int code = ps_topology_load(&topology, NULL);
	if (code == PS_OK)
		ps_test_skip("hwloc takes the file");
	check_detail("HWLOC_XMLFILE=/proc/self/fd/");
	ck_assert_ptr_null(topology);
}
END_TEST

static FILE *nowhere;

/* A tree that can be written as a heat map, or an error with a sentence: never a crash of this
 * process. */
static bool load_hurts_nobody(const char *bytes, size_t size_bytes)
{
	struct ps_topology *topology = NULL;
	int code = ps_topology_load_xml(&topology, file_of(bytes, size_bytes));

	if (code != PS_OK) {
		ck_assert_int_eq(code, PS_EINVAL);
		ck_assert_ptr_null(topology);
		check_detail(memory_path);
		return false;
	}
	fixture_check_tree(topology);
	check_ok(ps_export(ps_topology_root(topology), PS_FORMAT_XML, nowhere));
	ps_topology_destroy(topology);
	return true;
}

START_TEST(a_truncated_file_hurts_nobody)
{
	size_t size_bytes, loaded = 0;
	char *text =
	    fixture_read(fixture_path("fixtures/topology", "two_packages.xml"), &size_bytes);

	nowhere = fopen("/dev/null", "w");
	ck_assert_ptr_nonnull(nowhere);
	ck_assert(load_hurts_nobody(text, size_bytes));
	for (size_t length = 0; length + 20 < size_bytes;
	     length += (size_t)ps_test_serial_size(151, 601))
		loaded += load_hurts_nobody(text, length);
	ck_assert_uint_eq(loaded, 0);
	fclose(nowhere);
	free(text);
}
END_TEST

static uint32_t random_state;

static size_t random_below(size_t limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % limit;
}

/* One of the things that happen to files: a flipped byte, another digit, a piece lost, doubled, or
 * moved. */
static size_t mutate(char *text, size_t size_bytes)
{
	size_t at = random_below(size_bytes - 300), length = 1 + random_below(80);
	char piece[128];

	switch (random_below(4)) {
	case 0:
		text[at] = (char)(1 + random_below(255));
		return size_bytes;
	case 1:
		at += strcspn(text + at, "0123456789");
		text[at] = text[at] ? "0123456789-"[random_below(11)] : '\0';
		return size_bytes;
	case 2:
		memmove(text + at, text + at + length, size_bytes - at - length + 1);
		return size_bytes - length;
	default:
		memcpy(piece, text + random_below(size_bytes - 300), length);
		memmove(text + at + length, text + at, size_bytes - at + 1);
		memcpy(text + at, piece, length);
		return size_bytes + length;
	}
}

START_TEST(a_mutated_file_hurts_nobody)
{
	size_t original_bytes, loaded = 0;
	char *original =
	    fixture_read(fixture_path("fixtures/topology", "two_packages.xml"), &original_bytes);
	char *text = calloc(1, original_bytes + 4096);

	ck_assert_ptr_nonnull(text);
	nowhere = fopen("/dev/null", "w");
	ck_assert_ptr_nonnull(nowhere);
	for (uint32_t i = 0; i < MUTATIONS; i++) {
		size_t size_bytes = original_bytes;
		random_state = i;
		memcpy(text, original, original_bytes + 1);
		for (size_t k = 0; k <= i % 3; k++)
			size_bytes = mutate(text, size_bytes);
		loaded += load_hurts_nobody(text, size_bytes);
	}
	ck_assert_uint_gt(loaded, 0);         /* a harmless change is harmless */
	ck_assert_uint_lt(loaded, MUTATIONS); /* and the others are seen */
	fclose(nowhere);
	free(original);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("import_file");
	TCase *tests = tcase_create("files");

	tcase_set_timeout(tests, 300);
	tcase_add_test(tests, a_file_that_cannot_be_read_is_named_with_the_reason);
	tcase_add_test(tests, a_file_that_is_no_topology_is_refused_and_named);
	tcase_add_test(tests, a_file_without_an_end_is_refused);
	tcase_add_test(tests, a_tree_that_contradicts_itself_is_refused);
	tcase_add_test(tests, a_file_that_cannot_be_written_again_is_refused_at_load);
	tcase_add_test(tests, a_node_with_a_number_beyond_all_machines_is_refused_at_load);
	tcase_add_test(tests, a_file_that_a_variable_of_hwloc_s_names_is_guarded_too);
	tcase_add_test(tests, a_truncated_file_hurts_nobody);
	tcase_add_test(tests, a_mutated_file_hurts_nobody);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies for tests; see fixture.h. */
#include "fixture.h"
#include "support/unmarked.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *fixture_path(const char *folder, const char *name)
{
	static char path[4096];
	const char *top = getenv("top_srcdir");

	snprintf(path, sizeof path, "%s/tests/%s/%s", top ? top : ".", folder, name);
	return path;
}

char *fixture_read(const char *path, size_t *size_bytes)
{
	FILE *file = fopen(path, "r");
	size_t room = 1 << 20;
	char *text = calloc(1, room);

	ck_assert_msg(file && text, "%s can't be read", path);
	size_t got = fread(text, 1, room - 1, file);
	ck_assert_msg(got < room - 1 && !ferror(file), "%s is too large, or damaged", path);
	fclose(file);
	if (size_bytes)
		*size_bytes = got;
	return text;
}

struct ps_topology *fixture_load(const char *name)
{
	struct ps_topology *topology = NULL;

	check_ok(ps_topology_load_xml(&topology, fixture_path("fixtures/topology", name)));
	fixture_check_tree(topology);
	return topology;
}

struct ps_topology *fixture_synthetic(const char *description)
{
	struct ps_topology *topology = NULL;

	check_ok(ps_topology_load_synthetic(&topology, description));
	fixture_check_tree(topology);
	return topology;
}

static int check_component(struct ps_component *component, void *context)
{
	struct ps_topology *topology = context;
	size_t threads = 0;

	ck_assert_ptr_eq(ps_component_topology(component), topology);
	ck_assert_ptr_nonnull(ps_component_name(component));
	bool is_thread = ps_component_type(component) == PS_COMPONENT_THREAD;
	ck_assert_int_eq(is_thread, ps_component_thread(component) != NULL);
	for (size_t i = 0; i < ps_component_child_count(component); i++) {
		struct ps_component *child = ps_component_child(component, i);
		ck_assert_ptr_eq(ps_component_parent(child), component);
		ck_assert_int_eq(ps_component_depth(child), ps_component_depth(component) + 1);
		if (ps_component_type(child) != PS_COMPONENT_NUMA)
			threads += ps_component_thread_count(child);
		else
			ck_assert_uint_eq(ps_component_thread_count(child),
			                  ps_component_thread_count(component));
	}
	if (!is_thread && ps_component_type(component) != PS_COMPONENT_NUMA)
		ck_assert_uint_eq(ps_component_thread_count(component), threads);
	return 0;
}

void fixture_check_tree(struct ps_topology *topology)
{
	struct ps_component *root = ps_topology_root(topology);
	struct ps_thread *unknown = ps_topology_unknown_thread(topology);

	ck_assert_int_eq(ps_component_type(root), PS_COMPONENT_MACHINE);
	ck_assert_int_eq(ps_component_for_each(root, check_component, topology), 0);
	ck_assert_uint_gt(ps_component_thread_count(root), 0);
	for (size_t i = 0; i < ps_component_thread_count(root); i++) {
		struct ps_thread *thread = ps_component_thread_at(root, i);
		ck_assert_ptr_eq(ps_topology_thread(topology, ps_thread_cpu(thread)), thread);
		ck_assert_ptr_ne(thread, unknown);
		ck_assert_int_eq(ps_component_logical_id(ps_thread_component(thread)), (int)i);
	}
}

struct outline {
	char text[16384];
	size_t length;
};

static int outline_component(struct ps_component *component, void *context)
{
	struct outline *outline = context;
	char *end = outline->text + outline->length;
	size_t room = sizeof outline->text - outline->length;
	int length = snprintf(end, room, "%*s%s", 2 * ps_component_depth(component), "",
	                      ps_component_name(component));
	uint64_t size_bytes = ps_component_size_bytes(component);

	if (size_bytes)
		length += snprintf(end + length, room - (size_t)length, " %" PRIu64, size_bytes);
	length += snprintf(end + length, room - (size_t)length, "\n");
	outline->length += (size_t)length;
	ck_assert_uint_lt(outline->length, sizeof outline->text - 200);
	return 0;
}

void fixture_check_outline(struct ps_topology *topology, const char *expected)
{
	static struct outline outline;

	outline.length = 0;
	ps_component_for_each(ps_topology_root(topology), outline_component, &outline);
	ck_assert_str_eq(outline.text, expected);
}

bool fixture_has_core_kinds(void)
{
	return dlsym(RTLD_DEFAULT, "hwloc_cpukinds_get_nr") != NULL;
}

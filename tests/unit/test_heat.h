/* SPDX-License-Identifier: BSD-3-Clause */
/* The suites of heat maps share these: counts, and a map as XML. */
#ifndef TEST_HEAT_H
#define TEST_HEAT_H

#include "output/colour.h"
#include "support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stores the counters of a CPU, whatever runs there; or those of a task that was seen there. */
static inline void store_as(const struct ps_eventset *model, int cpu, const long long *counters,
                            bool is_attached)
{
	struct ps_eventset *set = NULL;
	uint64_t timestamp = 0;

	fake_file("/sys/devices/system/cpu/possible", "0-127\n");
	fake_file("/sys/devices/system/cpu/online", "0-127\n");
	fake_set_cpu(cpu);
	check_ok(ps_eventset_clone(&set, model));
	if (is_attached)
		check_ok(ps_eventset_attach_cpu(set, cpu));
	check_ok(ps_store(set, counters, (int)ps_eventset_event_count(set), scene.root, &timestamp,
	                  NULL));
	ps_eventset_destroy(set);
}

static inline void store(const struct ps_eventset *model, int cpu, const long long *counters)
{
	store_as(model, cpu, counters, true);
}

static inline char *heat_xml(const char *heat_by)
{
	struct ps_export_options options = {.size = sizeof options, .heat_by = heat_by};
	size_t bytes;
	char *xml;
	FILE *stream = open_memstream(&xml, &bytes);

	check_ok(ps_export_with(scene.root, PS_FORMAT_XML, &options, stream));
	fclose(stream);
	return xml;
}

static inline void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_msg(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s can't be written",
	              path);
}

static inline void count_in_two_packages(void)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	scene_use(fixture_synthetic("pack:2 [numa] l3:1 core:4 pu:1"));
	store(set, 0, (const long long[]){1000});
	store(set, 1, (const long long[]){250});
	store(set, 2, (const long long[]){0});
	store(set, 4, (const long long[]){625});
	ps_eventset_destroy(set);
}

static inline void count_instructions_and_cycles(void)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_set("instructions", "cycles", NULL);
	store(set, 0, (const long long[]){400, 200});
	store(set, 1, (const long long[]){100, 200});
	store(set, 2, (const long long[]){0, 0});
	ps_eventset_destroy(set);
}

#endif

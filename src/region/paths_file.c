/* SPDX-License-Identifier: BSD-3-Clause */
/* Saves paths and loads them. Paths come in the order of the tree, each with its depth. */
#include "region/paths_file.h"

#include "base/error.h"
#include "base/os.h"
#include "region/profile.h"
#include "topology/tree.h"

#include <inttypes.h>
#include <perfsage/thread.h>
#include <string.h>

/* Returns the error of a word that could not be read, or could not be copied for lack of memory. */
static int file_fail_word(const struct ps__words *words)
{
	return words->has_failed ? ps__fail(PS_EINVAL, "the saved paths of a process are damaged")
	                         : ps__fail_memory("the paths of a process");
}

/* Saving. */

static void file_save_events(const struct ps_eventset *model, FILE *stream)
{
	size_t count = ps_eventset_event_count(model);

	fprintf(stream, "events %zu\n", count);
	for (size_t event = 0; event < count; event++)
		ps__words_write_string(stream, ps_eventset_event_name(model, event));
	fprintf(stream, "\n");
}

static int file_save_faults(struct ps_profile *profile, FILE *stream)
{
	struct ps_profile_faults faults = {.size = sizeof faults};
	int result = ps_profile_faults(profile, &faults);

	if (result != PS_OK)
		return result;
	fprintf(stream, "faults");
	for (size_t fault = 0; fault < PS__FAULT_INSIDE_ELSEWHERE; fault++)
		fprintf(stream, " %" PRIu64, atomic_load(&profile->faults[fault]));
	fprintf(stream, " %" PRIu64, faults.inside);
	ps__words_write_string(stream, faults.uncounted_why ? faults.uncounted_why : "");
	fprintf(stream, "\n");
	return PS_OK;
}

/* Writes the regions' visits in uncounted threads. A region may have such visits and no path. */
static void file_save_uncounted(struct ps_profile *profile, FILE *stream)
{
	fprintf(stream, "uncounted");
	pthread_mutex_lock(&profile->lock);
	for (size_t place = 0; place < profile->region_room; place++) {
		const struct ps_region *region = profile->regions[place];
		for (; region; region = region->next) {
			uint64_t uncounted =
			    atomic_load_explicit(&region->uncounted, memory_order_relaxed);
			if (!uncounted)
				continue;
			fprintf(stream, " %" PRIu64, uncounted);
			ps__words_write_string(stream, region->name);
		}
	}
	pthread_mutex_unlock(&profile->lock);
	fprintf(stream, " 0\n");
}

static void file_save_value(const struct ps_value *value, FILE *stream)
{
	fprintf(stream, " %lld %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %" PRIu32 "\n",
	        value->value, value->raw, value->enabled_ns, value->running_ns, value->timestamp,
	        (unsigned)value->status, (unsigned)value->attribution, value->flags);
}

static void file_save_parts(const struct ps_path *path, FILE *stream)
{
	size_t count = 0;

	for (const struct ps__part *part = path->parts; part; part = part->next)
		count += part->threads > 0;
	fprintf(stream, "parts %zu\n", count);
	for (const struct ps__part *part = path->parts; part; part = part->next) {
		if (!part->threads)
			continue;
		fprintf(stream, "%d %zu\n", ps_thread_cpu(part->thread), part->threads);
		for (size_t event = 0; event < path->paths->events; event++)
			file_save_value(&part->values[event], stream);
	}
}

static void file_save_values(const struct ps_path *path, FILE *stream)
{
	size_t count = 0;

	for (const struct ps__value_sum *sum = path->values; sum; sum = sum->next)
		count++;
	fprintf(stream, "values %zu\n", count);
	for (const struct ps__value_sum *sum = path->values; sum; sum = sum->next) {
		unsigned __int128 bits = (unsigned __int128)sum->sum;
		ps__words_write_string(stream, sum->name->name);
		fprintf(stream, " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sum->count,
		        (uint64_t)(bits >> 64), (uint64_t)bits);
	}
}

static void file_save_visits(const struct ps_path *path, FILE *stream)
{
	const struct ps_visits *visits = &path->visits;
	size_t end = PS_VISIT_TIMES;

	while (end > 0 && visits->times[end - 1] == 0)
		end--;
	fprintf(stream,
	        " %" PRIu64 " %" PRIu64 " %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu",
	        visits->count, visits->counted, path->doubt, visits->wall_ns, visits->on_cpu_ns,
	        visits->shortest_ns, visits->longest_ns, end);
	for (size_t time = 0; time < end; time++)
		fprintf(stream, " %" PRIu64, visits->times[time]);
	fprintf(stream, "\n");
}

static void file_save_path(const struct ps_path *path, size_t depth, FILE *stream)
{
	const struct ps_region *base =
	    path->region ? atomic_load_explicit(&path->region->base, memory_order_acquire) : NULL;

	fprintf(stream, "path %zu", depth);
	ps__words_write_string(stream, ps_path_name(path));
	ps__words_write_string(stream, base ? base->name : "");
	file_save_visits(path, stream);
	file_save_parts(path, stream);
	file_save_values(path, stream);
}

int ps__paths_save(const struct ps_paths *paths, FILE *stream)
{
	const struct ps_path *path = paths->root;
	size_t depth = 0;

	file_save_events(paths->profile->model, stream);
	int result = file_save_faults(paths->profile, stream);
	if (result != PS_OK)
		return result;
	file_save_uncounted(paths->profile, stream);
	while (path) {
		file_save_path(path, depth, stream);
		if (path->child) {
			path = path->child;
			depth++;
			continue;
		}
		for (; path && !path->next; depth--)
			path = path->parent;
		path = path ? path->next : NULL;
	}
	fprintf(stream, "end\n");
	return PS_OK;
}

/* Loading. */

static int file_load_events(const struct ps_eventset *model, struct ps__words *words)
{
	size_t count = ps_eventset_event_count(model);

	ps__words_expect(words, "events");
	bool is_same = ps__words_read_unsigned(words) == count;
	for (size_t event = 0; is_same && event < count; event++) {
		char *name = ps__words_read_string(words);
		if (!name)
			return file_fail_word(words);
		is_same = strcmp(name, ps_eventset_event_name(model, event)) == 0;
		ps__os_free(name);
	}
	return is_same ? PS_OK : ps__fail(PS_EINVAL, "it counted other events");
}

static int file_load_faults(struct ps_profile *profile, struct ps__words *words)
{
	char *none = NULL;

	ps__words_expect(words, "faults");
	for (size_t fault = 0; fault < PS__FAULTS; fault++)
		atomic_fetch_add_explicit(&profile->faults[fault], ps__words_read_unsigned(words),
		                          memory_order_relaxed);
	char *why = ps__words_read_string(words);
	if (!why)
		return file_fail_word(words);
	if (!*why || !atomic_compare_exchange_strong(&profile->uncounted_why, &none, why))
		ps__os_free(why);
	return PS_OK;
}

static int file_load_uncounted(struct ps_profile *profile, struct ps__words *words)
{
	uint64_t uncounted;

	ps__words_expect(words, "uncounted");
	while ((uncounted = ps__words_read_unsigned(words)) > 0) {
		char *name = ps__words_read_string(words);
		words->has_failed |= name && !*name;
		struct ps_region *region = name && *name ? ps__region_get(profile, name) : NULL;
		ps__os_free(name);
		if (!region)
			return file_fail_word(words);
		atomic_fetch_add_explicit(&region->uncounted, uncounted, memory_order_relaxed);
	}
	return words->has_failed ? file_fail_word(words) : PS_OK;
}

/* True if the library could have written this value. */
static bool file_is_value(const struct ps_value *value)
{
	return value->status <= PS_STATUS_INCOMPLETE &&
	       value->attribution <= PS_ATTRIBUTION_LAST_CPU;
}

static int file_load_part(struct ps_path *path, struct ps__words *words)
{
	struct ps_topology *topology = path->paths->profile->root->topology;
	int cpu = (int)ps__words_read_signed(words);
	size_t threads = ps__words_read_unsigned(words);
	struct ps__part *part = ps__paths_get_part(path, ps_topology_thread(topology, cpu));

	if (!part)
		return file_fail_word(words);
	for (size_t event = 0; event < path->paths->events; event++) {
		struct ps_value value = {.value = ps__words_read_signed(words)};
		value.raw = ps__words_read_unsigned(words);
		value.enabled_ns = ps__words_read_unsigned(words);
		value.running_ns = ps__words_read_unsigned(words);
		value.timestamp = ps__words_read_unsigned(words);
		value.status = (enum ps_status)ps__words_read_unsigned(words);
		value.attribution = (enum ps_attribution)ps__words_read_unsigned(words);
		value.flags = (uint32_t)ps__words_read_unsigned(words);
		if (words->has_failed || !file_is_value(&value))
			return ps__fail(PS_EINVAL, "the saved paths of a process have a value "
			                           "that is none");
		ps__paths_merge(part, event, &value);
	}
	part->threads += threads;
	return PS_OK;
}

static int file_load_value(struct ps_path *path, struct ps__words *words)
{
	char *name = ps__words_read_string(words);
	words->has_failed |= name && !*name;
	struct ps_region *region =
	    name && *name ? ps__region_get(path->paths->profile, name) : NULL;
	struct ps__value_sum *sum = region ? ps__value_sum_get(path, region) : NULL;

	ps__os_free(name);
	if (!sum)
		return file_fail_word(words);
	sum->count += ps__words_read_unsigned(words);
	uint64_t high = ps__words_read_unsigned(words);
	uint64_t low = ps__words_read_unsigned(words);
	sum->sum += (__int128)((unsigned __int128)high << 64 | low);
	return PS_OK;
}

static void file_load_visits(struct ps_path *path, struct ps__words *words)
{
	struct ps_visits *visits = &path->visits;

	visits->count = ps__words_read_unsigned(words);
	visits->counted = ps__words_read_unsigned(words);
	uint64_t doubt = ps__words_read_unsigned(words);
	words->has_failed |= doubt & ~(uint64_t)PS__ALL_DOUBTS;
	path->doubt = (unsigned)doubt;
	visits->wall_ns = ps__words_read_unsigned(words);
	visits->on_cpu_ns = ps__words_read_unsigned(words);
	visits->shortest_ns = ps__words_read_unsigned(words);
	visits->longest_ns = ps__words_read_unsigned(words);
	uint64_t end = ps__words_read_unsigned(words);
	words->has_failed |= end > PS_VISIT_TIMES;
	for (size_t time = 0; !words->has_failed && time < end; time++)
		visits->times[time] = ps__words_read_unsigned(words);
}

static int file_load_path(struct ps_path *path, struct ps__words *words)
{
	int result = PS_OK;

	file_load_visits(path, words);
	ps__words_expect(words, "parts");
	for (uint64_t left = ps__words_read_unsigned(words); result == PS_OK && left > 0; left--)
		result = file_load_part(path, words);
	ps__words_expect(words, "values");
	for (uint64_t left = ps__words_read_unsigned(words); result == PS_OK && left > 0; left--)
		result = file_load_value(path, words);
	return result == PS_OK && words->has_failed ? file_fail_word(words) : result;
}

/* Makes the region of a path. base: the name of the region without the number, or "". NULL if out
 * of memory. */
static struct ps_region *file_get_region(struct ps_profile *profile, const char *name,
                                         const char *base)
{
	struct ps_region *region = ps__region_get(profile, name);
	const struct ps_region *without = region && *base ? ps__region_get(profile, base) : NULL;

	if (!*base)
		return region;
	if (without)
		atomic_store_explicit(&region->base, without, memory_order_release);
	return without ? region : NULL;
}

/* Reads the depth and the names of a path, and finds or makes the path. last: the path that was
 * read before it, or NULL. *depth: the depth of last, then that of the new path. Returns NULL if
 * the text is damaged, or if out of memory. */
static struct ps_path *file_find_path(struct ps_paths *paths, struct ps_path *last, size_t *depth,
                                      struct ps__words *words)
{
	uint64_t wanted = ps__words_read_unsigned(words);
	char *name = ps__words_read_string(words);
	char *base = ps__words_read_string(words);
	struct ps_path *found = NULL;

	words->has_failed |= last ? wanted == 0 || wanted > *depth + 1 : wanted != 0;
	words->has_failed |= name && !*name != (wanted == 0);
	bool is_read = name && base && !words->has_failed;
	if (is_read && wanted == 0)
		found = paths->root;
	for (; is_read && wanted && *depth >= wanted; --*depth)
		last = last->parent;
	if (is_read && wanted) {
		struct ps_region *region = file_get_region(paths->profile, name, base);
		found = region ? ps__paths_get_path(paths, last, region, NULL) : NULL;
	}
	ps__os_free(base);
	ps__os_free(name);
	*depth = wanted;
	return found;
}

static bool file_has_path(struct ps__words *words)
{
	static const char word[] = "path ";
	size_t left = (size_t)(words->end - words->at);

	while (left && *words->at == '\n') {
		words->at++;
		left--;
	}
	if (words->has_failed || left < strlen(word) || memcmp(words->at, word, strlen(word)) != 0)
		return false;
	words->at += strlen(word);
	return true;
}

static int file_load_paths(struct ps_paths *paths, struct ps__words *words)
{
	struct ps_path *path = NULL;
	size_t depth = 0;
	int result = PS_OK;

	while (result == PS_OK && file_has_path(words)) {
		path = file_find_path(paths, path, &depth, words);
		if (!path)
			return file_fail_word(words);
		result = file_load_path(path, words);
	}
	ps__words_expect(words, "end");
	return result == PS_OK && words->has_failed ? file_fail_word(words) : result;
}

int ps__paths_load(struct ps_paths *paths, struct ps__words *words)
{
	int result = file_load_events(paths->profile->model, words);

	if (result == PS_OK)
		result = file_load_faults(paths->profile, words);
	if (result == PS_OK)
		result = file_load_uncounted(paths->profile, words);
	if (result != PS_OK)
		return result;
	struct ps_paths *loaded = ps__paths_make(paths->profile, paths->events);
	result = loaded ? file_load_paths(loaded, words) : file_fail_word(words);
	if (result == PS_OK)
		result = ps__paths_add_process(paths, loaded);
	ps_paths_destroy(loaded);
	return result;
}

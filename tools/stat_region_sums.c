/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds up the reports of stat --regions into one table of all processes and runs. Before that, each
 * report is added to an empty table as a trial. A report that is damaged, or has other events, is
 * left out.
 */
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "collect/exchange.h"
#include "collect/tree.h"
#include "output/rank.h"
#include "region/profile.h"
#include "tools/stat_regions.h"
#include "tools/terminal.h"

#include <stdlib.h>

/* A valid report. */
struct sums_report {
	struct ps__words words;
	long long run;
	pid_t process;
	uint64_t began_ns; /* tells apart the programs of a process */
	bool is_flushed;   /* true for an interim report */
};

struct sums {
	struct stat_regions *regions;
	struct sums_report *list;
	size_t count, room;
	FILE *stream;
	bool is_continued; /* something was shown already */
	bool is_short;     /* counts of some processes are missing in the list */
};

/* Sums of paths, with the profile that they need; the profile itself counts nothing. */
struct sums_paths {
	struct ps_profile *profile;
	struct ps_paths *paths;
	struct collect_sum sum;
};

static void sums_destroy_paths(struct sums_paths *made)
{
	collect_sum_destroy(&made->sum);
	ps_paths_destroy(made->paths);
	ps_profile_destroy(made->profile);
}

static int sums_create_paths(struct sums_paths *out, const struct stat_regions *regions)
{
	*out = (struct sums_paths){.profile = NULL};
	int result =
	    ps_profile_create(&out->profile, regions->model, ps_topology_root(regions->topology));
	if (result != PS_OK)
		return result;
	out->paths = ps__paths_make(out->profile, ps_eventset_event_count(regions->model));
	if (!out->paths) {
		ps_profile_destroy(out->profile);
		return ps__fail_memory("the paths of all processes");
	}
	collect_sum_create(&out->sum, out->paths, &regions->settings);
	return PS_OK;
}

/* Complains about named regions that the report lacks, unless the text itself says so. stat.c also
 * shows this by the exit status. */
static void sums_find_missing(const struct sums *sums, const struct collect_report *report)
{
	struct ps__buffer missing = {0};

	collect_tree_find_missing(report, &missing);
	sums->regions->lacks_region = missing.length > 0;
	if (missing.length && report->settings->format != PS_FORMAT_TEXT)
		tool_complain_lines(ps__buffer_text(&missing));
	ps__buffer_clear(&missing);
}

/* Shows a table. lacks: counts of some processes are missing in it. */
static int sums_show(struct sums *sums, struct sums_paths *made, bool lacks)
{
	made->paths->lacks_processes = lacks;
	int result = ps__paths_pool(&made->paths);
	if (result != PS_OK)
		return result;
	made->sum.paths = made->paths;
	made->sum.report.paths = made->paths;
	collect_report_sum(&made->sum.report);
	result = collect_report_make(&made->sum.report, sums->is_continued, sums->stream);
	sums->is_continued = true;
	return result;
}

static int sums_show_one(struct sums *sums, const struct sums_report *one)
{
	bool is_all = sums->count == 1;
	struct sums_paths made;
	int result = sums_create_paths(&made, sums->regions);

	if (result != PS_OK)
		return result;
	result = collect_sum_add(&made.sum, one->words);
	made.sum.source.run = one->run;
	if (result == PS_OK)
		result = sums_show(sums, &made, is_all && sums->is_short);
	if (result == PS_OK && is_all)
		sums_find_missing(sums, &made.sum.report);
	sums_destroy_paths(&made);
	return result;
}

/* Names the command and this host as the source of the sums. */
static int sums_name(struct collect_source *source, const struct stat_regions *regions,
                     const char *target)
{
	size_t processes = source->processes;

	collect_source_clear(source);
	source->processes = processes;
	source->runs = regions->runs[0].number ? (long long)regions->run_count : 0;
	return collect_source_name(source, target, ps__rank_number())
	           ? PS_OK
	           : ps__fail_memory("the sums of all processes");
}

static int sums_show_all(struct sums *sums, const char *target)
{
	struct sums_paths made;
	int result = sums_create_paths(&made, sums->regions);

	if (result != PS_OK)
		return result;
	for (size_t index = 0; result == PS_OK && index < sums->count; index++)
		result = collect_sum_add(&made.sum, sums->list[index].words);
	if (result == PS_OK)
		result = sums_name(&made.sum.source, sums->regions, target);
	if (result == PS_OK)
		result = sums_show(sums, &made, sums->is_short);
	if (result == PS_OK)
		sums_find_missing(sums, &made.sum.report);
	sums_destroy_paths(&made);
	return result;
}

/* True for the interim report of a program that has left its last report, too, but could not remove
 * the interim one. The last reports come first. */
static bool sums_have(const struct sums *sums, const struct sums_report *report)
{
	for (size_t index = 0; report->is_flushed && index < sums->count; index++) {
		if (sums->list[index].process == report->process &&
		    sums->list[index].began_ns == report->began_ns)
			return true;
	}
	return false;
}

/* Checks that a report is valid, by adding it to an empty table. Complains if not. Sets the
 * report's other members. */
static int sums_try(struct sums *sums, struct sums_report *report, bool *is_good)
{
	struct sums_paths made;
	int result = sums_create_paths(&made, sums->regions);

	if (result != PS_OK)
		return result;
	result = collect_sum_add(&made.sum, report->words);
	*is_good = result == PS_OK;
	report->process = made.sum.source.process;
	report->began_ns = made.sum.report.began_ns;
	report->is_flushed = made.sum.report.is_flushed;
	if (result == PS_EINVAL)
		tool_complain("the report of process %d is left out: %s",
		              (int)made.sum.source.process, ps_error_detail());
	sums_destroy_paths(&made);
	return result == PS_EINVAL ? PS_OK : result;
}

static int sums_add(struct sums *sums, const struct sums_report *report)
{
	if (!PS__VECTOR_GROW(&sums->list, sums->count, &sums->room))
		return ps__fail_memory("the reports of all processes");
	sums->list[sums->count++] = *report;
	return PS_OK;
}

static int sums_find(struct sums *sums)
{
	for (size_t index = 0; index < sums->regions->run_count; index++) {
		const struct stat_region_run *run = &sums->regions->runs[index];
		struct ps__words text = {.at = run->text, .end = run->text + run->length};
		struct sums_report report = {.run = run->number};
		while (run->length && collect_exchange_next(&text, &report.words)) {
			bool is_good;
			int result = sums_try(sums, &report, &is_good);
			if (result == PS_OK && is_good && !sums_have(sums, &report))
				result = sums_add(sums, &report);
			if (result != PS_OK)
				return result;
			sums->is_short |= !is_good;
		}
	}
	return PS_OK;
}

/* True if the sums may lack counts of any region: reports are missing, or a process ran on after
 * its last report. */
static bool sums_lack_reports(const struct sums *sums)
{
	const struct stat_heard *heard = &sums->regions->heard;

	/* A last report can come after the reports were read, and before the journal is. */
	for (size_t index = 0; index < sums->count; index++) {
		if (sums->list[index].is_flushed)
			return true;
	}
	return heard->silent || heard->flushed || heard->lacks_notes ||
	       sums->count < heard->reports;
}

static int sums_show_wanted(struct sums *sums, const char *target)
{
	int result = sums_find(sums);
	sums->regions->lacks_region = sums->regions->settings.regions;
	sums->regions->has_reports = sums->count > 0;
	sums->is_short |= sums_lack_reports(sums);
	bool shows_each = sums->regions->shows_processes || sums->count == 1;

	for (size_t index = 0; shows_each && result == PS_OK && index < sums->count; index++)
		result = sums_show_one(sums, &sums->list[index]);
	if (result == PS_OK && sums->count > 1)
		result = sums_show_all(sums, target);
	return result;
}

int stat_regions_add_reports(struct stat_regions *regions, const char *target,
                             struct ps__buffer *out)
{
	char *text = NULL;
	size_t length = 0;
	struct sums sums = {.regions = regions, .stream = open_memstream(&text, &length)};

	if (!sums.stream)
		return tool_complain("out of memory");
	int result = sums_show_wanted(&sums, target);
	if (fclose(sums.stream) != 0 && result == PS_OK)
		result = ps__fail_memory("the reports of all processes");
	if (result == PS_OK)
		ps__buffer_add(out, "%s", text);
	else
		tool_complain_detail();
	free(text);
	ps__os_free(sums.list);
	return result == PS_OK ? 0 : -1;
}

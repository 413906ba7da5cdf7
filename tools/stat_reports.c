/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of stat --regions have left: reports, one behind the other in one file; beside
 * it "reports.PID.part" of each that ended without; and the journal.
 */
#include "tools/stat_regions.h"
#include "tools/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARTS "reports."

/* Returns the process of a file's name, 0 if it is none of these. */
static long reports_part_of(const char *name)
{
	char *end;

	if (strncmp(name, PARTS, strlen(PARTS)) != 0)
		return 0;
	long pid = strtol(name + strlen(PARTS), &end, 10);
	return strcmp(end, ".part") == 0 ? pid : 0;
}

static int reports_is_part(const struct dirent *entry)
{
	return reports_part_of(entry->d_name) > 0;
}

/* To be freed by reports_free_parts. */
static int reports_list_parts(const struct stat_regions *regions, struct dirent ***out)
{
	int count = scandir(regions->folder, out, reports_is_part, versionsort);

	return count > 0 ? count : 0;
}

static void reports_free_parts(struct dirent **parts, int count)
{
	for (int part = 0; part < count; part++)
		free(parts[part]);
	if (count)
		free(parts);
}

/* Adds a file as it is; of CSV that comes later without the header. */
static int reports_add_file(const char *path, bool skips_line, struct ps__buffer *out)
{
	char bytes[4096];
	FILE *file = fopen(path, "re");
	size_t length;

	if (!file)
		return -1;
	while (skips_line && fgets(bytes, sizeof bytes, file) && !strchr(bytes, '\n'))
		;
	while ((length = fread(bytes, 1, sizeof bytes, file)) > 0)
		ps__buffer_add(out, "%.*s", (int)length, bytes);
	fclose(file);
	return 0;
}

int stat_regions_add_reports(const struct stat_regions *regions, struct ps__buffer *out)
{
	struct dirent **parts;
	size_t before = out->length;

	if (reports_add_file(regions->reports, false, out) < 0)
		return tool_complain("the reports of the processes are gone: '%s': %s",
		                     regions->reports, strerror(errno)),
		       -1;
	int count = reports_list_parts(regions, &parts);
	for (int part = 0; part < count; part++) {
		struct ps__buffer path = {0};
		ps__buffer_add(&path, "%s/%s", regions->folder, parts[part]->d_name);
		reports_add_file(ps__buffer_text(&path), regions->is_csv && out->length > before,
		                 out);
		ps__buffer_clear(&path);
	}
	reports_free_parts(parts, count);
	return 0;
}

struct reports_numbers {
	unsigned long long visits, cpu_ns;
};

static void reports_add_heard(struct stat_heard *heard, const struct reports_numbers *numbers)
{
	heard->processes++;
	heard->silent -= heard->silent > 0;
	heard->visits += (double)numbers->visits;
	heard->cpu_s += numbers->cpu_ns == UINT64_MAX ? (double)NAN : (double)numbers->cpu_ns / 1e9;
}

/* "flushed PID VISITS NANOSECONDS": the last one counts. */
static void reports_hear_part(FILE *journal, long pid, struct stat_heard *heard)
{
	struct reports_numbers last = {.cpu_ns = UINT64_MAX}, numbers;
	char line[128];
	long of;

	rewind(journal);
	while (fgets(line, sizeof line, journal)) {
		if (sscanf(line, "flushed %ld %llu %llu", &of, &numbers.visits, &numbers.cpu_ns) ==
		        3 &&
		    of == pid)
			last = numbers;
	}
	heard->flushed++;
	reports_add_heard(heard, &last);
}

/* "began PID" of each program, "marks PID" of each process with marks, and "heard PID VISITS
 * NANOSECONDS" of each that left a report. */
void stat_regions_hear(const struct stat_regions *regions, struct stat_heard *out)
{
	struct reports_numbers numbers;
	struct dirent **parts;
	char line[128];
	FILE *journal = fopen(regions->journal, "re");

	*out = (struct stat_heard){.programs = 0};
	if (!journal)
		return;
	while (fgets(line, sizeof line, journal)) {
		out->programs += strncmp(line, "began ", strlen("began ")) == 0;
		out->silent += strncmp(line, "marks ", strlen("marks ")) == 0;
		if (sscanf(line, "heard %*d %llu %llu", &numbers.visits, &numbers.cpu_ns) == 2)
			reports_add_heard(out, &numbers);
	}
	int count = reports_list_parts(regions, &parts);
	for (int part = 0; part < count; part++)
		reports_hear_part(journal, reports_part_of(parts[part]->d_name), out);
	reports_free_parts(parts, count);
	fclose(journal);
}

/* A process that was killed may have left one that it was just writing. */
void stat_reports_remove(const struct stat_regions *regions)
{
	DIR *folder = opendir(regions->folder);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, PARTS, strlen(PARTS)) == 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	if (folder)
		closedir(folder);
	if (regions->reports)
		unlink(regions->reports);
	if (regions->journal)
		unlink(regions->journal);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the files of the processes of stat --regions: one file with concatenated reports; a file
 * "reports.PID.BEGAN.part" for each program that ended without a report (BEGAN is a time, because
 * an exec keeps the PID); and the journal.
 */
#include "base/os.h"
#include "base/vector.h"
#include "tools/stat_regions.h"
#include "tools/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTS "reports."

/* A program, identified by its process and the time when it began to count. */
struct reports_program {
	long pid;
	unsigned long long began_ns;
};

/* True if the file's name is that of a program's part. */
static bool reports_part_of(const char *name, struct reports_program *out)
{
	int length = 0;

	return sscanf(name, PARTS "%ld.%llu.part%n", &out->pid, &out->began_ns, &length) == 2 &&
	       length > 0 && !name[length];
}

static int reports_is_part(const struct dirent *entry)
{
	struct reports_program program;

	return reports_part_of(entry->d_name, &program);
}

/* Lists the parts; freed by reports_free_parts. */
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

#define READ_BYTES ((size_t)65536)

/* Appends a file's text to run->text. Returns 0 or an errno. */
static int reports_add_file(const char *path, struct stat_region_run *run, size_t *room)
{
	FILE *file = fopen(path, "re");
	size_t length = 1;
	int error = file ? 0 : errno;

	while (file && !error && length > 0) {
		if (!PS__VECTOR_RESERVE(&run->text, run->length, run->length + READ_BYTES, room)) {
			error = ENOMEM;
			break;
		}
		errno = 0;
		length = fread(run->text + run->length, 1, READ_BYTES, file);
		error = ferror(file) ? errno : 0;
		run->length += length;
	}
	if (file)
		fclose(file);
	return error;
}

/* Reads all files. Sets *lacks_parts if parts are gone: their processes have written their last
 * reports meanwhile, and have removed them. Returns 0 or an errno. */
static int reports_read_files(const struct stat_regions *regions, struct dirent *const *parts,
                              int count, struct stat_region_run *run, bool *lacks_parts)
{
	size_t room = 0;
	int error = reports_add_file(regions->reports, run, &room);

	for (int part = 0; !error && part < count; part++) {
		struct ps__buffer path = {0};
		ps__buffer_add(&path, "%s/%s", regions->folder, parts[part]->d_name);
		error = path.failed ? ENOMEM : reports_add_file(ps__buffer_text(&path), run, &room);
		ps__buffer_clear(&path);
		if (error == ENOENT) {
			*lacks_parts = true;
			error = 0;
		}
	}
	return error;
}

static int reports_read(const struct stat_regions *regions, struct dirent *const *parts, int count,
                        struct stat_region_run *run)
{
	bool lacks_parts = false;
	int error = reports_read_files(regions, parts, count, run, &lacks_parts);

	if (!error && lacks_parts) {
		ps__os_free(run->text);
		*run = (struct stat_region_run){.number = run->number};
		error = reports_read_files(regions, parts, count, run, &lacks_parts);
	}
	if (!error)
		return 0;
	return tool_complain("the reports of the processes can't be read: '%s': %s",
	                     regions->reports, strerror(error));
}

/* Numbers in a line of the journal. */

struct reports_numbers {
	unsigned long long visits, cpu_ns;
	unsigned long long earlier; /* number of earlier reports of the same process */
};

static void reports_add_heard(struct stat_heard *heard, const struct reports_numbers *numbers)
{
	heard->reports++;
	heard->processes += numbers->earlier == 0;
	heard->silent -= heard->silent > 0;
	heard->visits += (double)numbers->visits;
	heard->cpu_s += numbers->cpu_ns == UINT64_MAX ? (double)NAN : (double)numbers->cpu_ns / 1e9;
}

/* Adds the numbers of a program that left a part. The journal has lines "flushed PID.BEGAN VISITS
 * NANOSECONDS EARLIER" of this program; the last one is valid. A program with a line "heard" has
 * left its last report, too: its numbers are added already. */
static void reports_hear_part(FILE *journal, const struct reports_program *program,
                              struct stat_heard *heard)
{
	struct reports_numbers last = {.cpu_ns = UINT64_MAX}, numbers;
	struct reports_program of;
	char line[128];

	rewind(journal);
	while (fgets(line, sizeof line, journal)) {
		if (sscanf(line, "heard %ld.%llu", &of.pid, &of.began_ns) == 2 &&
		    of.pid == program->pid && of.began_ns == program->began_ns)
			return;
		if (sscanf(line, "flushed %ld.%llu %llu %llu %llu", &of.pid, &of.began_ns,
		           &numbers.visits, &numbers.cpu_ns, &numbers.earlier) == 5 &&
		    of.pid == program->pid && of.began_ns == program->began_ns)
			last = numbers;
	}
	heard->flushed++;
	reports_add_heard(heard, &last);
}

/* True if the journal lacks notes. A process that can't write to the journal makes the file
 * executable, to show this. journal: NULL if the file doesn't exist any more. */
static bool reports_lack_notes(const struct stat_regions *regions, FILE *journal)
{
	struct stat status;

	return !journal || fstat(fileno(journal), &status) < 0 ||
	       (!regions->lacks_modes && (status.st_mode & S_IXUSR));
}

/* Reads the journal. It has a line "began PID" for each program, "marks PID" for each program with
 * marks, "heard PID.BEGAN VISITS NANOSECONDS EARLIER" for each program that left a report, and
 * "inner PID" for each perfsage stat --regions. A program that starts the collector again has
 * several "marks" and "heard" lines. */
static void reports_hear(const struct stat_regions *regions, struct dirent *const *parts, int count,
                         struct stat_heard *heard)
{
	struct reports_numbers numbers;
	char line[128];
	FILE *journal = fopen(regions->journal, "re");

	heard->lacks_notes |= reports_lack_notes(regions, journal);
	if (!journal)
		return;
	while (fgets(line, sizeof line, journal)) {
		heard->programs += strncmp(line, "began ", strlen("began ")) == 0;
		heard->silent += strncmp(line, "marks ", strlen("marks ")) == 0;
		heard->inner += strncmp(line, "inner ", strlen("inner ")) == 0;
		if (sscanf(line, "heard %*d.%*u %llu %llu %llu", &numbers.visits, &numbers.cpu_ns,
		           &numbers.earlier) == 3)
			reports_add_heard(heard, &numbers);
	}
	for (int part = 0; part < count; part++) {
		struct reports_program program;
		if (reports_part_of(parts[part]->d_name, &program))
			reports_hear_part(journal, &program, heard);
	}
	fclose(journal);
}

int stat_regions_take(struct stat_regions *regions, long long number)
{
	struct stat_region_run run = {.number = number};
	struct dirent **parts;
	int count = reports_list_parts(regions, &parts);
	int result = reports_read(regions, parts, count, &run);

	if (PS__VECTOR_GROW(&regions->runs, regions->run_count, &regions->run_room)) {
		regions->runs[regions->run_count++] = run;
		reports_hear(regions, parts, count, &regions->heard);
	} else {
		ps__os_free(run.text);
		result = tool_complain("out of memory");
	}
	reports_free_parts(parts, count);
	return result;
}

/* Removes all parts, including those that a killed process left unfinished. */
static void reports_remove_parts(const struct stat_regions *regions)
{
	DIR *folder = opendir(regions->folder);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, PARTS, strlen(PARTS)) == 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	if (folder)
		closedir(folder);
}

void stat_reports_remove(const struct stat_regions *regions)
{
	reports_remove_parts(regions);
	if (regions->reports)
		unlink(regions->reports);
	if (regions->journal)
		unlink(regions->journal);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The perfsage command, over and over, each time without memory for another one of its allocations:
 *
 *     lacking NAME FOLDER LAST ARGUMENTS...
 *
 * Three allocations fail of those with the same functions on the stack: the first two and the last.
 * LAST: only about so many allocations before the end, as those before are another run's, too; 0:
 * all.
 * FOLDER has an empty folder "tmp" for the command's temporary files. The counted program creates
 * FOLDER/began and, when it ends, FOLDER/ended. The command must not crash or hang; it complains or
 * succeeds, and does not succeed with a complaint of memory; no temporary file stays; and what it
 * began to count is not ended by it.
 */
#include "base/hash.h"
#include "base/os.h"
#include "support/small.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_COUNT 125
#define LONGEST_S    120
#define PATH_BYTES   4096
#define NUMBERS      65536
#define STACK_DEPTH  64

/* The command itself, which is no process of its own here. */
int perfsage_main(int argc, char **argv);
#define main perfsage_main
#include "tools/main.c"
#undef main

static unsigned long number, fails_at;

/* Shared with the children. */
struct shared {
	bool has_failed;
	unsigned long made;       /* the most allocations of a run */
	uint64_t stacks[NUMBERS]; /* of the first run: a hash of each allocation's callers */
};

static struct shared *shared;
static char folder[PATH_BYTES - 64];

/* Each run is a fork of one process, so a function has the same address in all runs. */
static uint64_t hash_of_callers(void)
{
	void *callers[STACK_DEPTH];
	size_t bytes = (size_t)backtrace(callers, STACK_DEPTH) * sizeof *callers;
	uint64_t hash = PS__HASH_EMPTY;

	for (size_t index = 0; index < bytes; index++)
		hash = ps__hash_add(hash, ((const unsigned char *)callers)[index]);
	return hash;
}

static void *allocate(size_t size_bytes)
{
	if (++number > shared->made)
		shared->made = number;
	if (fails_at == 0 && number < NUMBERS)
		shared->stacks[number] = hash_of_callers();
	if (number != fails_at)
		return calloc(1, size_bytes);
	shared->has_failed = true;
	errno = ENOMEM;
	return NULL;
}

/* Whether the allocation is one of the first two with its callers, or the last. */
static bool is_worth_a_run(unsigned long wanted, unsigned long made)
{
	unsigned before = 0;

	for (unsigned long other = 1; other < wanted; other++)
		before += shared->stacks[other] == shared->stacks[wanted];
	for (unsigned long other = wanted + 1; before > 1 && other <= made; other++) {
		if (shared->stacks[other] == shared->stacks[wanted])
			return false;
	}
	return true;
}

static const char *path_of(const char *name)
{
	static char path[PATH_BYTES];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static off_t size_of(const char *name)
{
	struct stat status;

	return stat(path_of(name), &status) == 0 ? status.st_size : -1;
}

static void redirect(const char *name, int to)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		abort();
	close(fd);
}

static int run(int argc, char **argv)
{
	int status = -1;

	unlink(path_of("began"));
	unlink(path_of("ended"));
	pid_t child = fork();
	if (child == 0) {
		redirect("out", STDOUT_FILENO);
		redirect("err", STDERR_FILENO);
		alarm(LONGEST_S);
		ps__os.allocate = allocate;
		exit(perfsage_main(argc, argv));
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		abort();
	return status;
}

static bool has_temporary_files(void)
{
	DIR *list = opendir(path_of("tmp"));
	bool has = !list;

	for (const struct dirent *entry; list && (entry = readdir(list));) {
		if (entry->d_name[0] == '.')
			continue;
		has = true;
		/* The next failure is not blamed for them; a folder stays if it isn't empty. */
		unlinkat(dirfd(list), entry->d_name, 0);
		unlinkat(dirfd(list), entry->d_name, AT_REMOVEDIR);
	}
	if (list)
		closedir(list);
	return has;
}

/* What goes on without these is told where it is shown; the counts themselves are all there. */
static const char *const spared[] = {
    "for a formula",   "for a file of metrics", "for the built-in metrics",
    "nothing is lost", "residual    not known", "for a complaint"};

static bool is_spared(const char *line)
{
	for (size_t index = 0; index < sizeof spared / sizeof *spared; index++) {
		if (strstr(line, spared[index]))
			return true;
	}
	return false;
}

static bool complains_of_memory(void)
{
	FILE *file = fopen(path_of("err"), "re");
	char *line = NULL;
	size_t room = 0;
	bool complains = false;

	while (file && !complains && getline(&line, &room, file) > 0)
		complains = strstr(line, "out of memory") && !is_spared(line);
	free(line);
	if (file)
		fclose(file);
	return complains;
}

static const char *complaint_about(int status)
{
	bool began = size_of("began") >= 0, ended = size_of("ended") >= 0;

	if (!WIFEXITED(status))
		return WTERMSIG(status) == SIGALRM ? "it hangs" : "it crashes";
	if (began != ended)
		return "the counted program was ended";
	if (has_temporary_files())
		return "temporary files stay";
	if (WEXITSTATUS(status) != 0 && size_of("err") <= 0)
		return "it says nothing";
	if (WEXITSTATUS(status) == 0 && size_of("out") <= 0 && size_of("err") <= 0)
		return "it succeeds, and shows nothing";
	if (WEXITSTATUS(status) == 0 && complains_of_memory())
		return "it succeeds, and says that it lacked memory";
	return NULL;
}

/* Returns whether the command did what it must without this allocation; 0: with all memory. */
static bool holds(unsigned long without, int argc, char **argv, const char *name)
{
	shared->has_failed = false;
	fails_at = without;
	int status = run(argc, argv);
	const char *complaint = complaint_about(status);

	if (!shared->has_failed && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
		complaint = "it fails with all memory that it needs";
	if (complaint)
		printf("FAIL: %s: allocation %lu: %s (status %#x)\n", name, without, complaint,
		       (unsigned)status);
	return !complaint;
}

int main(int argc, char **argv)
{
	unsigned long complaints = 0, runs = 0;

	if (argc < 5)
		return EXIT_FAILURE;
	const char *name = argv[1];
	snprintf(folder, sizeof folder, "%s", argv[2]);
	setenv("TMPDIR", path_of("tmp"), 1);
	shared =
	    mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	complaints += !holds(0, argc - 3, argv + 3, name);
	unsigned long made = shared->made, last = strtoul(argv[3], NULL, 10);
	if (made == 0 || made >= NUMBERS) {
		printf("FAIL: %s: it makes %lu allocations\n", name, made);
		return EXIT_FAILURE;
	}
	unsigned long first = last > 0 && last < made ? made - last + 1 : 1;
	unsigned long step = (unsigned long)ps_test_serial_size(1, 7);
	for (unsigned long without = first; without <= made && complaints < 20; without += step) {
		if (!is_worth_a_run(without, made))
			continue;
		runs++;
		complaints += !holds(without, argc - 3, argv + 3, name);
	}
	if (complaints == 0)
		printf("PASS: %s: %lu of %lu allocations may fail\n", name, runs, made - first + 1);
	return complaints > 0;
}

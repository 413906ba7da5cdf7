/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The perfsage command, over and over, without memory for its first, second, ... allocation, until
 * it makes no more of them:
 *
 *     lacking NAME FOLDER LAST ARGUMENTS...
 *
 * LAST: only about so many allocations before the end, as those before are another run's, too; 0:
 * all.
 * FOLDER has an empty folder "tmp" for the command's temporary files. The counted program creates
 * FOLDER/began and, when it ends, FOLDER/ended. The command must not crash or hang; it complains or
 * succeeds, and does not succeed with a complaint of memory; no temporary file stays; and what it
 * began to count is not ended by it.
 */
#include "base/os.h"
#include "support/small.h"

#include <dirent.h>
#include <errno.h>
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

/* The command itself, which is no process of its own here. */
int perfsage_main(int argc, char **argv);
#define main perfsage_main
#include "tools/main.c"
#undef main

static unsigned long number, fails_at;
/* Shared with the children. */
static volatile int *has_failed;
static volatile unsigned long *made;
static char folder[PATH_BYTES - 64];

static void *allocate(size_t size_bytes)
{
	if (++number > *made)
		*made = number;
	if (number != fails_at)
		return calloc(1, size_bytes);
	*has_failed = 1;
	errno = ENOMEM;
	return NULL;
}

static volatile void *shared(void)
{
	void *memory =
	    mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
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

int main(int argc, char **argv)
{
	unsigned long complaints = 0;

	if (argc < 5)
		return EXIT_FAILURE;
	const char *name = argv[1];
	snprintf(folder, sizeof folder, "%s", argv[2]);
	setenv("TMPDIR", path_of("tmp"), 1);
	has_failed = shared();
	made = shared();
	unsigned long last = strtoul(argv[3], NULL, 10);
	if (last > 0) {
		run(argc - 3, argv + 3);
		fails_at = *made > last ? *made - last : 0;
	}
	unsigned long first = fails_at + 1, step = (unsigned long)ps_test_serial_size(1, 7),
		      runs = 0;
	fails_at += 1 - step;
	do {
		fails_at += step;
		runs++;
		*has_failed = 0;
		int status = run(argc - 3, argv + 3);
		const char *complaint = complaint_about(status);
		if (!*has_failed && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
			complaint = "it fails with all memory that it needs";
		if (complaint && ++complaints <= 20)
			printf("FAIL: %s: allocation %lu: %s (status %#x)\n", name, fails_at,
			       complaint, (unsigned)status);
	} while (*has_failed);
	if (runs == 1)
		printf("FAIL: %s: it allocates nothing\n", name);
	else if (complaints == 0)
		printf("PASS: %s: %lu of %lu allocations may fail\n", name, runs - 1,
		       fails_at - first);
	return complaints || runs == 1;
}

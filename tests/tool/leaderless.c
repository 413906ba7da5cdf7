/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose first thread has ended while another goes on, for the tests of perfsage stat:
 *
 *     leaderless READY GO PAGES
 *
 * When its first thread has ended it writes the file READY. When there is a file GO it touches
 * PAGES fresh pages, and ends.
 */
#include "touch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **arguments;

static void check(int is_right, const char *call)
{
	if (is_right)
		return;
	perror(call);
	exit(EXIT_FAILURE);
}

static int first_has_ended(void)
{
	char path[64], line[512] = "";

	snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
	FILE *stream = fopen(path, "re");
	check(stream != NULL, path);
	size_t length = fread(line, 1, sizeof line - 1, stream);
	fclose(stream);
	line[length] = '\0';
	const char *name_end = strrchr(line, ')');
	return name_end && strncmp(name_end, ") Z", 3) == 0;
}

static void *go_on(void *none)
{
	while (!first_has_ended())
		usleep(10000);
	FILE *ready = fopen(arguments[1], "we");
	check(ready && fprintf(ready, "%d\n", (int)getpid()) > 0 && fclose(ready) == 0,
	      arguments[1]);
	while (access(arguments[2], F_OK) != 0)
		usleep(10000);
	touch(strtoul(arguments[3], NULL, 10));
	return none;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 4)
		return EXIT_FAILURE;
	arguments = argv;
	check(pthread_create(&thread, NULL, go_on, NULL) == 0, "pthread_create");
	pthread_exit(NULL);
}

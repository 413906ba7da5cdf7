/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with marks whose own files could be mistaken for those of perfsage. It ends with 0 if
 * its own are what they should be. */
#include <fcntl.h>
#include <perfsage/marks.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NUMBERS 9000
#define LOW     32    /* perfsage keeps its descriptors above: see kept.h */
#define TURNS   12000 /* of 10 ms */
#define DEEP    3000

/* Standard input and output are closed: new files get their numbers, as if nothing was counted. */
static int open_two(void)
{
	int first = open("/dev/null", O_WRONLY), second = open("/dev/null", O_WRONLY);

	return first == STDIN_FILENO && second == STDOUT_FILENO ? 0 : 73;
}

/* Waits until perfsage has written something more. */
static int await_note(void)
{
	const struct timespec turn = {.tv_nsec = 10000000};
	const char *journal = getenv("PERFSAGE_JOURNAL");
	struct stat before, now;

	if (!journal || stat(journal, &before) < 0)
		return -1;
	for (int turns = 0; turns < TURNS; turns++) {
		if (stat(journal, &now) == 0 && now.st_size > before.st_size)
			return 0;
		nanosleep(&turn, NULL);
	}
	return -1;
}

/* Only the standard descriptors are left. Files that perfsage opens again stay out of
 * the numbers of the program's next files. */
static int close_directly(void)
{
	for (int fd = 3; fd < NUMBERS; fd++)
		syscall(SYS_close, fd);
	if (await_note() < 0 || await_note() < 0)
		return 74;
	for (int fd = 3; fd < LOW; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			return 75;
	}
	return 0;
}

/* Another thread opens a file of its own under each low number, again and again, until the process
 * has ended. */
static void *swap(void *file)
{
	for (;;) {
		for (int fd = 3; fd < 10; fd++) {
			close(fd);
			if (open(file, O_WRONLY | O_APPEND) < 0)
				_exit(76);
		}
	}
	return NULL;
}

static void descend(int levels)
{
	if (levels == 0)
		return;
	PS_REGION("deep")
	descend(levels - 1);
}

static int begin_swapping(char *file)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, swap, file) ? 77 : 0;
}

/* The child has nothing but its parent's memory to know what is counted. */
static int fork_without_environment(void)
{
	int status = -1;
	pid_t child = clearenv() == 0 ? fork() : -1;

	if (child == 0) {
		descend(3);
		exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 79;
}

/* kept numbers|reopen|clearenv|fork|unblocked|swap FILE */
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	PS_REGION("r")
	descend(strcmp(how, "swap") == 0 || strcmp(how, "unblocked") == 0 ? DEEP : 1);
	if (strcmp(how, "numbers") == 0)
		return open_two();
	if (strcmp(how, "fork") == 0)
		return fork_without_environment();
	if (strcmp(how, "reopen") == 0)
		return close_directly();
	if (strcmp(how, "swap") == 0 && argc == 3)
		return begin_swapping(argv[2]);
	if (strcmp(how, "unblocked") == 0)
		return fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK) < 0;
	return strcmp(how, "clearenv") == 0 ? clearenv() : 78;
}

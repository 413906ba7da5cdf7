/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with marks that knows nothing of libperfsage: touches fresh pages in two regions, and
 * tells how many; in so many threads, in a child process if it's asked to, and ends as it's asked
 * to. */
#include "touch.h"

#include <glob.h>
#include <locale.h>
#include <perfsage/marks.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long outer_pages = 4000, inner_pages = 2000;

static void *work(void *unused)
{
	(void)unused;
	PS_REGION("outer")
	{
		touch((size_t)outer_pages);
		PS_REGION("inner")
		{
			touch((size_t)inner_pages);
			PS_MARK_VALUE("pages", inner_pages);
		}
		PS_MARK_VALUE("pages", outer_pages);
	}
	return NULL;
}

/* Is there a file of the pattern? Gives it the name with ".kept" at its end if it is asked to. */
static bool has_file(const char *pattern, bool renames)
{
	glob_t found;
	bool is_there = glob(pattern, 0, NULL, &found) == 0;

	if (is_there && renames) {
		char kept[4096];
		snprintf(kept, sizeof kept, "%s.kept", found.gl_pathv[0]);
		rename(found.gl_pathv[0], kept);
	}
	globfree(&found);
	return is_there;
}

/* Waits until the collector has written what there was until now: not earlier. */
static void wait_for_flush(void)
{
	const char *output = getenv("PERFSAGE_OUTPUT");
	char part[4096];

	snprintf(part, sizeof part, "%s.%d.*.part", output ? output : "", (int)getpid());
	/* The first one may have been begun before. */
	for (int flush = 0; flush < 2; flush++) {
		has_file(part, true);
		for (int turn = 0; turn < 10000 && !has_file(part, false); turn++)
			usleep(10000);
	}
}

static void handle(int number)
{
	(void)number;
	exit(7);
}

/* Passes marks until a signal comes, most probably inside a mark. Its handler calls exit. */
static void pass_until_alarm(void)
{
	const struct itimerval soon = {.it_value = {.tv_usec = 50000}};

	signal(SIGALRM, handle);
	for (int visit = 0;; visit++) {
		if (visit == 100)
			setitimer(ITIMER_REAL, &soon, NULL);
		PS_REGION("hot")
		{
		}
	}
}

/* A child without marks has the signals' own effects. */
static int end_child(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		raise(SIGTERM);
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? WTERMSIG(status) : 1;
}

static int end_by_signal(const char *how)
{
	if (strcmp(how, "term") == 0)
		raise(SIGTERM);
	if (strcmp(how, "handler") == 0) {
		signal(SIGTERM, handle);
		raise(SIGTERM);
	}
	if (strcmp(how, "alarm") == 0)
		pass_until_alarm();
	if (strcmp(how, "child") == 0)
		return end_child();
	if (strcmp(how, "flushed") == 0 || strcmp(how, "slow") == 0 || strcmp(how, "exec") == 0)
		wait_for_flush();
	if (strcmp(how, "exec") == 0)
		return execl("/proc/self/exe", "marked", "0", "open", (char *)NULL);
	if (strcmp(how, "flushed") == 0)
		raise(SIGKILL);
	return 0;
}

static void give_up(const char *how)
{
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};

	if (strncmp(how, "limited", strlen("limited")) == 0 && setrlimit(RLIMIT_NOFILE, &none) < 0)
		abort();
	if (strncmp(how, "setuid", strlen("setuid")) == 0 && setuid(65534) < 0)
		abort();
}

/* Visits of a region that there is no memory for. */
static void work_without_memory(void)
{
	struct rlimit before, none;

	if (getrlimit(RLIMIT_AS, &before) < 0)
		abort();
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	setrlimit(RLIMIT_AS, &none);
	/* Kept, or the compiler would leave the calls out. */
	void *volatile last;
	for (size_t bytes = 65536; bytes >= 1; bytes /= 2) {
		do
			last = malloc(bytes);
		while (last);
	}
	for (int visit = 0; visit < 7; visit++) {
		PS_REGION("starved")
		{
		}
	}
	setrlimit(RLIMIT_AS, &before);
}

static void work_without_name(void)
{
	for (int visit = 0; visit < 5; visit++) {
		PS_REGION("")
		{
		}
	}
}

/* A thread that goes on when the process ends: all its pages are in "page". Several keep the CPUs
 * from the thread that writes the report. */
static void *work_on(void *unused)
{
	PS_REGION_BEGIN("going");
	for (;;) {
		PS_REGION("page")
		{
			touch(1);
		}
		for (volatile int turn = 0; turn < 20000; turn++)
			;
	}
	return unused;
}

static void begin_threads_that_go_on(void)
{
	pthread_t thread;

	for (int index = 0; index < 8; index++) {
		if (pthread_create(&thread, NULL, work_on, NULL) == 0)
			usleep(5000);
	}
}

/* Marks that can't be heard, or not to their end. */
static void work_badly(const char *how)
{
	if (strcmp(how, "starved") == 0)
		work_without_memory();
	if (strcmp(how, "unnamed") == 0)
		work_without_name();
	if (strcmp(how, "going") == 0)
		begin_threads_that_go_on();
	if (strcmp(how, "inside") == 0) {
		PS_REGION("unfinished")
		{
			raise(SIGTERM);
		}
	}
}

/* A process, or its child, that can open no more files of perfsage's. */
static void work_without_files(const char *how)
{
	if (!strstr(how, "-child")) {
		give_up(how);
	} else if (fork() == 0) {
		give_up(how);
		work(NULL);
		exit(3);
	} else {
		wait(NULL);
	}
}

/* A thread without marks, for 0.1 s of its CPU time. */
static void *work_unmarked(void *unused)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec == 0 && now.tv_nsec < 100000000);
	return unused;
}

/* A thread without marks that does next to nothing, and has ended before the process does. */
static void *work_nothing(void *unused)
{
	return unused;
}

/* A thread with marks that finds no descriptor left to count with. */
static void work_without_descriptors(bool to_the_end)
{
	pthread_t thread;
	int first = dup(STDERR_FILENO), last = first;

	for (int next = first; next >= 0; next = dup(STDERR_FILENO))
		last = next;
	if (pthread_create(&thread, NULL, work, NULL) == 0)
		pthread_join(thread, NULL);
	for (int descriptor = first; descriptor >= 0 && descriptor <= last; descriptor++) {
		if (!to_the_end)
			close(descriptor);
	}
}

/* marked THREADS
 * [fork|late|open|close|chdir|abort|pipe|thread|_exit|term|handler|child|flushed|slow|exec|locale|
 *                 unmarked|idle|full|full-to-the-end|limited|limited-child|setuid|setuid-child|
 *                 starved|unnamed|inside|few|going] */
int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;
	const char *how = argc > 2 ? argv[2] : "";
	pthread_t thread;

	if (strcmp(how, "locale") == 0 && !setlocale(LC_ALL, ""))
		return EXIT_FAILURE;
	/* For thousands of runs: fresh pages take most of the time of one. */
	if (strcmp(how, "few") == 0)
		outer_pages = inner_pages = 4;
	PS_MARK_VALUE("threads", threads);
	work(NULL);
	for (int index = 0; index < threads; index++) {
		if (pthread_create(&thread, NULL, work, NULL) == 0)
			pthread_join(thread, NULL);
	}
	if (strcmp(how, "unmarked") == 0 && pthread_create(&thread, NULL, work_unmarked, NULL) == 0)
		pthread_join(thread, NULL);
	if (strcmp(how, "idle") == 0 && pthread_create(&thread, NULL, work_nothing, NULL) == 0)
		pthread_join(thread, NULL);
	if (strncmp(how, "full", strlen("full")) == 0)
		work_without_descriptors(strcmp(how, "full-to-the-end") == 0);
	if (strcmp(how, "fork") == 0 || strcmp(how, "late") == 0) {
		pid_t child = fork();
		if (child == 0) {
			if (strcmp(how, "late") == 0)
				work_unmarked(NULL);
			work(NULL);
			exit(3);
		}
		waitpid(child, NULL, 0);
	} else if (strcmp(how, "open") == 0) {
		PS_REGION_BEGIN("left open");
	} else if (strcmp(how, "close") == 0) {
		for (int descriptor = 3; descriptor < 1024; descriptor++)
			close(descriptor);
	} else if (strcmp(how, "chdir") == 0) {
		return chdir("/") != 0;
	} else if (strcmp(how, "abort") == 0) {
		signal(SIGABRT, SIG_DFL);
		abort();
	} else if (strcmp(how, "pipe") == 0) {
		int ends[2];
		return pipe(ends) == 0 && close(ends[0]) == 0 &&
		               dup2(ends[1], STDERR_FILENO) == STDERR_FILENO
		           ? 5
		           : 1;
	} else if (strcmp(how, "thread") == 0) {
		/* The program ends with its last thread. */
		if (pthread_create(&thread, NULL, work, NULL) == 0)
			pthread_exit(NULL);
	} else if (strncmp(how, "limited", 7) == 0 || strncmp(how, "setuid", 6) == 0) {
		work_without_files(how);
	} else if (strcmp(how, "_exit") == 0) {
		_exit(4);
	}
	work_badly(how);
	return end_by_signal(how);
}

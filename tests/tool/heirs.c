/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose second thread begins another one and so takes its process's number over, for the
 * tests of perfsage stat --tasks: the first thread touches FIRST fresh pages, a third one THIRD,
 * and then the second one SECOND, and begins `true`.
 *
 *     heirs FIRST SECOND THIRD
 */
#include "touch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void *run_second(void *count)
{
	pthread_barrier_wait(&barrier);
	touch((size_t)atol(count));
	execlp("true", "true", (char *)NULL);
	exit(EXIT_FAILURE);
}

static void *run_third(void *count)
{
	touch((size_t)atol(count));
	pthread_barrier_wait(&barrier);
	pause();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t second, third;

	if (argc != 4) {
		fprintf(stderr, "usage: heirs FIRST SECOND THIRD\n");
		return EXIT_FAILURE;
	}
	touch((size_t)atol(argv[1]));
	if (pthread_barrier_init(&barrier, NULL, 2) != 0 ||
	    pthread_create(&second, NULL, run_second, argv[2]) != 0 ||
	    pthread_create(&third, NULL, run_third, argv[3]) != 0)
		return EXIT_FAILURE;
	for (;;)
		pause();
}

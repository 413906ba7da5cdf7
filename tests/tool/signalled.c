/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes down each SIGUSR1 that comes, for the tests of perfsage stat:
 *
 *     signalled READY GOT
 *
 * When it can hear them it writes the file READY. Each one adds a line to the file GOT. SIGTERM
 * ends it with status 7.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int got;

static void write_down(int number)
{
	(void)number;
	if (write(got, "USR1\n", 5) != 5)
		_exit(EXIT_FAILURE);
}

static void end(int number)
{
	(void)number;
	_exit(7);
}

static int create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);

	if (fd < 0)
		_exit(EXIT_FAILURE);
	return fd;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return EXIT_FAILURE;
	got = create(argv[2]);
	signal(SIGUSR1, write_down);
	signal(SIGTERM, end);
	if (write(create(argv[1]), "\n", 1) != 1)
		return EXIT_FAILURE;
	for (;;)
		pause();
}

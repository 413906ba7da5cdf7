/* SPDX-License-Identifier: BSD-3-Clause */
/* A terminal for subcommands; see screen.h. A thread reads what is written: a terminal holds
 * little. */
#include "screen.h"
#include "support/unmarked.h"
#include "tools/command.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define MOST_WORDS 16
#define MOST_BYTES (4 * 1024 * 1024)

struct screen {
	int master, slave;
	int old[2]; /* stdout and stderr */
	pthread_t reader;
	_Atomic bool is_reading;
	bool has_ended;
	char *text;
	size_t bytes;
};

static int screen_open(struct screen *screen)
{
	screen->slave = -1;
	screen->master = posix_openpt(O_RDWR | O_NOCTTY);
	if (screen->master < 0)
		return -1;
	if (grantpt(screen->master) == 0 && unlockpt(screen->master) == 0)
		screen->slave = open(ptsname(screen->master), O_RDWR | O_NOCTTY);
	if (screen->slave < 0)
		close(screen->master);
	return screen->slave < 0 ? -1 : 0;
}

int screen_is_possible(void)
{
	struct screen screen;

	if (screen_open(&screen) < 0)
		return 0;
	close(screen.slave);
	close(screen.master);
	return 1;
}

/* Reads until a byte of 0, which screen_end writes. Reading also ends once nobody has the terminal
 * open, but the kernel may then have lost what was written last (Linux 6.18: seen 33 times in
 * 400,000 on a busy machine). This thread allocates nothing: a process that is forked meanwhile
 * would find the allocator's locks taken, where a sanitizer's allocator is used. */
static void *screen_read(void *context)
{
	struct screen *screen = context;
	ssize_t got = 0;

	screen->is_reading = true;
	do {
		screen->bytes += (size_t)got;
		got =
		    read(screen->master, screen->text + screen->bytes, MOST_BYTES - screen->bytes);
	} while (got > 0 && screen->text[screen->bytes + (size_t)got - 1] != '\0');
	screen->has_ended = got > 0;
	return NULL;
}

static void screen_begin(struct screen *screen, size_t width)
{
	struct winsize size = {.ws_col = (unsigned short)width, .ws_row = 50};
	struct termios modes;

	ck_assert_ptr_nonnull(screen->text);
	ck_assert_int_eq(screen_open(screen), 0);
	ck_assert_int_eq(tcgetattr(screen->slave, &modes), 0);
	modes.c_oflag &= ~(tcflag_t)OPOST;
	ck_assert_int_eq(tcsetattr(screen->slave, TCSANOW, &modes), 0);
	ck_assert_int_eq(ioctl(screen->slave, TIOCSWINSZ, &size), 0);
	ck_assert_int_eq(pthread_create(&screen->reader, NULL, screen_read, screen), 0);
	/* Until then the sanitizer prepares the thread, and takes its locks. */
	while (!screen->is_reading)
		usleep(100);
	fflush(NULL);
	for (int index = 0; index < 2; index++) {
		screen->old[index] = dup(STDOUT_FILENO + index);
		ck_assert_int_ge(dup2(screen->slave, STDOUT_FILENO + index), 0);
	}
	close(screen->slave);
}

/* The terminal stays open until all is read. */
static void screen_end(struct screen *screen)
{
	fflush(NULL);
	ck_assert_int_eq(write(STDOUT_FILENO, "", 1), 1);
	pthread_join(screen->reader, NULL);
	for (int index = 0; index < 2; index++) {
		ck_assert_int_ge(dup2(screen->old[index], STDOUT_FILENO + index), 0);
		close(screen->old[index]);
	}
	close(screen->master);
	ck_assert_msg(screen->has_ended, "the terminal's reader stopped after %zu bytes",
	              screen->bytes);
}

char *screen_of(size_t width, int (*subcommand)(int argc, char **argv), const char *line,
                int status)
{
	char *words[MOST_WORDS + 1] = {NULL}, *copy = strdup(line), *rest = NULL;
	struct screen screen = {.text = calloc(1, MOST_BYTES + 1)};
	int count = 0;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		ck_assert_int_lt(count, MOST_WORDS);
		words[count++] = word;
	}
	unsetenv("COLUMNS");
	setenv("TERM", "dumb", 1);
	screen_begin(&screen, width);
	int ended = tool_status_number(subcommand(count, words));
	screen_end(&screen);
	free(copy);
	ck_assert_msg(ended == status, "%s ends with %d:\n%.1000s", line, ended, screen.text);
	return screen.text;
}

void screen_check(const char *text, size_t width, size_t most_lines)
{
	size_t lines = 0;

	for (size_t length; *text; text += length + 1, lines++) {
		length = strcspn(text, "\n");
		ck_assert_msg(length <= width, "wider than %zu: %.*s", width, (int)length, text);
		if (!text[length])
			break;
	}
	ck_assert_uint_le(lines, most_lines);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The perfsage command: finds the subcommand and runs it. */
#include "base/distance.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/terminal.h"
#include "tools/watcher.h"

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <perfsage.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELP_COLUMN 13

static int main_run_help(int argc, char **argv);

static const struct tool_command commands[] = {
    {"stat", tool_stat, "run a command, and show what was counted where"},
    {"list", tool_list, "the events of this machine, and which can be counted"},
    {"log", tool_log, "what a program wrote with ps_log(3): records, intervals, unit costs"},
    {"timeline", tool_timeline, "who ran on which hardware thread when, and who waited"},
    {"place", tool_place, "run a command; show where its tasks should run and where they did"},
    {"topo", tool_topo, "the tree of this machine, or of a file"},
    {"doctor", tool_doctor, "what can be counted here, and what stands in the way"},
    {"help", main_run_help, "this text, or the help of a subcommand"},
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static void main_print_usage(FILE *stream)
{
	fputs("usage: perfsage COMMAND [OPTIONS]\n"
	      "       perfsage --help | --version\n"
	      "\n",
	      stream);
	tool_print_text("", 0,
	                "Performance counters that know where: on which hardware thread, core, "
	                "cache, NUMA node and package.",
	                stream);
	fputs("\n", stream);
	for (size_t index = 0; index < COMMAND_COUNT; index++) {
		char name[HELP_COLUMN];
		snprintf(name, sizeof name, "  %s", commands[index].name);
		tool_print_text(name, HELP_COLUMN, commands[index].help, stream);
	}
	fputs("\n", stream);
	tool_print_text("", 0,
	                "\"perfsage COMMAND --help\" shows the options of a subcommand; "
	                "perfsage(1) and perfsage-COMMAND(1) are the manual.",
	                stream);
	tool_print_text("", 0, "Report bugs to " PS_BUG_ADDRESS ".", stream);
}

static int main_print_version(void)
{
	printf("perfsage %s\n"
	       "built with %s\n",
	       ps_version(), PS_BUILT_WITH);
	if (strcmp(ps_version(), PACKAGE_VERSION) != 0)
		printf("the library that it runs with is not the one it was built with, which was "
		       "%s\n",
		       PACKAGE_VERSION);
	return TOOL_OK;
}

static const struct tool_command *main_find_command(const char *name)
{
	for (size_t index = 0; index < COMMAND_COUNT; index++) {
		if (strcmp(commands[index].name, name) == 0)
			return &commands[index];
	}
	return NULL;
}

/* True if the word abbreviates the name: same first letter, and its letters occur in the name in
 * the same order, as "ls" in "list". */
static bool main_is_abbreviation(const char *word, const char *name)
{
	if (!*word || strncasecmp(word, name, 1) != 0)
		return false;
	while (*word && *name) {
		word += strncasecmp(word, name, 1) == 0;
		name++;
	}
	return !*word;
}

static const struct tool_command *main_find_meant(const char *word)
{
	const struct tool_command *nearest = &commands[0];

	for (size_t index = 1; index < COMMAND_COUNT; index++) {
		if (ps__distance(word, commands[index].name) < ps__distance(word, nearest->name))
			nearest = &commands[index];
	}
	if (tool_is_near(word, ps__distance(word, nearest->name)))
		return nearest;
	for (size_t index = 0; index < COMMAND_COUNT; index++) {
		if (main_is_abbreviation(word, commands[index].name))
			return &commands[index];
	}
	return NULL;
}

/* True if a program can be run by this name. */
static bool main_is_program(const char *word)
{
	char file[PATH_MAX];
	struct stat what;

	if (strchr(word, '/'))
		snprintf(file, sizeof file, "%s", word);
	else if (!tool_program_find(word, X_OK, file))
		return false;
	return access(file, X_OK) == 0 && stat(file, &what) == 0 && S_ISREG(what.st_mode);
}

static int main_complain_unknown(const char *word)
{
	const struct tool_command *meant = main_find_meant(word);

	if (meant)
		return tool_complain(
		    "there is no subcommand '%s': did you mean '%s'? See perfsage --help", word,
		    meant->name);
	if (main_is_program(word))
		return tool_complain("there is no subcommand '%s': perfsage stat %s counts this "
		                     "program. See perfsage --help",
		                     word, word);
	return tool_complain("there is no subcommand '%s': see perfsage --help", word);
}

/* Returns an option that the user may have meant, or NULL. For a one-letter option only upper and
 * lower case may differ. */
static const char *main_find_meant_option(const char *word)
{
	static const char *const options[] = {"--version", "--help", "-V", "-h"};
	bool is_letter = strlen(word) == 2;

	for (size_t index = 0; index < sizeof options / sizeof options[0]; index++) {
		size_t distance = ps__distance(word, options[index]);
		if (is_letter ? distance == 0 : tool_is_near(word, distance))
			return options[index];
	}
	return NULL;
}

/* Complains about an option before the subcommand; options of the subcommand are often typed there
 * by mistake. */
static int main_complain_unknown_option(int argc, char **argv)
{
	const char *meant = main_find_meant_option(argv[1]);

	for (int index = 2; index < argc; index++) {
		if (main_find_command(argv[index]))
			return tool_complain("there is no option %s before the subcommand: those "
			                     "of '%s' stand behind it",
			                     argv[1], argv[index]);
	}
	if (meant)
		return tool_complain("there is no option %s: did you mean %s? See perfsage --help",
		                     argv[1], meant);
	return tool_complain("there is no option %s before the subcommand: options stand behind "
	                     "it, as in perfsage stat OPTIONS COMMAND. See perfsage --help",
	                     argv[1]);
}

static int main_run_command(int argc, char **argv)
{
	const struct tool_command *command = main_find_command(argv[0]);

	if (!command)
		return main_complain_unknown(argv[0]);
	tool_complain_as(command->name);
	return command->run(argc, argv);
}

static int main_run_help(int argc, char **argv)
{
	static char option[] = "--help";
	char *asked[] = {argc > 1 ? argv[1] : NULL, option, NULL};

	if (argc < 2 || strcmp(argv[1], "help") == 0 || argv[1][0] == '-') {
		main_print_usage(stdout);
		return TOOL_OK;
	}
	tool_complain_as("");
	return main_run_command(2, asked);
}

/* Flushes stdout and complains if output is lost, for instance on a full disk. A subcommand that
 * failed has complained itself. errno is set only if the last write failed. */
static int main_finish(int status)
{
	errno = 0;
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status == TOOL_FAILED)
		return status;
	tool_complain_as("");
	int failed = tool_complain("standard output can't be written%s%s", errno ? ": " : "",
	                           errno ? strerror(errno) : "");
	return status == TOOL_OK ? failed : status;
}

/* Ends perfsage by the signal that ended the command, because a shell ends a loop after Ctrl-C only
 * then. Writes no core file, because the command has written its own. */
static int main_end_by(int signal)
{
	sigset_t one;

	prctl(PR_SET_DUMPABLE, 0);
	sigemptyset(&one);
	sigaddset(&one, signal);
	/* This fails for SIGKILL, which needs no action. */
	sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(signal);
	/* Reached if perfsage is the first process of a container: the signal doesn't end it. */
	return tool_status_number(TOOL_BY_SIGNAL + signal);
}

/*
 * Opens the root folder in place of each closed standard descriptor. Otherwise the next file would
 * get this descriptor, and output for stderr would go into the file. Writing to a folder fails as
 * writing to a closed descriptor does. Programs that perfsage runs don't inherit it.
 */
static void main_fill_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
			abort();
	}
}

static void main_let_pass(int number)
{
	(void)number;
}

/* Lets a write beyond the file size limit fail with an error instead of ending perfsage by a
 * signal. Uses a handler, because programs that perfsage runs inherit an ignored signal, but no
 * handler. */
static void main_outlive_limit(void)
{
	struct sigaction present;

	if (sigaction(SIGXFSZ, NULL, &present) == 0 && present.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ,
		          &(struct sigaction){.sa_handler = main_let_pass, .sa_flags = SA_RESTART},
		          NULL);
}

static int main_run(int argc, char **argv)
{
	if (argc < 2) {
		main_print_usage(stderr);
		return TOOL_FAILED;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return main_print_version();
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return main_run_help(argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return main_complain_unknown_option(argc, argv);
	return main_run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	main_fill_descriptors();
	main_outlive_limit();
	setlocale(LC_CTYPE, "");
	int status = main_finish(main_run(argc, argv));
	return status > TOOL_BY_SIGNAL ? main_end_by(status - TOOL_BY_SIGNAL)
	                               : tool_status_number(status);
}

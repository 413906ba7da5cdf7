/* SPDX-License-Identifier: BSD-3-Clause */
/* Elapsed time, and how far the counts can be trusted: attribution, coverage, residual, what measuring itself took. */
#include "stat_footer.h"

#include "command.h"
#include "number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* Would a shell read it as it is? */
static bool is_plain(const char *word)
{
	for (const char *letter = word; *letter; letter++) {
		if (!isalnum((unsigned char)*letter) && !strchr("%+,-./:=@_", *letter))
			return false;
	}
	return *word;
}

static void describe_command(char *const *command, FILE *stream)
{
	for (size_t index = 0; command[index]; index++) {
		fputs(index ? " " : "", stream);
		if (is_plain(command[index])) {
			fputs(command[index], stream);
			continue;
		}
		fputc('\'', stream);
		for (const char *letter = command[index]; *letter; letter++) {
			if (*letter == '\'')
				fputs("'\\''", stream);
			else
				fputc(*letter, stream);
		}
		fputc('\'', stream);
	}
}

char *stat_describe_target(const struct stat_options *options)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		return NULL;
	if (options->is_whole_machine) {
		fputs("all CPUs", stream);
	} else if (options->pid_count) {
		fputs(options->pid_count == 1 ? "process" : "processes", stream);
		for (size_t index = 0; index < options->pid_count; index++)
			fprintf(stream, "%s %d", index ? "," : "", (int)options->pids[index]);
	} else {
		describe_command(options->command, stream);
	}
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

void stat_footer_head(const struct stat_output *output, const struct stat_facts *facts, FILE *stream)
{
	char *target = stat_describe_target(output->options);
	bool is_command = !output->options->is_whole_machine && !output->options->pid_count;

	/* What the command wrote last may be no whole line, and ours begins with a blank one. */
	fprintf(stream, "\n%s%s", is_command ? "Counts of " : "", target ? target : "");
	if (facts->repetition)
		fprintf(stream, ", run %lld", facts->repetition);
	fputs("\n\n", stream);
	free(target);
}

static void line(FILE *stream, const char *name)
{
	fprintf(stream, "%-12s", name);
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void show_elapsed(const struct stat_facts *facts, FILE *stream)
{
	char text[TOOL_NUMBER_BYTES];

	line(stream, "elapsed");
	tool_number_duration(text, facts->elapsed_s);
	fputs(text, stream);
	if (facts->has_command) {
		tool_number_duration(text, seconds_of(facts->usage.ru_utime));
		fprintf(stream, "; %s user", text);
		tool_number_duration(text, seconds_of(facts->usage.ru_stime));
		fprintf(stream, " and %s system time", text);
	}
	fputc('\n', stream);
}

static void show_status(const struct stat_facts *facts, FILE *stream)
{
	if (!facts->has_command || facts->exit_status == 0)
		return;
	line(stream, "ended");
	if (facts->exit_status > TOOL_BY_SIGNAL && facts->exit_status < TOOL_BY_SIGNAL + 65)
		fprintf(stream, "with status %d (signal %d: %s)\n", facts->exit_status,
		        facts->exit_status - TOOL_BY_SIGNAL, strsignal(facts->exit_status - TOOL_BY_SIGNAL));
	else
		fprintf(stream, "with status %d\n", facts->exit_status);
}

static void show_attribution(const struct stat_count *count, FILE *stream)
{
	const char *why;
	enum ps_attribution attribution = stat_count_attribution(count, &why);

	line(stream, "attribution");
	fputs(ps_attribution_name(attribution), stream);
	if (*why)
		fprintf(stream, ": %s", why);
	fputc('\n', stream);
}

static void show_coverage(const struct stat_count *count, FILE *stream)
{
	double coverage = stat_count_coverage(count);

	line(stream, "coverage");
	if (coverage >= 1.0)
		fputs("100 %: no event had to share a counter\n", stream);
	else
		fprintf(stream, "%.1f %% at least: there were more events than counters, ~ marks estimates\n",
		        100 * coverage);
}

static void show_residual(struct stat_count *count, FILE *stream)
{
	size_t events = ps_eventset_event_count(count->model);
	long long *residual = calloc(events + 1, sizeof *residual);
	bool is_known = residual && stat_count_check(count, residual) == 0;
	bool is_any = false;

	line(stream, "residual");
	for (size_t event = 0; is_known && event < events; event++) {
		if (residual[event] == 0)
			continue;
		fprintf(stream, "%s%s %lld", is_any ? ", " : "", ps_eventset_event_name(count->model, event),
		        residual[event]);
		is_any = true;
	}
	if (!is_known)
		fprintf(stream, "not known: %s", ps_error_detail());
	else if (!is_any)
		fputs("0: all that the kernel counted is shown", stream);
	fputc('\n', stream);
	free(residual);
}

static void show_cost(FILE *stream)
{
	struct rusage own;
	char text[TOOL_NUMBER_BYTES];

	getrusage(RUSAGE_SELF, &own);
	tool_number_duration(text, seconds_of(own.ru_utime) + seconds_of(own.ru_stime));
	line(stream, "cost");
	fprintf(stream, "%s CPU time of perfsage itself, not in the counts\n", text);
}

void stat_footer(const struct stat_output *output, struct stat_count *count, const struct stat_facts *facts,
                 FILE *stream)
{
	(void)output;
	show_elapsed(facts, stream);
	show_status(facts, stream);
	show_attribution(count, stream);
	show_coverage(count, stream);
	show_residual(count, stream);
	show_cost(stream);
}

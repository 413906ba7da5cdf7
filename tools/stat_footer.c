/* SPDX-License-Identifier: BSD-3-Clause */
/* Elapsed time, and how far the counts can be trusted: attribution, coverage, residual, what measuring itself took. */
#include "tools/stat_footer.h"

#include "tools/command.h"
#include "tools/number.h"
#include "tools/paragraph.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
	fputs(is_command ? "\nCounts of " : "\n", stream);
	tool_put(stream, target ? target : "");
	if (facts->repetition)
		fprintf(stream, ", run %lld", facts->repetition);
	fputs("\n\n", stream);
	free(target);
}

void stat_footer_line(const char *name, FILE *stream)
{
	fprintf(stream, "%-12s", name);
}

static void show_elapsed(const struct stat_facts *facts, FILE *stream)
{
	char text[TOOL_NUMBER_BYTES];

	stat_footer_line("elapsed", stream);
	tool_number_duration(text, facts->elapsed_s);
	fputs(text, stream);
	if (facts->has_command) {
		tool_number_duration(text, tool_number_seconds(facts->usage.ru_utime));
		fprintf(stream, "; %s user", text);
		tool_number_duration(text, tool_number_seconds(facts->usage.ru_stime));
		fprintf(stream, " and %s system time", text);
	}
	fputc('\n', stream);
}

void stat_footer_status(int status, FILE *stream)
{
	fprintf(stream, "with status %d", status);
	if (status > TOOL_BY_SIGNAL && status < TOOL_BY_SIGNAL + 65)
		fprintf(stream, " (signal %d: %s)", status - TOOL_BY_SIGNAL, strsignal(status - TOOL_BY_SIGNAL));
}

static void show_status(const struct stat_facts *facts, FILE *stream)
{
	if (!facts->has_command || facts->exit_status == 0)
		return;
	stat_footer_line("ended", stream);
	stat_footer_status(facts->exit_status, stream);
	fputc('\n', stream);
}

static void show_attribution(const struct stat_quality *quality, FILE *stream)
{
	stat_footer_line("attribution", stream);
	fputs(ps_attribution_name(quality->attribution), stream);
	fputs(*quality->why ? ": " : "", stream);
	tool_put(stream, quality->why);
	fputc('\n', stream);
}

static void show_coverage(const struct stat_quality *quality, FILE *stream)
{
	stat_footer_line("coverage", stream);
	if (quality->coverage >= 1.0)
		fputs("100 %: no event had to share a counter\n", stream);
	else
		fprintf(stream, "%.1f %% at least: there were more events than counters, ~ marks estimates\n",
		        100 * quality->coverage);
}

static void show_residual(const struct stat_quality *quality, FILE *stream)
{
	bool is_any = false;

	stat_footer_line("residual", stream);
	for (size_t event = 0; !quality->unknown && event < quality->event_count; event++) {
		if (quality->residual[event] == 0)
			continue;
		fputs(is_any ? ", " : "", stream);
		tool_put(stream, ps_eventset_event_name(quality->model, event));
		fprintf(stream, " %lld", quality->residual[event]);
		is_any = true;
	}
	if (quality->unknown)
		fprintf(stream, "not known: %s", quality->unknown);
	else if (!is_any)
		fputs(stat_uncounted_is_any(&quality->uncounted) ? "0" : "0: all that the kernel counted is shown",
		      stream);
	fputc('\n', stream);
}

static void show_uncounted(const struct stat_quality *quality, FILE *stream)
{
	const struct stat_uncounted *uncounted = &quality->uncounted;

	if (stat_uncounted_is_any(uncounted)) {
		stat_footer_line("uncounted", stream);
		stat_uncounted_describe(uncounted, stream);
		fputc('\n', stream);
	}
	if (uncounted->children) {
		stat_footer_line("uncounted", stream);
		fprintf(stream, "%zu child process%s that ran already when counting began\n", uncounted->children,
		        uncounted->children > 1 ? "es" : "");
	}
}

double stat_footer_cost_s(void)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	return tool_number_seconds(own.ru_utime) + tool_number_seconds(own.ru_stime);
}

static void show_origin(const struct stat_quality *quality, FILE *stream)
{
	if (!quality->origin)
		return;
	stat_footer_line("tree", stream);
	fprintf(stream, "not this machine's: %s\n", quality->origin);
}

static void show_cost(FILE *stream)
{
	char text[TOOL_NUMBER_BYTES];

	tool_number_duration(text, stat_footer_cost_s());
	stat_footer_line("cost", stream);
	fprintf(stream, "%s CPU time of perfsage itself, not in the counts\n", text);
}

void stat_footer_quality(const struct stat_quality *quality, FILE *stream)
{
	show_attribution(quality, stream);
	show_coverage(quality, stream);
	show_residual(quality, stream);
	show_uncounted(quality, stream);
	show_origin(quality, stream);
	show_cost(stream);
}

void stat_footer(const struct stat_quality *quality, const struct stat_facts *facts, FILE *stream)
{
	show_elapsed(facts, stream);
	show_status(facts, stream);
	stat_footer_quality(quality, stream);
}

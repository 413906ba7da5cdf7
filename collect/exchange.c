/* SPDX-License-Identifier: BSD-3-Clause */
/* See exchange.h. The first line of a report has the report's length, because several processes
 * append to the same file. */
#include "collect/exchange.h"

#include "base/error.h"
#include "base/os.h"
#include "region/profile.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN "perfsage-report-2 "

static void exchange_write_body(const struct collect_report *report, FILE *stream)
{
	const struct collect_source *source = report->source;

	fprintf(stream, "process %d %" PRIu64 " %" PRIu64, (int)source->process, report->began_ns,
	        report->reported.reports);
	ps__words_write_string(stream, source->command);
	ps__words_write_string(stream, source->host);
	ps__words_write_string(stream, source->rank ? source->rank : "");
	fprintf(stream, "\ntimes %d %a %a %a %a %" PRIu64 "\nthreads %a %a %a %a\nmetrics %zu",
	        report->is_flushed, report->elapsed_s, report->cpu_s, report->unmarked_s,
	        report->cost_ns, report->cost_visits, report->threads, report->unmarked_threads,
	        report->reported.threads, report->reported.unmarked_threads,
	        report->metrics->count);
	for (size_t index = 0; index < report->metrics->count; index++)
		ps__words_write_string(stream, report->metrics->names[index]);
	fprintf(stream, "\n");
}

int collect_exchange_write(const struct collect_report *report, FILE *stream)
{
	char *text = NULL;
	size_t length = 0;
	FILE *body = open_memstream(&text, &length);

	if (!body)
		return ps__fail_memory("a report");
	/* The program's locale may have a comma in numbers. */
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale) {
		fclose(body);
		free(text);
		return ps__fail_memory("a report");
	}
	locale_t before = uselocale(c_locale);
	exchange_write_body(report, body);
	int result = ps__paths_save(report->paths, body);
	uselocale(before);
	freelocale(c_locale);
	bool is_short = ferror(body);
	if ((fclose(body) != 0 || is_short) && result == PS_OK)
		result = ps__fail_memory("a report");
	if (result == PS_OK) {
		fprintf(stream, BEGIN "%zu\n", length);
		fwrite(text, 1, length, stream);
	}
	free(text);
	return result;
}

/* Returns the end of the report whose first line begins at `line`; NULL if no report begins there,
 * or if the report is incomplete. */
static const char *exchange_find_end(const char *line, const char *end, const char **body)
{
	struct ps__words words = {.at = line + strlen(BEGIN), .end = end};
	uint64_t length = ps__words_read_unsigned(&words);
	static const char last[] = "\nend\n";

	if (words.has_failed || words.at == end || *words.at != '\n' ||
	    length > (uint64_t)(end - words.at - 1) || length < strlen(last))
		return NULL;
	*body = words.at + 1;
	const char *behind = *body + length;
	return memcmp(behind - strlen(last), last, strlen(last)) == 0 ? behind : NULL;
}

bool collect_exchange_next(struct ps__words *text, struct ps__words *report)
{
	const char *body;

	while (text->at < text->end) {
		size_t left = (size_t)(text->end - text->at);
		const char *line = memmem(text->at, left, BEGIN, strlen(BEGIN));
		const char *behind = line ? exchange_find_end(line, text->end, &body) : NULL;
		text->at = behind ? behind : line ? line + 1 : text->end;
		if (!behind)
			continue;
		*report = (struct ps__words){.at = body, .end = behind};
		return true;
	}
	return false;
}

void collect_sum_create(struct collect_sum *sum, struct ps_paths *paths,
                        const struct collect_settings *settings)
{
	*sum = (struct collect_sum){.paths = paths};
	sum->report = (struct collect_report){.settings = settings,
	                                      .source = &sum->source,
	                                      .metrics = &sum->metrics,
	                                      .paths = paths,
	                                      .root = paths->profile->root,
	                                      .unmarked_s = (double)NAN,
	                                      .threads = (double)NAN,
	                                      .unmarked_threads = (double)NAN,
	                                      .cost_ns = (double)NAN};
}

void collect_sum_destroy(struct collect_sum *sum)
{
	collect_source_clear(&sum->source);
	collect_metrics_clear(&sum->metrics);
}

static void sum_read_source(struct collect_sum *sum, struct ps__words *words)
{
	size_t processes = sum->source.processes;

	collect_source_clear(&sum->source);
	ps__words_expect(words, "process");
	sum->source.process = (pid_t)ps__words_read_signed(words);
	sum->report.began_ns = ps__words_read_unsigned(words);
	/* A process's later reports follow its first one, and don't count as another process. */
	bool is_later = ps__words_read_unsigned(words) > 0;
	sum->source.processes = processes && is_later ? processes : processes + 1;
	sum->source.command = ps__words_read_string(words);
	sum->source.host = ps__words_read_string(words);
	sum->source.rank = ps__words_read_string(words);
	if (sum->source.rank && !*sum->source.rank) {
		ps__os_free(sum->source.rank);
		sum->source.rank = NULL;
	}
}

/* Adds a process's number, minus what the process's earlier report has added. An unknown number
 * (NaN) adds nothing. */
static void sum_add_new(double *sum, double number, double before)
{
	if (!isnan(number))
		*sum = isnan(*sum) ? number : *sum + number - (isnan(before) ? 0 : before);
}

static void sum_add_known(double *sum, double number)
{
	sum_add_new(sum, number, 0);
}

static void sum_read_times(struct collect_report *report, struct ps__words *words)
{
	ps__words_expect(words, "times");
	report->is_flushed |= ps__words_read_unsigned(words) > 0;
	report->elapsed_s = fmax(report->elapsed_s, ps__words_read_double(words));
	report->cpu_s += ps__words_read_double(words);
	sum_add_known(&report->unmarked_s, ps__words_read_double(words));
	double cost_ns = ps__words_read_double(words);
	uint64_t visits = ps__words_read_unsigned(words);
	sum_add_known(&report->cost_ns, cost_ns);
	report->cost_visits += isnan(cost_ns) ? 0 : visits;
}

static void sum_read_threads(struct collect_report *report, struct ps__words *words)
{
	ps__words_expect(words, "threads");
	double threads = ps__words_read_double(words), unmarked = ps__words_read_double(words);
	sum_add_new(&report->threads, threads, ps__words_read_double(words));
	sum_add_new(&report->unmarked_threads, unmarked, ps__words_read_double(words));
}

static int sum_read_metrics(struct collect_metrics *metrics, struct ps__words *words)
{
	int result = 0;

	ps__words_expect(words, "metrics");
	for (uint64_t left = ps__words_read_unsigned(words); left > 0 && result == 0; left--) {
		char *name = ps__words_read_string(words);
		result = name ? collect_metrics_add(metrics, name) : -1;
		ps__os_free(name);
	}
	return result;
}

int collect_sum_add(struct collect_sum *sum, struct ps__words report)
{
	sum_read_source(sum, &report);
	sum_read_times(&sum->report, &report);
	sum_read_threads(&sum->report, &report);
	if (sum_read_metrics(&sum->metrics, &report) < 0 && !report.has_failed)
		return ps__fail_memory("the report of a process");
	if (report.has_failed)
		return ps__fail(PS_EINVAL, "its report is damaged");
	if (!sum->source.command || !sum->source.host)
		return ps__fail_memory("the report of a process");
	return ps__paths_load(sum->paths, &report);
}

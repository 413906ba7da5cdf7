/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage list --metrics: the metrics, and which of them can be counted here. */
#include "analysis/metric_file.h"
#include "base/os.h"
#include "base/vector.h"
#include "output/json_writer.h"
#include "tools/command.h"
#include "tools/metrics.h"
#include "tools/options.h"
#include "tools/terminal.h"

#include <perfsage.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK_COLUMNS 5 /* "(12) " */

struct line {
	const struct ps__metric *metric;
	const struct ps__metric *formula; /* a formula of the metric that can be counted; NULL:
	                                   * none */
	int code;
	char *reason; /* why no formula can be counted; NULL: one can */
	size_t note;  /* number of the note with this reason; from 1 */
};

struct lines {
	struct line *list;
	size_t count, room;
	size_t notes;
};

static bool metrics_has_word(const struct ps__metric *metric, const char *word)
{
	const char *group = metric->group ? metric->group->name : "";

	return !word || strcasestr(metric->name, word) || strcasestr(group, word) ||
	       strcasestr(metric->description, word);
}

/* Returns the sentence without the metric's name, so that metrics that lack the same events share a
 * reason. */
static const char *metrics_reason(const char *detail)
{
	static const char before[] = " can't be counted here";
	const char *reason = strstr(detail, before);

	if (!reason)
		return detail;
	reason += strlen(before);
	return reason + strspn(reason, ": ");
}

static int metrics_probe(struct line *line)
{
	struct ps__metric_ask ask = {.metric = line->metric, .modifier = "", .has_run_times = true};
	struct ps_eventset *set;
	size_t operands[PS__METRIC_MOST_OPERANDS];

	if (ps_eventset_create(&set) != PS_OK)
		return tool_complain_detail();
	line->code = ps__metric_add_events(set, &ask);
	if (line->code == PS_OK && ps__metric_choose_events(&ask, set, operands))
		line->formula = ask.metric;
	else
		line->reason = ps__os_strdup(metrics_reason(ps_error_detail()));
	ps_eventset_destroy(set);
	return line->formula || line->reason ? 0 : tool_complain("out of memory");
}

static void metrics_number(struct lines *lines, struct line *line)
{
	for (size_t index = 0; index + 1 < lines->count; index++) {
		const struct line *other = &lines->list[index];
		if (other->reason && strcmp(other->reason, line->reason) == 0) {
			line->note = other->note;
			return;
		}
	}
	line->note = ++lines->notes;
}

static int metrics_gather(struct lines *lines, const char *word)
{
	for (const struct ps__metric *metric = ps__metric_next(NULL); metric;
	     metric = ps__metric_next(metric)) {
		if (!metrics_has_word(metric, word))
			continue;
		if (!PS__VECTOR_GROW(&lines->list, lines->count, &lines->room))
			return tool_complain("out of memory");
		struct line *line = &lines->list[lines->count++];
		*line = (struct line){.metric = metric};
		if (metrics_probe(line) < 0)
			return -1;
		if (line->reason)
			metrics_number(lines, line);
	}
	return 0;
}

static void metrics_clear(struct lines *lines)
{
	for (size_t index = 0; index < lines->count; index++)
		ps__os_free(lines->list[index].reason);
	ps__os_free(lines->list);
}

/* Returns the width of a column: of its widest text (`of` gives the text of a line) or its heading,
 * plus a gap. Texts of 24 columns or more are ignored. heading: "" for none. */
static int metrics_columns(const struct lines *lines, const char *(*of)(const struct line *line),
                           const char *heading)
{
	size_t most = strlen(heading);

	for (size_t index = 0; index < lines->count; index++) {
		const char *text = of(&lines->list[index]);
		size_t columns = tool_columns(text, strlen(text));
		if (columns > most && columns < 24)
			most = columns;
	}
	return (int)most + 2;
}

static const char *metrics_name_of(const struct line *line)
{
	return line->metric->name;
}

static const char *metrics_unit_of(const struct line *line)
{
	return line->metric->unit;
}

static void metrics_show_group(const struct ps__metric_group *group, bool is_first,
                               const struct tool_screen *screen, struct ps__buffer *out)
{
	const char *name = group ? group->name : "", *path = group ? group->path : NULL;
	struct ps__buffer line = {0};

	ps__buffer_add(out, "%s%s", is_first ? "" : "\n", screen->has_colour ? "\033[1m" : "");
	tool_put(out, name);
	ps__buffer_add(out, "%s: ", screen->has_colour ? "\033[0m" : "");
	ps__buffer_add(&line, "%s%s%s%s", group ? group->description : "", path ? " (" : "",
	               path ? path : "", path ? ")" : "");
	tool_paragraph_of(out, &line, tool_columns(name, strlen(name)) + 2, screen->width);
}

/* Adds a unit and fills its column. Units come from files that anybody may have written, so they
 * are printed safely. */
static void metrics_put_unit(struct ps__buffer *out, const char *unit, int columns)
{
	int taken = (int)tool_columns(unit, strlen(unit));

	tool_put(out, unit);
	ps__buffer_add(out, "%*s", taken < columns ? columns - taken : 0, "");
}

static void metrics_show_line(const struct line *line, int names, int units,
                              const struct tool_screen *screen, struct ps__buffer *out)
{
	size_t indent = (size_t)(MARK_COLUMNS + names + units);
	char mark[32] = "";

	if (line->reason)
		snprintf(mark, sizeof mark, "(%zu)", line->note);
	ps__buffer_add(out, "%s%-*s", line->reason && screen->has_colour ? "\033[2m" : "",
	               MARK_COLUMNS, mark);
	ps__buffer_add(out, "%-*s", names, line->metric->name);
	metrics_put_unit(out, line->metric->unit, units);
	tool_paragraph(out, line->metric->description, indent, screen->width);
	ps__buffer_add(out, "%s", line->reason && screen->has_colour ? "\033[0m" : "");
}

static void metrics_show_notes(const struct lines *lines, const struct tool_screen *screen,
                               struct ps__buffer *out)
{
	size_t shown = 0;

	if (lines->notes)
		ps__buffer_add(out, "\nCan't be counted here:\n");
	for (size_t index = 0; index < lines->count; index++) {
		const struct line *line = &lines->list[index];
		if (!line->reason || line->note <= shown)
			continue;
		shown = line->note;
		ps__buffer_add(out, "(%zu)%*s", shown, shown < 10 ? 2 : 1, "");
		tool_paragraph(out, line->reason, MARK_COLUMNS, screen->width);
	}
}

static int metrics_show_text(const struct lines *lines)
{
	struct tool_screen screen = tool_screen_of(STDOUT_FILENO);
	const struct ps__metric_group *group = NULL;
	int names = metrics_columns(lines, metrics_name_of, screen.is_terminal ? "Metric" : "");
	int units = metrics_columns(lines, metrics_unit_of, screen.is_terminal ? "Unit" : "");
	struct ps__buffer out = {0};

	if (screen.is_terminal)
		ps__buffer_add(&out, "%*s%-*s%-*sDescription\n", MARK_COLUMNS, "", names, "Metric",
		               units, "Unit");
	for (size_t index = 0; index < lines->count; index++) {
		const struct line *line = &lines->list[index];
		if (line->metric->group != group || index == 0)
			metrics_show_group(line->metric->group, index == 0, &screen, &out);
		group = line->metric->group;
		metrics_show_line(line, names, units, &screen, &out);
	}
	metrics_show_notes(lines, &screen, &out);
	return tool_write(&out, stdout);
}

static void metrics_add_events(struct ps__json *json, const struct line *line)
{
	const struct ps__metric *metric = line->formula ? line->formula : line->metric;

	ps__json_open(json, "events", '[');
	for (size_t operand = 0; operand < metric->count; operand++)
		ps__json_add_string(json, NULL, metric->operands[operand].names[0]);
	ps__json_close(json, ']');
}

static int metrics_show_json(const struct lines *lines)
{
	struct ps__buffer text = {0};
	struct ps__json json = ps__json_create(&text, false);

	ps__json_open(&json, NULL, '{');
	ps__json_add_string(&json, "perfsage", ps_version());
	ps__json_open(&json, "metrics", '[');
	for (size_t index = 0; index < lines->count; index++) {
		const struct line *line = &lines->list[index];
		const struct ps__metric *metric = line->formula ? line->formula : line->metric;
		ps__json_open(&json, NULL, '{');
		ps__json_add_string(&json, "name", metric->name);
		ps__json_add_string(&json, "group", metric->group ? metric->group->name : "");
		ps__json_add_string(&json, "file", metric->group ? metric->group->path : NULL);
		ps__json_add_string(&json, "unit", metric->unit);
		ps__json_add_string(&json, "description", metric->description);
		ps__json_add_string(&json, "formula", metric->text);
		metrics_add_events(&json, line);
		ps__json_add_bool(&json, "available", line->formula != NULL);
		ps__json_add_string(&json, "error", line->reason ? ps_strerror(line->code) : NULL);
		ps__json_add_string(&json, "reason", line->reason);
		ps__json_close(&json, '}');
	}
	ps__json_close(&json, ']');
	ps__json_close(&json, '}');
	return tool_write(&text, stdout);
}

int tool_list_metrics(const char *word, bool is_json)
{
	struct lines lines = {.list = NULL};
	int status = TOOL_FAILED;

	tool_metrics_load();
	if (metrics_gather(&lines, word) < 0)
		goto clear_lines;
	if (is_json)
		status = metrics_show_json(&lines);
	else if (lines.count)
		status = metrics_show_text(&lines);
	if (!lines.count)
		status =
		    tool_complain("no metric has '%s' in its name, group or description", word);
clear_lines:
	metrics_clear(&lines);
	return status;
}

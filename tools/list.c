/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage list: the events of this machine, and which of them can be counted. */
#include "output/json_writer.h"
#include "tools/command.h"
#include "tools/list_events.h"
#include "tools/metrics.h"
#include "tools/options.h"
#include "tools/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MARK_COLUMNS  6 /* "(12)  " */
#define NAME_LEAST    12
#define NAME_MOST     44 /* a longer name gets a line of its own */
#define TEXT_COLUMNS  31 /* for a description if the terminal is too narrow for NAME_MOST */
#define SCOPE_COLUMNS 9
#define HEADING       "Event"

enum {
	OPTION_JSON = 256,
	OPTION_METRICS,
	OPTION_TRACEPOINTS
};

static const struct tool_option options_of_list[] = {
    {'a', "all", NULL,
     "also what can't be counted here, with the reasons, and\nthe tracepoints that were not "
     "opened"},
    {OPTION_TRACEPOINTS, "tracepoints", NULL,
     "open all tracepoints: takes the kernel some 60 ms each,\nso without it only a few are "
     "opened"},
    {OPTION_METRICS, "metrics", NULL,
     "the derived metrics in their groups, which of them can\nbe counted here, and why others "
     "can't"},
    {OPTION_JSON, "json", NULL, "as one JSON object; perfsage-list(1) has its fields"},
};

static const struct tool_usage usage = {
    .manual = "perfsage-list(1)",
    .synopsis = "perfsage list [--all] [--tracepoints] [--json] [WORD]\n"
		"perfsage list --metrics [--json] [WORD]",
    .summary = "Lists the events of this machine that can be counted here: each was opened. Names "
	       "of one event stand on\n"
	       "one line. With WORD only those that have it in their name or description, in small "
	       "or capital letters.\n"
	       "A number in front refers to the reason at the end why the event can't be counted "
	       "here.",
    .options = options_of_list,
    .option_count = sizeof options_of_list / sizeof options_of_list[0],
    .examples = "perfsage list\n"
		"perfsage list cache\n"
		"perfsage list --all\n"
		"perfsage list --metrics\n"
		"perfsage list --json | jq -r '.events[] | select(.available) | .name'\n",
};

struct view {
	struct tool_screen screen;
	size_t name_columns;
	struct ps__buffer out;
};

/* True if text shows the event. Unopened tracepoints, of which there are thousands, are shown only
 * if the user searches for a word. */
static bool list_is_shown(const struct list *list, const struct list_event *event)
{
	if (event->is_alias)
		return false;
	return list->shows_all || (event->code == PS_OK && (event->is_probed || list->word));
}

/* Returns all names of an event, separated by commas, in a buffer that the caller clears. */
static struct ps__buffer list_names_of(const struct list *list, const struct list_event *event)
{
	struct ps__buffer names = {0};

	ps__buffer_add(&names, "%s", event->name);
	while (event->next_alias) {
		event = &list->events[event->next_alias];
		ps__buffer_add(&names, ", %s", event->name);
	}
	return names;
}

/* Returns the most columns for a name that leave enough room for the description. */
static size_t list_most_columns(size_t width)
{
	size_t others = MARK_COLUMNS + 2 + SCOPE_COLUMNS + TEXT_COLUMNS;

	if (!width || width >= NAME_MOST + others)
		return NAME_MOST;
	return width < NAME_LEAST + others ? NAME_LEAST : width - others;
}

static size_t list_name_columns(const struct list *list, size_t width)
{
	size_t most = width ? strlen(HEADING) : 0, limit = list_most_columns(width);

	for (size_t index = 0; index < list->count; index++) {
		if (!list_is_shown(list, &list->events[index]))
			continue;
		struct ps__buffer names = list_names_of(list, &list->events[index]);
		size_t columns = tool_columns(ps__buffer_text(&names), names.length);
		if (columns > most && columns <= limit)
			most = columns;
		ps__buffer_clear(&names);
	}
	return most + 2;
}

static void list_show_mark(const struct list_event *event, struct view *view)
{
	char mark[32] = "";

	if (!event->is_probed)
		snprintf(mark, sizeof mark, "(t)");
	else if (event->code != PS_OK)
		snprintf(mark, sizeof mark, "(%zu)", event->reason + 1);
	else if (event->is_user_only)
		snprintf(mark, sizeof mark, "(u)");
	ps__buffer_add(&view->out, "%-*s", MARK_COLUMNS, mark);
}

/* On a terminal, names that are too long for their column get a line of their own if the
 * description wouldn't fit after them. */
static void list_show_names(const char *names, size_t columns, bool is_described, struct view *view)
{
	bool is_long = columns + 2 > view->name_columns, has_width = view->screen.width > 0;
	size_t all = MARK_COLUMNS + columns + SCOPE_COLUMNS;

	if (is_long && has_width && (is_described || all > view->screen.width)) {
		tool_paragraph(&view->out, names, MARK_COLUMNS, view->screen.width);
		ps__buffer_add(&view->out, "%*s", (int)(MARK_COLUMNS + view->name_columns), "");
		return;
	}
	tool_put(&view->out, names);
	/* When other programs read the output, each event is one line. */
	ps__buffer_add(&view->out, "%*s", is_long ? 2 : (int)(view->name_columns - columns), "");
}

static void list_show_event(const struct list *list, const struct list_event *event,
                            struct view *view)
{
	size_t indent = MARK_COLUMNS + view->name_columns + SCOPE_COLUMNS;
	struct ps__buffer names = list_names_of(list, event);
	size_t columns = tool_columns(ps__buffer_text(&names), names.length);
	bool is_grey = event->code != PS_OK && view->screen.has_colour;
	char text[4096];

	ps__buffer_add(&view->out, "%s", is_grey ? "\033[2m" : "");
	list_show_mark(event, view);
	snprintf(text, sizeof text, "%s%s%s%s%s", event->description,
	         *event->description && *event->unit ? " " : "", *event->unit ? "(" : "",
	         event->unit, *event->unit ? ")" : "");
	list_show_names(ps__buffer_text(&names), columns, *text, view);
	ps__buffer_clear(&names);
	ps__buffer_add(&view->out, "%-*s", *text ? SCOPE_COLUMNS : 0, ps_scope_name(event->scope));
	tool_paragraph(&view->out, text, indent, view->screen.width);
	ps__buffer_add(&view->out, "%s", is_grey ? "\033[0m" : "");
}

static void list_show_note(const char *mark, const char *text, struct view *view)
{
	ps__buffer_add(&view->out, "%-*s", MARK_COLUMNS, mark);
	tool_paragraph(&view->out, text, MARK_COLUMNS, view->screen.width);
}

/* Shows the numbered reasons why events can't be counted. */
static void list_show_reasons(const struct list *list, struct view *view)
{
	char text[1400], mark[32];

	for (size_t index = 0; index < list->reason_count; index++) {
		const struct list_reason *reason = &list->reasons[index];
		snprintf(mark, sizeof mark, "(%zu)", index + 1);
		snprintf(text, sizeof text, "%zu event%s: %s", reason->count,
		         reason->count == 1 ? "" : "s", reason->text);
		list_show_note(mark, text, view);
	}
}

static void list_show_hidden(const struct list *list, struct view *view)
{
	size_t refused = list->probed - list->available, unopened = list->count - list->probed;
	size_t unnamed = 0; /* events whose name needs a unit mask or another term */
	char text[256], more[64] = "";

	for (size_t index = 0; index < list->count; index++)
		unnamed += list->events[index].code == PS_EATTR;
	if (unnamed)
		snprintf(more, sizeof more, " (%zu need%s more than the name)", unnamed,
		         unnamed == 1 ? "s" : "");
	if (unopened && !list->word) {
		snprintf(text, sizeof text,
		         "%zu tracepoint%s not opened and not shown: perfsage list --all shows "
		         "them, perfsage list WORD those that have the word",
		         unopened, unopened == 1 ? " was" : "s were");
		tool_paragraph(&view->out, text, 0, view->screen.width);
	}
	if (refused) {
		snprintf(text, sizeof text,
		         "%zu event%s not shown, because %s can't be counted here%s: perfsage list "
		         "--all shows %s, with the reasons",
		         refused, refused == 1 ? " is" : "s are", refused == 1 ? "it" : "they",
		         more, refused == 1 ? "it" : "them");
		tool_paragraph(&view->out, text, 0, view->screen.width);
	}
}

static void list_show_end(const struct list *list, struct view *view)
{
	char text[128];

	snprintf(text, sizeof text, "%zu event%s, %zu opened: %zu can be counted here.",
	         list->count, list->count == 1 ? "" : "s", list->probed, list->available);
	ps__buffer_add(&view->out, "\n");
	tool_paragraph(&view->out, text, 0, view->screen.width);
	if (list->user_only)
		list_show_note(
		    "(u)",
		    "in user space alone: perfsage doctor says what would permit the kernel's part",
		    view);
	if (list->probed < list->count && (list->shows_all || list->word))
		list_show_note("(t)",
		               "tracepoints that were not opened, as that takes the kernel some 60 "
		               "ms each; others were, and can be counted; --tracepoints opens "
		               "these, too",
		               view);
	if (list->shows_all)
		list_show_reasons(list, view);
	else
		list_show_hidden(list, view);
}

static void list_show_pmu(const char *name, bool has_line_above, struct view *view)
{
	ps__buffer_add(&view->out, "%s%s", has_line_above ? "\n" : "",
	               view->screen.has_colour ? "\033[1m" : "");
	tool_put(&view->out, name);
	ps__buffer_add(&view->out, "%s\n", view->screen.has_colour ? "\033[0m" : "");
}

/* Shown on terminals only: other programs expect each line to be an event or a PMU. */
static void list_show_heading(struct view *view)
{
	ps__buffer_add(&view->out, "%*s%-*s%-*s", MARK_COLUMNS, "", (int)view->name_columns,
	               HEADING, SCOPE_COLUMNS, "Scope");
	tool_paragraph(&view->out, "Description", MARK_COLUMNS + view->name_columns + SCOPE_COLUMNS,
	               view->screen.width);
}

/* Shows the events that can be counted (is_countable), or those that can't. Returns the number of
 * events that were shown. */
static size_t list_show_half(const struct list *list, bool is_countable, size_t above,
                             struct view *view)
{
	const struct list_event *last = NULL;
	size_t shown = 0;

	for (size_t index = 0; index < list->count; index++) {
		const struct list_event *event = &list->events[index];
		if ((event->code == PS_OK) != is_countable || !list_is_shown(list, event))
			continue;
		if (!last || event->group != last->group)
			list_show_pmu(event->pmu, above + shown > 0, view);
		list_show_event(list, event, view);
		last = event;
		shown++;
	}
	return shown;
}

/* Shows the events that can be counted; then, with --all or if there are none, the others with the
 * reasons. */
static int list_show_text(struct list *list)
{
	list->shows_all |= list->available == 0;
	struct view view = {.screen = tool_screen_of(STDOUT_FILENO)};

	view.name_columns = list_name_columns(list, view.screen.width);
	if (view.screen.is_terminal)
		list_show_heading(&view);
	size_t shown = list_show_half(list, true, 0, &view);

	list_show_half(list, false, shown, &view);
	list_show_end(list, &view);
	return tool_write(&view.out, stdout);
}

static void list_show_event_json(struct ps__json *json, const struct list *list,
                                 const struct list_event *event)
{
	bool is_available = event->code == PS_OK;

	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "name", event->name);
	ps__json_add_string(json, "pmu", event->pmu);
	ps__json_add_string(json, "scope", ps_scope_name(event->scope));
	ps__json_add_string(json, "unit", event->unit);
	ps__json_add_string(json, "description", event->description);
	ps__json_add_bool(json, "probed", event->is_probed);
	if (event->is_probed)
		ps__json_add_bool(json, "available", is_available);
	else
		ps__json_add_string(json, "available", NULL);
	ps__json_add_bool(json, "user_only", event->is_user_only);
	ps__json_add_integer(json, "code", event->code);
	ps__json_add_string(json, "error", is_available ? NULL : ps_strerror(event->code));
	ps__json_add_string(json, "reason",
	                    is_available ? NULL : list->reasons[event->reason].text);
	ps__json_close(json, '}');
}

static int list_show_json(const struct list *list)
{
	struct ps__buffer text = {0};
	struct ps__json json = ps__json_create(&text, false);

	ps__json_open(&json, NULL, '{');
	ps__json_add_string(&json, "perfsage", ps_version());
	ps__json_add_integer(&json, "probed", (long long)list->probed);
	ps__json_add_integer(&json, "available", (long long)list->available);
	ps__json_open(&json, "events", '[');
	for (size_t index = 0; index < list->count; index++)
		list_show_event_json(&json, list, &list->events[index]);
	ps__json_close(&json, ']');
	ps__json_close(&json, '}');
	return tool_write(&text, stdout);
}

static int list_complain_of_tracepoints(const struct ps_finding *finding, void *context)
{
	(void)context;
	if (strcmp(finding->name, "tracepoints") != 0)
		return 0;
	/* A kernel without tracepoints isn't an error. */
	if (finding->state != PS_FINDING_GOOD)
		tool_complain("tracepoints are left out: %s%s%s%s", finding->fact,
		              *finding->remedy ? " '" : "", finding->remedy,
		              *finding->remedy ? "' as root mends that" : "");
	return 1;
}

/* Complains that no event matches the word. For a PAPI preset, the error names the event to use
 * instead. */
static int list_complain_of_none(const struct list *list)
{
	struct ps_eventset *set;

	if (!list->word)
		return tool_complain("no event is known here: see perfsage doctor");
	if (strncasecmp(list->word, "PAPI_", strlen("PAPI_")) == 0 &&
	    ps_eventset_create(&set) == PS_OK) {
		ps_eventset_add(set, list->word);
		ps_eventset_destroy(set);
		return tool_complain("%s; ps_papi(3) tells of event sets of PAPI",
		                     ps_error_detail());
	}
	if (strcasecmp(list->word, "PAPI") == 0)
		return tool_complain("PAPI's names are no events here: ps_papi(3) tells of event "
		                     "sets of PAPI; 'perfsage list' shows what can be counted");
	if (tool_name_is_pattern(list->word))
		return tool_complain("no event's name matches '%s'", list->word);
	return tool_complain("no event has '%s' in its name or description", list->word);
}

static int list_show(struct list *list, bool is_json)
{
	int status = TOOL_FAILED;

	if (list_gather(list) < 0)
		goto clear_list;
	if (is_json)
		status = list_show_json(list);
	else if (list->count)
		status = list_show_text(list);
	if (list->count == 0)
		status = list_complain_of_none(list);
	/* Otherwise the user would believe that there are no tracepoints. */
	if (!list->has_tracepoints)
		ps_diagnose(NULL, list_complain_of_tracepoints, NULL);
clear_list:
	list_clear(list);
	return status;
}

struct form {
	bool is_json;
	bool is_of_metrics;
};

/* Parses the command line. Options may also follow WORD, which is often typed first. Returns the
 * last result of tool_options_next. */
static int list_parse(struct list *list, struct form *form, int argc, char **argv)
{
	bool is_over = false; /* "--" was seen: no options follow */
	const char *argument;

	optind = 1;
	for (;;) {
		int key =
		    is_over ? TOOL_OPTIONS_END : tool_options_next(&usage, argc, argv, &argument);
		list->shows_all |= key == 'a';
		list->is_thorough |= key == OPTION_TRACEPOINTS;
		form->is_json |= key == OPTION_JSON;
		form->is_of_metrics |= key == OPTION_METRICS;
		if (key > 0)
			continue;
		if (key != TOOL_OPTIONS_END || optind >= argc)
			return key;
		is_over |= strcmp(argv[optind - 1], "--") == 0;
		if (list->word)
			return tool_complain("takes one WORD, and '%s' is a second one: quote a "
			                     "WORD that has spaces",
			                     argv[optind]);
		list->word = argv[optind++];
	}
}

int tool_list(int argc, char **argv)
{
	struct list list = {.word = NULL};
	struct form form = {.is_json = false};

	int end = list_parse(&list, &form, argc, argv);
	if (end != TOOL_OPTIONS_END)
		return end;
	if (form.is_of_metrics)
		return tool_list_metrics(list.word, form.is_json);
	return list_show(&list, form.is_json);
}

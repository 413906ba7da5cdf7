/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage doctor: reports what can be counted here, what prevents the rest, and who must run which
 * command. */
#include "output/json_writer.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/terminal.h"

#include <config.h>

#include <perfsage.h>
#include <string.h>
#include <unistd.h>

#define DOCTOR_CANNOT_COUNT \
	1 /* exit status: the diagnosis is complete, and an event of -e can't be counted */
#define STATE_COLUMNS 9
#define NAME_COLUMNS  18
#define TEXT_COLUMN   (STATE_COLUMNS + NAME_COLUMNS)

enum {
	OPTION_JSON = 256
};

static const struct tool_option options_of_doctor[] = {
    {'e', "event", "EVENTS",
     "the events that are to be counted, with commas between\nthem; may be given several times. "
     "Without it: those\nthat perfsage stat counts by itself"},
    {OPTION_JSON, "json", NULL, "as one JSON object; perfsage-doctor(1) has its fields"},
};

static const struct tool_usage usage = {
    .manual = "perfsage-doctor(1)",
    .synopsis = "perfsage doctor [-e EVENTS] [--json]",
    .summary = "Looks step by step at what can be counted here, and what stands in the way. Each "
	       "line comes from a\n"
	       "probe. The exit status is 0 if all the events can be counted, else 1.",
    .options = options_of_doctor,
    .option_count = sizeof options_of_doctor / sizeof options_of_doctor[0],
    .examples = "perfsage doctor\n"
		"perfsage doctor -e cycles,instructions,sched:sched_switch\n"
		"perfsage doctor --json -e cycles || echo 'no cycles here'\n",
};

struct doctor {
	struct tool_names events;
	bool is_json;
	struct ps__json json;
	struct tool_screen screen;
	bool lacks_tree; /* hwloc's variables name a topology that can't be loaded */
};

static const char *doctor_colour_of(const struct doctor *doctor, enum ps_finding_state state)
{
	static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m", "\033[36m",
	                                      "\033[35m"};

	return doctor->screen.has_colour && (unsigned)state < 5 ? colours[state] : "";
}

static const char *doctor_person(enum ps_remedy_by by)
{
	static const char *const persons[] = {"", "you", "the administrator",
	                                      "whoever starts the container or job",
	                                      "whoever runs the host"};

	return (unsigned)by < 5 ? persons[by] : "";
}

static void doctor_show_remedy(const struct doctor *doctor, const struct ps_finding *finding,
                               struct ps__buffer *out)
{
	char person[64], gain[512];

	snprintf(person, sizeof person, "%s:", doctor_person(finding->by));
	ps__buffer_add(out, "%*s", TEXT_COLUMN, "");
	tool_paragraph(out, person, TEXT_COLUMN, doctor->screen.width);
	tool_add_command(out, finding->remedy, TEXT_COLUMN + 2, doctor->screen.width);
	if (*finding->lasting) {
		ps__buffer_add(out, "%*s", TEXT_COLUMN, "");
		tool_paragraph(out, "to keep it:", TEXT_COLUMN, doctor->screen.width);
		tool_add_command(out, finding->lasting, TEXT_COLUMN + 2, doctor->screen.width);
	}
	snprintf(gain, sizeof gain, "(%s)", finding->gain);
	ps__buffer_add(out, "%*s", TEXT_COLUMN, "");
	tool_paragraph(out, gain, TEXT_COLUMN, doctor->screen.width);
}

static int doctor_show(const struct ps_finding *finding, void *context)
{
	struct doctor *doctor = context;
	const char *colour = doctor_colour_of(doctor, finding->state);
	const char *name = *finding->subject ? finding->subject : finding->name;
	struct ps__buffer out = {0};
	size_t columns = tool_columns(name, strlen(name));

	doctor->lacks_tree |=
	    !strcmp(finding->name, "tree") && finding->state == PS_FINDING_BLOCKED;
	ps__buffer_add(&out, "%s%-*s%s", colour, STATE_COLUMNS,
	               ps_finding_state_name(finding->state), *colour ? "\033[0m" : "");
	tool_put(&out, name);
	/* A long event name gets a line of its own. */
	if (columns >= NAME_COLUMNS)
		ps__buffer_add(&out, "\n%*s", TEXT_COLUMN, "");
	else
		ps__buffer_add(&out, "%*s", (int)(NAME_COLUMNS - columns), "");
	tool_paragraph(&out, finding->fact, TEXT_COLUMN, doctor->screen.width);
	if (*finding->remedy)
		doctor_show_remedy(doctor, finding, &out);
	return tool_write(&out, stdout) < 0 || ferror(stdout);
}

static int doctor_show_json(const struct ps_finding *finding, void *context)
{
	struct ps__json *json = &((struct doctor *)context)->json;
	bool has_event = !strcmp(finding->name, "event");

	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "name", finding->name);
	if (has_event)
		ps__json_add_string(json, "event", finding->subject);
	ps__json_add_string(json, "state", ps_finding_state_name(finding->state));
	if (has_event || !strcmp(finding->name, "together")) {
		ps__json_add_integer(json, "code", finding->code);
		ps__json_add_string(json, "error",
		                    finding->code == PS_OK ? NULL : ps_strerror(finding->code));
	}
	ps__json_add_string(json, "fact", finding->fact);
	ps__json_add_string(json, "remedy", *finding->remedy ? finding->remedy : NULL);
	ps__json_add_string(json, "lasting", *finding->lasting ? finding->lasting : NULL);
	ps__json_add_string(json, "gain", *finding->remedy ? finding->gain : NULL);
	ps__json_add_string(json, "by", *finding->remedy ? ps_remedy_by_name(finding->by) : NULL);
	ps__json_close(json, '}');
	return 0;
}

static int doctor_diagnose_json(struct doctor *doctor, const struct ps_diagnose_options *options)
{
	struct ps__buffer text = {0};
	struct ps__json *json = &doctor->json;

	*json = ps__json_create(&text, false);
	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "perfsage", ps_version());
	ps__json_open(json, "findings", '[');
	int code = ps_diagnose(options, doctor_show_json, doctor);
	ps__json_close(json, ']');
	ps__json_add_bool(json, "countable", code == PS_OK);
	ps__json_add_string(json, "why_not", code == PS_OK ? NULL : ps_error_detail());
	ps__json_add_string(json, "report_bugs_to", PS_BUG_ADDRESS);
	ps__json_close(json, '}');
	return tool_write(&text, stdout) < 0 ? 1 : code;
}

static int doctor_diagnose_text(struct doctor *doctor, const struct ps_diagnose_options *options)
{
	doctor->screen = tool_screen_of(STDOUT_FILENO);
	int code = ps_diagnose(options, doctor_show, doctor);
	if (code <= PS_OK) {
		struct ps__buffer out = {0};
		ps__buffer_add(&out, "\n");
		tool_paragraph(&out,
		               code == PS_OK ? "All of these events can be counted."
		               : doctor->lacks_tree
		                   ? "Nothing is counted before the tree can be loaded."
		                   : "Not all of these events can be counted.",
		               0, doctor->screen.width);
		tool_paragraph(&out,
		               "If perfsage itself is wrong here, report it to " PS_BUG_ADDRESS ".",
		               0, doctor->screen.width);
		if (tool_write(&out, stdout) < 0)
			return 1;
	}
	return code;
}

static int doctor_diagnose(struct doctor *doctor)
{
	struct ps_diagnose_options options = {.size = sizeof options,
	                                      .asks_papi = 1,
	                                      .events = (const char *const *)doctor->events.names,
	                                      .event_count = doctor->events.count};
	int code = doctor->is_json ? doctor_diagnose_json(doctor, &options)
	                           : doctor_diagnose_text(doctor, &options);

	/* Positive: standard output can't be written. */
	if (code > 0)
		return TOOL_FAILED;
	if (code == PS_ENOMEM)
		return tool_complain_detail();
	return code == PS_OK ? TOOL_OK : DOCTOR_CANNOT_COUNT;
}

/* Returns TOOL_OPTIONS_END after all options. */
static int doctor_take_options(struct doctor *doctor, int argc, char **argv)
{
	const char *argument;
	int key;

	optind = 1;
	while ((key = tool_options_next(&usage, argc, argv, &argument)) > 0) {
		if (key == OPTION_JSON)
			doctor->is_json = true;
		else if (tool_names_add(&doctor->events, argument) < 0)
			return TOOL_FAILED;
	}
	if (key == TOOL_OPTIONS_END && optind < argc)
		return tool_complain("'%s' is no option: events are given with -e", argv[optind]);
	return key;
}

int tool_doctor(int argc, char **argv)
{
	struct doctor doctor = {.is_json = false};
	int status = doctor_take_options(&doctor, argc, argv);

	if (status == TOOL_OPTIONS_END)
		status = doctor_diagnose(&doctor);
	tool_names_clear(&doctor.events);
	return status;
}

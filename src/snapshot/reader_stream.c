/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the description of a stream: doc/log-format.md describes its lines. */
#include "base/decimal.h"
#include "base/error.h"
#include "base/os.h"
#include "base/printable.h"
#include "base/vector.h"
#include "snapshot/reader.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define MOST_ENTRIES 10
/* The most pairs of hardware thread and place of a stream: Linux has at most 8192 CPUs. */
#define MOST_PLACES 32768

/* A line, cut at its tabs; only the last entry can have tabs. */
struct line {
	char *entries[MOST_ENTRIES];
	size_t count;
};

struct counts {
	size_t events, points, fields;
	unsigned long groups;
};

/* Cuts the line at *text into at most `most` entries; *text is then behind it. False at the end. */
static bool next_line(char **text, size_t most, struct line *line)
{
	char *at = *text, *end = strchr(at, '\n');

	if (!end)
		return false;
	*end = '\0';
	*text = end + 1;
	line->count = 0;
	while (line->count < most) {
		char *tab = line->count + 1 < most ? strchr(at, '\t') : NULL;
		line->entries[line->count++] = at;
		if (!tab)
			break;
		*tab = '\0';
		at = tab + 1;
	}
	return true;
}

static bool line_parse_number(const char *text, unsigned long most, unsigned long *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoul(text, &end, 10);
	return *end == '\0' && errno == 0 && *out <= most;
}

/* Returns the number of entries of a line of this kind; 0 if the kind is unknown: such lines are
 * skipped. */
static size_t entries_of(const char *text)
{
	static const struct {
		const char *start;
		size_t entries;
	} kinds[] = {{"type\t", 2},  {"process\t", 2}, {"thread\t", 2}, {"groups\t", 2},
	             {"event\t", 9}, {"added\t", 2},   {"point\t", 2},  {"field\t", 3}};

	for (size_t index = 0; index < sizeof kinds / sizeof kinds[0]; index++) {
		if (strncmp(text, kinds[index].start, strlen(kinds[index].start)) == 0)
			return kinds[index].entries;
	}
	return 0;
}

/* Counts the lines of each kind before memory is allocated. False if there are too many or too
 * few. */
static bool count_lines(const char *text, struct counts *counts)
{
	for (const char *at = text; *at;) {
		const char *end = strchr(at, '\n');
		if (!end)
			return false;
		counts->events += strncmp(at, "event\t", 6) == 0;
		counts->points += strncmp(at, "point\t", 6) == 0;
		counts->fields += strncmp(at, "field\t", 6) == 0;
		if (strncmp(at, "groups\t", 7) == 0) {
			char *behind;
			counts->groups = strtoul(at + 7, &behind, 10);
		}
		at = end + 1;
	}
	return counts->events <= PS__LOG_MOST_EVENTS && counts->groups <= PS__LOG_MOST_EVENTS &&
	       counts->points >= 1 && counts->points <= PS_LOG_MOST_POINTS &&
	       counts->fields <= PS_LOG_MOST_FIELDS;
}

static int source_read_event(struct ps__log_source *source, const struct line *line)
{
	struct ps__recording *recording = source->recording;
	struct ps__column *column = &recording->column[source->info.event_count];
	char *const *entry = line->entries;
	unsigned long group = PS__NO_GROUP, place, scope;
	char *end;

	if (source->info.event_count == recording->columns || line->count != 9 ||
	    (strcmp(entry[1], "-") != 0 && (!line_parse_number(entry[1], UINT32_MAX - 1, &group) ||
	                                    group >= recording->groups)) ||
	    !line_parse_number(entry[2], 0x7fff, &place) ||
	    !line_parse_number(entry[3], PS_SCOPE_MACHINE, &scope) ||
	    strlen(entry[6]) >= sizeof column->unit)
		return PS_EINVAL;
	column->group = (uint32_t)group;
	column->place = (uint32_t)place;
	column->scope = (enum ps_scope)scope;
	column->flags = strchr(entry[4], 'u') ? PS_VALUE_USER_ONLY : 0;
	column->is_estimate = strchr(entry[4], 'e') != NULL;
	column->scale = ps__decimal_parse(entry[5], &end);
	if (end == entry[5] || *end != '\0')
		return PS_EINVAL;
	ps__printable_clean(entry[6]);
	if (strcmp(entry[6], "-") != 0)
		strcpy(column->unit, entry[6]);
	if (strcmp(entry[7], "-") != 0 && !(column->cpus = ps__os_strdup(entry[7])))
		return ps__fail_memory("the events of a log");
	ps__printable_clean(entry[8]);
	if (ps__column_set_name(column, entry[8], NULL) < 0)
		return ps__fail_memory("the events of a log");
	ps__column_settle(recording, column);
	source->info.event_count++;
	return PS_OK;
}

/* Reads the name under which the event of the line before was added. */
static int source_read_added(struct ps__log_source *source, char *name)
{
	if (source->info.event_count == 0)
		return PS_EINVAL;
	struct ps__column *column = &source->recording->column[source->info.event_count - 1];
	if (column->added)
		return PS_EINVAL;
	ps__printable_clean(name);
	column->added = ps__os_strdup(name);
	return column->added ? PS_OK : ps__fail_memory("the events of a log");
}

static int source_read_field(struct ps__log_source *source, const struct line *line)
{
	static const char *const kinds[] = {"integer", "real", "text"};
	size_t index = source->info.field_count;

	if (line->count != 3)
		return PS_EINVAL;
	for (size_t kind = 0; kind < 3; kind++) {
		if (strcmp(line->entries[1], kinds[kind]) != 0)
			continue;
		source->kinds[index] = (enum ps_log_kind)kind;
		source->fields[index] = line->entries[2];
		source->info.field_count++;
		return PS_OK;
	}
	return PS_EINVAL;
}

static int line_read_id(const struct line *line, int *out)
{
	unsigned long number;

	if (line->count != 2 || !line_parse_number(line->entries[1], INT_MAX, &number))
		return PS_EINVAL;
	*out = (int)number;
	return PS_OK;
}

static int source_read_line(struct ps__log_source *source, const struct line *line)
{
	char *name = line->entries[line->count - 1];

	switch (line->entries[0][0]) {
	case 'e':
		return source_read_event(source, line);
	case 'f':
		ps__printable_clean(name);
		return source_read_field(source, line);
	case 'p':
		if (line->entries[0][1] == 'r')
			return line_read_id(line, &source->info.process);
		ps__printable_clean(name);
		source->points[source->info.point_count++] = name;
		return PS_OK;
	case 't':
		if (line->entries[0][1] == 'h')
			return line_read_id(line, &source->info.thread);
		ps__printable_clean(name);
		source->info.type = name;
		return PS_OK;
	case 'a':
		return source_read_added(source, name);
	default: /* groups */
		return PS_OK;
	}
}

static int source_read_lines(struct ps__log_source *source)
{
	char *at = source->description;
	int result = PS_OK;

	while (result == PS_OK && *at) {
		size_t entries = entries_of(at);
		struct line line;
		if (!next_line(&at, entries ? entries : 1, &line))
			return PS_EINVAL;
		if (entries)
			result =
			    line.count == entries ? source_read_line(source, &line) : PS_EINVAL;
	}
	return result == PS_OK && !source->info.type ? PS_EINVAL : result;
}

static int source_make_room(struct ps__log_source *source, size_t size_bytes)
{
	struct counts counts = {0};

	if (!count_lines(source->description, &counts))
		return PS_EINVAL;
	source->original = ps__os_calloc(1, size_bytes);
	source->recording = ps__recording_create(counts.events, counts.groups);
	source->points = ps__os_calloc(counts.points, sizeof *source->points);
	source->fields = ps__os_calloc(counts.fields + 1, sizeof *source->fields);
	source->kinds = ps__os_calloc(counts.fields + 1, sizeof *source->kinds);
	if (!source->original || !source->recording || !source->points || !source->fields ||
	    !source->kinds)
		return ps__fail_memory("a stream of a log");
	memcpy(source->original, source->description, size_bytes);
	source->width = ps__recording_width(source->recording);
	return PS_OK;
}

int ps__log_source_init(struct ps__log_source *source, uint64_t number, char *description,
                        size_t size_bytes)
{
	*source = (struct ps__log_source){
	    .number = number, .description = description, .description_bytes = size_bytes};
	int result = source_make_room(source, size_bytes);
	if (result == PS_OK)
		result = source_read_lines(source);
	if (result != PS_OK)
		ps__log_source_clear(source);
	return result;
}

void ps__log_source_clear(struct ps__log_source *source)
{
	if (source->recording)
		ps__recording_free(source->recording);
	ps__os_free(source->description);
	ps__os_free(source->original);
	ps__os_free((void *)source->points);
	ps__os_free((void *)source->fields);
	ps__os_free(source->kinds);
	ps__os_free(source->places);
}

static int grow_places(struct ps__log_source *source)
{
	return PS__VECTOR_GROW(&source->places, source->place_count, &source->place_room) ? 0 : -1;
}

ptrdiff_t ps__log_source_place(struct ps__log_source *source, const struct ps_topology *topology,
                               int cpu, uint32_t place)
{
	for (size_t index = 0; index < source->place_count; index++) {
		if (source->places[index].cpu == cpu && source->places[index].place == place)
			return (ptrdiff_t)index;
	}
	if (source->place_count == MOST_PLACES)
		return -2;
	if (grow_places(source) < 0)
		return -1;
	struct ps__history *history = ps__recording_add_history(source->recording);
	if (!history)
		return -1;
	history->place = place;
	/* The history isn't in the list of that thread: the thread only tells the kind of core. */
	history->thread = ps__topology_thread(topology, cpu);
	source->places[source->place_count] = (struct ps__log_place){cpu, place, history};
	return (ptrdiff_t)source->place_count++;
}

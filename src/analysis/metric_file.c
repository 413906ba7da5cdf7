/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a file of metrics, line by line:
 *
 *	group NAME: DESCRIPTION
 *	event NAME = EVENT or EVENT
 *	machine NAME = EVENT or EVENT
 *	number NAME = 1.5
 *	metric NAME [UNIT]: DESCRIPTION
 *	    FORMULA
 *	or
 *	    FORMULA
 *
 * A formula's lines begin with a blank. perfsage-metrics(5) describes the format for users.
 */
#include "analysis/metric_file.h"
#include "base/decimal.h"
#include "base/error.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct reader {
	struct ps__metric_file *file;
	const char *path;
	const char *line, *end;   /* the line without its newline */
	const char *at;           /* the next character to be read */
	unsigned number;          /* number of the line */
	struct ps__metric metric; /* the metric whose formulas are being read; name NULL: none */
	struct ps__metric_entry
	    *last; /* the metric's formula that was read last; NULL: none was read yet */
	bool needs_formula;
	unsigned head; /* number of the line with "metric" or "or" */
	struct ps__metric_symbols symbols;
};

static unsigned column_of(const struct reader *reader, const char *at)
{
	unsigned column = 1;

	for (const char *before = reader->line; before < at; before++)
		column += (*before & 0xc0) != 0x80;
	return column;
}

static int fail_here(const struct reader *reader, const char *sentence)
{
	size_t rest = (size_t)(reader->end - reader->at);

	if (rest == 0)
		return ps__fail(PS_EINVAL, "%s:%u:%u: %s, and the line ends here", reader->path,
		                reader->number, column_of(reader, reader->at), sentence);
	return ps__fail(PS_EINVAL, "%s:%u:%u: %s, not '%.*s'", reader->path, reader->number,
	                column_of(reader, reader->at), sentence, (int)(rest < 40 ? rest : 40),
	                reader->at);
}

static void skip_blanks(struct reader *reader)
{
	while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t'))
		reader->at++;
}

/* Returns the length of the next word, which ends at a blank. */
static size_t word_length(const struct reader *reader)
{
	size_t length = 0;

	while (reader->at + length < reader->end && !isspace((unsigned char)reader->at[length]))
		length++;
	return length;
}

static bool is_word(const struct reader *reader, const char *word)
{
	return word_length(reader) == strlen(word) && strncmp(reader->at, word, strlen(word)) == 0;
}

/* Takes a character, and blanks around it. False if another one follows. */
static bool take_character(struct reader *reader, char character)
{
	skip_blanks(reader);
	if (reader->at == reader->end || *reader->at != character)
		return false;
	reader->at++;
	skip_blanks(reader);
	return true;
}

static char *copy_text(struct reader *reader, const char *text, size_t length)
{
	char *copy = ps__arena_calloc(&reader->file->arena, length + 1, 1);

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

/* Takes the rest of the line, which must not be empty. */
static int take_rest(struct reader *reader, const char **out)
{
	if (reader->at == reader->end)
		return fail_here(reader, "one sentence is expected that says what it is");
	*out = copy_text(reader, reader->at, (size_t)(reader->end - reader->at));
	return *out ? PS_OK : ps__fail_memory("a file of metrics");
}

/* Takes the name of a metric or group. */
static int take_name(struct reader *reader, const char **out)
{
	size_t length = ps__metric_name_length(reader->at);

	if (length == 0)
		return fail_here(reader, "a name of letters, digits, '_', '-', '.' and '/' is "
		                         "expected");
	if (length >= PS__METRIC_NAME_BYTES)
		return fail_here(reader, "a name of at most 639 characters is expected");
	*out = copy_text(reader, reader->at, length);
	reader->at += length;
	return *out ? PS_OK : ps__fail_memory("a file of metrics");
}

static int metric_read_group(struct reader *reader)
{
	struct ps__metric_group *group = &reader->file->group;

	if (group->name)
		return fail_here(reader, "a file has one group: put this into a file of its own");
	int result = take_name(reader, &group->name);
	if (result != PS_OK)
		return result;
	if (!take_character(reader, ':'))
		return fail_here(reader, "':' and a description are expected");
	return take_rest(reader, &group->description);
}

/* Symbols: event, machine and number. */

/* Returns the length of a symbol: of characters that a formula can have without a backslash. */
static size_t symbol_length(const char *text)
{
	size_t length = 0;

	if (!isalpha((unsigned char)text[0]) && text[0] != '_')
		return 0;
	while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '.')
		length++;
	return length;
}

static int take_symbol(struct reader *reader, struct ps__metric_symbol *symbol)
{
	*symbol = (struct ps__metric_symbol){.name = reader->at,
	                                     .length = symbol_length(reader->at),
	                                     .line = reader->number,
	                                     .column = column_of(reader, reader->at)};
	if (symbol->length == 0)
		return fail_here(reader, "a name of letters, digits, '_' and '.' is expected, by "
		                         "which formulas call it");
	const struct ps__metric_symbol *other =
	    ps__metric_names_find(&reader->symbols.names, symbol->name, symbol->length, strncmp);
	if (other)
		return ps__fail(
		    PS_EINVAL, "%s:%u:%u: '%.*s' was declared in line %u: choose another name",
		    reader->path, reader->number, symbol->column,
		    (int)(symbol->length < 80 ? symbol->length : 80), symbol->name, other->line);
	reader->at += symbol->length;
	return take_character(reader, '=') ? PS_OK : fail_here(reader, "'=' is expected");
}

static int add_symbol(struct reader *reader, const struct ps__metric_symbol *symbol)
{
	struct ps__metric_symbols *symbols = &reader->symbols;
	struct ps__arena *arena = &reader->file->arena;
	struct ps__metric_symbol *added = ps__arena_calloc(arena, 1, sizeof *added);

	if (!added)
		return ps__fail_memory("a file of metrics");
	*added = *symbol;
	if (!ps__metric_names_add(&symbols->names, arena, added->name, added->length, added))
		return ps__fail_memory("a file of metrics");
	if (symbols->last)
		symbols->last->next = added;
	else
		symbols->first = added;
	symbols->last = added;
	return PS_OK;
}

/* Takes "EVENT or EVENT". */
static int take_events(struct reader *reader, struct ps__metric_symbol *symbol)
{
	size_t count = 0;

	do {
		size_t length = word_length(reader);
		if (length == 0 || is_word(reader, "or"))
			return fail_here(reader, "the name of an event is expected");
		if (count == PS__METRIC_MOST_NAMES)
			return fail_here(reader, "an event has at most 8 names");
		symbol->names[count] = copy_text(reader, reader->at, length);
		if (!symbol->names[count++])
			return ps__fail_memory("a file of metrics");
		reader->at += length;
		skip_blanks(reader);
		if (reader->at == reader->end)
			return PS_OK;
		if (!is_word(reader, "or"))
			return fail_here(reader, "'or' and another name of the event are expected");
		reader->at += strlen("or");
		skip_blanks(reader);
	} while (true);
}

static int read_events(struct reader *reader, bool is_whole)
{
	struct ps__metric_symbol symbol;
	int result = take_symbol(reader, &symbol);

	if (result == PS_OK)
		result = take_events(reader, &symbol);
	symbol.is_whole = is_whole;
	return result == PS_OK ? add_symbol(reader, &symbol) : result;
}

static int metric_read_event(struct reader *reader)
{
	return read_events(reader, false);
}

static int read_machine(struct reader *reader)
{
	return read_events(reader, true);
}

static int metric_read_number(struct reader *reader)
{
	char digits[64] = "", *end;
	struct ps__metric_symbol symbol;
	int result = take_symbol(reader, &symbol);

	if (result != PS_OK)
		return result;
	size_t length = (size_t)(reader->end - reader->at);
	if (length == 0 || length >= sizeof digits)
		return fail_here(reader, "a number of less than 64 digits is expected");
	memcpy(digits, reader->at, length);
	symbol.number = ps__decimal_parse(digits, &end);
	if (end == digits || !isfinite(symbol.number))
		return fail_here(reader, "a decimal number is expected");
	reader->at += end - digits;
	if (reader->at < reader->end)
		return fail_here(reader, "the number's end is expected");
	return add_symbol(reader, &symbol);
}

/* Metrics and their formulas. */

static int fail_without_formula(const struct reader *reader)
{
	return ps__fail(PS_EINVAL,
	                "%s:%u:1: a formula is missing: write it into the lines below, which begin "
	                "with a blank",
	                reader->path, reader->head);
}

/* Takes " [UNIT]", or nothing. */
static int take_unit(struct reader *reader, const char **out)
{
	const char *end;

	*out = "";
	if (!take_character(reader, '['))
		return PS_OK;
	end = memchr(reader->at, ']', (size_t)(reader->end - reader->at));
	if (!end || end == reader->at)
		return fail_here(reader, "a unit and ']' are expected");
	*out = copy_text(reader, reader->at, (size_t)(end - reader->at));
	reader->at = end + 1;
	return *out ? PS_OK : ps__fail_memory("a file of metrics");
}

static int read_metric(struct reader *reader)
{
	struct ps__metric metric = {.group = &reader->file->group};
	const char *begin = reader->at;
	int result = take_name(reader, &metric.name);

	if (result == PS_OK && ps__metric_names_find(&reader->file->names, metric.name,
	                                             strlen(metric.name), strncasecmp)) {
		reader->at = begin;
		return fail_here(reader, "the file has a metric of this name already: a new name "
		                         "is expected");
	}
	if (result == PS_OK)
		result = take_unit(reader, &metric.unit);
	if (result != PS_OK)
		return result;
	if (!take_character(reader, ':'))
		return fail_here(reader, "'[unit]', or ':' and a description, are expected");
	result = take_rest(reader, &metric.description);
	reader->metric = metric;
	reader->last = NULL;
	reader->needs_formula = true;
	reader->head = reader->number;
	return result;
}

static int read_or(struct reader *reader)
{
	if (!reader->last)
		return fail_here(reader, "the formula of a metric is expected before 'or'");
	if (reader->at < reader->end)
		return fail_here(reader, "the formula is expected in the next line");
	reader->needs_formula = true;
	reader->head = reader->number;
	return PS_OK;
}

/* Reads all lines that begin with a blank as one formula. The text is not changed, so that columns
 * in errors are those of the file. */
static int read_formula(struct reader *reader, const char **next)
{
	const char *begin = reader->line, *end = reader->end;
	struct ps__formula_place where = {reader->path, reader->number};
	struct ps__metric_entry *entry;

	if (!reader->needs_formula)
		return fail_here(reader, "'group', 'event', 'machine', 'number', 'metric' or 'or' "
		                         "is expected at the beginning of the line");
	for (const char *at = *next; *at == ' ' || *at == '\t'; reader->number++) {
		end = at + strcspn(at, "\n");
		at = end + (*end == '\n');
		*next = at;
	}
	reader->metric.text = copy_text(reader, begin, (size_t)(end - begin));
	if (!reader->metric.text)
		return ps__fail_memory("a file of metrics");
	int result =
	    ps__metric_make(reader->file, &reader->metric, &reader->symbols, &where, &entry);
	if (result != PS_OK)
		return result;
	entry->metric.text += strspn(entry->metric.text, " \t");
	entry->is_other_formula = reader->last;
	if (reader->last)
		reader->last->metric.next_formula = &entry->metric;
	reader->last = entry;
	reader->needs_formula = false;
	return PS_OK;
}

static int read_statement(struct reader *reader)
{
	static const struct {
		const char *word;
		int (*read)(struct reader *reader);
	} statements[] = {
	    {"event", metric_read_event}, {"machine", read_machine}, {"number", metric_read_number},
	    {"metric", read_metric},      {"or", read_or},           {"group", metric_read_group}};

	for (size_t index = 0; index < sizeof statements / sizeof statements[0]; index++) {
		if (!is_word(reader, statements[index].word))
			continue;
		if (reader->needs_formula)
			return fail_without_formula(reader);
		if (!reader->file->group.name && statements[index].read != metric_read_group)
			return fail_here(reader, "'group NAME: DESCRIPTION' is expected first");
		reader->at += strlen(statements[index].word);
		skip_blanks(reader);
		return statements[index].read(reader);
	}
	if (reader->needs_formula)
		return fail_without_formula(reader);
	return fail_here(reader, "'group', 'event', 'machine', 'number', 'metric' or 'or' is "
	                         "expected");
}

static int metric_read_line(struct reader *reader, const char **next)
{
	while (reader->end > reader->line && isspace((unsigned char)reader->end[-1]))
		reader->end--;
	reader->at = reader->line;
	skip_blanks(reader);
	if (reader->at == reader->end || reader->line[0] == '#')
		return PS_OK;
	return reader->at > reader->line ? read_formula(reader, next) : read_statement(reader);
}

/* Checks the file at its end. A symbol that no formula uses is an error, because its name is most
 * likely misspelt. */
static int check_end(const struct reader *reader)
{
	if (reader->needs_formula)
		return fail_without_formula(reader);
	if (!reader->file->first)
		return ps__fail(PS_EINVAL, "%s:%u:1: a file of metrics has a metric: none is here",
		                reader->path, reader->number ? reader->number : 1);
	for (const struct ps__metric_symbol *symbol = reader->symbols.first; symbol;
	     symbol = symbol->next) {
		if (!symbol->is_used)
			return ps__fail(PS_EINVAL,
			                "%s:%u:%u: no formula below uses '%.*s': correct its name, "
			                "or take the line away",
			                reader->path, symbol->line, symbol->column,
			                (int)(symbol->length < 80 ? symbol->length : 80),
			                symbol->name);
	}
	return PS_OK;
}

int ps__metric_file_parse(struct ps__metric_file *file, const char *path, const char *text)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	struct reader reader = {.file = file, .path = path};
	bool has_mark = strncmp(text, byte_order_mark, strlen(byte_order_mark)) == 0;
	const char *next = has_mark ? text + strlen(byte_order_mark) : text;
	int result = PS_OK;

	while (result == PS_OK && *next) {
		reader.line = next;
		reader.end = next + strcspn(next, "\n");
		next = reader.end + (*reader.end == '\n');
		reader.number++;
		result = metric_read_line(&reader, &next);
	}
	if (result == PS_OK)
		result = check_end(&reader);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of places, and a parser for OMP_PLACES with one function for each rule of the grammar. */
#include "tools/placement.h"

#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "tools/options.h"

#include <ctype.h>
#include <limits.h>
#include <perfsage/thread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void tool_places_clear(struct tool_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		tool_cpus_clear(&places->list[i]);
	ps__os_free(places->list);
	tool_cpus_clear(&places->refused);
	*places = (struct tool_places){.list = NULL};
}

/* Adds the set, which then belongs to places. PS_ENOMEM; the set still belongs to the caller
 * then. */
static int places_adopt(struct tool_places *places, const struct tool_cpus *cpus)
{
	if (!PS__VECTOR_GROW(&places->list, places->count, &places->room))
		return ps__fail_memory("the places of a program");
	places->list[places->count++] = *cpus;
	return PS_OK;
}

int tool_places_add(struct tool_places *places, const struct tool_cpus *cpus,
                    const struct tool_cpus *allowed)
{
	struct tool_cpus kept = {0};
	int result = PS_OK;

	for (size_t i = 0; result == PS_OK && i < cpus->count; i++) {
		bool is_allowed = tool_cpus_contain(allowed, cpus->numbers[i]);
		result = tool_cpus_add(is_allowed ? &kept : &places->refused, cpus->numbers[i]);
	}
	if (result == PS_OK && kept.count > 0)
		result = places_adopt(places, &kept);
	if (result != PS_OK || kept.count == 0)
		tool_cpus_clear(&kept);
	return result;
}

size_t tool_places_find(const struct tool_places *places, const struct tool_cpus *cpus)
{
	for (size_t i = 0; i < places->count; i++) {
		if (tool_cpus_are_equal(&places->list[i], cpus))
			return i;
	}
	return SIZE_MAX;
}

static void show_place(const struct tool_cpus *place, struct ps__buffer *out)
{
	ps__buffer_add(out, "{");
	tool_cpus_show(place, out);
	ps__buffer_add(out, "}");
}

void tool_places_show(const struct tool_places *places, size_t columns, struct ps__buffer *out)
{
	struct ps__buffer last = {0}, place = {0};
	size_t begin = out->length, index = 0;

	if (places->count == 0)
		return;
	show_place(&places->list[places->count - 1], &last);
	for (; index + 1 < places->count; index++) {
		/* Room for " ... " and the last place, which follow. */
		size_t behind = index + 2 < places->count ? strlen(" ... ") : 1;
		ps__buffer_restart(&place);
		show_place(&places->list[index], &place);
		if (out->length - begin + place.length + behind + last.length > columns)
			break;
		ps__buffer_add(out, "%s ", ps__buffer_text(&place));
	}
	ps__buffer_add(out, "%s%s", index + 1 < places->count ? "... " : "",
	               ps__buffer_text(&last));
	ps__buffer_clear(&place);
	ps__buffer_clear(&last);
}

struct parser {
	const char *text; /* the whole value of the variable */
	const char *at;
	const struct ps_component *root;
	const struct tool_cpus *allowed;
	struct tool_places places, excluded;
	size_t numbers; /* CPU numbers so far, in all places */
};

/* The ":length:stride" after a number or a place. */
struct interval {
	int length, stride;
};

static int parse_fail(const struct parser *parser, const char *wanted)
{
	return ps__fail(PS_EINVAL, "OMP_PLACES='%s': %s was expected at '%s'", parser->text, wanted,
	                parser->at);
}

static void parse_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, TOOL_BLANKS);
}

static bool parse_sign(struct parser *parser, char sign)
{
	parse_blanks(parser);
	if (*parser->at != sign)
		return false;
	parser->at++;
	return true;
}

static int parse_number(struct parser *parser, const char *wanted, int least, int *out)
{
	char *end;

	parse_blanks(parser);
	if (!isdigit((unsigned char)*parser->at))
		return parse_fail(parser, wanted);
	long number = strtol(parser->at, &end, 10);
	if (number < least || number > TOOL_LARGEST_CPU)
		return parse_fail(parser, wanted);
	parser->at = end;
	*out = (int)number;
	return PS_OK;
}

static int parse_stride(struct parser *parser, int *out)
{
	bool is_negative = parse_sign(parser, '-');

	if (!is_negative)
		parse_sign(parser, '+');
	int result = parse_number(parser, "a stride", 0, out);
	if (result == PS_OK && is_negative)
		*out = -*out;
	return result;
}

static int parse_interval(struct parser *parser, struct interval *interval)
{
	*interval = (struct interval){.length = 1, .stride = 1};
	if (!parse_sign(parser, ':'))
		return PS_OK;
	int result = parse_number(parser, "a length above 0", 1, &interval->length);
	if (result != PS_OK || !parse_sign(parser, ':'))
		return result;
	return parse_stride(parser, &interval->stride);
}

/* Adds number + shift. */
static int place_add(struct parser *parser, struct tool_cpus *place, int number, long long shift)
{
	long long cpu = number + shift;

	if (cpu < 0)
		return ps__fail(PS_EINVAL,
		                "OMP_PLACES='%s': the stride leads to %lld, and CPUs begin with 0",
		                parser->text, cpu);
	if (cpu > TOOL_LARGEST_CPU || parser->numbers++ >= TOOL_MOST_NUMBERS)
		return ps__fail(PS_EINVAL,
		                "OMP_PLACES='%s': its intervals give more than %d CPUs, or CPUs "
		                "above %d: shorten them",
		                parser->text, TOOL_MOST_NUMBERS, TOOL_LARGEST_CPU);
	return tool_cpus_add(place, (int)cpu);
}

/* Parses an item between braces: "8", "8:4", "8:4:2" or "!9". */
static int parse_resource(struct parser *parser, struct tool_cpus *place,
                          struct tool_cpus *excluded)
{
	bool is_excluded = parse_sign(parser, '!');
	struct interval interval;
	int first;

	int result = parse_number(parser, "a CPU", 0, &first);
	if (result == PS_OK && is_excluded)
		return tool_cpus_add(excluded, first);
	if (result == PS_OK)
		result = parse_interval(parser, &interval);
	for (int i = 0; result == PS_OK && i < interval.length; i++)
		result = place_add(parser, place, first, (long long)i * interval.stride);
	return result;
}

/* Parses a place in braces. An exclusion applies to the whole place, also to CPUs before it. */
static int parse_braces(struct parser *parser, struct tool_cpus *place)
{
	struct tool_cpus excluded = {0};
	int result;

	do {
		result = parse_resource(parser, place, &excluded);
	} while (result == PS_OK && parse_sign(parser, ','));
	if (result == PS_OK && !parse_sign(parser, '}'))
		result = parse_fail(parser, "',' or '}'");
	for (size_t i = 0; i < excluded.count; i++)
		tool_cpus_remove(place, excluded.numbers[i]);
	tool_cpus_clear(&excluded);
	return result;
}

/* Parses "{...}", or a number, which is a place with one CPU. */
static int parse_place(struct parser *parser, struct tool_cpus *place)
{
	int cpu;

	if (parse_sign(parser, '{'))
		return parse_braces(parser, place);
	int result = parse_number(parser, "'{' or a CPU", 0, &cpu);
	return result == PS_OK ? place_add(parser, place, cpu, 0) : result;
}

static int add_interval(struct parser *parser, const struct tool_cpus *place,
                        const struct interval *interval)
{
	int result = PS_OK;

	for (int i = 0; result == PS_OK && i < interval->length; i++) {
		struct tool_cpus shifted = {0};
		for (size_t k = 0; result == PS_OK && k < place->count; k++)
			result = place_add(parser, &shifted, place->numbers[k],
			                   (long long)i * interval->stride);
		if (result == PS_OK)
			result = tool_places_add(&parser->places, &shifted, parser->allowed);
		tool_cpus_clear(&shifted);
	}
	return result;
}

/* Parses an item of the list: a place that an interval or an exclusion may belong to. */
static int parse_places(struct parser *parser)
{
	bool is_excluded = parse_sign(parser, '!');
	struct tool_cpus place = {0};
	struct interval interval = {0};

	int result = parse_place(parser, &place);
	if (result == PS_OK && is_excluded)
		result = tool_places_add(&parser->excluded, &place, parser->allowed);
	else if (result == PS_OK)
		result = parse_interval(parser, &interval);
	if (result == PS_OK && !is_excluded)
		result = add_interval(parser, &place, &interval);
	tool_cpus_clear(&place);
	return result;
}

/* Removes excluded places. An exclusion applies to the whole list. */
static void exclude_places(struct tool_places *places, const struct tool_places *excluded)
{
	size_t kept = 0;

	for (size_t i = 0; i < places->count; i++) {
		if (tool_places_find(excluded, &places->list[i]) == SIZE_MAX)
			places->list[kept++] = places->list[i];
		else
			tool_cpus_clear(&places->list[i]);
	}
	places->count = kept;
}

static int parse_list(struct parser *parser)
{
	int result;

	do {
		result = parse_places(parser);
	} while (result == PS_OK && parse_sign(parser, ','));
	if (result == PS_OK)
		exclude_places(&parser->places, &parser->excluded);
	return result;
}

/* Each abstract name has a function that finds the component of a hardware thread which is a place
 * of this name. */
static const struct ps_component *place_find_thread(const struct ps_component *thread)
{
	return thread;
}

static const struct ps_component *place_find_core(const struct ps_component *thread)
{
	return ps_component_ancestor(thread, PS_COMPONENT_CORE, 1);
}

/* Returns the outermost cache, which is the last level. */
static const struct ps_component *place_find_cache(const struct ps_component *thread)
{
	const struct ps_component *last = NULL, *cache = thread;

	while ((cache = ps_component_ancestor(cache, PS_COMPONENT_CACHE, 1)))
		last = cache;
	return last;
}

static const struct ps_component *place_find_node(const struct ps_component *thread)
{
	return ps_component_ancestor(thread, PS_COMPONENT_NUMA, 1);
}

static const struct ps_component *place_find_package(const struct ps_component *thread)
{
	return ps_component_ancestor(thread, PS_COMPONENT_PACKAGE, 1);
}

struct abstract {
	const char *word;
	const struct ps_component *(*find)(const struct ps_component *thread);
};

static const struct abstract abstracts[] = {
    {"threads", place_find_thread},  {"cores", place_find_core},
    {"ll_caches", place_find_cache}, {"numa_domains", place_find_node},
    {"sockets", place_find_package},
};

static int add_abstract(struct parser *parser, const struct abstract *abstract, size_t most)
{
	size_t threads = ps_component_thread_count(parser->root);
	struct tool_cpus place = {0};
	int result = PS_OK;

	for (size_t i = 0; result == PS_OK && i < threads && parser->places.count < most;) {
		const struct ps_component *first = NULL, *next = NULL;
		place.count = 0;
		/* The hardware threads of one component are adjacent in the tree's order. */
		for (; result == PS_OK && i < threads; i++) {
			const struct ps_thread *thread = ps_component_thread_at(parser->root, i);
			next = abstract->find(ps_thread_component(thread));
			if (!next)
				result = ps__fail(PS_ENOSUPP,
				                  "OMP_PLACES='%s': this machine's tree has no %s",
				                  parser->text, abstract->word);
			if (!next || (first && next != first))
				break;
			first = next;
			if (tool_cpus_contain(parser->allowed, ps_thread_cpu(thread)))
				result = tool_cpus_add(&place, ps_thread_cpu(thread));
		}
		if (result == PS_OK)
			result = tool_places_add(&parser->places, &place, parser->allowed);
	}
	tool_cpus_clear(&place);
	return result;
}

/* Parses an abstract name, with or without a number in parentheses. */
static int parse_abstract(struct parser *parser)
{
	size_t length = strspn(parser->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	const struct abstract *abstract = NULL;
	int most = INT_MAX, result = PS_OK;

	for (size_t i = 0; i < sizeof abstracts / sizeof abstracts[0]; i++) {
		if (strlen(abstracts[i].word) == length &&
		    strncasecmp(abstracts[i].word, parser->at, length) == 0)
			abstract = &abstracts[i];
	}
	if (!abstract)
		return parse_fail(parser,
		                  "threads, cores, ll_caches, numa_domains, sockets or a list");
	parser->at += length;
	if (parse_sign(parser, '(')) {
		result = parse_number(parser, "a number above 0", 1, &most);
		if (result == PS_OK && !parse_sign(parser, ')'))
			result = parse_fail(parser, "')'");
	}
	parse_blanks(parser);
	if (result == PS_OK && *parser->at)
		result = parse_fail(parser, "the end");
	return result == PS_OK ? add_abstract(parser, abstract, (size_t)most) : result;
}

int tool_places_parse(struct tool_places *out, const char *text, const struct ps_component *root,
                      const struct tool_cpus *allowed)
{
	struct parser parser = {.text = text, .at = text, .root = root, .allowed = allowed};
	int result;

	parse_blanks(&parser);
	if (isalpha((unsigned char)*parser.at))
		result = parse_abstract(&parser);
	else
		result = parse_list(&parser);
	parse_blanks(&parser);
	if (result == PS_OK && *parser.at)
		result = parse_fail(&parser, "',' or the end");
	tool_places_clear(&parser.excluded);
	if (result != PS_OK) {
		tool_places_clear(&parser.places);
		return result;
	}
	*out = parser.places;
	return PS_OK;
}

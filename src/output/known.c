/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How values are known, in words. All text exporters use the same words, and explain only those
 * that occur.
 */
#include "output/known.h"

#include "backend/papi_calls.h"
#include "base/error.h"
#include "output/number.h"
#include "output/wrap.h"
#include "store/sum.h"
#include "topology/tree.h"

#include <math.h>
#include <perfsage/print.h>
#include <stddef.h>
#include <string.h>

struct word {
	unsigned bit;
	const char *word;
	const char *meaning;
};

static const struct word attributions[] = {
    {1u << PS_ATTRIBUTION_EXACT, "exact", "the kernel split the count by hardware thread"},
    {1u << PS_ATTRIBUTION_PINNED, "pinned", "the task could run on this hardware thread only"},
    {1u << PS_ATTRIBUTION_ATTACHED, "attached", "counted on this CPU, whatever ran there"},
    {1u << PS_ATTRIBUTION_MIXED, "mixed",
     "an estimate (~) for each hardware thread: by time, or as groups took turns there; a total "
     "without ~ was counted"},
    {1u << PS_ATTRIBUTION_LAST_CPU, "last-cpu",
     "all since the previous reading went to the CPU seen at the reading; the task may have moved"},
};

static const struct word statuses[] = {
    {1u << PS_STATUS_SCALED, "~",
     "an estimate: coverage is the part of the time, or of the visits, that was counted"},
    {1u << PS_STATUS_NEVER_SCHEDULED, "never",
     "the counter never got on the hardware: the count is unknown, not 0"},
    {1u << PS_STATUS_NOT_SUPPORTED, "n/s",
     "not supported by this machine, core or permission: unknown, not 0"},
    {1u << PS_STATUS_INCOMPLETE, ">=",
     "the least that it can be: a program began that the kernel does not count (set-user-ID, "
     "unreadable), a task left the control group, a CPU came online, a counter was off for an "
     "unknown time, a region's counters could not be opened or read, samples were lost, or a "
     "process's report was lost"},
};

static const struct word flags[] = {
    {PS_VALUE_USER_ONLY, "u", "of user space alone, for lack of permission"},
    {PS_VALUE_MOVED, "moved", "the task changed its CPU during the reading"},
    {PS_VALUE_WENT_BACK, "went back", "a counter went backwards, and was counted anew from there"},
    {PS_VALUE_ENDED, "ended", "the counted task has ended: the final count"},
    {PS_VALUE_INTERRUPTED, "interrupted",
     "the counter was off for a while: some events were missed"},
    {PS_VALUE_SATURATED, "saturated", ">, <: the number is beyond 64 bits"},
    {PS_VALUE_SAMPLED, "sampled",
     "an estimate from samples: of a region's visits, or of an event (sampled NAME)"},
    {PS_VALUE_PAUSED, "paused",
     "the event was paused at times: what happened meanwhile isn't in the count"},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static uint32_t known_flags(enum ps_status status, uint32_t all)
{
	uint32_t noted = all & ~(uint32_t)PS_VALUE_USER_ONLY;

	return noted | (ps__known_is_user_only(status, all) ? PS_VALUE_USER_ONLY : 0);
}

void ps__known_note(struct ps__known *known, const struct ps_value *value)
{
	double coverage = ps_value_coverage(value);

	known->attributions |= 1u << value->attribution;
	known->flags |= known_flags(value->status, value->flags);
	if (value->status == PS_STATUS_SCALED) {
		bool first = !(known->statuses & 1u << PS_STATUS_SCALED);
		/* An unknown coverage (NaN) makes both ends of the range unknown, because
		 * comparisons with NaN are always false. */
		bool unknown = isnan(coverage);
		known->lowest =
		    first || unknown || coverage < known->lowest ? coverage : known->lowest;
		known->highest =
		    first || unknown || coverage > known->highest ? coverage : known->highest;
	}
	known->statuses |= 1u << value->status;
}

void ps__known_note_metric(struct ps__known *known, const struct ps_metric_value *value)
{
	known->statuses |= 1u << value->status;
	known->flags |= known_flags(value->status, value->flags);
}

static void known_add_coverage(struct ps__buffer *buffer, const struct ps__known *known)
{
	if (isnan(known->lowest) || isnan(known->highest)) {
		ps__buffer_add(buffer, ", scaled, coverage unknown");
		return;
	}
	int lowest = (int)(known->lowest * 100), highest = (int)(known->highest * 100);
	if (highest < 1)
		ps__buffer_add(buffer, ", scaled, coverage below 1%%");
	else if (lowest == highest)
		ps__buffer_add(buffer, ", scaled, coverage %d%%", lowest);
	else
		ps__buffer_add(buffer, ", scaled, coverage %d-%d%%", lowest, highest);
}

void ps__known_add_words(struct ps__buffer *buffer, const struct ps__known *known)
{
	const char *separator = "";

	for (size_t i = 0; i < COUNT_OF(attributions); i++) {
		if (!(known->attributions & attributions[i].bit))
			continue;
		ps__buffer_add(buffer, "%s%s", separator, attributions[i].word);
		separator = "+";
	}
	if (known->statuses & 1u << PS_STATUS_SCALED)
		known_add_coverage(buffer, known);
	if (known->statuses & 1u << PS_STATUS_INCOMPLETE)
		ps__buffer_add(buffer, ", incomplete");
	for (size_t i = 0; i < COUNT_OF(flags); i++) {
		if (known->flags & flags[i].bit && flags[i].bit != PS_VALUE_USER_ONLY)
			ps__buffer_add(buffer, ", %s", flags[i].word);
	}
}

bool ps__known_has_number(enum ps_status status)
{
	return status <= PS_STATUS_SCALED || status == PS_STATUS_INCOMPLETE;
}

bool ps__known_has_place(const struct ps_value *value)
{
	/* Some events were missed, and it is unknown where they happened. */
	const uint32_t incomplete = PS_VALUE_SAMPLED | PS_VALUE_INTERRUPTED | PS_VALUE_WENT_BACK;

	return ps__value_is_known(value) && !(value->flags & incomplete) &&
	       (value->attribution == PS_ATTRIBUTION_EXACT ||
	        value->attribution == PS_ATTRIBUTION_PINNED);
}

struct ps_value ps__known_zero(const struct ps_value *sum)
{
	const uint32_t kept = PS_VALUE_USER_ONLY | PS_VALUE_ENDED | PS_VALUE_PAUSED;

	return (struct ps_value){.attribution = sum->attribution,
	                         .flags = sum->flags & kept,
	                         .timestamp = sum->timestamp};
}

bool ps__known_is_share(const struct ps_value *value, const struct ps_component *component,
                        bool has_elsewhere)
{
	const struct ps_topology *topology = component->topology;
	bool has_all = component == topology->root ||
	               (component->type != PS_COMPONENT_THREAD && !has_elsewhere &&
	                component->thread_count == topology->thread_count);

	return value->attribution == PS_ATTRIBUTION_MIXED && !has_all;
}

bool ps__known_is_user_only(enum ps_status status, uint32_t all)
{
	return all & PS_VALUE_USER_ONLY && ps__known_has_number(status);
}

/* Adds the word for an unknown value. Returns false if the value is known. */
static bool known_add_unknown(struct ps__buffer *buffer, enum ps_status status)
{
	if (status == PS_STATUS_NEVER_SCHEDULED)
		ps__buffer_add(buffer, "never");
	else if (status == PS_STATUS_NOT_SUPPORTED)
		ps__buffer_add(buffer, "n/s");
	return status == PS_STATUS_NEVER_SCHEDULED || status == PS_STATUS_NOT_SUPPORTED;
}

static void known_add_number(struct ps__buffer *buffer, double number, const struct ps__look *look)
{
	if (strcmp(look->unit, "%") == 0) {
		ps__number_add_plain(buffer, number);
		ps__buffer_add(buffer, "%%");
	} else if (look->si && strcmp(look->unit, "ns") == 0) {
		ps__number_add_time(buffer, number);
	} else if (look->si) {
		ps__number_add_si(buffer, number);
	} else if (look->scale > 1 && look->scale == floor(look->scale)) {
		ps__number_add_fixed(buffer, number, 0);
	} else {
		ps__number_add_plain(buffer, number);
	}
}

const char *ps__known_heading_unit(const struct ps__look *look)
{
	return look->si && strcmp(look->unit, "ns") == 0 ? "" : look->unit;
}

/* The mark is separated from a unit or a prefix: "45.72 us u", "12.35M u". */
const char *ps__known_mark(enum ps_status status, uint32_t all, const struct ps__look *look)
{
	if (!ps__known_is_user_only(status, all))
		return "";
	return look->si ? " u" : "u";
}

/* The count of an incomplete value is a lower bound; a share of it is an estimate as well. */
static const char *known_prefix_of(const struct ps_value *value, const struct ps__look *look)
{
	if (value->status == PS_STATUS_INCOMPLETE)
		return look->is_share ? ">=~" : ">=";
	return value->status == PS_STATUS_SCALED || look->is_share ? "~" : "";
}

const char *ps__known_prefix_of_some(const struct ps_value *weakest, const struct ps__look *look)
{
	if (weakest->status == PS_STATUS_INCOMPLETE && weakest->running_ns < weakest->enabled_ns)
		return ">=~";
	return known_prefix_of(weakest, look);
}

static void known_add_count(struct ps__buffer *buffer, const char *prefix,
                            const struct ps_value *value, const struct ps__look *look)
{
	if (known_add_unknown(buffer, value->status))
		return;
	ps__buffer_add(buffer, "%s", prefix);
	if (value->flags & PS_VALUE_SATURATED)
		ps__buffer_add(buffer, value->value < 0 ? "<" : ">");
	if (look->si || look->scale != 1)
		known_add_number(buffer, (double)value->value * look->scale, look);
	else
		ps__buffer_add(buffer, "%lld", value->value);
	ps__buffer_add(buffer, "%s", ps__known_mark(value->status, value->flags, look));
}

void ps__known_add_value(struct ps__buffer *buffer, const struct ps_value *value,
                         const struct ps__look *look)
{
	known_add_count(buffer, known_prefix_of(value, look), value, look);
}

void ps__known_add_one_of(struct ps__buffer *buffer, long long number,
                          const struct ps_value *weakest, const struct ps__look *look)
{
	struct ps_value value = *weakest;

	value.value = number;
	value.flags &= ~(uint32_t)PS_VALUE_SATURATED;
	known_add_count(buffer, ps__known_prefix_of_some(weakest, look), &value, look);
}

void ps__known_add_mean(struct ps__buffer *buffer, const struct ps_value *value, double mean,
                        const struct ps__look *look)
{
	if (known_add_unknown(buffer, value->status))
		return;
	ps__buffer_add(buffer, "%s", ps__known_prefix_of_some(value, look));
	if (!look->si && look->scale == 1)
		ps__number_add_fixed(buffer, mean, 0);
	else
		known_add_number(buffer, mean * look->scale, look);
	ps__buffer_add(buffer, "%s", ps__known_mark(value->status, value->flags, look));
}

void ps__known_add_metric(struct ps__buffer *buffer, const struct ps_metric_value *value,
                          const struct ps__look *look)
{
	if (known_add_unknown(buffer, value->status) || isnan(value->value))
		return;
	ps__buffer_add(buffer, "%s",
	               value->status == PS_STATUS_SCALED || look->is_share ? "~" : "");
	struct ps__look small = {
	    .unit = look->unit, .scale = 1, .si = look->si && fabs(value->value) >= 1000};
	known_add_number(buffer, value->value, &small);
	ps__buffer_add(buffer, "%s", ps__known_mark(value->status, value->flags, look));
}

/* Returns the meaning of a word. If the process uses PAPI, it names the domain of a PAPI set as a
 * further possible reason. */
static const char *known_meaning(const struct word *word, bool is_whole)
{
	if (is_whole && strcmp(word->word, "last-cpu") == 0)
		return "counted for the whole machine, not by CPU";
	if (!ps__papi_calls.built_version || !ps__papi_calls.is_initialized())
		return word->meaning;
	if (strcmp(word->word, "n/s") == 0)
		return "not supported by this machine, core, permission or PAPI domain: unknown, "
		       "not 0";
	if (strcmp(word->word, "u") == 0)
		return "of user space alone: for lack of permission, or as a PAPI set's domain has "
		       "it";
	return word->meaning;
}

static void known_add_meanings(struct ps__buffer *buffer, const struct word *words, size_t count,
                               unsigned bits, bool is_whole)
{
	for (size_t i = 0; i < count; i++) {
		if (bits & words[i].bit)
			ps__buffer_add(buffer, "%-11s  %s\n", words[i].word,
			               known_meaning(&words[i], is_whole));
	}
}

void ps__known_add_legend(struct ps__buffer *buffer, const struct ps__known *known)
{
	known_add_meanings(buffer, statuses, COUNT_OF(statuses), known->statuses, false);
	known_add_meanings(buffer, flags, COUNT_OF(flags), known->flags, false);
	known_add_meanings(buffer, attributions, COUNT_OF(attributions), known->attributions,
	                   known->is_whole);
}

static struct ps__known known_of(const struct ps_value *values, size_t count)
{
	struct ps__known known = {0};

	for (size_t index = 0; index < count; index++)
		ps__known_note(&known, &values[index]);
	return known;
}

int ps_print_known(const struct ps_value *values, size_t count, FILE *stream)
{
	struct ps__buffer buffer = {0};

	if (!values || !stream)
		return ps__fail(PS_EINVAL, "ps_print_known: the %s is NULL",
		                values ? "stream" : "values");
	struct ps__known known = known_of(values, count);
	ps__known_add_words(&buffer, &known);
	return ps__buffer_finish(&buffer, stream);
}

int ps_print_legend(const struct ps_value *values, size_t count, size_t width, FILE *stream)
{
	struct ps__buffer buffer = {0}, lines = {0};

	if (!values || !stream)
		return ps__fail(PS_EINVAL, "ps_print_legend: the %s is NULL",
		                values ? "stream" : "values");
	struct ps__known known = known_of(values, count);
	ps__known_add_legend(&lines, &known);
	ps__wrap_add_lines(&buffer, &lines, PS__KNOWN_INDENT, width);
	ps__buffer_clear(&lines);
	return ps__buffer_finish(&buffer, stream);
}

void ps__known_add_unknown(struct ps__buffer *buffer, const char *metric)
{
	ps__buffer_add(
	    buffer,
	    "%-11s  not known: its formula divides by 0 or overflows, or a number in it is not "
	    "known\n",
	    metric);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies one term of pmu/.../: writes its value into the bits that the PMU's
 * format file names. Makes the error sentence for a wrong term. */
#include "base/error.h"
#include "base/os.h"
#include "event/names.h"
#include "event/pmu.h"

#include <stdio.h>
#include <string.h>

/* Writes where the term stands: "(character 5)", or the kernel's alias file. */
static const char *apply_where(const struct ps__pmu_query *query, const struct ps__term *term,
                               char *buffer, size_t size_bytes)
{
	if (query->alias)
		snprintf(buffer, size_bytes, "of the alias file events/%.*s",
		         query->alias->name_length, query->alias->name);
	else
		snprintf(buffer, size_bytes, "(character %td)",
		         PS__POSITION(query->name, term->name));
	return buffer;
}

static int apply_add_name(const char *name, void *context)
{
	ps__names_add(context, name);
	return 0;
}

int ps__pmu_fail_term(const struct ps__pmu_query *query, const struct ps__term *term)
{
	struct ps__names terms = {.count = 0}, aliases = {.count = 0};
	char term_list[200], alias_list[300], where[160];

	ps__pmu_for_each_format(query->pmu.name, apply_add_name, &terms);
	ps__pmu_for_each_alias(query->pmu.name, apply_add_name, &aliases);
	ps__names_write(&terms, term_list, sizeof term_list);
	ps__names_write(&aliases, alias_list, sizeof alias_list);
	return ps__fail(PS_EATTR,
	                "event '%s': PMU %s has no term%s '%.*s' %s; its terms are: %s (and %s); "
	                "its events: %s",
	                query->name, query->pmu.name, term->has_value ? "" : " or event",
	                term->name_length, term->name,
	                apply_where(query, term, where, sizeof where), term_list,
	                query->event->is_probe ? ps__probe_terms(&query->pmu)
	                                       : "config, config1 to config4, name",
	                alias_list);
}

static int apply_fail_value(const struct ps__pmu_query *query, const struct ps__term *term,
                            const struct ps__format *format, const char *what)
{
	char where[160];

	return ps__fail(PS_EATTR,
	                "event '%s': the value '%.*s' of '%.*s' %s is %s: 0 to 0x%llx can be given",
	                query->name, term->value_length, term->value, term->name_length, term->name,
	                apply_where(query, term, where, sizeof where), what,
	                (unsigned long long)ps__format_max(format));
}

static int apply_number(struct ps__pmu_query *query, const struct ps__term *term,
                        const struct ps__format *format)
{
	uint64_t value = 1;

	if (term->has_value && !ps__term_number(term, &value))
		return apply_fail_value(query, term, format,
		                        "not a number of 64 bits, decimal or with 0x");
	if (!ps__format_apply(format, value, query->event))
		return apply_fail_value(query, term, format, "too large");
	return PS_OK;
}

/* Applies name=..., the name to show for the event, because an encoding is too long for a table. */
static int apply_name(struct ps__pmu_query *query, const struct ps__term *term)
{
	if (term->value_length == 0)
		return ps__fail(PS_EATTR, "event '%s': name= (character %td) is empty", query->name,
		                PS__POSITION(query->name, term->name));
	query->event->name = ps__os_strndup(term->value, (size_t)term->value_length);
	return query->event->name ? PS_OK : ps__fail_memory("the name of an event");
}

/* Applies terms that every PMU has: whole words of the attribute, name=, and
 * r1a8 for config. */
static int apply_common(struct ps__pmu_query *query, const struct ps__term *term)
{
	static const char *const words[] = {"config", "config1", "config2", "config3", "config4"};

	for (int i = 0; i < (int)(sizeof words / sizeof words[0]); i++) {
		if (ps__term_is(term, words[i]) && term->has_value)
			return apply_number(query, term, &(struct ps__format){i, UINT64_MAX});
	}
	if (ps__term_is(term, "name") && term->has_value && !query->alias)
		return apply_name(query, term);
	if (term->has_value || term->name_length < 2 || term->name[0] != 'r')
		return PS__NOT_HERE;
	char digits[PS__EVENT_NAME_MAX + 3];
	int length =
	    snprintf(digits, sizeof digits, "0x%.*s", term->name_length - 1, term->name + 1);
	struct ps__term raw = {.value = digits, .value_length = length};
	uint64_t code;
	if (!ps__term_number(&raw, &code))
		return PS__NOT_HERE;
	query->event->attr.config = code;
	return PS_OK;
}

int ps__pmu_term_apply(struct ps__pmu_query *query, const struct ps__term *term)
{
	char text[256];
	struct ps__format format;

	int code = ps__pmu_read(text, sizeof text, query, "format", term, "");
	if (code == PS__NOT_HERE)
		return apply_common(query, term);
	if (code)
		return code;
	if (!ps__format_parse(text, &format))
		return ps__fail(PS_EATTR,
		                "event '%s': the format of '%.*s' of PMU %s, '%s', is none that "
		                "this version of perfsage knows; give the whole attribute words "
		                "with config=, config1= to config4=",
		                query->name, term->name_length, term->name, query->pmu.name, text);
	return apply_number(query, term, &format);
}

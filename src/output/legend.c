/* SPDX-License-Identifier: BSD-3-Clause */
/* How values of the caller's own tables are known: in the words of the text output, so that these are said in one way. */
#include "base/error.h"
#include "output/known.h"
#include "output/wrap.h"

#include <perfsage/print.h>

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
		return ps__fail(PS_EINVAL, "ps_print_known: the %s is NULL", values ? "stream" : "values");
	struct ps__known known = known_of(values, count);
	ps__known_add_words(&buffer, &known);
	return ps__buffer_finish(&buffer, stream);
}

int ps_print_legend(const struct ps_value *values, size_t count, size_t width, FILE *stream)
{
	struct ps__buffer buffer = {0}, lines = {0};

	if (!values || !stream)
		return ps__fail(PS_EINVAL, "ps_print_legend: the %s is NULL", values ? "stream" : "values");
	struct ps__known known = known_of(values, count);
	ps__known_add_legend(&lines, &known);
	ps__wrap_add_lines(&buffer, &lines, PS__KNOWN_INDENT, width);
	ps__buffer_clear(&lines);
	return ps__buffer_finish(&buffer, stream);
}

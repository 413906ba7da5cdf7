/* SPDX-License-Identifier: BSD-3-Clause */
/* The corpus in tests/fixtures/formulas: formulas with what they give, and texts that are none with
 * the column where that shows. */
#include "support/fixture.h"
#include "support/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The names of tests/fixtures/formulas/good.txt. */
static int look_up_corpus(void *context, const char *name, double *number, struct ps_value *value)
{
	static const struct {
		const char *name;
		double number;
	} numbers[] = {{"a", 2},
	               {"b", 3},
	               {"c", 5},
	               {"zero", 0},
	               {"page-faults", 7},
	               {"cpu/event=0x3c,umask=1/", 11},
	               {"#num_cpus", 4},
	               {"#smt_on", 1},
	               {"has_event(a)", 1},
	               {"has_event(z)", 0},
	               {"source_count(a)", 6}};

	(void)context;
	(void)value;
	for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) {
		if (strcmp(numbers[index].name, name) == 0)
			*number = numbers[index].number;
	}
	return PS_OK;
}

/* Calls check with the first word of each line, and the rest; returns how many they are. */
static unsigned for_each_line(const char *file, void (*check)(const char *word, const char *text))
{
	char *corpus = fixture_read(fixture_path("fixtures/formulas", file), NULL), *rest;
	unsigned count = 0;

	for (char *line = strtok_r(corpus, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *blank = strchr(line, ' ');
		if (*line == '#')
			continue;
		ck_assert_msg(blank != NULL, "%s", line);
		*blank = '\0';
		check(line, blank + 1);
		count++;
	}
	free(corpus);
	return count;
}

static void check_good(const char *word, const char *text)
{
	struct ps_formula *formula = NULL;
	struct ps_metric_value value;

	check_ok(ps_formula_create(&formula, text));
	check_ok(ps_formula_evaluate(formula, look_up_corpus, NULL, &value));
	if (strcmp(word, "?") == 0)
		ck_assert_msg(isnan(value.value), "%s: %.17g", text, value.value);
	else
		ck_assert_msg(fabs(value.value - atof(word)) <= 1e-12 * fabs(value.value),
		              "%s: %.17g is not %s", text, value.value, word);
	ps_formula_destroy(formula);
}

static void check_bad(const char *word, const char *text)
{
	struct ps_formula *formula = NULL;
	char place[64];

	snprintf(place, sizeof place, "line 1, column %s of the formula: ", word);
	int result = ps_formula_create(&formula, text);
	ck_assert_msg(result == PS_EINVAL && strncmp(ps_error_detail(), place, strlen(place)) == 0,
	              "%s: %d, %s", text, result, ps_error_detail());
}

START_TEST(the_corpus_of_formulas)
{
	ck_assert_uint_ge(for_each_line("good.txt", check_good), 80);
	ck_assert_uint_ge(for_each_line("bad.txt", check_bad), 50);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("formula_corpus");
	TCase *tests = scene_case(suite, "formula_corpus");

	tcase_add_test(tests, the_corpus_of_formulas);
	return scene_run(suite);
}

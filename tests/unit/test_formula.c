/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formulas: what the grammar takes and what it means, and where it says what is wrong.
 * test_formula_names.c has what names mean, and how a result is known; test_formula_corpus.c has a
 * corpus; tests/scripts/formulas.py holds formulas against those of the Linux kernel, and
 * tests/scripts/perf_metrics.py against what perf stat -M shows.
 */
#include "analysis/formula.h"
#include "support/formula_fuzz.h"
#include "support/scene.h"
#include "support/small.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct ps_formula *formula_of(const char *text)
{
	struct ps_formula *formula = NULL;

	check_ok(ps_formula_create(&formula, text));
	return formula;
}

/* A name's number is made of its letters, so that each has another one. */
static double number_of(const char *name)
{
	double number = 1;

	for (; *name; name++)
		number = fmod(number * 31 + (unsigned char)*name, 1009);
	return number + 0.5;
}

static int look_up(void *context, const char *name, double *number, struct ps_value *value)
{
	(void)context;
	(void)value;
	*number = strcmp(name, "zero") == 0       ? 0
	          : strcmp(name, "nan") == 0      ? (double)NAN
	          : strcmp(name, "infinite") == 0 ? (double)INFINITY
	                                          : number_of(name);
	return PS_OK;
}

static double value_of(const char *text)
{
	struct ps_formula *formula = formula_of(text);
	struct ps_metric_value value;

	check_ok(ps_formula_evaluate(formula, look_up, NULL, &value));
	ps_formula_destroy(formula);
	return value.value;
}

static const struct {
	const char *text;
	double value;
} known[] = {
    {"1", 1},
    {" 2.5e2 ", 250},
    {".5", 0.5},
    {"7.", 7},
    {"1e-3", 0.001},
    {"1 + 2 * 3", 7},
    {"(1 + 2) * 3", 9},
    {"10 - 4 - 3", 3},
    {"100 / 10 / 5", 2},
    {"7 % 4", 3},
    {"-3 + 1", -2},
    {"- - 3", 3},
    {"2 * -3", -6},
    {"-2 * 3 + 10", 4},
    {"3 < 4", 1},
    {"4 < 3", 0},
    {"3 > 4 | 1", 1},
    {"6 & 3", 2},
    {"6 ^ 3", 5},
    {"6 | 1", 7},
    {"1 + 1 < 3", 1},
    {"1 | 2 & 4", 1},
    {"5 & 1 + 2", 1},
    {"10 if 1 else 20", 10},
    {"10 if 0 else 20", 20},
    {"1 if 0 else 2 if 0 else 3", 3},
    {"(1 if 1 < 2 else 2) + 5", 6},
    {"1 + 2 if 3 > 2 else 4", 3},
    {"min(3, 4)", 3},
    {"max(3, 2 + 2)", 4},
    {"min(1 if 0 else 9, 5)", 5},
    {"d_ratio(1, 4)", 0.25},
    {"d_ratio(1, 0)", 0},
    {"d_ratio(1, zero)", 0},
    {"min(3,4)*2", 6},
    {"100*(\n1\n+\t1)", 200},
    /* What isn't looked at doesn't matter. */
    {"5 if 1 else nan", 5},
    {"nan if 0 else 5", 5},
    {"5 if 1 else 1e308 * 10", 5},
    /* 64 bits, and no more. */
    {"9.2e18 % 1000", 0},
    {"-9223372036854775808 | 0", -0x1p63},
    {"9223372036854774784 & 9223372036854774784", 0x1p63 - 1024},
    {"-9223372036854775808 % -1", 0},
};

START_TEST(the_grammar_means_what_perf_means)
{
	for (size_t index = 0; index < sizeof known / sizeof known[0]; index++)
		ck_assert_msg(value_of(known[index].text) == known[index].value, "%s: %.17g",
		              known[index].text, value_of(known[index].text));
}
END_TEST

START_TEST(what_is_beyond_64_bits_has_no_bits)
{
	static const char *const texts[] = {
	    "5.2e19 % 10000", "5e31 | 1",   "5e31 & 5e31",       "1 ^ 9223372036854775808",
	    "7 % 1e19",       "-1e19 | -1", "0 & -9.3e18",       "9223372036854775808 % 7",
	    "1e300 ^ 1e300",  "1 % -1e30",  "(1e19 | 1) * 0 + 1"};

	for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++)
		ck_assert_msg(isnan(value_of(texts[index])), "%s: %g", texts[index],
		              value_of(texts[index]));
}
END_TEST

START_TEST(what_overflows_inside_is_no_number)
{
	static const char *const texts[] = {"1 / (1e308 * 10)",    "1e308 * 10 > 5",
	                                    "min(1e308 * 10, 3)",  "d_ratio(1, 1e308 + 1e308)",
	                                    "0 * (1e308 / 0.1)",   "-1e308 * 10 < 0",
	                                    "max(-1e308 * 10, 3)", "infinite * 0",
	                                    "1 / infinite",        "1 if infinite else 2"};

	for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++)
		ck_assert_msg(isnan(value_of(texts[index])), "%s: %g", texts[index],
		              value_of(texts[index]));
}
END_TEST

START_TEST(what_is_not_known_is_no_number)
{
	static const char *const texts[] = {
	    "1 / 0",           "1 / zero",        "nan",
	    "nan + 1",         "0 * nan",         "nan < 1",
	    "min(nan,1)",      "max(1,nan)",      "nan | 1",
	    "1 & nan",         "d_ratio(1,nan)",  "-nan",
	    "1 if nan else 2", "1 % 0",           "1e308 * 10",
	    "nan ^ nan",       "d_ratio(nan, 0)", "7 % nan",
	};

	for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++)
		ck_assert_msg(isnan(value_of(texts[index])), "%s: %g", texts[index],
		              value_of(texts[index]));
}
END_TEST

static void check_names(const char *text, const char *const *names)
{
	struct ps_formula *formula = formula_of(text);
	size_t index = 0;

	for (; names[index]; index++)
		ck_assert_str_eq(ps_formula_name(formula, index), names[index]);
	ck_assert_ptr_eq(ps_formula_name(formula, index), NULL);
	ps_formula_destroy(formula);
}

START_TEST(names_are_events_with_all_that_belongs_to_them)
{
	check_names("instructions / cycles + instructions",
	            (const char *const[]){"instructions", "cycles", NULL});
	check_names("page\\-faults / task\\-clock:u",
	            (const char *const[]){"page-faults", "task-clock:u", NULL});
	check_names(
	    "cpu@event\\=0x3c\\,umask\\=1@ - cpu_core@L1D.REPLACEMENT@",
	    (const char *const[]){"cpu/event=0x3c,umask=1/", "cpu_core/L1D.REPLACEMENT/", NULL});
	check_names("#num_cpus * 2 if #smt_on else 3slots",
	            (const char *const[]){"#num_cpus", "#smt_on", "3slots", NULL});
	check_names("has_event( cycles:k ) | source_count(UNC_M_CAS) - strcmp_cpuid_str(0x41)",
	            (const char *const[]){"has_event(cycles:k)", "source_count(UNC_M_CAS)",
	                                  "strcmp_cpuid_str(0x41)", NULL});
	/* Words of the grammar within a name. */
	check_names("minimum + iffy - elsewhere * max_",
	            (const char *const[]){"minimum", "iffy", "elsewhere", "max_", NULL});
	check_names("1e3x + 0x3c", (const char *const[]){"1e3x", "0x3c", NULL});
	ck_assert_ptr_eq(ps_formula_name(NULL, 0), NULL);
}
END_TEST

static const struct {
	const char *text, *detail;
} wrong[] = {
    {"", "line 1, column 1 of the formula: an operand is expected, but the formula ends here"},
    {"  \n ", "line 2, column 2"},
    {"1 +", "column 4 of the formula: an operand is expected, but the formula ends here"},
    {"1 2", "column 3 of the formula: an operator is expected, not '2'"},
    {"a b", "column 3"},
    {"(1", "column 3 of the formula: an operator or ')' is expected"},
    {"1)", "column 2 of the formula: an operator is expected, not ')'"},
    {"a\n+ * b", "line 2, column 3 of the formula: an operand is expected, not '*'"},
    {"min(1)", "',' and a second operand"},
    {"min 1", "'(' is expected, not '1'"},
    {"max(1,2,3)", "')' is expected, not ','"},
    {"1 if 2", "'else' is expected, but the formula ends here"},
    {"1 if else 2", "an operand is expected, not 'else'"},
    {"if 1 else 2", "an operand is expected, not 'if'"},
    {"has_event(1 + 2)", "')' is expected, not '+'"},
    {"has_event()", "a name is expected"},
    {"has_event", "'(' is expected"},
    {"a = b", "an operator is expected, not '='"},
    {"a && b", "an operand is expected, not '&'"},
    {"#", "an operand is expected, not '#'"},
    {"\xc3\xa9 + 1", "column 1"},
    {"1 + \xc3\xa9\xc3\xa9", "column 5"},
    {"a $ b", "not '$'"},
    {"a - \\x", "column 5"},
    {"10000000000000000000000000000000000000000000000000000000000000000000000",
     "less than 64 digits"},
};

START_TEST(a_mistake_is_shown_where_it_is)
{
	struct ps_formula *formula = NULL;

	for (size_t index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
		check_fails(ps_formula_create(&formula, wrong[index].text), PS_EINVAL);
		check_detail(wrong[index].detail);
		ck_assert_ptr_eq(formula, NULL);
	}
	check_fails(ps_formula_create(&formula, NULL), PS_EINVAL);
	check_fails(ps_formula_create(NULL, "1"), PS_EINVAL);
	ps_formula_destroy(NULL);
}
END_TEST

/* Repeats one text between two others. */
static char *repeated(const char *begin, const char *text, size_t times, const char *end)
{
	size_t length = strlen(text);
	char *whole = malloc(strlen(begin) + times * length + strlen(end) + 1), *at = whole;

	ck_assert_ptr_nonnull(whole);
	at = stpcpy(at, begin);
	for (size_t time = 0; time < times; time++)
		at = stpcpy(at, text);
	strcpy(at, end);
	return whole;
}

START_TEST(a_formula_may_be_long_but_not_deep)
{
	struct ps_formula *formula = NULL;
	char *text = repeated("0", " + 1", 100000, "");

	ck_assert(value_of(text) == 100000);
	free(text);
	text = repeated("", "-", 100001, "1");
	ck_assert(value_of(text) == -1);
	free(text);
	text = repeated("", "(", 63, "1");
	char *closed = repeated(text, ")", 63, "");
	ck_assert(value_of(closed) == 1);
	free(text);
	free(closed);
	text = repeated("", "(", 100000, "");
	check_fails(ps_formula_create(&formula, text), PS_EINVAL);
	check_detail("column 65 of the formula: the formula is too deep");
	free(text);
	text = repeated("", "1 if 0 else ", 100000, "1");
	check_fails(ps_formula_create(&formula, text), PS_EINVAL);
	check_detail("too deep");
	free(text);
}
END_TEST

START_TEST(a_number_has_a_point_whatever_the_locale)
{
	ck_assert(value_of("1.5") == 1.5);
	ck_assert(value_of("3.5x") == number_of("3.5x")); /* a name */
}
END_TEST

START_TEST(each_lack_of_memory_is_told)
{
	bool happened = true;

	for (unsigned nth = 1; happened && nth < 200; nth++) {
		struct ps_formula *formula = NULL;
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_formula_create(
		    &formula, "a + b * min(c, d) + has_event(e) if f else 1 + 2 + 3 + g + h + i");
		happened = fake_fail_happened();
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert_int_eq(result, happened ? PS_ENOMEM : PS_OK);
		ps_formula_destroy(formula);
	}
	ck_assert(!happened);
}
END_TEST

static int refuse(void *context, const char *name, double *number, struct ps_value *value)
{
	(void)name;
	(void)number;
	(void)value;
	++*(int *)context;
	return PS_ENOEVST;
}

START_TEST(a_look_up_can_end_the_evaluation)
{
	struct ps_formula *formula = formula_of("a + b");
	struct ps_metric_value value = {.value = 42};
	struct ps_value counted = {0};
	int asked = 0;

	ck_assert_int_eq(ps_formula_evaluate(formula, refuse, &asked, &value), PS_ENOEVST);
	ck_assert_int_eq(asked, 1);
	ck_assert(value.value == 42);
	check_fails(ps_formula_evaluate(NULL, refuse, &asked, &value), PS_EINVAL);
	check_fails(ps_formula_evaluate(formula, NULL, NULL, &value), PS_EINVAL);
	check_fails(ps_formula_evaluate(formula, refuse, &asked, NULL), PS_EINVAL);
	check_fails(ps_formula_value(formula, NULL, &counted, NULL, &value), PS_EINVAL);
	ps_formula_destroy(formula);
}
END_TEST

/* Formulas made by the grammar give what they mean, and damaged ones are taken or refused. The
 * sanitizers see to the rest. */
START_TEST(made_up_formulas_mean_what_they_say)
{
	uint64_t runs = (uint64_t)ps_test_serial_size(100000, 4000);
	struct formula_fuzz result;

	ck_assert_msg(formula_fuzz(1, runs, &result), "%s", result.wrong);
	ck_assert_uint_gt(result.compared, runs / 2);
	ck_assert_uint_gt(result.taken, runs / 20);
	ck_assert_uint_gt(result.refused, runs / 4);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("formula");
	TCase *tests = scene_case(suite, "formula");

	tcase_add_test(tests, the_grammar_means_what_perf_means);
	tcase_add_test(tests, what_is_not_known_is_no_number);
	tcase_add_test(tests, what_is_beyond_64_bits_has_no_bits);
	tcase_add_test(tests, what_overflows_inside_is_no_number);
	tcase_add_test(tests, names_are_events_with_all_that_belongs_to_them);
	tcase_add_test(tests, a_mistake_is_shown_where_it_is);
	tcase_add_test(tests, a_formula_may_be_long_but_not_deep);
	tcase_add_test(tests, a_number_has_a_point_whatever_the_locale);
	tcase_add_test(tests, each_lack_of_memory_is_told);
	tcase_add_test(tests, a_look_up_can_end_the_evaluation);
	tcase_add_test(tests, made_up_formulas_mean_what_they_say);
	return scene_run(suite);
}

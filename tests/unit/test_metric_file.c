/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of metrics: what the format takes, what the metrics then give, and where it says what is
 * wrong. tests/unit/test_metric_load.c has the folders, and the events that are counted. */
#include "support/scene.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH "/sys/my.metrics"
#define HEAD "group g: about\n"

static int load(const char *text)
{
	fake_file(PATH, text);
	return ps_metric_load(PATH);
}

static double value_of(int cpu, const char *name)
{
	const struct ps_component *component =
	    cpu < 0 ? scene.root : ps_component_find(scene.root, PS_COMPONENT_THREAD, cpu);
	struct ps_metric_value value;

	check_ok(ps_component_metric(component, name, &value));
	return value.value;
}

START_TEST(a_file_gives_metrics_with_all_that_it_says)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	check_ok(load("# A comment\n"
	              "group mine: what I want to know\n"
	              "\n"
	              "event faults = PAPI_PGF or faults or page-faults\n"
	              "event time = task-clock or cpu-clock   \n"
	              "number weight = 2.5\n"
	              "\n"
	              "metric fault-weight [kg/ms]: the weight of the faults\n"
	              "\tweight * faults\n"
	              "    / (time / 1e6)\n"
	              "# Another one\n"
	              "metric plain: faults as they are\n"
	              " faults"));
	scene_store(set, 1, (const long long[]){12, 3000000});
	ck_assert(value_of(1, "fault-weight") == 10);
	ck_assert(value_of(-1, "FAULT-Weight") == 10);
	ck_assert(value_of(1, "plain") == 12);
	ck_assert_str_eq(ps_metric_unit("fault-weight"), "kg/ms");
	ck_assert_str_eq(ps_metric_unit("plain"), "");
	ck_assert_str_eq(ps_metric_group("fault-weight"), "mine");
	ck_assert_str_eq(ps_metric_description("fault-weight"), "the weight of the faults");
	ck_assert_str_eq(ps_metric_formula("fault-weight"), "weight * faults\n    / (time / 1e6)");
	ck_assert_ptr_null(ps_metric_formula("none"));
	ck_assert_ptr_null(ps_metric_group("none"));
	check_ok(ps_metric_undefine("fault-weight"));
	check_ok(ps_metric_undefine("plain"));
	check_fails(ps_metric_undefine("plain"), PS_ENOEVNT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_byte_order_mark_is_no_part_of_the_first_line)
{
	check_ok(load("\xef\xbb\xbfgroup mine: all\nmetric plain: faults\n page-faults\n"));
	ck_assert_str_eq(ps_metric_formula("plain"), "page-faults");
	check_ok(ps_metric_undefine("plain"));
	check_fails(load("group mine: all\n\xef\xbb\xbfmetric plain: faults\n page-faults\n"),
	            PS_EINVAL);
}
END_TEST

START_TEST(events_of_a_formula_need_no_line_of_their_own)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	check_ok(load("group mine: pasted\nmetric pasted: as perf has it\n"
	              " page\\-faults / (task\\-clock + 0 * #num_cpus) * 1e6\n"));
	scene_store(set, 0, (const long long[]){6, 3000000});
	ck_assert(value_of(0, "pasted") == 2);
	check_ok(ps_metric_undefine("pasted"));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_first_formula_counts_whose_events_were_counted)
{
	static const char *const names[] = {"cost"};
	struct ps_export_options options = {
	    .size = sizeof options, .metrics = names, .metric_count = 1};
	struct ps_eventset *set = scene_set("page-faults", "context-switches", NULL);
	const struct ps_value sums[2] = {{.value = 30}, {.value = 5}};
	struct ps_metric_value value;
	char *text = NULL;
	size_t bytes;

	check_ok(load("group mine: many machines\n"
	              "event cycles = cycles\nevent faults = page-faults\n"
	              "event switches = context-switches\n"
	              "metric cost: it depends\n cycles / faults\nor\n switches + 100 * faults\n"
	              "or\n faults\n"));
	scene_store(set, 2, (const long long[]){7, 1});
	ck_assert(value_of(2, "cost") == 701);
	check_ok(ps_metric_of_sums(set, "cost", sums, NULL, &value));
	ck_assert(value.value == 3005);
	FILE *stream = open_memstream(&text, &bytes);
	check_ok(ps_export_with(scene.root, PS_FORMAT_JSON, &options, stream));
	fclose(stream);
	ck_assert_ptr_nonnull(strstr(text, "\"metric\": \"cost\", \"value\": 701"));
	free(text);
	ps_eventset_destroy(set);
	/* Nothing that any formula needs. */
	set = scene_set("minor-faults", NULL);
	check_fails(ps_metric_of_sums(set, "cost", sums, NULL, &value), PS_ENOEVNT);
	check_ok(ps_metric_undefine("cost"));
	ps_eventset_destroy(set);
}
END_TEST

static int count_name(const char *name, void *context)
{
	*(int *)context += strncmp(name, "cost", 4) == 0;
	return 0;
}

START_TEST(a_metric_with_several_formulas_is_visited_once)
{
	struct ps_eventset *set =
	    scene_set("page-faults", "page-faults:u", "context-switches", NULL);
	int count = 0;

	check_ok(load("group mine: many machines\n"
	              "metric cost: it depends\n page\\-faults + 1\nor\n page\\-faults\n"
	              "or\n context\\-switches\n"));
	scene_store(set, 2, (const long long[]){7, 3, 1});
	ck_assert(value_of(2, "cost:u") == 4);
	ps_metric_for_each(scene.root, count_name, &count);
	ck_assert_int_eq(count, 2); /* cost and cost:u */
	ps_metric_for_each(NULL, count_name, &count);
	ck_assert_int_eq(count, 3);
	check_ok(ps_metric_undefine("cost"));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_share_is_of_the_whole_machine)
{
	struct ps_eventset *set = scene_set("page-faults", NULL), *other = NULL;

	check_ok(load("group mine: shares\nevent one = page-faults\nmachine all = page-faults\n"
	              "metric fault-share [%]: of all\n 100 * one / all\n"));
	check_ok(ps_eventset_clone(&other, set));
	scene_store(set, 0, (const long long[]){10});
	scene_store(other, 3, (const long long[]){30});
	ck_assert(value_of(0, "fault-share") == 25);
	ck_assert(value_of(3, "fault-share") == 75);
	ck_assert(value_of(-1, "fault-share") == 100);
	check_ok(ps_metric_undefine("fault-share"));
	ps_eventset_destroy(set);
	ps_eventset_destroy(other);
}
END_TEST

START_TEST(a_formula_may_name_the_metrics_above_it)
{
	struct ps_eventset *set = scene_set("page-faults", "context-switches", NULL);

	check_ok(load("group mine: built of each other\n"
	              "event faults = page-faults\nevent switches = context-switches\n"
	              "number two = 2\n"
	              "metric sum: a\n cycles + 1\nor\n faults + switches\n"
	              "metric twice: b\n two * sum - nothing\nor\n sum * two + sum * 0\n"
	              "metric share: c\n 100 * faults / sum\nor\n 1000 * faults / sum + 0 * twice\n"
	              "metric own: d\n faults + own\n"));
	scene_store(set, 2, (const long long[]){3, 1});
	ck_assert(value_of(2, "sum") == 4);
	ck_assert(value_of(2, "twice") == 8);
	ck_assert(value_of(2, "share") == 750);
	/* It isn't above itself: this is an event. */
	check_fails(ps_component_metric(scene.root, "own", &(struct ps_metric_value){0}),
	            PS_ENOEVNT);
	check_detail("page-faults and own");
	check_ok(ps_metric_undefine("sum"));
	ck_assert(value_of(2, "twice") == 8);
	check_ok(ps_metric_undefine("twice"));
	check_ok(ps_metric_undefine("share"));
	check_ok(ps_metric_undefine("own"));
	ps_eventset_destroy(set);
}
END_TEST

/* Each doubles the steps of the one before; or is deeper. */
START_TEST(metrics_of_metrics_have_an_end)
{
	char text[4000] = HEAD "metric m0: a\n e\n", *at = text + strlen(text);

	for (int number = 1; number < 40; number++)
		at += sprintf(at, "metric m%d: a\n m%d + m%d\n", number, number - 1, number - 1);
	check_fails(load(text), PS_ECOUNT);
	check_detail("is too long, or too deep, with the metrics that it names");
	at = stpcpy(text, HEAD "metric m0: a\n ((e))\n");
	for (int number = 1; number < 40; number++)
		at += sprintf(at, "metric m%d: a\n ((m%d))\n", number, number - 1);
	check_fails(load(text), PS_ECOUNT);
	ck_assert_ptr_null(ps_metric_unit("m0"));
}
END_TEST

START_TEST(a_metric_takes_the_place_of_one_before_it)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	scene_store(set, 0, (const long long[]){10, 1000000000});
	ck_assert(value_of(0, "page-fault-rate") == 10);
	check_ok(load("group tasks: mine\nmetric Page-Fault-Rate [1/s]: doubled\n"
	              " page\\-faults * 2\n"));
	ck_assert(value_of(0, "page-fault-rate") == 20);
	check_ok(load("group tasks: mine\nmetric page-fault-rate [1/s]: tripled\n"
	              " page\\-faults * 3\n"));
	ck_assert(value_of(0, "page-fault-rate") == 30);
	ck_assert_str_eq(ps_metric_description("page-fault-rate"), "tripled");
	check_ok(ps_metric_undefine("page-fault-rate"));
	ck_assert(value_of(0, "page-fault-rate") == 20);
	check_ok(ps_metric_undefine("page-fault-rate"));
	ck_assert(value_of(0, "page-fault-rate") == 10);
	/* A built-in one stays. */
	check_fails(ps_metric_undefine("page-fault-rate"), PS_ENOEVNT);
	check_fails(ps_metric_define("page-fault-rate", "a", ""), PS_ECNFLCT);
	ps_eventset_destroy(set);
}
END_TEST

static const struct {
	const char *text, *detail;
} wrong[] = {
    {"", ":1:1: a file of metrics has a metric: none is here"},
    {"# nothing\n", ":1:1: a file of metrics has a metric"},
    {HEAD, ":1:1: a file of metrics has a metric"},
    {"metric a: b\n c\n", ":1:1: 'group NAME: DESCRIPTION' is expected first, not 'metric a: b'"},
    {"group\n", ":1:6: a name of letters"},
    {"group g\n", ":1:8: ':' and a description are expected, and the line ends here"},
    {"group g:  \n", ":1:9: one sentence is expected that says what it is"},
    {HEAD "group h: again\n", ":2:7: a file has one group: put this into a file of its own"},
    {HEAD "metrics a: b\n c\n", ":2:1: 'group', 'event', 'machine', 'number', 'metric' or 'or'"},
    {HEAD " a + b\n", ":2:2: 'group', 'event'"},
    {HEAD "metric a: b\nmetric c: d\n e\n", ":2:1: a formula is missing"},
    {HEAD "metric a: b\n", ":2:1: a formula is missing"},
    {HEAD "metric a: b\n c\nor\n", ":4:1: a formula is missing"},
    {HEAD "metric a: b\n c\n\n d\n", ":5:2: 'group', 'event'"},
    {HEAD "metric a: b\n c\nor d\n", ":4:4: the formula is expected in the next line, not 'd'"},
    {HEAD "or\n d\n", ":2:3: the formula of a metric is expected before 'or'"},
    {HEAD "metric a%: b\n c\n", ":2:9: '[unit]', or ':' and a description, are expected, not '%"},
    {HEAD "metric a [%: b\n c\n", ":2:11: a unit and ']' are expected"},
    {HEAD "metric a []: b\n c\n", ":2:11: a unit and ']' are expected"},
    {HEAD "metric a [%]\n c\n", ":2:13: '[unit]', or ':' and a description"},
    {HEAD "metric a: b\nc\n", ":2:1: a formula is missing: write it into the lines below"},
    {HEAD "metric a:\n c\n", ":2:10: one sentence is expected"},
    {HEAD "metric a: b\n c\nmetric A: b\n c\n", ":4:8: the file has a metric of this name already"},
    {HEAD "metric a: b\n c +\n", ":3:5: an operand is expected, but the formula ends here"},
    {HEAD "metric a: b\n c\n  + * d\n", ":4:5: an operand is expected, not '*'"},
    {HEAD "metric a: b\n \xc3\xa9\n", ":3:2: an operand is expected"},
    {HEAD "metric a: b\n 1 + 1\n", ":3:1: the formula of 'a' has no event"},
    {HEAD "event a =\n", ":2:10: the name of an event is expected, and the line ends here"},
    {HEAD "event a = or\n", ":2:11: the name of an event is expected, not 'or'"},
    {HEAD "event a = b or\n", ":2:15: the name of an event is expected"},
    {HEAD "event a = b c\n", ":2:13: 'or' and another name of the event are expected, not 'c'"},
    {HEAD "event a = a or b or c or d or e or f or g or h or i\n", ":2:51: an event has at most 8"},
    {HEAD "event a-b = c\n", ":2:8: '=' is expected, not '-b = c'"},
    {HEAD "event 1a = c\n", ":2:7: a name of letters, digits, '_' and '.' is expected"},
    {HEAD "event a = b\nevent a = c\n", ":3:7: 'a' was declared in line 2"},
    {HEAD "event a = b\nevent bb = c\nmetric m: n\n a\n", ":3:7: no formula below uses 'bb'"},
    {HEAD "number a = b\n", ":2:12: a decimal number is expected, not 'b'"},
    {HEAD "number a = 1e999\n", ":2:12: a decimal number is expected"},
    {HEAD "number a = 1 2\n", ":2:13: the number's end is expected, not ' 2'"},
    {HEAD "number a =\n", ":2:11: a number of less than 64 digits is expected"},
    {HEAD "machine a = b\nmachine c = d\nmetric m: n\n a / c\n",
     ":5:1: the formula of 'm' needs two sums of the whole Machine"},
};

START_TEST(a_mistake_is_shown_where_it_is)
{
	for (size_t index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
		int code = load(wrong[index].text);
		const char *detail = strstr(ps_error_detail(), wrong[index].detail);
		ck_assert_msg(code < 0 && detail, "%s: %d %s", wrong[index].text, code,
		              ps_error_detail());
		ck_assert_msg(strncmp(ps_error_detail(), PATH ":", strlen(PATH) + 1) == 0, "%s",
		              ps_error_detail());
	}
	/* Nothing of a file that is wrong is there. */
	check_fails(load(HEAD "metric first-one: b\n c\nmetric a\n"), PS_EINVAL);
	ck_assert_ptr_null(ps_metric_unit("first-one"));
}
END_TEST

START_TEST(a_name_has_at_most_639_characters)
{
	char name[641], text[2000];

	memset(name, 'n', 640);
	name[640] = '\0';
	snprintf(text, sizeof text, HEAD "metric %s: b\n c\n", name);
	check_fails(load(text), PS_EINVAL);
	check_detail(":2:8: a name of at most 639 characters is expected, not 'nnn");
	check_fails(ps_metric_define(name, "c", ""), PS_EINVAL);
	check_detail("nnn...' is too long: a metric's name has at most 639 characters");
	snprintf(text, sizeof text, HEAD "metric %s: b\n c\n", name + 1);
	check_ok(load(text));
	ck_assert_str_eq(ps_metric_description(name + 1), "b");
	check_ok(ps_metric_undefine(name + 1));
}
END_TEST

START_TEST(a_formula_has_at_most_32_events)
{
	char text[2000] = HEAD "metric many: b\n e0", *at = text + strlen(text);

	for (int event = 1; event < 33; event++)
		at += sprintf(at, " + e%d", event);
	check_fails(load(text), PS_ECOUNT);
	check_detail(":3:1: the formula of 'many' needs more than 32 events");
}
END_TEST

START_TEST(each_lack_of_memory_is_told)
{
	bool happened = true;

	for (unsigned nth = 1; happened && nth < 100; nth++) {
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = load("group mine: about\nevent a = b or c\nnumber n = 1\n"
		                  "metric mine: a\n a + n\nor\n d\n");
		happened = fake_fail_happened();
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert_int_eq(result, happened ? PS_ENOMEM : PS_OK);
	}
	ck_assert(!happened);
	check_ok(ps_metric_undefine("mine"));
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Lines of the format, some of them broken: taken or refused with their place, nothing else
 * happens. The sanitizers see to the rest. */
START_TEST(whatever_is_given_is_taken_or_refused)
{
	static const char *const pieces[] = {"group g: d\n",
	                                     "event a = b or c\n",
	                                     "machine w = x\n",
	                                     "number n = 1.5\n",
	                                     "metric m: d\n",
	                                     " a / n\n",
	                                     "\ta + w\n",
	                                     "or\n",
	                                     "metric o [%]: d\n",
	                                     " b * c\n",
	                                     "# comment\n",
	                                     "\n",
	                                     "metric ",
	                                     "event ",
	                                     " = ",
	                                     "or ",
	                                     "[",
	                                     "]",
	                                     ":",
	                                     "\xff",
	                                     " ",
	                                     "\t\n",
	                                     "\r\n",
	                                     "number n = ",
	                                     "group",
	                                     "a",
	                                     "(",
	                                     "1e9"};
	uint64_t state = 11;
	int rounds = ps_test_serial_size(30000, 3000), taken = 0;

	for (int round = 0; round < rounds; round++) {
		char text[800] = "group g: d\n";
		unsigned count = (unsigned)next_random(&state) % 14;
		for (unsigned piece = 0; piece < count; piece++)
			strcat(text,
			       pieces[next_random(&state) % (sizeof pieces / sizeof *pieces)]);
		if (load(text) != PS_OK) {
			ck_assert_msg(strncmp(ps_error_detail(), PATH ":", strlen(PATH) + 1) == 0,
			              "%s: %s", text, ps_error_detail());
			continue;
		}
		taken++;
		while (ps_metric_undefine("m") == PS_OK || ps_metric_undefine("o") == PS_OK ||
		       ps_metric_undefine("a") == PS_OK)
			continue;
	}
	ck_assert_int_gt(taken, rounds / 1500);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("metric_file");
	TCase *tests = scene_case(suite, "metric_file");

	tcase_add_test(tests, a_file_gives_metrics_with_all_that_it_says);
	tcase_add_test(tests, a_byte_order_mark_is_no_part_of_the_first_line);
	tcase_add_test(tests, events_of_a_formula_need_no_line_of_their_own);
	tcase_add_test(tests, the_first_formula_counts_whose_events_were_counted);
	tcase_add_test(tests, a_metric_with_several_formulas_is_visited_once);
	tcase_add_test(tests, a_share_is_of_the_whole_machine);
	tcase_add_test(tests, a_formula_may_name_the_metrics_above_it);
	tcase_add_test(tests, metrics_of_metrics_have_an_end);
	tcase_add_test(tests, a_metric_takes_the_place_of_one_before_it);
	tcase_add_test(tests, a_mistake_is_shown_where_it_is);
	tcase_add_test(tests, a_name_has_at_most_639_characters);
	tcase_add_test(tests, a_formula_has_at_most_32_events);
	tcase_add_test(tests, each_lack_of_memory_is_told);
	tcase_add_test(tests, whatever_is_given_is_taken_or_refused);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of metrics in large files, and those that several files have. */
#include "support/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define PATH "/sys/my.metrics"

static int load(const char *text)
{
	fake_file(PATH, text);
	return ps_metric_load(PATH);
}

static double value_of(const char *name)
{
	struct ps_metric_value value;

	check_ok(ps_component_metric(scene.root, name, &value));
	return value.value;
}

static int count_faults(const char *name, void *context)
{
	*(int *)context += strcasecmp(name, "page-fault-rate") == 0;
	return 0;
}

START_TEST(a_metric_that_was_replaced_is_not_listed)
{
	int count = 0;

	check_ok(load("group tasks: mine\nmetric Page-Fault-Rate: doubled\n page\\-faults * 2\n"
	              "metric mine-too: faults\n page\\-faults\n"));
	check_ok(load("group tasks: mine\nmetric page-fault-rate: tripled\n page\\-faults * 3\n"));
	for (int undefined = 0; undefined <= 2; undefined++) {
		count = 0;
		ps_metric_for_each(NULL, count_faults, &count);
		ck_assert_int_eq(count, 1);
		if (undefined < 2)
			check_ok(ps_metric_undefine("PAGE-fault-rate"));
	}
	check_ok(ps_metric_undefine("mine-too"));
}
END_TEST

#define MANY 300

/* Names of one length, and two that differ in case alone: the one is a metric, the other an event.
 */
static char *write_many(const char *end)
{
	char *text, *at;

	ck_assert_ptr_nonnull(at = text = malloc(MANY * 100 + strlen(end) + 1));
	at += sprintf(at, "group g: about\nevent start = page-faults\nmetric m000: a\n start\n");
	for (int number = 1; number < MANY; number++)
		at += sprintf(at,
		              "number N%03d = 1\nnumber n%03d = 2\n"
		              "metric m%03d: a\n m%03d + N%03d + n%03d\nor\n start\n",
		              number, number, number, number / 2, number, number);
	strcpy(at, end);
	return text;
}

START_TEST(a_file_has_many_metrics_and_many_names)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	char *text = write_many("");

	fake_set_cpu(0);
	check_ok(ps_store(set, (const long long[]){10}, 1, scene.root, NULL, NULL));
	check_ok(load(text));
	ck_assert(value_of("m001") == 13);
	ck_assert(value_of("M299") == 10 + 9 * 3);
	free(text);
	text = write_many("metric M123: again\n start\n");
	check_fails(load(text), PS_EINVAL);
	check_detail(":1799:8: the file has a metric of this name already");
	free(text);
	text = write_many("number n123 = 7\n");
	check_fails(load(text), PS_EINVAL);
	check_detail(":1799:8: 'n123' was declared in line 738: choose another name");
	free(text);
	for (int number = 0; number < MANY; number++) {
		char name[8];
		snprintf(name, sizeof name, "m%03d", number);
		check_ok(ps_metric_undefine(name));
	}
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("metric_names");
	TCase *tests = scene_case(suite, "metric_names");

	tcase_add_test(tests, a_metric_that_was_replaced_is_not_listed);
	tcase_add_test(tests, a_file_has_many_metrics_and_many_names);
	return scene_run(suite);
}

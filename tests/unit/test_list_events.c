/* SPDX-License-Identifier: BSD-3-Clause */
/* What perfsage list gathers: which names are one event, and which can be counted. */
#include "support/scene.h"
#include "tools/list_events.h"

static size_t number_of(const struct list *list, const char *name)
{
	for (size_t index = 0; index < list->count; index++) {
		if (strcmp(list->events[index].name, name) == 0)
			return index;
	}
	ck_abort_msg("%s is not in the list", name);
	return 0;
}

/* All names of the event that this is the first name of, with blanks between them. */
static void check_names(const struct list *list, const char *first, const char *wanted)
{
	const struct list_event *event = &list->events[number_of(list, first)];
	char names[256] = "";

	ck_assert(!event->is_alias);
	strcat(names, event->name);
	while (event->next_alias) {
		event = &list->events[event->next_alias];
		ck_assert(event->is_alias);
		strcat(strcat(names, " "), event->name);
	}
	ck_assert_str_eq(names, wanted);
}

static void check_all_names(const struct list *list)
{
	check_names(list, "cpu-cycles", "cpu-cycles cycles");
	check_names(list, "branch-instructions", "branch-instructions branches");
	check_names(list, "instructions", "instructions");
	check_names(list, "faults", "faults page-faults");
	check_names(list, "context-switches", "context-switches cs");
	check_names(list, "minor-faults", "minor-faults");
	check_names(list, "cpu-clock", "cpu-clock");
}

START_TEST(names_of_one_event_are_linked_whether_it_can_be_counted_or_not)
{
	struct list list = {.word = NULL};

	ck_assert_int_eq(list_gather(&list), 0);
	ck_assert_int_ne(list.events[number_of(&list, "cycles")].code, PS_OK);
	check_all_names(&list);
	list_clear(&list);
	fake_add_core_pmu(4);
	list = (struct list){.word = NULL};
	ck_assert_int_eq(list_gather(&list), 0);
	ck_assert_int_eq(list.events[number_of(&list, "cycles")].code, PS_OK);
	check_all_names(&list);
	list_clear(&list);
}
END_TEST

START_TEST(a_word_that_one_name_has_gives_that_name_alone)
{
	struct list list = {.word = "page-faults"};

	ck_assert_int_eq(list_gather(&list), 0);
	check_names(&list, "page-faults", "page-faults");
	list_clear(&list);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("list_events");
	TCase *tests = scene_case(suite, "list");

	tcase_add_test(tests, names_of_one_event_are_linked_whether_it_can_be_counted_or_not);
	tcase_add_test(tests, a_word_that_one_name_has_gives_that_name_alone);
	return scene_run(suite);
}

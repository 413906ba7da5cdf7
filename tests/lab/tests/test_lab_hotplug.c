/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU 3 goes offline and comes back: no count is lost, and a CPU that the tree doesn't know is
 * shown, not dropped. */
#include "lab.h"

#include <string.h>

#define CPU 3

static void bring_back(void)
{
	lab_cpu_online(CPU, true);
}

/* Known work, by a thread on CPU 3. */
static void loop(void *context)
{
	lab_loop(*(unsigned long *)context);
}

static long long work_on_cpu(void)
{
	unsigned long iterations = lab_iterations();

	lab_on_cpu(CPU, loop, &iterations);
	return (long long)iterations * 2;
}

struct attached {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *set;
};

static struct attached attach(void)
{
	struct attached a = {lab_topology(), NULL, lab_set(LAB_INSTRUCTIONS, NULL)};

	a.root = ps_topology_root(a.topology);
	lab_pin(0);
	lab_ok(ps_eventset_attach_cpu(a.set, CPU));
	lab_ok(ps_start(a.set));
	return a;
}

/* One reading; its part must be CPU 3's. */
static struct ps_value read_part(struct attached *a)
{
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;
	struct ps_value value;

	lab_ok(ps_read(a->set, a->root, &timestamp, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), CPU);
	value = lab_reading(thread, LAB_INSTRUCTIONS, timestamp);
	ck_assert_int_eq(value.attribution, PS_ATTRIBUTION_ATTACHED);
	return value;
}

static void detach(struct attached *a)
{
	ps_eventset_destroy(a->set);
	ps_topology_destroy(a->topology);
}

START_TEST(counts_are_kept_while_the_cpu_is_offline)
{
	struct attached a = attach();
	long long known = work_on_cpu(), before = read_part(&a).value;

	ck_assert_int_ge(before, known);
	lab_cpu_online(CPU, false);
	ck_assert_int_ge(read_part(&a).value, before);
	ck_assert_int_ge(read_part(&a).value, before);
	detach(&a);
}
END_TEST

START_TEST(what_was_counted_between_the_last_reading_and_going_offline_is_kept)
{
	struct attached a = attach();
	long long known;

	read_part(&a);
	known = work_on_cpu();
	lab_cpu_online(CPU, false);
	ck_assert_int_ge(read_part(&a).value, known);
	detach(&a);
}
END_TEST

START_TEST(counting_goes_on_after_the_cpu_is_back_and_says_that_it_was_interrupted)
{
	struct attached a = attach();
	long long known = work_on_cpu(), offline, back;
	struct ps_value value;

	lab_cpu_online(CPU, false);
	offline = read_part(&a).value;
	ck_assert_int_ge(offline, known);
	lab_cpu_online(CPU, true);
	value = read_part(&a);
	back = (long long)value.raw;
	ck_assert_int_ge(back, offline);
	ck_assert_uint_ne(value.flags & PS_VALUE_INTERRUPTED, 0);
	known = work_on_cpu();
	ck_assert_int_ge((long long)read_part(&a).raw, back + known);
	detach(&a);
}
END_TEST

START_TEST(a_cpu_that_was_away_between_two_readings_is_noticed)
{
	struct attached a = attach();
	long long known = work_on_cpu(), before = read_part(&a).value;
	struct ps_value value;

	ck_assert_int_ge(before, known);
	lab_cpu_online(CPU, false);
	lab_cpu_online(CPU, true);
	value = read_part(&a);
	ck_assert_int_ge((long long)value.raw, before);
	ck_assert_uint_ne(value.flags & PS_VALUE_INTERRUPTED, 0);
	/* It was off for longer than the shortest gap that is told. */
	ck_assert_uint_lt(value.running_ns, value.enabled_ns);
	known = work_on_cpu();
	ck_assert_int_ge((long long)read_part(&a).raw, (long long)value.raw + known);
	detach(&a);
}
END_TEST

START_TEST(a_set_stopped_while_its_cpu_is_offline_keeps_its_counts)
{
	struct attached a = attach();
	long long known = work_on_cpu();
	struct ps_thread *thread = NULL;

	lab_cpu_online(CPU, false);
	lab_ok(ps_stop(a.set, a.root, NULL, &thread));
	ck_assert_int_ge(lab_reading(thread, LAB_INSTRUCTIONS, 0).value, known);
	detach(&a);
}
END_TEST

START_TEST(a_set_can_not_start_on_an_offline_cpu_and_the_detail_says_why)
{
	struct ps_eventset *set = lab_set(LAB_INSTRUCTIONS, NULL);
	int code;

	lab_cpu_online(CPU, false);
	code = ps_eventset_attach_cpu(set, CPU);
	if (code == PS_OK)
		code = ps_start(set);
	ck_assert_int_ne(code, PS_OK);
	ck_assert_msg(strstr(ps_error_detail(), "CPU 3") && strstr(ps_error_detail(), "offline"),
	              "%s", ps_error_detail());
	ps_eventset_destroy(set);
}
END_TEST

struct own {
	struct ps_topology *topology;
	long long count;
	int cpu; /* of the Thread that the reading named */
};

static void count_own(void *context)
{
	struct own *own = context;
	struct ps_eventset *set = lab_set(LAB_INSTRUCTIONS, NULL);
	struct ps_thread *thread = NULL;

	lab_ok(ps_start(set));
	lab_loop(lab_iterations());
	lab_ok(ps_stop(set, ps_topology_root(own->topology), NULL, &thread));
	own->cpu = ps_thread_cpu(thread);
	own->count = lab_reading(thread, LAB_INSTRUCTIONS, 0).value;
	ps_eventset_destroy(set);
}

START_TEST(what_runs_on_a_cpu_that_was_offline_at_load_is_counted_and_shown)
{
	struct own own = {NULL, 0, 0};
	struct ps_thread *unknown;

	lab_cpu_online(CPU, false);
	own.topology = lab_topology();
	lab_cpu_online(CPU, true);
	unknown = ps_topology_unknown_thread(own.topology);
	ck_assert_ptr_eq(ps_topology_thread(own.topology, CPU), unknown);
	lab_on_cpu(CPU, count_own, &own);
	ck_assert_int_eq(own.cpu, -1);
	ck_assert_int_ge(own.count, (long long)lab_iterations() * 2);
	ck_assert_int_eq(lab_total(ps_topology_root(own.topology), LAB_INSTRUCTIONS).value,
	                 own.count);
	ck_assert_int_eq(lab_reading(unknown, LAB_INSTRUCTIONS, 0).value, own.count);
	ps_topology_destroy(own.topology);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab: CPU hotplug");
	TCase *hotplug = tcase_create("hotplug");

	tcase_add_unchecked_fixture(hotplug, NULL, bring_back);
	tcase_add_checked_fixture(hotplug, bring_back, NULL); /* whatever the test before left */
	tcase_add_test(hotplug, counts_are_kept_while_the_cpu_is_offline);
	tcase_add_test(hotplug,
	               what_was_counted_between_the_last_reading_and_going_offline_is_kept);
	tcase_add_test(hotplug,
	               counting_goes_on_after_the_cpu_is_back_and_says_that_it_was_interrupted);
	tcase_add_test(hotplug, a_cpu_that_was_away_between_two_readings_is_noticed);
	tcase_add_test(hotplug, a_set_stopped_while_its_cpu_is_offline_keeps_its_counts);
	tcase_add_test(hotplug, a_set_can_not_start_on_an_offline_cpu_and_the_detail_says_why);
	tcase_add_test(hotplug, what_runs_on_a_cpu_that_was_offline_at_load_is_counted_and_shown);
	suite_add_tcase(suite, hotplug);
	return lab_run(suite);
}

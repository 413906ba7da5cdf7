/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nothing that a name or a file of sysfs can hold, and no call that fails, crashes the parser,
 * leaks, or changes what a name means without a word.
 */
#include "support/small.h"
#include "support/unmarked.h"
#include "test_event.h"

#include <errno.h>

#define DEVICES   "/sys/bus/event_source/devices/"
#define MUTATIONS ps_test_serial_size(1500, 150)

/* The same numbers on every machine and at every run (Knuth's MMIX generator). */
static uint64_t state;

static unsigned next_number(unsigned limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % limit;
}

/* One byte changed, put in or taken out, or the end cut off. */
static void mutate(char *text, size_t size_bytes)
{
	static const char bytes[] = "/:,=.-_?*%0x9aurkhDG \n\t'\"\\\x01\x7f\xff";
	size_t length = strlen(text);
	size_t at = next_number((unsigned)length + 1);
	char byte = bytes[next_number(sizeof bytes - 1)];

	switch (next_number(4)) {
	case 0:
		text[at] = at < length ? byte : '\0';
		break;
	case 1:
		if (length + 1 < size_bytes) {
			memmove(text + at + 1, text + at, length - at + 1);
			text[at] = byte;
		}
		break;
	case 2:
		if (at < length)
			memmove(text + at, text + at + 1, length - at);
		break;
	default:
		text[at] = '\0';
	}
}

static void parse_any(const char *name)
{
	struct ps__event event, before;

	memset(&event, 0x5a, sizeof event);
	before = event;
	int code = ps__event_parse(&event, name);
	if (code == PS_OK) {
		ck_assert_ptr_nonnull(event.name);
		ck_assert_uint_ge(strlen(event.name), 1);
		ps__event_clear(&event);
		return;
	}
	ck_assert_msg(code == PS_EINVAL || code == PS_ENOEVNT || code == PS_EATTR ||
	                  code == PS_EPERM || code == PS_ESYS,
	              "'%s': %d", name, code);
	ck_assert_mem_eq(&event, &before, sizeof event);
	ck_assert_uint_gt(strlen(ps_error_detail()), 10);
}

static const char *const seeds[] = {"cycles:u",
                                    "L1-dcache-load-misses:k",
                                    "r1a8:ukh",
                                    "mem:0x1000/8:rw:u",
                                    "sched:sched_switch:k",
                                    "cpu/event=0xc0,umask=0x1,name=x/u",
                                    "cpu/cache-misses,ldlat=3/u",
                                    "uncore_imc_0/cas_count_read/",
                                    "cas_count_read",
                                    "power/energy-pkg/",
                                    "cpu/cycles/:u",
                                    "cpu/config=1,config1=0x2,config2=3/"};
#define SEEDS (int)(sizeof seeds / sizeof *seeds)

START_TEST(a_mutated_name_is_parsed_or_refused_with_a_sentence)
{
	use_machine("skx");
	fake_file("/sys/kernel/tracing/events/sched/sched_switch/id", "1");
	state = 1 + (uint64_t)_i;
	for (int i = 0; i < MUTATIONS; i++) {
		char name[64];
		snprintf(name, sizeof name, "%s", seeds[_i]);
		for (unsigned n = 1 + next_number(3); n > 0; n--)
			mutate(name, sizeof name);
		parse_any(name);
	}
}
END_TEST

static const struct {
	const char *path, *content, *name;
} files[] = {
    {DEVICES "cpu/format/event", "config:0-7,32-35", "cpu/event=0x1c0,umask=1/"},
    {DEVICES "cpu/events/cache-misses", "event=0x64,umask=0x09", "cache-misses:u"},
    {DEVICES "cpu/events/cache-misses", "event=0x64,umask=?", "cpu/cache-misses,umask=1/"},
    {DEVICES "power/type", "14", "power/energy-pkg/"},
    {DEVICES "power/cpumask", "0,2-3", "power/energy-pkg/"},
    {DEVICES "power/events/energy-pkg.scale", "2.328306e-10", "energy-pkg"},
    {DEVICES "power/events/energy-pkg.unit", "Joules", "energy-pkg"},
    {"/sys/devices/system/cpu/cpu0/topology/package_cpus_list", "0-7", "power/energy-pkg/"},
    {"/sys/kernel/tracing/events/sched/sched_switch/id", "372", "sched:sched_switch"},
};

START_TEST(a_mutated_file_is_understood_or_refused_with_a_sentence)
{
	use_machine("zen");
	state = 1000 + (uint64_t)_i;
	for (int i = 0; i < MUTATIONS; i++) {
		char content[64];
		snprintf(content, sizeof content, "%s", files[_i].content);
		for (unsigned n = 1 + next_number(3); n > 0; n--)
			mutate(content, sizeof content);
		fake_file(files[_i].path, content);
		parse_any(files[_i].name);
	}
}
END_TEST

START_TEST(a_file_that_is_too_long_is_refused)
{
	char *content = malloc(20001);

	memset(content, '1', 20000);
	content[20000] = '\0';
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (strstr(files[i].path, "topology") || strstr(files[i].name, "cache-misses:u"))
			continue;
		use_machine("zen");
		fake_file(files[i].path, content);
		struct ps__event event;
		ck_assert_msg(ps__event_parse(&event, files[i].name) != PS_OK, "%s", files[i].path);
	}
	free(content);
}
END_TEST

static const struct {
	const char *machine, *name;
} subjects[] = {{"skx", "cycles:u"},
                {"skx", "cpu/cache-misses,umask=1,name=misses/u"},
                {"skx", "power/energy-pkg/"},
                {"skx", "cstate_core/c6-residency/"},
                {"skx", "energy-ram"},
                {"arm", "inst_retired:u"},
                {"hybrid", "cpu_atom/cycles/"},
                {"skx", "sched:sched_switch"},
                {"skx", "cpu/nonsense=1/"},
                {"skx", "nopmu/event=1/"},
                {"skx", "cas_count_read"},
                {"skx", "instructoins"}};

static void check_same(const struct ps__event *event, const struct ps__event *expected)
{
	ck_assert_mem_eq(&event->attr, &expected->attr, sizeof event->attr);
	ck_assert_str_eq(event->name, expected->name);
	ck_assert_int_eq(event->klass, expected->klass);
	ck_assert_int_eq(event->scope, expected->scope);
	ck_assert(event->scale == expected->scale);
	ck_assert_str_eq(event->unit, expected->unit);
	ck_assert_int_eq(event->kernel_side, expected->kernel_side);
}

/* Fails each use of a call in turn: the result is an error with a sentence, or what it is without a
 * failure. */
static void fail_each(const char *name, enum fake_call call, int error)
{
	struct ps__event expected = {.name = NULL}, event;
	int expected_code = ps__event_parse(&expected, name);

	for (unsigned nth = 1;; nth++) {
		fake_fail(call, nth, error);
		int code = ps__event_parse(&event, name);
		bool happened = fake_fail_happened();
		fake_fail(call, 0, 0);
		if (code == PS_OK) {
			ck_assert_int_eq(expected_code, PS_OK);
			check_same(&event, &expected);
			ps__event_clear(&event);
		} else {
			ck_assert_uint_gt(strlen(ps_error_detail()), 10);
			ck_assert(happened || code == expected_code);
		}
		if (!happened)
			break;
		ck_assert_uint_lt(nth, 10000);
	}
	ps__event_clear(&expected);
}

START_TEST(whichever_call_fails_it_is_an_error_or_changes_nothing)
{
	static const enum fake_call calls[] = {FAKE_OPEN, FAKE_READ, FAKE_LIST, FAKE_CLOSE,
	                                       FAKE_ALLOCATE};
	static const int errors[] = {EMFILE, ENOMEM, EACCES, EIO, EINTR};

	use_machine(subjects[_i].machine);
	fake_file("/sys/kernel/tracing/events/sched/sched_switch/id", "1");
	for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
		for (size_t e = 0;
		     e < (size_t)ps_test_serial_size(sizeof errors / sizeof *errors, 1); e++)
			fail_each(subjects[_i].name, calls[c], errors[e]);
	}
}
END_TEST

START_TEST(a_failure_has_the_code_of_its_reason)
{
	static const struct {
		int error, code;
		const char *part;
	} reasons[] = {{EMFILE, PS_ECOUNT, "ulimit -n"},
	               {ENFILE, PS_ECOUNT, "descriptor"},
	               {ENOMEM, PS_ENOMEM, "memory"},
	               {EACCES, PS_EPERM, "may not be read"},
	               {EIO, PS_ESYS, "Input/output error"}};

	use_machine("skx");
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		fake_fail(FAKE_OPEN, 1, reasons[i].error);
		check_refused("power/energy-pkg/", reasons[i].code, reasons[i].part);
		ck_assert_ptr_nonnull(strstr(ps_error_detail(), DEVICES "power/type"));
		fake_fail(FAKE_LIST, 1, reasons[i].error);
		check_refused("energy-pkg", reasons[i].code, "the list of PMUs");
	}
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	check_refused("cycles", PS_ENOMEM, "the name of an event");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_faults");
	TCase *tests = scene_case_of(suite, "faults", fake_install, fake_remove);

	tcase_add_loop_test(tests, a_mutated_name_is_parsed_or_refused_with_a_sentence, 0, SEEDS);
	tcase_add_loop_test(tests, a_mutated_file_is_understood_or_refused_with_a_sentence, 0,
	                    (int)(sizeof files / sizeof *files));
	tcase_add_test(tests, a_file_that_is_too_long_is_refused);
	tcase_add_loop_test(tests, whichever_call_fails_it_is_an_error_or_changes_nothing, 0,
	                    (int)(sizeof subjects / sizeof *subjects));
	tcase_add_test(tests, a_failure_has_the_code_of_its_reason);
	return run_suite(suite);
}

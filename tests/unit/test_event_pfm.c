/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libpfm4's names: their encodings, what their modifiers mean, and what is said of those that
 * aren't this machine's. libpfm4 looks at the machine past ps__os: its core PMU is chosen by
 * libpfm4's own environment variables, and what it asks sysfs is answered by the fake kernel here.
 */
#include "support/fake_internal.h"
#include "test_event.h"

#include <dlfcn.h>
#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <perfsage/event.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* libpfm4 calls it for the number of a PMU. What this machine has there must not decide what a test
 * finds. */
__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *);

	if (!strncmp(path, "/sys/", 5)) {
		const char *content = fake__file_content(path);

		errno = ENOENT;
		return content ? fmemopen((void *)(uintptr_t)content, strlen(content), mode) : NULL;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	return real(path, mode);
}

/* Uncore PMUs of libpfm4 are found on the machine's processor alone: here an event of the core gets
 * the number of one. */
static uint32_t uncore_type;

__attribute__((visibility("default"))) pfm_err_t
pfm_get_os_event_encoding(const char *name, int level, pfm_os_t os, void *arguments)
{
	pfm_err_t (*real)(const char *, int, pfm_os_t, void *);

	*(void **)&real = dlsym(RTLD_NEXT, "pfm_get_os_event_encoding");
	pfm_err_t error = real(name, level, os, arguments);
	if (error == PFM_SUCCESS && uncore_type)
		((pfm_perf_encode_arg_t *)arguments)->attr->type = uncore_type;
	return error;
}

static void force(const char *pmu)
{
	pfm_terminate();
	unsetenv("LIBPFM_DISABLED_PMUS");
	unsetenv("LIBPFM_ENCODE_INACTIVE");
	if (pmu)
		setenv("LIBPFM_FORCE_PMU", pmu, 1);
	else
		unsetenv("LIBPFM_FORCE_PMU");
}

/* libpfm4 keeps a PMU that it has found, also when it is initialized anew: this machine's must
 * never be looked for. */
static void set_up(void)
{
	fake_install();
	force("perf");
	uncore_type = 0;
}

static void tear_down(void)
{
	force(NULL);
	fake_remove();
}

struct encoding {
	const char *pmu, *name;
	uint64_t config;
};

/* The codes: perf's own JSON lists of each CPU (tools/perf/pmu-events/arch in the Linux sources),
 * event | umask << 8; edge, inverse and counter mask by the processors' manuals: bits 18, 23 and 24
 * up. */
static const struct encoding core_encodings[] = {
#ifdef __x86_64__
    {"amd64_fam19h_zen4", "RETIRED_INSTRUCTIONS", 0xc0}, /* ex_ret_instr */
    {"amd64_fam19h_zen4", "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS", 0xc0},
    {"amd64_fam19h_zen4", "AMD64_FAM19H_ZEN4::retired_instructions",
     0xc0},                                                     /* letters of either case */
    {"amd64_fam19h_zen4", "RETIRED_OPS", 0xc1},                 /* ex_ret_ops */
    {"amd64_fam19h_zen4", "RETIRED_BRANCH_INSTRUCTIONS", 0xc2}, /* ex_ret_brn */
    {"amd64_fam19h_zen4", "RETIRED_SSE_AVX_FLOPS:ANY", 0x1f03}, /* fp_ret_sse_avx_ops.all */
    {"amd64_fam19h_zen4", "RETIRED_SSE_AVX_FLOPS.MULT_FLOPS",
     0x203}, /* fp_ret_sse_avx_ops.mult_flops */
    {"amd64_fam19h_zen4", "RETIRED_INSTRUCTIONS:c=2:i:e", 0x28400c0},
    {"skl", "INST_RETIRED:ANY_P", 0xc0},                /* inst_retired.any_p */
    {"skl", "skl::BR_INST_RETIRED:CONDITIONAL", 0x1c4}, /* br_inst_retired.conditional */
    {"skl", "UOPS_ISSUED:ANY:i:c=4", 0x480010e},        /* uops_issued.any */
#elif defined __aarch64__
    {"arm_n1", "INST_RETIRED", 0x08}, /* Arm's architecture manual, D13: INST_RETIRED */
    {"arm_n1", "arm_n1::CPU_CYCLES", 0x11},
#endif
    {"perf_raw", "perf_raw::r01a8", 0x1a8},
};

START_TEST(names_of_a_cpu_have_the_codes_of_its_manual)
{
	for (size_t i = 0; i < sizeof core_encodings / sizeof *core_encodings; i++) {
		const struct encoding *encoding = &core_encodings[i];
		force(encoding->pmu);
		check_encoding(encoding->name, PERF_TYPE_RAW, encoding->config);
		struct ps__event event = parsed(encoding->name);
		ck_assert_str_eq(event.name, encoding->name);
		ck_assert_int_eq(event.klass, PS__EVENT_CLASS_CORE);
		ck_assert_int_eq(event.scope, PS_SCOPE_THREAD);
		ck_assert(!event.explicit_domain && !event.attr.exclude_user &&
		          !event.attr.exclude_kernel && !event.attr.exclude_hv &&
		          !event.attr.exclude_guest && !event.attr.sample_period);
		ps__event_clear(&event);
	}
}
END_TEST

START_TEST(names_of_perf_are_perfs_events)
{
	check_encoding("perf::PAGE-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	check_encoding("PAGE-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	check_encoding("perf::PERF_COUNT_SW_TASK_CLOCK", PERF_TYPE_SOFTWARE,
	               PERF_COUNT_SW_TASK_CLOCK);
	check_encoding("perf::INSTRUCTIONS", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	check_encoding("perf::LLC-LOAD-MISSES", PERF_TYPE_HW_CACHE,
	               PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	struct ps__event event = parsed("perf::CONTEXT-SWITCHES");
	ck_assert(event.kernel_side);
	ck_assert_int_eq(event.klass, PS__EVENT_CLASS_SOFTWARE);
	ck_assert_str_eq(event.unit, "");
	ps__event_clear(&event);
	event = parsed("perf::TASK-CLOCK");
	ck_assert_str_eq(event.unit, "ns");
	ps__event_clear(&event);
}
END_TEST

START_TEST(the_kernels_own_names_come_before_libpfm4s)
{
	/* libpfm4 has both names, for the same events; but msr's alias and perf's generic names are
	 * found first. */
	check_encoding("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	fake_file("/sys/bus/event_source/devices/msr/type", "9\n");
	fake_file("/sys/bus/event_source/devices/msr/format/event", "config:0-63\n");
	fake_file("/sys/bus/event_source/devices/msr/events/PAGE-FAULTS", "event=0x07\n");
	check_encoding("PAGE-FAULTS", 9, 7);
	check_encoding("perf::PAGE-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
}
END_TEST

struct domain {
	const char *modifiers;
	bool explicit_domain, no_user, no_kernel, no_guest, no_host, pinned;
};

START_TEST(modifiers_say_what_counts)
{
	static const struct domain domains[] = {
	    {"", false, false, false, false, false, false},
	    {":u", true, false, true, false, false, false},
	    {":k", true, true, false, false, false, false},
	    {":u:k", true, false, false, false, false, false},
	    {":U", true, false, true, false, false, false},
	    {":u=1:k=0", true, false, true, false, false, false},
	    {".u", true, false, true, false, false, false},
	    {":mg", false, false, false, false, true, false},
	    {":mh", false, false, false, true, false, false},
	    {":pinned", false, false, false, false, false, true}};

	for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
		char name[64];
		snprintf(name, sizeof name, "perf::PAGE-FAULTS%s", domains[i].modifiers);
		struct ps__event event = parsed(name);
		struct domain got = {domains[i].modifiers,     event.explicit_domain,
		                     event.attr.exclude_user,  event.attr.exclude_kernel,
		                     event.attr.exclude_guest, event.attr.exclude_host,
		                     event.attr.pinned};
		ck_assert_msg(
		    got.explicit_domain == domains[i].explicit_domain &&
			got.no_user == domains[i].no_user &&
			got.no_kernel == domains[i].no_kernel &&
			got.no_guest == domains[i].no_guest && got.no_host == domains[i].no_host &&
			got.pinned == domains[i].pinned,
		    "%s: explicit %d, excluded: user %d kernel %d guest %d host %d, pinned %d",
		    name, got.explicit_domain, got.no_user, got.no_kernel, got.no_guest,
		    got.no_host, got.pinned);
		ps__event_clear(&event);
	}
}
END_TEST

START_TEST(what_a_counter_has_no_use_for_is_refused)
{
	check_refused("perf::PAGE-FAULTS:period=1000", PS_EATTR, "for sampling");
	check_refused("perf::PAGE-FAULTS:freq=100", PS_EATTR, "for sampling");
	check_refused("perf::PAGE-FAULTS:cpu=1", PS_EATTR, "ps_eventset_attach_cpu");
	check_refused("perf::INSTRUCTIONS:excl", PS_EATTR, "excl");
#ifdef __x86_64__
	force("skl");
	check_refused("INST_RETIRED:PREC_DIST:precise=2", PS_EATTR, "for sampling");
#endif
}
END_TEST

START_TEST(a_wrong_mask_or_modifier_is_answered_with_the_right_ones)
{
	check_refused("perf::PAGE-FAULTS:z", PS_EATTR,
	              "modifiers, each after a colon: k, mg, mh, u");
	check_refused("perf::PAGE-FAULTS:u:u=0", PS_EATTR, "given twice");
	check_refused("perf::PAGE-FAULTS:period", PS_EATTR, "missing");
#ifdef __x86_64__
	force("amd64_fam19h_zen4");
	check_refused("LS_DISPATCH", PS_EATTR, "needs a unit mask");
	check_refused("LS_DISPATCH:FOO", PS_EATTR, "LD_DISPATCH, LD_ST_DISPATCH, STORE_DISPATCH");
	check_refused("RETIRED_INSTRUCTIONS:c=99999", PS_EATTR, "too large");
	force("skl");
	check_refused("L2_RQSTS:MISS:REFERENCES", PS_EATTR, "don't go together");
#endif
}
END_TEST

START_TEST(another_machines_event_is_told_from_an_unknown_one)
{
	check_refused("perf::NO-SUCH", PS_ENOEVNT, "unknown event 'perf::NO-SUCH'");
	check_refused("perf::PAGE-FALTS", PS_ENOEVNT, "'perf::PAGE-FAULTS'");
	check_refused("no_such_pmu::INST_RETIRED", PS_ENOEVNT,
	              "libpfm4 knows no PMU 'no_such_pmu'");
	check_refused("no_such_pmu::INST_RETIRED", PS_ENOEVNT, "these here: perf");
#ifdef __x86_64__
	/* No machine is both. */
	fake_file("/sys/kernel/tracing/events/sched/sched_switch/id", "312\n");
	force("skl");
	check_refused("amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:u", PS_ENOSUPP,
	              "amd64_fam19h_zen4 is the PMU of another machine");
	check_refused("RETIRED_INSTRUCTIONS", PS_ENOSUPP, "amd64_fam19h_zen4");
	check_refused("INST_RETIRD:ANY_P", PS_ENOEVNT, "unknown event");
	check_refused("INST_RETIRD", PS_ENOEVNT, "'skl::INST_RETIRED'");
	check_refused("skl::INST_RETIRD", PS_ENOEVNT, "'skl::INST_RETIRED'");
	/* "probe" is also the group of the tracepoints that perf probe makes. */
	check_refused("PROBE:MISS", PS_ENOSUPP, "amd64_k8_revb");
	check_refused("probe:main", PS_ENOEVNT, "unknown event 'probe:main'");
#endif
}
END_TEST

START_TEST(an_uncore_event_has_the_scope_and_unit_of_its_pmu)
{
	use_machine("skx");
	struct ps__event plain = parsed("uncore_imc_0/cas_count_read/");
#ifdef __x86_64__
	force("skl");
	uncore_type = plain.attr.type;
	struct ps__event event = parsed("skl::UOPS_ISSUED:ANY");
	ck_assert_uint_eq(event.attr.type, plain.attr.type);
	ck_assert_int_eq(event.klass, PS__EVENT_CLASS_OTHER);
	ck_assert_int_eq(event.scope, PS_SCOPE_PACKAGE);
	ck_assert_str_eq(event.unit, "");
	ps__event_clear(&event);
	/* The encoding of the alias: event 4, umask 3. */
	fake_file("/sys/bus/event_source/devices/uncore_imc_0/events/cas_count_read",
	          "event=0x0e,umask=0x01\n");
	event = parsed("skl::UOPS_ISSUED:ANY");
	ck_assert_str_eq(event.unit, plain.unit);
	ck_assert(event.scale > plain.scale * 0.999 && event.scale < plain.scale * 1.001);
	ps__event_clear(&event);
	fake_fail(FAKE_LIST, 3, EMFILE);
	check_refused("skl::UOPS_ISSUED:ANY", PS_ECOUNT, "the list of PMUs");
	uncore_type = 4711;
	check_refused("skl::UOPS_ISSUED:ANY", PS_ENOSUPP, "/sys/bus/event_source/devices");
#endif
	ps__event_clear(&plain);
}
END_TEST

START_TEST(an_uncore_pmu_without_a_driver_is_not_the_cores)
{
#ifdef __x86_64__
	/* libpfm4 leaves the core PMU's number where it finds none. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	check_refused("rapl::RAPL_ENERGY_PKG", PS_ENOSUPP, "driver");
	fake_file("/sys/bus/event_source/devices/power/type", "14\n");
	struct ps__event event = parsed("rapl::RAPL_ENERGY_PKG");
	ck_assert_uint_eq(event.attr.type, 14);
	ck_assert_uint_eq(event.attr.config, 2);
	ps__event_clear(&event);
#endif
}
END_TEST

START_TEST(libpfm4_may_be_taken_down_by_others)
{
	for (int i = 0; i < 3; i++) {
		check_encoding("perf::PAGE-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		pfm_terminate();
	}
}
END_TEST

struct seen {
	bool page_faults, child_was_fine;
	int nested;
};

static int look(const struct ps_event_info *info, void *context)
{
	struct seen *seen = context;
	struct ps__event event;
	int status = -1;

	if (strcmp(info->name, "perf::PERF_COUNT_SW_PAGE_FAULTS") != 0)
		return 0;
	seen->page_faults = !strcmp(info->pmu, "perf") && *info->description;
	seen->nested = ps__event_parse(&event, "perf::PAGE-FAULTS");
	ps__event_clear(&event);
	pid_t child = fork();
	if (child == 0)
		_exit(ps__event_parse(&event, "perf::PAGE-FAULTS") == PS_OK ? 0 : 1);
	waitpid(child, &status, 0);
	seen->child_was_fine = status == 0;
	return 0;
}

START_TEST(its_names_are_listed_and_may_be_looked_up_meanwhile)
{
	struct seen seen = {.nested = PS_EBUG};

	ck_assert_int_eq(ps_event_for_each(look, &seen), 0);
	ck_assert(seen.page_faults);
	ck_assert_int_eq(seen.nested, PS_OK);
	ck_assert(seen.child_was_fine);
}
END_TEST

static int check_clock(const struct ps_event_info *info, void *context)
{
	if (strcmp(info->name, "perf::TASK-CLOCK") != 0)
		return 0;
	ck_assert_str_eq(info->unit, "ns");
	*(bool *)context = true;
	return 1;
}

START_TEST(the_list_has_the_unit_of_a_clock)
{
	bool is_found = false;

	ps_event_for_each(check_clock, &is_found);
	ck_assert(is_found);
}
END_TEST

static int stop_at_perf(const struct ps_event_info *info, void *context)
{
	(void)context;
	return !strcmp(info->pmu, "perf") ? 5 : 0;
}

static void *look_up_often(void *context)
{
	struct ps__event event;

	(void)context;
	for (int i = 0; i < 200; i++) {
		if (ps__event_parse(&event, i % 2 ? "perf::PAGE-FAULTS:u" : "perf::INSTRUCTIONS") !=
		    PS_OK)
			return (void *)1;
		ps__event_clear(&event);
	}
	return NULL;
}

START_TEST(several_threads_look_names_up)
{
	pthread_t threads[4];
	void *failed;

	ck_assert_int_eq(ps_event_for_each(stop_at_perf, NULL), 5);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, look_up_often, NULL), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &failed);
		ck_assert_ptr_null(failed);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_pfm");
	TCase *tests = scene_case_of(suite, "names", set_up, tear_down);

	tcase_add_test(tests, names_of_a_cpu_have_the_codes_of_its_manual);
	tcase_add_test(tests, names_of_perf_are_perfs_events);
	tcase_add_test(tests, the_kernels_own_names_come_before_libpfm4s);
	tcase_add_test(tests, modifiers_say_what_counts);
	tcase_add_test(tests, what_a_counter_has_no_use_for_is_refused);
	tcase_add_test(tests, a_wrong_mask_or_modifier_is_answered_with_the_right_ones);
	tcase_add_test(tests, another_machines_event_is_told_from_an_unknown_one);
	tcase_add_test(tests, an_uncore_event_has_the_scope_and_unit_of_its_pmu);
	tcase_add_test(tests, an_uncore_pmu_without_a_driver_is_not_the_cores);
	tcase_add_test(tests, libpfm4_may_be_taken_down_by_others);
	tcase_add_test(tests, its_names_are_listed_and_may_be_looked_up_meanwhile);
	tcase_add_test(tests, the_list_has_the_unit_of_a_clock);
	tcase_add_test(tests, several_threads_look_names_up);
	/* libpfm4 looks once in a process which PMUs it may have. */
	setenv("CK_FORK", "yes", 1);
	return run_suite(suite);
}

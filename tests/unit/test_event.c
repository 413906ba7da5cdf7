/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names that need no file of a PMU: generic, cache, software, raw, breakpoints, tracepoints; their
 * modifiers; what is said of names that aren't known; and that no name crashes.
 */
#include "test_event.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>

#define CACHE(cache, op, result)                                                             \
	PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
				PERF_COUNT_HW_CACHE_RESULT_##result << 16
#define HARDWARE(config) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config
#define SOFTWARE(config) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config

static const struct encoding {
	const char *name;
	uint32_t type;
	uint64_t config;
} encodings[] = {
    {"cycles", HARDWARE(CPU_CYCLES)},
    {"cpu-cycles", HARDWARE(CPU_CYCLES)},
    {"instructions", HARDWARE(INSTRUCTIONS)},
    {"cache-references", HARDWARE(CACHE_REFERENCES)},
    {"cache-misses", HARDWARE(CACHE_MISSES)},
    {"branches", HARDWARE(BRANCH_INSTRUCTIONS)},
    {"branch-instructions", HARDWARE(BRANCH_INSTRUCTIONS)},
    {"branch-misses", HARDWARE(BRANCH_MISSES)},
    {"bus-cycles", HARDWARE(BUS_CYCLES)},
    {"stalled-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND)},
    {"idle-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND)},
    {"stalled-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND)},
    {"idle-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND)},
    {"ref-cycles", HARDWARE(REF_CPU_CYCLES)},
    {"cpu-clock", SOFTWARE(CPU_CLOCK)},
    {"task-clock", SOFTWARE(TASK_CLOCK)},
    {"page-faults", SOFTWARE(PAGE_FAULTS)},
    {"faults", SOFTWARE(PAGE_FAULTS)},
    {"context-switches", SOFTWARE(CONTEXT_SWITCHES)},
    {"cs", SOFTWARE(CONTEXT_SWITCHES)},
    {"cpu-migrations", SOFTWARE(CPU_MIGRATIONS)},
    {"migrations", SOFTWARE(CPU_MIGRATIONS)},
    {"minor-faults", SOFTWARE(PAGE_FAULTS_MIN)},
    {"major-faults", SOFTWARE(PAGE_FAULTS_MAJ)},
    {"alignment-faults", SOFTWARE(ALIGNMENT_FAULTS)},
    {"emulation-faults", SOFTWARE(EMULATION_FAULTS)},
    {"dummy", SOFTWARE(DUMMY)},
    {"bpf-output", SOFTWARE(BPF_OUTPUT)},
    {"cgroup-switches", SOFTWARE(CGROUP_SWITCHES)},
    {"L1-dcache-loads", CACHE(L1D, READ, ACCESS)},
    {"L1-dcache-load-misses", CACHE(L1D, READ, MISS)},
    {"L1-dcache-stores", CACHE(L1D, WRITE, ACCESS)},
    {"L1-dcache-store-misses", CACHE(L1D, WRITE, MISS)},
    {"L1-dcache-prefetches", CACHE(L1D, PREFETCH, ACCESS)},
    {"L1-dcache-prefetch-misses", CACHE(L1D, PREFETCH, MISS)},
    {"L1-icache-loads", CACHE(L1I, READ, ACCESS)},
    {"L1-icache-load-misses", CACHE(L1I, READ, MISS)},
    {"L1-icache-prefetches", CACHE(L1I, PREFETCH, ACCESS)},
    {"L1-icache-prefetch-misses", CACHE(L1I, PREFETCH, MISS)},
    {"LLC-loads", CACHE(LL, READ, ACCESS)},
    {"LLC-load-misses", CACHE(LL, READ, MISS)},
    {"LLC-stores", CACHE(LL, WRITE, ACCESS)},
    {"LLC-store-misses", CACHE(LL, WRITE, MISS)},
    {"LLC-prefetches", CACHE(LL, PREFETCH, ACCESS)},
    {"LLC-prefetch-misses", CACHE(LL, PREFETCH, MISS)},
    {"dTLB-loads", CACHE(DTLB, READ, ACCESS)},
    {"dTLB-load-misses", CACHE(DTLB, READ, MISS)},
    {"dTLB-stores", CACHE(DTLB, WRITE, ACCESS)},
    {"dTLB-store-misses", CACHE(DTLB, WRITE, MISS)},
    {"dTLB-prefetches", CACHE(DTLB, PREFETCH, ACCESS)},
    {"dTLB-prefetch-misses", CACHE(DTLB, PREFETCH, MISS)},
    {"iTLB-loads", CACHE(ITLB, READ, ACCESS)},
    {"iTLB-load-misses", CACHE(ITLB, READ, MISS)},
    {"branch-loads", CACHE(BPU, READ, ACCESS)},
    {"branch-load-misses", CACHE(BPU, READ, MISS)},
    {"node-loads", CACHE(NODE, READ, ACCESS)},
    {"node-load-misses", CACHE(NODE, READ, MISS)},
    {"node-stores", CACHE(NODE, WRITE, ACCESS)},
    {"node-store-misses", CACHE(NODE, WRITE, MISS)},
    {"node-prefetches", CACHE(NODE, PREFETCH, ACCESS)},
    {"node-prefetch-misses", CACHE(NODE, PREFETCH, MISS)},
    /* perf's other spellings */
    {"l1d", CACHE(L1D, READ, ACCESS)},
    {"l1-d-read", CACHE(L1D, READ, ACCESS)},
    {"L1-data-write-miss", CACHE(L1D, WRITE, MISS)},
    {"L1-dcache-misses", CACHE(L1D, READ, MISS)},
    {"L1-dcache-miss-store", CACHE(L1D, WRITE, MISS)},
    {"L1-dcache-load-refs", CACHE(L1D, READ, ACCESS)},
    {"l1i-misses", CACHE(L1I, READ, MISS)},
    {"l1-i-loads", CACHE(L1I, READ, ACCESS)},
    {"L1-instruction-access", CACHE(L1I, READ, ACCESS)},
    {"L2-stores", CACHE(LL, WRITE, ACCESS)},
    {"LLC", CACHE(LL, READ, ACCESS)},
    {"LLC-speculative-read-misses", CACHE(LL, PREFETCH, MISS)},
    {"LLC-speculative-load", CACHE(LL, PREFETCH, ACCESS)},
    {"d-tlb-ops", CACHE(DTLB, READ, ACCESS)},
    {"Data-TLB-store", CACHE(DTLB, WRITE, ACCESS)},
    {"i-tlb-miss", CACHE(ITLB, READ, MISS)},
    {"Instruction-TLB-Reference", CACHE(ITLB, READ, ACCESS)},
    {"branch", CACHE(BPU, READ, ACCESS)},
    {"bpu-misses", CACHE(BPU, READ, MISS)},
    {"btb-loads", CACHE(BPU, READ, ACCESS)},
    {"bpc-load-miss", CACHE(BPU, READ, MISS)},
    {"node", CACHE(NODE, READ, ACCESS)},
    {"r1a8", PERF_TYPE_RAW, 0x1a8},
    {"r0", PERF_TYPE_RAW, 0},
    {"rFFFFffffFFFFffff", PERF_TYPE_RAW, UINT64_MAX},
};
#define ENCODINGS (int)(sizeof encodings / sizeof *encodings)

START_TEST(a_name_of_perf_has_perfs_encoding)
{
	const struct encoding *want = &encodings[_i];

	check_encoding(want->name, want->type, want->config);
	struct ps__event event = parsed(want->name);
	ck_assert_str_eq(event.name, want->name);
	ck_assert_int_eq(event.scope, PS_SCOPE_THREAD);
	ck_assert_int_eq(event.klass, want->type == PERF_TYPE_SOFTWARE ? PS__EVENT_CLASS_SOFTWARE
	                                                               : PS__EVENT_CLASS_CORE);
	ck_assert(event.scale == 1);
	ck_assert_str_eq(event.unit, strstr(event.name, "-clock") ? "ns" : "");
	ck_assert(!event.explicit_domain && !event.user_only && !event.unsupported);
	ck_assert(!event.attr.exclude_user && !event.attr.exclude_kernel &&
	          !event.attr.exclude_hv && !event.attr.pinned);
	ps__event_clear(&event);
	ps__event_clear(&event);
}
END_TEST

/* Files only tell which kinds of cores there are. */
START_TEST(a_generic_name_needs_no_file)
{
	fake_count_reset();
	check_encoding("page-faults:u", SOFTWARE(PAGE_FAULTS));
	ck_assert_uint_eq(fake_count(FAKE_OPEN), 0);
	fake_fail_always(FAKE_OPEN, EACCES);
	check_encoding("instructions:u", HARDWARE(INSTRUCTIONS));
	fake_fail_always(FAKE_LIST, EACCES);
	check_encoding("LLC-load-misses", CACHE(LL, READ, MISS));
}
END_TEST

static const struct modifiers {
	const char *name;
	bool user, kernel, hypervisor; /* counted */
	bool explicit_domain;
} modifiers[] = {
    {"cycles", true, true, true, false},    {"cycles:u", true, false, false, true},
    {"cycles:k", false, true, false, true}, {"cycles:h", false, false, true, true},
    {"cycles:uk", true, true, false, true}, {"cycles:ku", true, true, false, true},
    {"cycles:kh", false, true, true, true}, {"cycles:ukh", true, true, true, true},
    {"cycles:D", true, true, true, false},  {"cycles:uD", true, false, false, true},
};

START_TEST(modifiers_say_what_is_counted)
{
	const struct modifiers *want = &modifiers[_i];
	struct ps__event event = parsed(want->name);

	ck_assert_int_eq(!event.attr.exclude_user, want->user);
	ck_assert_int_eq(!event.attr.exclude_kernel, want->kernel);
	ck_assert_int_eq(!event.attr.exclude_hv, want->hypervisor);
	ck_assert_int_eq(event.explicit_domain, want->explicit_domain);
	ck_assert_int_eq(event.attr.pinned, strchr(want->name, 'D') != NULL);
	ck_assert_str_eq(event.name, want->name);
	ps__event_clear(&event);
}
END_TEST

START_TEST(guest_host_and_idle_are_as_in_perf)
{
	struct ps__event guest = parsed("cycles:G"), host = parsed("cycles:uH"),
			 both = parsed("cycles:GH"), busy = parsed("cycles:I");

	ck_assert(guest.attr.exclude_host && !guest.attr.exclude_guest && !guest.explicit_domain);
	ck_assert(!host.attr.exclude_host && host.attr.exclude_guest && host.attr.exclude_kernel);
	ck_assert(!both.attr.exclude_host && !both.attr.exclude_guest);
	ck_assert(busy.attr.exclude_idle);
	ps__event_clear(&guest);
	ps__event_clear(&host);
	ps__event_clear(&both);
	ps__event_clear(&busy);
}
END_TEST

static const struct refusal {
	const char *name;
	int code;
	const char *part;
} refusals[] = {
    {"", PS_EINVAL, "empty"},
    {NULL, PS_EINVAL, "NULL"},
    {"cycles:", PS_EATTR, "no modifier follows"},
    {"cycles:uq", PS_EATTR, "'q' (character 9)"},
    {"cycles:pp", PS_EATTR, "sampling"},
    {"cycles:uku", PS_EATTR, "'u' is given twice (character 10)"},
    {"cycles:u:k", PS_EATTR, "':' (character 9)"},
    {"cycles :u", PS_ENOEVNT, "'cycles'"},
    {"page-fautls", PS_ENOEVNT, "'page-faults'"},
    {"pagefaults:u", PS_ENOEVNT, "'page-faults'"},
    {"CYCLES", PS_ENOEVNT, "'cycles'"},
    {"instr", PS_ENOEVNT, "'instructions'"},
    {"L1-dcache-load-mises", PS_ENOEVNT, "'L1-dcache-load-misses'"},
    {"llc_load_misses", PS_ENOEVNT, "'LLC-load-misses'"},
    {"L1-dcache-load-load", PS_ENOEVNT, "'L1-dcache-loads'"},
    {"L1-icache-stores", PS_ENOEVNT, "'L1-icache-loads'"},
    {"branch-stores", PS_ENOEVNT, "'branch-misses'"},
    {"L1-dcache-", PS_ENOEVNT, "'L1-dcache-loads'"},
    {"r", PS_ENOEVNT, "unknown event 'r'"},
    {"rg", PS_ENOEVNT, "unknown event 'rg'"},
    {"r12345678901234567", PS_ENOEVNT, "unknown event"},
    {"quite-another-thing", PS_ENOEVNT, "perfsage list"},
    {"page-faults,minor-faults", PS_ENOEVNT, "it is a list, and each call takes the name of one"},
    {"page-faults,", PS_ENOEVNT, "it is a list"},
    {"perf::PAGE-FAULTS", PS_ENOEVNT, "'page-faults'"},
    {"PAPI_TOT_INS", PS_ENOEVNT, "that is PAPI's name; use 'instructions'"},
    {"papi_tot_cyc:u", PS_ENOEVNT, "that is PAPI's name; use 'cycles:u'"},
    {"PAPI_L1_DCM:k", PS_ENOEVNT,
     "the nearest event is 'L1-dcache-load-misses:k', which counts loads alone"},
    {"PAPI_FP_OPS", PS_ENOEVNT, "no generic event for it: 'perfsage list'"},
    {"PAPI_TOT", PS_ENOEVNT, "ps_eventset_from_papi"},
    {":u", PS_ENOEVNT, "':u'"},
    {"/", PS_EATTR, "no '/' closes"},
    {"mem:", PS_EATTR, "no address at character 5"},
    {"mem:-1", PS_EATTR, "no address"},
    {"mem:0xffffffffffffffffff", PS_EATTR, "no address"},
    {"mem:0x1000/9", PS_EATTR, "1 to 8 bytes"},
    {"mem:0x1000/", PS_EATTR, "1 to 8 bytes"},
    {"mem:0x1000w", PS_EATTR, "character 11"},
    {"mem:0x1000:rq", PS_EATTR, "'r'"},
};

START_TEST(a_wrong_name_is_refused_and_the_sentence_says_what_is_wrong)
{
	check_refused(refusals[_i].name, refusals[_i].code, refusals[_i].part);
}
END_TEST

/* The name that the refusal gives instead must be one. */
START_TEST(what_is_proposed_for_a_preset_of_papi_is_an_event)
{
	static const char *const presets[] = {
	    "PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_REF_CYC", "PAPI_BR_INS", "PAPI_BR_MSP",
	    "PAPI_L1_DCM",  "PAPI_L1_LDM",  "PAPI_L1_STM",  "PAPI_L1_DCA", "PAPI_L1_DCR",
	    "PAPI_L1_DCW",  "PAPI_L1_ICM",  "PAPI_L1_ICA",  "PAPI_L1_ICR", "PAPI_L3_TCM",
	    "PAPI_L3_TCA",  "PAPI_L3_DCM",  "PAPI_L3_DCA",  "PAPI_L3_LDM", "PAPI_L3_STM",
	    "PAPI_TLB_DM",  "PAPI_TLB_IM",  "PAPI_LD_INS",  "PAPI_SR_INS"};

	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		char name[64], proposed[64] = "";
		snprintf(name, sizeof name, "%s:u", presets[i]);
		check_refused(name, PS_ENOEVNT, "that is PAPI's name; ");
		const char *at = strstr(ps_error_detail(), "PAPI's name; ");
		ck_assert_int_eq(sscanf(strchr(at, ';'), "%*[^']'%63[^']", proposed), 1);
		ck_assert_str_eq(proposed + strlen(proposed) - 2, ":u");
		struct ps__event event = parsed(proposed);
		ps__event_clear(&event);
	}
}
END_TEST

START_TEST(at_most_five_names_are_proposed)
{
	size_t quotes = 0;

	check_refused("L1-dcache-load-mises", PS_ENOEVNT, "nearest");
	for (const char *at = strstr(ps_error_detail(), "nearest"); *at; at++)
		quotes += *at == '\'';
	ck_assert_uint_eq(quotes, 2 * 5);
}
END_TEST

START_TEST(a_name_longer_than_any_is_refused)
{
	char name[600];

	memset(name, 'a', sizeof name);
	name[511] = '\0';
	check_refused(name, PS_ENOEVNT, "unknown event");
	name[511] = 'a';
	name[512] = '\0';
	check_refused(name, PS_ENOEVNT, "512 characters");
}
END_TEST

START_TEST(events_of_the_kernel_itself_are_marked)
{
	static const char *const names[] = {
	    "context-switches",   "cs:k",        "cpu-migrations", "migrations", "cgroup-switches",
	    "software/config=3/", "page-faults", "task-clock",     "cycles:k"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct ps__event event = parsed(names[i]);
		ck_assert_msg(event.kernel_side == (i < 6), "%s", names[i]);
		ps__event_clear(&event);
	}
}
END_TEST

static const struct {
	const char *name;
	uint64_t address, length;
	uint32_t access;
} breakpoints[] = {
    {"mem:0x1000", 0x1000, HW_BREAKPOINT_LEN_4, HW_BREAKPOINT_RW},
    {"mem:4096:u", 0x1000, HW_BREAKPOINT_LEN_4, HW_BREAKPOINT_RW},
    {"mem:0x1000/8:w", 0x1000, 8, HW_BREAKPOINT_W},
    {"mem:0x1000/1:rw:u", 0x1000, 1, HW_BREAKPOINT_RW},
    {"mem:0xffffffff81000000:x", 0xffffffff81000000, sizeof(long), HW_BREAKPOINT_X},
};

START_TEST(a_breakpoint_has_address_length_and_access)
{
	struct ps__event event = parsed(breakpoints[_i].name);

	ck_assert_uint_eq(event.attr.type, PERF_TYPE_BREAKPOINT);
	ck_assert_uint_eq(event.attr.bp_addr, breakpoints[_i].address);
	ck_assert_uint_eq(event.attr.bp_len, breakpoints[_i].length);
	ck_assert_uint_eq(event.attr.bp_type, breakpoints[_i].access);
	ck_assert_int_eq(event.klass, PS__EVENT_CLASS_SOFTWARE);
	ck_assert_int_eq(event.explicit_domain, strstr(breakpoints[_i].name, ":u") != NULL);
	ps__event_clear(&event);
}
END_TEST

#define TRACEFS "/sys/kernel/tracing/events/"

START_TEST(a_tracepoint_has_the_number_that_tracefs_gives)
{
	fake_file(TRACEFS "sched/sched_switch/id", "372\n");
	fake_file(TRACEFS "sched/sched_wakeup/id", "373\n");
	check_encoding("sched:sched_switch", PERF_TYPE_TRACEPOINT, 372);
	struct ps__event event = parsed("sched:sched_wakeup:k");
	ck_assert_uint_eq(event.attr.config, 373);
	ck_assert(event.kernel_side && event.explicit_domain && event.attr.exclude_user);
	ck_assert_int_eq(event.klass, PS__EVENT_CLASS_SOFTWARE);
	ps__event_clear(&event);
	check_refused("sched:sched_swich", PS_ENOEVNT, "'sched:sched_switch'");
	check_refused("sched:sched_switch:q", PS_EATTR, "'q' (character 20)");
	check_refused("sched:../sched_switch", PS_ENOEVNT, "unknown event");
	check_refused("..:sched_switch", PS_ENOEVNT, "unknown event");
}
END_TEST

START_TEST(the_tracepoints_that_count_time_say_so)
{
	static const struct {
		const char *path, *name, *unit;
	} rows[] = {{TRACEFS "sched/sched_stat_runtime/id", "sched:sched_stat_runtime:k", "ns"},
	            {TRACEFS "sched/sched_stat_wait/id", "sched:sched_stat_wait", "ns"},
	            {TRACEFS "sched/sched_stat_sleep/id", "sched:sched_stat_sleep", "ns"},
	            {TRACEFS "sched/sched_stat_blocked/id", "sched:sched_stat_blocked", "ns"},
	            {TRACEFS "sched/sched_stat_iowait/id", "sched:sched_stat_iowait", "ns"},
	            {TRACEFS "sched/sched_stat_runtime_x/id", "sched:sched_stat_runtime_x", ""}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		fake_file(rows[i].path, "363\n");
		struct ps__event event = parsed(rows[i].name);
		ck_assert_str_eq(event.unit, rows[i].unit);
		ps__event_clear(&event);
	}
}
END_TEST

START_TEST(a_tracepoint_is_found_where_older_systems_have_it)
{
	fake_file("/sys/kernel/debug/tracing/events/sched/sched_switch/id", "12\n");
	check_encoding("sched:sched_switch", PERF_TYPE_TRACEPOINT, 12);
}
END_TEST

START_TEST(a_tracepoint_that_may_not_be_read_is_said_to_be_so)
{
	fake_file(TRACEFS "sched/sched_switch/id", "372\n");
	fake_file_error(TRACEFS "sched/sched_switch/id", EACCES);
	check_refused("sched:sched_switch", PS_EPERM, "remount");
}
END_TEST

START_TEST(without_tracefs_the_sentence_says_how_to_mount_it)
{
	check_refused("sched:sched_switch", PS_ENOEVNT, "mount -t tracefs");
	check_refused("cycless:u", PS_ENOEVNT, "'cycles'");
	ck_assert_ptr_null(strstr(ps_error_detail(), "tracefs"));
}
END_TEST

START_TEST(a_copy_is_equal_and_owns_its_name)
{
	struct ps__event event = parsed("instructions:u"), copy;

	ck_assert_int_eq(ps__event_copy(&copy, &event), PS_OK);
	ck_assert_str_eq(copy.name, event.name);
	ck_assert_ptr_ne(copy.name, event.name);
	ck_assert_mem_eq(&copy.attr, &event.attr, sizeof event.attr);
	ck_assert(copy.explicit_domain);
	ps__event_clear(&event);
	ck_assert_str_eq(copy.name, "instructions:u");
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	struct ps__event untouched = copy;
	ck_assert_int_eq(ps__event_copy(&untouched, &copy), PS_ENOMEM);
	ck_assert_ptr_eq(untouched.name, copy.name);
	ps__event_clear(&copy);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event");
	TCase *tests = scene_case_of(suite, "names", fake_install, fake_remove);

	tcase_add_loop_test(tests, a_name_of_perf_has_perfs_encoding, 0, ENCODINGS);
	tcase_add_test(tests, a_generic_name_needs_no_file);
	tcase_add_loop_test(tests, modifiers_say_what_is_counted, 0,
	                    (int)(sizeof modifiers / sizeof *modifiers));
	tcase_add_test(tests, guest_host_and_idle_are_as_in_perf);
	tcase_add_loop_test(tests, a_wrong_name_is_refused_and_the_sentence_says_what_is_wrong, 0,
	                    (int)(sizeof refusals / sizeof *refusals));
	tcase_add_test(tests, at_most_five_names_are_proposed);
	tcase_add_test(tests, what_is_proposed_for_a_preset_of_papi_is_an_event);
	tcase_add_test(tests, a_name_longer_than_any_is_refused);
	tcase_add_test(tests, events_of_the_kernel_itself_are_marked);
	tcase_add_loop_test(tests, a_breakpoint_has_address_length_and_access, 0,
	                    (int)(sizeof breakpoints / sizeof *breakpoints));
	tcase_add_test(tests, a_tracepoint_has_the_number_that_tracefs_gives);
	tcase_add_test(tests, the_tracepoints_that_count_time_say_so);
	tcase_add_test(tests, a_tracepoint_is_found_where_older_systems_have_it);
	tcase_add_test(tests, a_tracepoint_that_may_not_be_read_is_said_to_be_so);
	tcase_add_test(tests, without_tracefs_the_sentence_says_how_to_mount_it);
	tcase_add_test(tests, a_copy_is_equal_and_owns_its_name);
	return run_suite(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* pmu/.../ and bare aliases, on fake machines: encodings, units, and what is said of terms and PMUs
 * that are wrong. */
#include "test_event.h"

#include "event/pmu.h"

#include <errno.h>

#define DEVICES "/sys/bus/event_source/devices/"

static const struct encoding {
	const char *machine, *name;
	uint32_t type;
	uint64_t config, config1, config2;
} encodings[] = {
    {"skx", "cpu/event=0xc0,umask=1/", 4, 0x1c0, 0, 0},
    {"skx", "cpu/event=192,umask=0x01,inv,cmask=2/", 4, 0x28001c0, 0, 0},
    {"skx", "cpu/ event = 0xc0 , umask = 1 /", 4, 0x1c0, 0, 0},
    {"skx", "cpu/in_tx,edge=0,event=0x3C/", 4, 0x10000003c, 0, 0},
    {"skx", "cpu/cache-misses/", 4, 0x412e, 0, 0},
    {"skx", "cpu/mem-loads,ldlat=30/", 4, 0x1cd, 30, 0},
    {"skx", "cpu/ldlat=30,mem-loads/", 4, 0x1cd, 30, 0},
    {"skx", "cpu/mem-loads/", 4, 0x1cd, 3, 0},
    {"skx", "cpu/config=0x1234,config1=0xffffffffffffffff,config2=7/", 4, 0x1234, UINT64_MAX, 7},
    {"skx", "cpu/r1a8/", 4, 0x1a8, 0, 0},
    {"skx", "cpu/offcore_rsp=0xffffffffffffffff,event=0xb7/", 4, 0xb7, UINT64_MAX, 0},
    {"skx", "msr/tsc/", 10, 0, 0, 0},
    {"skx", "msr/event=0x2/", 10, 2, 0, 0},
    {"skx", "uncore_imc_1/cas_count_read/", 15, 0x304, 0, 0},
    {"skx", "uncore_upi_0/event=0xff,umask_ext=0x1234f/", 16, 0x123 * (1ULL << 32) | 0x4fff, 0, 0},
    /* generic names within the PMU of the cores: one kind of cores, so the upper half stays 0 */
    {"skx", "cpu/cycles/", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0},
    {"skx", "cpu/LLC-load-misses/u", PERF_TYPE_HW_CACHE, 0x10002, 0, 0},
    /* bits in several ranges, filled from the lowest */
    {"zen", "cpu/event=0x1c0/", 4, 0x1000000c0, 0, 0},
    {"zen", "cpu/event=0xfff,umask=0x1/", 4, 0xf000001ff, 0, 0},
    {"zen", "amd_df/event=0x3f07,umask=0x738/", 12, 0x3f07003807, 0, 0},
    {"zen", "amd_l3/event=0x4,umask=0xff,coreid=2,enallslices,threadmask=0x3/", 11,
     0x04 | 0xff00 | 2ULL << 42 | 1ULL << 46 | 3ULL << 56, 0, 0},
    {"zen", "ibs_op/cnt_ctl,swfilt/", 9, 1 << 19, 0, 1},
    {"zen", "irperf", 10, 5, 0, 0},
    {"arm", "armv8_pmuv3_0/inst_retired/", 8, 8, 0, 0},
    {"arm", "armv8_pmuv3_0/inst_retired,long,rdpmc/", 8, 8, 3, 0},
    {"arm", "armv8_pmuv3_0/cycles/", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0},
    {"arm", "inst_retired", 8, 8, 0, 0},
    {"arm", "l1d_cache_refill:u", 8, 3, 0, 0},
    {"arm", "arm_cmn_0/hnf_cache_miss,nodeid=0x28/", 10, 0x10005, 0x28, 0},
    {"arm", "hnf_mc_reqs", 10, 0xd0005, 0, 0},
    {"hybrid", "cpu_atom/instructions/", 10, 0xc0, 0, 0},
    {"hybrid", "cpu_atom/mem-loads/", 10, 0x5d0, 3, 0},
    {"hybrid", "cpu_core/cycles/", PERF_TYPE_HARDWARE, 4ULL << 32, 0, 0},
    {"hybrid", "cpu_atom/cycles/u", PERF_TYPE_HARDWARE, 10ULL << 32, 0, 0},
    {"hybrid", "cpu_atom/L1-dcache-loads/", PERF_TYPE_HW_CACHE, 10ULL << 32, 0, 0},
    {"hybrid", "slots", 4, 0x400, 0, 0},
    {"hybrid", "topdown-bad-spec", 10, 0x73, 0, 0},
};

/* What each kind of cores is asked for: PMU, type, config. */
/* PMU, type, config, config1. */
#define KIND(...)                         \
	{                                 \
		__VA_ARGS__, 0, {0}, NULL \
	}

static const struct {
	const char *machine, *name, *cpus; /* cpus: where it can be counted; NULL: anywhere */
	struct ps__variant variants[2];
} kinds[] = {
    {"hybrid", "instructions", NULL, {KIND(4, 0, 0x400000001, 0), KIND(10, 0, 0xa00000001, 0)}},
    {"hybrid", "LLC-loads:u", NULL, {KIND(4, 3, 0x400000002, 0), KIND(10, 3, 0xa00000002, 0)}},
    {"hybrid", "r1a8", NULL, {KIND(4, 4, 0x1a8, 0), KIND(10, 10, 0x1a8, 0)}},
    {"hybrid", "mem-loads", NULL, {KIND(4, 4, 0x1cd, 3), KIND(10, 10, 0x5d0, 3)}},
    {"hybrid", "cpu_core/cycles/", "0-3", {KIND(4, 0, 0x400000000, 0)}},
    {"hybrid", "cpu_atom/L1-dcache-loads/", "4-7", {KIND(10, 3, 0xa00000000, 0)}},
    {"hybrid", "cpu_atom/event=0x21/", "4-7", {KIND(10, 10, 0x21, 0)}},
    {"hybrid", "slots", "0-3", {KIND(4, 4, 0x400, 0)}},
    {"hybrid", "page-faults", NULL, {KIND(0, 0, 0, 0)}},
    {"skx", "instructions", NULL, {KIND(0, 0, 0, 0)}},
    {"arm", "inst_retired", NULL, {KIND(0, 0, 0, 0)}},
};

START_TEST(each_kind_of_cores_is_asked_in_its_way)
{
	use_machine(kinds[_i].machine);
	struct ps__event event = parsed(kinds[_i].name);
	size_t count = 0;

	for (; count < 2 && kinds[_i].variants[count].pmu_type; count++) {
		const struct ps__variant *wanted = &kinds[_i].variants[count],
					 *got = &event.variants[count];
		ck_assert_uint_lt(count, event.variant_count);
		ck_assert_msg(got->pmu_type == wanted->pmu_type && got->type == wanted->type &&
		                  got->config == wanted->config && got->config1 == wanted->config1,
		              "%s: PMU %u, type %u, %#llx, %#llx", kinds[_i].name, got->pmu_type,
		              got->type, (unsigned long long)got->config,
		              (unsigned long long)got->config1);
		ck_assert_str_eq(got->cpus, got->pmu_type == 4 ? "0-3" : "4-7");
	}
	ck_assert_uint_eq(event.variant_count, count);
	if (kinds[_i].cpus)
		ck_assert_str_eq(event.cpus, kinds[_i].cpus);
	else
		ck_assert_ptr_null(event.cpus);
	ps__event_clear(&event);
}
END_TEST

/* config3 is Linux 6.3's, config4 6.19's; headers may be older. */
START_TEST(format_files_and_terms_reach_the_newest_words)
{
	static const struct {
		const char *name;
		uint64_t config, later[2];
	} rows[] = {
	    {"cpu/event=0xc0,acr_mask=0x1234/", 0xc0, {0x1234, 0}},
	    {"cpu/acr_mask=0xffffffffffffffff/", 0, {UINT64_MAX, 0}},
	    {"cpu/config3=7,config4=0x9/", 0, {7, 9}},
	    {"cpu/top=0x3,acr_mask=1/", 0, {1, 3ULL << 62}},
	};

	use_machine("skx");
	fake_file(DEVICES "cpu/format/acr_mask", "config3:0-63\n");
	fake_file(DEVICES "cpu/format/top", "config4:62-63\n");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ps__event event = parsed(rows[i].name), copy;
		ck_assert_uint_eq(event.attr.config, rows[i].config);
		ck_assert_mem_eq(event.later, rows[i].later, sizeof event.later);
		ck_assert_int_eq(ps__event_copy(&copy, &event), PS_OK);
		ck_assert_mem_eq(copy.later, rows[i].later, sizeof copy.later);
		ps__event_clear(&copy);
		ps__event_clear(&event);
	}
}
END_TEST

START_TEST(terms_and_aliases_are_encoded_as_the_format_files_say)
{
	use_machine(encodings[_i].machine);
	struct ps__event event = parsed(encodings[_i].name);

	ck_assert_msg(event.attr.type == encodings[_i].type &&
	                  event.attr.config == encodings[_i].config &&
	                  event.attr.config1 == encodings[_i].config1 &&
	                  event.attr.config2 == encodings[_i].config2,
	              "%s: type %u, %#llx, %#llx, %#llx", encodings[_i].name, event.attr.type,
	              (unsigned long long)event.attr.config, (unsigned long long)event.attr.config1,
	              (unsigned long long)event.attr.config2);
	ck_assert_str_eq(event.name, encodings[_i].name);
	ps__event_clear(&event);
}
END_TEST

static const struct {
	const char *machine, *name;
	enum ps__event_class klass;
} classes[] = {
    {"skx", "cpu/event=0xc0/", PS__EVENT_CLASS_CORE},
    {"skx", "cpu/cycles/", PS__EVENT_CLASS_CORE},
    {"skx", "msr/tsc/", PS__EVENT_CLASS_SOFTWARE},
    {"skx", "software/config=2/", PS__EVENT_CLASS_SOFTWARE},
    {"skx", "kprobe/func=x,retprobe/", PS__EVENT_CLASS_SOFTWARE},
    {"skx", "uprobe/path=/x,offset=0,retprobe/", PS__EVENT_CLASS_SOFTWARE},
    {"skx", "tracepoint/config=100/", PS__EVENT_CLASS_SOFTWARE},
    {"skx", "power/energy-pkg/", PS__EVENT_CLASS_OTHER},
    {"skx", "uncore_imc_0/clockticks/", PS__EVENT_CLASS_OTHER},
    {"skx", "intel_pt/tsc/", PS__EVENT_CLASS_OTHER},
    {"arm", "inst_retired", PS__EVENT_CLASS_CORE},
    {"arm", "arm_dsu_0/cycles/", PS__EVENT_CLASS_OTHER},
    {"hybrid", "cpu_atom/mem-stores/", PS__EVENT_CLASS_CORE},
};

START_TEST(the_class_follows_the_pmu)
{
	use_machine(classes[_i].machine);
	struct ps__event event = parsed(classes[_i].name);

	ck_assert_int_eq(event.klass, classes[_i].klass);
	ps__event_clear(&event);
}
END_TEST

START_TEST(probes_and_tracepoints_of_a_pmu_are_of_the_kernel)
{
	use_machine("skx");
	static const struct {
		const char *name;
		bool kernel_side;
	} names[] = {{"kprobe/func=x,retprobe/", true},
	             {"tracepoint/config=100/", true},
	             {"software/config=3/", true},
	             {"uprobe/path=/x,offset=0,retprobe/", false},
	             {"msr/tsc/", false}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct ps__event event = parsed(names[i].name);
		ck_assert_msg(event.kernel_side == names[i].kernel_side, "%s", names[i].name);
		ps__event_clear(&event);
	}
}
END_TEST

START_TEST(modifiers_follow_the_slash_with_or_without_a_colon)
{
	static const char *const names[] = {"cpu/event=0xc0/u", "cpu/event=0xc0/:u",
	                                    "cpu/instructions/u", "cpu/cycles/:u"};

	use_machine("skx");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct ps__event event = parsed(names[i]);
		ck_assert(event.explicit_domain && event.attr.exclude_kernel &&
		          event.attr.exclude_hv && !event.attr.exclude_user);
		ps__event_clear(&event);
	}
}
END_TEST

START_TEST(the_term_name_gives_the_event_its_name)
{
	use_machine("skx");
	struct ps__event event = parsed("cpu/event=0xc0,umask=1,name=INST.PREC/u");

	ck_assert_str_eq(event.name, "INST.PREC");
	ck_assert_uint_eq(event.attr.config, 0x1c0);
	ps__event_clear(&event);
}
END_TEST

START_TEST(an_alias_brings_its_scale_and_unit)
{
	use_machine("skx");
	struct ps__event energy = parsed("power/energy-pkg/"),
			 bytes = parsed("uncore_imc_0/cas_count_read/"),
			 plain = parsed("uncore_imc_0/clockticks/");

	ck_assert(energy.scale == 0x1p-32);
	ck_assert_str_eq(energy.unit, "Joules");
	ck_assert(bytes.scale == 0x1p-14);
	ck_assert_str_eq(bytes.unit, "MiB");
	ck_assert(plain.scale == 1);
	ck_assert_str_eq(plain.unit, "");
	ps__event_clear(&energy);
	ps__event_clear(&bytes);
	ps__event_clear(&plain);
}
END_TEST

START_TEST(a_scale_that_is_no_number_is_refused)
{
	static const char *const wrong[] = {"", "abc", "1,5", "-1", "0", "nan", "inf", "1e-3x"};

	use_machine("skx");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		fake_file(DEVICES "power/events/energy-pkg.scale", wrong[i]);
		check_refused("power/energy-pkg/", PS_EATTR, "energy-pkg.scale");
	}
}
END_TEST

START_TEST(a_parameter_of_an_alias_must_be_given)
{
	fake_file(DEVICES "hv_24x7/type", "20");
	fake_file(DEVICES "hv_24x7/format/domain", "config:0-3");
	fake_file(DEVICES "hv_24x7/format/core", "config:16-31");
	fake_file(DEVICES "hv_24x7/format/offset", "config:32-63");
	fake_file(DEVICES "hv_24x7/events/PM_CS", "domain=0x2,offset=0xd8,core=?");
	check_refused("hv_24x7/PM_CS/", PS_EATTR, "hv_24x7/PM_CS,core=.../");
	check_refused("PM_CS", PS_EATTR, "needs a value for core");
	check_refused("hv_24x7/PM_CS,core/", PS_EATTR, "needs a value for core");
	check_encoding("hv_24x7/PM_CS,core=5/", 20, 0xd800050002);
	check_encoding("hv_24x7/core=5,PM_CS,domain=1/", 20, 0xd800050001);
}
END_TEST

START_TEST(an_alias_that_the_formats_do_not_know_is_refused)
{
	use_machine("zen");
	fake_file(DEVICES "cpu/events/odd", "event=0x1,nonsense=3");
	check_refused("cpu/odd/", PS_EATTR, "'nonsense' of the alias file events/odd");
	fake_file(DEVICES "cpu/events/odd", "event=0x1000");
	check_refused("odd", PS_EATTR, "too large");
	fake_file(DEVICES "cpu/events/odd", "name=surprise");
	check_refused("cpu/odd/", PS_EATTR, "'name'");
}
END_TEST

START_TEST(a_format_that_is_not_known_is_refused)
{
	static const char *const wrong[] = {
	    "",           "config",      "config:",        "config9:0-7", "config:0-64",
	    "config:7-0", "config:0-7,", "config:0-7,9-3", "config:0-",   "config:x",
	    "config:0 7", "config:0,,1", "config9:0-63"};

	use_machine("zen");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		fake_file(DEVICES "cpu/format/event", wrong[i]);
		check_refused("cpu/event=1/", PS_EATTR, "the format of 'event' of PMU cpu");
	}
	fake_file(DEVICES "cpu/format/event", "config:99999999999999999999");
	check_refused("cpu/event=1/", PS_EATTR, "the format of 'event' of PMU cpu");
}
END_TEST

static const struct {
	const char *machine, *name;
	int code;
	const char *part;
} refusals[] = {
    {"skx", "cpu/event=0xc0", PS_EATTR, "begin at character 5"},
    {"skx", "cpu//", PS_EATTR, "between the slashes"},
    {"skx", "cpu/,/", PS_EATTR, "empty (character 5)"},
    {"skx", "cpu/event=1,/", PS_EATTR, "empty (character 13)"},
    {"skx", "cpu/=1/", PS_EATTR, "empty (character 5)"},
    {"skx", "cpu/evnt=1/", PS_EATTR,
     "no term 'evnt' (character 5); its terms are: any, cmask, edge, event"},
    {"skx", "msr/tscc/", PS_EATTR, "no term or event 'tscc' (character 5); its terms are: event"},
    {"skx", "msr/tscc/", PS_EATTR, "its events: aperf, mperf, smi, tsc"},
    {"skx", "power/energy-pkg.unit/", PS_EATTR, "no term or event"},
    {"skx", "energy-pkg.scale", PS_ENOEVNT, "'power/energy-pkg/'"},
    {"skx", "cpu/page-faults/", PS_EATTR, "no term or event 'page-faults'"},
    {"skx", "power/cycles/", PS_EATTR, "no term or event 'cycles'"},
    {"skx", "cpu/cycles,umask=1/", PS_EATTR, "'cycles'"},
    {"skx", "cpu/event=0x100/", PS_EATTR,
     "'0x100' of 'event' (character 5) is too large: 0 to 0xff"},
    {"skx", "cpu/event=1,ldlat=65536/", PS_EATTR,
     "'65536' of 'ldlat' (character 13) is too large: 0 to 0xffff"},
    {"skx", "cpu/edge=2/", PS_EATTR, "0 to 0x1 can"},
    {"skx", "cpu/event=/", PS_EATTR, "'' of 'event' (character 5) is not a number"},
    {"skx", "cpu/event=0x/", PS_EATTR, "'0x' of 'event'"},
    {"skx", "cpu/event=-1/", PS_EATTR, "not a number"},
    {"skx", "cpu/event=1k/", PS_EATTR, "not a number"},
    {"skx", "cpu/config=18446744073709551616/", PS_EATTR, "not a number of 64 bits"},
    {"skx", "cpu/event=1,event=2/", PS_EATTR, "twice (characters 5 and 13)"},
    {"skx", "cpu/instructions,cpu-cycles/", PS_EATTR, "two events, at characters 5 and 18"},
    {"skx", "cpu/instructions,name=/", PS_EATTR, "name= (character 18) is empty"},
    {"skx", "cpu/instructions/q", PS_EATTR, "'q' (character 18)"},
    {"skx", "cpu/instructions/u/", PS_EATTR, "'/' (character 19)"},
    {"skx", "cpu/instructions/:", PS_EATTR, "no modifier follows"},
    {"skx", "nope/event=1/", PS_ENOEVNT,
     "no PMU 'nope'; this machine's are: breakpoint, cpu, cstate_core"},
    {"skx", "uncore_imc/cas_count_read/", PS_ENOEVNT, "one of uncore_imc_0, uncore_imc_1"},
    {"skx", "cas_count_read", PS_ENOEVNT,
     "uncore_imc_0, uncore_imc_1; name one, as in 'uncore_imc_0/cas_count_read/'"},
    {"skx", "../event=1/", PS_ENOEVNT, "no PMU '..'"},
    {"skx", "./type/", PS_ENOEVNT, "no PMU '.'"},
    {"skx", "/event=1/", PS_ENOEVNT, "no PMU ''"},
    {"skx", "cpu/../", PS_EATTR, "character"},
    {"skx", "cas_count_raed", PS_ENOEVNT, "'uncore_imc_0/cas_count_read/'"},
    {"skx", "energy_pkg", PS_ENOEVNT, "'power/energy-pkg/'"},
    {"arm", "inst_retire", PS_ENOEVNT, "'armv8_pmuv3_0/inst_retired/'"},
    {"arm", "INST_RETIRED", PS_ENOEVNT, "'armv8_pmuv3_0/inst_retired/'"},
    {"hybrid", "cpu/event=1/", PS_ENOEVNT, "one of cpu_atom, cpu_core"},
};

START_TEST(a_wrong_term_is_refused_and_the_sentence_says_which_and_where)
{
	use_machine(refusals[_i].machine);
	check_refused(refusals[_i].name, refusals[_i].code, refusals[_i].part);
}
END_TEST

START_TEST(long_lists_are_cut_and_counted)
{
	for (int i = 10; i < 40; i++) {
		char path[128];
		snprintf(path, sizeof path, DEVICES "many_%d/type", i);
		fake_file(path, "30");
	}
	check_refused("many/event=1/", PS_ENOEVNT, "many_10, many_11");
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "many_25 and 14 more"));
}
END_TEST

START_TEST(a_type_that_is_no_number_is_refused)
{
	static const char *const wrong[] = {"", "x", "-1", "4294967296", "12 13"};

	use_machine("skx");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		fake_file(DEVICES "power/type", wrong[i]);
		check_refused("power/energy-pkg/", PS_ESYS, DEVICES "power/type");
	}
}
END_TEST

START_TEST(without_sysfs_the_sentence_says_that_no_pmu_is_there)
{
	fake_file(DEVICES "software/type", NULL);
	fake_file(DEVICES "tracepoint/type", NULL);
	fake_file(DEVICES "breakpoint/type", NULL);
	check_refused("msr/tsc/", PS_ENOEVNT, "this machine's are: none");
	check_refused("cyclse", PS_ENOEVNT, "'cycles'");
	check_encoding("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
}
END_TEST

static bool has_core_pmu(void)
{
	size_t count = 0;

	return ps__pmu_core_count(&count) == 0 && count > 0;
}

START_TEST(a_core_pmu_is_told_from_the_others)
{
	static const char *const machines[] = {"skx", "zen", "arm", "hybrid"};

	ck_assert(!has_core_pmu());
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		use_machine(machines[i]);
		ck_assert_msg(has_core_pmu(), "%s", machines[i]);
	}
	use_machine("arm");
	fake_file(DEVICES "armv8_pmuv3_0/cpus", NULL);
	ck_assert(!has_core_pmu());
	fake_fail_always(FAKE_LIST, EMFILE);
	ck_assert(!has_core_pmu());
	fake_fail_always(FAKE_LIST, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_pmu");
	TCase *tests = scene_case_of(suite, "terms", fake_install, fake_remove);

	tcase_add_loop_test(tests, each_kind_of_cores_is_asked_in_its_way, 0,
	                    (int)(sizeof kinds / sizeof *kinds));
	tcase_add_test(tests, format_files_and_terms_reach_the_newest_words);
	tcase_add_loop_test(tests, terms_and_aliases_are_encoded_as_the_format_files_say, 0,
	                    (int)(sizeof encodings / sizeof *encodings));
	tcase_add_loop_test(tests, the_class_follows_the_pmu, 0,
	                    (int)(sizeof classes / sizeof *classes));
	tcase_add_test(tests, probes_and_tracepoints_of_a_pmu_are_of_the_kernel);
	tcase_add_test(tests, modifiers_follow_the_slash_with_or_without_a_colon);
	tcase_add_test(tests, the_term_name_gives_the_event_its_name);
	tcase_add_test(tests, an_alias_brings_its_scale_and_unit);
	tcase_add_test(tests, a_scale_that_is_no_number_is_refused);
	tcase_add_test(tests, a_parameter_of_an_alias_must_be_given);
	tcase_add_test(tests, an_alias_that_the_formats_do_not_know_is_refused);
	tcase_add_test(tests, a_format_that_is_not_known_is_refused);
	tcase_add_loop_test(tests, a_wrong_term_is_refused_and_the_sentence_says_which_and_where, 0,
	                    (int)(sizeof refusals / sizeof *refusals));
	tcase_add_test(tests, long_lists_are_cut_and_counted);
	tcase_add_test(tests, a_type_that_is_no_number_is_refused);
	tcase_add_test(tests, without_sysfs_the_sentence_says_that_no_pmu_is_there);
	tcase_add_test(tests, a_core_pmu_is_told_from_the_others);
	return run_suite(suite);
}

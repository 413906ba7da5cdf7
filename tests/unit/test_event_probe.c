/* SPDX-License-Identifier: BSD-3-Clause */
/* uprobe/.../ and kprobe/.../: the attribute that the kernel gets, whose strings must live as long
 * as the event. */
#include "backend/backend.h"
#include "test_event.h"

#include <errno.h>

#define DEVICES "/sys/bus/event_source/devices/"

static void set_up(void)
{
	fake_install();
	fake_file(DEVICES "uprobe/type", "8\n");
	fake_file(DEVICES "uprobe/format/retprobe", "config:0\n");
	fake_file(DEVICES "uprobe/format/ref_ctr_offset", "config:32-63\n");
	fake_file(DEVICES "kprobe/type", "7\n");
	fake_file(DEVICES "kprobe/format/retprobe", "config:0\n");
	fake_add_pmu(7, 100);
	fake_set_pmu_flags(7, FAKE_PMU_SOFTWARE);
	fake_add_pmu(8, 100);
	fake_set_pmu_flags(8, FAKE_PMU_SOFTWARE);
}

static void check_probe(const char *name, uint32_t type, uint64_t config, const char *place,
                        uint64_t config2)
{
	struct ps__event event = parsed(name);

	ck_assert_uint_eq(event.attr.type, type);
	ck_assert_msg(event.attr.config == config, "%s: config %#llx", name,
	              (unsigned long long)event.attr.config);
	ck_assert_msg(event.attr.config2 == config2, "%s: config2 %#llx", name,
	              (unsigned long long)event.attr.config2);
	ck_assert_uint_eq(event.attr.config1, (uintptr_t)event.probe);
	ck_assert_int_eq(event.klass, PS__EVENT_CLASS_SOFTWARE);
	ck_assert_int_eq(event.scope, PS_SCOPE_THREAD);
	ck_assert_int_eq(event.kernel_side, type == 7);
	if (place)
		ck_assert_str_eq(event.probe, place);
	else
		ck_assert_ptr_null(event.probe);
	ps__event_clear(&event);
	ps__event_clear(&event);
}

START_TEST(a_probe_is_a_file_or_a_function_and_an_offset)
{
	check_probe("uprobe/path=/usr/lib/libc.so,offset=0x1234/", 8, 0, "/usr/lib/libc.so",
	            0x1234);
	check_probe("uprobe/offset=4660,path=/bin/x y/", 8, 0, "/bin/x y", 0x1234);
	check_probe("uprobe/path=/bin/x,offset=0x10,retprobe/", 8, 1, "/bin/x", 0x10);
	check_probe("uprobe/path=/bin/x,offset=0x10,retprobe=0/", 8, 0, "/bin/x", 0x10);
	check_probe("uprobe/path=/bin/x,offset=0x10,ref_ctr_offset=0x20/", 8, 0x20ull << 32,
	            "/bin/x", 0x10);
	check_probe("kprobe/func=vfs_read,offset=0/", 7, 0, "vfs_read", 0);
	check_probe("kprobe/func=vfs_read/", 7, 0, "vfs_read", 0);
	check_probe("kprobe/func=vfs_read,offset=8,retprobe/", 7, 1, "vfs_read", 8);
	check_probe("kprobe/addr=0xffffffff81000000/", 7, 0, NULL, 0xffffffff81000000);
}
END_TEST

START_TEST(a_probe_may_have_a_name_and_modifiers)
{
	struct ps__event event = parsed("uprobe/path=/bin/x,offset=0x10,name=calls/u");

	ck_assert_str_eq(event.name, "calls");
	ck_assert(event.explicit_domain && event.attr.exclude_kernel && !event.attr.exclude_user);
	ps__event_clear(&event);
	event = parsed("uprobe/path=/bin/x,offset=0x10/:k");
	ck_assert(event.explicit_domain && event.attr.exclude_user);
	ps__event_clear(&event);
}
END_TEST

START_TEST(a_copy_points_at_its_own_text)
{
	struct ps__event event = parsed("uprobe/path=/bin/x,offset=0x10/"), copy;

	ck_assert_int_eq(ps__event_copy(&copy, &event), PS_OK);
	ck_assert_ptr_ne(copy.probe, event.probe);
	ps__event_clear(&event);
	ck_assert_str_eq(copy.probe, "/bin/x");
	ck_assert_uint_eq(copy.attr.config1, (uintptr_t)copy.probe);
	for (unsigned nth = 1; nth <= 2; nth++) {
		struct ps__event other = {.name = NULL};
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		ck_assert_int_eq(ps__event_copy(&other, &copy), PS_ENOMEM);
		ck_assert_ptr_null(other.name);
	}
	ps__event_clear(&copy);
}
END_TEST

START_TEST(what_is_missing_or_wrong_is_said)
{
	check_refused("uprobe/path=/bin/x/", PS_EATTR, "needs path= and offset=");
	check_refused("uprobe/offset=1/", PS_EATTR, "needs path= and offset=");
	check_refused("uprobe/path=x,offset=1/", PS_EATTR, "from the root on");
	check_refused("uprobe/path=,offset=1/", PS_EATTR, "from the root on");
	check_refused("uprobe/path=/bin/x,offset=1", PS_EATTR, "no '/' closes");
	check_refused("uprobe/path=/bin/x,offset=1/z", PS_EATTR, "no '/' closes");
	check_refused("uprobe/path=/bin/x,offset=-1/", PS_EATTR, "not a number");
	check_refused("uprobe/path=/bin/x,offset=1,retprobe=2/", PS_EATTR, "too large");
	check_refused("uprobe/path=/bin/x,offset=1,func=main/", PS_EATTR, "path, offset, name");
	check_refused("uprobe/path=/bin/x,path=/bin/y,offset=1/", PS_EATTR, "twice");
	check_refused("uprobe/config1=0x1000,offset=1/", PS_EATTR, "give path=");
	check_refused("kprobe/offset=1/", PS_EATTR, "/proc/kallsyms");
	check_refused("kprobe/func=x,addr=1/", PS_EATTR, "not both");
	check_refused("kprobe/addr=1,offset=1/", PS_EATTR, "no meaning");
	check_refused("kprobe/func=/", PS_EATTR, "empty");
	check_refused("kprobe/path=/bin/x,offset=1/", PS_EATTR, "func, offset, addr");
	fake_file(DEVICES "kprobe/type", NULL);
	check_refused("kprobe/func=vfs_read/", PS_ENOEVNT, "there is no PMU 'kprobe'");
}
END_TEST

static void check_explained(const char *name, int error, int code, const char *part)
{
	struct ps__event event = parsed(name);

	fake_fail_always(FAKE_PERF_EVENT_OPEN, error);
	int got = ps__perf_probe(&event);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	ck_assert_msg(got == code && strstr(ps_error_detail(), part), "%s, %s: %d: %s", name,
	              strerror(error), got, ps_error_detail());
	ps__event_clear(&event);
}

START_TEST(the_kernels_refusal_is_explained)
{
	check_explained("uprobe/path=/bin/x,offset=0x10/", EACCES, PS_EPERM,
	                "CAP_PERFMON, whatever");
	check_explained("uprobe/path=/bin/x,offset=0x10/u", EPERM, PS_EPERM,
	                "CAP_PERFMON, whatever");
	check_explained("uprobe/path=/bin/x,offset=0x10/", ENOENT, PS_ENOSUPP,
	                "there is no file /bin/x");
	check_explained("uprobe/path=/bin/x,offset=0x10/", EINVAL, PS_ENOSUPP, "offset 0x10");
	check_explained("kprobe/func=nothing/", ENOENT, PS_ENOSUPP, "/proc/kallsyms");
	check_explained("kprobe/addr=1/", EINVAL, PS_ENOSUPP, "/proc/kallsyms");
	check_explained("kprobe/func=vfs_read,offset=1/", EILSEQ, PS_ENOSUPP, "instruction");
	check_explained("uprobe/path=/bin/x,offset=0x10/", EMFILE, PS_ECOUNT,
	                "1 file descriptor is needed,");
	/* What happens in the kernel alone can't be limited to user space. */
	check_explained("kprobe/func=vfs_read/u", 0, PS_EINVAL_DOM, "always read 0");
}
END_TEST

/* A filter can answer as the paranoid level does, and forbids what the level always permits. */
START_TEST(a_seccomp_filter_is_told_from_a_level_and_from_a_user_namespace)
{
	fake_set_paranoid(2, false);
	fake_file("/proc/self/status", "CapEff:\t0000000000000000\n");
	check_explained("page-faults", EACCES, PS_EPERM, "the process lacks CAP_PERFMON; as root");
	fake_file("/proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t2\n");
	check_explained("page-faults", EACCES, PS_EPERM, "a seccomp filter forbids");
	fake_file("/proc/self/status", "CapEff:\t0000004000000000\n");
	fake_file("/proc/self/uid_map", "0 100000 65536\n");
	check_explained("page-faults", EACCES, PS_EPERM, "don't count; as root of the host");
	check_explained("kprobe/func=vfs_read/", EACCES, PS_EPERM, "run without a user namespace");
}
END_TEST

START_TEST(the_kernel_gets_the_text)
{
	struct ps__event event = parsed("uprobe/path=/bin/x,offset=0x10/");

	ck_assert_int_eq(ps__perf_probe(&event), PS_OK);
	ps__event_clear(&event);
}
END_TEST

/* Each fork of the process would look for the text in its own memory, and fail. */
START_TEST(a_process_does_not_inherit_the_text)
{
	static const struct {
		const char *name;
		const char *detail; /* NULL: it is counted */
	} rows[] = {{"uprobe/path=/bin/x,offset=0x10/", "control group, by BPF or on CPUs"},
	            {"kprobe/func=vfs_read/", "give addr= instead of func="},
	            {"kprobe/addr=0xffffffff81000000/", NULL}};

	fake_task(500, "solver", 1);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
		struct ps_eventset *set;

		check_ok(ps_eventset_create(&set));
		check_ok(ps_eventset_add(set, rows[row].name));
		check_ok(ps_eventset_attach_process(set, 500));
		if (rows[row].detail) {
			check_fails(ps_start(set), PS_ECOMBO);
			check_detail(rows[row].detail);
		} else {
			check_ok(ps_start(set));
		}
		ps_eventset_destroy(set);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_probe");
	TCase *tests = scene_case_of(suite, "probes", set_up, fake_remove);

	tcase_add_test(tests, a_probe_is_a_file_or_a_function_and_an_offset);
	tcase_add_test(tests, a_probe_may_have_a_name_and_modifiers);
	tcase_add_test(tests, a_copy_points_at_its_own_text);
	tcase_add_test(tests, what_is_missing_or_wrong_is_said);
	tcase_add_test(tests, the_kernels_refusal_is_explained);
	tcase_add_test(tests, a_seccomp_filter_is_told_from_a_level_and_from_a_user_namespace);
	tcase_add_test(tests, the_kernel_gets_the_text);
	tcase_add_test(tests, a_process_does_not_inherit_the_text);
	return run_suite(suite);
}

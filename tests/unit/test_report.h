/* SPDX-License-Identifier: BSD-3-Clause */
/* The program whose regions the suites of reports write. */
#ifndef PS_TEST_REPORT_H
#define PS_TEST_REPORT_H

#include "support/regions.h"
#include "support/unmarked.h"

#define US UINT64_C(1000)

static uint64_t now_ns;

/* Time and events go by on a CPU. */
static inline void work(int cpu, uint64_t time_us, uint64_t faults)
{
	fake_set_cpu(cpu);
	fake_set_clock(now_ns += time_us * US, 0);
	fake_run(time_us * US, time_us * US);
	fake_advance(PAGE_FAULTS, faults);
	fake_advance(TASK_CLOCK, time_us * US);
}

static inline void visit(const char *name, int cpu, uint64_t time_us, uint64_t faults)
{
	check_ok(ps_region_enter(region(name)));
	work(cpu, time_us, faults);
	check_ok(ps_region_leave(region(name)));
}

static inline void give(const char *name, int64_t value)
{
	check_ok(ps_region_add_value(region(name), value));
}

/* The names hold what each format must escape. */
static inline void run_program(void)
{
	now_ns = 1000000 * US;
	fake_set_clock(now_ns, 0);
	fake_set_affinity("0-3");
	fake_set_cpu(0);
	regions_begin(EVENT, "task-clock", NULL);
	check_ok(ps_profile_join(regions.profile));
	work(0, 10, 3);
	check_ok(ps_region_enter(region("solve")));
	work(0, 500, 40);
	give("rows", 1000);
	visit("assemble", 1, 20, 7);
	visit("assemble", 2, 3000, 100);
	check_ok(ps_region_enter(region("smooth a/b\\c, \"d\"")));
	work(3, 70, 9);
	give("rows", 20);
	give("rows", 5);
	give("balance, \"\xc3\xa9\"", -7);
	visit("r\xc3\xa9sidu\n\xff", 3, 1, 1);
	check_ok(ps_region_leave(region("smooth a/b\\c, \"d\"")));
	check_ok(ps_region_leave(region("solve")));
	visit("write", 0, 5, 0);
	work(0, 2, 4);
	check_fails(ps_region_leave(region("write")), PS_EINVAL);
	take_paths();
}

static const char *const metrics[] = {"page-fault-rate", "time-share", "ipc"};

static inline struct ps_paths_options options_with(unsigned flags)
{
	return (struct ps_paths_options){.size = sizeof(struct ps_paths_options),
	                                 .flags = flags,
	                                 .metrics = metrics,
	                                 .metric_count = 3};
}

static const struct ps_export_field fields[] = {
    {.name = "command", .text = "solve \"1\""},
    {.name = "elapsed_s", .number = 0.5},
};

#endif

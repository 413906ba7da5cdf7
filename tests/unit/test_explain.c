/* SPDX-License-Identifier: BSD-3-Clause */
/* Each error of perf_event_open has its code, and words that name the cause or the remedy.
 * Permissions and descriptors are in test_open, probes in test_event_probe, control groups in
 * test_cgroup, words that a kernel doesn't have in test_attr. */
#include "backend/perf.h"
#include "support/scene.h"

#include <errno.h>
#include <stdio.h>

static const struct {
	const char *label;
	int error;
	const char *name;
	struct ps__event event; /* without its name */
	struct ps__target target;
	int code;
	const char *words;
} causes[] = {
    {"a PMU that isn't there", ENOENT, "cycles", {0}, {0}, PS_ENOSUPP, "no PMU here counts"},
    {"no sampling, say", EOPNOTSUPP, "cycles", {0}, {0}, PS_ENOSUPP, "no PMU here counts"},
    {"no kind of cores",
     ENOENT,
     "cycles",
     {.variant_count = 2},
     {0},
     PS_ENOSUPP,
     "name a PMU's own event"},
    {"a modifier",
     EINVAL,
     "msr/tsc/u",
     {.explicit_domain = true},
     {0},
     PS_EINVAL_DOM,
     "try it without :u"},
    {"an encoding", EINVAL, "r12345", {0}, {0}, PS_ENOSUPP, "'perfsage list' shows"},
    {"a whole package's",
     EINVAL,
     "power/energy-pkg/",
     {.klass = PS__EVENT_CLASS_OTHER, .scope = PS_SCOPE_PACKAGE},
     {0},
     PS_ECOMBO,
     "for a package, not for a task: attach the set to a CPU"},
    {"the same of a CPU",
     EINVAL,
     "power/energy-pkg/",
     {.klass = PS__EVENT_CLASS_OTHER},
     {.kind = PS__TARGET_CPU},
     PS_ENOSUPP,
     "the PMU refuses this event"},
    {"a CPU that is gone",
     ENODEV,
     "cycles",
     {0},
     {.kind = PS__TARGET_CPU, .cpu = 3},
     PS_ENOSUPP,
     "CPU 3 is offline or its PMU is gone"},
    {"a thread that is gone",
     ESRCH,
     "cycles",
     {0},
     {.kind = PS__TARGET_TID, .tid = 4711},
     PS_ESYS,
     "thread 4711 has ended"},
    {"a counter that is taken",
     EBUSY,
     "cycles",
     {0},
     {0},
     PS_ENOCNTR,
     "by another user or the NMI watchdog"},
    {"a register that is taken",
     ENOSPC,
     "mem:0x1000",
     {.attr.type = PERF_TYPE_BREAKPOINT},
     {0},
     PS_ENOCNTR,
     "every breakpoint register"},
    {"no memory", ENOMEM, "cycles", {0}, {0}, PS_ENOMEM, "no memory"},
    {"what nobody knows", EXDEV, "cycles", {0}, {0}, PS_ESYS, "perf_event_open: "},
};

START_TEST(each_error_is_told_by_its_cause)
{
	struct ps__event event = causes[_i].event;
	char name[32];

	snprintf(name, sizeof name, "%s", causes[_i].name);
	event.name = name;
	check_fails(ps__perf_explain(&event, causes[_i].target, causes[_i].error, 1),
	            causes[_i].code);
	check_detail(name);
	check_detail(causes[_i].words);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("explain");

	tcase_add_loop_test(scene_case(suite, "explain"), each_error_is_told_by_its_cause, 0,
	                    sizeof causes / sizeof causes[0]);
	return scene_run(suite);
}

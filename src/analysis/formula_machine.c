/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives formulas the values of names that are not counts: numbers of the machine ("#num_cpus" and
 * the like, in upper or lower case), and answers to questions about an event. Also gives the unit
 * that formulas expect of an event. */
#include "analysis/formula.h"
#include "arch/arch.h"
#include "base/os.h"
#include "event/event.h"
#include "event/pmu.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

/* Reads the number of slots from an Arm core's PMU: in each cycle an operation can start in each
 * slot. Returns 1 if it was found. */
static int machine_read_slots(const char *pmu, void *context)
{
	char path[512], text[64];

	snprintf(path, sizeof path, "/sys/bus/event_source/devices/%.255s/caps/slots", pmu);
	if (ps__os_read_file(path, text, sizeof text) <= 0)
		return 0;
	*(long *)context = strtol(text, NULL, 0);
	return 1;
}

/* Returns the frequency of ticks from an event's mapped page, which tells how ticks become
 * nanoseconds. NaN if the kernel doesn't trust the ticks. */
static double machine_kernel_tick_hz(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_DUMMY,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1};
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	double hz = (double)NAN;
	int fd = ps__os_open_event(&attr, 0, -1, -1, 0);

	if (fd < 0)
		return hz;
	struct perf_event_mmap_page *page =
	    ps__os.mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		if (page->cap_user_time && page->time_mult)
			hz = ldexp(1e9, page->time_shift) / page->time_mult;
		ps__os.munmap(page, page_bytes);
	}
	ps__os.close(fd);
	return hz;
}

double ps__formula_tick_hz(void)
{
	double hz = machine_kernel_tick_hz();

	if (isnan(hz) && ps__arch_tick_hz() > 0)
		hz = (double)ps__arch_tick_hz();
	return hz;
}

/* A number that takes a system call. It is kept: a formula is computed for each component. */
struct machine_kept {
	_Atomic bool is_found;
	_Atomic double number;
};

static double machine_keep(struct machine_kept *kept, double (*find)(void))
{
	if (!atomic_load_explicit(&kept->is_found, memory_order_acquire)) {
		atomic_store_explicit(&kept->number, find(), memory_order_relaxed);
		/* Pairs with the acquire above: a thread that sees is_found also sees the
		 * number. */
		atomic_store_explicit(&kept->is_found, true, memory_order_release);
	}
	return atomic_load_explicit(&kept->number, memory_order_relaxed);
}

static double machine_find_slots(void)
{
	long slots = 0;

	ps__pmu_for_each(machine_read_slots, &slots);
	return slots > 0 ? (double)slots : (double)NAN;
}

static double machine_slots(void)
{
	static struct machine_kept kept;

	return machine_keep(&kept, machine_find_slots);
}

static double machine_tick_hz(void)
{
	static struct machine_kept kept;

	return machine_keep(&kept, ps__formula_tick_hz);
}

static double machine_count(const struct ps_component *root, enum ps_component_type type)
{
	size_t count = root ? ps_component_count(root, type) : 0;

	return count > 0 ? (double)count : (double)NAN;
}

/* Counts dies. hwloc has no Die in a package with a single die, but perf counts one there. */
static double machine_dies(const struct ps_component *root)
{
	double dies = machine_count(root, PS_COMPONENT_DIE);

	return isnan(dies) ? machine_count(root, PS_COMPONENT_PACKAGE) : dies;
}

static double machine_smt_on(const struct ps_component *root)
{
	double cores = machine_count(root, PS_COMPONENT_CORE);

	return isnan(cores) ? cores : machine_count(root, PS_COMPONENT_THREAD) > cores;
}

/* Returns 1 if everything that runs on a core is counted; 0 for counts of tasks. NaN for counts of
 * CPUs if cores have several hardware threads: it isn't known whether all of these are counted. */
static double machine_core_wide(const struct ps__formula_machine *machine)
{
	if (!machine->counts_cpus)
		return 0;
	return machine_smt_on(machine->root) == 0 ? 1 : (double)NAN;
}

double ps__formula_machine_number(const struct ps__formula_machine *machine, const char *name)
{
	static const struct {
		const char *name;
		enum ps_component_type type;
	} counts[] = {{"#num_cpus", PS_COMPONENT_THREAD},
	              {"#num_cpus_online", PS_COMPONENT_THREAD},
	              {"#num_cores", PS_COMPONENT_CORE},
	              {"#num_packages", PS_COMPONENT_PACKAGE}};

	for (size_t index = 0; index < sizeof counts / sizeof counts[0]; index++) {
		if (strcasecmp(name, counts[index].name) == 0)
			return machine_count(machine->root, counts[index].type);
	}
	if (strcasecmp(name, "#num_dies") == 0)
		return machine_dies(machine->root);
	if (strcasecmp(name, "#smt_on") == 0)
		return machine_smt_on(machine->root);
	if (strcasecmp(name, "#core_wide") == 0)
		return machine_core_wide(machine);
	if (strcasecmp(name, "#system_tsc_freq") == 0)
		return machine_tick_hz();
	return strcasecmp(name, "#slots") == 0 ? machine_slots() : (double)NAN;
}

double ps__formula_factor(const char *event)
{
	return ps__run_time_is(event) ? 1e-9 : 1;
}

bool ps__formula_asks(const char *name, struct ps__formula_question *out)
{
	static const char has[] = "has_event(", count[] = "source_count(";

	out->is_count = strncmp(name, count, strlen(count)) == 0;
	if (!out->is_count && strncmp(name, has, strlen(has)) != 0)
		return false;
	const char *event = strchr(name, '(') + 1;
	size_t length = strlen(event) - 1;
	if (length >= sizeof out->event)
		length = 0;
	memcpy(out->event, event, length);
	out->event[length] = '\0';
	return true;
}

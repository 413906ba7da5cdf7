/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the CPUs that a task may run on, and those that there can be. */
#include "base/list.h"
#include "base/os.h"
#include "locate/locate.h"

#include <errno.h>
#include <sched.h>

/* The kernel refuses a mask smaller than its own; 8192 CPUs are twice what the largest machines
 * have. */
#define FIRST_MASK_CPUS   1024
#define LARGEST_MASK_CPUS 65536

static int only_cpu_in(const cpu_set_t *mask, size_t size_bytes)
{
	if (CPU_COUNT_S(size_bytes, mask) != 1)
		return -1;
	for (int cpu = 0; cpu < (int)(8 * size_bytes); cpu++) {
		if (CPU_ISSET_S((size_t)cpu, size_bytes, mask))
			return cpu;
	}
	return -1;
}

/* The task's mask, in the caller's hands; NULL with errno. */
static cpu_set_t *read_mask(pid_t tid, size_t *size_bytes)
{
	for (size_t cpus = FIRST_MASK_CPUS; cpus <= LARGEST_MASK_CPUS; cpus *= 2) {
		*size_bytes = CPU_ALLOC_SIZE(cpus);
		cpu_set_t *mask = ps__os_calloc(1, *size_bytes);
		if (!mask) {
			errno = ENOMEM;
			return NULL;
		}
		if (ps__os.sched_getaffinity(tid, *size_bytes, mask) >= 0)
			return mask;
		int error = errno;
		ps__os_free(mask);
		errno = error;
		if (error != EINVAL)
			return NULL;
	}
	return NULL;
}

int ps__locate_only_cpu(pid_t tid)
{
	size_t size_bytes;
	cpu_set_t *mask = read_mask(tid, &size_bytes);

	if (!mask)
		return -1;
	int cpu = only_cpu_in(mask, size_bytes);
	ps__os_free(mask);
	return cpu;
}

int ps__locate_for_each_allowed(pid_t tid, int (*visit)(int cpu, void *context), void *context)
{
	int result = 0;
	size_t size_bytes;
	cpu_set_t *mask = read_mask(tid, &size_bytes);

	if (!mask)
		return -errno;
	for (int cpu = 0; result == 0 && cpu < (int)(8 * size_bytes); cpu++) {
		if (CPU_ISSET_S((size_t)cpu, size_bytes, mask))
			result = visit(cpu, context);
	}
	ps__os_free(mask);
	return result;
}

bool ps__locate_is_possible(int cpu)
{
	char text[4096];

	if (cpu < 0)
		return false;
	/* Where the kernel doesn't say, opening the event will. */
	if (ps__os_read_file("/sys/devices/system/cpu/possible", text, sizeof text) < 0)
		return true;
	return ps__list_contains(text, cpu);
}

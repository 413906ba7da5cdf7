/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the CPUs that a task may run on, those that are possible, and those that are offline. */
#include "base/list.h"
#include "base/os.h"
#include "locate/locate.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

/* The kernel refuses a mask smaller than its own, so larger masks are tried. 8192 CPUs are twice
 * what the largest machines have. */
#define FIRST_MASK_CPUS   1024u
#define LARGEST_MASK_CPUS 65536u

#define LIST_BYTES 4096

#define WORD_CPUS (8 * sizeof(unsigned long))

/* A task's CPU mask. Each ps_start reads one, so memory is allocated only for a large mask. */
struct mask {
	unsigned long first[FIRST_MASK_CPUS / WORD_CPUS];
	unsigned long *words;
	size_t count;
};

static void clear_mask(struct mask *mask)
{
	if (mask->words != mask->first)
		ps__os_free(mask->words);
}

/* Returns 0; or -1 with errno, and then the caller must not call clear_mask. */
static int read_mask(struct mask *mask, pid_t tid)
{
	mask->words = mask->first;
	for (size_t cpus = FIRST_MASK_CPUS; cpus <= LARGEST_MASK_CPUS; cpus *= 2) {
		mask->count = cpus / WORD_CPUS;
		if (cpus > FIRST_MASK_CPUS)
			mask->words = ps__os_calloc(mask->count, sizeof *mask->words);
		if (!mask->words) {
			errno = ENOMEM;
			return -1;
		}
		if (ps__os.sched_getaffinity(tid, mask->count * sizeof *mask->words,
		                             (cpu_set_t *)mask->words) >= 0)
			return 0;
		int error = errno;
		clear_mask(mask);
		errno = error;
		if (error != EINVAL)
			return -1;
	}
	return -1;
}

static int only_cpu_in(const struct mask *mask)
{
	int cpu = -1;

	for (size_t index = 0; index < mask->count; index++) {
		unsigned long word = mask->words[index];
		if (!word)
			continue;
		if (cpu >= 0 || (word & (word - 1)))
			return -1;
		cpu = (int)(index * WORD_CPUS) + __builtin_ctzl(word);
	}
	return cpu;
}

int ps__locate_only_cpu(pid_t tid)
{
	struct mask mask;

	if (read_mask(&mask, tid) < 0)
		return -1;
	int cpu = only_cpu_in(&mask);
	clear_mask(&mask);
	return cpu;
}

int ps__locate_for_each_allowed(pid_t tid, int (*visit)(int cpu, void *context), void *context)
{
	struct mask mask;
	int result = 0;

	if (read_mask(&mask, tid) < 0)
		return -errno;
	for (size_t cpu = 0; result == 0 && cpu < mask.count * WORD_CPUS; cpu++) {
		if (mask.words[cpu / WORD_CPUS] >> cpu % WORD_CPUS & 1)
			result = visit((int)cpu, context);
	}
	clear_mask(&mask);
	return result;
}

/* Returns false if the kernel doesn't tell. */
static bool read_possible(char text[LIST_BYTES])
{
	return ps__os_read_file("/sys/devices/system/cpu/possible", text, LIST_BYTES) > 0;
}

size_t ps__locate_count_possible(void)
{
	char text[LIST_BYTES];

	return read_possible(text) ? ps__list_count(text) : 0;
}

size_t ps__locate_possible_end(void)
{
	char text[LIST_BYTES];
	int most = read_possible(text) ? ps__list_max(text) : -1;

	return most < 0 ? 0 : (size_t)most + 1;
}

bool ps__locate_is_possible(int cpu)
{
	char text[LIST_BYTES];

	return cpu >= 0 && (!read_possible(text) || ps__list_contains(text, cpu));
}

bool ps__locate_is_offline(int cpu)
{
	char path[64];
	long state = 1;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", cpu);
	return ps__os_read_long(path, &state) == 0 && state == 0;
}

/* True if the CPU is in the machine. A possible CPU may be absent: the kernel leaves room for CPUs
 * that may be added. */
static bool is_present(int cpu)
{
	char text[LIST_BYTES];

	return ps__os_read_file("/sys/devices/system/cpu/present", text, LIST_BYTES) <= 0 ||
	       ps__list_contains(text, cpu);
}

bool ps__locate_explain_no_cpu(int cpu, char out[PS__NO_CPU_BYTES])
{
	if (!ps__locate_is_possible(cpu) || !is_present(cpu))
		snprintf(out, PS__NO_CPU_BYTES, "this machine has no CPU %d", cpu);
	else if (ps__locate_is_offline(cpu))
		snprintf(
		    out, PS__NO_CPU_BYTES,
		    "CPU %d is offline: as root, 'echo 1 > /sys/devices/system/cpu/cpu%d/online' "
		    "brings it back",
		    cpu, cpu);
	else
		return false;
	return true;
}

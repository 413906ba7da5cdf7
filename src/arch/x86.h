/* SPDX-License-Identifier: BSD-3-Clause */
/* x86, 64 bits: rdpmc and rdtsc. By way of arch/arch.h. */
#ifndef PS_ARCH_X86_H
#define PS_ARCH_X86_H

#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* The kernel's clocksource when it trusts the ticks: constant, and the same on
 * all CPUs. */
#define PS__ARCH_CLOCKSOURCE "tsc"

/* The file that says who may read counters in user space. */
#define PS__ARCH_COUNTERS_SETTING "/sys/bus/event_source/devices/cpu/rdpmc"

static inline uint64_t ps__arch_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* Ticks in a second; 0: the processor doesn't tell. Its crystal's frequency, and their ratio. */
static inline uint64_t ps__arch_tick_hz(void)
{
	const unsigned leaf = 0x15;
	unsigned divisor, factor, crystal_hz, rest;

	if (!__get_cpuid_count(leaf, 0, &divisor, &factor, &crystal_hz, &rest) || divisor == 0)
		return 0;
	return (uint64_t)crystal_hz * factor / divisor;
}

/*
 * Can ps__arch_counter read what a mapped page calls `index`? Not 0, which is
 * no counter, and not Intel's metrics, which are fractions (bit 29 of what
 * rdpmc takes).
 */
static inline bool ps__arch_has_counter(uint32_t index)
{
	return ((index - 1) & (1u << 29)) == 0;
}

static inline uint64_t ps__arch_counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
	return (uint64_t)high << 32 | low;
}

/* All instructions before are done, and so in the counters. */
static inline void ps__arch_settle(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

/* Is this code translated by valgrind? By its client request
 * RUNNING_ON_VALGRIND, which does nothing elsewhere. */
static inline bool ps__arch_is_valgrind(void)
{
	volatile uint64_t request[6] = {0x1001};
	uint64_t result = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
	                 "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
	                 "xchgq %%rbx, %%rbx"
	                 : "+d"(result)
	                 : "a"(request)
	                 : "cc", "memory");
	return result != 0;
}

/* read(2), without the C library's cancellation point: bytes, or -errno. */
static inline long ps__arch_read(int fd, void *buffer, size_t size_bytes)
{
	long result = SYS_read;

	__asm__ volatile("syscall"
	                 : "+a"(result)
	                 : "D"((long)fd), "S"(buffer), "d"(size_bytes)
	                 : "rcx", "r11", "memory");
	return result;
}

/* Writes down where the calling function's stack is. */
static inline void ps__arch_note_stack(volatile uintptr_t *place)
{
	__asm__ volatile("mov %%rsp, %0" : "=m"(*place));
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* x86, 64 bits: rdpmc and rdtsc. Included by arch/arch.h. */
#ifndef PS_ARCH_X86_H
#define PS_ARCH_X86_H

#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Name of the kernel's clocksource if the kernel trusts the ticks: they are
 * constant, and the same on all CPUs. */
#define PS__ARCH_CLOCKSOURCE "tsc"

/* The file that says whether user space may read counters. */
#define PS__ARCH_COUNTERS_SETTING "/sys/bus/event_source/devices/cpu/rdpmc"

static inline uint64_t ps__arch_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* Returns the ticks in a second, from the crystal's frequency and the ratio; 0: the processor
 * doesn't tell. */
static inline uint64_t ps__arch_tick_hz(void)
{
	const unsigned leaf = 0x15;
	unsigned divisor, factor, crystal_hz, rest;

	if (!__get_cpuid_count(leaf, 0, &divisor, &factor, &crystal_hz, &rest) || divisor == 0)
		return 0;
	return (uint64_t)crystal_hz * factor / divisor;
}

/*
 * True if ps__arch_counter can read the counter that a mapped page calls
 * `index`. False for 0, which is no counter, and for Intel's metrics, which are
 * fractions (bit 29 of rdpmc's operand).
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

/* Waits until all instructions before are done, and so are counted. */
static inline void ps__arch_settle(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

/* True if valgrind translates this code. Asks by valgrind's client request
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

/* read(2), without the C library's cancellation point. Returns bytes, or -errno. */
static inline long ps__arch_read(int fd, void *buffer, size_t size_bytes)
{
	long result = SYS_read;

	__asm__ volatile("syscall"
	                 : "+a"(result)
	                 : "D"((long)fd), "S"(buffer), "d"(size_bytes)
	                 : "rcx", "r11", "memory");
	return result;
}

/* Stores the address of the calling function's stack. */
static inline void ps__arch_note_stack(volatile uintptr_t *place)
{
	__asm__ volatile("mov %%rsp, %0" : "=m"(*place));
}

#endif

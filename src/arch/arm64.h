/* SPDX-License-Identifier: BSD-3-Clause */
/* arm64: PMUv3's counters and the virtual counter. Included by arch/arch.h. */
#ifndef PS_ARCH_ARM64_H
#define PS_ARCH_ARM64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Name of the kernel's clocksource if the kernel trusts the ticks: they are
 * constant, and the same on all CPUs. */
#define PS__ARCH_CLOCKSOURCE "arch_sys_counter"

/* The file that says whether user space may read counters. */
#define PS__ARCH_COUNTERS_SETTING "/proc/sys/kernel/perf_user_access"

#define PS__READ(name)                                             \
	({                                                         \
		uint64_t value_;                                   \
		__asm__ volatile("mrs %0, " #name : "=r"(value_)); \
		value_;                                            \
	})

static inline uint64_t ps__arch_ticks(void)
{
	return PS__READ(cntvct_el0);
}

/* Returns the ticks in a second; 0: the processor doesn't tell. */
static inline uint64_t ps__arch_tick_hz(void)
{
	return PS__READ(cntfrq_el0);
}

/* True if ps__arch_counter can read the counter that a mapped page calls
 * `index`. 0 is no counter, 32 the cycle counter. */
static inline bool ps__arch_has_counter(uint32_t index)
{
	return index - 1 < 32;
}

/* PS__LAND marks where a jump may land. PS__PIECE and PS__PIECE_BYTES are the size of an entry of
 * the table below, as a shift and in bytes. */
#ifdef __ARM_FEATURE_BTI_DEFAULT
#define PS__LAND        "	.balign 16\n	hint #36\n"
#define PS__PIECE       "#4"
#define PS__PIECE_BYTES "16"
#else
#define PS__LAND        ""
#define PS__PIECE       "#3"
#define PS__PIECE_BYTES "8"
#endif

/* Reads a counter by its own register: to select it by pmselr_el0 would need an
 * isb for each read. The code jumps into a table, because a switch takes three
 * more instructions. */
static inline uint64_t ps__arch_counter(uint32_t index)
{
	uint64_t value;

	/* clang-format off */
	__asm__ volatile(
	    "	adr %0, 1f - " PS__PIECE_BYTES "\n"
	    "	add %0, %0, %w1, uxtw " PS__PIECE "\n"
	    "	br %0\n"
	    "	.balign 16\n"
	    "1:\n"
	    "	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n" PS__LAND
	    "	mrs %0, pmevcntr\\n\\()_el0\n"
	    "	b 2f\n"
	    "	.endr\n" PS__LAND "	mrs %0, pmccntr_el0\n"
	    "2:"
	    : "=&r"(value)
	    : "r"(index));
	/* clang-format on */
	return value;
}

#undef PS__PIECE_BYTES
#undef PS__PIECE
#undef PS__LAND
#undef PS__READ

/* Waits until all instructions before are done, and so are counted. */
static inline void ps__arch_settle(void)
{
	__asm__ volatile("isb" : : : "memory");
}

/* True if valgrind translates this code. Asks by valgrind's client request
 * RUNNING_ON_VALGRIND, which does nothing elsewhere. */
static inline bool ps__arch_is_valgrind(void)
{
	volatile uint64_t request[6] = {0x1001};
	uint64_t result;

	__asm__ volatile("mov x3, #0\n\t"
	                 "mov x4, %1\n\t"
	                 "ror x12, x12, #3; ror x12, x12, #13\n\t"
	                 "ror x12, x12, #51; ror x12, x12, #61\n\t"
	                 "orr x10, x10, x10\n\t"
	                 "mov %0, x3"
	                 : "=r"(result)
	                 : "r"(request)
	                 : "cc", "memory", "x3", "x4");
	return result != 0;
}

/* read(2), without the C library's cancellation point. Returns bytes, or -errno. */
static inline long ps__arch_read(int fd, void *buffer, size_t size_bytes)
{
	register long x0 __asm__("x0") = fd;
	register void *x1 __asm__("x1") = buffer;
	register size_t x2 __asm__("x2") = size_bytes;
	register long x8 __asm__("x8") = SYS_read;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
	return x0;
}

/* Stores the address of the calling function's stack. */
static inline void ps__arch_note_stack(volatile uintptr_t *place)
{
	uintptr_t stack;

	__asm__ volatile("mov %0, sp" : "=r"(stack));
	*place = stack;
}

#endif

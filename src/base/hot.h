/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of functions that each reading runs. */
#ifndef PS_BASE_HOT_H
#define PS_BASE_HOT_H

/*
 * After a system call, processors predict few of the following branches. The
 * cost depends on the address of the code: changes in other code made readings
 * some 10 ns slower or faster, 30 ns for a set of PAPI (x86-64, Zen). So all
 * hot code is in one section, and each function begins at a multiple of 256
 * bytes: a change in one function does not move another one relative to its
 * cache lines.
 */
#define PS__HOT __attribute__((aligned(256), section(".text.hot.ps")))

/* A part of a hot function that is a function only for readability. */
#define PS__INLINE static inline __attribute__((always_inline))

#if defined(__SANITIZE_THREAD__)
#define PS__HAS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PS__HAS_THREAD_SANITIZER 1
#endif
#endif

#endif

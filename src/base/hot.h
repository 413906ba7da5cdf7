/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of functions that each reading runs. */
#ifndef PS_BASE_HOT_H
#define PS_BASE_HOT_H

/*
 * After a system call processors predict few of the branches that come, and
 * what that costs depends on where the code stands: some 10 ns a reading, 30 of
 * a set of PAPI, that came and went with changes elsewhere (x86-64, Zen). So
 * all of it stands together, and each function begins at a multiple of 256
 * bytes: what changes in one moves no other within its lines.
 */
#define PS__HOT __attribute__((aligned(256), section(".text.hot.ps")))

/* A piece of it, that has a name for its readers' sake alone. */
#define PS__INLINE static inline __attribute__((always_inline))

#if defined(__SANITIZE_THREAD__)
#define PS__HAS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PS__HAS_THREAD_SANITIZER 1
#endif
#endif

#endif

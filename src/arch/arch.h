/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What depends on the CPU family: reading a hardware counter and a clock
 * register in user space. Other rooms include only this header. A test with
 * counters of its own includes tests/support/fake_arch.h before it.
 */
#ifndef PS_ARCH_ARCH_H
#define PS_ARCH_ARCH_H

#if defined(__x86_64__)
#include "arch/x86.h"
#elif defined(__aarch64__)
#include "arch/arm64.h"
#else
#include "arch/none.h"
#endif

#endif

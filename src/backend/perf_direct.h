/* SPDX-License-Identifier: BSD-3-Clause */
/* The read_direct of perf's events, for who reads a set again and again. */
#ifndef PS_BACKEND_PERF_DIRECT_H
#define PS_BACKEND_PERF_DIRECT_H

#include "arch/arch.h"
#include "backend/perf.h"
#include "base/hot.h"
#include "base/os.h"

#include <perfsage/error.h>

/* perf_direct.c: reads again what ps__arch_read brought wrongly, or failed to. */
int ps__perf_reread_direct(struct ps__perf *perf, size_t instance, uint64_t *totals, long length)
    __attribute__((cold));

/*
 * ps__perf_read_direct in its caller, while ps__os.read is the real one. What a processor has noted
 * of the functions to return to is the kernel's behind a system call, so each return costs a wrong
 * prediction (8 ns, Zen).
 */
PS__INLINE int ps__perf_read_in_place(struct ps__backend *backend, size_t instance,
                                      uint64_t *totals)
{
	struct ps__perf *perf = (struct ps__perf *)backend;
	int fd = perf->instances[instance].direct_fd;

	if (__builtin_expect(fd < 0, 0))
		return PS__NOT_DIRECT;
	long length = ps__arch_read(fd, totals - 1, perf->direct_bytes);
	if (__builtin_expect(
		length == (long)perf->direct_bytes && totals[-1] == perf->direct_members, 1))
		return PS_OK;
	return ps__perf_reread_direct(perf, instance, totals, length);
}

/* A backend's read_direct; NULL: ps__perf_read_in_place does the same. */
static inline ps__read_direct *ps__backend_direct(const struct ps__backend *backend)
{
	ps__read_direct *read = backend->ops->read_direct;

	return read == ps__perf_read_direct && ps__os.read == ps__os_real_read ? NULL : read;
}

#endif

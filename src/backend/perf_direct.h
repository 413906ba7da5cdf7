/* SPDX-License-Identifier: BSD-3-Clause */
/* The read_direct of perf's events, for who reads a set again and again. */
#ifndef PS_BACKEND_PERF_DIRECT_H
#define PS_BACKEND_PERF_DIRECT_H

#include "backend/perf.h"
#include "base/hot.h"
#include "base/os.h"

#include <perfsage/error.h>

/* perf_direct.c: that read(2) brought something else. A group in the error state gives nothing. */
int ps__perf_refuse_direct(struct ps__perf *perf, size_t instance, ssize_t length)
    __attribute__((cold));

/* ps__perf_read_direct in its caller. */
PS__INLINE int ps__perf_read_in_place(struct ps__backend *backend, size_t instance,
                                      uint64_t *totals)
{
	struct ps__perf *perf = (struct ps__perf *)backend;
	int fd = perf->instances[instance].direct_fd;

	if (__builtin_expect(fd < 0, 0))
		return PS__NOT_DIRECT;
	ssize_t length = ps__os_read_retried(fd, totals - 1, perf->direct_bytes);
	if (__builtin_expect(
		length == (ssize_t)perf->direct_bytes && totals[-1] == perf->direct_members, 1))
		return PS_OK;
	return ps__perf_refuse_direct(perf, instance, length);
}

/* A backend's read_direct. The most frequent one is no call, as ps__os_read isn't. */
PS__INLINE int ps__backend_read_direct(ps__read_direct *read, struct ps__backend *backend,
                                       size_t instance, uint64_t *totals)
{
	return __builtin_expect(read == ps__perf_read_direct, 1)
	           ? ps__perf_read_in_place(backend, instance, totals)
	           : read(backend, instance, totals);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* See papi_pmu.h. The functions of two libraries are replaced, those that PAPI calls. */
#include "support/papi_pmu.h"

static bool is_generic;

bool papi_pmu_is_generic(void)
{
	return is_generic;
}

#if defined __has_include
#if __has_include(<perfmon/pfmlib.h>)

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <perfmon/pfmlib.h>
#include <string.h>
#include <sys/syscall.h>

typedef pfm_err_t get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info);

/* PAPI decides it so: the architectural PMU is not a processor's own, and is left out. */
static bool papi_pmu_has_core(get_pmu_info *real)
{
	pfm_pmu_info_t info = {.size = sizeof info};

	for (int pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		if (real((pfm_pmu_t)pmu, &info) == PFM_SUCCESS && info.is_present &&
		    info.type == PFM_PMU_TYPE_CORE && strcmp(info.name, "ix86arch") != 0)
			return true;
	}
	return false;
}

/* libpfm4's function, as PAPI calls it. */
__attribute__((visibility("default"))) pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu,
                                                                  pfm_pmu_info_t *info)
{
	get_pmu_info *real;

	*(void **)&real = dlsym(RTLD_NEXT, "pfm_get_pmu_info");
	pfm_err_t result = real(pmu, info);
	if (result != PFM_SUCCESS || pmu != PFM_PMU_PERF_EVENT || papi_pmu_has_core(real))
		return result;
	is_generic = true;
	info->type = PFM_PMU_TYPE_CORE;
	info->is_dfl = 1;
	return result;
}

/* perfsage in the same process must see the kernel as it is. */
static bool papi_pmu_is_papi(void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libpapi");
}

typedef long system_call(long number, long a, long b, long c, long d, long e, long f);

/*
 * The C library's function, as PAPI calls it to probe and to open events. PAPI probes with a
 * hardware event even where software events are to be counted. The kernel is asked first: only if
 * it has no such event, a dummy event is opened in its place. The arguments are fixed, since not
 * all callers give six.
 */
system_call intercepted __asm__("syscall") __attribute__((visibility("default")));
long intercepted(long number, long a, long b, long c, long d, long e, long f)
{
	static system_call *real;
	struct perf_event_attr attr;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	long result = real(number, a, b, c, d, e, f);
	if (number != SYS_perf_event_open || result >= 0 ||
	    (errno != ENOENT && errno != EOPNOTSUPP))
		return result;
	int error = errno;
	attr = *(const struct perf_event_attr *)a;
	if (attr.type != PERF_TYPE_HARDWARE || !papi_pmu_is_papi(__builtin_return_address(0))) {
		errno = error;
		return result;
	}
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	return real(number, (long)&attr, b, c, d, e, f);
}

#endif
#endif

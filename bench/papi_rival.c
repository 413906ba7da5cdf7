/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI as a rival. Where PAPI would disable itself, tests/support/papi_pmu.h makes it count. */
#include "papi_rival.h"

#include "counted.h"
#include "harness.h"
#include "support/papi_pmu.h"

#ifdef BENCH_WITH_PAPI

#include <ftw.h>
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * libpfm4 has no names for some software events, so others are repeated by another name. There are
 * as many clocks as among perfsage's events.
 */
static const char *const names[BENCH_MOST_EVENTS] = {
    "perf::PAGE-FAULTS:u", "perf::MINOR-FAULTS:u", "perf::MAJOR-FAULTS:u", "perf::PAGE-FAULTS",
    "perf::MINOR-FAULTS",  "perf::MAJOR-FAULTS",   "perf::TASK-CLOCK:u",   "perf::CPU-CLOCK:u",
};

/* Hardware events; those that PAPI doesn't have on this machine are left out. */
static const char *const hardware_names[] = {
    "PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_BR_MSP", "PAPI_L1_DCM",
    "PAPI_L1_ICM",  "PAPI_L2_DCM",  "PAPI_TLB_DM", "PAPI_BR_INS",
};

static int set = PAPI_NULL, attached_set = PAPI_NULL;
static long long values[BENCH_MOST_EVENTS];
static char missing[256];

static const char *rival_refuse(const char *what, int error)
{
	snprintf(missing, sizeof missing, "not measured: %s: %s", what, PAPI_strerror(error));
	return missing;
}

static const char *rival_create(int *out)
{
	if (!PAPI_is_initialized() && PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return "not measured: PAPI_library_init: this is another PAPI than the one built "
		       "with";
	int error = PAPI_create_eventset(out);
	if (error != PAPI_OK)
		return rival_refuse("PAPI_create_eventset", error);
	return NULL;
}

/* tid: 0 for the calling thread. */
static const char *rival_start(int *out, int count, pid_t tid)
{
	const char *why = rival_create(out);
	int error;

	if (why)
		return why;
	if (tid && ((error = PAPI_assign_eventset_component(*out, 0)) != PAPI_OK ||
	            (error = PAPI_attach(*out, (unsigned long)tid)) != PAPI_OK))
		return rival_refuse("PAPI_attach", error);
	for (int index = 0; index < count; index++) {
		error = PAPI_add_named_event(*out, names[index]);
		if (error != PAPI_OK)
			return rival_refuse(names[index], error);
	}
	error = PAPI_start(*out);
	return error == PAPI_OK ? NULL : rival_refuse("PAPI_start", error);
}

static void rival_end(int *which)
{
	if (*which == PAPI_NULL)
		return;
	PAPI_stop(*which, values);
	PAPI_cleanup_eventset(*which);
	PAPI_destroy_eventset(which);
	*which = PAPI_NULL;
}

const char *papi_rival_open(int count)
{
	return rival_start(&set, count, 0);
}

const char *papi_rival_open_hardware(int count)
{
	const char *why = rival_create(&set);
	int added = 0;

	for (size_t index = 0; !why && added < count; index++) {
		if (index == sizeof hardware_names / sizeof *hardware_names)
			return "not measured: PAPI has too few presets on this machine";
		added += PAPI_add_named_event(set, hardware_names[index]) == PAPI_OK;
	}
	if (why)
		return why;
	int error = PAPI_start(set);
	return error == PAPI_OK ? NULL : rival_refuse("PAPI_start", error);
}

const char *papi_rival_attach(int count, pid_t tid)
{
	return rival_start(&attached_set, count, tid);
}

int papi_rival_set(void)
{
	return set;
}

int papi_rival_attached_set(void)
{
	return attached_set;
}

void papi_rival_close(void)
{
	rival_end(&attached_set);
	rival_end(&set);
}

const char *papi_rival_note(void)
{
	return papi_pmu_is_generic()
	           ? "libpfm4 knows no PMU of this machine, and PAPI switches itself off: it was "
	             "told that perf's generic PMU is the one; where the kernel has none, it "
	             "probes with a software event"
	           : NULL;
}

void papi_rival_read(void)
{
	if (PAPI_read(set, values) != PAPI_OK)
		bench_die("PAPI_read failed");
}

void papi_rival_read_attached(void)
{
	if (PAPI_read(attached_set, values) != PAPI_OK)
		bench_die("PAPI_read failed");
}

void papi_rival_accum(void)
{
	if (PAPI_accum(set, values) != PAPI_OK)
		bench_die("PAPI_accum failed");
}

void papi_rival_stop_start(void)
{
	if (PAPI_stop(set, values) != PAPI_OK || PAPI_start(set) != PAPI_OK)
		bench_die("PAPI_stop or PAPI_start failed");
}

static char folder[] = "/tmp/perfsage-bench-XXXXXX";

static int rival_remove(const char *path, const struct stat *what, int kind, struct FTW *place)
{
	(void)what;
	(void)kind;
	(void)place;
	return remove(path);
}

static void rival_remove_folder(void)
{
	nftw(folder, rival_remove, 8, FTW_DEPTH | FTW_PHYS);
}

const char *papi_rival_open_regions(int count)
{
	char list[512] = "";

	for (int index = 0; index < count; index++) {
		size_t length = strlen(list);
		snprintf(list + length, sizeof list - length, "%s%s", index ? "," : "",
		         names[index]);
	}
	if (!mkdtemp(folder) || setenv("PAPI_EVENTS", list, 1) < 0 ||
	    setenv("PAPI_OUTPUT_DIRECTORY", folder, 1) < 0)
		return "not measured: no folder for what PAPI writes";
	/* PAPI writes at exit, in a handler that runs before this one. */
	atexit(rival_remove_folder);
	int error = PAPI_hl_region_begin("region");
	if (error == PAPI_OK)
		error = PAPI_hl_region_end("region");
	return error == PAPI_OK ? NULL : rival_refuse("PAPI_hl_region_begin", error);
}

void papi_rival_close_regions(void)
{
	PAPI_hl_stop();
}

void papi_rival_visit(void)
{
	if (PAPI_hl_region_begin("region") != PAPI_OK || PAPI_hl_region_end("region") != PAPI_OK)
		bench_die("PAPI_hl_region_begin or PAPI_hl_region_end failed");
}

#else

const char *papi_rival_open(int count)
{
	(void)count;
	return "not built: no PAPI";
}

const char *papi_rival_open_hardware(int count)
{
	return papi_rival_open(count);
}

const char *papi_rival_attach(int count, pid_t tid)
{
	(void)tid;
	return papi_rival_open(count);
}

int papi_rival_set(void)
{
	return -1;
}

int papi_rival_attached_set(void)
{
	return -1;
}

void papi_rival_close(void)
{
}

const char *papi_rival_note(void)
{
	return NULL;
}

void papi_rival_read(void)
{
	bench_die("PAPI is not built in");
}

void papi_rival_read_attached(void)
{
	bench_die("PAPI is not built in");
}

void papi_rival_accum(void)
{
	bench_die("PAPI is not built in");
}

void papi_rival_stop_start(void)
{
	bench_die("PAPI is not built in");
}

const char *papi_rival_open_regions(int count)
{
	return papi_rival_open(count);
}

void papi_rival_close_regions(void)
{
}

void papi_rival_visit(void)
{
	bench_die("PAPI is not built in");
}

#endif

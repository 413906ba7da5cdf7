/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Migration records. Each group gets one more member, which counts the task's migrations. When the
 * task is switched in on a new CPU, this member leaves a record: the new CPU, and what the whole
 * group has counted until then. The set splits the counts by these records
 * (eventset/method_records.c).
 */
#include "backend/perf.h"
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "store/recording.h"

#include <string.h>
#include <unistd.h>

/* A ring has room for at least this many migrations between two readings, however many events there
 * are. */
#define FEWEST_RECORDS 64u
#define FEWEST_PAGES   4u

/* The first fields of a record: PERF_SAMPLE_CPU, then PERF_SAMPLE_READ in the group's format. */
struct record_start {
	struct perf_event_header header;
	uint32_t cpu;
	uint32_t reserved;
	uint64_t entries;
};

static size_t record_bytes(const struct ps__group *group)
{
	return sizeof(struct record_start) + (2 + group->count + 1) * sizeof(uint64_t);
}

static size_t count_pages(const struct ps__group *group)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = FEWEST_PAGES;

	while (pages * page_bytes < FEWEST_RECORDS * record_bytes(group))
		pages *= 2;
	return pages;
}

static int records_open_event(struct ps__place place, int leader)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_CPU_MIGRATIONS,
	                               .sample_period = 1,
	                               .sample_type = PERF_SAMPLE_CPU | PERF_SAMPLE_READ,
	                               .read_format = PS__READ_FORMAT};

	return ps__os_open_event(&attr, place.pid, place.cpu, leader, 0);
}

static int records_fail_open(int error)
{
	if (error == EACCES || error == EPERM)
		return ps__fail(PS_EPERM,
		                "migration records are not permitted (%s): they need "
		                "perf_event_paranoid <= 1 or CAP_PERFMON",
		                strerror(error));
	if (error == EMFILE || error == ENFILE)
		return ps__fail(
		    PS_ECOUNT, "no file descriptor is left for migration records (%s): %s",
		    strerror(error), error == EMFILE ? PS__ADVICE_DESCRIPTORS : PS__ADVICE_FILES);
	return ps__fail(PS_ESYS, "migration records: perf_event_open: %s", strerror(error));
}

static bool records_ignore(const struct ps__ring *ring, const struct perf_event_header *header,
                           void *context)
{
	(void)ring;
	(void)header;
	(void)context;
	return true;
}

static int open_recorder(struct ps__perf *perf, size_t index)
{
	struct ps__group *group = &perf->instances[0].groups[index];
	struct ps__perf_recorder *recorder = &perf->recorders[index];

	recorder->fd = records_open_event(perf->instances[0].place, group->members[0].fd);
	if (recorder->fd < 0)
		return records_fail_open(-recorder->fd);
	recorder->id = ps__os_event_id(recorder->fd);
	group->extras++;
	int result = ps__ring_map(&recorder->ring, recorder->fd, count_pages(group));
	if (result == 0) {
		/* Fault in the ring's pages and the code now, and not at the first migration that
		 * is counted. */
		ps__ring_drain(&recorder->ring, record_bytes(group), records_ignore, NULL);
		return PS_OK;
	}
	return ps__fail(
	    PS_ESYS,
	    "the ring of migration records can't be mapped (%s): " PS__ADVICE_LOCKED_MEMORY,
	    strerror(-result));
}

int ps__perf_open_records(struct ps__perf *perf)
{
	int result = PS_OK;

	if (!perf->target.has_records)
		return PS_OK;
	perf->recorders = ps__os_calloc_apart(perf->base.groups, sizeof *perf->recorders);
	if (!perf->recorders)
		return ps__fail_memory("migration records");
	for (size_t index = 0; index < perf->base.groups; index++)
		perf->recorders[index].fd = -1;
	for (size_t index = 0; result == PS_OK && index < perf->base.groups; index++)
		result = open_recorder(perf, index);
	return result;
}

void ps__perf_close_records(struct ps__perf *perf, bool abandon)
{
	for (size_t index = 0; perf->recorders && index < perf->base.groups; index++) {
		ps__ring_unmap(&perf->recorders[index].ring, abandon);
		ps__os_close_event(perf->recorders[index].fd, perf->recorders[index].id, abandon);
	}
	ps__os_free_apart(perf->recorders);
	perf->recorders = NULL;
}

/* The arguments of ps__perf_drain. */
struct drain {
	struct ps__perf *perf;
	const struct ps__group *group;
	uint64_t *times;
	uint64_t *values;
	ps__backend_visit *visit;
	void *context;
};

/* Takes one record. Its times are the recorder's, which begin when the recorder is opened, so the
 * group's times from planning (origin) are added. */
static bool records_take(const struct ps__ring *ring, const struct perf_event_header *header,
                         void *context)
{
	const struct drain *drain = context;
	struct ps__perf *perf = drain->perf;
	const struct ps__group *group = drain->group;
	const uint64_t *origin =
	    perf->base.origin + 2 * (size_t)(group - perf->instances[0].groups);
	struct record_start start;

	if (header->type != PERF_RECORD_SAMPLE || header->size != record_bytes(group))
		return false;
	ps__ring_copy(ring, 0, &start, sizeof start);
	ps__ring_copy(ring, offsetof(struct record_start, entries), perf->buffer,
	              (3 + group->count) * sizeof(uint64_t));
	perf->buffer[1] += origin[0];
	perf->buffer[2] += origin[1];
	if (ps__perf_store_group(perf, group, drain->times, drain->values) != PS_OK)
		return false;
	drain->visit((int)start.cpu, drain->context);
	return true;
}

bool ps__perf_drain(struct ps__backend *backend, size_t group, uint64_t *totals,
                    ps__backend_visit *visit, void *context)
{
	struct ps__perf *perf = (struct ps__perf *)backend;
	struct drain drain = {.perf = perf,
	                      .group = &perf->instances[0].groups[group],
	                      .times = totals + 2 * group,
	                      .values = totals + 2 * backend->groups,
	                      .visit = visit,
	                      .context = context};

	return ps__ring_drain(&perf->recorders[group].ring, record_bytes(drain.group), records_take,
	                      &drain);
}

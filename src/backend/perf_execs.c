/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds programs of a process that the kernel does not count. When a program begins that is
 * set-user-ID or set-group-ID, has capabilities, or may not be read, Linux removes the events from
 * the task during its exec. The rings of the first group's leaders show this, however short the
 * program runs. The record of the exec (PERF_RECORD_COMM) is followed by that of the events' end
 * (PERF_RECORD_EXIT), and between them there is no record of mapped code (PERF_RECORD_MMAP). For
 * any other program the code is mapped before it runs, and that is recorded.
 *
 * The leaders exist anyway, so watching takes no extra descriptor and no extra event. If tasks are
 * kept apart, the notes of perf_tasks.h have these records. The leaders' rings can't be used then,
 * because leaders also write other records there, and a ring of one CPU allows only one writer.
 */
#include "backend/perf.h"
#include "backend/perf_queue.h"
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "base/time_namespace.h"
#include "base/vector.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Data pages of a ring, a power of two: enough for about 250 programs that begin, so a reader may
 * wait some time for a CPU. Locked memory is limited for each user, and each rank of a parallel
 * program may be counted by a command of its own: then a smaller ring is better than none. */
#define RING_PAGES  32
#define LEAST_PAGES 4

/* A mapping's record has the path of its file. */
#define LARGEST_RECORD (64 + PATH_MAX)

/* A task in an exec: its program has begun, and its code is not mapped yet. */
struct begun {
	pid_t pid;
	pid_t tid;
	char name[16];
};

struct ps__perf_execs {
	struct ps__ring *rings; /* one for each CPU of the instances */
	size_t ring_count;
	struct ps__queue queue;
	struct begun *begun;
	size_t begun_count, begun_room;
	struct ps__uncounted found;
	bool was_stopped; /* the leaders were disabled for some time */
};

/* The first fields of all records of interest. FORK and EXIT have the parent's pid in place of the
 * tid. */
struct task_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint32_t exit_tid, exit_parent_tid;
};

static void execs_note_unknown(struct ps__perf_execs *execs, const char *why)
{
	if (!*execs->found.why_unknown)
		snprintf(execs->found.why_unknown, sizeof execs->found.why_unknown, "%s", why);
	/* Forget all execs: the missing record may be that of the mapped code. */
	execs->begun_count = 0;
}

static struct begun *find_begun(const struct ps__perf_execs *execs, pid_t tid)
{
	for (size_t index = 0; index < execs->begun_count; index++) {
		if (execs->begun[index].tid == tid)
			return &execs->begun[index];
	}
	return NULL;
}

static void forget_begun(struct ps__perf_execs *execs, struct begun *begun)
{
	*begun = execs->begun[--execs->begun_count];
}

static void execs_note_begun(struct ps__perf_execs *execs, const struct ps__name_record *record)
{
	struct begun *begun = find_begun(execs, (pid_t)record->tid);

	if (!(record->header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return;
	if (!begun) {
		if (!PS__VECTOR_GROW(&execs->begun, execs->begun_count, &execs->begun_room)) {
			execs_note_unknown(execs, "memory was short");
			return;
		}
		begun = &execs->begun[execs->begun_count++];
	}
	*begun = (struct begun){.pid = (pid_t)record->pid, .tid = (pid_t)record->tid};
	ps__queue_name(record, begun->name);
}

static void execs_note_ended(struct ps__perf_execs *execs, pid_t tid)
{
	struct begun *begun = find_begun(execs, tid);

	if (!begun)
		return;
	if (execs->found.programs++ == 0) {
		execs->found.pid = begun->pid;
		memcpy(execs->found.name, begun->name, sizeof execs->found.name);
	}
	forget_begun(execs, begun);
}

void ps__perf_note_exec(struct ps__perf *perf, const void *bytes)
{
	struct ps__perf_execs *execs = perf->execs;
	const struct task_record *record = bytes;
	struct begun *begun;

	if (!execs || record->header.size < sizeof *record + sizeof(struct ps__record_trailer))
		return;
	switch (record->header.type) {
	case PERF_RECORD_COMM:
		execs_note_begun(execs, bytes);
		return;
	case PERF_RECORD_MMAP:
		begun = find_begun(execs, (pid_t)record->tid);
		if (begun)
			forget_begun(execs, begun);
		return;
	case PERF_RECORD_FORK:
		execs->found.created++;
		return;
	case PERF_RECORD_EXIT:
		execs->found.created--;
		execs_note_ended(execs, (pid_t)record->exit_tid);
		return;
	default:
		return;
	}
}

void ps__perf_note_lost_execs(struct ps__perf *perf)
{
	if (perf->execs)
		execs_note_unknown(perf->execs, "records of programs that began were lost");
}

/*
 * Processes the records in the order of time. A task that moves to another CPU may leave an older
 * record in a ring that was read already, and a newer one in a ring that wasn't. So records newer
 * than the beginning of this call wait for the next call. All older records were in the rings
 * before they were read.
 */
static void execs_take(struct ps__perf *perf)
{
	struct ps__perf_execs *execs = perf->execs;
	uint64_t now = ps__os_now_ns();
	bool complete = true;
	size_t count = 0;

	for (size_t ring = 0; ring < execs->ring_count; ring++) {
		if (ps__ring_has_records(&execs->rings[ring]))
			complete &= ps__ring_drain(&execs->rings[ring], LARGEST_RECORD,
			                           ps__queue_take, &execs->queue);
	}
	ps__queue_sort(&execs->queue);
	for (; count < execs->queue.count && execs->queue.records[count].time <= now; count++)
		ps__perf_note_exec(perf, ps__queue_bytes(&execs->queue, count));
	ps__queue_drop(&execs->queue, count);
	if (!complete)
		ps__perf_note_lost_execs(perf);
}

const struct ps__uncounted *ps__perf_take_uncounted(struct ps__backend *backend)
{
	struct ps__perf *perf = (struct ps__perf *)backend;

	if (!perf->execs)
		return NULL;
	execs_take(perf);
	return &perf->execs->found;
}

void ps__perf_note_stop(struct ps__perf *perf)
{
	if (perf->execs)
		perf->execs->was_stopped = true;
}

void ps__perf_note_start(struct ps__perf *perf)
{
	if (perf->execs && perf->execs->was_stopped)
		execs_note_unknown(perf->execs, "the event set was stopped for a while");
}

static int execs_map_ring(struct ps__ring *ring, int fd)
{
	size_t pages = RING_PAGES;
	int result;

	do {
		result = ps__ring_map(ring, fd, pages);
		pages /= 2;
	} while (result == -EPERM && pages >= LEAST_PAGES);
	return result;
}

/* Maps a leader's ring. Only the first root's leaders have rings; other roots' leaders write to the
 * ring of their CPU. Returns 0 or -errno. */
static int connect_leader(struct ps__perf *perf, size_t instance)
{
	struct ps__perf_execs *execs = perf->execs;
	size_t cpu = instance % perf->target.instance_count;
	int fd = perf->instances[instance].groups[0].members[0].fd;

	if (instance == cpu) {
		int result = execs_map_ring(&execs->rings[cpu], fd);
		execs->ring_count += result == 0;
		return result;
	}
	int first = perf->instances[cpu].groups[0].members[0].fd;
	return ps__os.ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)first) < 0 ? -errno : 0;
}

static void execs_unmap_rings(struct ps__perf_execs *execs, bool abandon)
{
	for (size_t ring = 0; ring < execs->ring_count; ring++)
		ps__ring_unmap(&execs->rings[ring], abandon);
	execs->ring_count = 0;
}

int ps__perf_open_execs(struct ps__perf *perf)
{
	int error = 0;

	/* If no event can be counted, there is no leader. */
	if (perf->target.kind != PS__TARGET_PROCESS || perf->target.instance_count == 0 ||
	    perf->base.groups == 0)
		return PS_OK;
	perf->execs = ps__os_calloc(1, sizeof *perf->execs);
	if (!perf->execs)
		return ps__fail_memory("the programs of a process");
	perf->execs->found.tells_created = true;
	perf->execs->rings = ps__os_calloc(perf->target.instance_count, sizeof *perf->execs->rings);
	if (!perf->execs->rings)
		return ps__fail_memory("the programs of a process");
	if (perf->tasks)
		return PS_OK;
	perf->execs->queue.shift_ns = ps__time_namespace_shift_ns();
	for (size_t instance = 0; error == 0 && instance < perf->base.instances; instance++)
		error = -connect_leader(perf, instance);
	if (error == 0)
		return PS_OK;
	execs_unmap_rings(perf->execs, false);
	snprintf(perf->execs->found.why_unknown, sizeof perf->execs->found.why_unknown,
	         "a ring for the kernel's records can't be mapped (%s): " PS__ADVICE_LOCKED_MEMORY,
	         strerror(error));
	return PS_OK;
}

void ps__perf_close_execs(struct ps__perf *perf, bool abandon)
{
	struct ps__perf_execs *execs = perf->execs;

	if (!execs)
		return;
	execs_unmap_rings(execs, abandon);
	ps__os_free(execs->rings);
	ps__os_free(execs->begun);
	ps__queue_clear(&execs->queue);
	ps__os_free(execs);
	perf->execs = NULL;
}

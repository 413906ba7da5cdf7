/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the dummies that record a process's tasks, and maps their rings. See perf_tasks.h. */
#include "backend/perf_tasks.h"

#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "base/time_namespace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By default a user may lock 129 pages for each CPU, and 2048 for each process. On each CPU the
 * rings of a process with one thread take at most PAGES_OF_ROOT pages; those of a process with many
 * threads take at most MOST_OF_CPU. */
#define PAGES_OF_ROOT 66
#define MOST_OF_CPU   (4 * PAGES_OF_ROOT)
#define MOST_PAGES    32

/* Index of the group that also has the writer of notes. */
#define NOTED_GROUP 0

/* Returns the number of a ring's data pages, a power of two. Each ring has one more page. */
static size_t tasks_ring_pages(const struct ps__perf *perf)
{
	size_t roots = perf->target.root_count;
	size_t rings = 1 + roots * perf->base.groups;
	size_t most = roots < MOST_OF_CPU / PAGES_OF_ROOT ? roots * PAGES_OF_ROOT : MOST_OF_CPU;
	size_t pages = MOST_PAGES;

	while (pages > 1 && rings * (1 + pages) > most)
		pages /= 2;
	return pages;
}

static int open_dummy(const struct ps__perf *perf, const struct ps__writer *writer)
{
	struct ps__place place = perf->instances[writer->instance].place;
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_DUMMY,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1,
	                               .inherit = 1,
	                               .sample_id_all = 1,
	                               .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
	                               .read_format = PS__READ_FORMAT};

	if (!writer->tells)
		ps__perf_watch_execs(&attr);
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.inherit_stat = writer->tells;
	return ps__os_open_event(&attr, place.pid, place.cpu, writer->group->members[0].fd, 0);
}

static int tasks_fail_open(struct ps__perf *perf, pid_t tid, int error)
{
	if (ps__perf_note_ended(perf, tid, error))
		return ps__fail(PS_ESYS,
		                "the tasks of a process can't be told apart: thread %d has ended",
		                (int)tid);
	if (error == EMFILE || error == ENFILE)
		return ps__fail(PS_ECOUNT,
		                "no file descriptor is left to tell the tasks of a process apart "
		                "(%s): " PS__ADVICE_DESCRIPTORS,
		                strerror(error));
	return ps__fail(PS_ESYS, "the tasks of a process can't be told apart: perf_event_open: %s",
	                strerror(error));
}

static int fail_map(size_t pages, int error)
{
	return ps__fail(PS_ESYS,
	                "the tasks of a process can't be told apart: mapping a ring of %zu KiB: "
	                "%s; " PS__ADVICE_LOCKED_MEMORY,
	                pages * (size_t)sysconf(_SC_PAGESIZE) / 1024, strerror(error));
}

/* True if the writer has a ring of its own. Notes of roots other than the first have none. */
static bool has_ring(const struct ps__perf *perf, const struct ps__writer *writer)
{
	return writer->tells || writer->instance < perf->target.instance_count;
}

/* Maps all rings. Returns 0 or -errno. */
static int map_rings(struct ps__perf *perf, size_t pages)
{
	struct ps__perf_tasks *tasks = perf->tasks;

	for (size_t index = 0; index < tasks->writer_count; index++) {
		const struct ps__writer *writer = &tasks->writers[index];
		if (!has_ring(perf, writer))
			continue;
		int error = ps__ring_map(&tasks->rings[writer->ring], writer->fd, pages);
		if (error) {
			ps__perf_note_ended(perf, perf->instances[writer->instance].place.pid,
			                    -error);
			return error;
		}
	}
	return 0;
}

static void tasks_unmap_rings(struct ps__perf_tasks *tasks, bool abandon)
{
	for (size_t ring = 0; tasks->rings && ring < tasks->ring_count; ring++)
		ps__ring_unmap(&tasks->rings[ring], abandon);
}

static int fail_connect(struct ps__perf *perf, const struct ps__writer *writer, int error)
{
	ps__perf_note_ended(perf, perf->instances[writer->instance].place.pid, error);
	return ps__fail(PS_ESYS,
	                "the tasks of a process can't be told apart: ioctl "
	                "PERF_EVENT_IOC_SET_OUTPUT: %s",
	                strerror(error));
}

/* Lets the notes of other roots go to the first root's rings. The writers are in the order of
 * opening, the same number in each instance. */
static int connect_notes(struct ps__perf *perf)
{
	const struct ps__perf_tasks *tasks = perf->tasks;

	for (size_t index = 0; index < tasks->writer_count; index++) {
		const struct ps__writer *writer = &tasks->writers[index];
		if (has_ring(perf, writer))
			continue;
		int first = tasks->writers[writer->ring * (1 + perf->base.groups)].fd;
		if (ps__os.ioctl(writer->fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)first) < 0)
			return fail_connect(perf, writer, errno);
	}
	return PS_OK;
}

/* Maps rings as large as the user's locked memory permits. */
static int connect_writers(struct ps__perf *perf)
{
	size_t pages = tasks_ring_pages(perf);
	int error = map_rings(perf, pages);

	while (error == -EPERM && pages > 1) {
		tasks_unmap_rings(perf->tasks, false);
		pages /= 2;
		error = map_rings(perf, pages);
	}
	return error ? fail_map(pages, -error) : connect_notes(perf);
}

/* Opens a writer. number: 0 for notes, or 1 + the group's index. */
static int open_writer(struct ps__perf *perf, size_t instance, size_t number)
{
	struct ps__perf_tasks *tasks = perf->tasks;
	struct ps__writer *writer = &tasks->writers[tasks->writer_count];

	*writer = (struct ps__writer){.instance = instance, .tells = number > 0};
	size_t cpus = perf->target.instance_count;
	writer->ring = number ? cpus + instance * perf->base.groups + number - 1 : instance % cpus;
	writer->group = &perf->instances[instance].groups[number ? number - 1 : NOTED_GROUP];
	writer->fd = open_dummy(perf, writer);
	if (writer->fd < 0)
		return tasks_fail_open(perf, perf->instances[instance].place.pid, -writer->fd);
	tasks->writer_count++;
	writer->group->extras++;
	if (ps__os.ioctl(writer->fd, PERF_EVENT_IOC_ID, (unsigned long)&writer->id) < 0)
		return ps__fail(
		    PS_ESYS,
		    "the tasks of a process can't be told apart: ioctl PERF_EVENT_IOC_ID: %s",
		    strerror(errno));
	return PS_OK;
}

int ps__perf_open_anchors(struct ps__perf *perf)
{
	struct ps__perf_tasks *tasks = ps__os_calloc(1, sizeof *tasks);

	perf->tasks = tasks;
	if (tasks)
		tasks->anchors = ps__os_calloc(perf->target.root_count, sizeof *tasks->anchors);
	if (!tasks || !tasks->anchors)
		return ps__fail_memory("the tasks of a process");
	for (size_t root = 0; root < perf->target.root_count; root++) {
		int fd = ps__perf_open_own_dummy(perf->target.roots[root]);
		if (fd < 0)
			return ps__perf_explain_event(perf, 0, perf->target.roots[root], -fd);
		tasks->anchors[tasks->anchor_count++] =
		    (struct ps__anchor){.fd = fd, .id = ps__os_event_id(fd)};
	}
	return PS_OK;
}

static int compare_writers(const void *one, const void *other)
{
	uint64_t a = ((const struct ps__writer *)one)->id;
	uint64_t b = ((const struct ps__writer *)other)->id;

	return (a > b) - (a < b);
}

int ps__perf_open_tasks(struct ps__perf *perf)
{
	if (perf->base.groups == 0)
		return ps__fail(PS_ENOSUPP,
		                "the tasks of a process are told apart by their counts, "
		                "and no event of the set can be counted here");
	struct ps__perf_tasks *tasks = perf->tasks;
	size_t writers = 1 + perf->base.groups;

	tasks->queue.shift_ns = ps__time_namespace_shift_ns();
	tasks->ring_count = perf->target.instance_count + perf->base.instances * perf->base.groups;
	tasks->rings = ps__os_calloc(tasks->ring_count, sizeof *tasks->rings);
	tasks->writers = ps__os_calloc(perf->base.instances * writers, sizeof *tasks->writers);
	if (!tasks->rings || !tasks->writers)
		return ps__fail_memory("the tasks of a process");
	int result = PS_OK;
	for (size_t instance = 0; result == PS_OK && instance < perf->base.instances; instance++) {
		for (size_t number = 0; result == PS_OK && number < writers; number++)
			result = open_writer(perf, instance, number);
	}
	if (result == PS_OK)
		result = connect_writers(perf);
	if (result == PS_OK)
		qsort(tasks->writers, tasks->writer_count, sizeof *tasks->writers, compare_writers);
	return result;
}

/* True if all descriptors are still open. Without an anchor the kernel may give one task's counts
 * to another. A writer without a ring of its own ends when its descriptor is closed. */
bool ps__perf_has_tasks(const struct ps__perf *perf)
{
	const struct ps__perf_tasks *tasks = perf->tasks;

	for (size_t index = 0; tasks && index < tasks->writer_count; index++) {
		if (!ps__os_is_event_of(tasks->writers[index].fd, tasks->writers[index].id))
			return false;
	}
	for (size_t index = 0; tasks && index < tasks->anchor_count; index++) {
		if (!ps__os_is_event_of(tasks->anchors[index].fd, tasks->anchors[index].id))
			return false;
	}
	return true;
}

void ps__perf_close_tasks(struct ps__perf *perf, bool abandon)
{
	struct ps__perf_tasks *tasks = perf->tasks;

	if (!tasks)
		return;
	tasks_unmap_rings(tasks, abandon);
	for (size_t index = 0; index < tasks->writer_count; index++)
		ps__os_close_event(tasks->writers[index].fd, tasks->writers[index].id, abandon);
	for (size_t index = 0; index < tasks->anchor_count; index++)
		ps__os_close_event(tasks->anchors[index].fd, tasks->anchors[index].id, abandon);
	ps__os_free(tasks->anchors);
	ps__os_free(tasks->rings);
	ps__os_free(tasks->writers);
	ps__queue_clear(&tasks->queue);
	ps__os_free(tasks);
	perf->tasks = NULL;
}

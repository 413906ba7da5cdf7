/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens one thread of a session: its events on each CPU, and the rings.
 *
 * If there are enough descriptors, each CPU has one ring. The ring belongs to the first thread's
 * dummy event, and all other events of that CPU write into it. The kernel permits that for events
 * of one CPU and one clock.
 *
 * Without enough descriptors each event has a ring of its own, and its descriptor is closed: the
 * mapping keeps the event and its inherited copies alive. An event that writes into another event's
 * ring can't be mapped (EBUSY since Linux 6.18), so it could not be kept.
 */
#include "sample/session.h"

#include "backend/perf.h"
#include "base/advice.h"
#include "base/error.h"
#include "base/list.h"
#include "base/os.h"
#include "base/vector.h"
#include "sample/cursor.h"

#include <string.h>
#include <unistd.h>

#define RING_OF_CPU   ((size_t)512 << 10)
#define RING_OF_EVENT ((size_t)16 << 10)
/* One event whose descriptor isn't closed yet, two for the stop's pipe, one for the process. */
#define OTHER_DESCRIPTORS 4

size_t ps__session_needs(const struct ps_session *session, size_t threads)
{
	const struct ps__session_lists *lists = &session->lists;

	if (session->is_closing)
		return lists->cpu_count + OTHER_DESCRIPTORS;
	return threads * lists->cpu_count * lists->event_count + OTHER_DESCRIPTORS;
}

size_t ps__session_descriptors(const struct ps_session *session)
{
	size_t count = 2;

	for (size_t i = 0; i < session->lists.instance_count; i++)
		count += session->lists.instances[i].fd >= 0;
	return count + (session->task.fd >= 0);
}

static size_t session_ring_pages(const struct ps_session *session)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = session->is_closing ? RING_OF_EVENT : RING_OF_CPU;
	size_t pages = 1;

	if (session->options.ring_bytes)
		bytes = session->options.ring_bytes;
	while (pages * page_bytes < bytes)
		pages *= 2;
	return pages;
}

/* vm.max_map_count limits the mappings of a process, and here each event is a mapping. */
#define ADVICE_MAPPINGS ", or vm.max_map_count, as each event has a ring of its own"

static int session_fail_ring(size_t pages, int error, bool is_closing)
{
	int code = error == EPERM ? PS_EPERM : error == ENOMEM ? PS_ENOMEM : PS_ESYS;

	return ps__fail(code,
	                "a session's ring of %zu pages can't be mapped (%s): make rings smaller, "
	                "or %s%s",
	                pages, strerror(error),
	                error == ENOMEM ? "raise ulimit -v" : PS__ADVICE_LOCKED_MEMORY,
	                error == ENOMEM && is_closing ? ADVICE_MAPPINGS : "");
}

/* Reserves list elements before an event is opened: so storing the open event can't fail. */
static int session_reserve(struct ps__session_lists *lists)
{
	if (!PS__VECTOR_GROW(&lists->instances, lists->instance_count, &lists->instance_room))
		return ps__fail_memory("the events of a session");
	if (!PS__VECTOR_GROW(&lists->rings, lists->ring_count, &lists->ring_room))
		return ps__fail_memory("the rings of a session");
	return PS_OK;
}

static int session_map_ring(struct ps_session *session, struct ps__session_instance *instance,
                            bool is_leader)
{
	struct ps__session_lists *lists = &session->lists;
	struct ps__session_ring *ring = &lists->rings[lists->ring_count];
	size_t pages = session_ring_pages(session);

	*ring = (struct ps__session_ring){
	    .fd = is_leader ? instance->fd : -1, .id = instance->id, .last_ns = ps__os_now_ns()};
	int error = ps__ring_map(&ring->ring, instance->fd, pages);
	if (error)
		return session_fail_ring(pages, -error, session->is_closing);
	lists->ring_count++;
	return PS_OK;
}

/* Completes the opening of an event that has a ring: reads the event's count until now. With
 * PS_SESSION_CLOSE closes the descriptor instead, unless it is polled: the ring keeps the event. A
 * read of a pinned event without a counter returns no bytes; ps_session_count reports that. */
static int session_begin(struct ps_session *session, struct ps__session_instance *instance)
{
	uint64_t words[PS__SESSION_NUMBERS] = {0};

	if (!session->is_closing) {
		if (ps__os_read_retried(instance->fd, words, sizeof words) < 0)
			return ps__fail(PS_ESYS, "a session's event can't be read: %s",
			                strerror(errno));
		instance->base = words[0];
		return PS_OK;
	}
	if (instance->fd != session->lists.rings[session->lists.ring_count - 1].fd) {
		ps__os.close(instance->fd);
		instance->fd = -1;
	}
	return PS_OK;
}

/* Gives an event a ring, or lets it write into the ring of its CPU. cpu: index of the CPU. The
 * first thread that is opened makes a ring for each CPU, in order. */
static int connect_ring(struct ps_session *session, struct ps__session_instance *instance,
                        size_t cpu)
{
	bool is_leader = cpu >= session->lists.ring_count;

	if (session->is_closing)
		is_leader = session->lists.instance_count <= session->lists.cpu_count;
	if (is_leader || session->is_closing)
		return session_map_ring(session, instance, is_leader);
	int leader = session->lists.rings[cpu].fd;
	if (ps__os.ioctl(instance->fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)leader) == 0)
		return PS_OK;
	return ps__fail(PS_ESYS, "a session's event can't write to the ring of its CPU: %s",
	                strerror(errno));
}

static int session_fail_open(const struct ps_session *session, const struct ps_attr *attr,
                             pid_t tid, int cpu, int error)
{
	struct ps__target target = {.kind = PS__TARGET_TID, .tid = tid, .cpu = cpu};

	return ps__attr_explain_open(attr, &attr->event, target, error,
	                             ps__session_needs(session, session->lists.task_count));
}

/* True if the CPU has the event: on a machine with several kinds of cores some may not have it. */
static bool is_for_cpu(const struct ps__event *event, int cpu)
{
	return !event->cpus || ps__list_contains(event->cpus, cpu);
}

/* Makes the config of an event, but only at its first instance, because ps__sampler_config reads a
 * file of /proc. Makes it again only if the kernel has refused PS__FORMAT_LOST. */
static void note_config(struct ps_record_config *config, const struct perf_event_attr *attr)
{
	if (!config->size || config->read_format != attr->read_format)
		*config = ps__sampler_config(attr);
}

static int open_instance(struct ps_session *session, size_t event, pid_t tid, size_t cpu_index)
{
	struct ps__session_lists *lists = &session->lists;
	struct ps__event *asked = &lists->events[event].attr->event;
	int cpu = lists->cpus[cpu_index];
	struct ps__place place = {
	    .pid = tid, .cpu = cpu, .pmu_type = ps__sampler_kind(asked, cpu), .as_asked = true};

	int result = session_reserve(lists);
	if (result != PS_OK)
		return result;
	int fd = ps__sampler_open_fd(asked, place);
	if (fd < 0)
		return fd == -ESRCH
		           ? PS_ENOEVST
		           : session_fail_open(session, lists->events[event].attr, tid, cpu, -fd);
	struct ps__session_instance *instance = &lists->instances[lists->instance_count++];
	*instance = (struct ps__session_instance){.event = (uint32_t)event, .fd = fd};
	note_config(&lists->events[event].config, &asked->attr);
	if (ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&instance->id) < 0) {
		int error = errno;
		ps__os.close(fd);
		instance->fd = -1;
		return ps__fail(PS_ESYS, "a session's event has no id: %s", strerror(error));
	}
	result = connect_ring(session, instance, cpu_index);
	return result == PS_OK ? session_begin(session, instance) : result;
}

static int session_open_event(struct ps_session *session, size_t event, pid_t tid)
{
	const struct ps__session_lists *lists = &session->lists;
	int result = PS_OK;

	for (size_t cpu = 0; result == PS_OK && cpu < lists->cpu_count; cpu++) {
		if (is_for_cpu(&lists->events[event].attr->event, lists->cpus[cpu]))
			result = open_instance(session, event, tid, cpu);
	}
	return result;
}

int ps__session_open_thread(struct ps_session *session, pid_t tid, bool *ended)
{
	size_t count = session->lists.event_count;
	int result = PS_OK;

	/* The leader is opened first; it is the last one in the list. */
	for (size_t i = 0; result == PS_OK && i < count; i++)
		result = session_open_event(session, (i + count - 1) % count, tid);
	*ended = result == PS_ENOEVST;
	return *ended ? PS_OK : result;
}

/* Reads the id of a record: a sample has it behind the header, other records at their end
 * (PERF_SAMPLE_IDENTIFIER). */
static bool session_read_id(const void *bytes, size_t size_bytes, uint64_t *id)
{
	const struct perf_event_header *header = bytes;
	size_t at = header->type == PERF_RECORD_SAMPLE ? sizeof *header : size_bytes - sizeof *id;

	if (size_bytes < sizeof *header + sizeof *id)
		return false;
	*id = ps__word64((const unsigned char *)bytes + at, false);
	return true;
}

size_t ps__session_find_id(const struct ps_session *session, uint64_t id)
{
	const struct ps__session_instance *instances = session->lists.instances;
	size_t from = 0, to = session->lists.instance_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (instances[middle].id == id)
			return instances[middle].event;
		if (instances[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return PS__SESSION_NO_EVENT;
}

size_t ps__session_find_event(const struct ps_session *session, const void *bytes,
                              size_t size_bytes)
{
	uint64_t id;

	return session_read_id(bytes, size_bytes, &id) ? ps__session_find_id(session, id)
	                                               : PS__SESSION_NO_EVENT;
}

void ps__session_close(struct ps_session *session, bool abandon)
{
	struct ps__session_lists *lists = &session->lists;

	/* Closes the leaders last: the other events write into their rings. */
	for (size_t i = lists->instance_count; i-- > 0;)
		ps__os_close_event_of(lists->instances[i].fd, lists->instances[i].id);
	for (size_t i = 0; i < lists->ring_count; i++)
		ps__ring_unmap(&lists->rings[i].ring, abandon);
	ps__os_free(lists->instances);
	ps__os_free(lists->rings);
	ps__os_free(lists->tasks);
	lists->instances = NULL;
	lists->rings = NULL;
	lists->tasks = NULL;
	lists->instance_count = lists->instance_room = 0;
	lists->ring_count = lists->ring_room = 0;
	lists->task_count = lists->task_room = 0;
}

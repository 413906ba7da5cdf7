/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a sampler's event with a ring, starts and stops it. */
#include "sample/sampler.h"

#include "base/advice.h"
#include "base/error.h"
#include "base/list.h"
#include "base/os.h"
#include "base/time_namespace.h"
#include "locate/locate.h"
#include "sample/record_parts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* With this limit no sum of sizes overflows; the kernel's limits are lower. */
#define LARGEST_RING (SIZE_MAX / 4)

int ps__sampler_check_probe(const struct ps_attr *attr)
{
	if (!ps__event_has_text(&attr->event))
		return PS_OK;
	/* The kernel would look for the text in the memory of the task that forks. */
	return ps__fail(
	    PS_ECOMBO,
	    "'%s': the copies of this probe would make each fork and pthread_create of a "
	    "task that inherits it fail (EFAULT)%s",
	    attr->event.name, attr->event.kernel_side ? ": give addr= instead of func=" : "");
}

int ps__sampler_check_kinds(const struct ps_attr *attr)
{
	if (attr->event.variant_count < 2)
		return PS_OK;
	return ps__fail(PS_ECOMBO,
	                "'%s': each kind of cores has a counter of its own for it: make a sampler "
	                "for each CPU",
	                attr->event.name);
}

static int check_place(const struct ps_attr *attr, pid_t tid, int cpu)
{
	const char *name = attr->event.name;
	char why[PS__NO_CPU_BYTES];

	if (tid < -1 || cpu < -1 || (tid == -1 && cpu == -1))
		return ps__fail(PS_EINVAL,
		                "'%s': thread %d on CPU %d can't be sampled: give a thread (0: the "
		                "caller) and a CPU (-1: any), or -1 and a CPU",
		                name, (int)tid, cpu);
	if (cpu >= 0 && !ps__locate_is_possible(cpu) && ps__locate_explain_no_cpu(cpu, why))
		return ps__fail(PS_EINVAL, "'%s': %s", name, why);
	if (attr->event.klass == PS__EVENT_CLASS_OTHER && tid != -1)
		return ps__fail(PS_ECOMBO,
		                "'%s' counts for a %s, not for a task: give thread -1 and a CPU",
		                name, ps_scope_name(attr->event.scope));
	if (cpu == -1 && ps__sampler_check_kinds(attr) != PS_OK)
		return PS_ECOMBO;
	if (attr->event.attr.inherit && cpu == -1)
		return ps__fail(PS_ECOMBO,
		                "'%s': inherit needs a CPU: the kernel has no ring for all CPUs; "
		                "make a sampler for each",
		                name);
	return attr->event.attr.inherit && tid != -1 ? ps__sampler_check_probe(attr) : PS_OK;
}

int ps__sampler_check_fields(const struct ps_attr *attr)
{
	const struct perf_event_attr *words = &attr->event.attr;
	const char *name = attr->event.name;

	if (words->write_backward)
		return ps__fail(
		    PS_ECOMBO, "'%s': write_backward: a sampler reads its ring forward only", name);
	if ((words->sample_type & ~PS__KNOWN_SAMPLE_TYPE) ||
	    (words->read_format & ~PS__KNOWN_READ_FORMAT))
		return ps__fail(PS_ENOSUPP,
		                "'%s': %s has bits that came after Linux 6.19: the records could "
		                "not be read",
		                name,
		                words->sample_type & ~PS__KNOWN_SAMPLE_TYPE ? "sample_type"
		                                                            : "read_format");
	if (attr->event.kernel_side && words->exclude_kernel)
		return ps__fail(PS_EINVAL_DOM,
		                "'%s' happens in the kernel, so with exclude_kernel it never "
		                "happens",
		                name);
	if (ps__event_excludes_all(words))
		return ps__fail(PS_EINVAL_DOM,
		                "'%s' never happens with exclude_user and exclude_kernel", name);
	return ps__attr_check_stack(attr);
}

/* Adds the fields that a sampler needs. */
static void complete_fields(struct perf_event_attr *words)
{
	words->read_format |=
	    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PS__FORMAT_LOST;
	/* Otherwise the kernel wakes the reader only when the ring is half full. */
	if (!words->watermark && !words->wakeup_events) {
		words->watermark = 1;
		words->wakeup_watermark = 1;
	}
}

uint32_t ps__sampler_kind(const struct ps__event *event, int cpu)
{
	for (size_t index = 0; index < event->variant_count; index++) {
		if (cpu >= 0 && ps__list_contains(event->variants[index].cpus, cpu))
			return event->variants[index].pmu_type;
	}
	return event->variant_count ? event->variants[0].pmu_type : 0;
}

struct ps__target ps__sampler_target(const struct ps_sampler *sampler)
{
	const struct ps__place *place = &sampler->place;
	struct ps__target target = {.kind = PS__TARGET_SELF, .tid = place->pid, .cpu = place->cpu};

	if (place->pid == -1)
		target.kind = PS__TARGET_CPU;
	else if (place->pid > 0)
		target.kind = PS__TARGET_TID;
	return target;
}

int ps__sampler_open_fd(struct ps__event *event, struct ps__place place)
{
	int fd = ps__perf_open_settled(event, place, -1);

	if (fd != -EINVAL || !(event->attr.read_format & PS__FORMAT_LOST))
		return fd;
	event->attr.read_format &= ~PS__FORMAT_LOST;
	return ps__perf_open_settled(event, place, -1);
}

static int sampler_open_event(struct ps_sampler *sampler, const struct ps_attr *asked)
{
	struct ps__event *event = &sampler->attr->event;
	int fd = ps__sampler_open_fd(event, sampler->place);

	if (fd < 0)
		return ps__attr_explain_open(asked, event, ps__sampler_target(sampler), -fd, 1);
	if (ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&sampler->id) < 0) {
		int error = errno;
		ps__os.close(fd);
		return ps__fail(PS_ESYS, "'%s': the event has no id: %s", event->name,
		                strerror(error));
	}
	sampler->fd = fd;
	return PS_OK;
}

static int sampler_fail_ring(const struct ps_sampler *sampler, size_t pages, int error)
{
	const char *name = sampler->attr->event.name;

	if (error == EPERM)
		return ps__fail(PS_EPERM,
		                "'%s': this user may not lock a ring of %zu pages: make it "
		                "smaller, or " PS__ADVICE_LOCKED_MEMORY,
		                name, pages);
	if (error == ENOMEM)
		return ps__fail(PS_ENOMEM,
		                "'%s': there is no memory for a ring of %zu pages: make "
		                "it smaller",
		                name, pages);
	return ps__fail(PS_ESYS, "'%s': a ring of %zu pages can't be mapped: %s", name, pages,
	                strerror(error));
}

static int sampler_map_ring(struct ps_sampler *sampler, size_t ring_bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = 1;

	while (pages * page_bytes < ring_bytes)
		pages *= 2;
	int error = -ps__ring_map(&sampler->ring, sampler->fd, pages);
	if (error)
		return sampler_fail_ring(sampler, pages, error);
	sampler->scratch = ps__os_calloc(
	    1, sampler->ring.data_bytes < UINT16_MAX ? sampler->ring.data_bytes : UINT16_MAX);
	if (sampler->scratch)
		return PS_OK;
	ps__ring_unmap(&sampler->ring, false);
	return ps__fail_memory("a sampler's records");
}

struct ps_record_config ps__sampler_config(const struct perf_event_attr *words)
{
	return (struct ps_record_config){.size = sizeof(struct ps_record_config),
	                                 .sample_type = words->sample_type,
	                                 .read_format = words->read_format,
	                                 .branch_sample_type = words->branch_sample_type,
	                                 .sample_regs_user = words->sample_regs_user,
	                                 .sample_regs_intr = words->sample_regs_intr,
	                                 .sample_id_all = words->sample_id_all,
	                                 .time_shift_ns =
	                                     words->use_clockid && words->clockid == CLOCK_MONOTONIC
	                                         ? ps__time_namespace_shift_ns()
	                                         : 0};
}

static int tell_kernel(const struct ps_sampler *sampler, unsigned long request, const char *call)
{
	if (!ps__os_is_event_of(sampler->fd, sampler->id))
		return ps__sampler_fail_closed(sampler);
	if (ps__os.ioctl(sampler->fd, request, 0) >= 0)
		return PS_OK;
	return ps__fail(PS_ESYS, "%s: '%s': ioctl: %s", call, sampler->attr->event.name,
	                strerror(errno));
}

/* True if the event is enabled only when the ring is mapped. Otherwise its first records would have
 * no room, and nobody would count them as lost. With inherit it is enabled when it is opened:
 * otherwise copies that tasks inherit at the moment of the enabling could stay disabled. */
static bool is_enabled_late(const struct perf_event_attr *words)
{
	return !words->disabled && !words->inherit;
}

static int sampler_open_all(struct ps_sampler *sampler, const struct ps_attr *asked,
                            size_t ring_bytes)
{
	struct ps__perf *perf = ps__os_calloc(1, sizeof *perf);

	if (!perf)
		return ps__fail_memory("a sampler");
	struct perf_event_attr *words = &sampler->attr->event.attr;
	bool is_late = is_enabled_late(words);
	ps__sampler_prepare_user(sampler, perf);
	words->disabled |= is_late;
	int result = sampler_open_event(sampler, asked);
	words->disabled &= !is_late;
	if (result != PS_OK)
		goto free_perf;
	result = sampler_map_ring(sampler, ring_bytes);
	if (result != PS_OK)
		goto close_fd;
	if (is_late)
		result = tell_kernel(sampler, PERF_EVENT_IOC_ENABLE, "ps_sampler_create");
	if (result != PS_OK)
		goto unmap_ring;
	ps__sampler_adopt_user(sampler, perf);
	goto free_perf;
unmap_ring:
	ps__ring_unmap(&sampler->ring, false);
	ps__os_free(sampler->scratch);
close_fd:
	ps__os.close(sampler->fd);
free_perf:
	ps__os_free(perf);
	return result;
}

static int make_sampler(struct ps_sampler **out, const struct ps_attr *attr, pid_t tid, int cpu,
                        size_t ring_bytes)
{
	struct ps_sampler *sampler = ps__os_calloc(1, sizeof *sampler);

	if (!sampler)
		return ps__fail_memory("a sampler");
	int result = ps_attr_clone(&sampler->attr, attr);
	if (result != PS_OK)
		goto free_sampler;
	struct perf_event_attr *words = &sampler->attr->event.attr;
	complete_fields(words);
	sampler->place = (struct ps__place){.pid = tid,
	                                    .cpu = cpu,
	                                    .pmu_type = ps__sampler_kind(&attr->event, cpu),
	                                    .as_asked = true};
	sampler->fork_generation = ps__fork_generation();
	result = sampler_open_all(sampler, attr, ring_bytes);
	if (result != PS_OK)
		goto free_attr;
	sampler->config = ps__sampler_config(words);
	atomic_init(&sampler->state, !words->disabled || words->enable_on_exec
	                                 ? PS__SAMPLER_RUNNING
	                                 : PS__SAMPLER_STOPPED);
	*out = sampler;
	return PS_OK;
free_attr:
	ps_attr_destroy(sampler->attr);
free_sampler:
	ps__os_free(sampler);
	return result;
}

int ps_sampler_create(struct ps_sampler **out, const struct ps_attr *attr, pid_t tid, int cpu,
                      size_t ring_bytes)
{
	if (!out || !attr)
		return ps__fail(PS_EINVAL, "ps_sampler_create: %s is NULL", out ? "attr" : "out");
	if (ring_bytes > LARGEST_RING)
		return ps__fail(PS_EINVAL, "'%s': a ring of %zu bytes is too large",
		                attr->event.name, ring_bytes);
	int result = check_place(attr, tid, cpu);
	if (result == PS_OK)
		result = ps__sampler_check_fields(attr);
	return result == PS_OK ? make_sampler(out, attr, tid, cpu, ring_bytes) : result;
}

/* Refuses to stop an event that waits for an exec: the exec would enable it again. */
static int check_begun(struct ps_sampler *sampler)
{
	const struct perf_event_attr *words = &sampler->attr->event.attr;
	struct ps_sampler_count count;

	if (!words->enable_on_exec || !words->disabled)
		return PS_OK;
	int result = ps_sampler_read(sampler, &count);
	/* The event is pinned and has lost its counter, so an exec has enabled it. */
	if (result == PS_ENOCNTR)
		return PS_OK;
	if (result != PS_OK || count.enabled_ns)
		return result;
	return ps__fail(PS_ENOTRUN,
	                "ps_sampler_stop: '%s' counts from the exec on, which is still to come: "
	                "stop it after that",
	                sampler->attr->event.name);
}

static int sampler_control(struct ps_sampler *sampler, bool starts, const char *call)
{
	enum ps__sampler_state before = starts ? PS__SAMPLER_STOPPED : PS__SAMPLER_RUNNING;
	enum ps__sampler_state expected = before;
	int result = ps__sampler_refuse(sampler, call);

	if (result != PS_OK)
		return result;
	if (!atomic_compare_exchange_strong(&sampler->state, &expected,
	                                    starts ? PS__SAMPLER_STARTING : PS__SAMPLER_STOPPING))
		return ps__fail(starts ? PS_EISRUN : PS_ENOTRUN, "%s: the sampler of '%s' is %s",
		                call, sampler->attr->event.name,
		                starts ? "running" : "not running");
	result = starts ? PS_OK : check_begun(sampler);
	if (result == PS_OK)
		result = tell_kernel(sampler,
		                     starts ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, call);
	enum ps__sampler_state after = starts ? PS__SAMPLER_RUNNING : PS__SAMPLER_STOPPED;
	/* Pairs with the reader's load of the state before it reads the ring: after a stop the ring
	 * gets no more records. */
	atomic_store(&sampler->state, result == PS_OK ? after : before);
	return result;
}

int ps_sampler_start(struct ps_sampler *sampler)
{
	return sampler_control(sampler, true, "ps_sampler_start");
}

int ps_sampler_stop(struct ps_sampler *sampler)
{
	return sampler_control(sampler, false, "ps_sampler_stop");
}

int ps_sampler_fd(const struct ps_sampler *sampler)
{
	return sampler ? sampler->fd : -1;
}

const struct ps_attr *ps_sampler_attr(const struct ps_sampler *sampler)
{
	return sampler ? sampler->attr : NULL;
}

int ps_sampler_record_config(const struct ps_sampler *sampler, struct ps_record_config *out)
{
	if (!sampler || !out)
		return ps__fail(PS_EINVAL, "ps_sampler_record_config: %s is NULL",
		                sampler ? "out" : "the sampler");
	*out = sampler->config;
	return PS_OK;
}

void ps_sampler_destroy(struct ps_sampler *sampler)
{
	if (!sampler)
		return;
	bool abandon = !ps__fork_is_same(sampler->fork_generation);

	ps__ring_unmap(&sampler->ring, abandon);
	for (size_t i = 0; i < sampler->member_count; i++)
		ps__os_close_event_of(sampler->members[i].fd, sampler->members[i].id);
	ps__os_free(sampler->members);
	ps__os_close_event_of(sampler->fd, sampler->id);
	ps_attr_destroy(sampler->attr);
	ps__os_free(sampler->scratch);
	ps__os_free(sampler);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of a session: its samples by hardware thread, its counts and its losses. */
#include "sample/session.h"

#include "base/error.h"
#include "base/os.h"
#include "store/attrmap.h"
#include "topology/tree.h"

#include <string.h>

/* Tolerance for times: the clocks of two CPUs can differ a little. An event that waits for a
 * counter waits for at least a millisecond. */
#define SLACK_NS 100000

/* Numbers that are read from one descriptor. */
struct numbers {
	uint64_t count, enabled_ns, running_ns, lost;
};

struct ps__session_sum *ps__session_sum_of(const struct ps_session *session, size_t event,
                                           size_t thread)
{
	const struct ps_topology *topology = session->options.root->topology;

	return &session->sums[event * (topology->thread_count + 1) + thread];
}

void ps__session_add_sample(struct ps_session *session, size_t event,
                            const struct ps_record *record, uint64_t period)
{
	if (!session->sums)
		return;
	const struct ps_topology *topology = session->options.root->topology;
	const struct ps_thread *thread = ps__topology_thread(topology, (int)record->cpu);
	struct ps__session_sum *sum = ps__session_sum_of(session, event, ps__thread_index(thread));

	sum->samples++;
	if (__builtin_add_overflow(sum->periods, period, &sum->periods))
		sum->periods = UINT64_MAX;
	if (sum->timestamp < record->time)
		sum->timestamp = record->time;
}

static int sum_check_event(const struct ps_session *session, const char *call, size_t event)
{
	if (event < session->user_events)
		return PS_OK;
	return ps__fail(PS_ENOEVNT, "%s: the session has %zu events, and no number %zu", call,
	                session->user_events, event);
}

bool ps__session_knows_period(const struct ps_session *session, size_t event)
{
	const struct perf_event_attr *words = &session->lists.events[event].attr->event.attr;

	return !words->freq || ps__event_is_clock(words) ||
	       (words->type != PERF_TYPE_SOFTWARE && words->type != PERF_TYPE_TRACEPOINT);
}

bool ps__session_is_user_only(const struct ps__event *event)
{
	/* The count of a clock event includes its time in the kernel; its samples don't. */
	return event->user_only || (ps__event_is_clock(&event->attr) && event->attr.exclude_kernel);
}

/* A ring that several events write into doesn't tell which event has lost records. */
bool ps__session_lacks_samples(const struct ps_session *session, size_t event)
{
	bool may_have_lost = session->lost_by_records || session->lost_samples;

	for (size_t i = 0; i < session->lists.ring_count; i++)
		may_have_lost = may_have_lost || session->lists.rings[i].may_have_lost;
	return may_have_lost || session->unassigned || session->damaged ||
	       session->lists.events[event].is_throttled || ps_session_missed(session, NULL, 0) > 0;
}

/* Returns the sum of the periods as an estimate, never as a count. */
static struct ps_value value_of(const struct ps__session_sum *sum, bool is_user_only, bool lacks)
{
	bool is_too_large = sum->periods > INT64_MAX;
	uint32_t flags = PS_VALUE_SAMPLED | (is_user_only ? PS_VALUE_USER_ONLY : 0);

	return (struct ps_value){.timestamp = sum->timestamp,
	                         .value = is_too_large ? INT64_MAX : (long long)sum->periods,
	                         .raw = sum->samples,
	                         .status = lacks ? PS_STATUS_INCOMPLETE : PS_STATUS_SCALED,
	                         .attribution = PS_ATTRIBUTION_EXACT,
	                         .flags = flags | (is_too_large ? PS_VALUE_SATURATED : 0)};
}

int ps_session_sum(const struct ps_session *session, size_t event,
                   const struct ps_component *component, struct ps_value *value)
{
	int result = ps__session_refuse(session, "ps_session_sum");
	struct ps__session_sum whole = {.samples = 0};

	if (result != PS_OK)
		return result;
	if (!value || !session->options.root)
		return ps__fail(PS_EINVAL, "ps_session_sum: %s",
		                value ? "the session was made without a topology"
		                      : "value is NULL");
	result = sum_check_event(session, "ps_session_sum", event);
	if (result != PS_OK)
		return result;
	if (!component)
		component = session->options.root;
	if (component->topology != session->options.root->topology)
		return ps__fail(PS_EINVAL, "ps_session_sum: the component is of another topology");
	if (!ps__session_knows_period(session, event))
		return ps__fail(PS_ENOSUPP,
		                "ps_session_sum: '%s' is sampled by a frequency, and for such an "
		                "event the kernel does not tell how many events a sample stands "
		                "for: give it a sample_period",
		                session->lists.events[event].attr->event.name);
	struct ps__range range = ps__component_range(component);
	for (size_t i = range.first; session->sums && i < range.end; i++) {
		const struct ps__session_sum *sum = ps__session_sum_of(session, event, i);
		whole.samples += sum->samples;
		if (__builtin_add_overflow(whole.periods, sum->periods, &whole.periods))
			whole.periods = UINT64_MAX;
		if (whole.timestamp < sum->timestamp)
			whole.timestamp = sum->timestamp;
	}
	if (!whole.samples)
		return ps__fail(PS_ENOEVST, "ps_session_sum: there is no sample of event %zu there",
		                event);
	*value =
	    value_of(&whole, ps__session_is_user_only(&session->lists.events[event].attr->event),
	             ps__session_lacks_samples(session, event));
	return PS_OK;
}

static int fail_read(const struct ps_session *session, const struct ps__session_instance *instance,
                     ssize_t length)
{
	const char *name = session->lists.events[instance->event].attr->event.name;

	if (length == 0)
		return ps__fail(PS_ENOCNTR,
		                "'%s': the event is pinned, and there was no counter for it: it "
		                "counts no longer; clear pinned",
		                name);
	return ps__fail(PS_ESYS, "'%s': read: %s", name, strerror(errno));
}

/* Reads the count and the losses, including inherited copies. If the descriptor's number is no
 * longer the event's, it is another file of the program, which must not be read. */
static int sum_read_instance(const struct ps_session *session,
                             const struct ps__session_instance *instance, struct numbers *out)
{
	uint64_t format = session->lists.events[instance->event].config.read_format;
	uint64_t words[PS__SESSION_NUMBERS] = {0};
	const uint64_t *last = words + 3 + !!(format & PERF_FORMAT_ID);

	if (!ps__os_is_event_of(instance->fd, instance->id))
		return ps__session_fail_closed();
	ssize_t length = ps__os_read_retried(instance->fd, words, sizeof words);
	if (length <= 0)
		return fail_read(session, instance, length);
	/* The order in which the kernel writes them. */
	*out = (struct numbers){.count = words[0],
	                        .enabled_ns = words[1],
	                        .running_ns = words[2],
	                        .lost = format & PS__FORMAT_LOST ? *last : 0};
	return PS_OK;
}

/*
 * Adds up the instances of one event for one thread. *end: index behind the last instance, then the
 * index of the first one. The thread runs on one CPU at a time, so only one instance counts at a
 * time. If the event never waits for a counter, the running times of all instances add up to the
 * enabled time of each. The instance that was opened last is read first. Its enabled time is
 * compared with the sum: the other running times, which are read later, aren't too short for that.
 * A software event never waits, and its times aren't compared: on a machine whose CPUs have
 * different clocks, such as an emulated one, they can differ by tens of milliseconds.
 */
static int add_thread(const struct ps_session *session, size_t *end, struct numbers *sum)
{
	const struct ps__session_instance *instances = session->lists.instances;
	uint32_t event = instances[*end - 1].event;
	uint64_t enabled_ns = 0, running_ns = 0;
	size_t cpus = 0;

	for (; *end > 0 && instances[*end - 1].event == event; --*end) {
		struct numbers numbers = {.count = 0};
		int result = sum_read_instance(session, &instances[*end - 1], &numbers);
		if (result != PS_OK)
			return result;
		if (cpus++ == 0)
			enabled_ns = numbers.enabled_ns;
		running_ns += numbers.running_ns;
		sum->count += numbers.count - instances[*end - 1].base;
	}
	/* On CPUs without the event, the event neither counts nor waits, so the times can't be
	 * compared. */
	if (cpus < session->lists.cpu_count)
		return PS_OK;
	bool may_wait = session->lists.events[event].attr->event.klass != PS__EVENT_CLASS_SOFTWARE;
	bool has_waited = may_wait && (running_ns == 0 || running_ns + SLACK_NS < enabled_ns);
	sum->enabled_ns += enabled_ns;
	sum->running_ns += has_waited ? running_ns : enabled_ns;
	return PS_OK;
}

/* Adds up an event's counts of all threads. The descriptors must be open. */
static int sum_add_counts(const struct ps_session *session, size_t event, struct numbers *sum)
{
	*sum = (struct numbers){.count = 0};
	for (size_t end = session->lists.instance_count; end > 0;) {
		if (session->lists.instances[end - 1].event != event) {
			end--;
			continue;
		}
		int result = add_thread(session, &end, sum);
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

/* Fails if the event waited for a counter: a count for a part of the time isn't the whole count. */
static int check_waited(const struct ps_session *session, size_t event, const struct numbers *sum)
{
	if (sum->running_ns >= sum->enabled_ns)
		return PS_OK;
	return ps__fail(PS_ENOCNTR,
	                "'%s' had a counter for %.3f of the %.3f ms that its threads ran: count "
	                "fewer hardware events at once",
	                session->lists.events[event].attr->event.name,
	                (double)sum->running_ns / 1e6, (double)sum->enabled_ns / 1e6);
}

/* Adds up the kernel's counts of records that found no room. A pinned event that is no longer on
 * the hardware can't be read. Such an event is left out, so that the losses of the others are still
 * known. Returns PS_OK, PS_ECLOST or PS_ESYS. */
static int add_lost(const struct ps_session *session, uint64_t *lost)
{
	const struct ps__session_lists *lists = &session->lists;

	for (size_t i = 0; !session->is_closing && i < lists->instance_count; i++) {
		struct numbers numbers = {.count = 0};
		int result = sum_read_instance(session, &lists->instances[i], &numbers);
		if (result != PS_OK && result != PS_ENOCNTR)
			return result;
		*lost += numbers.lost;
	}
	return PS_OK;
}

int ps_session_count(const struct ps_session *session, size_t event, uint64_t *out)
{
	int result = ps__session_refuse(session, "ps_session_count");
	struct numbers sum;

	if (result != PS_OK)
		return result;
	if (!out)
		return ps__fail(PS_EINVAL, "ps_session_count: out is NULL");
	result = sum_check_event(session, "ps_session_count", event);
	if (result != PS_OK)
		return result;
	if (!session->is_started)
		return ps__fail(PS_ENOTRUN, "ps_session_count: the session was not started");
	if (session->is_closing)
		return ps__fail(PS_ENOSUPP, "ps_session_count: the session has closed its "
		                            "descriptors (PS_SESSION_CLOSE)");
	result = sum_add_counts(session, event, &sum);
	if (result == PS_OK)
		result = check_waited(session, event, &sum);
	if (result == PS_OK)
		*out = sum.count;
	return result;
}

int ps_session_stats(const struct ps_session *session, struct ps_session_stats *out)
{
	int result = ps__session_refuse(session, "ps_session_stats");
	size_t threads = 0;

	if (result != PS_OK)
		return result;
	if (!out || out->size != sizeof *out)
		return ps__fail(PS_EINVAL, "ps_session_stats: %s",
		                out ? "set out's size to sizeof(struct ps_session_stats)"
		                    : "out is NULL");
	/* Asks the kernel for its counts, too: a ring reports its last loss only with its next
	 * record. */
	uint64_t lost = 0, full_rings = 0;
	result = add_lost(session, &lost);
	if (result != PS_OK)
		return result;
	if (lost < session->lost_by_records)
		lost = session->lost_by_records;
	/* Only without descriptors: otherwise the kernel's own counts have these losses. */
	for (size_t i = 0; session->is_closing && i < session->lists.ring_count; i++)
		full_rings += session->lists.rings[i].may_have_lost;
	for (size_t i = 0; i < session->lists.task_count; i++)
		threads += session->lists.tasks[i].known == PS__KNOWN_OPENED;
	*out = (struct ps_session_stats){.size = sizeof *out,
	                                 .records = session->records,
	                                 .samples = session->samples,
	                                 .lost = lost + session->lost_samples,
	                                 .unassigned = session->unassigned,
	                                 .damaged = session->damaged,
	                                 .full_rings = full_rings,
	                                 .threads = threads,
	                                 .rings = session->lists.ring_count,
	                                 .descriptors = ps__session_descriptors(session)};
	return PS_OK;
}

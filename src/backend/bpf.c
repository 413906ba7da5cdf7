/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The BPF backend, for a process. The perf backend opens events of whole CPUs. A program in the
 * kernel reads these events at each context switch. What the events grew by belongs to the process
 * if the task that leaves the CPU belongs to it. So no event is copied when a task is created.
 * There is one descriptor for each event and CPU, however many tasks there are. A reading runs the
 * same program on each CPU.
 */
#include "backend/bpf.h"
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"
#include "locate/locate.h"
#include "store/recording.h"

#include <errno.h>
#include <string.h>

/* The kernel's clock of events and CLOCK_MONOTONIC may differ by this, and by 1/64 of the time. */
#define TOLERANCE_NS 2000000u

/* The enabled time of a CPU's events. It stops for good when the CPU goes offline. */
struct clock {
	uint64_t enabled_ns;
	uint64_t at_ns; /* CLOCK_MONOTONIC after the enabled time was read */
};

struct ps__bpf {
	struct ps__backend base;
	struct ps__backend *perf;
	struct ps__bpf_kernel kernel;
	const int *cpus; /* CPUs of the instances; owned by the set */
	/* by index in the program, the event's index in the set; only supported events */
	uint32_t *events;
	uint64_t *words;      /* the words of one CPU */
	struct clock *clocks; /* by instance */
	uint64_t failures;    /* from before the process was counted */
	bool is_counting;
	bool is_open;
	uint64_t stopped_ns;
};

static struct ps__bpf *bpf_of(struct ps__backend *backend)
{
	return (struct ps__bpf *)backend;
}

/* Returns the number of CPUs in the maps. CPUs that come online later have entries, too: their
 * failed reads show that counts are missing. */
static size_t find_cpu_limit(const struct ps__target *target)
{
	size_t limit = ps__locate_possible_end();

	for (size_t instance = 0; instance < target->instance_count; instance++) {
		size_t end = (size_t)target->instance_cpus[instance] + 1;
		limit = end > limit ? end : limit;
	}
	return limit;
}

/* Refuses events of a package, whose counter doesn't know which CPU caused a count; and paused
 * events, whose counter may go on. */
static int bpf_check_event(const struct ps__event *event)
{
	if (event->control.is_paused)
		return ps__fail(PS_ENOSUPP,
		                "'%s' is paused, and attribution by BPF can't leave an event out: "
		                "resume it",
		                event->name);
	if (event->scope == PS_SCOPE_THREAD && event->klass != PS__EVENT_CLASS_OTHER)
		return PS_OK;
	return ps__fail(PS_ECOMBO,
	                "'%s' counts for a %s, not for a task: attach the set to a CPU with "
	                "ps_eventset_attach_cpu",
	                event->name, ps_scope_name(event->scope));
}

static int list_events(struct ps__bpf *bpf, const struct ps__event *events, size_t count)
{
	int result = PS_OK;

	bpf->events = ps__os_calloc(count, sizeof *bpf->events);
	if (!bpf->events)
		return ps__fail_memory("an event set");
	for (size_t event = 0; result == PS_OK && event < count; event++) {
		if (events[event].unsupported)
			continue;
		result = bpf_check_event(&events[event]);
		bpf->events[bpf->kernel.event_count++] = (uint32_t)event;
	}
	if (result == PS_OK && bpf->kernel.event_count > PS__BPF_EVENTS_MAX)
		result = ps__fail(PS_ECOUNT,
		                  "attribution by BPF takes %d events at most, and the set has %zu",
		                  PS__BPF_EVENTS_MAX, bpf->kernel.event_count);
	return result;
}

static int open_perf(struct ps__bpf *bpf, struct ps__event *events, size_t count,
                     const struct ps__target *target)
{
	struct ps__target inner = {.kind = PS__TARGET_CPUS,
	                           .cpu = -1,
	                           .instance_cpus = target->instance_cpus,
	                           .instance_count = target->instance_count};

	bpf->perf = ps__perf_create();
	if (!bpf->perf)
		return ps__fail_memory("an event set's counters");
	int result = bpf->perf->ops->open(bpf->perf, events, count, inner);
	if (result == PS_OK)
		return PS_OK;
	bpf->perf->ops->close(bpf->perf, false);
	bpf->perf = NULL;
	return result == PS_EPERM ? ps__bpf_explain_events() : result;
}

/* True if the kernel counts the event during a switch, after the program has run. */
static bool is_late(const struct ps__event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       (event->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
	        event->attr.config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

static int open_kernel(struct ps__bpf *bpf, const struct ps__event *events)
{
	bool late[PS__BPF_EVENTS_MAX];

	for (size_t index = 0; index < bpf->kernel.event_count; index++)
		late[index] = is_late(&events[bpf->events[index]]);
	int result = ps__bpf_open(&bpf->kernel, late);
	bpf->is_open = result == PS_OK;
	return result;
}

/* Returns the descriptor of an event in a group. If the CPU's kind of core lacks the group's
 * events, one dummy stands in for all of them, and counts nothing. */
static int find_fd(const struct ps__group *group, uint32_t event)
{
	size_t place = 0;

	while (!group->stands_in && group->members[place].event != event)
		place++;
	return group->members[place].fd;
}

/* Puts an instance's descriptors into the map of events. If an entry is empty, its read fails. */
static int set_events(const struct ps__bpf *bpf, size_t instance)
{
	const struct ps__perf *perf = (const struct ps__perf *)bpf->perf;

	for (size_t index = 0; index < bpf->kernel.event_count; index++) {
		uint32_t event = bpf->events[index];
		const struct ps__group *group =
		    &perf->instances[instance].groups[perf->base.group_of[event]];
		int result = ps__bpf_set_event(&bpf->kernel, bpf->cpus[instance], index,
		                               find_fd(group, event));
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

/* Runs the program on the instance's CPU, and reads the CPU's words. PS_PARTIAL: the CPU is
 * offline; no copy can be made, but nothing writes to the CPU's own words then, so these are
 * read. */
static int look_at(struct ps__bpf *bpf, size_t instance)
{
	size_t cpu = (size_t)bpf->cpus[instance];
	int result = ps__bpf_flush(&bpf->kernel, (int)cpu);

	if (result != PS_OK && result != PS_PARTIAL)
		return result;
	size_t key = result == PS_OK ? ps__bpf_copy_key(bpf->kernel.cpu_limit, cpu) : cpu;
	int read = ps__bpf_read(&bpf->kernel, key, bpf->words);
	return read == PS_OK ? result : read;
}

static int read_failures(struct ps__bpf *bpf, uint64_t *failures)
{
	int result =
	    ps__bpf_read(&bpf->kernel, ps__bpf_failed_key(bpf->kernel.cpu_limit), bpf->words);

	if (result == PS_OK)
		*failures = bpf->words[PS__BPF_FAILED];
	return result;
}

/* Begins the counting of the process. The program runs on each CPU first, so that counts from
 * before, when events were tried, belong to no task. */
static int bpf_begin(struct ps__bpf *bpf, pid_t pid)
{
	for (size_t instance = 0; instance < bpf->base.instances; instance++) {
		int result = look_at(bpf, instance);
		if (result == PS_PARTIAL)
			return ps__fail(PS_ESYS, "attribution by BPF: CPU %d went offline",
			                bpf->cpus[instance]);
		if (result != PS_OK)
			return result;
		bpf->clocks[instance].enabled_ns = bpf->words[ps__bpf_known_word(0) + 1];
	}
	int result = read_failures(bpf, &bpf->failures);
	if (result != PS_OK)
		return result;
	return ps__bpf_set_process(&bpf->kernel, pid);
}

static int bpf_open(struct ps__backend *backend, struct ps__event *events, size_t count,
                    struct ps__target target)
{
	struct ps__bpf *bpf = bpf_of(backend);

	bpf->cpus = target.instance_cpus;
	bpf->kernel.cpu_limit = find_cpu_limit(&target);
	int result = list_events(bpf, events, count);
	if (result == PS_OK)
		result = open_perf(bpf, events, count, &target);
	if (result == PS_OK && bpf->kernel.event_count > 0)
		result = open_kernel(bpf, events);
	if (result != PS_OK)
		return result;
	bpf->base.instances = bpf->perf->instances;
	bpf->base.groups = bpf->perf->groups;
	bpf->base.group_of = bpf->perf->group_of;
	bpf->base.is_hardware = bpf->perf->is_hardware;
	bpf->base.read_path = bpf->perf->read_path;
	memcpy(bpf->base.why_path, bpf->perf->why_path, sizeof bpf->base.why_path);
	/* No event is supported here. There is no map, because a map needs values. */
	if (!bpf->is_open)
		return PS_OK;
	bpf->words = ps__os_calloc(bpf->kernel.words, sizeof *bpf->words);
	bpf->clocks = ps__os_calloc(bpf->base.instances, sizeof *bpf->clocks);
	if (!bpf->words || !bpf->clocks)
		return ps__fail_memory("an event set's counters");
	for (size_t instance = 0; result == PS_OK && instance < bpf->base.instances; instance++)
		result = set_events(bpf, instance);
	return result == PS_OK ? bpf_begin(bpf, target.tid) : result;
}

static int bpf_start(struct ps__backend *backend)
{
	struct ps__bpf *bpf = bpf_of(backend);
	int result = bpf->perf->ops->start(bpf->perf);

	if (result != PS_OK)
		return result;
	uint64_t now = ps__os_now_ns();
	for (size_t instance = 0; bpf->is_open && instance < backend->instances; instance++)
		bpf->clocks[instance].at_ns = now;
	bpf->is_counting = true;
	backend->run.started_ns = bpf->perf->run.started_ns;
	backend->run.start_ns = bpf->perf->run.start_ns;
	return PS_OK;
}

static int bpf_stop(struct ps__backend *backend)
{
	struct ps__bpf *bpf = bpf_of(backend);

	if (bpf->is_counting)
		bpf->stopped_ns = ps__os_now_ns();
	bpf->is_counting = false;
	return bpf->perf->ops->stop(bpf->perf);
}

/* True if the clock stood still because the CPU was offline. until_ns: before the words were
 * read. */
static bool has_stood_still(struct clock *clock, uint64_t enabled_ns, uint64_t until_ns)
{
	int64_t passed = (int64_t)(until_ns - clock->at_ns);
	uint64_t enabled = enabled_ns - clock->enabled_ns;

	*clock = (struct clock){enabled_ns, ps__os_now_ns()};
	return passed > 0 && enabled + TOLERANCE_NS + (uint64_t)passed / 64 < (uint64_t)passed;
}

static void bpf_store_totals(const struct ps__bpf *bpf, uint64_t *totals)
{
	for (size_t index = 0; index < bpf->kernel.event_count; index++) {
		const uint64_t *sum = bpf->words + ps__bpf_sum_word(index);
		uint32_t event = bpf->events[index];
		uint32_t group = bpf->base.group_of[event];
		totals[2 * bpf->base.groups + event] = sum[0];
		totals[2 * group] = sum[1];
		totals[2 * group + 1] = sum[2];
	}
}

/*
 * Sets has_gaps if counts are missing. Either events could not be read on a CPU: the CPU came
 * online later, or an event is in the error state. Or the kernel skipped a
 * program: then counts went to another task, or a child isn't counted. Called once for all CPUs, at
 * the last instance's reading.
 */
static int look_for_failures(struct ps__bpf *bpf)
{
	uint64_t misses = 0, failures = 0;
	int result = read_failures(bpf, &failures);

	if (result == PS_OK)
		result = ps__bpf_count_misses(&bpf->kernel, &misses);
	if (result == PS_OK && (failures != bpf->failures || misses > 0))
		bpf->base.has_gaps = true;
	return result;
}

static int bpf_read(struct ps__backend *backend, size_t instance, uint64_t *totals)
{
	struct ps__bpf *bpf = bpf_of(backend);
	uint64_t until_ns = bpf->is_counting ? ps__os_now_ns() : bpf->stopped_ns;

	if (!bpf->is_open)
		return PS_OK;
	struct clock *clock = &bpf->clocks[instance];
	int result = instance == 0 ? ps__bpf_check(&bpf->kernel) : PS_OK;
	if (result == PS_OK)
		result = look_at(bpf, instance);
	if (result != PS_OK && result != PS_PARTIAL)
		return result;
	uint64_t enabled_ns = bpf->words[ps__bpf_known_word(0) + 1];
	if (has_stood_still(clock, enabled_ns, until_ns) || result == PS_PARTIAL)
		backend->has_gaps = true;
	bpf_store_totals(bpf, totals);
	return instance + 1 == backend->instances ? look_for_failures(bpf) : PS_OK;
}

/* Pausing is refused: a paused leader's counter goes on, and the program would read it. */
static int bpf_pause_event(struct ps__backend *backend, size_t event, bool pauses)
{
	(void)event;
	(void)pauses;
	(void)backend;
	return ps__fail(PS_ENOSUPP,
	                "attribution by BPF can't leave an event out of a set: stop the "
	                "set, or count with PS_ATTRIBUTE_EXACT");
}

/* Returns none: the BPF program counts set-user-ID programs like any other. */
static const struct ps__uncounted *bpf_take_uncounted(struct ps__backend *backend)
{
	static const struct ps__uncounted none;

	(void)backend;
	return &none;
}

static int bpf_visit_counters(struct ps__backend *backend, ps__counter_visit *visit, void *context)
{
	struct ps__backend *perf = bpf_of(backend)->perf;

	return perf->ops->visit_counters(perf, visit, context);
}

static void bpf_close(struct ps__backend *backend, bool abandon)
{
	struct ps__bpf *bpf = bpf_of(backend);

	if (bpf->is_open)
		ps__bpf_close(&bpf->kernel);
	if (bpf->perf)
		bpf->perf->ops->close(bpf->perf, abandon);
	ps__os_free(bpf->events);
	ps__os_free(bpf->words);
	ps__os_free(bpf->clocks);
	ps__os_free(bpf);
}

static const struct ps__backend_ops bpf_ops = {.open = bpf_open,
                                               .start = bpf_start,
                                               .read = bpf_read,
                                               .stop = bpf_stop,
                                               .pause_event = bpf_pause_event,
                                               .visit_counters = bpf_visit_counters,
                                               .take_uncounted = bpf_take_uncounted,
                                               .close = bpf_close};

struct ps__backend *ps__bpf_create(void)
{
	struct ps__bpf *bpf = ps__os_calloc(1, sizeof *bpf);

	if (!bpf)
		return NULL;
	bpf->base.ops = &bpf_ops;
	return &bpf->base;
}

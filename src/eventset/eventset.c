/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of an event set: it is created, cloned, attached, given storage, destroyed. */
#include "eventset/eventset.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "eventset/control.h"
#include "store/aggregate.h"

#include <string.h>
#include <sys/mman.h>

#define ATTACH_IN_PAPI                                                                         \
	"attach it with PAPI_attach or PAPI_set_opt(PAPI_CPU_ATTACH), or PAPI_detach it; the " \
	"next ps_start takes "                                                                 \
	"that over"

/* Smaller requests are not tried: every machine has this much memory. */
#define LEAST_BYTES_TRIED (16u << 20)

int ps_eventset_create(struct ps_eventset **out)
{
	if (!out)
		return ps__fail(PS_EINVAL, "ps_eventset_create: out is NULL");
	struct ps_eventset *set = ps__os_calloc_apart(1, sizeof *set);
	if (!set)
		return ps__fail_memory("an event set");
	set->fast_path.set.calls = &set->calls;
	set->calls.fork_generation = ps__fork_generation();
	set->counters.target = (struct ps__target){.kind = PS__TARGET_SELF, .cpu = -1};
	set->counters.task.fd = -1;
	set->attribution.switches.fd = -1;
	set->attribution.method = &ps__method_last_cpu;
	set->attribution.only_cpu = -1;
	set->attribution.last_cpu = -1;
	*out = set;
	return PS_OK;
}

static void close_target(struct ps_eventset *set)
{
	ps__task_close(&set->counters.task);
	if (set->counters.target.kind == PS__TARGET_CGROUP)
		ps__cgroup_close(&set->counters.target.cgroup);
}

/* Leaves the readings to the topology, whose totals keep what the set counted. */
static void leave_readings(struct ps_eventset *set)
{
	if (!set->recorder.last_bound)
		return;
	struct ps_topology *topology = set->recorder.last_bound->topology;
	ps__aggregate_retire(set->recorder.last_bound);
	ps__topology_release(topology);
}

int ps_eventset_destroy(struct ps_eventset *set)
{
	if (!set)
		return PS_OK;
	ps__set_close(set);
	if (ps__fork_is_same(set->calls.fork_generation))
		close_target(set);
	else
		ps__task_close(&set->counters.task);
	leave_readings(set);
	ps__set_clear_events(set);
	ps__papi_free(set->counters.papi);
	ps__os_free_apart(set);
	return PS_OK;
}

static int copy_events(struct ps_eventset *set, const struct ps_eventset *model)
{
	if (model->events.count == 0)
		return PS_OK;
	set->events.list = ps__os_calloc(model->events.count, sizeof *set->events.list);
	if (!set->events.list)
		return ps__fail_memory("a cloned event set");
	for (size_t index = 0; index < model->events.count; index++) {
		int result = ps__event_copy(&set->events.list[index], &model->events.list[index]);
		if (result != PS_OK)
			return result;
		set->events.count++;
	}
	set->events.room = model->events.count;
	return PS_OK;
}

int ps_eventset_clone(struct ps_eventset **out, const struct ps_eventset *model)
{
	struct ps_eventset *set = NULL;

	if (!out || !model)
		return ps__fail(PS_EINVAL, "ps_eventset_clone: out and model must not be NULL");
	if (model->counters.papi)
		return ps__fail(
		    PS_ENOSUPP,
		    "ps_eventset_clone: the model wraps PAPI event set %d, and PAPI can't copy "
		    "one: make a PAPI event set in each thread, and wrap it there",
		    model->counters.papi->id);
	int result = ps_eventset_create(&set);
	if (result != PS_OK)
		return result;
	result = copy_events(set, model);
	if (result != PS_OK) {
		ps_eventset_destroy(set);
		return result;
	}
	set->recorder.reserved_rows = model->recorder.reserved_rows;
	set->recorder.history = model->recorder.history;
	set->attribution.mode = model->attribution.mode;
	set->counters.enables_on_exec = model->counters.enables_on_exec;
	set->counters.wants_tasks = model->counters.wants_tasks;
	*out = set;
	return PS_OK;
}

void ps__set_retarget(struct ps_eventset *set, struct ps__target target, struct ps__task task)
{
	ps__set_close(set);
	close_target(set);
	set->counters.target = target;
	set->counters.task = task;
}

/* Opens the task, or the process of a thread. If no /proc is mounted, the caller must give the
 * process's own number. */
static int attach_open(struct ps__task *task, enum ps__target_kind kind, pid_t tid,
                       const char *call)
{
	pid_t process = kind == PS__TARGET_PROCESS ? ps__locate_process(tid) : tid;
	int result = ps__task_open(task, process > 0 ? process : tid);

	if (result != PS_OK || process > 0 || !ps__locate_has_proc())
		return result;
	ps__task_close(task);
	return ps__fail(PS_ESYS, "%s: the process of %d is not known (/proc/%d/status: %s)", call,
	                (int)tid, (int)tid, strerror(-process));
}

static int attach_task(struct ps_eventset *set, enum ps__target_kind kind, pid_t tid,
                       const char *call)
{
	struct ps__task task;
	int result = ps__set_enter_own(set, call, ATTACH_IN_PAPI);

	if (result != PS_OK)
		return result;
	if (tid < 1)
		result = ps__fail(PS_EINVAL, "%s: %d is no number of a thread or process", call,
		                  (int)tid);
	else
		result = attach_open(&task, kind, tid, call);
	if (result == PS_OK) {
		task.is_process = kind == PS__TARGET_PROCESS;
		ps__set_retarget(set, (struct ps__target){.kind = kind, .tid = task.tid, .cpu = -1},
		                 task);
	}
	ps__set_leave(set);
	return result;
}

int ps_eventset_attach_tid(struct ps_eventset *set, pid_t tid)
{
	return attach_task(set, PS__TARGET_TID, tid, "ps_eventset_attach_tid");
}

int ps_eventset_attach_process(struct ps_eventset *set, pid_t pid)
{
	return attach_task(set, PS__TARGET_PROCESS, pid, "ps_eventset_attach_process");
}

int ps_eventset_attach_cpu(struct ps_eventset *set, int cpu)
{
	char why[PS__NO_CPU_BYTES];
	int result = ps__set_enter_own(set, "ps_eventset_attach_cpu", ATTACH_IN_PAPI);

	if (result != PS_OK)
		return result;
	if (!ps__locate_is_possible(cpu) && ps__locate_explain_no_cpu(cpu, why))
		result = ps__fail(PS_EINVAL, "ps_eventset_attach_cpu: %s", why);
	else
		ps__set_retarget(set, (struct ps__target){.kind = PS__TARGET_CPU, .cpu = cpu},
		                 (struct ps__task){.fd = -1});
	ps__set_leave(set);
	return result;
}

int ps_eventset_attach_cgroup(struct ps_eventset *set, const char *path)
{
	struct ps__target target = {.kind = PS__TARGET_CGROUP, .cpu = -1};
	int result =
	    ps__set_enter_own(set, "ps_eventset_attach_cgroup",
	                      "PAPI knows no control groups; make a set with ps_eventset_create");

	if (result != PS_OK)
		return result;
	if (!path || !*path)
		result =
		    ps__fail(PS_EINVAL, "ps_eventset_attach_cgroup: the path is NULL or empty");
	else
		result = ps__cgroup_open(path, &target.cgroup);
	if (result == PS_OK)
		ps__set_retarget(set, target, (struct ps__task){.fd = -1});
	ps__set_leave(set);
	return result;
}

int ps_eventset_set_enable_on_exec(struct ps_eventset *set, int on)
{
	int result = ps__set_enter_stopped(set, "ps_eventset_set_enable_on_exec");

	if (result != PS_OK)
		return result;
	set->counters.enables_on_exec = on != 0;
	ps__set_leave(set);
	return PS_OK;
}

int ps_eventset_detach(struct ps_eventset *set)
{
	int result = ps__set_enter_own(set, "ps_eventset_detach", ATTACH_IN_PAPI);

	if (result != PS_OK)
		return result;
	ps__set_retarget(set, (struct ps__target){.kind = PS__TARGET_SELF, .cpu = -1},
	                 (struct ps__task){.fd = -1});
	ps__set_leave(set);
	return PS_OK;
}

/* Checks, before the events are open, whether there is memory for the rows. It uses a lower bound
 * of a row's size, which is known only when the events are open. Memory that is mapped and not
 * touched costs nothing. */
static int check_rows(const struct ps_eventset *set, size_t rows)
{
	size_t size_bytes;

	if (__builtin_mul_overflow(rows, (3 + set->events.count) * sizeof(uint64_t), &size_bytes))
		return ps__fail_memory("the reserved readings");
	if (size_bytes < LEAST_BYTES_TRIED)
		return PS_OK;
	void *pages = ps__os.mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
	                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return ps__fail_memory("the reserved readings");
	ps__os.munmap(pages, size_bytes);
	return PS_OK;
}

int ps_eventset_reserve(struct ps_eventset *set, size_t rows)
{
	int result = ps__set_enter(set, "ps_eventset_reserve");

	if (result != PS_OK)
		return result;
	if (set->events.count == 0)
		result = ps__fail(
		    PS_EINVAL, "ps_eventset_reserve: the event set is empty: add its events first");
	else
		result =
		    set->recorder.recording ? ps__set_reserve(set, rows) : check_rows(set, rows);
	if (result == PS_OK)
		set->recorder.reserved_rows = rows;
	ps__set_leave(set);
	return result;
}

int ps_eventset_set_history(struct ps_eventset *set, size_t rows)
{
	int result = ps__set_enter_stopped(set, "ps_eventset_set_history");

	if (result != PS_OK)
		return result;
	/* Memory is released in whole chunks. */
	set->recorder.history = (rows + PS__CHUNK_ROWS - 1) / PS__CHUNK_ROWS * PS__CHUNK_ROWS;
	ps__set_leave(set);
	return PS_OK;
}

int ps_eventset_is_running(const struct ps_eventset *set)
{
	return set && ps__set_is_started(set);
}

int ps_eventset_is_ended(const struct ps_eventset *set)
{
	return set && set->is_ended;
}

int ps_eventset_set_attribution(struct ps_eventset *set, enum ps_attribution_mode mode)
{
	int result = ps__set_enter_stopped(set, "ps_eventset_set_attribution");

	if (result != PS_OK)
		return result;
	if (mode != PS_ATTRIBUTE_AUTO && mode != PS_ATTRIBUTE_EXACT &&
	    mode != PS_ATTRIBUTE_LAST_CPU && mode != PS_ATTRIBUTE_TIME_SHARE &&
	    mode != PS_ATTRIBUTE_BPF && mode != PS_ATTRIBUTE_LOOKS) {
		result = ps__fail(PS_EINVAL, "ps_eventset_set_attribution: there is no mode %d",
		                  (int)mode);
	} else if (set->counters.papi && mode == PS_ATTRIBUTE_EXACT) {
		result = ps__fail(PS_ENOSUPP,
		                  "ps_eventset_set_attribution: PAPI doesn't split the counts of "
		                  "its event set %d by hardware thread: pin its thread, or count "
		                  "with ps_eventset_create and ps_eventset_add",
		                  set->counters.papi->id);
	} else if (mode != set->attribution.mode) {
		ps__set_close(set);
		set->attribution.mode = mode;
	}
	ps__set_leave(set);
	return result;
}

/* A reading can't open the counters for the other CPUs: it allocates nothing, and may run in a
 * signal handler. */
static const char why_left[] =
    "the task could run on one CPU only when the set was started, and has left it since: what it "
    "counted while it moved is shared out by time. The next ps_start opens counters for each CPU";

static enum ps_attribution label_of_time_share(const struct ps_eventset *set, const char **why)
{
	const struct ps__time_share *share = &set->attribution.time_share;
	enum ps_attribution label =
	    share->is_assigned ? (enum ps_attribution)share->weakest : PS_ATTRIBUTION_MIXED;

	if (why && label < PS_ATTRIBUTION_MIXED)
		*why = "";
	return label;
}

enum ps_attribution ps_eventset_attribution(const struct ps_eventset *set, const char **why)
{
	if (why)
		*why = !set ? "" : set->attribution.has_left ? why_left : set->attribution.why;
	if (!set || !set->counters.backend)
		return PS_ATTRIBUTION_LAST_CPU;
	if (set->counters.target.kind == PS__TARGET_CPU)
		return PS_ATTRIBUTION_ATTACHED;
	if (set->attribution.method->is_exact)
		return PS_ATTRIBUTION_EXACT;
	if (set->attribution.method->split == PS__SPLIT_TIMES)
		return label_of_time_share(set, why);
	if (set->attribution.switches.fd < 0)
		return PS_ATTRIBUTION_LAST_CPU;
	return set->attribution.only_cpu >= 0 && !set->attribution.has_left ? PS_ATTRIBUTION_PINNED
	                                                                    : PS_ATTRIBUTION_MIXED;
}

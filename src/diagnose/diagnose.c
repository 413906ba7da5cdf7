/* SPDX-License-Identifier: BSD-3-Clause */
/* ps_diagnose: runs one step after the other, and shows the finding of each. */
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "diagnose/diagnosis.h"

#include <perfsage/eventset.h>
#include <string.h>

/* Each step comes after the steps whose results it uses. */
static const struct {
	const char *name;
	ps__step *take;
} steps[] = {
    {"kernel", ps__diagnose_kernel},
    {"seccomp", ps__diagnose_seccomp},
    {"container", ps__diagnose_container},
    {"permission", ps__diagnose_permission},
    {"pmu", ps__diagnose_pmu},
    {"hybrid", ps__diagnose_hybrid},
    {"counters", ps__diagnose_counters},
    {"nmi-watchdog", ps__diagnose_watchdog},
    {"user-reads", ps__diagnose_user_reads},
    {"descriptors", ps__diagnose_descriptors},
    {"rings", ps__diagnose_rings},
    {"cpus", ps__diagnose_cpus},
    {"tree", ps__diagnose_tree},
    {"cgroup", ps__diagnose_cgroup},
    {"bpf", ps__diagnose_bpf},
    {"tracepoints", ps__diagnose_tracepoints},
    {"papi", ps__diagnose_papi},
    {"libpfm4", ps__diagnose_pfm},
};

const char *ps_finding_state_name(enum ps_finding_state state)
{
	static const char *const names[] = {"good", "limited", "blocked", "absent"};

	return (unsigned)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

const char *ps_remedy_by_name(enum ps_remedy_by by)
{
	static const char *const names[] = {"nobody", "you", "administrator", "container owner",
	                                    "host owner"};

	return (unsigned)by < sizeof names / sizeof *names ? names[by] : "nobody";
}

static void diagnose_begin(struct ps__diagnosis *d, const char *name)
{
	struct ps__draft *draft = &d->draft;

	draft->finding = (struct ps_finding){.name = name,
	                                     .subject = "",
	                                     .fact = draft->fact,
	                                     .remedy = draft->remedy,
	                                     .gain = draft->gain,
	                                     .lasting = draft->lasting};
	draft->fact[0] = '\0';
	draft->remedy[0] = '\0';
	draft->gain[0] = '\0';
	draft->lasting[0] = '\0';
}

static int diagnose_show(struct ps__diagnosis *d)
{
	return d->visit(&d->draft.finding, d->context);
}

static int diagnose_show_events(struct ps__diagnosis *d)
{
	for (size_t i = 0; i < d->event_count; i++) {
		diagnose_begin(d, "event");
		ps__diagnose_event(d, d->events[i]);
		if (d->draft.finding.code == PS_ENOMEM)
			return PS_ENOMEM;
		int stop = diagnose_show(d);
		if (stop)
			return stop;
	}
	diagnose_begin(d, "together");
	ps__diagnose_together(d);
	return d->draft.finding.code == PS_ENOMEM ? PS_ENOMEM : diagnose_show(d);
}

/* Reports that none of the default events can be counted. The last failure's detail sentence says
 * why. */
static int diagnose_show_no_defaults(struct ps__diagnosis *d, int code)
{
	diagnose_begin(d, "event");
	ps__diagnosis_fail(d, code);
	d->draft.finding.code = code;
	d->draft.finding.subject = "default events";
	ps__draft_fact(d, PS_FINDING_BLOCKED, "Not one of them can be counted: %s",
	               ps_error_detail());
	return diagnose_show(d);
}

static int diagnose_take_steps(struct ps__diagnosis *d)
{
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		diagnose_begin(d, steps[i].name);
		steps[i].take(d);
		int stop = diagnose_show(d);
		if (stop)
			return stop;
	}
	return 0;
}

/* Returns 0, or PS_ENOMEM, or the non-zero result of visit, both of which end the diagnosis
 * early. */
static int diagnose_run(struct ps__diagnosis *d)
{
	int no_defaults = d->event_count ? PS_OK : ps__diagnose_defaults(d);

	if (no_defaults == PS_ENOMEM)
		return no_defaults;
	d->paranoid_error = -ps__os_read_long(PS__PARANOID_FILE, &d->paranoid);
	ps__proc_status_read(d->status);
	int stop = diagnose_take_steps(d);
	if (stop)
		return stop;
	if (no_defaults == PS_OK)
		return diagnose_show_events(d);
	/* The steps may have changed the detail sentence. This call sets it again. */
	no_defaults = ps__diagnose_defaults(d);
	return no_defaults == PS_OK ? diagnose_show_events(d)
	                            : diagnose_show_no_defaults(d, no_defaults);
}

static int diagnose_check(const struct ps_diagnose_options *options)
{
	if (options->size != sizeof *options)
		return ps__fail(
		    PS_EINVAL, "ps_diagnose: the options' size is %zu bytes, this library's is %zu",
		    options->size, sizeof *options);
	if (options->event_count && !options->events)
		return ps__fail(PS_EINVAL, "ps_diagnose: events is NULL, but event_count is %zu",
		                options->event_count);
	for (size_t i = 0; i < options->event_count; i++) {
		if (!options->events[i])
			return ps__fail(PS_EINVAL, "ps_diagnose: the name of event %zu is NULL", i);
	}
	return PS_OK;
}

static void diagnose_destroy(struct ps__diagnosis *d)
{
	if (d->defaults) {
		ps__os_free((void *)(uintptr_t)d->events);
		ps_eventset_destroy(d->defaults);
	}
	ps__os_free(d);
}

int ps_diagnose(const struct ps_diagnose_options *options,
                int (*visit)(const struct ps_finding *finding, void *context), void *context)
{
	if (!visit)
		return ps__fail(PS_EINVAL, "ps_diagnose: visit is NULL");
	int result = options ? diagnose_check(options) : PS_OK;
	if (result != PS_OK)
		return result;
	struct ps__diagnosis *d = ps__os_calloc(1, sizeof *d);
	if (!d)
		return ps__fail_memory("the diagnosis");
	d->visit = visit;
	d->context = context;
	d->asks_papi = options && options->asks_papi;
	if (options && options->event_count) {
		d->events = options->events;
		d->event_count = options->event_count;
	}
	result = diagnose_run(d);
	if (result == 0 && d->failed.code != PS_OK)
		result = ps__fail(d->failed.code, "%s", d->failed.sentence);
	diagnose_destroy(d);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PAPI backend's vtable. PAPI counts from 0 at each PAPI_start; here the counts of all starts are added up, so that
 * the totals only rise, as the set wants them. The user may start, stop and reset the PAPI set as well: what was counted
 * until then is kept, and a count that fell is flagged.
 */
#include "backend/papi_calls.h"
#include "backend/papi_set.h"
#include "base/error.h"
#include "base/os.h"

struct papi_backend {
	struct ps__backend base;
	struct ps__papi *papi;
	long long *values; /* for one PAPI_read; after PAPI_stop the final ones */
	long long *last;   /* of each event, as PAPI told it at the last read since PAPI_start */
	uint64_t *before;  /* its total until PAPI_start: modulo 2^64, as a baseline may be subtracted */
	bool has_final;    /* PAPI_stop has filled values */
};

static struct papi_backend *self_of(struct ps__backend *backend)
{
	return (struct papi_backend *)backend;
}

static int papi_open(struct ps__backend *backend, struct ps__event *events, size_t count, struct ps__target target)
{
	struct papi_backend *self = self_of(backend);

	(void)events;
	(void)target;
	self->values = ps__os_calloc(count, sizeof *self->values);
	self->last = ps__os_calloc(count, sizeof *self->last);
	self->before = ps__os_calloc(count, sizeof *self->before);
	backend->group_of = ps__os_calloc(count, sizeof *backend->group_of);
	backend->is_hardware = ps__os_calloc(1, sizeof *backend->is_hardware);
	if (!self->values || !self->last || !self->before || !backend->group_of || !backend->is_hardware)
		return ps__fail_memory("a PAPI event set");
	/* One group, of which PAPI tells no times. */
	backend->lanes = 1;
	backend->groups = 1;
	return PS_OK;
}

static __attribute__((cold)) int explain_count(const struct ps__papi *papi, int count)
{
	if (count < 0)
		return ps__papi_fail(papi->id, "PAPI_num_events", count);
	return ps__fail(
	    PS_ECNFLCT,
	    "PAPI event set %d has %d events by now, and had %zu when it was started: call ps_stop, and ps_start "
	    "again, which takes them over",
	    papi->id, count, papi->count);
}

/* PAPI would crash if it isn't initialised, and writes as many values as the set has events: both are looked at first. */
static inline int check_set(const struct ps__papi *papi)
{
	if (__builtin_expect(!ps__papi_calls.is_initialized(), 0))
		return ps__papi_check_library();
	int count = ps__papi_calls.num_events(papi->id);
	return __builtin_expect(count == (int)papi->count, 1) ? PS_OK : explain_count(papi, count);
}

/* A number that was given to another set: its counts are nobody's here. */
static int check_identity(const struct ps__papi *papi)
{
	bool changed = false;
	int result = ps__papi_compare(papi, &changed);

	if (result != PS_OK || !changed)
		return result;
	return ps__fail(
	    PS_ENOEVST,
	    "PAPI event set %d is another one by now: it was destroyed, and PAPI has given its number again; "
	    "wrap the new one with ps_eventset_from_papi",
	    papi->id);
}

/* A value is smaller than it was: reset, or an estimate that was corrected. */
static __attribute__((cold)) int look_at_fall(struct papi_backend *self, size_t event, uint64_t value)
{
	enum ps__papi_course course = self->papi->course[event];

	if (course == PS__PAPI_FREE)
		return PS_OK;
	if (course == PS__PAPI_ESTIMATE && value > (uint64_t)self->last[event] / 2)
		return PS_OK;
	int result = check_identity(self->papi);
	if (result != PS_OK)
		return result;
	self->before[event] += (uint64_t)self->last[event];
	self->base.went_back = true;
	return PS_OK;
}

static int papi_read(struct ps__backend *backend, size_t lane, uint64_t *totals)
{
	struct papi_backend *self = self_of(backend);
	const struct ps__papi *papi = self->papi;

	(void)lane;
	if (__builtin_expect(!self->has_final, 1)) {
		int result = check_set(papi);
		if (__builtin_expect(result != PS_OK, 0))
			return result;
		int code = ps__papi_calls.read(papi->id, self->values);
		if (__builtin_expect(code < 0, 0))
			return ps__papi_fail(papi->id, "PAPI_read", code);
	}
	for (size_t event = 0; event < papi->count; event++) {
		uint64_t value = (uint64_t)self->values[event], last = (uint64_t)self->last[event];
		if (__builtin_expect((int64_t)(value - last) < 0, 0)) {
			int result = look_at_fall(self, event, value);
			if (result != PS_OK)
				return result;
		}
		self->last[event] = self->values[event];
		totals[2 + event] = self->before[event] + value;
	}
	return PS_OK;
}

/* As that while nothing falls: what the last values were and what the new ones are then change places. */
static int papi_read_direct(struct ps__backend *backend, size_t lane, uint64_t *totals)
{
	struct papi_backend *self = self_of(backend);
	const struct ps__papi *papi = self->papi;
	long long *values = self->values, *last = self->last;
	uint64_t backwards = 0;

	(void)lane;
	int result = self->has_final ? PS__NOT_DIRECT : check_set(papi);
	if (__builtin_expect(result != PS_OK, 0))
		return result;
	int code = ps__papi_calls.read(papi->id, values);
	if (__builtin_expect(code < 0, 0))
		return ps__papi_fail(papi->id, "PAPI_read", code);
	for (size_t event = 0; event < papi->count; event++) {
		backwards |= (uint64_t)values[event] - (uint64_t)last[event];
		totals[2 + event] = self->before[event] + (uint64_t)values[event];
	}
	if (__builtin_expect((int64_t)backwards < 0, 0))
		return PS__NOT_DIRECT;
	self->values = last;
	self->last = values;
	return PS_OK;
}

/* PAPI runs it already. Its counts since PAPI_start are new, or were there before. */
static int take_over(struct papi_backend *self)
{
	const struct ps__papi *papi = self->papi;

	for (size_t event = 0; event < papi->count; event++)
		self->values[event] = 0;
	if (!papi->keeps_count) {
		int code = ps__papi_calls.read(papi->id, self->values);
		if (code < 0)
			return ps__papi_fail(papi->id, "PAPI_read", code);
	}
	for (size_t event = 0; event < papi->count; event++) {
		self->before[event] += (uint64_t)self->last[event] - (uint64_t)self->values[event];
		self->last[event] = self->values[event];
	}
	self->has_final = false;
	return PS_OK;
}

/* Nothing but a look at the code follows what starts the counters. */
static int start_anew(struct papi_backend *self)
{
	const struct ps__papi *papi = self->papi;

	for (size_t event = 0; event < papi->count; event++) {
		self->values[event] = self->last[event];
		self->before[event] += (uint64_t)self->last[event];
		self->last[event] = 0;
	}
	bool had_final = self->has_final;
	self->has_final = false;
	int code = ps__papi_calls.start(papi->id);
	if (__builtin_expect(code >= 0, 1))
		return PS_OK;
	for (size_t event = 0; event < papi->count; event++) {
		self->last[event] = self->values[event];
		self->before[event] -= (uint64_t)self->last[event];
	}
	self->has_final = had_final;
	return ps__papi_fail(papi->id, "PAPI_start", code);
}

static int papi_start(struct ps__backend *backend)
{
	struct papi_backend *self = self_of(backend);
	bool is_counting = false;
	int result = check_set(self->papi);

	if (result == PS_OK)
		result = ps__papi_is_counting(self->papi, &is_counting);
	if (result != PS_OK)
		return result;
	return is_counting ? take_over(self) : start_anew(self);
}

static int papi_stop(struct ps__backend *backend)
{
	struct papi_backend *self = self_of(backend);
	int id = self->papi->id;
	int result = check_set(self->papi);

	if (result != PS_OK)
		return result;
	int code = ps__papi_calls.stop(id, self->values);
	/* The user has stopped it: PAPI has kept the final counts. */
	if (code == PS_ENOTRUN)
		code = ps__papi_calls.read(id, self->values);
	if (code < 0)
		return ps__papi_fail(id, "PAPI_stop", code);
	self->has_final = true;
	return PS_OK;
}

/* Nothing of PAPI's is released: the event set is the user's. */
static void papi_close(struct ps__backend *backend, bool abandon)
{
	struct papi_backend *self = self_of(backend);

	(void)abandon;
	ps__os_free(self->values);
	ps__os_free(self->last);
	ps__os_free(self->before);
	ps__os_free(backend->group_of);
	ps__os_free(backend->is_hardware);
	ps__os_free(self);
}

static const struct ps__backend_ops papi_ops = {
    .open = papi_open,
    .start = papi_start,
    .read = papi_read,
    .read_direct = papi_read_direct,
    .stop = papi_stop,
    .close = papi_close,
};

struct ps__backend *ps__papi_create(struct ps__papi *papi)
{
	struct papi_backend *self = ps__os_calloc(1, sizeof *self);

	if (!self)
		return NULL;
	self->base.ops = &papi_ops;
	self->base.may_fall = true;
	self->papi = papi;
	return &self->base;
}

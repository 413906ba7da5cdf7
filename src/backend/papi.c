/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PAPI backend's vtable. Totals are PAPI's own values, which begin at 0 at each PAPI_start. So
 * the set's totals also begin anew at each start. The user may also reset the PAPI set: then the
 * count until the reset is kept in `before` and added from then on, and went_back is set.
 */
#include "backend/papi_calls.h"
#include "backend/papi_set.h"
#include "base/error.h"
#include "base/hot.h"
#include "base/os.h"
#include "store/recording.h"

#include <stdio.h>
#include <string.h>

struct papi_backend {
	struct ps__backend base;
	struct ps__papi *papi;
	long long *values; /* result of one PAPI_read; after PAPI_stop the final values */
	uint64_t *before;  /* by event: what was counted before resets since the start */
	bool has_before;   /* some of `before` aren't 0 */
	bool has_final;    /* PAPI_stop has filled values */
};

static struct papi_backend *papi_self_of(struct ps__backend *backend)
{
	return (struct papi_backend *)backend;
}

static int papi_open(struct ps__backend *backend, struct ps__event *events, size_t count,
                     struct ps__target target)
{
	struct papi_backend *self = papi_self_of(backend);

	(void)target;
	self->values = ps__os_calloc_apart(count, sizeof *self->values);
	self->before = ps__os_calloc_apart(count, sizeof *self->before);
	backend->origin = ps__os_calloc(2 + count, sizeof *backend->origin);
	backend->group_of = ps__os_calloc(count, sizeof *backend->group_of);
	backend->is_hardware = ps__os_calloc(1, sizeof *backend->is_hardware);
	if (!self->values || !self->before || !backend->origin || !backend->group_of ||
	    !backend->is_hardware)
		return ps__fail_memory("a PAPI event set");
	backend->read_path = PS_READ_PATH_PAPI;
	snprintf(backend->why_path, sizeof backend->why_path,
	         "the set is PAPI's: PAPI_read chooses how it reads");
	backend->spare = self->papi->most_events;
	/* One group. PAPI tells no times for it. */
	for (size_t event = 0; event < count; event++)
		backend->group_of[event] = events[event].unsupported ? PS__NO_GROUP : 0;
	backend->instances = 1;
	backend->groups = 1;
	return PS_OK;
}

static __attribute__((cold)) int explain_count(const struct ps__papi *papi, int count)
{
	if (count < 0)
		return ps__papi_fail(papi->id, "PAPI_num_events", count);
	return ps__fail(PS_ECNFLCT,
	                "PAPI event set %d has %d events by now, and had %zu when it was started: "
	                "call ps_stop, and ps_start again, which takes them over",
	                papi->id, count, papi->count);
}

/* Checks that PAPI is initialised, because it would crash otherwise; and that the set has as many
 * events as before, because PAPI writes a value for each. */
static inline int papi_check_set(const struct ps__papi *papi)
{
	if (__builtin_expect(!ps__papi_calls.is_initialized(), 0))
		return ps__papi_check_library();
	int count = ps__papi_calls.num_events(papi->id);
	return __builtin_expect(count == (int)papi->count, 1) ? PS_OK : explain_count(papi, count);
}

/* Refuses a PAPI set that has a destroyed one's number: its counts don't belong to this set. */
static int papi_check_identity(const struct ps__papi *papi)
{
	bool changed = false;
	int result = ps__papi_compare(papi, &changed);

	if (result != PS_OK || !changed)
		return result;
	return ps__fail(PS_ENOEVST,
	                "PAPI event set %d is another one by now: it was destroyed, and PAPI has "
	                "given its number again; wrap the new one with ps_eventset_from_papi",
	                papi->id);
}

/* Handles a total that is smaller than before: a reset, or an estimate that was corrected. last:
 * what this run had counted at the last read. */
static __attribute__((cold)) int look_at_fall(struct papi_backend *self, size_t event,
                                              uint64_t value, uint64_t last)
{
	enum ps__papi_course course = self->papi->course[event];

	if (course == PS__PAPI_FREE || (course == PS__PAPI_ESTIMATE && value > last / 2))
		return PS_OK;
	int result = papi_check_identity(self->papi);
	if (result != PS_OK)
		return result;
	self->before[event] += last;
	self->has_before = true;
	self->base.went_back = true;
	return PS_OK;
}

/* Reads the totals. `totals` holds those of the last read. */
static int papi_read(struct ps__backend *backend, size_t instance, uint64_t *totals)
{
	struct papi_backend *self = papi_self_of(backend);
	const struct ps__papi *papi = self->papi;
	int result = PS_OK;

	(void)instance;
	if (!self->has_final) {
		result = papi_check_set(papi);
		int code = result == PS_OK ? ps__papi_calls.read(papi->id, self->values) : PS_OK;
		if (code < 0)
			result = ps__papi_fail(papi->id, "PAPI_read", code);
	}
	for (size_t event = 0; result == PS_OK && event < papi->count; event++) {
		uint64_t value = (uint64_t)self->values[event],
			 last = totals[2 + event] - self->before[event];
		if ((int64_t)(value - last) < 0)
			result = look_at_fall(self, event, value, last);
		if (result == PS_OK)
			totals[2 + event] = self->before[event] + value;
	}
	return result;
}

/* A value that is no count. It shows which values PAPI has not written. */
#define UNWRITTEN UINT64_C(0xb5c0fbcfec4d3b2f)

/*
 * PAPI writes to the totals directly. The set notices a total that fell, and then calls read. After
 * the totals there is room for as many events as a PAPI set can have. So PAPI needn't be asked for
 * their number before each read: the values that it has written show it.
 */
static PS__HOT int papi_read_direct(struct ps__backend *backend, size_t instance, uint64_t *totals)
{
	const struct papi_backend *self = papi_self_of(backend);
	const struct ps__papi *papi = self->papi;
	uint64_t *end = totals + 2 + papi->count;

	(void)instance;
	if (__builtin_expect(self->has_final || self->has_before || !backend->spare, 0))
		return PS__NOT_DIRECT;
	if (__builtin_expect(!ps__papi_calls.is_initialized(), 0))
		return PS__NOT_DIRECT;
	end[-1] = UNWRITTEN;
	end[0] = UNWRITTEN;
	int code = ps__papi_calls.read(papi->id, (long long *)(totals + 2));
	bool is_as_it_was = end[0] == UNWRITTEN && end[-1] != UNWRITTEN;
	end[0] = 0;
	if (__builtin_expect(code < 0, 0))
		return ps__papi_fail(papi->id, "PAPI_read", code);
	return __builtin_expect(is_as_it_was, 1) ? PS_OK : PS__NOT_DIRECT;
}

/* Takes over a set that PAPI runs already. With keeps_count, its counts since PAPI_start are new
 * counts. Otherwise they become the baseline. */
static int papi_take_over(struct papi_backend *self)
{
	struct ps__papi *papi = self->papi;

	if (papi->keeps_count)
		return PS_OK;
	int code = ps__papi_calls.read(papi->id, self->values);
	if (code < 0)
		return ps__papi_fail(papi->id, "PAPI_read", code);
	for (size_t event = 0; event < papi->count; event++)
		self->base.origin[2 + event] = (uint64_t)self->values[event];
	papi->has_baseline = true;
	return PS_OK;
}

/* Calls PAPI_start. After it only the code is checked, because anything else would be counted. */
static int papi_start_anew(const struct papi_backend *self)
{
	int code = ps__papi_calls.start(self->papi->id);

	return __builtin_expect(code >= 0, 1) ? PS_OK
	                                      : ps__papi_fail(self->papi->id, "PAPI_start", code);
}

void ps__papi_rewind(struct ps__backend *backend)
{
	struct papi_backend *self = papi_self_of(backend);
	size_t count = self->papi->count;

	memset(self->values, 0, count * sizeof *self->values);
	memset(self->before, 0, count * sizeof *self->before);
	memset(self->base.origin, 0, (2 + count) * sizeof *self->base.origin);
	self->has_before = false;
	self->has_final = true;
	self->papi->has_baseline = false;
}

static int papi_start(struct ps__backend *backend)
{
	struct papi_backend *self = papi_self_of(backend);
	bool is_counting = false;
	int result = papi_check_set(self->papi);

	if (result == PS_OK)
		result = ps__papi_is_counting(self->papi, &is_counting);
	if (result != PS_OK)
		return result;
	self->has_final = false;
	result = is_counting ? papi_take_over(self) : papi_start_anew(self);
	if (__builtin_expect(result == PS_OK, 1))
		return PS_OK;
	self->has_final = true;
	return result;
}

static int papi_stop(struct ps__backend *backend)
{
	struct papi_backend *self = papi_self_of(backend);
	int id = self->papi->id;
	int result = papi_check_set(self->papi);

	if (result != PS_OK)
		return result;
	int code = ps__papi_calls.stop(id, self->values);
	/* The user has stopped it already. PAPI has kept the final counts. */
	if (code == PS_ENOTRUN)
		code = ps__papi_calls.read(id, self->values);
	if (code < 0)
		return ps__papi_fail(id, "PAPI_stop", code);
	self->has_final = true;
	return PS_OK;
}

/* Releases nothing of PAPI's: the event set belongs to the user. */
static void papi_close(struct ps__backend *backend, bool abandon)
{
	struct papi_backend *self = papi_self_of(backend);

	(void)abandon;
	ps__os_free_apart(self->values);
	ps__os_free_apart(self->before);
	ps__os_free(backend->origin);
	ps__os_free(backend->group_of);
	ps__os_free(backend->is_hardware);
	ps__os_free_apart(self);
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
	struct papi_backend *self = ps__os_calloc_apart(1, sizeof *self);

	if (!self)
		return NULL;
	self->base.ops = &papi_ops;
	self->base.may_fall = true;
	self->papi = papi;
	return &self->base;
}

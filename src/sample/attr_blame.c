/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the field because of which the kernel refuses an attr: perf_event_open doesn't tell it. The
 * search puts one field after the other back to its value in attr->made. If the kernel still
 * refuses the attr, that field is not the reason, and stays put back. If the kernel takes the attr
 * now, that field is blamed, and is set again.
 *
 * A field that needs another field is put back before that one. Otherwise the needed field would be
 * missing, and the first field would be blamed for that. Most fields come after the fields that
 * they need (inherit_thread needs inherit, sigtrap needs remove_on_exec), so the search goes
 * backwards. Only sample_type comes before the fields that it needs, so it is put back first.
 */
#include "sample/attr.h"

#include "backend/perf.h"
#include "base/os.h"
#include "event/event.h"

#include <errno.h>

/* The state of a search. The kernel refuses `words`, and `error` is the errno. */
struct search {
	const struct ps__event *event;
	union ps__attr words;
	int error;
	struct ps__blame blame;
	/* An errno that says nothing about the words and ends the search; 0: none */
	int shortage;
};

struct ps__target ps__attr_target(const struct ps__event *event)
{
	if (event->klass == PS__EVENT_CLASS_OTHER)
		return (struct ps__target){.kind = PS__TARGET_CPU, .cpu = ps__os_getcpu()};
	return (struct ps__target){.kind = PS__TARGET_SELF, .cpu = -1};
}

static struct ps__place blame_place(const struct ps__event *event)
{
	struct ps__target target = ps__attr_target(event);
	pid_t pid = target.kind == PS__TARGET_CPU ? -1 : 0;
	struct ps__place place = {.pid = pid, .cpu = target.cpu};

	if (event->variant_count)
		place.pmu_type = event->variants[0].pmu_type;
	return place;
}

static int open_and_close(struct ps__event *event, struct ps__place place)
{
	int fd = ps__perf_open_settled(event, place, -1);

	if (fd < 0)
		return -fd;
	ps__os.close(fd);
	return 0;
}

int ps__attr_try_event(const struct ps__event *event)
{
	struct ps__event tried = *event;

	return open_and_close(&tried, blame_place(event));
}

int ps__attr_try(const struct ps__event *event, union ps__attr *words)
{
	struct ps__event tried = *event;
	struct ps__place place = blame_place(event);

	place.as_asked = true;
	ps__attr_store(&tried, words);
	tried.attr.disabled = 1;
	int error = open_and_close(&tried, place);
	if (error)
		return error;
	words->attr.exclude_kernel = tried.attr.exclude_kernel;
	words->attr.exclude_hv = tried.attr.exclude_hv;
	return 0;
}

/* Tries the words with one field changed. */
static void blame_consider(struct search *search, enum ps_attr_field field, int bit, uint64_t value)
{
	union ps__attr words = search->words;

	if (search->shortage)
		return;
	ps__attr_field_write(&words, field, value);
	union ps__attr still = words;
	int error = ps__attr_try(search->event, &still);
	if (ps__event_is_shortage(error)) {
		search->shortage = error;
	} else if (error) {
		search->words = words;
		search->error = error;
	} else if (!search->blame.is_found) {
		search->blame.is_found = true;
		search->blame.error = search->error;
		search->blame.field = field;
		search->blame.bit = bit;
	} else if (!search->blame.has_other && search->blame.field != field) {
		search->blame.has_other = true;
		search->blame.other = field;
	}
}

/* True if the search skips a field, mostly because another field of the same word is checked. */
static bool is_alias(const union ps__attr *words, enum ps_attr_field field)
{
	bool is_breakpoint = words->attr.type == PERF_TYPE_BREAKPOINT;

	switch (field) {
	case PS_ATTR_SIZE:
	case PS_ATTR_DISABLED:
	case PS_ATTR_KPROBE_FUNC:
	case PS_ATTR_UPROBE_PATH:
	case PS_ATTR_KPROBE_ADDR:
	case PS_ATTR_PROBE_OFFSET:
		return true;
	case PS_ATTR_FREQ:
		return words->attr.sample_freq != 0;
	case PS_ATTR_WATERMARK:
		return words->attr.wakeup_watermark != 0;
	case PS_ATTR_AUX_ACTION: /* each of its three bits is a field */
		return ps__attr_field_read(words, field) < 8;
	case PS_ATTR_BP_ADDR:
	case PS_ATTR_BP_LEN:
		return !is_breakpoint;
	case PS_ATTR_CONFIG1:
	case PS_ATTR_CONFIG2:
		return is_breakpoint;
	default:
		return ps__attr_is_other_meaning(words, field);
	}
}

static void blame_consider_bits(struct search *search, enum ps_attr_field field, uint64_t bits)
{
	for (int bit = 63; bit >= 0; bit--) {
		if (!(bits >> bit & 1))
			continue;
		uint64_t value = ps__attr_field_read(&search->words, field);
		blame_consider(search, field, bit, value & ~(UINT64_C(1) << bit));
	}
}

static void blame_consider_field(struct search *search, const union ps__attr *made,
                                 enum ps_attr_field field)
{
	uint64_t value = ps__attr_field_read(&search->words, field);
	uint64_t before = ps__attr_field_read(made, field);

	if (value == before || is_alias(&search->words, field))
		return;
	if (ps__attr_is_mask(field))
		blame_consider_bits(search, field, value & ~before);
	else
		blame_consider(search, field, -1, before);
}

int ps__attr_find_blame(const struct ps_attr *attr, const union ps__attr *words, int error,
                        struct ps__blame *out)
{
	struct search search = {
	    .event = &attr->event, .words = *words, .error = error, .blame = {.bit = -1}};

	/* The user has not set exclude_kernel, and must set it. */
	if (error == EACCES && !words->attr.exclude_kernel && !attr->event.kernel_side)
		blame_consider(&search, PS_ATTR_EXCLUDE_KERNEL, -1, 1);
	/* The kernel checks the field only if a call chain is asked for, too. */
	if (error == EOVERFLOW)
		blame_consider_field(&search, &attr->made, PS_ATTR_SAMPLE_MAX_STACK);
	blame_consider_field(&search, &attr->made, PS_ATTR_SAMPLE_TYPE);
	for (int field = PS__ATTR_FIELDS - 1; field >= 0; field--) {
		if (field != PS_ATTR_SAMPLE_TYPE)
			blame_consider_field(&search, &attr->made, (enum ps_attr_field)field);
	}
	if (!search.blame.is_found)
		search.blame.error = search.error;
	if (!search.shortage)
		*out = search.blame;
	return search.shortage;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an attr from a name, sets and reads its fields. attr_field.c knows where the fields are,
 * attr_check.c whether the kernel takes them. */
#include "sample/attr.h"

#include "base/error.h"
#include "base/os.h"

#include <limits.h>

int ps_attr_create(struct ps_attr **out, const char *event)
{
	if (!out)
		return ps__fail(PS_EINVAL, "ps_attr_create: out is NULL");
	struct ps_attr *attr = ps__os_calloc(1, sizeof *attr);
	if (!attr)
		return ps__fail_memory("an attr");
	int result = ps__event_parse(&attr->event, event);
	if (result != PS_OK) {
		ps__os_free(attr);
		return result;
	}
	attr->event.attr.disabled = 1;
	attr->made = ps__attr_of(&attr->event);
	*out = attr;
	return PS_OK;
}

int ps_attr_clone(struct ps_attr **out, const struct ps_attr *model)
{
	if (!out || !model)
		return ps__fail(PS_EINVAL, "ps_attr_clone: %s is NULL", out ? "model" : "out");
	struct ps_attr *attr = ps__os_calloc(1, sizeof *attr);
	if (!attr)
		return ps__fail_memory("an attr");
	int result = ps__event_copy(&attr->event, &model->event);
	if (result != PS_OK) {
		ps__os_free(attr);
		return result;
	}
	attr->made = model->made;
	/* config1 is the address of a string; each copy has a string of its own. */
	if (model->event.probe && model->made.attr.config1 == model->event.attr.config1)
		attr->made.attr.config1 = attr->event.attr.config1;
	*out = attr;
	return PS_OK;
}

void ps_attr_destroy(struct ps_attr *attr)
{
	if (!attr)
		return;
	ps__event_clear(&attr->event);
	ps__os_free(attr);
}

static int attr_fail_field(const char *call, enum ps_attr_field field)
{
	return ps__fail(PS_EATTR, "%s: there is no field %d: the last one is PS_ATTR_CONFIG4, %d",
	                call, (int)field, (int)PS_ATTR_CONFIG4);
}

static int check_range(const struct ps_attr *attr, enum ps_attr_field field, uint64_t value)
{
	const char *name = ps_attr_field_name(field), *event = attr->event.name;
	uint64_t largest = ps__attr_field_largest(field);

	if (field == PS_ATTR_SIZE)
		return ps__fail(PS_EATTR,
		                "'%s': size is not to be set: the library tells the kernel the "
		                "size that the other fields need",
		                event);
	if (field == PS_ATTR_CLOCKID) {
		if (value <= INT32_MAX || value >= (uint64_t)INT32_MIN)
			return PS_OK;
		return ps__fail(PS_EATTR, "'%s': clockid: %lld is out of its range, %d to %d",
		                event, (long long)value, INT32_MIN, INT32_MAX);
	}
	if (value > largest)
		return ps__fail(PS_EATTR, "'%s': %s: %llu is out of its range, 0 to %llu", event,
		                name, (unsigned long long)value, (unsigned long long)largest);
	if (field == PS_ATTR_SAMPLE_STACK_USER && value % 8 != 0)
		return ps__fail(PS_EATTR,
		                "'%s': sample_stack_user: %llu is out of its range, the multiples "
		                "of 8 from 0 to %llu",
		                event, (unsigned long long)value, (unsigned long long)largest);
	return PS_OK;
}

static bool is_encoding(enum ps_attr_field field)
{
	return field == PS_ATTR_TYPE || field == PS_ATTR_CONFIG ||
	       (field >= PS_ATTR_BP_TYPE && field <= PS_ATTR_CONFIG2) || field == PS_ATTR_CONFIG3 ||
	       field == PS_ATTR_CONFIG4;
}

static bool is_domain(enum ps_attr_field field)
{
	return field == PS_ATTR_EXCLUDE_USER || field == PS_ATTR_EXCLUDE_KERNEL ||
	       field == PS_ATTR_EXCLUDE_HV;
}

/* Sets the flag that tells which of two meanings a word has. */
static void choose_meaning(struct perf_event_attr *attr, enum ps_attr_field field)
{
	if (field == PS_ATTR_SAMPLE_PERIOD || field == PS_ATTR_SAMPLE_FREQ)
		attr->freq = field == PS_ATTR_SAMPLE_FREQ;
	if (field == PS_ATTR_WAKEUP_EVENTS || field == PS_ATTR_WAKEUP_WATERMARK)
		attr->watermark = field == PS_ATTR_WAKEUP_WATERMARK;
}

bool ps__attr_is_other_meaning(const union ps__attr *words, enum ps_attr_field field)
{
	const struct perf_event_attr *attr = &words->attr;

	return (field == PS_ATTR_SAMPLE_PERIOD && attr->freq) ||
	       (field == PS_ATTR_SAMPLE_FREQ && !attr->freq) ||
	       (field == PS_ATTR_WAKEUP_EVENTS && attr->watermark) ||
	       (field == PS_ATTR_WAKEUP_WATERMARK && !attr->watermark);
}

static int change_encoding(struct ps_attr *attr, const union ps__attr *words)
{
	struct ps__event changed = attr->event;
	bool has_probe = attr->event.probe != NULL;

	ps__attr_store(&changed, words);
	int result =
	    changed.attr.type == attr->event.attr.type ? PS_OK : ps__event_retype(&changed);
	if (result != PS_OK)
		return result;
	ps__event_recode(&changed);
	attr->event = changed;
	/* made.attr.config1 was the address of a string that is freed now. */
	if (has_probe && !changed.probe)
		attr->made.attr.config1 = 0;
	return PS_OK;
}

static int change_request(struct ps_attr *attr, enum ps_attr_field field,
                          const union ps__attr *words)
{
	ps__attr_store(&attr->event, words);
	if (is_domain(field))
		attr->event.explicit_domain = true;
	return PS_OK;
}

int ps_attr_set(struct ps_attr *attr, enum ps_attr_field field, uint64_t value)
{
	if (!attr)
		return ps__fail(PS_EINVAL, "ps_attr_set: attr is NULL");
	if (!ps__attr_field(field))
		return attr_fail_field("ps_attr_set", field);
	int result = check_range(attr, field, value);
	if (result != PS_OK)
		return result;
	union ps__attr words = ps__attr_of(&attr->event);
	if (is_encoding(field) && ps__attr_field_read(&words, field) == value)
		return PS_OK;
	/* struct ps__event can't hold fields behind the end of the header's struct, except config3
	 * and config4. */
	if (ps__attr_field(field)->offset >= sizeof words.attr && field < PS_ATTR_CONFIG3)
		return ps__fail(PS_ENOSUPP,
		                "'%s': the library was built with headers of a kernel that is too "
		                "old for %s",
		                attr->event.name, ps_attr_field_name(field));
	ps__attr_field_write(&words, field, value);
	choose_meaning(&words.attr, field);
	return is_encoding(field) ? change_encoding(attr, &words)
	                          : change_request(attr, field, &words);
}

int ps_attr_get(const struct ps_attr *attr, enum ps_attr_field field, uint64_t *out)
{
	if (!attr || !out)
		return ps__fail(PS_EINVAL, "ps_attr_get: %s is NULL", attr ? "out" : "attr");
	if (!ps__attr_field(field))
		return attr_fail_field("ps_attr_get", field);
	union ps__attr words = ps__attr_of(&attr->event);
	uint64_t value = ps__attr_field_read(&words, field);
	if (field == PS_ATTR_CLOCKID)
		value = (uint64_t)(int32_t)value;
	*out = ps__attr_is_other_meaning(&words, field) ? 0 : value;
	return PS_OK;
}

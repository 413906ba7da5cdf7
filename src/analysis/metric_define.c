/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics that the program adds by a formula or from files, and removes. */
#include "analysis/metric_file.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"

#include <string.h>

static int define_check_name(const char *name)
{
	size_t length = ps__metric_name_length(name);

	if (length >= PS__METRIC_NAME_BYTES)
		return ps__fail(
		    PS_EINVAL,
		    "ps_metric_define: the name '%.80s...' is too long: a metric's name "
		    "has at most %d characters",
		    name, PS__METRIC_NAME_BYTES - 1);
	if (length == 0 || name[length])
		return ps__fail(PS_EINVAL,
		                "ps_metric_define: '%.80s' is no name for a metric: letters, "
		                "digits, '_', '-', '.' and '/' are possible",
		                name);
	return PS_OK;
}

static int make_defined(struct ps__metric_file *file, const char *name, const char *formula,
                        const char *unit)
{
	struct ps__metric metric = {.name = ps__arena_strdup(&file->arena, name),
	                            .unit = ps__arena_strdup(&file->arena, unit),
	                            .text = ps__arena_strdup(&file->arena, formula)};
	struct ps__metric_entry *entry;

	metric.description = metric.text;
	if (!metric.name || !metric.unit || !metric.text)
		return ps__fail_memory("a metric");
	return ps__metric_make(file, &metric, NULL, &(struct ps__formula_place){.path = NULL},
	                       &entry);
}

/* Holds the lock from the look-up until the entry is added: no name is defined twice. */
static int add_defined(struct ps__metric_file *file)
{
	const char *name = file->first->metric.name;
	int result = PS_OK;

	ps__lock_take(PS__LOCK_METRICS);
	const struct ps__metric *known = ps__metric_of_name(name);
	if (known)
		result = ps__fail(PS_ECNFLCT, "ps_metric_define: there is a metric '%s' already",
		                  known->name);
	else
		ps__metric_list_file(file);
	ps__lock_release(PS__LOCK_METRICS);
	return result;
}

void ps__metric_add_file(struct ps__metric_file *file)
{
	ps__lock_take(PS__LOCK_METRICS);
	ps__metric_list_file(file);
	ps__lock_release(PS__LOCK_METRICS);
}

int ps_metric_define(const char *name, const char *formula, const char *unit)
{
	if (!name || !formula)
		return ps__fail(PS_EINVAL, "ps_metric_define: the %s is NULL",
		                name ? "formula" : "name");
	int result = define_check_name(name);
	if (result == PS_OK)
		result = ps__metric_load_builtin();
	if (result != PS_OK)
		return result;
	struct ps__metric_file *file = ps__metric_file_create();
	result = file ? make_defined(file, name, formula, unit ? unit : "")
	              : ps__fail_memory("a metric");
	if (result == PS_OK)
		result = add_defined(file);
	if (result != PS_OK)
		ps__metric_file_destroy(file);
	return result;
}

int ps_metric_undefine(const char *name)
{
	struct ps__metric_file *empty;

	if (!name)
		return ps__fail(PS_EINVAL, "ps_metric_undefine: the name is NULL");
	ps__lock_take(PS__LOCK_METRICS);
	bool found = ps__metric_unlist(name, &empty);
	ps__lock_release(PS__LOCK_METRICS);
	if (!found)
		return ps__fail(PS_ENOEVNT, "ps_metric_undefine: no metric '%.80s' was defined",
		                name);
	ps__metric_file_destroy(empty);
	return PS_OK;
}

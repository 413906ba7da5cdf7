/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics that the program defines by a formula. */
#include "analysis/metric.h"
#include "base/error.h"
#include "base/os.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

static void free_defined(struct ps__metric_defined *defined)
{
	if (!defined)
		return;
	ps_formula_destroy(defined->formula.tree);
	for (size_t index = 0; index < sizeof defined->strings / sizeof defined->strings[0];
	     index++)
		ps__os_free(defined->strings[index]);
	ps__os_free(defined);
}

static bool is_event(const char *name)
{
	return name[0] != '#' && name[strlen(name) - 1] != ')';
}

/* The operands are the events among the formula's names. */
static int find_operands(struct ps__metric_defined *defined)
{
	const char *name;

	for (size_t index = 0; (name = ps_formula_name(defined->formula.tree, index)); index++) {
		if (!is_event(name))
			continue;
		if (defined->formula.count == PS__METRIC_MOST_OPERANDS)
			return ps__fail(PS_ECOUNT,
			                "ps_metric_define: the formula of '%s' needs more than %d "
			                "events",
			                defined->strings[0], PS__METRIC_MOST_OPERANDS);
		defined->formula.operands[defined->formula.count++] = name;
	}
	if (defined->formula.count == 0)
		return ps__fail(PS_EINVAL, "ps_metric_define: the formula of '%s' has no event",
		                defined->strings[0]);
	return PS_OK;
}

static int make_defined(struct ps__metric_defined *defined, const char *name, const char *formula,
                        const char *unit)
{
	defined->strings[0] = ps__os_strdup(name);
	defined->strings[1] = ps__os_strdup(unit);
	defined->strings[2] = ps__os_strdup(formula);
	if (!defined->strings[0] || !defined->strings[1] || !defined->strings[2])
		return ps__fail_memory("a metric");
	int result = ps_formula_create(&defined->formula.tree, formula);
	if (result == PS_OK)
		result = find_operands(defined);
	if (result != PS_OK)
		return result;
	defined->metric.name = defined->strings[0];
	defined->metric.unit = defined->strings[1];
	defined->metric.description = defined->strings[2];
	defined->metric.factor = 1;
	defined->metric.formula = &defined->formula;
	return PS_OK;
}

static int check_name(const char *name)
{
	size_t length = 0;

	while (isalnum((unsigned char)name[length]) ||
	       (name[length] && strchr("_-./", name[length])))
		length++;
	if (length == 0 || name[length] || length >= PS__METRIC_NAME_BYTES)
		return ps__fail(PS_EINVAL,
		                "ps_metric_define: '%.80s' is no name for a metric: letters, "
		                "digits, '_', '-', '.' and '/' are possible",
		                name);
	return PS_OK;
}

/* Definitions don't come between the look for the name and the entry. */
static pthread_mutex_t definition_lock = PTHREAD_MUTEX_INITIALIZER;

static int add_defined(struct ps__metric_defined *defined)
{
	int result = PS_OK;

	pthread_mutex_lock(&definition_lock);
	const struct ps__metric *known = ps__metric_of_name(defined->metric.name);
	if (known)
		result = ps__fail(PS_ECNFLCT, "ps_metric_define: there is a metric '%s' already",
		                  known->name);
	else
		ps__metric_list_defined(defined);
	pthread_mutex_unlock(&definition_lock);
	return result;
}

int ps_metric_define(const char *name, const char *formula, const char *unit)
{
	if (!name || !formula)
		return ps__fail(PS_EINVAL, "ps_metric_define: the %s is NULL",
		                name ? "formula" : "name");
	int result = check_name(name);
	if (result != PS_OK)
		return result;
	struct ps__metric_defined *defined = ps__os_calloc(1, sizeof *defined);
	result = defined ? make_defined(defined, name, formula, unit ? unit : "")
	                 : ps__fail_memory("a metric");
	if (result == PS_OK)
		result = add_defined(defined);
	if (result != PS_OK)
		free_defined(defined);
	return result;
}

int ps_metric_undefine(const char *name)
{
	struct ps__metric_defined *found;

	if (!name)
		return ps__fail(PS_EINVAL, "ps_metric_undefine: the name is NULL");
	pthread_mutex_lock(&definition_lock);
	found = ps__metric_unlist_defined(name);
	pthread_mutex_unlock(&definition_lock);
	if (!found)
		return ps__fail(PS_ENOEVNT, "ps_metric_undefine: no metric '%.80s' was defined",
		                name);
	free_defined(found);
	return PS_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The intended placement of a program: its affinity mask, the cpuset, and variables of OpenMP, MPI
 * and batch systems. */
#include "base/error.h"
#include "base/os.h"
#include "tools/place.h"

#include <perfsage/component.h>
#include <perfsage/thread.h>
#include <stdlib.h>
#include <string.h>

/* Only the first three are parsed. The others each belong to one library or batch system, and are
 * shown unchanged: mpirun and srun turn them into the mask of each process. */
static const char *const names[] = {
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "KMP_HW_SUBSET",
    "SLURM_CPU_BIND",
    "SLURM_CPU_BIND_LIST",
    "I_MPI_PIN_DOMAIN",
    "I_MPI_PIN_PROCESSOR_LIST",
    "OMPI_MCA_hwloc_base_binding_policy",
    "PRTE_MCA_hwloc_default_binding_policy",
    "HYDRA_BINDING",
    "MV2_CPU_MAPPING",
    "OMP_NUM_THREADS",
};

_Static_assert(sizeof names / sizeof names[0] <= PLACE_MOST_VARIABLES, "there is room for all");

static int intent_parse(struct place_intent *intent, const struct ps_component *root,
                        const char *name, const char *value)
{
	struct tool_places places = {0};
	enum tool_bind bind;
	int result;

	if (strcmp(name, "OMP_PROC_BIND") == 0)
		return tool_bind_parse(&bind, value);
	bool is_omp = strcmp(name, "OMP_PLACES") == 0;
	if (!is_omp && strcmp(name, "GOMP_CPU_AFFINITY") != 0)
		return PS_OK;
	result = is_omp ? tool_places_parse(&places, value, root, &intent->allowed)
	                : tool_places_parse_gomp(&places, value, &intent->allowed);
	/* The first variable with places wins: OMP_PLACES comes before the others. */
	if (result != PS_OK || intent->places_of) {
		tool_places_clear(&places);
		return result;
	}
	intent->places = places;
	intent->places_of = name;
	return PS_OK;
}

static int intent_add_cpuset(struct place_intent *intent, const struct ps_component *root)
{
	size_t threads = ps_component_thread_count(root);
	int result = PS_OK;

	for (size_t i = 0; result == PS_OK && i < threads; i++)
		result =
		    tool_cpus_add(&intent->cpuset, ps_thread_cpu(ps_component_thread_at(root, i)));
	return result;
}

int place_intent_create(struct place_intent *intent, const struct ps_component *root)
{
	*intent = (struct place_intent){.places_of = NULL};
	int result = intent_add_cpuset(intent, root);
	if (result == PS_OK)
		result = tool_cpus_of_task(&intent->allowed, 0);
	for (size_t i = 0; result == PS_OK && i < sizeof names / sizeof names[0]; i++) {
		const char *value = getenv(names[i]);
		struct place_variable variable = {.name = names[i], .value = value};
		if (!value)
			continue;
		int parsed = intent_parse(intent, root, names[i], value);
		if (parsed != PS_OK && parsed != PS_ENOMEM)
			variable.error = ps__os_strdup(ps_error_detail());
		if (parsed == PS_ENOMEM || (parsed != PS_OK && !variable.error))
			return ps__fail_memory("the variables that place tasks");
		intent->variables[intent->variable_count++] = variable;
	}
	return result;
}

void place_intent_clear(struct place_intent *intent)
{
	for (size_t i = 0; i < intent->variable_count; i++)
		ps__os_free(intent->variables[i].error);
	tool_places_clear(&intent->places);
	tool_cpus_clear(&intent->allowed);
	tool_cpus_clear(&intent->cpuset);
	*intent = (struct place_intent){.places_of = NULL};
}

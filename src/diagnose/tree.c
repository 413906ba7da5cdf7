/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether counts are put on the tree of this machine, or on one that hwloc's environment variables put in its place. */
#include "diagnose/diagnosis.h"
#include "topology/import.h"

#include <perfsage/topology.h>

#define GAIN "counts on the hardware threads where they happened"

static void tell_origin(struct ps__diagnosis *d, const struct ps_topology *topology, const char *variables)
{
	const char *origin = ps_topology_origin(topology);

	if (!origin) {
		ps__draft_fact(d, PS_FINDING_GOOD, "The tree is this machine's, with %s.", variables);
		return;
	}
	ps__draft_fact(
	    d, PS_FINDING_LIMITED,
	    "The tree is not this machine's: %s. What is counted on a CPU that it does not have goes to the "
	    "unknown Thread; all else goes to a component that may not exist.",
	    origin);
	ps__draft_remedy(d, PS_REMEDY_BY_YOU, GAIN,
	                 "unset HWLOC_XMLFILE HWLOC_SYNTHETIC HWLOC_FSROOT HWLOC_CPUID_PATH");
}

void ps__diagnose_tree(struct ps__diagnosis *d)
{
	struct ps_topology *topology;
	char variables[1024];

	if (!ps__import_variables(variables, sizeof variables)) {
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "The tree is this machine's: no variable of hwloc's puts another in its "
		               "place.");
		return;
	}
	int code = ps_topology_load(&topology, NULL);
	if (code < 0) {
		ps__diagnosis_fail(d, code);
		ps__draft_fact(d, PS_FINDING_BLOCKED, "%s.", ps_error_detail());
		ps__draft_remedy(
		    d, PS_REMEDY_BY_YOU, GAIN,
		    "unset HWLOC_XMLFILE HWLOC_SYNTHETIC HWLOC_FSROOT HWLOC_CPUID_PATH HWLOC_COMPONENTS");
		return;
	}
	tell_origin(d, topology, variables);
	ps_topology_destroy(topology);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage topo: the tree of this machine, of a file, or of a description. */
#include "tools/command.h"
#include "tools/options.h"
#include "tools/terminal.h"

#include <perfsage.h>
#include <unistd.h>

enum {
	OPTION_XML = 256,
	OPTION_SYNTHETIC,
	OPTION_WHOLE,
	OPTION_EACH,
	OPTION_JSON
};

static const struct tool_option options_of_topo[] = {
    {OPTION_XML, "xml", "FILE", "the tree of a file that hwloc wrote (lstopo FILE.xml)"},
    {OPTION_SYNTHETIC, "synthetic", "DESC",
     "the tree of hwloc's description, as 'pack:2 l3:2 core:8 pu:2'"},
    {OPTION_WHOLE, "whole", NULL, "of this machine, also the CPUs that the cpuset forbids"},
    {OPTION_EACH, "each", NULL, "a line for each component: nothing is joined or folded"},
    {OPTION_JSON, "json", NULL, "as JSON; ps_export(3) has its fields"},
};

static const struct tool_usage usage = {
    .manual = "perfsage-topo(1)",
    .synopsis = "perfsage topo [--whole | --xml FILE | --synthetic DESC] [--each] [--json]",
    .summary = "Shows the tree of components to which counts are attributed: packages, NUMA nodes, "
	       "caches, cores and\n"
	       "hardware threads.",
    .options = options_of_topo,
    .option_count = sizeof options_of_topo / sizeof options_of_topo[0],
    .examples = "perfsage topo\n"
		"perfsage topo --xml server.xml\n"
		"perfsage topo --synthetic 'pack:2 numa:2 l3:1 core:4 pu:2' --json\n",
};

struct topo {
	const char *xml, *synthetic;
	bool is_whole, is_json, shows_each;
};

static int topo_load(const struct topo *topo, struct ps_topology **out)
{
	struct ps_topology_options options = {
	    .size = sizeof options, .flags = topo->is_whole ? PS_TOPOLOGY_WHOLE_MACHINE : 0};

	if (topo->xml)
		return ps_topology_load_xml(out, topo->xml);
	if (topo->synthetic)
		return ps_topology_load_synthetic(out, topo->synthetic);
	return ps_topology_load(out, &options);
}

static int topo_print(const struct topo *topo, struct ps_component *root)
{
	struct tool_screen screen = tool_screen_of(STDOUT_FILENO);
	struct ps_print_options options = {.size = sizeof options,
	                                   .flags = PS_PRINT_NO_LEGEND |
	                                            (screen.has_utf8 ? PS_PRINT_UTF8 : 0) |
	                                            (screen.has_colour ? PS_PRINT_COLOUR : 0) |
	                                            (topo->shows_each ? PS_PRINT_EACH : 0),
	                                   .width = screen.width};

	return topo->is_json ? ps_export(root, PS_FORMAT_JSON, stdout)
	                     : ps_print_with(root, &options, stdout);
}

static int topo_show(const struct topo *topo)
{
	struct ps_topology *topology;

	if (topo_load(topo, &topology) != PS_OK)
		return tool_complain_detail();
	int code = topo_print(topo, ps_topology_root(topology));
	if (!topo->xml && !topo->synthetic && ps_topology_origin(topology))
		tool_complain("the tree is not this machine's: %s", ps_topology_origin(topology));
	ps_topology_destroy(topology);
	return code == PS_OK ? TOOL_OK : tool_complain_detail();
}

static void topo_take_option(struct topo *topo, int key, const char *argument)
{
	switch (key) {
	case OPTION_XML:
		topo->xml = argument;
		break;
	case OPTION_SYNTHETIC:
		topo->synthetic = argument;
		break;
	case OPTION_WHOLE:
		topo->is_whole = true;
		break;
	case OPTION_EACH:
		topo->shows_each = true;
		break;
	default:
		topo->is_json = true;
	}
}

int tool_topo(int argc, char **argv)
{
	struct topo topo = {.is_json = false};
	const char *argument;
	int key;

	optind = 1;
	while ((key = tool_options_next(&usage, argc, argv, &argument)) > 0)
		topo_take_option(&topo, key, argument);
	if (key != TOOL_OPTIONS_END)
		return key;
	if (optind < argc)
		return tool_complain(
		    "'%s' is no option: a file is given with --xml, a description with --synthetic",
		    argv[optind]);
	if ((topo.xml != NULL) + (topo.synthetic != NULL) + topo.is_whole > 1)
		return tool_complain("--whole, --xml and --synthetic exclude each other");
	return topo_show(&topo);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the files of metrics, and suggests the nearest name for an unknown one. */
#include "tools/metrics.h"

#include "analysis/metric_file.h"
#include "base/distance.h"
#include "tools/options.h"
#include "tools/terminal.h"

#include <limits.h>
#include <perfsage.h>
#include <unistd.h>

static void metrics_load_path(const char *path)
{
	if (ps_metric_load(path) != PS_OK)
		tool_complain_detail();
}

/* Built-in metrics are part of the command. The installed folder is read only for changes and
 * additions, and only by the installed command. */
void tool_metrics_load(void)
{
	char path[PATH_MAX];

	if (tool_find_installed(PS_PKGDATADIR, "metrics", path, sizeof path))
		metrics_load_path(path);
	metrics_load_path(NULL);
}

static void metrics_keep_nearest(const char *word, const char *name, const char **nearest)
{
	if (name && (!*nearest || ps__distance(word, name) < ps__distance(word, *nearest)))
		*nearest = name;
}

bool tool_metrics_complain_unknown(const char *word)
{
	const char *nearest = NULL;

	for (const struct ps__metric *metric = ps__metric_next(NULL); metric;
	     metric = ps__metric_next(metric)) {
		metrics_keep_nearest(word, metric->name, &nearest);
		metrics_keep_nearest(word, metric->group ? metric->group->name : NULL, &nearest);
	}
	if (!nearest)
		return false;
	if (tool_is_near(word, ps__distance(word, nearest)))
		tool_complain("-M: there is no metric or group '%s': did you mean '%s'?", word,
		              nearest);
	else
		tool_complain("-M: there is no metric or group '%s': perfsage list --metrics shows "
		              "them",
		              word);
	return true;
}

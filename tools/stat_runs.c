/* SPDX-License-Identifier: BSD-3-Clause */
/* Failed and interrupted runs: their means would hide them. */
#include "tools/stat_runs.h"

#include "tools/stat_footer.h"

#include <string.h>

static void add_status(struct stat_runs *runs, const struct stat_facts *facts)
{
	size_t kind = 0;

	runs->failed++;
	while (kind < runs->kind_count && runs->kinds[kind].status != facts->exit_status)
		kind++;
	if (kind == STAT_MOST_KINDS) {
		runs->others++;
		return;
	}
	if (kind == runs->kind_count)
		runs->kinds[runs->kind_count++] =
		    (struct stat_run_kind){.status = facts->exit_status, .first = facts->repetition};
	runs->kinds[kind].count++;
}

bool stat_runs_add(struct stat_runs *runs, const struct stat_facts *facts)
{
	if (facts->signal) {
		runs->interrupted = facts->repetition;
		runs->signal = facts->signal;
		return false;
	}
	runs->counted++;
	if (facts->has_command && facts->exit_status)
		add_status(runs, facts);
	return true;
}

void stat_runs_show(const struct stat_runs *runs, struct ps__buffer *out)
{
	for (size_t index = 0; index < runs->kind_count; index++) {
		const struct stat_run_kind *kind = &runs->kinds[index];
		stat_footer_line("ended", out);
		ps__buffer_add(out, "%lld of %lld runs ", kind->count, runs->counted);
		stat_footer_status(kind->status, out);
		ps__buffer_add(out, kind->count > 1 ? ", first run %lld\n" : ", run %lld\n", kind->first);
	}
	if (runs->others)
		ps__buffer_add(out, "%-12s%lld of %lld runs with other statuses\n", "", runs->others, runs->counted);
	if (runs->interrupted)
		ps__buffer_add(out, "interrupted run %lld, by signal %d (%s): it is left out\n", runs->interrupted,
		               runs->signal, strsignal(runs->signal));
}

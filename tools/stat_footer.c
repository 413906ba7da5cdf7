/* SPDX-License-Identifier: BSD-3-Clause */
/* The footer below the counts tells how far they can be trusted: attribution, coverage, residual,
 * and the cost of measuring. */
#include "tools/stat_footer.h"

#include "base/list.h"
#include "base/os.h"
#include "output/number.h"
#include "output/wrap.h"
#include "tools/command.h"
#include "tools/stat_times.h"
#include "tools/terminal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int stat_quality_create(struct stat_quality *quality, const struct ps_eventset *model)
{
	*quality = (struct stat_quality){.model = model,
	                                 .attribution = PS_ATTRIBUTION_EXACT,
	                                 .coverage = 1.0,
	                                 .event_count = ps_eventset_event_count(model),
	                                 .why = ps__os_strdup("")};
	quality->residual = ps__os_calloc(quality->event_count + 1, sizeof *quality->residual);
	if (quality->residual && quality->why)
		return 0;
	tool_complain("out of memory");
	stat_quality_destroy(quality);
	return -1;
}

void stat_quality_destroy(struct stat_quality *quality)
{
	ps__os_free(quality->why);
	ps__os_free(quality->residual);
	ps__os_free(quality->sums);
	ps__os_free(quality->origin);
	ps__os_free(quality->unknown);
}

void stat_quality_add_interval(struct stat_quality *quality, const struct stat_count *count)
{
	quality->coverage = stat_least_coverage(quality->coverage, stat_count_coverage(count));
	quality->has_missed |= stat_count_has_missed(count);
}

static void footer_add_attribution(struct stat_quality *quality, const struct stat_count *count)
{
	const char *why;
	enum ps_attribution attribution = stat_count_attribution(count, &why);

	if (attribution < quality->attribution ||
	    (attribution == quality->attribution && *quality->why))
		return;
	char *copy = ps__os_strdup(why);
	quality->attribution = attribution;
	if (!copy)
		return;
	ps__os_free(quality->why);
	quality->why = copy;
}

/* Adds a run's residuals by their size, so that those of opposite signs don't cancel out. */
static void footer_add_residual(struct stat_quality *quality, struct stat_count *count)
{
	long long *residual = ps__os_calloc(quality->event_count + 1, sizeof *residual);

	if (residual && stat_count_check(count, residual) == 0) {
		for (size_t event = 0; event < quality->event_count; event++) {
			long long sum = quality->residual[event];
			bool is_against = (sum < 0) != (residual[event] < 0);
			quality->residual[event] +=
			    is_against && sum ? -residual[event] : residual[event];
		}
	} else if (!quality->unknown) {
		quality->unknown = ps__os_strdup(residual ? ps_error_detail() : "out of memory");
	}
	ps__os_free(residual);
}

void stat_quality_add_run(struct stat_quality *quality, struct stat_count *count)
{
	const char *origin = ps_topology_origin(count->topology);

	quality->delay_s = count->delay_s;
	stat_quality_add_interval(quality, count);
	if (origin && !quality->origin)
		quality->origin = ps__os_strdup(origin);
	footer_add_attribution(quality, count);
	footer_add_residual(quality, count);
	stat_uncounted_take(count);
	stat_uncounted_add(&quality->uncounted, &count->uncounted);
	double left_s = quality->how.left_s + count->how.left_s;
	quality->how = count->how;
	quality->how.left_s = left_s;
}

long long stat_quality_residual(const struct stat_quality *quality)
{
	long long sum = 0;

	for (size_t event = 0; event < quality->event_count; event++)
		sum += llabs(quality->residual[event]);
	return sum;
}

/* True if a shell needs no quotes for the word. */
static bool footer_is_plain(const char *word)
{
	for (const char *letter = word; *letter; letter++) {
		if (!isalnum((unsigned char)*letter) && !strchr("%+,-./:=@_", *letter))
			return false;
	}
	return *word;
}

static void footer_describe_command(char *const *command, struct ps__buffer *out)
{
	for (size_t index = 0; command[index]; index++) {
		ps__buffer_add(out, "%s", index ? " " : "");
		if (footer_is_plain(command[index])) {
			ps__buffer_add(out, "%s", command[index]);
			continue;
		}
		ps__buffer_add(out, "%c", '\'');
		for (const char *letter = command[index]; *letter; letter++) {
			if (*letter == '\'')
				ps__buffer_add(out, "'\\''");
			else
				ps__buffer_add(out, "%c", *letter);
		}
		ps__buffer_add(out, "%c", '\'');
	}
}

static void footer_describe_cpus(const char *cpus, struct ps__buffer *out)
{
	if (cpus)
		ps__buffer_add(out, "CPU%s %s", ps__list_count(cpus) == 1 ? "" : "s", cpus);
	else
		ps__buffer_add(out, "all CPUs");
}

void stat_describe_target(const struct stat_options *options, struct ps__buffer *out)
{
	if (options->target.is_whole_machine) {
		footer_describe_cpus(options->target.cpus, out);
	} else if (options->target.cgroup) {
		ps__buffer_add(out, "control group %s", options->target.cgroup);
	} else if (options->target.pid_count) {
		ps__buffer_add(out, "%s", options->target.pid_count == 1 ? "process" : "processes");
		for (size_t index = 0; index < options->target.pid_count; index++)
			ps__buffer_add(out, "%s %d", index ? "," : "",
			               (int)options->target.pids[index]);
		ps__buffer_add(out, "%s", options->target.has_children ? " with children" : "");
	} else {
		footer_describe_command(options->command, out);
	}
}

void stat_footer_head(const struct stat_output *output, const struct stat_facts *facts,
                      struct ps__buffer *out)
{
	struct ps__buffer line = {0};

	if (stat_options_counts_command(output->options))
		ps__buffer_add(&line, "Counts of ");
	stat_describe_target(output->options, &line);
	if (facts->repetition)
		ps__buffer_add(&line, ", run %lld", facts->repetition);
	tool_put_rank(&line, facts->pid);
	/* Begin with an empty line: the command's last output may have no line end. */
	ps__buffer_add(out, "\n");
	stat_add_heading(&line, output, out);
}

void stat_add_heading(struct ps__buffer *line, const struct stat_output *output,
                      struct ps__buffer *out)
{
	tool_paragraph_of(out, line, 0, output->screen.width);
	ps__buffer_add(out, "\n");
}

static void footer_show_elapsed(const struct stat_quality *quality, const struct stat_facts *facts,
                                struct ps__buffer *out)
{
	stat_footer_line("elapsed", out);
	ps__number_add_duration(out, facts->elapsed_s);
	if (facts->has_command) {
		ps__buffer_add(out, "; ");
		ps__number_add_duration(out, stat_seconds(facts->usage.ru_utime));
		ps__buffer_add(out, " user and ");
		ps__number_add_duration(out, stat_seconds(facts->usage.ru_stime));
		ps__buffer_add(out, " system time%s",
		               quality->delay_s > 0 ? ", with those of the delay" : "");
	}
	ps__buffer_add(out, "\n");
}

void stat_footer_status(int status, struct ps__buffer *out)
{
	ps__buffer_add(out, "with status %d", tool_status_number(status));
	if (status > TOOL_BY_SIGNAL)
		ps__buffer_add(out, " (signal %d: %s)", status - TOOL_BY_SIGNAL,
		               strsignal(status - TOOL_BY_SIGNAL));
}

static void footer_show_absent(const struct stat_target *target, struct ps__buffer *out)
{
	if (!target->absent_count)
		return;
	stat_footer_line("absent", out);
	ps__buffer_add(
	    out, "%zu process%s of -p w%s not there when counting began:", target->absent_count,
	    target->absent_count > 1 ? "es" : "", target->absent_count > 1 ? "ere" : "as");
	for (size_t index = 0; index < target->absent_count; index++)
		ps__buffer_add(out, "%s %d", index ? "," : "",
		               (int)target->pids[target->pid_count + index]);
	ps__buffer_add(out, "\n");
}

/* Tells that processes of -p ended early. A service may have started other processes in their
 * place, which aren't counted. */
static void footer_show_gone(const struct stat_facts *facts, struct ps__buffer *out)
{
	if (!facts->gone)
		return;
	stat_footer_line("ended", out);
	ps__buffer_add(out,
	               "%zu process%s before counting did: what was started in %s place isn't "
	               "counted; -p of the parent with --children counts that, too\n",
	               facts->gone, facts->gone > 1 ? "es" : "", facts->gone > 1 ? "their" : "its");
}

static void footer_show_status(const struct stat_facts *facts, struct ps__buffer *out)
{
	if (!facts->has_command || facts->exit_status == 0)
		return;
	stat_footer_line("ended", out);
	stat_footer_status(facts->exit_status, out);
	ps__buffer_add(out, "\n");
}

static void footer_show_attribution(const struct stat_quality *quality, struct ps__buffer *out)
{
	stat_footer_line("attribution", out);
	ps__buffer_add(out, "%s%s", ps_attribution_name(quality->attribution),
	               *quality->why ? ": " : "");
	tool_put(out, quality->why);
	ps__buffer_add(out, "\n");
}

static bool footer_is_interrupted(const struct stat_quality *quality)
{
	for (size_t event = 0; quality->sums && event < quality->event_count; event++) {
		if (quality->sums[event].flags & PS_VALUE_INTERRUPTED)
			return true;
	}
	return false;
}

static void footer_show_coverage(const struct stat_quality *quality, struct ps__buffer *out)
{
	stat_footer_line("coverage", out);
	if (isnan(quality->coverage))
		ps__buffer_add(out, "unknown: a counter was off for a time that is not known\n");
	else if (quality->coverage >= 1.0)
		ps__buffer_add(out, "100 %%: no event had to share a counter\n");
	else
		ps__buffer_add(out, "%.1f %% at least, over all CPUs: %s, ~ marks estimates\n",
		               100 * quality->coverage,
		               footer_is_interrupted(quality)
		                   ? "a CPU was offline, or its counters were off"
		                   : "there were more events than counters");
}

static bool footer_is_all_counted(const struct stat_quality *quality)
{
	return quality->how.left_s <= 0 && !stat_uncounted_is_any(&quality->uncounted) &&
	       !quality->uncounted.late_cpus && !quality->has_missed;
}

/* Tells that counts are missing; other lines may say why. */
static void footer_show_missed(const struct stat_quality *quality, struct ps__buffer *out)
{
	if (!quality->has_missed)
		return;
	stat_footer_line("missed", out);
	ps__buffer_add(out, "some counts, where the table says '>=' or 'interrupted'\n");
}

static void footer_show_residual(const struct stat_quality *quality, struct ps__buffer *out)
{
	bool is_any = false;

	stat_footer_line("residual", out);
	for (size_t event = 0; !quality->unknown && event < quality->event_count; event++) {
		if (quality->residual[event] == 0)
			continue;
		ps__buffer_add(out, "%s", is_any ? ", " : "");
		tool_put(out, ps_eventset_event_name(quality->model, event));
		ps__buffer_add(out, " %lld", quality->residual[event]);
		is_any = true;
	}
	if (quality->unknown)
		ps__buffer_add(out, "not known: %s", quality->unknown);
	else if (!is_any)
		ps__buffer_add(out, "%s",
		               footer_is_all_counted(quality)
		                   ? "0: all that the kernel counted is shown"
		                   : "0");
	ps__buffer_add(out, "\n");
}

double stat_footer_cost_s(void)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	return stat_seconds(own.ru_utime) + stat_seconds(own.ru_stime);
}

static void footer_show_origin(const struct stat_quality *quality, struct ps__buffer *out)
{
	if (!quality->origin)
		return;
	stat_footer_line("tree", out);
	ps__buffer_add(out, "not this machine's: %s\n", quality->origin);
}

static void footer_show_delay(const struct stat_quality *quality, struct ps__buffer *out)
{
	if (quality->delay_s == 0)
		return;
	stat_footer_line("delay", out);
	ps__number_add_duration(out, quality->delay_s);
	ps__buffer_add(out, " passed before counting began: they are in no count\n");
}

/* True if perfsage's own time can't be in the counts: they are those of processes, or of a group
 * that perfsage made for its command. */
static bool footer_is_apart(const struct stat_quality *quality)
{
	return quality->uncounted.is_of_processes || quality->is_of_regions ||
	       quality->how.method == STAT_METHOD_CGROUP;
}

static void footer_show_cost(const struct stat_quality *quality, struct ps__buffer *out)
{
	stat_footer_line("cost", out);
	ps__number_add_duration(out, stat_footer_cost_s());
	ps__buffer_add(out, " CPU time of perfsage itself%s\n",
	               footer_is_apart(quality) ? ", not in the counts" : "");
}

/* True if the reader needs no warning about the counts. */
static bool footer_is_good(const struct stat_quality *quality)
{
	bool is_known = quality->attribution == PS_ATTRIBUTION_EXACT ||
	                quality->attribution == PS_ATTRIBUTION_PINNED ||
	                quality->attribution == PS_ATTRIBUTION_ATTACHED;

	return is_known && !*quality->why && quality->coverage >= 1.0 && !quality->unknown &&
	       stat_quality_residual(quality) == 0 && !quality->uncounted.children &&
	       !quality->uncounted.is_blind && footer_is_all_counted(quality);
}

/* Names the events that this machine can't count. Nothing was lost, but without this line the
 * events would look counted. Skips the times of a run: they are optional in the model, but always
 * known. */
static void footer_add_not_counted(const struct stat_quality *quality, struct ps__buffer *out)
{
	const char *before = "; not counted here: ";

	for (size_t event = 0; event < quality->event_count; event++) {
		const char *name = ps_eventset_event_name(quality->model, event);
		if (stat_times_bit(name) ||
		    ps_eventset_event_status(quality->model, event) == PS_STATUS_COUNTED)
			continue;
		ps__buffer_add(out, "%s", before);
		tool_put(out, name);
		before = ", ";
	}
}

static void footer_show_good(const struct stat_quality *quality, struct ps__buffer *out)
{
	struct ps__buffer lacking = {0};

	footer_add_not_counted(quality, &lacking);
	stat_footer_line("quality", out);
	ps__buffer_add(out, "%s, %sno counter shared%s\n",
	               ps_attribution_name(quality->attribution),
	               lacking.length ? "" : "nothing lost, ", ps__buffer_text(&lacking));
	out->failed |= lacking.failed;
	ps__buffer_clear(&lacking);
}

/* Adds one line if everything is good, else a line for each fact. */
void stat_footer_quality(const struct stat_quality *quality, struct ps__buffer *out)
{
	footer_show_delay(quality, out);
	stat_uncounted_show_left(&quality->uncounted, out);
	if (footer_is_good(quality)) {
		if (!quality->is_of_regions)
			footer_show_good(quality, out);
	} else {
		footer_show_attribution(quality, out);
		footer_show_coverage(quality, out);
		footer_show_residual(quality, out);
		footer_show_missed(quality, out);
		stat_uncounted_show(&quality->uncounted, out);
	}
	stat_method_show(&quality->how, out);
	footer_show_origin(quality, out);
	footer_show_cost(quality, out);
}

void stat_footer(const struct stat_quality *quality, const struct stat_facts *facts,
                 const struct stat_target *target, struct ps__buffer *lines)
{
	footer_show_elapsed(quality, facts, lines);
	footer_show_status(facts, lines);
	footer_show_absent(target, lines);
	footer_show_gone(facts, lines);
	stat_rates_show(quality, facts->elapsed_s, lines);
	stat_footer_quality(quality, lines);
}

void stat_footer_fold(struct ps__buffer *lines, const struct stat_output *output,
                      struct ps__buffer *out)
{
	ps__wrap_add_lines(out, lines, STAT_FOOTER_INDENT, output->screen.width);
	ps__buffer_clear(lines);
}

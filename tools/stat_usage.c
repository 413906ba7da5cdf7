/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the options of `perfsage stat`, with those that users of perf try, and their
 * help. */
#include "tools/stat_usage.h"

static const struct tool_option options_of_stat[] = {
    {'e', "event", "EVENTS",
     "what to count: names with commas between them; may be\ngiven several times. perfsage list "
     "has the names;\n'sched:*' are all tracepoints that match, and '{A,B}'\nare counted together"},
    {'M', "metrics", "NAMES",
     "count what metrics and groups need, and show them;\nperfsage list --metrics has the names"},
    {'p', "pid", "PIDS", "count these processes, and what they create, until\nthey end or Ctrl-C"},
    {OPTION_CHILDREN, "children", NULL, "with -p: their children that run already as well"},
    {'a', "all-cpus", NULL, "count whole CPUs, whatever runs there, until Ctrl-C"},
    {'C', "cpu", "LIST", "count these whole CPUs alone, as 0-3,8"},
    {OPTION_CGROUP, "cgroup", "PATH", "count a control group: all tasks in it, and below it"},
    {OPTION_METHOD, "method", "HOW",
     "how a command or process is counted: per-cpu, cgroup,\nbpf, time-share or looks "
     "(estimated split), whole (none),\nor auto"},
    {OPTION_EXACT, "exact", NULL, "fail if the split by hardware thread isn't exact"},
    {OPTION_BY, "by", "TYPE",
     "sums for each cpu, core, cache, numa, die, package,\ngroup or machine, also in JSON and "
     "CSV; l1 to l4: for\neach cache of this level; node is numa, socket is\npackage, thread is "
     "cpu; several with commas"},
    {OPTION_TREE, "tree", NULL, "the whole tree, the default on a terminal"},
    {OPTION_REGIONS, "regions", NULL,
     "the counts of the program's regions, which it marks by\n<perfsage/marks.h>: paths down, "
     "events across"},
    {OPTION_REGION, "region", "NAME",
     "as --regions, but the machine's tree of each path that\nends in NAME, as in solve or "
     "step/solve; may be\ngiven several times"},
    {OPTION_BUDGET, "budget", "PERCENT",
     "of the time that --regions may cost: regions that are\nvisited more often are sampled"},
    {OPTION_ONE_IN, "one-in", "N", "with --regions: count one visit in N, at random"},
    {OPTION_TASKS, "tasks", NULL,
     "also each software thread's counts, by hardware thread\n(--threads is the same)"},
    {OPTION_PROCESSES, "processes", NULL, "also the sums of each process"},
    {'I', "interval", "MS", "also the counts of each interval, in milliseconds"},
    {OPTION_INTERVAL_COUNT, "interval-count", "N",
     "end counting after so many intervals, as --timeout"},
    {'D', "delay", "MS",
     "begin counting so many milliseconds after the start;\nwhat happened before is not in the "
     "counts"},
    {'r', "repeat", "N", "run the command N times: means and deviations"},
    {OPTION_TIMEOUT, "timeout", "MS",
     "end counting after so many milliseconds; a command\nthat perfsage started is sent "
     "SIGTERM"},
    {OPTION_JSON, "json", NULL, "JSON: ps_export(3) describes the fields"},
    {OPTION_CSV, "csv", NULL, "CSV: a row for each component and event"},
    {'o', "output", "FILE",
     "write there, not to stderr; - is stdout. In the name\n%r for the MPI rank, %h for the host, "
     "%p for perfsage's\npid, %q{VARIABLE} for one of the environment. A name\nthat ends in "
     ".json or .csv gets this format"},
    {OPTION_APPEND, "append", NULL, "leave what is in that file, and write behind it"},
    {OPTION_HEAT, "heat", "FILE",
     "a heat map on the machine's tree: hwloc's XML, or with\na name in .svg, .png or .pdf what "
     "lstopo draws of it"},
    {OPTION_HEAT_BY, "heat-by", "NAME", "the event or metric that colours it (the first event)"},
    {OPTION_IDLE, "idle", NULL, "also components without a count"},
    {OPTION_EACH, "each", NULL, "a line for each component: nothing is joined or folded"},
    {OPTION_NO_IDLE, "no-idle", NULL,
     "leave components without a count out of JSON and CSV,\nas text does by default"},
    {OPTION_NO_METRICS, "no-metrics", NULL, "no derived values beside the counts"},
    {OPTION_RAW, "raw", NULL, "whole numbers, without SI prefixes"},
    /* Aliases, most of them perf's. */
    {OPTION_TASKS, "threads", NULL, NULL},
    {OPTION_TASKS, "per-thread", NULL, NULL},
    {OPTION_BY_CPU, "no-aggr", NULL, NULL},
    {OPTION_BY_CACHE, "per-cache", NULL, NULL},
    {OPTION_BY_CORE, "per-core", NULL, NULL},
    {OPTION_BY_DIE, "per-die", NULL, NULL},
    {OPTION_BY_NODE, "per-node", NULL, NULL},
    {OPTION_BY_SOCKET, "per-socket", NULL, NULL},
    {'I', "interval-print", "MS", NULL},
    {'j', "json-output", NULL, NULL},
};

/* Options of perf stat that perfsage doesn't have. */
static const struct tool_option options_of_perf[] = {
    {'B', "big-num", NULL, "--raw shows whole numbers"},
    {'d', "detailed", NULL,
     "name the events, as in -e L1-dcache-loads,L1-dcache-load-misses; perfsage list has them"},
    {'G', "for-each-cgroup", "NAMES", "--cgroup PATH counts a control group"},
    {'i', "no-inherit", NULL, "--tasks tells threads and children apart"},
    {'n', "null", NULL, "-e task-clock costs next to nothing, and the elapsed time is shown"},
    {'t', "tid", "TIDS", "-p PID --tasks tells the threads of a process apart"},
    {'v', "verbose", NULL, "perfsage doctor tells what can be counted, and what prevents it"},
    {'x', "field-separator", "SEPARATOR", "--csv writes columns with commas between them"},
    {OPTION_OF_PERF, "log-fd", "FD", "-o /dev/fd/FD writes to a descriptor"},
    {OPTION_OF_PERF, "all-user", NULL, "name the events with :u, as in -e cycles:u"},
    {OPTION_OF_PERF, "all-kernel", NULL, "name the events with :k, as in -e cycles:k"},
    {OPTION_OF_PERF, "filter", "FILTER", "tracepoints are counted without a filter"},
    {OPTION_OF_PERF, "interval-clear", NULL, "a terminal shows each interval in the same place"},
    {OPTION_OF_PERF, "metric-only", NULL, "--json has metrics apart from counts"},
    {OPTION_OF_PERF, "topdown", NULL, "-M topdown shows where the slots of the cores went"},
    {'c', "scale", NULL,
     "counts of events that shared a counter are estimates, with ~; JSON has them raw, too"},
    {OPTION_OF_PERF, "no-scale", NULL,
     "counts of events that shared a counter are estimates, with ~; JSON has them raw, too"},
    {OPTION_OF_PERF, "summary", NULL, "the last of -I's tables is that of all intervals"},
    {OPTION_OF_PERF, "no-merge", NULL,
     "the counts of a name are one sum; name the PMU, as in cpu_core/cycles/"},
    {OPTION_OF_PERF, "control", "FD", "--delay and --timeout begin and end counting"},
    {OPTION_OF_PERF, "table", NULL, "-r N --csv has a row for each run"},
    {OPTION_OF_PERF, "quiet", NULL, "-o FILE writes the counts there"},
    {'S', "sync", NULL, "-r N runs the command N times, without sync(2)"},
    {'T', "transaction", NULL, "name the events; perfsage list has them"},
    {OPTION_OF_PERF, "pre", "COMMAND", "-r N runs the command alone: put both into a script"},
    {OPTION_OF_PERF, "post", "COMMAND", "-r N runs the command alone: put both into a script"},
    {OPTION_OF_PERF, "per-cluster", NULL, "--by group has what is between core and package"},
    {OPTION_OF_PERF, "no-csv-summary", NULL, "--csv has the rows of each interval alone"},
    {OPTION_OF_PERF, "no-big-num", NULL, "four digits are the default; --raw shows all"},
    {OPTION_OF_PERF, "bpf-counters", NULL, "--method bpf counts so"},
    {'b', "bpf-prog", "ID", "a BPF program isn't counted apart"},
    {OPTION_OF_PERF, "iostat", NULL, "name the PMU's events; perfsage list has them"},
    {OPTION_OF_PERF, "smi-cost", NULL, "name the events, as in -e msr/smi/,msr/aperf/,cycles"},
    {OPTION_OF_PERF, "cputype", "TYPE", "name the PMU of a kind of cores, as in cpu_core/cycles/"},
    {OPTION_OF_PERF, "hybrid-merge", NULL, "the counts of all kinds of cores are one sum"},
    {OPTION_OF_PERF, "metric-no-group", NULL, "-e with the events of -M counts without groups"},
    {OPTION_OF_PERF, "metric-no-merge", NULL, "-e with the events of -M counts without groups"},
    {OPTION_OF_PERF, "metric-no-threshold", NULL, "metrics have no thresholds"},
    {OPTION_OF_PERF, "percore-show-thread", NULL, "--by core has the counts of cores"},
    {OPTION_OF_PERF, "td-level", "LEVEL", "-M topdown shows where the slots of the cores went"},
};

const struct tool_usage stat_usage = {
    .manual = "perfsage-stat(1)",
    .synopsis = "perfsage stat [OPTIONS] [--] COMMAND [ARGUMENTS]\n"
		"perfsage stat [OPTIONS] -p PIDS | -a | -C LIST | --cgroup PATH [COMMAND]",
    .summary = "Runs a command and counts events of all its threads and child processes, by\n"
	       "hardware thread. With -p, -a, -C or --cgroup a command only says how long to\n"
	       "count.",
    .options = options_of_stat,
    .option_count = sizeof options_of_stat / sizeof options_of_stat[0],
    .foreign = options_of_perf,
    .foreign_count = sizeof options_of_perf / sizeof options_of_perf[0],
    .examples =
	"perfsage stat make -j8\n"
	"perfsage stat -e cycles,cache-misses --by package -- ./solver input.txt\n"
	"perfsage stat -M cycles,page-fault-rate ./solver input.txt\n"
	"perfsage stat -e page-faults -r 5 --csv -o runs.csv -- ./solver input.txt\n"
	"perfsage stat --tasks --by machine ./solver input.txt  (one line for each thread)\n"
	"perfsage stat -p 4711 -I 1000\n"
	"perfsage stat --regions -e instructions,cache-misses ./solver input.txt\n"
	"mpirun -n 4 perfsage stat -o counts.%r ./solver input.txt\n"
	"perfsage stat -a --heat machine.svg --heat-by instructions -- sleep 10\n",
};

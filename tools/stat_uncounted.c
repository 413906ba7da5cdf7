/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that the kernel does not count, and children that are older than the
 * counting. */
#include "tools/stat.h"

#include "base/os.h"
#include "base/vector.h"
#include "tools/terminal.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void uncounted_add_set(struct stat_uncounted *sum, struct ps_eventset *set)
{
	struct ps_uncounted one = {0};
	int code = ps_eventset_uncounted(set, &one);

	if (code != PS_OK && !*sum->why_unknown)
		snprintf(sum->why_unknown, sizeof sum->why_unknown, "%s", ps_error_detail());
	if (one.programs && !sum->programs) {
		sum->pid = one.pid;
		snprintf(sum->name, sizeof sum->name, "%s", one.name);
	}
	sum->programs += one.programs;
}

void stat_uncounted_take(struct stat_count *count)
{
	struct stat_uncounted *sum = &count->uncounted;

	if (!sum->is_of_processes)
		return;
	*sum = (struct stat_uncounted){.is_of_processes = true, .children = sum->children};
	for (size_t index = 0; index < count->set_count; index++)
		uncounted_add_set(sum, count->sets[index]);
}

void stat_uncounted_add(struct stat_uncounted *sum, const struct stat_uncounted *one)
{
	struct stat_uncounted first = sum->programs ? *sum : *one;

	if (*sum->why_unknown)
		memcpy(first.why_unknown, sum->why_unknown, sizeof first.why_unknown);
	else
		memcpy(first.why_unknown, one->why_unknown, sizeof first.why_unknown);
	first.is_of_processes = one->is_of_processes;
	first.programs = sum->programs + one->programs;
	first.children = one->children > sum->children ? one->children : sum->children;
	*sum = first;
}

bool stat_uncounted_is_any(const struct stat_uncounted *uncounted)
{
	return uncounted->programs || *uncounted->why_unknown;
}

double stat_uncounted_number(const struct stat_uncounted *uncounted)
{
	return uncounted->programs || !*uncounted->why_unknown ? (double)uncounted->programs
	                                                       : (double)NAN;
}

void stat_uncounted_describe(const struct stat_uncounted *uncounted, struct ps__buffer *out)
{
	if (uncounted->programs == 0) {
		ps__buffer_add(out, "not known: %s", uncounted->why_unknown);
		return;
	}
	ps__buffer_add(out, "%zu program%s, %s'", uncounted->programs,
	               uncounted->programs > 1 ? "s" : "",
	               uncounted->programs > 1 ? "the first " : "");
	tool_put(out, uncounted->name);
	ps__buffer_add(out,
	               "' (process %d): Linux does not count a program that is set-user-ID or "
	               "set-group-ID, has capabilities or can't be read by this user, nor what it "
	               "starts; -a counts whole CPUs",
	               (int)uncounted->pid);
}

void stat_uncounted_complain(const struct stat_uncounted *uncounted)
{
	struct ps__buffer text = {0};

	stat_uncounted_describe(uncounted, &text);
	tool_complain("not counted: %s", ps__buffer_text(&text));
	ps__buffer_clear(&text);
}

/* A process of the machine. */
struct process {
	pid_t pid;
	pid_t parent;
	long threads;
	bool is_counted;
	bool is_below; /* a descendant of one that is counted, and not counted itself */
};

struct processes {
	struct process *list;
	size_t count, room;
};

/* The state, the parent and the number of threads stand behind the name, which
 * may hold any character. */
static bool uncounted_read_process(const char *pid, struct process *out)
{
	char path[300], line[1024];
	int parent = 0;
	long threads = 0;
	char state = 'Z';

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	FILE *stream = fopen(path, "re");
	if (!stream)
		return false;
	size_t length = fread(line, 1, sizeof line - 1, stream);
	fclose(stream);
	line[length] = '\0';
	const char *rest = strrchr(line, ')');
	if (!rest ||
	    sscanf(rest + 1,
	           " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &state,
	           &parent, &threads) != 3)
		return false;
	*out =
	    (struct process){.pid = (pid_t)atoi(pid), .parent = (pid_t)parent, .threads = threads};
	return state != 'Z' && state != 'X';
}

static void uncounted_list_processes(struct processes *all)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	struct process one;

	while (folder && (entry = readdir(folder))) {
		if (!isdigit((unsigned char)*entry->d_name) ||
		    !uncounted_read_process(entry->d_name, &one))
			continue;
		struct process *grown = ps__vector_reserve(all->list, all->count, all->count + 1,
		                                           &all->room, sizeof *grown);
		if (!grown)
			break;
		all->list = grown;
		all->list[all->count++] = one;
	}
	if (folder)
		closedir(folder);
}

static bool uncounted_is_in_tree(const struct processes *all, pid_t pid)
{
	for (size_t index = 0; index < all->count; index++) {
		if (all->list[index].pid == pid)
			return all->list[index].is_counted || all->list[index].is_below;
	}
	return false;
}

/* A child may stand before its parent: again, until nothing is new. */
static void uncounted_find_below(struct processes *all)
{
	bool is_new = true;

	while (is_new) {
		is_new = false;
		for (size_t index = 0; index < all->count; index++) {
			struct process *one = &all->list[index];
			if (one->is_counted || one->is_below ||
			    !uncounted_is_in_tree(all, one->parent))
				continue;
			one->is_below = true;
			is_new = true;
		}
	}
}

/* At most this many are named: a list of hundreds would be of no use. */
#define MOST_NAMED 40

static void uncounted_complain_of_children(const struct processes *all, size_t children,
                                           long threads)
{
	struct ps__buffer named = {0};
	const char *separator = ": -p ";

	for (size_t index = 0; children <= MOST_NAMED && index < all->count; index++) {
		if (!all->list[index].is_counted && !all->list[index].is_below)
			continue;
		ps__buffer_add(&named, "%s%d", separator, (int)all->list[index].pid);
		separator = ",";
	}
	tool_complain("not counted: %zu child process%s with %ld thread%s, running already: -p "
	              "counts a process and what it creates from now on; name %s, too%s",
	              children, children > 1 ? "es" : "", threads, threads > 1 ? "s" : "",
	              children > 1 ? "them" : "it", ps__buffer_text(&named));
	ps__buffer_clear(&named);
}

void stat_uncounted_find_children(struct stat_count *count, const pid_t *pids, size_t pid_count)
{
	struct processes all = {0};
	long threads = 0;
	size_t children = 0;

	uncounted_list_processes(&all);
	for (size_t index = 0; index < all.count; index++) {
		for (size_t given = 0; given < pid_count; given++)
			all.list[index].is_counted |= all.list[index].pid == pids[given];
	}
	uncounted_find_below(&all);
	for (size_t index = 0; index < all.count; index++) {
		children += all.list[index].is_below;
		threads += all.list[index].is_below ? all.list[index].threads : 0;
	}
	count->uncounted.children = children;
	if (children)
		uncounted_complain_of_children(&all, children, threads);
	ps__os_free(all.list);
}

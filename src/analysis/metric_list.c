/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of all metrics. The built-in ones come first; they are read when a metric is first asked
 * for. */
#include "analysis/metric_file.h"
#include "base/error.h"
#include "base/os.h"

#include <stdatomic.h>
#include <string.h>
#include <strings.h>

/* Each entry is filled before a releasing store adds it to the list. The store pairs with the
 * acquiring loads of readers. */
static _Atomic(struct ps__metric_entry *) first_entry;

/* The built-in files, newest first. They stay until the process ends. Leak checkers find them here;
 * the list alone points only into the middle of the files' memory. */
static _Atomic(struct ps__metric_file *) builtin_files;

struct ps__metric_file *ps__metric_file_create(void)
{
	return ps__os_calloc(1, sizeof(struct ps__metric_file));
}

void ps__metric_file_destroy(struct ps__metric_file *file)
{
	if (!file)
		return;
	for (struct ps__metric_entry *entry = file->first; entry; entry = entry->next_in_file)
		ps_formula_destroy(entry->metric.tree);
	ps__arena_free(&file->arena);
	ps__os_free(file);
}

static struct ps__metric_entry *entry_after(const struct ps__metric_entry *entry)
{
	return atomic_load_explicit(
	    entry ? &((struct ps__metric_entry *)entry)->next : &first_entry, memory_order_acquire);
}

/* Links those entries of a file that belong into the list; returns the first of them. */
static struct ps__metric_entry *link_entries(struct ps__metric_file *file)
{
	struct ps__metric_entry *first = NULL, *last = NULL;

	for (struct ps__metric_entry *entry = file->first; entry; entry = entry->next_in_file) {
		if (entry->is_other_formula)
			continue;
		if (last)
			atomic_store_explicit(&last->next, entry, memory_order_relaxed);
		else
			first = entry;
		last = entry;
		file->listed++;
	}
	return first;
}

/* Marks entries as replaced if the file has their names, too. Looks at the entries from `entry` on,
 * up to the file's own entries. */
static void mark_replaced(struct ps__metric_entry *entry, const struct ps__metric_file *file)
{
	for (; entry && entry->file != file; entry = entry_after(entry)) {
		const char *name = entry->metric.name;
		if (ps__metric_names_find(&file->names, name, strlen(name), strncasecmp))
			atomic_store_explicit(&entry->is_replaced, true, memory_order_relaxed);
	}
}

static int parse_builtin(struct ps__metric_entry *head, struct ps__metric_entry **last,
                         struct ps__metric_file **files)
{
	for (size_t index = 0; index < ps__metric_text_count; index++) {
		const struct ps__metric_text *text = &ps__metric_texts[index];
		struct ps__metric_file *file = ps__metric_file_create();
		int result = file ? ps__metric_file_parse(file, text->name, text->text)
		                  : ps__fail_memory("the built-in metrics");
		if (result != PS_OK) {
			ps__metric_file_destroy(file);
			return result;
		}
		file->group.path = NULL;
		file->older = *files;
		*files = file;
		struct ps__metric_entry *entry = link_entries(file);
		mark_replaced(atomic_load_explicit(&head->next, memory_order_relaxed), file);
		atomic_store_explicit(&(*last)->next, entry, memory_order_relaxed);
		while ((entry = atomic_load_explicit(&(*last)->next, memory_order_relaxed)))
			*last = entry;
	}
	return PS_OK;
}

static void destroy_entries(struct ps__metric_entry *entry)
{
	while (entry) {
		struct ps__metric_file *file = entry->file;
		while (entry && entry->file == file)
			entry = atomic_load_explicit(&entry->next, memory_order_relaxed);
		ps__metric_file_destroy(file);
	}
}

/* Takes no lock: otherwise a child of fork() could wait for a thread that doesn't exist in it. If
 * two threads come here at once, both read the metrics, and one of them frees its own. */
int ps__metric_load_builtin(void)
{
	struct ps__metric_entry head = {.file = NULL}, *last = &head, *none = NULL;
	struct ps__metric_file *files = NULL;

	if (atomic_load_explicit(&first_entry, memory_order_acquire))
		return PS_OK;
	int result = parse_builtin(&head, &last, &files);
	struct ps__metric_entry *first = atomic_load_explicit(&head.next, memory_order_relaxed);
	if (result != PS_OK ||
	    !atomic_compare_exchange_strong_explicit(&first_entry, &none, first,
	                                             memory_order_acq_rel, memory_order_acquire))
		destroy_entries(first);
	else
		atomic_store_explicit(&builtin_files, files, memory_order_relaxed);
	return result;
}

void ps__metric_list_file(struct ps__metric_file *file)
{
	_Atomic(struct ps__metric_entry *) *end = &first_entry;
	struct ps__metric_entry *first = link_entries(file);

	for (struct ps__metric_entry *next;
	     (next = atomic_load_explicit(end, memory_order_relaxed));)
		end = &next->next;
	atomic_store_explicit(end, first, memory_order_release);
	mark_replaced(entry_after(NULL), file);
}

/* Finds the last entry of that name, which replaces the earlier ones. */
static struct ps__metric_entry *find_entry(const char *name, size_t length)
{
	struct ps__metric_entry *entry = NULL, *found = NULL;

	while ((entry = entry_after(entry))) {
		if (strncasecmp(entry->metric.name, name, length) == 0 &&
		    entry->metric.name[length] == '\0')
			found = entry;
	}
	return found;
}

const struct ps__metric *ps__metric_of_name(const char *name)
{
	struct ps__metric_entry *found = find_entry(name, strcspn(name, ":"));

	return found ? &found->metric : NULL;
}

const struct ps__metric *ps__metric_next(const struct ps__metric *metric)
{
	const struct ps__metric_entry *entry = (const struct ps__metric_entry *)metric;

	while ((entry = entry_after(entry))) {
		if (!atomic_load_explicit(&entry->is_replaced, memory_order_relaxed))
			return &entry->metric;
	}
	return NULL;
}

bool ps__metric_is_in(const struct ps__metric *metric, const char *group)
{
	return metric->group && strcasecmp(metric->group->name, group) == 0;
}

bool ps__metric_has_group(const char *group)
{
	const struct ps__metric *metric = NULL;

	while ((metric = ps__metric_next(metric))) {
		if (ps__metric_is_in(metric, group))
			return true;
	}
	return false;
}

bool ps__metric_unlist(const char *name, struct ps__metric_file **empty)
{
	struct ps__metric_entry *found = find_entry(name, strlen(name));
	_Atomic(struct ps__metric_entry *) *link = &first_entry;

	*empty = NULL;
	if (!found || ps__metric_is_builtin(&found->metric))
		return false;
	while (atomic_load_explicit(link, memory_order_relaxed) != found)
		link = &atomic_load_explicit(link, memory_order_relaxed)->next;
	atomic_store_explicit(link, atomic_load_explicit(&found->next, memory_order_relaxed),
	                      memory_order_release);
	struct ps__metric_entry *again = find_entry(name, strlen(name));
	if (again)
		atomic_store_explicit(&again->is_replaced, false, memory_order_relaxed);
	if (--found->file->listed == 0)
		*empty = found->file;
	return true;
}

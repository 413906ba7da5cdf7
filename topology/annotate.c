/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds remarks to hwloc's objects, for the exporter of heat maps. The copy is made through XML,
 * because the loaded topology has no room for Misc objects: hwloc leaves them out unless it is told
 * at load to keep them.
 */
#include "topology/annotate.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "topology/child.h"
#include "topology/import.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

struct ps__note {
	hwloc_topology_t hwloc;
	hwloc_obj_t object;
};

struct job {
	const struct ps_topology *topology;
	const char *subject; /* what the topology was read from */
	ps__note_visit *visit;
	void *context;
	hwloc_topology_t copy;
	char *xml; /* the result; freed with ps__os_free */
	size_t length;
};

static int annotate_fail_hwloc(const char *what)
{
	if (errno == ENOMEM)
		return ps__fail_memory("hwloc's XML");
	return ps__fail(PS_ESYS, "hwloc could not %s its own XML of the topology: %s", what,
	                strerror(errno));
}

static void annotate_remove_info(hwloc_obj_t object, unsigned index)
{
	free(object->infos[index].name);
	free(object->infos[index].value);
	object->infos_count--;
	memmove(&object->infos[index], &object->infos[index + 1],
	        (object->infos_count - index) * sizeof *object->infos);
}

static bool annotate_begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool annotate_is_ours(const struct hwloc_info_s *info)
{
	return annotate_begins(info->name, PS__NOTE_PREFIX) ||
	       (!strcmp(info->name, "lstopoLegend") &&
	        annotate_begins(info->value, PS__NOTE_PREFIX));
}

/* Removes an earlier heat map's remarks from an object. The topology may have been read from a heat
 * map, and old colours must not stay beside the new ones. */
static void annotate_remove_ours(hwloc_obj_t object)
{
	bool found = false;

	for (unsigned i = object->infos_count; i-- > 0;) {
		if (!annotate_is_ours(&object->infos[i]))
			continue;
		annotate_remove_info(object, i);
		found = true;
	}
	for (unsigned i = object->infos_count; found && i-- > 0;) {
		if (!strcmp(object->infos[i].name, "lstopoStyle"))
			annotate_remove_info(object, i);
	}
}

int ps__note_add(struct ps__note *note, const char *name, const char *value)
{
	bool replaces = !strcmp(name, "lstopoStyle");

	for (unsigned i = note->object->infos_count; replaces && i-- > 0;) {
		if (!strcmp(note->object->infos[i].name, name))
			annotate_remove_info(note->object, i);
	}
	if (hwloc_obj_add_info(note->object, name, value) < 0)
		return ps__fail_memory("hwloc's XML");
	return PS_OK;
}

int ps__note_add_box(struct ps__note *note, const char *text, const char *style)
{
	hwloc_obj_t box = hwloc_topology_insert_misc_object(note->hwloc, note->object, text);

	if (!box || hwloc_obj_add_info(box, "lstopoStyle", style) < 0)
		return ps__fail_memory("hwloc's XML");
	return PS_OK;
}

static bool annotate_is_same(const struct ps_component *component, hwloc_obj_t object)
{
	size_t children = object->arity + object->memory_arity;

	return component->child_count == children &&
	       (component->os_id < 0 || (unsigned)component->os_id == object->os_index);
}

/* Fails because the copy differs from the tree. hwloc's XML of a sound topology is always the same,
 * so a tree from a file means that the file is damaged. */
static int annotate_fail_differs(const struct job *job, const struct ps_component *component)
{
	if (job->topology->is_foreign)
		return ps__fail(PS_EINVAL,
		                "%s is damaged: what hwloc reads from it is another tree once it "
		                "was written and read again, at %s",
		                job->subject, component->name);
	return ps__fail(PS_EBUG, "hwloc's own XML of the topology differs from it at %s",
	                component->name);
}

static int annotate_walk(struct job *job, const struct ps_component *component, hwloc_obj_t object);

/* Walks the objects from `first` on. They correspond to the component's children from *index on:
 * import_tree.c keeps hwloc's order. */
static int annotate_walk_children(struct job *job, const struct ps_component *component,
                                  hwloc_obj_t first, size_t *index)
{
	int code = PS_OK;

	for (hwloc_obj_t child = first; child && code == PS_OK; child = child->next_sibling)
		code = annotate_walk(job, component->children[(*index)++], child);
	return code;
}

static int annotate_walk(struct job *job, const struct ps_component *component, hwloc_obj_t object)
{
	struct ps__note note = {.hwloc = job->copy, .object = object};
	size_t index = 0;

	if (!annotate_is_same(component, object))
		return annotate_fail_differs(job, component);
	annotate_remove_ours(object);
	int code = job->visit(component, &note, job->context);
	if (code == PS_OK)
		code = annotate_walk_children(job, component, object->memory_first_child, &index);
	if (code == PS_OK)
		code = annotate_walk_children(job, component, object->first_child, &index);
	return code;
}

static int annotate_load_copy(struct job *job)
{
	char *xml;
	int length;

	if (hwloc_topology_export_xmlbuffer(job->topology->hwloc, &xml, &length, 0) < 0)
		return annotate_fail_hwloc("write");
	int result = hwloc_topology_set_xmlbuffer(job->copy, xml, length);
	if (result == 0)
		result = hwloc_topology_set_all_types_filter(job->copy, HWLOC_TYPE_FILTER_KEEP_ALL);
	if (result == 0)
		result =
		    hwloc_topology_set_flags(job->copy, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	if (result == 0)
		result = hwloc_topology_load(job->copy);
	hwloc_free_xmlbuffer(job->topology->hwloc, xml);
	return result < 0 ? annotate_fail_hwloc("read") : PS_OK;
}

/* Exports the copy to job->xml. hwloc's length counts the NUL, job->length does not. */
static int annotate_take_xml(struct job *job)
{
	char *xml;
	int length;

	if (hwloc_topology_export_xmlbuffer(job->copy, &xml, &length, 0) < 0)
		return annotate_fail_hwloc("write");
	job->length = strlen(xml);
	job->xml = ps__os_calloc(job->length + 1, 1);
	if (job->xml)
		memcpy(job->xml, xml, job->length);
	hwloc_free_xmlbuffer(job->copy, xml);
	return job->xml ? PS_OK : ps__fail_memory("hwloc's XML");
}

static int annotate_run(void *context)
{
	struct job *job = context;

	if (hwloc_topology_init(&job->copy) < 0)
		return ps__fail_memory("hwloc's topology");
	int code = annotate_load_copy(job);
	if (code == PS_OK)
		code = annotate_walk(job, job->topology->root, hwloc_get_root_obj(job->copy));
	if (code == PS_OK)
		code = annotate_take_xml(job);
	hwloc_topology_destroy(job->copy);
	return code;
}

static int annotate_see_nothing(const struct ps_component *component, struct ps__note *note,
                                void *context)
{
	(void)component;
	(void)note;
	(void)context;
	return PS_OK;
}

int ps__annotate_rehearse(const struct ps_topology *topology, const char *subject)
{
	struct job job = {.topology = topology, .subject = subject, .visit = annotate_see_nothing};
	int code = annotate_run(&job);

	ps__os_free(job.xml);
	return code;
}

int ps__annotate_export(const struct ps_topology *topology, ps__note_visit *visit, void *context,
                        char **out, size_t *length)
{
	struct job job = {.topology = topology,
	                  .subject = "what the topology is from",
	                  .visit = visit,
	                  .context = context};
	int cancel = ps__cancel_hold();
	int code = topology->is_foreign ? ps__child_run(annotate_run, &job, job.subject) : PS_OK;

	if (code == PS_OK) {
		ps__lock_take(PS__LOCK_HWLOC);
		code = annotate_run(&job);
		ps__lock_release(PS__LOCK_HWLOC);
	}
	ps__cancel_release(cancel);
	if (code < 0)
		return code;
	*out = job.xml;
	*length = job.length;
	return PS_OK;
}

void ps__annotate_forget(struct ps_topology *topology)
{
	int cancel = ps__cancel_hold();

	ps__lock_take(PS__LOCK_HWLOC);
	if (topology->hwloc)
		hwloc_topology_destroy(topology->hwloc);
	ps__lock_release(PS__LOCK_HWLOC);
	topology->hwloc = NULL;
	ps__cancel_release(cancel);
}

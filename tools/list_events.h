/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of this machine, each probed by opening it: what `perfsage list`
 * shows. */
#ifndef PS_TOOLS_LIST_EVENTS_H
#define PS_TOOLS_LIST_EVENTS_H

#include <perfsage.h>
#include <stdbool.h>
#include <stdint.h>

/* A reason why events aren't available: the sentence stands for all events that fail alike. */
struct list_reason {
	char *text; /* "EVENT" stands for the name */
	int code;
	size_t count;
};

struct list_event {
	char *name, *pmu, *description, *unit;
	size_t group; /* of its PMU, in the order in which they came */
	enum ps_scope scope;
	int code;       /* of opening it; PS_OK: it can be counted */
	bool is_probed; /* false: the name is known, and it was not opened */
	bool is_user_only;
	size_t reason; /* of the list's reasons; only if code isn't PS_OK */
	uint64_t
	    encoding;  /* a hash of what is opened; 0: not known. Equal: two names of one event */
	bool is_alias; /* an earlier event of the same PMU is the same one */
	size_t next_alias; /* the number of the next name of the same event; 0: there is none */
};

struct list {
	bool is_thorough; /* open all tracepoints */
	bool shows_all;   /* in text: also what can't be counted, and tracepoints not opened */
	const char *word; /* only events that have it in their name or description; NULL: all */
	struct list_event *events;
	size_t count, room;
	struct list_reason *reasons;
	size_t reason_count, reason_room;
	size_t probed;
	size_t available;
	size_t user_only;
	bool has_tracepoints; /* of any name: false where tracefs can't be read */
};

/*
 * Sorted by PMU, in the order in which these come, then by name. Complains, and
 * returns -1, if the events can't be listed. What was gathered until then is
 * there all the same, for list_clear.
 */
int list_gather(struct list *list);
void list_clear(struct list *list);

#endif

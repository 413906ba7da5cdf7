/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of this machine, for `perfsage list`. Each is opened to find out whether it can be
 * counted. */
#ifndef PS_TOOLS_LIST_EVENTS_H
#define PS_TOOLS_LIST_EVENTS_H

#include <perfsage.h>
#include <stdbool.h>
#include <stdint.h>

/* A reason why events can't be counted. Events that fail in the same way share it. */
struct list_reason {
	char *text; /* a sentence with "EVENT" in place of the name */
	int code;
	size_t count;
};

struct list_event {
	char *name, *pmu, *description, *unit;
	size_t group; /* number of the event's PMU, in the order in which PMUs were met */
	enum ps_scope scope;
	int code;       /* result of opening it; PS_OK: it can be counted */
	bool is_probed; /* false: the event was not opened */
	bool is_user_only;
	size_t reason;     /* index in the list's reasons; only if code isn't PS_OK */
	uint64_t encoding; /* a hash of the event's encoding; 0: unknown. Names of one event have
	                    * the same hash */
	bool is_alias;     /* another name of an earlier event of the same PMU */
	size_t next_alias; /* index of the next name of the same event; 0: none */
};

struct list {
	bool is_thorough; /* opens all tracepoints */
	bool shows_all;   /* text also shows events that can't be counted and tracepoints that were
	                   * not opened */
	const char *word; /* only events with this word in their name or description; NULL: all
	                   * events */
	struct list_event *events;
	size_t count, room;
	struct list_reason *reasons;
	size_t reason_count, reason_room;
	size_t probed;
	size_t available;
	size_t user_only;
	bool has_tracepoints; /* false if tracefs can't be read */
};

/*
 * Gathers the events, sorted by PMU, in the order in which PMUs were met, then by name. Returns -1
 * after a complaint. The caller calls list_clear, also after a failure.
 */
int list_gather(struct list *list);
void list_clear(struct list *list);

#endif

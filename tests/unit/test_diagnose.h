/* SPDX-License-Identifier: BSD-3-Clause */
/* A diagnosis of the fake machine, kept: what test_diagnose*.c look at. */
#ifndef PS_TESTS_UNIT_TEST_DIAGNOSE_H
#define PS_TESTS_UNIT_TEST_DIAGNOSE_H

#include "support/scene.h"
#include "support/unmarked.h"

#include <stdlib.h>

#define DEVICES       "/sys/bus/event_source/devices/"
#define STATUS        "/proc/self/status"
#define FINDINGS      64
#define NO_CAPABILITY "0000000000000000" /* of setup_status */

struct kept {
	char *name, *subject, *fact, *remedy, *gain, *lasting;
	enum ps_finding_state state;
	enum ps_remedy_by by;
	int code;
};

static struct kept kept[FINDINGS];
static size_t kept_count;

static inline void forget(void)
{
	while (kept_count > 0) {
		struct kept *one = &kept[--kept_count];
		free(one->name);
		free(one->subject);
		free(one->fact);
		free(one->remedy);
		free(one->gain);
		free(one->lasting);
	}
}

static inline int keep(const struct ps_finding *finding, void *context)
{
	(void)context;
	ck_assert_uint_lt(kept_count, FINDINGS);
	/* What every finding must be. */
	ck_assert_msg(*finding->fact, "%s says nothing", finding->name);
	ck_assert_msg(finding->fact[strlen(finding->fact) - 1] == '.' || finding->code != PS_OK,
	              "no sentence: %s", finding->fact);
	ck_assert_int_eq(*finding->remedy != '\0', finding->by != PS_REMEDY_BY_NOBODY);
	ck_assert_int_eq(*finding->remedy != '\0', *finding->gain != '\0');
	ck_assert_msg(*finding->remedy || !*finding->lasting, "%s has nothing to keep",
	              finding->name);
	/* A value of sysctl is lost at the next boot. */
	ck_assert_msg(strncmp(finding->remedy, "sysctl kernel.", 14) != 0 ||
	                  strstr(finding->lasting, "/etc/sysctl.d/"),
	              "%s is not kept", finding->name);
	kept[kept_count++] = (struct kept){
	    .name = strdup(finding->name),
	    .subject = strdup(finding->subject),
	    .fact = strdup(finding->fact),
	    .remedy = strdup(finding->remedy),
	    .gain = strdup(finding->gain),
	    .lasting = strdup(finding->lasting),
	    .state = finding->state,
	    .by = finding->by,
	    .code = finding->code,
	};
	return 0;
}

/* The lines of /proc/self/status that matter. */
static inline void setup_status(const char *seccomp, const char *capabilities, const char *allowed)
{
	char text[512];

	snprintf(text, sizeof text,
	         "Name:\tx\nTracerPid:\t0\nCapEff:\t%s\nSeccomp:\t%s\nSeccomp_filters:\t0\nCpus_"
	         "allowed:\tf\n"
	         "Cpus_allowed_list:\t%s\n",
	         capabilities, seccomp, allowed);
	fake_file(STATUS, text);
}

/* Of at most eight events, separated by blanks; NULL: the default ones. Returns what ps_diagnose
 * returns. */
static inline int diagnose(const char *list)
{
	const char *events[8];
	struct ps_diagnose_options options = {.size = sizeof options, .events = events};
	char *copy = strdup(list ? list : ""), *rest = NULL;

	forget();
	for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
		events[options.event_count++] = name;
	int code = ps_diagnose(list ? &options : NULL, keep, NULL);
	free(copy);
	return code;
}

static inline const struct kept *found(const char *name, const char *subject)
{
	for (size_t i = 0; i < kept_count; i++) {
		if (!strcmp(kept[i].name, name) && (!subject || !strcmp(kept[i].subject, subject)))
			return &kept[i];
	}
	ck_abort_msg("there is no finding %s %s", name, subject ? subject : "");
}

/* The finding must be in this state, and its fact and its remedy must hold these parts; remedy
 * NULL: it has none. */
static inline void check_found(const char *name, const char *subject, enum ps_finding_state state,
                               const char *part, const char *remedy)
{
	const struct kept *one = found(name, subject);

	ck_assert_msg(one->state == state, "%s %s is %s, not %s: %s", name, subject,
	              ps_finding_state_name(one->state), ps_finding_state_name(state), one->fact);
	ck_assert_msg(strstr(one->fact, part) != NULL, "'%s' is not in: %s", part, one->fact);
	ck_assert_msg(remedy ? strstr(one->remedy, remedy) != NULL : !*one->remedy,
	              "%s's remedy is: %s", name, one->remedy);
}

static inline void check_lasting(const char *name, const char *part)
{
	const char *lasting = found(name, NULL)->lasting;

	ck_assert_msg(strstr(lasting, part) != NULL, "%s is kept by: %s", name, lasting);
}

static inline void check_by(const char *name, enum ps_remedy_by by)
{
	ck_assert_str_eq(ps_remedy_by_name(found(name, NULL)->by), ps_remedy_by_name(by));
}

#endif

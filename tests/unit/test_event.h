/* SPDX-License-Identifier: BSD-3-Clause */
/* What the suites of the event room share: machines from tests/fixtures/sysfs, and parsing that
 * must or must not work. */
#ifndef PS_TESTS_TEST_EVENT_H
#define PS_TESTS_TEST_EVENT_H

#include "base/error.h"
#include "event/event.h"
#include "support/scene.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void use_machine(const char *name)
{
	const char *top = getenv("top_srcdir");
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/tests/fixtures/sysfs/%s.txt", top ? top : ".", name);
	fake_machine(path);
}

/* The caller clears the event. */
static inline struct ps__event parsed(const char *name)
{
	struct ps__event event;

	int code = ps__event_parse(&event, name);
	ck_assert_msg(code == PS_OK, "%s: %d: %s", name, code, ps_error_detail());
	ck_assert_uint_eq(event.attr.size, sizeof event.attr);
	return event;
}

/* It fails with code, its sentence has `part` in it, and the event is as it was. */
static inline void check_refused(const char *name, int code, const char *part)
{
	struct ps__event event, before;

	memset(&event, 0x5a, sizeof event);
	before = event;
	int got = ps__event_parse(&event, name);
	ck_assert_msg(got == code, "%s: %d instead of %d: %s", name, got, code,
	              got ? ps_error_detail() : "it was parsed");
	ck_assert_msg(strstr(ps_error_detail(), part) != NULL, "%s: no '%s' in: %s", name, part,
	              ps_error_detail());
	ck_assert_mem_eq(&event, &before, sizeof event);
}

static inline void check_encoding(const char *name, uint32_t type, uint64_t config)
{
	struct ps__event event = parsed(name);

	ck_assert_msg(event.attr.type == type && event.attr.config == config,
	              "%s: (%u, %#llx) instead of (%u, %#llx)", name, event.attr.type,
	              (unsigned long long)event.attr.config, type, (unsigned long long)config);
	ps__event_clear(&event);
}

/* libpfm4 looks at the machine past the fake kernel: it is to know no PMU, as the names of all have
 * one of these letters. */
static inline int run_suite(Suite *suite)
{
	setenv("LIBPFM_DISABLED_PMUS", "a,b,c,d,e,i,k,l,m,n,o,p,r,s,t,u,x", 1);
	return scene_run(suite);
}

#endif

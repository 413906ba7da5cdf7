/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies the letters behind an event's name, with perf's meaning: they say which of user, kernel,
 * hypervisor and guest count. */
#include "base/error.h"
#include "event/lookup.h"

#include <string.h>

/* PS__MODIFIERS has their meaning, for users. */
static const char letters[] = "ukhGHID";

bool ps__modifier_is(char letter)
{
	return letter && strchr(letters, letter);
}

bool ps__modifiers_are(const char *text)
{
	return text[strspn(text, letters)] == '\0';
}

static int modifiers_check(const char *name, const char *modifiers)
{
	for (const char *at = modifiers; *at; at++) {
		if (!ps__modifier_is(*at))
			return ps__fail(PS_EATTR,
			                "event '%s': '%c' (character %td) is not a modifier; these "
			                "are: " PS__MODIFIERS "%s",
			                name, *at, PS__POSITION(name, at),
			                *at == 'p' || *at == 'P'
			                    ? "; 'p' is for sampling, and this counts"
			                    : "");
		if (strchr(at + 1, *at))
			return ps__fail(
			    PS_EATTR,
			    "event '%s': the modifier '%c' is given twice (character %td)", name,
			    *at, PS__POSITION(name, strchr(at + 1, *at)));
	}
	return PS_OK;
}

int ps__modifiers_apply(struct ps__event *event, const char *name, const char *modifiers)
{
	struct perf_event_attr *attr = &event->attr;

	if (*modifiers == '\0')
		return PS_OK;
	if (*modifiers == ':')
		modifiers++;
	if (*modifiers == '\0')
		return ps__fail(
		    PS_EATTR,
		    "event '%s': no modifier follows the colon; leave it out, or add u, k or h",
		    name);
	int code = modifiers_check(name, modifiers);
	if (code)
		return code;
	if (strpbrk(modifiers, "ukh")) {
		attr->exclude_user = !strchr(modifiers, 'u');
		attr->exclude_kernel = !strchr(modifiers, 'k');
		attr->exclude_hv = !strchr(modifiers, 'h');
		event->explicit_domain = true;
	}
	if (strpbrk(modifiers, "GH")) {
		attr->exclude_guest = !strchr(modifiers, 'G');
		attr->exclude_host = !strchr(modifiers, 'H');
	}
	attr->exclude_idle = strchr(modifiers, 'I') != NULL;
	attr->pinned = strchr(modifiers, 'D') != NULL;
	return PS_OK;
}

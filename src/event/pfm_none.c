/* SPDX-License-Identifier: BSD-3-Clause */
/* A build without libpfm4 (configure --without-pfm): it knows no name. */
#include "base/error.h"
#include "event/lookup.h"

#include <string.h>

int ps__pfm_find(struct ps__event *event, struct ps__lookup *lookup)
{
	const char *delimiter = strstr(lookup->name, "::");

	(void)event;
	if (delimiter && delimiter != lookup->name)
		lookup->suspicion =
		    ps__fail(PS_ENOEVNT,
		             "event '%s': a name with '::' is libpfm4's, and perfsage was built "
		             "without it (configure needs its headers; Debian: libpfm4-dev)",
		             lookup->name);
	return PS__NOT_HERE;
}

bool ps__pfm_prefix(char *out, size_t size_bytes, const char *name)
{
	(void)out;
	(void)size_bytes;
	(void)name;
	return false;
}

int ps__pfm_list(ps__info_visit *visit, void *context)
{
	(void)visit;
	(void)context;
	return 0;
}

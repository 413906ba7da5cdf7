/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's version, as configure was given it. */
#include <config.h>

#include <perfsage/version.h>

const char *ps_version(void)
{
	return PACKAGE_VERSION;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which perfsage this is: the version that configure was given. */
#include <config.h>

#include <perfsage/version.h>

const char *ps_version(void)
{
	return PACKAGE_VERSION;
}

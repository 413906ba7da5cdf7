/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of perfsage. */
#ifndef PERFSAGE_VERSION_H
#define PERFSAGE_VERSION_H

#include <perfsage/visibility.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library that runs, such as "0.1.0". Returns a constant string. */
PS_PUBLIC const char *ps_version(void);

#ifdef __cplusplus
}
#endif
#endif

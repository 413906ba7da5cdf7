/* SPDX-License-Identifier: BSD-3-Clause */
/* What the shared library exports: a declaration marked PS_PUBLIC, and nothing else. */
#ifndef PERFSAGE_VISIBILITY_H
#define PERFSAGE_VISIBILITY_H

#define PS_PUBLIC __attribute__((visibility("default")))

#endif

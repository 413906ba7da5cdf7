/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared library exports only the declarations marked PS_PUBLIC. */
#ifndef PERFSAGE_VISIBILITY_H
#define PERFSAGE_VISIBILITY_H

#define PS_PUBLIC __attribute__((visibility("default")))

#endif

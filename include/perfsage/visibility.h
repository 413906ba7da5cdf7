/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared library exports only the declarations marked PS_PUBLIC. Programs
 * that read headers for other languages define PS_CFFI: all is then plain C
 * (perfsage(7), OTHER LANGUAGES).
 */
#ifndef PERFSAGE_VISIBILITY_H
#define PERFSAGE_VISIBILITY_H

#ifdef PS_CFFI
#define PS_PUBLIC
#else
#define PS_PUBLIC __attribute__((visibility("default")))
#endif

#endif

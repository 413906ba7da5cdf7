/* SPDX-License-Identifier: BSD-3-Clause */
/* The scene for tests of PAPI event sets: that of scene.h with a fake PAPI. */
#ifndef PS_TESTS_PAPI_SCENE_H
#define PS_TESTS_PAPI_SCENE_H

#include "fake_papi.h"
#include "scene.h"

#define EVENT "PAPI_TOT_INS"
#define OTHER "PAPI_TOT_CYC"

TCase *papi_scene_case(Suite *suite, const char *name);
void papi_scene_setup(void);
void papi_scene_teardown(void);

/* Returns an event set for this PAPI set. It is destroyed after the test unless papi_scene_destroy
 * has done so. */
struct ps_eventset *papi_scene_wrap(int papi);
void papi_scene_destroy(struct ps_eventset *set);

#endif

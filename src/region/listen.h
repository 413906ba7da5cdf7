/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots of the modules of this process, by which its marks (<perfsage/marks.h>) are heard. */
#ifndef PS_REGION_LISTEN_H
#define PS_REGION_LISTEN_H

#include <perfsage/marks.h>
#include <stddef.h>

/* Fills the slots of all modules, now and as they are loaded. NULL empties those that the last
 * listener filled. Returns how many slots there are. Any thread, never a signal handler. */
size_t ps__listen_set(const struct ps_marks_listener *listener);
/* The listener, also of another copy of the library; NULL: there is none. */
const struct ps_marks_listener *ps__listen_current(void);

#endif

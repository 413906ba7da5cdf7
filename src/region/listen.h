/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots of the modules of this process, by which its marks (<perfsage/marks.h>) are heard. */
#ifndef PS_REGION_LISTEN_H
#define PS_REGION_LISTEN_H

#include <perfsage/marks.h>
#include <stddef.h>

/* Puts a listener into the slots of all modules that are loaded now or later. NULL empties the
 * slots that the last listener filled. Returns the number of slots. Any thread may call this, but
 * not a signal handler. */
size_t ps__listen_set(const struct ps_marks_listener *listener);
/* Returns the present listener, which may be of another copy of the library; NULL if there is
 * none. */
const struct ps_marks_listener *ps__listen_current(void);

#endif

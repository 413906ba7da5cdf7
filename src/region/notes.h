/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the slot of <perfsage/marks.h> is in a module. Also part of what is preloaded. */
#ifndef PS_REGION_NOTES_H
#define PS_REGION_NOTES_H

#include <link.h>
#include <perfsage/marks.h>

/* The slot that a module's note names, or NULL. The note is not trusted. */
const struct ps_marks_listener **ps__notes_slot(const struct dl_phdr_info *module);

#endif

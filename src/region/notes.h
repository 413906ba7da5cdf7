/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the slot of <perfsage/marks.h> in a module. The preloaded library has it, too. */
#ifndef PS_REGION_NOTES_H
#define PS_REGION_NOTES_H

#include <link.h>
#include <perfsage/marks.h>

/* The slot that a module's note names, or NULL. The note is not trusted. */
const struct ps_marks_listener **ps__notes_slot(const struct dl_phdr_info *module);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths as text, for another process: perfsage adds up those of all processes that it counted. Only
 * perfsage and its collector of the same version read and write it.
 */
#ifndef PS_REGION_PATHS_FILE_H
#define PS_REGION_PATHS_FILE_H

#include "region/paths.h"

#include <stdio.h>

/* Words with blanks and line ends between them: numbers, and strings as "5:outer". */
struct ps__words {
	const char *at;
	const char *end;
	bool has_failed; /* what was read last is 0, and so is all that follows */
};

uint64_t ps__words_read_unsigned(struct ps__words *words);
int64_t ps__words_read_signed(struct ps__words *words);
double ps__words_read_double(struct ps__words *words); /* as printf's %a writes it */
/* A copy for ps__os_free; NULL after a failure, or for lack of memory. */
char *ps__words_read_string(struct ps__words *words);
/* The next word must be this one. */
void ps__words_expect(struct ps__words *words, const char *word);
void ps__words_write_string(FILE *stream, const char *text);

/* The caller looks at the stream's error. PS_EINVAL from ps_profile_faults. */
int ps__paths_save(const struct ps_paths *paths, FILE *stream);

/*
 * Adds what was saved to the paths, and the faults to those of their profile.
 *
 * PS_EINVAL: that isn't what ps__paths_save wrote, or it is of other events. PS_ENOMEM. After a
 * failure a part of it may have been added.
 */
int ps__paths_load(struct ps_paths *paths, struct ps__words *words);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths as text, for another process: perfsage adds up the paths of all processes that it counted.
 * Only perfsage and its collector, of the same version, read and write the text.
 */
#ifndef PS_REGION_PATHS_FILE_H
#define PS_REGION_PATHS_FILE_H

#include "region/paths.h"

#include <stdio.h>

/* Words with blanks and line ends between them: numbers, and strings as "5:outer". */
struct ps__words {
	const char *at;
	const char *end;
	bool has_failed; /* a word was wrong; it and all later words are read as 0 */
};

uint64_t ps__words_read_unsigned(struct ps__words *words);
int64_t ps__words_read_signed(struct ps__words *words);
double ps__words_read_double(struct ps__words *words); /* as printf's %a writes it */
/* Returns a copy, which the caller frees with ps__os_free; NULL after a failure, or if out of
 * memory. */
char *ps__words_read_string(struct ps__words *words);
/* Reads a word, and sets has_failed if it isn't this one. */
void ps__words_expect(struct ps__words *words, const char *word);
void ps__words_write_string(FILE *stream, const char *text);

/* Writes the paths. The caller checks the stream for errors. Returns as ps_profile_faults. */
int ps__paths_save(const struct ps_paths *paths, FILE *stream);

/*
 * Adds saved paths to the paths, and saved faults to those of their profile.
 *
 * PS_EINVAL: the text is not from ps__paths_save, or is of other events. PS_ENOMEM: out of memory.
 * After a failure a part may have been added.
 */
int ps__paths_load(struct ps_paths *paths, struct ps__words *words);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* An attr inside, and its fields. Used by the attr's own files and by the sampler. */
#ifndef PS_SAMPLE_ATTR_H
#define PS_SAMPLE_ATTR_H

#include "backend/backend.h"
#include "event/attr.h"

#include <perfsage/attr.h>
#include <stdbool.h>

struct ps_attr {
	struct ps__event event;
	union ps__attr made; /* as ps_attr_create made it; the size apart */
};

/* A field's place in the struct and its range. */
struct ps__attr_field {
	const char *name;
	unsigned char offset;     /* of the word, in bytes */
	unsigned char size_bytes; /* of the word */
	unsigned char bit;        /* of the word, as the kernel numbers its bit fields */
	unsigned char bits;
	uint64_t largest; /* 0: what the bits hold */
};

#define PS__ATTR_FIELDS (PS_ATTR_CONFIG4 + 1)

/* NULL if there is no such field. */
const struct ps__attr_field *ps__attr_field(enum ps_attr_field field);
uint64_t ps__attr_field_read(const union ps__attr *attr, enum ps_attr_field field);
void ps__attr_field_write(union ps__attr *attr, enum ps_attr_field field, uint64_t value);
/* The largest value, of a field that isn't signed. */
uint64_t ps__attr_field_largest(enum ps_attr_field field);

/* attr.c: is the word meant as the other one of its union? */
bool ps__attr_is_other_meaning(const union ps__attr *words, enum ps_attr_field field);

#define PS__ATTR_BIT_NAME 48
/* attr_bit.c: the kernel's name of a bit of a mask, such as sample_type; "bit 40" if it has none.
 */
void ps__attr_bit_name(enum ps_attr_field field, unsigned bit, char name[PS__ATTR_BIT_NAME]);
/* Is each bit of the field something of its own? */
bool ps__attr_is_mask(enum ps_attr_field field);

/* attr_blame.c: what is refused. */
struct ps__blame {
	bool is_found; /* false: the event itself, whatever its fields are */
	int error;     /* the errno */
	enum ps_attr_field field;
	int bit;        /* of a mask: the one that is refused; else -1 */
	bool has_other; /* without this field alone it would be taken, too */
	enum ps_attr_field other;
};

/* Where an event is opened to be tried. */
struct ps__target ps__attr_target(const struct ps__event *event);
/* Opens the event disabled, with these words in place of its own, and closes it again: 0, or the
 * errno. If it falls back to user space, as sets do, words say so then. */
int ps__attr_try(const struct ps__event *event, union ps__attr *words);
/* attr_check.c: opens the attr for the calling thread, and closes it again: PS_OK, or what
 * ps_attr_check says of it. */
int ps__attr_open_or_explain(const struct ps_attr *attr, enum ps_attr_field *refused);
/* Would the kernel copy a stack of 0 bytes? It counts one word for that, and writes two: the fields
 * behind are one word off, and the record's last word is cut off. PS_ECOMBO. */
int ps__attr_check_stack(const struct ps_attr *attr);
/* Why the attr, as it was opened at a target, was refused: is it the attr, or the place? needed:
 * how many descriptors. */
int ps__attr_explain_open(const struct ps_attr *attr, const struct ps__event *opened,
                          struct ps__target target, int error, size_t needed);
/* The same for the event as a set would open it, without the attr's fields. */
int ps__attr_try_event(const struct ps__event *event);
/* Which of the fields that differ from attr->made is refused? error: the words' own. Returns 0, or
 * an errno that is no refusal, so that it can't be told. */
int ps__attr_find_blame(const struct ps_attr *attr, const union ps__attr *words, int error,
                        struct ps__blame *out);

#endif

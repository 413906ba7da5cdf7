/* SPDX-License-Identifier: BSD-3-Clause */
/* The struct of an attr, and its fields. For the attr's own files, samplers and sessions. */
#ifndef PS_SAMPLE_ATTR_H
#define PS_SAMPLE_ATTR_H

#include "backend/backend.h"
#include "event/attr.h"

#include <perfsage/attr.h>
#include <stdbool.h>

struct ps_attr {
	struct ps__event event;
	union ps__attr made; /* the words that ps_attr_create made, without the size */
};

/* A field's place in the struct and its range. */
struct ps__attr_field {
	const char *name;
	unsigned char offset;     /* offset of the word, in bytes */
	unsigned char size_bytes; /* size of the word */
	/* Number of the field's first bit in the word, as the kernel numbers its bit fields */
	unsigned char bit;
	unsigned char bits;
	uint64_t largest; /* 0: the largest number that the bits hold */
};

#define PS__ATTR_FIELDS (PS_ATTR_CONFIG4 + 1)

/* Returns a field; NULL if there is no such field. */
const struct ps__attr_field *ps__attr_field(enum ps_attr_field field);
uint64_t ps__attr_field_read(const union ps__attr *attr, enum ps_attr_field field);
void ps__attr_field_write(union ps__attr *attr, enum ps_attr_field field, uint64_t value);
/* Returns the largest value of a field that isn't signed. */
uint64_t ps__attr_field_largest(enum ps_attr_field field);

/* attr.c: true if a flag gives the field's word the meaning of the other field of its union. */
bool ps__attr_is_other_meaning(const union ps__attr *words, enum ps_attr_field field);

#define PS__ATTR_BIT_NAME 48
/* attr_bit.c: gives the kernel's name of a mask's bit; "bit 40" if the bit has no name. */
void ps__attr_bit_name(enum ps_attr_field field, unsigned bit, char name[PS__ATTR_BIT_NAME]);
/* True if the field is a mask: each bit has a meaning of its own. */
bool ps__attr_is_mask(enum ps_attr_field field);

/* attr_blame.c: the field that the kernel refuses. */
struct ps__blame {
	bool is_found; /* false: no field; the event itself is refused */
	int error;     /* the errno */
	enum ps_attr_field field;
	int bit;        /* the refused bit of a mask; -1: the whole field */
	bool has_other; /* true if changing `other` instead would help, too */
	enum ps_attr_field other;
};

/* Returns the target for which an event is opened to try it. */
struct ps__target ps__attr_target(const struct ps__event *event);
/* Opens the event disabled, with these words in place of its own, and closes it again. Returns 0,
 * or the errno. If only user space may be counted, falls back to it, as sets do: then sets
 * exclude_kernel and exclude_hv in words. */
int ps__attr_try(const struct ps__event *event, union ps__attr *words);
/* PS_ECOMBO if the kernel would copy a stack of 0 bytes. The kernel reserves one word for such a
 * stack, and writes two. So the record's later fields are one word off, and its last word is cut
 * off. */
int ps__attr_check_stack(const struct ps_attr *attr);
/* Explains why the attr was refused when it was opened at a target: the attr or the target can be
 * the reason. needed: the number of descriptors. */
int ps__attr_explain_open(const struct ps_attr *attr, const struct ps__event *opened,
                          struct ps__target target, int error, size_t needed);
/* Opens the event as a set would, and closes it again. Returns 0, or the errno. */
int ps__attr_try_event(const struct ps__event *event);
/* Finds which of the fields that differ from attr->made the kernel refuses. error: the errno of the
 * refusal. Returns 0; or the errno of a shortage (ps__event_is_shortage), with *out unchanged. */
int ps__attr_find_blame(const struct ps_attr *attr, const union ps__attr *words, int error,
                        struct ps__blame *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A module with marks has an ELF note with the distance from the note to the slot. Notes are
 * parsed, and never trusted: another project may use the same name, and a file may be damaged. */
/* There are no marks in here. */
#define PERFSAGE_NO_MARKS
#include "region/notes.h"

#include <stdbool.h>
#include <string.h>

#define NOTE_OWNER     "perfsage"
#define NOTE_TYPE      1
#define NOTE_ALIGNMENT 4

typedef const struct ps_marks_listener *notes_slot;

/* True if these bytes are in a loaded segment with these flags. */
static bool notes_is_within(const struct dl_phdr_info *module, uint64_t start, uint64_t size,
                            uint32_t flags)
{
	for (size_t at = 0; at < module->dlpi_phnum; at++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[at];
		if (segment->p_type == PT_LOAD && (segment->p_flags & flags) == flags &&
		    size <= segment->p_memsz && start >= segment->p_vaddr &&
		    start - segment->p_vaddr <= segment->p_memsz - size)
			return true;
	}
	return false;
}

/* Returns the slot; NULL if there is none. start: address of the note's contents, less
 * dlpi_addr. */
static notes_slot *notes_slot_at(const struct dl_phdr_info *module, uint64_t start)
{
	uintptr_t slot;
	int64_t distance;

	memcpy(&distance, (const void *)(uintptr_t)(module->dlpi_addr + start), sizeof distance);
	start += (uint64_t)distance;
	slot = (uintptr_t)(module->dlpi_addr + start);
	if (slot % sizeof(notes_slot) != 0 ||
	    !notes_is_within(module, start, sizeof(notes_slot), PF_R | PF_W))
		return NULL;
	return (notes_slot *)slot;
}

static uint64_t notes_round_up(uint32_t size)
{
	return ((uint64_t)size + NOTE_ALIGNMENT - 1) / NOTE_ALIGNMENT * NOTE_ALIGNMENT;
}

static notes_slot *notes_search(const struct dl_phdr_info *module, uint64_t start, uint64_t size)
{
	ElfW(Nhdr) note;

	while (size >= sizeof note) {
		const char *bytes = (const char *)(uintptr_t)(module->dlpi_addr + start);
		memcpy(&note, bytes, sizeof note);
		uint64_t contents = sizeof note + notes_round_up(note.n_namesz);
		uint64_t whole = contents + notes_round_up(note.n_descsz);
		if (contents > size || note.n_descsz > size - contents)
			return NULL;
		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof NOTE_OWNER &&
		    note.n_descsz == sizeof(int64_t) &&
		    memcmp(bytes + sizeof note, NOTE_OWNER, sizeof NOTE_OWNER) == 0)
			return notes_slot_at(module, start + contents);
		if (whole > size)
			return NULL;
		start += whole;
		size -= whole;
	}
	return NULL;
}

/* Notes with a larger alignment have another layout: marks don't use them. */
const struct ps_marks_listener **ps__notes_slot(const struct dl_phdr_info *module)
{
	notes_slot *slot = NULL;

	for (size_t at = 0; at < module->dlpi_phnum && !slot; at++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[at];
		if (segment->p_type == PT_NOTE && segment->p_align <= NOTE_ALIGNMENT &&
		    notes_is_within(module, segment->p_vaddr, segment->p_memsz, PF_R))
			slot = notes_search(module, segment->p_vaddr, segment->p_memsz);
	}
	return slot;
}

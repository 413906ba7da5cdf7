/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks: regions of a program that cost next to nothing while no listener is active.
 *
 * This header is all that a program with marks needs: nothing of libperfsage is
 * compiled, linked or loaded with the program. Without a listener, a mark costs one
 * load and one branch. The end of a PS_REGION block can cost a second branch.
 *
 *     PS_REGION("solve") {
 *             PS_MARK_VALUE("rows", rows);
 *             ...
 *     }
 *
 * Each module (executable or shared object) has one slot, a hidden variable
 * that is NULL while no listener is active. An ELF note tells where the slot is,
 * so that stripped modules and executables without position-independent code are
 * found, too. SystemTap's SDT probes use notes in the same way. See ps_marks(3).
 *
 * C11, C++11 and later; gcc and clang; ELF on x86-64 and arm64.
 * With -DPERFSAGE_NO_MARKS, a source file has no marks.
 */
#ifndef PERFSAGE_MARKS_H
#define PERFSAGE_MARKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ps_marks_listener;

/** A region, as the listener keeps it: the first member of a struct of the listener. It lives as
 * long as the process. */
struct ps_mark_region {
	const struct ps_marks_listener *listener;
	const char *name; /* as define was given it; a mark compares its own name with it */
};

/**
 * A listener. It lives as long as the process, and doesn't change.
 *
 * Marks call the functions in any thread, and in a signal handler if the handler has marks. If a
 * function isn't safe in a handler, because it takes memory or a lock, the listener's documentation
 * must say where marks are allowed. The listeners of libperfsage take memory when they meet a name,
 * a path or a thread for the first time: ps_marks(3) names the conditions for a mark in a handler.
 */
struct ps_marks_listener {
	size_t size; /* of this struct; later versions add members at the end */
	/* Finds or makes a region. It is called when a mark is heard for the first time, or has
	 * another name than at its last visit. If it returns NULL, the mark isn't heard, and
	 * define is called again at the next visit. */
	struct ps_mark_region *(*define)(const char *name);
	void (*enter)(struct ps_mark_region *region);
	void (*leave)(struct ps_mark_region *region);
	/* Receives the number of a PS_MARK_VALUE. named is what define returned for the number's
	 * name. The pointer is NULL if numbers aren't heard. */
	void (*value)(struct ps_mark_region *named, int64_t value);
};

/* The macros below use these. Names with two underscores are no interface. */
struct ps__mark_visit {
	struct ps_mark_region *region; /* the region that was entered; NULL: none */
	int round;
};

#ifndef PERFSAGE_NO_MARKS

/* The slot and its note. A module has one of each, because both are in one comdat group. The linker
 * keeps them if it keeps a mark. The .ifndef is for link-time optimization, which joins several
 * files. The note holds the distance from itself to the slot, so that no relocation is needed. */
__asm__(".ifndef ps_marks_slot\n"
        "\t.pushsection .data.ps_marks_slot,\"awG\",%progbits,ps_marks_slot,comdat\n"
        "\t.weak ps_marks_slot\n"
        "\t.hidden ps_marks_slot\n"
        "\t.type ps_marks_slot,%object\n"
        "\t.size ps_marks_slot,8\n"
        "\t.balign 8\n"
        "ps_marks_slot:\n"
        "\t.8byte 0\n"
        "\t.popsection\n"
        "\t.pushsection .note.perfsage,\"aG\",%note,ps_marks_slot,comdat\n"
        "\t.balign 4\n"
        "\t.4byte 9, 8, 1\n"
        "\t.ascii \"perfsage\\0\\0\\0\\0\"\n"
        "\t.8byte ps_marks_slot - .\n"
        "\t.popsection\n"
        ".endif\n");
extern const struct ps_marks_listener *ps_marks_slot __attribute__((visibility("hidden")));

/* A shared object announces its slot to a listener that is active when the object is loaded. */
#if defined(__PIC__) && !defined(__PIE__)
extern void ps_marks_announce(const struct ps_marks_listener **slot)
    __attribute__((weak, visibility("default")));
static __attribute__((constructor, unused)) void ps__marks_loaded(void)
{
	if (ps_marks_announce)
		ps_marks_announce(&ps_marks_slot);
}
#endif

/* Returns the region of this name: the region that the call site found last, if it has this name. A
 * mark inside a wrapper function can have another name at each call. */
static __attribute__((cold, noinline, unused)) struct ps_mark_region *
ps__mark_find(struct ps_mark_region **site, const struct ps_marks_listener *listener,
              const char *name)
{
	struct ps_mark_region *region = __atomic_load_n(site, __ATOMIC_ACQUIRE);

	if (region && region->listener == listener && name &&
	    __builtin_strcmp(region->name, name) == 0)
		return region;
	region = listener->define(name);
	__atomic_store_n(site, region, __ATOMIC_RELEASE);
	return region;
}

static inline __attribute__((always_inline, unused)) struct ps_mark_region *
ps__mark_enter(struct ps_mark_region *region)
{
	if (__builtin_expect(region != NULL, 0))
		region->listener->enter(region);
	return region;
}

static inline __attribute__((always_inline, unused)) void
ps__mark_leave(struct ps_mark_region *region)
{
	if (__builtin_expect(region != NULL, 0))
		region->listener->leave(region);
}

static inline __attribute__((always_inline, unused)) void
ps__mark_visited(struct ps__mark_visit *visit)
{
	ps__mark_leave(visit->region);
}

static inline __attribute__((always_inline, unused)) void
ps__mark_value(struct ps_mark_region *named, int64_t value)
{
	if (named->listener->size >= sizeof(struct ps_marks_listener) && named->listener->value)
		named->listener->value(named, value);
}

/* The region of this name. If nobody listens, it is NULL, and the name isn't evaluated. */
#define PS__MARK_FIND(name)                                                    \
	__extension__({                                                        \
		static struct ps_mark_region *ps__mark_site;                   \
		const struct ps_marks_listener *ps__mark_listener =            \
		    __atomic_load_n(&ps_marks_slot, __ATOMIC_ACQUIRE);         \
		__builtin_expect(ps__mark_listener != NULL, 0)                 \
		    ? ps__mark_find(&ps__mark_site, ps__mark_listener, (name)) \
		    : NULL;                                                    \
	})

#define PS__MARK_JOIN(a, b) a##b
#define PS__MARK_REGION(name, visit)                                                     \
	for (struct ps__mark_visit visit __attribute__((                                 \
		 cleanup(ps__mark_visited))) = {ps__mark_enter(PS__MARK_FIND(name)), 1}; \
	     visit.round; visit.round = 0)
#define PS__MARK_COUNTED(name, number) PS__MARK_REGION(name, PS__MARK_JOIN(ps__mark_, number))

#define PS__MARK_BEGIN(name) ((void)ps__mark_enter(PS__MARK_FIND(name)))
#define PS__MARK_END(name)   ps__mark_leave(PS__MARK_FIND(name))
#define PS__MARK_VALUE(name, number)                                         \
	__extension__({                                                      \
		struct ps_mark_region *ps__mark_named = PS__MARK_FIND(name); \
		if (__builtin_expect(ps__mark_named != NULL, 0))             \
			ps__mark_value(ps__mark_named, (number));            \
	})

#else /* PERFSAGE_NO_MARKS */

#define PS__MARK_JOIN(a, b)            a##b
#define PS__MARK_ROUND(round)          for (int round = 1; round; round = 0)
#define PS__MARK_COUNTED(name, number) PS__MARK_ROUND(PS__MARK_JOIN(ps__mark_, number))

#define PS__MARK_BEGIN(name)         ((void)sizeof(name))
#define PS__MARK_END(name)           ((void)sizeof(name))
#define PS__MARK_VALUE(name, number) ((void)sizeof(name), (void)sizeof(number))

#endif

/**
 * The block that follows is a region: entered here, and left however the block
 * is left.
 *
 * name - any expression that is a string. It is evaluated only while a listener is active. It may
 *     change from visit to visit, as in a function around the marks
 *
 * break and continue leave only the block: a loop around the block goes on.
 * return, goto and C++ exceptions also leave the region. pthread_cancel leaves the
 * region, in C with -fexceptions. After a longjmp out of the block, the region is
 * left when a region around it is left.
 */
#define PS_REGION(name) PS__MARK_COUNTED(name, __COUNTER__)

/** The beginning of a region. PS_REGION_END ends it: with the same name, in the same thread. */
#define PS_REGION_BEGIN(name) PS__MARK_BEGIN(name)
#define PS_REGION_END(name)   PS__MARK_END(name)

/**
 * Gives the listener a number, such as rows or bytes. For each path and name,
 * the listener keeps the sum of the numbers, and how often a number was given
 * (ps_region_add_value). One name can make paths instead (ps_profile_set_group).
 *
 * name - as that of PS_REGION
 * number - an integer that fits int64_t. It is evaluated only while a listener is active
 */
#define PS_MARK_VALUE(name, number) PS__MARK_VALUE(name, number)

#ifdef __cplusplus
}
#endif

#endif

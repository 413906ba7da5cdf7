/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording: all readings of one event set with one list of events, and the histories that hold
 * their parts.
 *
 * A set makes the recording, binds it to a topology at its first reading, and writes it. The
 * topology owns a bound recording, so readings outlive their set. A change of the set's events ends
 * the recording.
 *
 * The readers and the one writer use a sequence lock. The writer makes `sequence` odd, changes rows
 * of any histories, and makes it even. A reader looks at `sequence` before and after reading, and
 * starts again if the number has changed. Every word is an atomic, stored with release and loaded
 * with acquire. A word's store pairs with its load, so the words are loaded between the reader's
 * two looks at `sequence`.
 */
#ifndef PS_STORE_RECORDING_H
#define PS_STORE_RECORDING_H

#include "store/history.h"
#include "topology/tree.h"

#include <perfsage/eventset.h>

#define PS__NO_GROUP UINT32_MAX

/* The meaning of one value in each row. */
struct ps__column {
	/* A look-up reads the members from here to is_estimate: one cache line. */
	char *name;
	/* Timestamp from which on the event may have been paused; 0: never. Stored and loaded
	 * relaxed: no other word depends on it */
	_Atomic uint64_t paused_from;
	uint32_t flags; /* flags of all its values: PS_VALUE_USER_ONLY, PS_VALUE_SAMPLED */
	/* The group with the event's times; PS__NO_GROUP if the event can't be counted here */
	uint32_t group;
	uint32_t word;  /* index of its value in a row */
	uint32_t times; /* index of its group's times in a row; 0 for PS__NO_GROUP */
	enum ps_scope scope;
	/* If the set's events count in several places: the number of the event's place. Histories
	 * of other places have no count of the event. Otherwise 0 */
	uint32_t place;
	/* Place of the histories in which a row is the whole value (ps__column_settle); UINT32_MAX:
	 * none. Stored and loaded relaxed, like paused_from */
	_Atomic uint32_t plain;
	uint16_t start; /* ps__name_start of the name, compared first: it differs for most names */
	bool is_estimate; /* sampled, or multiplexed by a source that gives no times */
	double scale;     /* count * scale is in unit */
	char unit[32];    /* "ns", "Joules"; "" for a plain count */
	/* The CPUs that can count the event, if some kind of cores can't; NULL: all */
	char *cpus;
	char *added; /* the name under which the event was added; NULL if that is `name` */
	_Atomic int64_t residual; /* at the last ps_eventset_check, if is_checked */
};

struct ps__recording {
	_Atomic uint64_t sequence; /* odd while a reading is being written */
	_Atomic uint64_t latest;   /* the latest reading's timestamp; 0: none yet */
	_Atomic(struct ps__history *)
	    histories; /* newest first; pushed with release, followed with acquire */
	/* next in the topology's list; written before it is published */
	struct ps__recording *next;
	/* next in the topology's list of recordings that totals look at */
	_Atomic(struct ps__recording *) next_current;
	/* The previous recording of the same set and topology; written before this one is
	 * published */
	struct ps__recording *older;
	_Atomic(struct ps__recording *)
	    newer; /* the set's next recording: stored with release, loaded with acquire */
	/* True if the set is gone, and its last counts are in an aggregate or were cleared */
	_Atomic bool is_retired;
	bool is_left;                 /* true if the set is gone; for ps_topology_clear_readings */
	bool counts_cpu;              /* the set counts what runs on CPUs, and not tasks */
	struct ps_topology *topology; /* NULL until bound */
	struct ps__pool pool;
	_Atomic uint64_t undone; /* number of writes that changed nothing */
	/* Picoseconds of a reading, as ps_eventset_overhead measured it; 0: not measured */
	_Atomic uint64_t reading_ps;
	/* Stored with release after the residuals, loaded with acquire before them */
	_Atomic bool is_checked;
	uint64_t generation; /* of the process that writes it: ps__fork_generation */
	size_t groups;
	size_t columns;
	struct ps__column column[];
};

/* Words of counts in a row: two times for each group, then the values. */
static inline size_t ps__recording_width(const struct ps__recording *recording)
{
	return 2 * recording->groups + recording->columns;
}

/* Creates a recording without names: the caller fills column[]. NULL if out of memory. */
struct ps__recording *ps__recording_create(size_t columns, size_t groups);
/* The first two bytes of a name. */
static inline uint16_t ps__name_start(const char *name)
{
	unsigned first = (unsigned char)name[0];

	return (uint16_t)(first ? first | (unsigned)(unsigned char)name[1] << 8 : 0);
}

/* Gives a column its names; added may be NULL. 0, or -1 for lack of memory. */
int ps__column_set_name(struct ps__column *column, const char *name, const char *added);
/* Notes that the event may be paused from this timestamp on. From then on a row is not the whole
 * value. */
static inline void ps__column_pause(struct ps__column *column, uint64_t from)
{
	atomic_store_explicit(&column->paused_from, from, memory_order_relaxed);
	atomic_store_explicit(&column->plain, UINT32_MAX, memory_order_relaxed);
}
/* Sets the column's positions in rows, and `plain`. The caller has set all other members. */
void ps__column_settle(const struct ps__recording *recording, struct ps__column *column);
int ps__column_copy(struct ps__column *out,
                    const struct ps__column *model); /* copies the strings, too */
/* Frees a recording and its histories. The recording must be unbound, or its topology no longer
 * used by any thread. */
void ps__recording_free(struct ps__recording *recording);

/*
 * Gives the recording to a topology, which counts a reference for the set. older: the set's
 * previous recording, if that is in the same topology, or NULL. PS_EINVAL if the topology was
 * destroyed.
 */
int ps__recording_bind(struct ps__recording *recording, struct ps_topology *topology,
                       struct ps__recording *older);

/* Returns the newest recording of a topology, whichever set made it. Pairs with the release in
 * ps__recording_bind. */
static inline struct ps__recording *ps__recording_first(const struct ps_topology *topology)
{
	return atomic_load_explicit(&topology->readings.recordings, memory_order_acquire);
}

/* Adds a history that is not yet on a Thread. NULL if out of memory. */
struct ps__history *ps__recording_add_history(struct ps__recording *recording);

/* Puts a history on the Thread of a CPU; the recording must be bound. */
void ps__recording_attach_history(struct ps__recording *recording, struct ps__history *history,
                                  int cpu);

static inline void ps__recording_write_begin(struct ps__recording *recording)
{
	uint64_t sequence = atomic_load_explicit(&recording->sequence, memory_order_relaxed);

	/* Pairs with the readers' second look: the stores of rows are releases, so a reader that
	 * sees a new row sees this number. */
	atomic_store_explicit(&recording->sequence, sequence + 1, memory_order_relaxed);
}

static inline void ps__recording_write_end(struct ps__recording *recording)
{
	uint64_t sequence = atomic_load_explicit(&recording->sequence, memory_order_relaxed);

	/* Pairs with ps__recording_read_begin: a reader that sees the even number sees the rows. */
	atomic_store_explicit(&recording->sequence, sequence + 1, memory_order_release);
}

/* A relaxed store, written like the kernel's WRITE_ONCE, because compilers make more instructions
 * of atomic_store_explicit. */
static inline void ps__store_word(_Atomic uint64_t *word, uint64_t value)
{
#ifdef PS__HAS_THREAD_SANITIZER
	atomic_store_explicit(word, value, memory_order_relaxed);
#else
	*(volatile uint64_t *)word = value;
#endif
}

/* Two words that are handled at once. Most of a reading's work is the same for all words of a
 * row. */
typedef uint64_t ps__pair __attribute__((vector_size(16), aligned(8), may_alias));

static inline ps__pair ps__load_pair(const uint64_t *words, size_t at_bytes)
{
	return *(const ps__pair *)((const char *)words + at_bytes);
}

static inline void ps__store_pair(uint64_t *words, size_t at_bytes, ps__pair value)
{
	*(ps__pair *)((char *)words + at_bytes) = value;
}

/* Stores two words like ps__store_word. */
static inline void ps__store_words(_Atomic uint64_t *words, size_t at_bytes, ps__pair value)
{
	words += at_bytes / sizeof *words;
#ifdef PS__HAS_THREAD_SANITIZER
	atomic_store_explicit(&words[0], value[0], memory_order_relaxed);
	atomic_store_explicit(&words[1], value[1], memory_order_relaxed);
#else
	*(volatile ps__pair *)words = value;
#endif
}

/* Adds to a word that only the caller writes; stores like ps__store_word. */
static inline void ps__add_word(_Atomic uint64_t *word, uint64_t count)
{
	ps__store_word(word, atomic_load_explicit(word, memory_order_relaxed) + count);
}

static inline void ps__add_words(_Atomic uint64_t *words, const uint64_t *counts, size_t count)
{
	for (size_t word = 0; word < count; word++)
		ps__add_word(&words[word], counts[word]);
}

static inline void ps__add_pair(_Atomic uint64_t *words, size_t at_bytes, ps__pair counts)
{
	words += at_bytes / sizeof *words;
#ifdef PS__HAS_THREAD_SANITIZER
	ps__add_word(&words[0], counts[0]);
	ps__add_word(&words[1], counts[1]);
#else
	*(volatile ps__pair *)words += counts;
#endif
}

/* Adds the growth from `before` to `now` to words; stores like ps__store_word. even_bytes: size of
 * all totals, without the last one if count is odd. Returns the bitwise OR of all growths: its
 * highest bit is set if a total went backwards. */
static inline uint64_t ps__add_growth(_Atomic uint64_t *words, const uint64_t *now,
                                      const uint64_t *before, size_t even_bytes, size_t count)
{
	ps__pair growths = {0, 0};

	for (size_t at_bytes = 0; at_bytes != even_bytes; at_bytes += sizeof growths) {
		ps__pair growth = ps__load_pair(now, at_bytes) - ps__load_pair(before, at_bytes);
		growths |= growth;
		ps__add_pair(words, at_bytes, growth);
	}
	uint64_t all = growths[0] | growths[1];
	if (count & 1) {
		uint64_t growth = now[count - 1] - before[count - 1];
		all |= growth;
		ps__add_word(&words[count - 1], growth);
	}
	return all;
}

/* Like ps__recording_write_begin, for a writer that stores rows with ps__store_word: one fence for
 * all stores. */
static inline uint64_t ps__recording_write_begin_fenced(struct ps__recording *recording)
{
	uint64_t sequence = atomic_load_explicit(&recording->sequence, memory_order_relaxed);

	atomic_store_explicit(&recording->sequence, sequence + 1, memory_order_relaxed);
	/*
	 * Pairs with the readers' loads of words: a reader that sees a word stored after this fence
	 * sees the odd number at its second look. ThreadSanitizer doesn't know fences, and needs
	 * none: its build stores all words as atomics.
	 */
#ifndef PS__HAS_THREAD_SANITIZER
	atomic_thread_fence(memory_order_release);
#endif
	return sequence;
}

static inline void ps__recording_write_end_from(struct ps__recording *recording, uint64_t sequence)
{
	atomic_store_explicit(&recording->sequence, sequence + 2, memory_order_release);
}

/* Returns the number of readings that were written, new ones and updates. For the writer; in other
 * threads the number may be wrong by one. */
static inline uint64_t ps__recording_count_writes(const struct ps__recording *recording)
{
	uint64_t writes = atomic_load_explicit(&recording->sequence, memory_order_relaxed) / 2;

	return writes - atomic_load_explicit(&recording->undone, memory_order_relaxed);
}

/*
 * Waits until the writer is done, and returns the sequence that it leaves. Doesn't wait in a forked
 * child, where there is no writer: returns the odd sequence, and the caller reads half-written rows
 * as they are.
 */
uint64_t ps__recording_wait(const struct ps__recording *recording) __attribute__((cold));

/* Waits for an even sequence and returns it. The wait is short: a writer never waits, and keeps the
 * sequence odd for some tens of stores. */
static inline uint64_t ps__recording_read_begin(const struct ps__recording *recording)
{
	/* Pairs with ps__recording_write_end. */
	uint64_t sequence = atomic_load_explicit(&recording->sequence, memory_order_acquire);

	return __builtin_expect(sequence & 1, 0) ? ps__recording_wait(recording) : sequence;
}

/* True if a writer was at work since ps__recording_read_begin. The reader must then read again. */
static inline bool ps__recording_read_retry(const struct ps__recording *recording,
                                            uint64_t sequence)
{
	return atomic_load_explicit(&recording->sequence, memory_order_relaxed) != sequence;
}

#endif

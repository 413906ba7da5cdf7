/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast path of a reading. While the task stays on its CPU, the part of a reading there is
 *
 *     base + counts + (totals - assigned)  =  totals + offset,
 *
 * and ps_accum doesn't change the offset either. So a reading checks that nothing has changed,
 * reads the totals, adds the offset, and stores the sum. The slot's counts and base are brought up
 * to date when another call uses the set (ps__set_enter does it).
 */
#include "eventset/fast_totals.h"
#include "eventset/undo.h"

/* Writes the totals to the row. False if a counter went backwards: the row is then wrong. */
PS__INLINE bool write_row(const struct ps__fast_path *fast, uint64_t timestamp)
{
	const uint64_t *current = fast->current, *previous = fast->previous, *offset = fast->offset;
	_Atomic uint64_t *words = fast->row.words + 1;
	size_t even_bytes = fast->even_bytes;
	ps__pair changes = {0, 0};

	ps__store_word(&words[-1], timestamp);
	for (size_t at_bytes = 0; at_bytes != even_bytes; at_bytes += sizeof(ps__pair)) {
		ps__pair total = ps__load_pair(current, at_bytes);
		changes |= total - ps__load_pair(previous, at_bytes);
		ps__store_words(words, at_bytes, total + ps__load_pair(offset, at_bytes));
	}
	uint64_t all = changes[0] | changes[1];
	if (fast->width & 1) {
		size_t word = fast->width - 1;
		all |= current[word] - previous[word];
		ps__store_word(&words[word], current[word] + offset[word]);
	}
	return !(all >> 63);
}

/* Restores the row's former values. */
static __attribute__((cold, noinline)) void unwrite_row(struct ps__fast_path *fast,
                                                        uint64_t timestamp)
{
	uint64_t *current = fast->current;

	fast->current = fast->previous;
	write_row(fast, timestamp);
	fast->current = current;
}

/* Makes the row the first one of a new chunk. */
static __attribute__((cold, noinline)) int begin_chunk(struct ps__fast_path *fast, size_t row)
{
	if (ps__history_make_room(fast->row.history) < 0)
		return -1;
	ps__fast_find_row(fast, fast->row.history, row);
	return 0;
}

/* Moves `words` and `mark` from the latest row to the next one. */
static inline int find_new_row(struct ps__fast_path *fast)
{
	const struct ps__history *history = fast->row.history;
	size_t row = atomic_load_explicit(&history->count, memory_order_relaxed);

	if (PS__LIKELY(row % PS__CHUNK_ROWS != 0)) {
		fast->row.words += history->stride;
		fast->row.mark++;
	} else if (begin_chunk(fast, row) < 0) {
		return -1;
	}
	fast->row.flags = fast->counts_mark;
	/* A release store: the chunk may have been another history's before, and a reader that
	 * still reads there must see that the chunk was released. */
	atomic_store_explicit(fast->row.mark, fast->row.flags, memory_order_release);
	return 0;
}

/* Skip the store when unchanged: the flags are on another cache line. */
static inline void mark_row(struct ps__fast_path *fast, uint16_t mark)
{
	if (PS__LIKELY(fast->row.flags == mark))
		return;
	fast->row.flags = mark;
	atomic_store_explicit(fast->row.mark, mark, memory_order_relaxed);
}

/* Makes the row its own base, for ps_accum. All counts up to `previous` are then in the base. */
static inline void begin_base(struct ps__fast_path *fast)
{
	mark_row(fast, fast->counts_mark | PS__MARK_BASE_IS_VALUE);
	fast->base = PS__BASE_PREVIOUS;
}

/* At the first ps_read after a ps_accum, keeps the totals of that ps_accum in `kept`. Otherwise
 * only exchanges `current` and `previous`. */
static __attribute__((noinline)) void fast_keep_base(struct ps__fast_path *fast)
{
	uint64_t *spare = fast->kept;

	mark_row(fast, fast->counts_mark | PS__MARK_BASE_APART);
	if (fast->base != PS__BASE_PREVIOUS) {
		ps__fast_swap(&fast->current, &fast->previous);
		return;
	}
	fast->kept = fast->previous;
	atomic_signal_fence(memory_order_seq_cst);
	fast->base = PS__BASE_KEPT;
	atomic_signal_fence(memory_order_seq_cst);
	fast->previous = fast->current;
	fast->current = spare;
}

/* Writes the reading. The caller has read the counters, and has found a row for it. If the values
 * are wrong (a counter went back), the latest reading stays as it is. */
PS__INLINE int write_fast(struct ps_eventset *set, enum ps__write_kind kind, bool is_new,
                          ptrdiff_t old_row, uint64_t *made)
{
	struct ps__fast_path *fast = &set->fast_path;
	uint64_t timestamp = ps__set_next_timestamp(set, ps__clock_now_ns(&set->recorder.clock));
	struct ps__recording *recording = set->recorder.recording;
	uint64_t sequence = ps__recording_write_begin_fenced(recording);

	if (!PS__LIKELY(write_row(fast, timestamp))) {
		if (is_new)
			ps__fast_find_latest(fast, fast->row.history);
		else
			unwrite_row(fast, set->recorder.last_timestamp);
		atomic_fetch_add_explicit(&recording->undone, 1, memory_order_relaxed);
		ps__recording_write_end_from(recording, sequence);
		return ps__fast_note_miss(fast, PS_OK);
	}
	if (old_row >= 0)
		ps__set_enter_stage(set, PS__STAGE_REOPENING);
	if (is_new)
		ps__history_publish(fast->row.history);
	if (kind == PS__WRITE_COUNTS && !PS__LIKELY(!fast->base))
		fast_keep_base(fast);
	else
		ps__fast_swap(&fast->current, &fast->previous);
	if (kind == PS__WRITE_ACCUM)
		begin_base(fast);
	if (old_row >= 0) {
		ps__set_end_move(set, (size_t)old_row, kind);
		ps__set_enter_stage(set, PS__STAGE_NONE);
	}
	ps__store_word(&recording->latest, timestamp);
	ps__recording_write_end_from(recording, sequence);
	*made = timestamp;
	return PS_OK;
}

/* True if the fast path is still open, and the caller owns the set. */
static inline bool is_at_hand(const struct ps_eventset *set, const struct ps_component *root)
{
	return set->fast_path.root == root && !ps__topology_is_destroyed(root->topology) &&
	       set->calls.owner == ps__own_thread_number;
}

PS__INLINE int read_at_hand(struct ps_eventset *set, struct ps_component *root,
                            const uint64_t *timestamp, enum ps__write_kind kind, uint64_t *made)
{
	bool is_new = false;

	if (!PS__LIKELY(is_at_hand(set, root)))
		return PS__TRY_SLOW_PATH;
	/* Updates the latest reading, or makes a new one if nothing of the latest must be kept. */
	if (timestamp && *timestamp != set->recorder.last_timestamp) {
		if (*timestamp || set->fast_path.base || set->recorder.history)
			return PS__TRY_SLOW_PATH;
		is_new = true;
	}
	int result = ps__fast_read_totals(&set->fast_path);
	if (!PS__LIKELY(result == PS_OK))
		return result;
	/* If memory is short, the slow path reports it. */
	if (is_new && find_new_row(&set->fast_path) < 0)
		return PS__TRY_SLOW_PATH;
	return write_fast(set, kind, is_new, -1, made);
}

/* Updates an older reading, if the set has it in one row. */
PS__INLINE int update_at_hand(struct ps_eventset *set, struct ps_component *root,
                              uint64_t timestamp, enum ps__write_kind kind, uint64_t *made)
{
	if (!is_at_hand(set, root) || set->recorder.history)
		return PS__TRY_SLOW_PATH;
	int result = ps__fast_read_totals(&set->fast_path);
	if (!PS__LIKELY(result == PS_OK))
		return result;
	ptrdiff_t row = ps__set_find_old_row(set, timestamp, kind);
	if (row < 0 || find_new_row(&set->fast_path) < 0)
		return PS__TRY_SLOW_PATH;
	ps__set_begin_move(set, (size_t)row, kind);
	result = write_fast(set, kind, true, row, made);
	if (!PS__LIKELY(result == PS_OK))
		ps__set_cancel_move(set);
	return result;
}

typedef int reading(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                    struct ps_thread **thread);

PS__INLINE void leave(struct ps_eventset *set, int result, uint64_t made, uint64_t *timestamp,
                      struct ps_thread **thread)
{
	if (PS__LIKELY(result == PS_OK)) {
		/* Written while the set is busy: after that a handler may make another reading. */
		if (timestamp)
			*timestamp = made;
		if (thread)
			*thread = set->fast_path.row.history->thread;
		/* The caller must receive the timestamp before the set stores it: see recover.c. */
		atomic_signal_fence(memory_order_seq_cst);
		set->recorder.last_timestamp = made;
	}
	atomic_signal_fence(memory_order_seq_cst);
	set->calls.busy = 0;
}

/* Updates readings that are neither the latest nor new, or calls the slow path. This is a separate
 * function, so that the common path needn't save the registers that it uses. */
PS__INLINE int update_fast(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                           struct ps_thread **thread, enum ps__write_kind kind)
{
	reading *slow_path = kind == PS__WRITE_ACCUM ? ps__set_accum_slowly : ps__set_read_slowly;
	uint64_t made = 0;

	if (!timestamp || !*timestamp || *timestamp == set->recorder.last_timestamp)
		return slow_path(set, root, timestamp, thread);
	ps__arch_note_stack(&set->calls.busy);
	atomic_signal_fence(memory_order_seq_cst);
	int result = update_at_hand(set, root, *timestamp, kind, &made);
	leave(set, result, made, timestamp, thread);
	return result == PS__TRY_SLOW_PATH ? slow_path(set, root, timestamp, thread) : result;
}

static __attribute__((noinline)) int update_counts(struct ps_eventset *set,
                                                   struct ps_component *root, uint64_t *timestamp,
                                                   struct ps_thread **thread)
{
	return update_fast(set, root, timestamp, thread, PS__WRITE_COUNTS);
}

static __attribute__((noinline)) int update_accumulated(struct ps_eventset *set,
                                                        struct ps_component *root,
                                                        uint64_t *timestamp,
                                                        struct ps_thread **thread)
{
	return update_fast(set, root, timestamp, thread, PS__WRITE_ACCUM);
}

PS__INLINE int read_fast(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                         struct ps_thread **thread, enum ps__write_kind kind)
{
	reading *slow_path = kind == PS__WRITE_ACCUM ? ps__set_accum_slowly : ps__set_read_slowly;
	reading *update = kind == PS__WRITE_ACCUM ? update_accumulated : update_counts;
	uint64_t made = 0;

	/* No stack address is below 16. After a comparison with 0 the compiler would know the value
	 * of the whole word, and would compute the result from it. */
	if (!PS__LIKELY(ps__fork_is_same(set->calls.fork_generation)) ||
	    !PS__LIKELY(set->calls.busy < 16))
		return slow_path(set, root, timestamp, thread);
	ps__arch_note_stack(&set->calls.busy);
	/* Nothing that was read before this may be used: a signal handler's reading may have
	 * changed it. */
	atomic_signal_fence(memory_order_seq_cst);
	int result = read_at_hand(set, root, timestamp, kind, &made);
	leave(set, result, made, timestamp, thread);
	return PS__LIKELY(result != PS__TRY_SLOW_PATH) ? result
	                                               : update(set, root, timestamp, thread);
}

static PS__HOT __attribute__((noinline)) int fast_read_counts(struct ps_eventset *set,
                                                              struct ps_component *root,
                                                              uint64_t *timestamp,
                                                              struct ps_thread **thread)
{
	return read_fast(set, root, timestamp, thread, PS__WRITE_COUNTS);
}

static PS__HOT __attribute__((noinline)) int fast_read_accumulated(struct ps_eventset *set,
                                                                   struct ps_component *root,
                                                                   uint64_t *timestamp,
                                                                   struct ps_thread **thread)
{
	return read_fast(set, root, timestamp, thread, PS__WRITE_ACCUM);
}

/* The fast path is in separate functions, so that a reading which must take the slow path executes,
 * and counts, as little code as possible before that. */
PS__HOT int ps_read(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                    struct ps_thread **thread)
{
	if (!PS__LIKELY(set))
		return ps__set_read_slowly(set, root, timestamp, thread);
	if (!PS__LIKELY(root))
		return ps__set_read_slowly(set, root, timestamp, thread);
	if (!PS__LIKELY(set->fast_path.root == root))
		return ps__set_read_slowly(set, root, timestamp, thread);
	return fast_read_counts(set, root, timestamp, thread);
}

PS__HOT int ps_accum(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                     struct ps_thread **thread)
{
	if (!PS__LIKELY(set))
		return ps__set_accum_slowly(set, root, timestamp, thread);
	if (!PS__LIKELY(root))
		return ps__set_accum_slowly(set, root, timestamp, thread);
	if (!PS__LIKELY(set->fast_path.root == root))
		return ps__set_accum_slowly(set, root, timestamp, thread);
	return fast_read_accumulated(set, root, timestamp, thread);
}

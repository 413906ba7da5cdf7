/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Visits of regions that take long, as records of a log. Each thread has a stream of its totals. At
 * the end of a visit, the totals are the sums over the thread's paths, so entering and leaving
 * regions cost nothing more. The totals at the visit's beginning are computed by subtracting what
 * was counted in the visit.
 */
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "eventset/parts.h"
#include "region/profile.h"
#include "snapshot/stream.h"

#include <perfsage/slow_visit.h>
#include <string.h>

enum {
	ENTERED,
	LEFT
};
enum {
	REGION,
	PATH,
	THREAD,
	WALL_NS,
	ONE_IN
};

static const char *const points[] = {"entered", "left"};
static const struct ps_log_field fields[] = {{"region", PS_LOG_TEXT},
                                             {"path", PS_LOG_TEXT},
                                             {"thread", PS_LOG_INTEGER},
                                             {"wall_ns", PS_LOG_INTEGER},
                                             {"one_in", PS_LOG_INTEGER}};
static const struct ps_log_type type = {.size = sizeof type,
                                        .name = "visit",
                                        .points = points,
                                        .point_count = 2,
                                        .fields = fields,
                                        .field_count = 5};

/* A thread's stream of visits. */
struct stream {
	struct ps__visit_stream base;
	struct ps_log_stream *records;
	size_t part_count;      /* number of the set's parts that are in parts */
	struct ps__links parts; /* maps a history (used as both keys) to its part's number, from 1
	                         * on */
};

static void visit_log_end(struct ps__visit_stream *base)
{
	struct stream *stream = (struct stream *)base;

	ps_log_stream_destroy(stream->records);
	ps__links_clear(&stream->parts);
	ps__os_free(stream);
}

static void visit_log_release(void *log)
{
	ps__log_release(log);
}

static bool visit_log_write(void *context, struct ps__member *member,
                            const struct ps__visit *visit);

static const struct ps__visit_writer visit_log_writer = {
    .write = visit_log_write, .end = visit_log_end, .release = visit_log_release};

/* Returns the thread's stream for this log; makes it if needed. NULL if that fails. */
static struct stream *visit_log_stream(struct ps__member *member, struct ps_log *log)
{
	struct stream *stream;

	for (struct ps__visit_stream *base = member->watches.streams; base; base = base->next) {
		stream = (struct stream *)base;
		if (base->writer == &visit_log_writer && stream->records->log == log)
			return stream;
	}
	stream = ps__os_calloc(1, sizeof *stream);
	if (!stream)
		return NULL;
	if (ps__log_stream_make(&stream->records, log, member->set, &type) != PS_OK) {
		ps__os_free(stream);
		return NULL;
	}
	stream->base = (struct ps__visit_stream){member->watches.streams, &visit_log_writer};
	member->watches.streams = &stream->base;
	return stream;
}

/* Adds parts that are new in the set. A set gets more parts when it counts on more hardware
 * threads. */
static bool visit_log_find_parts(struct stream *stream)
{
	const struct ps__history *history;

	while ((history = ps__set_part_history(stream->records->source.set, stream->part_count))) {
		if (ps__links_reserve(&stream->parts) < 0)
			return false;
		ps__links_add(&stream->parts, history, history,
		              (void *)(uintptr_t)++stream->part_count);
	}
	return true;
}

/* Adds the counts of a path to a snapshot, or subtracts them if is_less. Returns false if the path
 * was counted on a part that parts doesn't have. */
static bool visit_log_add(const struct stream *stream, struct ps_snapshot *snapshot,
                          const struct ps__node *node, bool is_less)
{
	struct ps__node_cell *cell = atomic_load_explicit(&node->cells, memory_order_relaxed);

	for (; cell; cell = cell->next) {
		size_t number =
		    (uintptr_t)ps__links_find(&stream->parts, cell->history, cell->history);
		if (number == 0)
			return false;
		uint64_t *part = ps__snapshot_part(snapshot, number - 1);
		uint16_t mark = atomic_load_explicit(&cell->mark, memory_order_relaxed);
		part[0] = ps__mark_join((uint16_t)part[0], mark);
		for (size_t word = 1; word <= snapshot->width; word++) {
			uint64_t count =
			    atomic_load_explicit(&cell->words[word], memory_order_relaxed);
			part[word] += is_less ? -count : count;
		}
	}
	return true;
}

static bool visit_log_fill(struct stream *stream, const struct ps__member *member,
                           const struct ps__visit *visit)
{
	if (!visit->counts || !visit_log_find_parts(stream))
		return false;
	struct ps_snapshot *left = ps__log_fill_point(stream->records, LEFT, stream->part_count);
	struct ps_snapshot *entered =
	    ps__log_fill_point(stream->records, ENTERED, stream->part_count);
	if (!left || !entered)
		return false;
	for (const struct ps__node *node = member->root; node;
	     node = atomic_load_explicit(&node->next, memory_order_relaxed)) {
		if (!visit_log_add(stream, left, node, false))
			return false;
	}
	memcpy(entered->parts, left->parts, left->count * (1 + left->width) * sizeof *left->parts);
	left->timestamp = visit->left_ns;
	entered->timestamp = visit->entered_ns;
	return visit_log_add(stream, entered, visit->counts, true);
}

/* Copies a name, with a backslash before each letter that is in special. A copy of more than
 * most_bytes bytes is cut and ends with "...". Returns the copy's length. */
static size_t visit_log_copy(const char *name, const char *special, size_t most_bytes, char *out)
{
	size_t length = 0, fits = 0;

	for (; *name; name++) {
		bool is_special = strchr(special, *name);
		/* Don't cut inside a UTF-8 character. */
		if ((*name & 0xc0) != 0x80 && length + 3 <= most_bytes)
			fits = length;
		if (length + is_special + 1 > most_bytes) {
			strcpy(out + fits, "...");
			return fits + 3;
		}
		if (is_special)
			out[length++] = '\\';
		out[length++] = *name;
	}
	out[length] = '\0';
	return length;
}

/* Writes "outer/inner", or ".../inner" if not all of it fits. Returns the text's beginning in out.
 * A name's own "/" and "\" have a backslash, as in ps__path_label_add_escaped. */
static const char *visit_log_name_path(const struct ps__member *member, size_t depth,
                                       char out[PS_LOG_TEXT_BYTES + 1])
{
	static const char more[] = ".../";
	const size_t room = PS_LOG_TEXT_BYTES - (depth > 1 ? sizeof more - 1 : 0);
	char *start = out + PS_LOG_TEXT_BYTES;
	char name[PS_LOG_TEXT_BYTES + 1];

	*start = '\0';
	for (size_t level = depth; level-- > 0;) {
		const char *whole = member->levels[level].node->region->name;
		bool is_inner = level == depth - 1;
		/* An outer name that would be cut is left out. */
		bool is_long = !is_inner && strlen(whole) > PS_LOG_TEXT_BYTES - sizeof more;
		size_t length =
		    visit_log_copy(whole, "/\\", is_inner ? room : PS_LOG_TEXT_BYTES, name);
		if (!is_inner)
			name[length++] = '/';
		if (is_long || length > (size_t)(start - out) - (level ? sizeof more - 1 : 0)) {
			start -= sizeof more - 1;
			memcpy(start, more, sizeof more - 1);
			break;
		}
		start -= length;
		memcpy(start, name, length);
	}
	return start;
}

/* Returns how many visits this one stands for: the product of the sampling rates of its region and
 * those around it. */
static uint64_t visit_log_one_in(const struct ps__member *member, size_t depth)
{
	uint64_t product = 1;

	for (size_t level = 0; level < depth; level++) {
		if (__builtin_mul_overflow(product, member->levels[level].rate->one_in, &product))
			return INT64_MAX;
	}
	return product < INT64_MAX ? product : INT64_MAX;
}

static void visit_log_set_fields(struct ps_log_stream *records, const struct ps__member *member,
                                 const struct ps__visit *visit)
{
	const struct ps__level *level = &member->levels[visit->depth - 1];
	char text[PS_LOG_TEXT_BYTES + 1];

	visit_log_copy(level->region->name, "", PS_LOG_TEXT_BYTES, text);
	ps_log_set_text(records, REGION, text);
	ps_log_set_text(records, PATH, visit_log_name_path(member, visit->depth, text));
	ps_log_set_integer(records, THREAD, member->tid);
	ps_log_set_integer(records, WALL_NS, (long long)(visit->left_ns - visit->entered_ns));
	ps_log_set_integer(records, ONE_IN, (long long)visit_log_one_in(member, visit->depth));
}

static bool visit_log_write(void *context, struct ps__member *member, const struct ps__visit *visit)
{
	struct ps_log *log = context;
	struct stream *stream = visit_log_stream(member, log);

	if (!stream) {
		atomic_fetch_add_explicit(&log->lost, 1, memory_order_relaxed);
		return false;
	}
	if (!visit_log_fill(stream, member, visit)) {
		ps__log_lose(stream->records, PS_EMISC);
		return false;
	}
	visit_log_set_fields(stream->records, member, visit);
	return ps_log_write(stream->records) == PS_OK;
}

int ps_region_log_slower_than(struct ps_region *region, uint64_t limit_ns, struct ps_log *log)
{
	static const char call[] = "ps_region_log_slower_than";
	const struct ps__slow slow = {
	    .limit_ns = limit_ns, .writer = log ? &visit_log_writer : NULL, .context = log};

	if (log && !ps__fork_is_same(log->generation))
		return ps__fail(PS_ESYS,
		                "%s: the log '%s' is the parent process's: make one in this "
		                "process",
		                call, log->file.path);
	if (log)
		ps__log_hold(log);
	int result = ps__region_set_slow(region, &slow, call);
	if (result != PS_OK && log)
		ps__log_release(log);
	return result;
}

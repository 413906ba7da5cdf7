/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and destroys logs: checks the arguments, and writes the header with the topology. */
#include "snapshot/log.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "base/stack.h"
#include "topology/annotate.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* Space of a block for each hardware thread: when a block begins, a stream writes its counts on all
 * hardware threads that it has met. */
#define BYTES_PER_THREAD ((size_t)1024)
/* With larger blocks a stream needs a new block less often. But a small ring should have at least
 * RING_SHARE blocks. */
#define LEAST_BLOCK ((size_t)256 * 1024)
#define RING_SHARE  64

static size_t round_up(size_t number, size_t to)
{
	return (number + to - 1) / to * to;
}

static int log_check_sizes(const struct ps_log_options *options)
{
	if (options->block_bytes > PS__LOG_MOST_BLOCK)
		return ps__fail(PS_EINVAL,
		                "ps_log_create: block_bytes is %zu: give at most %zu, or 0",
		                options->block_bytes, PS__LOG_MOST_BLOCK);
	if (options->ring_bytes > (uint64_t)INT64_MAX / 2)
		return ps__fail(PS_EINVAL, "ps_log_create: ring_bytes is %llu: that is no size",
		                (unsigned long long)options->ring_bytes);
	return PS_OK;
}

static int log_check(struct ps_log *const *out, const char *path, const struct ps_component *root,
                     const struct ps_log_options *options)
{
	if (!out || !path || !root)
		return ps__fail(PS_EINVAL, "ps_log_create: the %s is NULL",
		                !out    ? "pointer for the log"
		                : !path ? "path"
		                        : "root");
	if (root != root->topology->root)
		return ps__fail(PS_EINVAL,
		                "ps_log_create: the component is not the root of a topology");
	if (options->size != sizeof *options)
		return ps__fail(
		    PS_EINVAL,
		    "ps_log_create: options->size is %zu, not %zu: set it to sizeof options",
		    options->size, sizeof *options);
	if (options->flags & ~(unsigned)PS_LOG_REPLACE)
		return ps__fail(PS_EINVAL, "ps_log_create: the flags %#x are not known",
		                options->flags & ~(unsigned)PS_LOG_REPLACE);
	return log_check_sizes(options);
}

static size_t choose_block(const struct ps_topology *topology, const struct ps_log_options *options)
{
	size_t for_threads = topology->thread_count * BYTES_PER_THREAD, least = LEAST_BLOCK;

	if (options->block_bytes)
		return options->block_bytes;
	if (options->ring_bytes && options->ring_bytes / RING_SHARE < least)
		least = (size_t)options->ring_bytes / RING_SHARE;
	return for_threads > least ? for_threads : least;
}

static int choose_sizes(struct ps__log_file *file, const struct ps_topology *topology,
                        const struct ps_log_options *options)
{
	size_t asked = choose_block(topology, options);

	if (asked > PS__LOG_MOST_BLOCK)
		asked = PS__LOG_MOST_BLOCK;
	file->block_bytes = round_up(asked ? asked : 1, PS__LOG_ALIGNMENT);
	file->ring_blocks = (size_t)options->ring_bytes / file->block_bytes;
	if (options->ring_bytes && file->ring_blocks < 2)
		return ps__fail(PS_EINVAL,
		                "ps_log_create: ring_bytes is %llu, and a block has %zu: give at "
		                "least %zu",
		                (unsigned long long)options->ring_bytes, file->block_bytes,
		                2 * file->block_bytes);
	return PS_OK;
}

static int see_nothing(const struct ps_component *component, struct ps__note *note, void *context)
{
	(void)component;
	(void)note;
	(void)context;
	return PS_OK;
}

static void fill_header(struct ps__log_header *header, const struct ps__log_file *file,
                        const char *xml, size_t xml_bytes)
{
	memcpy(header->magic, PS__LOG_MAGIC, sizeof header->magic);
	header->byte_order = PS__LOG_BYTE_ORDER;
	header->version = PS__LOG_VERSION;
	header->block_bytes = file->block_bytes;
	header->ring_blocks = file->ring_blocks;
	header->first_block = file->first_block;
	header->xml_bytes = xml_bytes;
	header->monotonic_ns = ps__os_now_ns();
	header->realtime_ns = ps__os_clock_ns(CLOCK_REALTIME);
	memcpy(header + 1, xml, xml_bytes);
	const struct ps__log_close close = ps__log_close_of(PS__LOG_OPEN);
	memcpy((char *)header + file->close_offset, &close, sizeof close);
	header->check = ps__log_check(header, offsetof(struct ps__log_header, check),
	                              (const uint64_t *)(header + 1),
	                              round_up(xml_bytes, sizeof(uint64_t)) / sizeof(uint64_t));
}

/* Reserves space, for a ring also that of its blocks. Writes all that comes before the blocks. */
static int log_fill(struct ps__log_file *file, const struct ps_topology *topology)
{
	size_t xml_bytes;
	char *xml;
	int result = ps__annotate_export(topology, see_nothing, NULL, &xml, &xml_bytes);

	if (result != PS_OK)
		return result;
	file->close_offset = ps__log_close_offset(xml_bytes);
	file->first_block =
	    round_up(file->close_offset + sizeof(struct ps__log_close), PS__LOG_ALIGNMENT);
	struct ps__log_header *header = ps__os_calloc(1, file->first_block);
	if (header)
		fill_header(header, file, xml, xml_bytes);
	ps__os_free(xml);
	if (!header)
		return ps__fail_memory("the log's header");
	result = ps__log_file_reserve(file, 0,
	                              file->first_block + file->ring_blocks * file->block_bytes);
	if (result == PS_OK)
		result = ps__log_file_write(file, header, 0, file->first_block);
	ps__os_free(header);
	return result;
}

static int make_file(struct ps_log *log, const char *path, const struct ps_topology *topology,
                     bool may_replace)
{
	int result = ps__log_file_create(&log->file, path, may_replace);

	if (result != PS_OK)
		return result;
	result = log_fill(&log->file, topology);
	if (result == PS_OK)
		result = ps__log_file_complete(&log->file);
	if (result != PS_OK)
		ps__log_file_remove(&log->file);
	return result;
}

static int log_create(struct ps_log **out, const char *path, const struct ps_topology *topology,
                      const struct ps_log_options *options)
{
	struct ps_log *log = ps__os_calloc(1, sizeof *log);
	int result = log ? choose_sizes(&log->file, topology, options) : ps__fail_memory("a log");

	if (result == PS_OK && log->file.ring_blocks)
		log->is_used = ps__os_calloc(log->file.ring_blocks, sizeof *log->is_used);
	if (result == PS_OK && log->file.ring_blocks && !log->is_used)
		result = ps__fail_memory("a log");
	if (result == PS_OK)
		result = make_file(log, path, topology, options->flags & PS_LOG_REPLACE);
	if (result != PS_OK) {
		if (log)
			ps__os_free(log->is_used);
		ps__os_free(log);
		return result;
	}
	log->generation = ps__fork_generation();
	pthread_mutex_init(&log->lock, NULL);
	atomic_init(&log->holders, 1);
	*out = log;
	return PS_OK;
}

int ps_log_create(struct ps_log **out, const char *path, const struct ps_component *root,
                  const struct ps_log_options *options)
{
	static const struct ps_log_options none = {.size = sizeof none};
	struct ps__held held;

	if (!options)
		options = &none;
	int result = log_check(out, path, root, options);
	if (result != PS_OK)
		return result;
	int cancel = ps__cancel_hold();
	ps__signals_hold(&held);
	result = log_create(out, path, root->topology, options);
	ps__signals_release(&held);
	ps__cancel_release(cancel);
	return result;
}

uint64_t ps_log_lost(const struct ps_log *log)
{
	return log ? atomic_load_explicit(&log->lost, memory_order_relaxed) : 0;
}

void ps_log_destroy(struct ps_log *log)
{
	struct ps__held held;

	if (!log)
		return;
	ps__signals_hold(&held);
	ps__log_release(log);
	ps__signals_release(&held);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the maps and the programs by bpf(2), and runs a program for a reading. */
#include "backend/bpf.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The licence of the two programs: that of this library, or the GPL. */
#define LICENCE "Dual BSD/GPL"

/* The kernel stops loading a program when a signal comes. */
#define MOST_TRIES 8

/* For a reading, the program gets as many words as from the tracepoint. All are 0: no task left. */
#define TRACE_WORDS 4

/* Calls bpf(2). Returns its result, or -errno. */
static int call_kernel(enum bpf_cmd command, union bpf_attr *attr)
{
	int result = -1;

	for (int tries = 0; tries < MOST_TRIES; tries++) {
		result = ps__os.bpf((int)command, attr, sizeof *attr);
		if (result >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return result < 0 ? -errno : result;
}

static uint64_t bpf_address(const void *memory)
{
	return (uint64_t)(uintptr_t)memory;
}

/* The beginning of what the kernel tells about every kind of object, and all that Linux 5.12 tells
 * about programs. Older headers lack the last word. */
struct object_info {
	uint32_t type, id;
	uint64_t others[25];
	uint64_t recursion_misses;
};

/* Returns 0 or -errno. Words that the kernel doesn't know stay 0. */
static int ask_about(int fd, struct object_info *info)
{
	union bpf_attr attr;

	memset(info, 0, sizeof *info);
	memset(&attr, 0, sizeof attr);
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof *info;
	attr.info.info = bpf_address(info);
	return call_kernel(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* Returns 0 or -errno. -EBADF: the user's program has closed the descriptor, and may have opened
 * something else under its number. */
static int ask_about_own(const struct ps__bpf_object *object, struct object_info *info)
{
	int result = ask_about(object->fd, info);

	if (result == -EINVAL)
		return -EBADF;
	if (result == 0 && (info->type != object->type || info->id != object->id))
		return -EBADF;
	return result;
}

/* True if the descriptor is still the object's. False also if the kernel doesn't tell. */
static bool is_object(const struct ps__bpf_object *object)
{
	struct object_info info;

	return ask_about_own(object, &info) == 0;
}

/* Explains an error of bpf(2). EINVAL can mean that the number is another file's now. */
static int explain_use(enum bpf_cmd command, const struct ps__bpf_object *object, const char *what,
                       int error)
{
	return ps__bpf_explain(command, what,
	                       error == EINVAL && !is_object(object) ? EBADF : error);
}

/* Takes a new descriptor into *object. result: the descriptor, or -errno. */
static int bpf_adopt(struct ps__bpf_object *object, enum bpf_cmd command, const char *what,
                     int result)
{
	struct object_info info;

	if (result < 0)
		return ps__bpf_explain(command, what, -result);
	int asked = ask_about(result, &info);
	if (asked < 0) {
		ps__os.close(result);
		return ps__bpf_explain(BPF_OBJ_GET_INFO_BY_FD, what, -asked);
	}
	*object = (struct ps__bpf_object){.fd = result, .type = info.type, .id = info.id};
	return PS_OK;
}

static int make_map(struct ps__bpf_object *out, enum bpf_map_type type, size_t value_bytes,
                    size_t values, const char *what)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.map_type = type;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = (uint32_t)value_bytes;
	attr.max_entries = (uint32_t)values;
	return bpf_adopt(out, BPF_MAP_CREATE, what, call_kernel(BPF_MAP_CREATE, &attr));
}

static int update_map(const struct ps__bpf_object *map, uint32_t key, const void *value,
                      const char *what)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.map_fd = (uint32_t)map->fd;
	attr.key = bpf_address(&key);
	attr.value = bpf_address(value);
	int result = call_kernel(BPF_MAP_UPDATE_ELEM, &attr);
	return result < 0 ? explain_use(BPF_MAP_UPDATE_ELEM, map, what, -result) : PS_OK;
}

static int load_program(struct ps__bpf_object *out, const struct ps__bpf_code *code,
                        const char *what)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = bpf_address(code->list);
	attr.insn_cnt = (uint32_t)code->count;
	attr.license = bpf_address(LICENCE);
	snprintf(attr.prog_name, sizeof attr.prog_name, "perfsage");
	return bpf_adopt(out, BPF_PROG_LOAD, what, call_kernel(BPF_PROG_LOAD, &attr));
}

static int bpf_make_room(struct ps__bpf_code *code)
{
	code->list = ps__os_calloc(code->count, sizeof *code->list);
	code->count = 0;
	return code->list ? PS_OK : ps__fail_memory("a BPF program");
}

static int load_switch(struct ps__bpf_kernel *kernel, const bool *is_late)
{
	struct ps__bpf_code code = {.list = NULL};

	ps__bpf_write_switch(&code, kernel, is_late);
	int result = bpf_make_room(&code);
	if (result != PS_OK)
		return result;
	ps__bpf_write_switch(&code, kernel, is_late);
	result = load_program(&kernel->switch_program, &code, "the program of context switches");
	ps__os_free(code.list);
	return result;
}

static int load_child(struct ps__bpf_kernel *kernel)
{
	struct ps__bpf_code code = {.list = NULL};
	size_t offset;
	int result = ps__btf_find_offset("task_struct", "pid", &offset);

	if (result != PS_OK)
		return result;
	ps__bpf_write_child(&code, kernel, offset);
	result = bpf_make_room(&code);
	if (result != PS_OK)
		return result;
	ps__bpf_write_child(&code, kernel, offset);
	result = load_program(&kernel->child_program, &code, "the program of new processes");
	ps__os_free(code.list);
	return result;
}

static int bpf_attach(struct ps__bpf_object *out, const struct ps__bpf_object *program,
                      const char *tracepoint)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.raw_tracepoint.name = bpf_address(tracepoint);
	attr.raw_tracepoint.prog_fd = (uint32_t)program->fd;
	return bpf_adopt(out, BPF_RAW_TRACEPOINT_OPEN, tracepoint,
	                 call_kernel(BPF_RAW_TRACEPOINT_OPEN, &attr));
}

/* Makes the maps. The sums have two values for each CPU, and one for failed reads of all CPUs. */
static int make_maps(struct ps__bpf_kernel *kernel)
{
	size_t values = ps__bpf_failed_key(kernel->cpu_limit) + 1;
	int result = make_map(&kernel->events, BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(uint32_t),
	                      kernel->cpu_limit * kernel->event_count, "the map of events");

	if (result == PS_OK)
		result = make_map(&kernel->sums, BPF_MAP_TYPE_ARRAY,
		                  kernel->words * sizeof(uint64_t), values, "the map of counts");
	if (result == PS_OK)
		result = make_map(&kernel->pids, BPF_MAP_TYPE_ARRAY, PS__BPF_BYTES,
		                  PS__BPF_PIDS_LIMIT / PS__BPF_BYTES, "the map of processes");
	return result;
}

/* The program of new processes is attached before anything is counted, so no child is missed. */
static int bpf_open_all(struct ps__bpf_kernel *kernel, const bool *is_late)
{
	int result = ps__bpf_check_namespace();

	if (result == PS_OK)
		result = make_maps(kernel);
	if (result == PS_OK)
		result = load_switch(kernel, is_late);
	if (result == PS_OK)
		result = load_child(kernel);
	if (result == PS_OK)
		result = bpf_attach(&kernel->child_link, &kernel->child_program, "task_newtask");
	if (result == PS_OK)
		result = bpf_attach(&kernel->switch_link, &kernel->switch_program, "sched_switch");
	return result;
}

int ps__bpf_open(struct ps__bpf_kernel *kernel, const bool *is_late)
{
	const struct ps__bpf_object none = {.fd = -1};

	kernel->events = kernel->sums = kernel->pids = none;
	kernel->switch_program = kernel->child_program = none;
	kernel->switch_link = kernel->child_link = none;
	/* Whole cache lines, because each CPU writes to its own value. */
	kernel->words = (ps__bpf_known_word(kernel->event_count) + 7) & ~(size_t)7;
	int result = bpf_open_all(kernel, is_late);
	if (result != PS_OK)
		ps__bpf_close(kernel);
	return result;
}

static void close_object(struct ps__bpf_object *object)
{
	if (object->fd >= 0 && is_object(object))
		ps__os.close(object->fd);
	object->fd = -1;
}

void ps__bpf_close(struct ps__bpf_kernel *kernel)
{
	close_object(&kernel->switch_link);
	close_object(&kernel->child_link);
	close_object(&kernel->switch_program);
	close_object(&kernel->child_program);
	close_object(&kernel->events);
	close_object(&kernel->sums);
	close_object(&kernel->pids);
}

int ps__bpf_try(void)
{
	struct ps__bpf_kernel kernel = {.cpu_limit = 1, .event_count = 1};
	const bool is_late = false;
	int result = ps__bpf_open(&kernel, &is_late);

	if (result != PS_OK)
		return result;
	result = ps__bpf_flush(&kernel, ps__os.getcpu());
	ps__bpf_close(&kernel);
	return result == PS_PARTIAL ? PS_OK : result;
}

int ps__bpf_set_event(const struct ps__bpf_kernel *kernel, int cpu, size_t event, int fd)
{
	uint32_t value = (uint32_t)fd;

	return update_map(&kernel->events, (uint32_t)((size_t)cpu * kernel->event_count + event),
	                  &value, "an event");
}

/* No other process is counted yet, so the other bytes of the value are 0. */
int ps__bpf_set_process(struct ps__bpf_kernel *kernel, pid_t pid)
{
	unsigned char bytes[PS__BPF_BYTES] = {0};

	if (pid < 0 || pid >= PS__BPF_PIDS_LIMIT)
		return ps__fail(PS_ESYS, "attribution by BPF: there is no process %d", (int)pid);
	bytes[pid % PS__BPF_BYTES] = 1;
	int result = update_map(&kernel->pids, (uint32_t)pid / PS__BPF_BYTES, bytes, "a process");
	close_object(&kernel->pids);
	return result;
}

int ps__bpf_flush(const struct ps__bpf_kernel *kernel, int cpu)
{
	const uint64_t words[TRACE_WORDS] = {0};
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.test.prog_fd = (uint32_t)kernel->switch_program.fd;
	attr.test.ctx_in = bpf_address(words);
	attr.test.ctx_size_in = sizeof words;
	attr.test.flags = BPF_F_TEST_RUN_ON_CPU;
	attr.test.cpu = (uint32_t)cpu;
	int result = call_kernel(BPF_PROG_TEST_RUN, &attr);
	if (result == -ENXIO)
		return PS_PARTIAL;
	return result < 0
	           ? explain_use(BPF_PROG_TEST_RUN, &kernel->switch_program, "a reading", -result)
	           : PS_OK;
}

int ps__bpf_read(const struct ps__bpf_kernel *kernel, size_t key, uint64_t *words)
{
	uint32_t number = (uint32_t)key;
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.map_fd = (uint32_t)kernel->sums.fd;
	attr.key = bpf_address(&number);
	attr.value = bpf_address(words);
	int result = call_kernel(BPF_MAP_LOOKUP_ELEM, &attr);
	return result < 0 ? explain_use(BPF_MAP_LOOKUP_ELEM, &kernel->sums, "a reading", -result)
	                  : PS_OK;
}

/* Adds a program's misses. Returns 0 or -errno. */
static int add_misses(const struct ps__bpf_object *program, uint64_t *misses)
{
	struct object_info info;
	int result = ask_about_own(program, &info);

	if (result == 0)
		*misses += info.recursion_misses;
	return result;
}

static int explain_check(int result)
{
	return result < 0 ? ps__bpf_explain(BPF_OBJ_GET_INFO_BY_FD, "a reading", -result) : PS_OK;
}

/* The user's program may have closed a descriptor, and its number may now belong to the user's own
 * map, whose values may be larger than the buffer, or to the user's own BPF program. A program
 * without its link doesn't run. */
int ps__bpf_check(const struct ps__bpf_kernel *kernel)
{
	const struct ps__bpf_object *objects[] = {&kernel->sums, &kernel->switch_program,
	                                          &kernel->switch_link, &kernel->child_link};
	struct object_info info;
	int result = 0;

	for (size_t index = 0; result == 0 && index < sizeof objects / sizeof *objects; index++)
		result = ask_about_own(objects[index], &info);
	return explain_check(result);
}

int ps__bpf_count_misses(const struct ps__bpf_kernel *kernel, uint64_t *misses)
{
	*misses = 0;
	int result = add_misses(&kernel->switch_program, misses);

	if (result == 0)
		result = add_misses(&kernel->child_program, misses);
	return explain_check(result);
}

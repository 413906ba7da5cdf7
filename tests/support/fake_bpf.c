/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fake kernel's bpf(2): as much as attribution by BPF asks for. The two programs are told apart
 * by what they call, and are not run: what they would have counted is the test's to say.
 */
#include "fake_internal.h"

#include "backend/bpf.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#define CPUS  8
#define WORDS 64

/* By CPU, then the copies that readings take, then the failures. */
static uint64_t sums[2 * CPUS + 1][WORDS];
static size_t words_used, values_used;
static uint32_t last_id;
static uint64_t misses[FAKE_BPF_LINK + 1];
static pid_t process;
static size_t events_told;
static uint64_t began_ns;
static bool fails_on[CPUS];
static bool is_torn_on[CPUS];

void fake__bpf_reset(void)
{
	memset(sums, 0, sizeof(sums));
	process = 0;
	events_told = 0;
	memset(fails_on, 0, sizeof(fails_on));
	memset(is_torn_on, 0, sizeof(is_torn_on));
	memset(misses, 0, sizeof(misses));
	began_ns = fake__clock_ns();
}

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static int new_fd(enum fake_bpf kind)
{
	int fd = fake__fd_new();

	if (fd < 0)
		return fake__fail(errno);
	fake__fd(fd)->bpf = kind;
	fake__fd(fd)->bpf_id = ++last_id;
	misses[kind] = 0;
	fake__unlock();
	return fd;
}

static int make_map(const union bpf_attr *attr)
{
	if (attr->map_type == BPF_MAP_TYPE_PERF_EVENT_ARRAY)
		return new_fd(FAKE_BPF_EVENTS);
	if (attr->max_entries > 2 * CPUS + 1)
		return new_fd(FAKE_BPF_PIDS);
	words_used = attr->value_size / sizeof(uint64_t);
	values_used = attr->max_entries;
	if (words_used > WORDS)
		fake__violation("a map whose values have %zu words", words_used);
	memset(sums, 0, sizeof(sums));
	return new_fd(FAKE_BPF_SUMS);
}

static int update_map(const union bpf_attr *attr)
{
	const struct fake_fd *slot = fake__fd((int)attr->map_fd);
	uint32_t key = *(const uint32_t *)pointer(attr->key);
	const unsigned char *bytes = pointer(attr->value);

	if (!slot || !slot->bpf)
		return fake__fail(slot ? EINVAL : EBADF);
	if (slot->bpf == FAKE_BPF_EVENTS) {
		const struct fake_fd *event = fake__fd(*(const int *)pointer(attr->value));
		if (!event || !event->counter)
			return fake__fail(EBADF);
		events_told++;
	}
	for (unsigned i = 0; slot->bpf == FAKE_BPF_PIDS && i < PS__BPF_BYTES; i++) {
		if (bytes[i])
			process = (pid_t)(key * PS__BPF_BYTES + i);
	}
	fake__unlock();
	return 0;
}

static int look_up(const union bpf_attr *attr)
{
	const struct fake_fd *slot = fake__fd((int)attr->map_fd);
	uint32_t key = *(const uint32_t *)pointer(attr->key);

	if (!slot || slot->bpf != FAKE_BPF_SUMS)
		return fake__fail(slot ? EINVAL : EBADF);
	if (key >= values_used)
		return fake__fail(ENOENT);
	memcpy(pointer(attr->value), sums[key], words_used * sizeof(uint64_t));
	fake__unlock();
	return 0;
}

/* The clocks of the CPU's events go on while it is online. */
static int run_program(const union bpf_attr *attr)
{
	const struct fake_fd *slot = fake__fd((int)attr->test.prog_fd);
	size_t events = (words_used - PS__BPF_HEAD) / PS__BPF_EVENT_WORDS;

	if (!slot || slot->bpf != FAKE_BPF_SWITCH)
		return fake__fail(slot ? EINVAL : EBADF);
	if (!fake__cpu_in_list(fake__file_content("/sys/devices/system/cpu/online"),
	                       (int)attr->test.cpu))
		return fake__fail(ENXIO);
	for (size_t event = 0; event < events; event++)
		sums[attr->test.cpu][ps__bpf_known_word(event) + 1] = fake__clock_ns() - began_ns;
	memcpy(sums[ps__bpf_copy_key(values_used / 2, attr->test.cpu)], sums[attr->test.cpu],
	       sizeof(sums[0]));
	/* Meanwhile a switch: the count is there, and the times aren't yet. */
	if (is_torn_on[attr->test.cpu])
		sums[attr->test.cpu][ps__bpf_sum_word(0)]++;
	sums[values_used - 1][PS__BPF_FAILED] += fails_on[attr->test.cpu];
	fails_on[attr->test.cpu] = false;
	fake__unlock();
	return 0;
}

static int load(const union bpf_attr *attr)
{
	const struct bpf_insn *code = pointer(attr->insns);

	if (attr->prog_type != BPF_PROG_TYPE_RAW_TRACEPOINT || attr->insn_cnt == 0 ||
	    code[attr->insn_cnt - 1].code != (BPF_JMP | BPF_EXIT))
		fake__violation("a program that doesn't end");
	for (uint32_t i = 0; i < attr->insn_cnt; i++) {
		if (code[i].code == (BPF_JMP | BPF_CALL) &&
		    code[i].imm == BPF_FUNC_perf_event_read_value)
			return new_fd(FAKE_BPF_SWITCH);
	}
	return new_fd(FAKE_BPF_CHILD);
}

static int open_tracepoint(const union bpf_attr *attr)
{
	const struct fake_fd *slot = fake__fd((int)attr->raw_tracepoint.prog_fd);
	const char *name = pointer(attr->raw_tracepoint.name);

	if (!slot || slot->bpf != (!strcmp(name, "sched_switch")   ? FAKE_BPF_SWITCH
	                           : !strcmp(name, "task_newtask") ? FAKE_BPF_CHILD
	                                                           : FAKE_NO_BPF))
		fake__violation("a program that isn't for the tracepoint '%s'", name);
	return new_fd(FAKE_BPF_LINK);
}

static uint32_t type_of(enum fake_bpf kind)
{
	switch (kind) {
	case FAKE_BPF_EVENTS:
		return BPF_MAP_TYPE_PERF_EVENT_ARRAY;
	case FAKE_BPF_SWITCH:
	case FAKE_BPF_CHILD:
		return BPF_PROG_TYPE_RAW_TRACEPOINT;
	case FAKE_BPF_LINK:
		return BPF_LINK_TYPE_RAW_TRACEPOINT;
	default:
		return BPF_MAP_TYPE_ARRAY;
	}
}

/* As much of the structs as is asked for: type, id, and of a program how often it was left out. */
static int tell_about(const union bpf_attr *attr)
{
	const struct fake_fd *slot = fake__fd((int)attr->info.bpf_fd);
	struct bpf_prog_info info = {0};

	if (!slot)
		return fake__fail(EBADF);
	if (!slot->bpf)
		return fake__fail(EINVAL);
	info.type = type_of(slot->bpf);
	info.id = slot->bpf_id;
	if (slot->bpf == FAKE_BPF_SWITCH || slot->bpf == FAKE_BPF_CHILD)
		info.recursion_misses = misses[slot->bpf];
	memcpy(pointer(attr->info.info), &info,
	       attr->info.info_len < sizeof(info) ? attr->info.info_len : sizeof(info));
	fake__unlock();
	return 0;
}

int fake__bpf(int command, union bpf_attr *attr, size_t size_bytes)
{
	if (fake__enter(FAKE_BPF))
		return -1;
	if (size_bytes != sizeof(*attr))
		fake__violation("bpf(%d): %zu bytes", command, size_bytes);
	switch (command) {
	case BPF_MAP_CREATE:
		return make_map(attr);
	case BPF_MAP_UPDATE_ELEM:
		return update_map(attr);
	case BPF_MAP_LOOKUP_ELEM:
		return look_up(attr);
	case BPF_PROG_LOAD:
		return load(attr);
	case BPF_RAW_TRACEPOINT_OPEN:
		return open_tracepoint(attr);
	case BPF_PROG_TEST_RUN:
		return run_program(attr);
	case BPF_OBJ_GET_INFO_BY_FD:
		return tell_about(attr);
	default:
		return fake__fail(EINVAL);
	}
}

void fake_bpf_put_btf(const char *type, const char *member)
{
	struct {
		struct btf_header header;
		struct btf_type type;
		struct btf_member member;
		char names[64];
	} all = {.header = {.magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(all.header)}};

	memcpy(all.names + 1, type, strlen(type));
	memcpy(all.names + 32, member, strlen(member));
	all.type.name_off = 1;
	all.type.info = BTF_KIND_STRUCT << 24 | 1;
	all.member = (struct btf_member){.name_off = 32, .type = 0, .offset = 800};
	all.header.type_len = sizeof(all.type) + sizeof(all.member);
	all.header.str_off = all.header.type_len;
	all.header.str_len = sizeof(all.names);
	fake__lock();
	fake__file_put_bytes("/sys/kernel/btf/vmlinux", &all, sizeof(all));
	fake__unlock();
}

void fake_bpf_offer(void)
{
	fake_file("/proc/self/ns/pid", "4026531836");
	fake_bpf_put_btf("task_struct", "pid");
}

void fake_bpf_credit(int cpu, size_t event, uint64_t count)
{
	sums[cpu][ps__bpf_sum_word(event)] += count;
}

void fake_bpf_run(int cpu, uint64_t enabled_ns, uint64_t running_ns)
{
	for (size_t event = 0; ps__bpf_sum_word(event) + 2 < words_used; event++) {
		sums[cpu][ps__bpf_sum_word(event) + 1] += enabled_ns;
		sums[cpu][ps__bpf_sum_word(event) + 2] += running_ns;
	}
}

void fake_bpf_fail_reading(int cpu)
{
	fails_on[cpu] = true;
}

void fake_bpf_tear(int cpu)
{
	is_torn_on[cpu] = true;
}

void fake_bpf_miss(bool is_child)
{
	misses[is_child ? FAKE_BPF_CHILD : FAKE_BPF_SWITCH]++;
}

size_t fake_bpf_fds(int *fds, size_t capacity)
{
	size_t count = 0;

	fake__lock();
	for (int fd = FAKE_FIRST_FD; fd < FAKE_FIRST_FD + FAKE_FDS; fd++) {
		if (fake__fd(fd) && fake__fd(fd)->bpf && count++ < capacity)
			fds[count - 1] = fd;
	}
	fake__unlock();
	return count;
}

pid_t fake_bpf_process(void)
{
	return process;
}

size_t fake_bpf_events(void)
{
	return events_told;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records that this machine's kernel writes: a page fault has the address that was touched, and
 * tasks, names, mappings and switches are what the test did. No record is refused. The test opens
 * the event itself: it asks for more than any other call does.
 */
#include "here.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_PAGES 64
#define TOUCHED    64

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	struct ps_record_config config;
};

static struct ring ring;

static struct perf_event_attr attr_of_faults(void)
{
	return (struct perf_event_attr){
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(struct perf_event_attr),
	    .config = PERF_COUNT_SW_PAGE_FAULTS,
	    .sample_period = 1,
	    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                   PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
	                   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	                   PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
	                   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
	                   PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_CGROUP |
	                   PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE,
	    .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
	                   PERF_FORMAT_TOTAL_TIME_RUNNING,
	    .sample_regs_user = 1 << 1 | 1 << 2,
	    .sample_stack_user = 1024,
	    .disabled = 1,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .mmap = 1,
	    .mmap_data = 1,
	    .mmap2 = 1,
	    .comm = 1,
	    .task = 1,
	    .context_switch = 1,
	    .sample_id_all = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	};
}

/* NULL, or why there is no ring here. */
static const char *ring_open(void)
{
	struct perf_event_attr attr = attr_of_faults();
	size_t size = (size_t)sysconf(_SC_PAGESIZE) * (1 + RING_PAGES);

	ring.fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring.fd < 0)
		return "the kernel refuses the event";
	ring.page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	if (ring.page == MAP_FAILED) {
		close(ring.fd);
		return "the kernel refuses the ring";
	}
	ring.config = (struct ps_record_config){.size = sizeof ring.config,
	                                        .sample_type = attr.sample_type,
	                                        .read_format = attr.read_format,
	                                        .sample_regs_user = attr.sample_regs_user,
	                                        .sample_id_all = 1};
	return NULL;
}

static void ring_close(void)
{
	munmap(ring.page, (size_t)sysconf(_SC_PAGESIZE) * (1 + RING_PAGES));
	close(ring.fd);
}

/* The next record, copied so that it doesn't wrap; false: there is none. */
static bool ring_next(struct ps_record *record)
{
	static unsigned char copy[1 << 16];
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const unsigned char *data = (const unsigned char *)ring.page + page_bytes;
	uint64_t head = __atomic_load_n(&ring.page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring.page->data_tail;
	size_t left = (size_t)(head - tail);

	if (!left)
		return false;
	left = left < sizeof copy ? left : sizeof copy;
	for (size_t i = 0; i < left; i++)
		copy[i] = data[(tail + i) % (RING_PAGES * page_bytes)];
	check_ok(ps_record_parse(&ring.config, copy, left, record));
	__atomic_store_n(&ring.page->data_tail, tail + record->size, __ATOMIC_RELEASE);
	return true;
}

static void check_sample(const struct ps_record *record)
{
	struct ps_record_count count = {.value = 0};
	uint64_t stack_pointer = 0;

	ck_assert_uint_eq(record->has & ring.config.sample_type, ring.config.sample_type);
	ck_assert_uint_eq(record->pid, (uint32_t)getpid());
	ck_assert_uint_eq(record->period, 1);
	ck_assert_uint_lt(record->cpu, 1 << 20);
	ck_assert_uint_eq(record->sample.counts.count, 1);
	check_ok(ps_record_count(record, 0, &count));
	ck_assert_uint_eq(count.id, record->id);
	ck_assert_uint_ge(count.value, 1);
	ck_assert_uint_ge(record->sample.callchain.count, 1);
	ck_assert_uint_eq(record->sample.user_registers.values.count, 2);
	check_ok(ps_record_register(record, &record->sample.user_registers, 2, &stack_pointer));
	ck_assert_uint_le(record->sample.user_stack_used, record->sample.user_stack.size);
}

START_TEST(each_touched_page_is_a_sample_with_its_address)
{
	const char *missing = ring_open();
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), found = 0;
	struct ps_record record;

	if (!ps_test_may_run(missing))
		return;
	char *pages = mmap(NULL, TOUCHED * page_bytes, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(pages, MAP_FAILED);
	madvise(pages, TOUCHED * page_bytes, MADV_NOHUGEPAGE);
	ioctl(ring.fd, PERF_EVENT_IOC_ENABLE, 0);
	for (size_t i = 0; i < TOUCHED; i++)
		((volatile char *)pages)[i * page_bytes] = 1;
	ioctl(ring.fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&record)) {
		if (record.type != PS_RECORD_SAMPLE)
			continue;
		check_sample(&record);
		found += record.addr >= (uintptr_t)pages &&
		         record.addr < (uintptr_t)pages + TOUCHED * page_bytes;
	}
	ck_assert_uint_eq(found, TOUCHED);
	munmap(pages, TOUCHED * page_bytes);
	ring_close();
}
END_TEST

static void *thread_run(void *context)
{
	*(pid_t *)context = (pid_t)syscall(SYS_gettid);
	return NULL;
}

/* Sums of the records of one run. */
struct told {
	size_t types[32];
	bool has_name, has_file, has_thread;
};

static void told_of(struct told *told, const struct ps_record *record, pid_t tid)
{
	const struct ps_record_sample_id *id = &record->sample_id;

	ck_assert_uint_ge(record->type, 1);
	ck_assert_uint_le(record->type, 22);
	told->types[record->type]++;
	if (record->type == PS_RECORD_SAMPLE)
		return;
	ck_assert_uint_ne(record->has & PS_RECORD_HAS_SAMPLE_ID, 0);
	ck_assert_uint_eq(id->pid, (uint32_t)getpid());
	ck_assert_uint_ne(id->time, 0);
	if (record->type == PS_RECORD_COMM)
		told->has_name = !strcmp(record->text, "it's (me)");
	if (record->type == PS_RECORD_MMAP2)
		told->has_file = record->body.mapping.length > 0 && record->text_length > 0;
	if (record->type == PS_RECORD_FORK)
		told->has_thread =
		    record->tid == (uint32_t)tid && record->body.other.pid == (uint32_t)getpid();
}

START_TEST(names_threads_mappings_and_switches_are_what_happened)
{
	const char *missing = ring_open();
	struct told told = {.has_name = false};
	struct ps_record record;
	pthread_t thread;
	pid_t tid = 0;

	if (!missing && (ps_test_is_in_valgrind() || PS_TEST_HAS_THREAD_SANITIZER))
		missing = "valgrind and the thread sanitizer map more than the ring has room for";
	if (!ps_test_may_run(missing))
		return;
	ioctl(ring.fd, PERF_EVENT_IOC_ENABLE, 0);
	prctl(PR_SET_NAME, "it's (me)");
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, thread_run, &tid), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	usleep(1000);
	ioctl(ring.fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&record))
		told_of(&told, &record, tid);
	ck_assert(told.has_name);
	ck_assert(told.has_file);
	ck_assert(told.has_thread);
	ck_assert_uint_ge(told.types[PS_RECORD_SWITCH], 2);
	ck_assert_uint_eq(told.types[PS_RECORD_LOST], 0);
	munmap(code, 4096);
	ring_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *tests = tcase_create("record");

	suite_add_tcase(suite, tests);
	tcase_add_test(tests, each_touched_page_is_a_sample_with_its_address);
	tcase_add_test(tests, names_threads_mappings_and_switches_are_what_happened);
	return here_run(suite);
}

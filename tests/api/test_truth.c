/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known work comes out right: so many fresh pages are touched, on this CPU, and so many page faults
 * are shown there. Sees the installed header and the shared library alone, and asks the real
 * kernel.
 */
#include "here.h"
#include "support/resident.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENT "page-faults:u"

struct work {
	int cpu;
	size_t pages;
	const struct ps_eventset *model;
	pthread_barrier_t *together; /* NULL: alone */
	int result;
	char detail[512];
	long long difference; /* between two readings around the touching */
};

static unsigned char *fresh_pages(size_t count)
{
	size_t length_bytes = count * (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *pages = mmap(NULL, length_bytes, PROT_READ | PROT_WRITE,
	                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	madvise(pages, length_bytes, MADV_NOHUGEPAGE);
	return pages;
}

/* Without a sanitizer's checks: they touch pages of their own. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) static void
touch(volatile unsigned char *pages, size_t count, size_t page_bytes)
{
	for (size_t i = 0; i < count; i++)
		pages[i * page_bytes] = 1;
}

static int pin(int cpu)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET((size_t)cpu, &mask);
	return sched_setaffinity(0, sizeof(mask), &mask);
}

/* The value of the latest reading on the caller's CPU. */
static int read_value(struct ps_eventset *set, struct ps_value *value)
{
	struct ps_thread *thread = NULL;
	int result = ps_read(set, here.root, NULL, &thread);

	return result == PS_OK ? ps_thread_reading(thread, EVENT, 0, value) : result;
}

/* Reads, touches, reads again: all in one reading, so that nothing but the touching meets new
 * memory. */
static int measure(struct ps_eventset *set, struct work *work, unsigned char *pages, size_t count)
{
	struct ps_value before = {.value = 0}, after = {.value = 0};
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	int result = ps_reset(set);

	if (result == PS_OK)
		result = read_value(set, &before);
	touch(pages, count, page_bytes);
	if (result == PS_OK)
		result = read_value(set, &after);
	work->difference = after.value - before.value;
	return result;
}

/* A rehearsal first: code and storage are then in memory. */
static int count_pages(struct work *work)
{
	struct ps_eventset *set = NULL;
	unsigned char *pages = fresh_pages(work->pages + 8);
	int result = pages ? ps_eventset_clone(&set, work->model) : PS_ENOMEM;

	if (result == PS_OK)
		result = ps_eventset_reserve(set, 64);
	if (result == PS_OK)
		result = ps_start(set);
	for (size_t i = 0; i < 4 && result == PS_OK; i++)
		result = measure(set, work,
		                 pages + (work->pages + i) * (size_t)sysconf(_SC_PAGESIZE), 1);
	if (work->together)
		pthread_barrier_wait(work->together);
	if (result == PS_OK)
		result = measure(set, work, pages, work->pages);
	ps_eventset_destroy(set);
	if (pages)
		munmap(pages, (work->pages + 8) * (size_t)sysconf(_SC_PAGESIZE));
	return result;
}

static void *run(void *argument)
{
	struct work *work = argument;

	work->result = pin(work->cpu) == 0 ? count_pages(work) : PS_ESYS;
	snprintf(work->detail, sizeof(work->detail), "%s", ps_error_detail());
	return NULL;
}

/* A set of the event; NULL where its page faults can't be told: *reason says why. */
static struct ps_eventset *make_model(const char **reason)
{
	struct ps_eventset *model = NULL;
	int result;

#if PS_TEST_HAS_THREAD_SANITIZER
	*reason = "ThreadSanitizer writes a trace, whose pages are faulted in, too";
	return NULL;
#endif
	if (ps_test_is_in_valgrind()) {
		*reason = "valgrind has page faults of its own in the counted threads";
		return NULL;
	}
	check_ok(ps_eventset_create(&model));
	result = ps_eventset_add(model, EVENT);
	if (result == PS_OK)
		return model;
	ck_assert_msg(result == PS_EPERM || result == PS_ENOSUPP, "%d: %s", result,
	              ps_error_detail());
	ps_eventset_destroy(model);
	*reason = ps_error_detail();
	return NULL;
}

/* The index'th CPU that this process may use, or -1. */
static int allowed_cpu(int index)
{
	cpu_set_t mask;

	if (sched_getaffinity(0, sizeof(mask), &mask))
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &mask) && index-- == 0)
			return cpu;
	return -1;
}

START_TEST(a_thousand_fresh_pages_in_a_pinned_thread_are_a_thousand_page_faults_there)
{
	const char *reason = "";
	struct ps_eventset *model = make_model(&reason);
	struct work work = {.cpu = allowed_cpu(0), .pages = 1000, .model = model};
	struct ps_value value;
	pthread_t thread;

	if (!model) {
		ps_test_skip(reason);
		return;
	}
	ck_assert_int_eq(pthread_create(&thread, NULL, run, &work), 0);
	pthread_join(thread, NULL);
	ck_assert_msg(work.result == PS_OK, "%s", work.detail);
	ck_assert_int_eq(work.difference, 1000);
	check_ok(ps_thread_reading(ps_topology_thread(here.topology, work.cpu), EVENT, 0, &value));
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_PINNED);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_uint_eq(value.flags & PS_VALUE_MOVED, 0);
	ck_assert_uint_gt(value.enabled_ns, 0);
	ck_assert_uint_eq(value.enabled_ns, value.running_ns);
	ps_eventset_destroy(model);
}
END_TEST

START_TEST(two_pinned_threads_show_300_and_700_and_the_package_1000)
{
	const char *reason = "";
	struct ps_eventset *model = make_model(&reason);
	pthread_barrier_t together;
	struct work works[2] = {
	    {.cpu = allowed_cpu(0), .pages = 300, .model = model, .together = &together},
	    {.cpu = allowed_cpu(1), .pages = 700, .model = model, .together = &together}};
	struct ps_component *packages[2];
	struct ps_value value;
	pthread_t threads[2];

	if (!model) {
		ps_test_skip(reason);
		return;
	}
	if (works[1].cpu < 0) {
		ps_eventset_destroy(model);
		ps_test_skip("this process may use one CPU only");
		return;
	}
	pthread_barrier_init(&together, NULL, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(pthread_create(&threads[i], NULL, run, &works[i]), 0);
	}
	for (size_t i = 0; i < 2; i++) {
		struct ps_thread *cpu = ps_topology_thread(here.topology, works[i].cpu);

		pthread_join(threads[i], NULL);
		ck_assert_msg(works[i].result == PS_OK, "%s", works[i].detail);
		ck_assert_int_eq(works[i].difference, (long long)works[i].pages);
		check_ok(ps_thread_reading(cpu, EVENT, 0, &value));
		ck_assert_int_eq(value.value, (long long)works[i].pages);
		packages[i] =
		    ps_component_ancestor(ps_thread_component(cpu), PS_COMPONENT_PACKAGE, 1);
		ck_assert_ptr_nonnull(packages[i]);
	}
	check_ok(ps_component_total(packages[0], EVENT, &value));
	ck_assert_int_eq(value.value, packages[0] == packages[1] ? 1000 : 300);
	check_ok(ps_component_total(here.root, EVENT, &value));
	ck_assert_int_eq(value.value, 1000);
	pthread_barrier_destroy(&together);
	ps_eventset_destroy(model);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("truth");
	TCase *tests = here_case(suite, "truth");

	tcase_add_test(tests,
	               a_thousand_fresh_pages_in_a_pinned_thread_are_a_thousand_page_faults_there);
	tcase_add_test(tests, two_pinned_threads_show_300_and_700_and_the_package_1000);
	return here_run(suite);
}

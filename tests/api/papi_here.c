/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI on this machine; see papi_here.h. */
#include "papi_here.h"

#include "support/resident.h"
#include "support/sanitizer.h"

#include <papi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

const char *papi_here_explain(int code)
{
	return PAPI_strerror(code);
}

static unsigned long this_thread(void)
{
	return (unsigned long)pthread_self();
}

const char *papi_here_start(void)
{
	static char why[512];
	int probe = PAPI_NULL;

	if (!PAPI_is_initialized() && PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return "PAPI_library_init: this is another PAPI than the one built with";
	papi_ok(PAPI_thread_init(this_thread));
	papi_ok(PAPI_multiplex_init());
	papi_ok(PAPI_create_eventset(&probe));
	int result = PAPI_add_named_event(probe, PAPI_HERE_FAULTS);
	const PAPI_component_info_t *component = PAPI_get_component_info(0);
	if (result != PAPI_OK)
		snprintf(why, sizeof why,
		         "PAPI can't count " PAPI_HERE_FAULTS " here: %s; %s: %.100s",
		         PAPI_strerror(result), component->name, component->disabled_reason);
	PAPI_cleanup_eventset(probe);
	PAPI_destroy_eventset(&probe);
	return result == PAPI_OK ? NULL : why;
}

bool papi_here_check(const char *test)
{
	const char *why = papi_here_start();

	if (why)
		ps__test_skip(test, why);
	return !why;
}

int papi_here_create(const char *event, ...)
{
	int set = PAPI_NULL;
	va_list events;

	papi_ok(PAPI_create_eventset(&set));
	va_start(events, event);
	for (; event; event = va_arg(events, const char *))
		papi_ok(PAPI_add_named_event(set, event));
	va_end(events);
	return set;
}

void papi_here_destroy(int set)
{
	long long values[16];

	PAPI_stop(set, values);
	papi_ok(PAPI_cleanup_eventset(set));
	papi_ok(PAPI_destroy_eventset(&set));
}

struct ps_eventset *papi_here_wrap(int papi)
{
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_from_papi(&set, papi));
	return set;
}

void papi_here_rehearse(struct ps_eventset *set)
{
	uint64_t timestamp = 0;

	check_ok(ps_eventset_reserve(set, 1000));
	check_ok(ps_start(set));
	papi_here_touch(1000);
	papi_here_touch(10);
	check_ok(ps_read(set, here.root, &timestamp, NULL));
	check_ok(ps_accum(set, here.root, &timestamp, NULL));
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
}

long long papi_here_count(struct ps_thread *thread, const char *event, uint64_t timestamp)
{
	struct ps_value value;

	check_ok(ps_thread_reading(thread, event, timestamp, &value));
	return value.value;
}

const char *papi_here_name(int set, int index)
{
	static char name[PAPI_HUGE_STR_LEN];
	int codes[16], count = 16;

	papi_ok(PAPI_list_events(set, codes, &count));
	papi_ok(PAPI_event_code_to_name(codes[index], name));
	return name;
}

static long touched, watched_from, strays;

static long faults_of_thread(void)
{
	struct rusage usage = {.ru_minflt = 0};

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

void papi_here_watch(void)
{
	touched = 0;
	watched_from = faults_of_thread();
}

void papi_here_end_watch(void)
{
	strays += faults_of_thread() - watched_from - touched;
}

/* Without a sanitizer's checks: they touch pages of their own. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) void
papi_here_touch(size_t pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *area = mmap(NULL, pages * page_bytes, PROT_READ | PROT_WRITE,
	                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (area == MAP_FAILED)
		return;
	madvise((void *)area, pages * page_bytes, MADV_NOHUGEPAGE);
	for (size_t page = 0; page < pages; page++)
		area[page * page_bytes] = 1;
	munmap((void *)area, pages * page_bytes);
	touched += (long)pages;
}

void papi_here_expect(long long counted, long long expected)
{
#if PS_TEST_HAS_SANITIZER
	ck_assert_int_ge(counted, expected);
#else
	ck_assert_int_le(llabs(counted - expected), strays);
#endif
}

/* A sanitizer has other pages of its own in each run. */
void papi_here_expect_same(long long counted, long long plain)
{
#if PS_TEST_HAS_SANITIZER
	ck_assert_int_ge(counted, touched);
	ck_assert_int_ge(plain, touched);
#else
	ck_assert_int_le(llabs(counted - plain), strays);
#endif
}

void papi_here_expect_about(long long counted, long long expected)
{
	ck_assert_int_ge(counted, expected);
#if !PS_TEST_HAS_SANITIZER
	ck_assert_int_le(counted, expected + 40);
#endif
}

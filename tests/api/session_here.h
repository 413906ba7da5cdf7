/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the suites of sessions: a listener that counts, sessions of page faults, and pages to
 * touch. ThreadSanitizer makes a thread, and page faults, of its own: a session counts them, too.
 */
#ifndef PS_TESTS_SESSION_HERE_H
#define PS_TESTS_SESSION_HERE_H

#include "here.h"
#include "support/descriptors.h"
#include "support/sanitizer.h"
#include "support/small.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGES   64
#define THREADS 8

/* By the listener; by hardware threads, too. */
struct heard {
	uint64_t samples, periods, forks, exits, names, switches, lost, stops, mappings, threads;
	uint64_t in_pages; /* samples in [pages, pages_end) */
	uint64_t future;   /* samples of a time that is to come */
	const char *pages, *pages_end;
};

static struct heard heard;

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void hear_sample(void *context, const struct ps_session_record *record)
{
	struct heard *to = context;
	const char *at = (const char *)(uintptr_t)record->record->addr;

	to->samples++;
	to->future += record->record->time > now_ns();
	to->periods += record->period;
	to->in_pages += at >= to->pages && at < to->pages_end;
	to->threads += record->thread != NULL;
}

static inline void hear_fork(void *context, const struct ps_session_record *record)
{
	(void)record;
	((struct heard *)context)->forks++;
}

static inline void hear_exit(void *context, const struct ps_session_record *record)
{
	(void)record;
	((struct heard *)context)->exits++;
}

static inline void hear_comm(void *context, const struct ps_session_record *record)
{
	((struct heard *)context)->names += !strcmp(record->record->text, "session's");
}

static inline void hear_switched(void *context, const struct ps_session_record *record)
{
	(void)record;
	((struct heard *)context)->switches++;
}

static inline void hear_lost(void *context, const struct ps_session_record *record)
{
	((struct heard *)context)->lost += record->record->body.lost;
}

static inline void hear_mmap(void *context, const struct ps_session_record *record)
{
	((struct heard *)context)->mappings += record->record->text_length > 0;
}

static inline void hear_stop(void *context)
{
	((struct heard *)context)->stops++;
}

static const struct ps_listener listener = {.size = sizeof listener,
                                            .context = &heard,
                                            .sample = hear_sample,
                                            .mmap = hear_mmap,
                                            .comm = hear_comm,
                                            .fork = hear_fork,
                                            .exit = hear_exit,
                                            .switched = hear_switched,
                                            .lost = hear_lost,
                                            .stop = hear_stop};

static inline struct ps_session_options options_of(uint32_t flags)
{
	heard = (struct heard){.samples = 0};
	return (struct ps_session_options){.size = sizeof(struct ps_session_options),
	                                   .root = here.root,
	                                   .listener = &listener,
	                                   .flags = flags};
}

/* NULL: this machine's kernel refuses the event, and the caller skips. */
static inline struct ps_session *new_session(const struct ps_session_options *options, pid_t pid,
                                             uint64_t period)
{
	struct ps_session *session = NULL;
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, "page-faults:u"));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, period));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_ADDR));
	check_ok(ps_session_create(&session, pid, options));
	check_ok(ps_session_add(session, attr));
	ps_attr_destroy(attr);
	return session;
}

static inline struct ps_session_stats stats_of(const struct ps_session *session)
{
	struct ps_session_stats stats = {.size = sizeof stats};

	check_ok(ps_session_stats(session, &stats));
	return stats;
}

static inline char *map_pages(size_t count)
{
	size_t size = count * (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	madvise(pages, size, MADV_NOHUGEPAGE);
	return pages;
}

static inline void touch(char *pages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((volatile char *)pages)[i * (size_t)sysconf(_SC_PAGESIZE)] = 1;
}

/* A thread that touches its share of the pages, now or when it is let go. */
struct worker {
	pthread_t thread;
	char *pages;
	pthread_barrier_t *go; /* NULL: at once */
};

static inline void *worker_run(void *context)
{
	struct worker *worker = context;

	if (worker->go) {
		pthread_barrier_wait(worker->go);
		pthread_barrier_wait(worker->go);
	}
	touch(worker->pages, PAGES);
	return NULL;
}

static inline void workers_start(struct worker *workers, char *pages, pthread_barrier_t *go)
{
	for (size_t i = 0; i < THREADS; i++) {
		workers[i].pages = pages + i * PAGES * (size_t)sysconf(_SC_PAGESIZE);
		workers[i].go = go;
		ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]),
		                 0);
	}
}

static inline void workers_join(struct worker *workers)
{
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

static inline void *session_run(void *session)
{
	ck_assert_int_eq(ps_session_run(session), PS_OK);
	return NULL;
}

/* Present and future threads touch pages while another thread runs the session; then it stops. */
static inline void run_workers(struct ps_session *session, bool are_there_before)
{
	struct worker workers[THREADS];
	pthread_barrier_t go;
	pthread_t reader;
	char *pages = map_pages(THREADS * PAGES);

	heard.pages = pages;
	heard.pages_end = pages + THREADS * PAGES * (size_t)sysconf(_SC_PAGESIZE);
	ck_assert_int_eq(pthread_barrier_init(&go, NULL, THREADS + 1), 0);
	if (are_there_before) {
		workers_start(workers, pages, &go);
		pthread_barrier_wait(&go);
	}
	check_ok(ps_session_start(session));
	ck_assert_uint_eq(ps_session_missed(session, NULL, 0), 0);
	ck_assert_int_eq(pthread_create(&reader, NULL, session_run, session), 0);
	if (are_there_before)
		pthread_barrier_wait(&go);
	else
		workers_start(workers, pages, NULL);
	workers_join(workers);
	check_ok(ps_session_stop(session));
	pthread_join(reader, NULL);
	pthread_barrier_destroy(&go);
	munmap(pages, (size_t)(heard.pages_end - heard.pages));
}

#endif

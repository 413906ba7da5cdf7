/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This library is preloaded into programs, so it is as small as possible. Only if the program has
 * marks, it loads libperfsage with its dependencies, and keeps their symbols apart from the
 * program's own. Libraries with marks that are loaded later announce themselves. This library
 * counts threads when they are made, because a thread that has ended without passing a mark leaves
 * no other trace.
 */
#define PERFSAGE_NO_MARKS
#include "collect/hush.h"
#include "collect/threads.h"
#include "region/notes.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* Called by <perfsage/marks.h>, like the function of this name in libperfsage. */
void ps_marks_announce(const struct ps_marks_listener **slot);
typedef void announce(const struct ps_marks_listener **slot);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(announce *) forward;

__attribute__((format(printf, 1, 2))) static void preload_complain(const char *format, ...)
{
	va_list arguments;

	struct collect_hush hush;

	collect_hush_begin(&hush);
	dprintf(STDERR_FILENO, "perfsage: process %d: ", (int)getpid());
	va_start(arguments, format);
	vdprintf(STDERR_FILENO, format, arguments);
	va_end(arguments);
	dprintf(STDERR_FILENO, "; nothing is counted, the program goes on\n");
	collect_hush_end(&hush);
}

/* Loads libperfsage from this library's folder. RTLD_DEEPBIND is not used. It would hide functions
 * of the program with the same names from libperfsage, but also the program's own malloc and other
 * preloaded libraries. Then memory that strdup and open_memstream take from the program's malloc
 * would be freed by the C library's free. */
static void *preload_open_library(void)
{
	char path[PATH_MAX];
	Dl_info own;

	if (!dladdr((void *)preload_open_library, &own) || !own.dli_fname)
		return NULL;
	const char *slash = strrchr(own.dli_fname, '/');
	snprintf(path, sizeof path, "%.*s" PS_LIBRARY, slash ? (int)(slash - own.dli_fname) + 1 : 0,
	         own.dli_fname);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* True while this library calls ps_collect_start. The collector asks for it, because the program
 * must not end a collector that this library began. */
static _Thread_local bool is_starting;

__attribute__((visibility("default"))) bool ps_preload_is_starting(void)
{
	return is_starting;
}

static void preload_start(void)
{
	void *library = preload_open_library();
	int (*start)(void) = NULL;
	const char *(*detail)(void) = NULL;

	if (library) {
		*(void **)&start = dlsym(library, "ps_collect_start");
		*(void **)&detail = dlsym(library, "ps_error_detail");
	}
	void *found_announce = library ? dlsym(library, "ps_marks_announce") : NULL;
	if (!start || !detail || !found_announce) {
		const char *error = dlerror();
		preload_complain("%s", error ? error : PS_LIBRARY " can't be loaded");
		return;
	}
	/* Set even if the start below fails. Then the program itself may listen, and must also
	 * learn of modules that are loaded later. */
	announce *typed_announce;
	*(void **)&typed_announce = found_announce;
	atomic_store(&forward, typed_announce);
	is_starting = true;
	int result = start();
	is_starting = false;
	if (result != 0)
		preload_complain("%s", detail());
}

/* Tells perfsage that this library is loaded in the program and would count its marks. */
static void preload_note(void)
{
	const char *name = getenv("PERFSAGE_JOURNAL");
	int fd = name && *name ? open(name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC) : -1;

	struct collect_hush hush;

	if (fd < 0)
		return;
	collect_hush_begin(&hush);
	dprintf(fd, "began %d\n", (int)getpid());
	collect_hush_end(&hush);
	close(fd);
}

static int preload_has_marks(struct dl_phdr_info *module, size_t size, void *context)
{
	(void)size;
	(void)context;
	return ps__notes_slot(module) != NULL;
}

/* A forked child inherits both values, but its CPU clock starts anew. */
static pid_t earlier_pid;
static uint64_t earlier_cpu_ns;

static void preload_note_earlier(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
		return;
	earlier_pid = getpid();
	earlier_cpu_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((visibility("default"))) uint64_t ps_preload_earlier_cpu_ns(void)
{
	return earlier_pid == getpid() ? earlier_cpu_ns : 0;
}

__attribute__((constructor)) static void preload_begin(void)
{
	int error = errno;

	preload_note_earlier();
	preload_note();
	if (dl_iterate_phdr(preload_has_marks, NULL))
		pthread_once(&once, preload_start);
	errno = error;
}

__attribute__((visibility("default"))) void ps_marks_announce(const struct ps_marks_listener **slot)
{
	pthread_once(&once, preload_start);
	announce *known = atomic_load(&forward);
	if (known)
		known(slot);
}

/* Threads. */

typedef int make_pthread(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                         void *argument);
typedef int make_thrd(thrd_t *thread, thrd_start_t run, void *argument);

/* A forked child inherits both numbers, but none of the parent's threads. preload_add_thread
 * notices the fork by threads_pid, and starts at 0. */
static _Atomic pid_t threads_pid;
static _Atomic uint64_t threads_made;

/* Called before the thread is made, because the new thread may end the process before its maker
 * goes on. */
static void preload_add_thread(void)
{
	pid_t pid = getpid();

	if (atomic_load(&threads_pid) != pid) {
		atomic_store(&threads_made, 0);
		atomic_store(&threads_pid, pid);
	}
	atomic_fetch_add(&threads_made, 1);
}

__attribute__((visibility("default"))) uint64_t ps_preload_threads(void)
{
	return atomic_load(&threads_pid) == getpid() ? atomic_load(&threads_made) : 0;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict thread,
                                                          const pthread_attr_t *restrict attr,
                                                          void *(*run)(void *),
                                                          void *restrict argument)
{
	static _Atomic(make_pthread *) real;
	make_pthread *make = atomic_load(&real);

	if (!make) {
		*(void **)&make = dlsym(RTLD_NEXT, "pthread_create");
		atomic_store(&real, make);
	}
	if (!make)
		return ENOSYS;
	preload_add_thread();
	int error = make(thread, attr, run, argument);
	if (error)
		atomic_fetch_sub(&threads_made, 1);
	return error;
}

__attribute__((visibility("default"))) int thrd_create(thrd_t *thread, thrd_start_t run,
                                                       void *argument)
{
	static _Atomic(make_thrd *) real;
	make_thrd *make = atomic_load(&real);

	if (!make) {
		*(void **)&make = dlsym(RTLD_NEXT, "thrd_create");
		atomic_store(&real, make);
	}
	if (!make)
		return thrd_error;
	preload_add_thread();
	int result = make(thread, run, argument);
	if (result != thrd_success)
		atomic_fetch_sub(&threads_made, 1);
	return result;
}

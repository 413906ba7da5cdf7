/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This library is preloaded into programs, so it is as small as possible. Only if the program has
 * marks, it loads libperfsage with all that this needs, where the program's own symbols don't meet
 * it. Libraries with marks that are loaded later announce themselves. Threads are counted when they
 * are made: once a thread has ended that passed no mark, nothing else shows it.
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

/* Loads libperfsage from this library's folder. RTLD_DEEPBIND is not used. It would keep
 * libperfsage from functions of the same names in the program, but also from the program's malloc,
 * and from what is preloaded: what strdup and open_memstream take from that malloc would be freed
 * by the C library's free. */
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

/* True while this library calls ps_collect_start. The collector asks, because the program must not
 * end what this library began. */
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
	/* Set also if the start below fails: the program itself may then listen, and hears what is
	 * loaded later, too. */
	announce *typed_announce;
	*(void **)&typed_announce = found_announce;
	atomic_store(&forward, typed_announce);
	is_starting = true;
	int result = start();
	is_starting = false;
	if (result != 0)
		preload_complain("%s", detail());
}

/* Tells perfsage that this library is in the program and would hear its marks. */
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

/* A forked child has these numbers of its parent, and a clock of its own. */
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

/* A forked child has the numbers of its parent, but none of its threads. Only its first thread can
 * find that, in preload_add_thread. */
static _Atomic pid_t threads_pid;
static _Atomic uint64_t threads_made;

/* Called before the thread is made: the thread may end the process before its maker goes on. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This library is preloaded into programs: the least that can be. It looks whether the program has
 * marks, and only then loads libperfsage, with all that it needs, where the program's own symbols
 * don't meet it. Libraries with marks that are loaded later announce themselves.
 */
#define PERFSAGE_NO_MARKS
#include "collect/hush.h"
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
#include <unistd.h>

/* Called by <perfsage/marks.h>, as that of libperfsage. */
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

/* libperfsage stands beside this library. */
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
		preload_complain("%s", dlerror());
		return;
	}
	if (start() != 0) {
		preload_complain("%s", detail());
		return;
	}
	announce *typed_announce;
	*(void **)&typed_announce = found_announce;
	atomic_store(&forward, typed_announce);
}

/* For perfsage: the program has what would hear its marks. */
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

__attribute__((constructor)) static void preload_begin(void)
{
	int error = errno;

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

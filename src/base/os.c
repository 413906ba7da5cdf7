/* SPDX-License-Identifier: BSD-3-Clause */
/* The real system behind the OS seam, and the helpers that every room uses on
 * top of the table. */
#include "base/os.h"

#include "arch/arch.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/hot.h"
#include "base/kept.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#define LARGEST_TABLE 4096 /* bytes; a larger size is wrong, and that memory must not be read */

_Atomic uint64_t ps__os_losses;

static int real_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                                unsigned long flags)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);

	return fd >= 0 && ps_preload_keep ? ps_preload_keep(fd, &ps__os_losses) : fd;
}

static int real_bpf(int command, union bpf_attr *attr, size_t size_bytes)
{
	return (int)syscall(SYS_bpf, command, attr, size_bytes);
}

/*
 * read, pread, open and close of the C library are cancellation points: a thread that is cancelled
 * there would leave a call of the library half done. Direct system calls are no cancellation
 * points.
 */
static __attribute__((cold, noinline)) ssize_t fail_call(long result)
{
	errno = (int)-result;
	return -1;
}

ssize_t ps__os_real_read(int fd, void *buffer, size_t size_bytes)
{
	long result = ps__arch_read(fd, buffer, size_bytes);

	return __builtin_expect(result >= 0, 1) ? result : fail_call(result);
}

static ssize_t real_pread(int fd, void *buffer, size_t size_bytes, off_t offset)
{
#ifdef __LP64__
	return syscall(SYS_pread64, fd, buffer, size_bytes, offset);
#else
	/* Other ABIs pass the offset in two words, in different ways. */
	int cancel = ps__cancel_hold();
	ssize_t result = pread(fd, buffer, size_bytes, offset);
	ps__cancel_release(cancel);
	return result;
#endif
}

static int real_close(int fd)
{
#ifdef PS__HAS_THREAD_SANITIZER
	/* close() shows ThreadSanitizer that other threads may get this number; a system call would
	 * not. */
	int cancel = ps__cancel_hold();
	int result = close(fd);
	ps__cancel_release(cancel);
	return result;
#else
	return (int)syscall(SYS_close, fd);
#endif
}

static int real_ioctl(int fd, unsigned long request, unsigned long argument)
{
	return ioctl(fd, request, argument);
}

static int real_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC);
}

static int os_visit_folder(DIR *folder, int (*visit)(const char *name, void *context),
                           void *context)
{
	int result = 0;

	for (struct dirent *entry = readdir(folder); entry && result == 0;
	     entry = readdir(folder)) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = visit(entry->d_name, context);
	}
	closedir(folder);
	return result;
}

static int real_list(const char *path, int (*visit)(const char *name, void *context), void *context)
{
	int cancel = ps__cancel_hold();
	DIR *folder = opendir(path);
	int result = folder ? os_visit_folder(folder, visit, context) : -1;

	ps__cancel_release(cancel);
	return result;
}

static pid_t real_gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static int real_getrlimit(int resource, struct rlimit *limit)
{
	return getrlimit((__rlimit_resource_t)resource, limit);
}

static int real_getrusage(int who, struct rusage *usage)
{
	return getrusage((__rusage_who_t)who, usage);
}

/* Makes the system call itself: the C library's poll is a cancellation point. */
static int real_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
#ifdef __LP64__
	struct timespec timeout = {.tv_sec = timeout_ms / 1000,
	                           .tv_nsec = timeout_ms % 1000 * 1000000L};

	return (int)syscall(SYS_ppoll, fds, count, timeout_ms < 0 ? NULL : &timeout, NULL,
	                    (size_t)0);
#else
	/* On other ABIs the kernel's timespec may differ. */
	int cancel = ps__cancel_hold();
	int result = poll(fds, count, timeout_ms);
	ps__cancel_release(cancel);
	return result;
#endif
}

static int real_fstat(int fd, struct stat *status)
{
	return fstat(fd, status);
}

/* Makes the system call itself: the C library's write is a cancellation point. */
static ssize_t real_write(int fd, const void *buffer, size_t size_bytes)
{
	return syscall(SYS_write, fd, buffer, size_bytes);
}

static void *real_allocate(size_t size_bytes)
{
	return calloc(1, size_bytes);
}

#define REAL_SYSTEM                                                                       \
	{                                                                                 \
		.size = sizeof(struct ps_hooks), .perf_event_open = real_perf_event_open, \
		.ioctl = real_ioctl, .read = ps__os_real_read, .pread = real_pread,       \
		.open = real_open, .close = real_close, .mmap = mmap, .munmap = munmap,   \
		.list = real_list, .getcpu = sched_getcpu, .gettid = real_gettid,         \
		.sched_getaffinity = sched_getaffinity, .clock_gettime = clock_gettime,   \
		.getrlimit = real_getrlimit, .allocate = real_allocate, .release = free,  \
		.getrusage = real_getrusage, .poll = real_poll, .wake.pipe = pipe2,       \
		.wake.write = real_write, .wake.fstat = real_fstat, .bpf = real_bpf,      \
	}

static const struct ps_hooks real_system = REAL_SYSTEM;
struct ps_hooks ps__os = REAL_SYSTEM;

ptrdiff_t ps__os_rseq;

/*
 * Runs when the library is loaded, and when the table is replaced. glibc 2.35 and newer register
 * each thread. Where the registration failed (an old kernel, valgrind) the thread's CPU is
 * negative.
 */
__attribute__((constructor)) static void find_rseq(void)
{
	ps__os_rseq = 0;
#ifdef RSEQ_SIG
	if (__rseq_size != 0 && ps__os.getcpu == real_system.getcpu)
		ps__os_rseq = __rseq_offset + (ptrdiff_t)offsetof(struct rseq, cpu_id);
#endif
}

const struct ps_hooks *ps_hooks_default(void)
{
	return &real_system;
}

#define OR_REAL(entry)     \
	if (!ps__os.entry) \
	ps__os.entry = real_system.entry

/* True if a newer program's table sets entries that this library doesn't have. Entries that are
 * NULL do no harm. */
static bool os_has_later_entries(const struct ps_hooks *hooks)
{
	const unsigned char *bytes = (const unsigned char *)hooks;

	for (size_t at = sizeof *hooks; at < hooks->size; at++) {
		if (bytes[at])
			return true;
	}
	return false;
}

static int os_check_size(const struct ps_hooks *hooks)
{
	if (hooks->size < sizeof hooks->size || hooks->size % sizeof(void *) != 0 ||
	    hooks->size > LARGEST_TABLE)
		return ps__fail(PS_EINVAL,
		                "ps_hooks_set: the table's size is %zu, which no version of it "
		                "has: set it to sizeof(struct ps_hooks), %zu in this library",
		                hooks->size, sizeof *hooks);
	if (os_has_later_entries(hooks))
		return ps__fail(PS_EINVAL,
		                "ps_hooks_set: the table has %zu bytes and replaces calls that "
		                "this library doesn't have: its own has %zu, so it is older than "
		                "the header that the program was compiled with",
		                hooks->size, sizeof *hooks);
	return PS_OK;
}

int ps_hooks_set(const struct ps_hooks *hooks)
{
	struct ps_hooks taken = {.size = sizeof taken};

	if (!hooks)
		hooks = &real_system;
	int code = os_check_size(hooks);
	if (code < 0)
		return code;
	/* An older program's table is smaller: entries that it lacks get the default. */
	memcpy(&taken, hooks, hooks->size < sizeof taken ? hooks->size : sizeof taken);
	taken.size = sizeof taken;
	ps__os = taken;
	OR_REAL(perf_event_open);
	OR_REAL(ioctl);
	OR_REAL(read);
	OR_REAL(pread);
	OR_REAL(open);
	OR_REAL(close);
	OR_REAL(mmap);
	OR_REAL(munmap);
	OR_REAL(list);
	OR_REAL(getcpu);
	OR_REAL(gettid);
	OR_REAL(sched_getaffinity);
	OR_REAL(clock_gettime);
	OR_REAL(getrlimit);
	OR_REAL(allocate);
	OR_REAL(release);
	OR_REAL(getrusage);
	OR_REAL(poll);
	OR_REAL(wake.pipe);
	OR_REAL(wake.write);
	OR_REAL(wake.fstat);
	OR_REAL(bpf);
	find_rseq();
	return PS_OK;
}

void *ps__os_calloc(size_t count, size_t size_bytes)
{
	size_t total;

	if (__builtin_mul_overflow(count, size_bytes, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	return ps__os.allocate(total ? total : 1);
}

char *ps__os_strndup(const char *text, size_t length)
{
	char *copy = ps__os_calloc(length + 1, 1);

	return copy ? memcpy(copy, text, length) : NULL;
}

char *ps__os_strdup(const char *text)
{
	return ps__os_strndup(text, strlen(text));
}

void ps__os_free(void *memory)
{
	if (memory)
		ps__os.release(memory);
}

/* Two cache lines of 64 bytes, because processors fetch them in pairs. */
#define APART_BYTES ((size_t)128)

void *ps__os_calloc_apart(size_t count, size_t size_bytes)
{
	size_t total;

	if (__builtin_mul_overflow(count, size_bytes, &total) ||
	    __builtin_add_overflow(total, 2 * APART_BYTES - 1, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	void *whole = ps__os_calloc(1, total & ~(APART_BYTES - 1));
	if (!whole)
		return NULL;
	/* The allocator's pointer is stored right before the result. There is room for it, because
	 * the allocator aligns to a pointer's size at least. */
	void **apart = (void **)(((uintptr_t)whole + APART_BYTES) & ~(uintptr_t)(APART_BYTES - 1));
	apart[-1] = whole;
	return apart;
}

void ps__os_free_apart(void *memory)
{
	if (memory)
		ps__os_free(((void **)memory)[-1]);
}

void *ps__os_pages_create(size_t size_bytes)
{
	void *pages = ps__os.mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
	                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

void ps__os_pages_destroy(void *pages, size_t size_bytes)
{
	if (pages)
		ps__os.munmap(pages, size_bytes);
}

/* Waits for another task: yields to it, and after 100 attempts sleeps, because the caller may have
 * the higher priority. */
static void wait_for_task(int attempt)
{
	if (attempt < 100)
		sched_yield();
	else
		ps__cancel_free_sleep(1000000);
}

__attribute__((cold)) ssize_t ps__os_read_again(int fd, void *buffer, size_t size_bytes)
{
	ssize_t length = -1;
	int attempt = 0;

	while (length < 0 && (errno == EINTR || (errno == ECHILD && attempt < 150))) {
		if (errno == ECHILD)
			wait_for_task(attempt++);
		length = ps__os.read(fd, buffer, size_bytes);
	}
	return length;
}

ssize_t ps__os_read_whole(int fd, char *buffer, size_t size_bytes)
{
	size_t length = 0;

	while (length < size_bytes) {
		ssize_t got = ps__os_read_retried(fd, buffer + length, size_bytes - length);
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	return (ssize_t)length;
}

ssize_t ps__os_read_file(const char *path, char *buffer, size_t size_bytes)
{
	/* O_NONBLOCK: a named pipe without a writer is then empty, and open doesn't wait. */
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	ssize_t length = ps__os_read_whole(fd, buffer, size_bytes);
	ps__os.close(fd);
	if (length < 0)
		return length;
	if ((size_t)length == size_bytes)
		return -EFBIG;
	while (length > 0 && isspace((unsigned char)buffer[length - 1]))
		length--;
	buffer[length] = '\0';
	return length;
}

ssize_t ps__os_read_head(const char *path, char *buffer, size_t size_bytes)
{
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	ssize_t length = ps__os_read_retried(fd, buffer, size_bytes - 1);
	int error = length < 0 ? errno : 0;
	ps__os.close(fd);
	if (error)
		return -error;
	buffer[length] = '\0';
	return length;
}

int ps__os_read_long(const char *path, long *out)
{
	char text[64];
	char *end;
	ssize_t length = ps__os_read_file(path, text, sizeof text);

	if (length < 0)
		return (int)length;
	errno = 0;
	long number = strtol(text, &end, 10);
	if (errno || end == text || *end)
		return -EINVAL;
	*out = number;
	return 0;
}

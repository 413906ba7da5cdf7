/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OS seam: the one table through which every room reaches the kernel, and
 * helpers on top of it for small files under /proc and /sys.
 */
#ifndef PS_BASE_OS_H
#define PS_BASE_OS_H

#include <errno.h>
#include <perfsage/hooks.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

extern struct ps_hooks ps__os __attribute__((visibility("hidden")));

/*
 * Offset in bytes from the thread pointer to the place where the kernel keeps the calling thread's
 * CPU (rseq(2), registered by glibc); 0 if there is no such place, or if a test has replaced
 * getcpu.
 */
extern ptrdiff_t ps__os_rseq __attribute__((visibility("hidden")));

/* Returns the address at which the kernel keeps the calling thread's CPU, valid in this thread
 * only; the address of a -1 if there is none. */
static inline const volatile int *ps__os_cpu_place(void)
{
	static const int nowhere = -1;
	const char *thread = __builtin_thread_pointer();

	return ps__os_rseq ? (const volatile int *)(thread + ps__os_rseq) : &nowhere;
}

/* Returns the calling thread's CPU, or -1. Two loads if rseq has the CPU, otherwise a call of the
 * table's getcpu. */
static inline int ps__os_getcpu(void)
{
	if (__builtin_expect(ps__os_rseq != 0, 1)) {
		int cpu =
		    *(const volatile int *)((const char *)__builtin_thread_pointer() + ps__os_rseq);
		if (__builtin_expect(cpu >= 0, 1))
			return cpu;
	}
	return ps__os.getcpu();
}

/* Returns zeroed memory for count objects, or NULL with errno ENOMEM, also if count * size_bytes
 * overflows. */
void *ps__os_calloc(size_t count, size_t size_bytes);
char *ps__os_strdup(const char *text);
char *ps__os_strndup(const char *text, size_t length);
void ps__os_free(void *memory);

/*
 * Like ps__os_calloc, for memory that one thread writes while other threads write other memory:
 * nothing else is in its cache lines, or in the lines that processors fetch along with them. Free
 * it with ps__os_free_apart only.
 */
void *ps__os_calloc_apart(size_t count, size_t size_bytes);
void ps__os_free_apart(void *memory);

/* Calls perf_event_open with close-on-exec added to flags, and repeats a call that a signal
 * interrupted. Returns the descriptor, or -errno. */
int ps__os_open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                      unsigned long flags);
/* True if fd is, or may be, an event's descriptor. The program may have closed the event and opened
 * something else under its number. */
bool ps__os_is_event(int fd);
/* True if fd is, or may be, the event that the kernel gave this id. The program may have opened
 * another event under the number. id 0: any event. */
bool ps__os_is_event_of(int fd, uint64_t id);
/* Closes fd if ps__os_is_event_of is true for it. In a forked child this closes only the child's
 * copy. */
void ps__os_close_event_of(int fd, uint64_t id);
/* Returns the kernel's id of an event that was just opened; 0 if the kernel doesn't tell. */
uint64_t ps__os_event_id(int fd);
/*
 * Closes fd if it is the event with this id (0: any event). Another file under the number is the
 * program's and stays open. is_copied: true to close the child's copy in a forked child; otherwise
 * the kernel would keep the event, and its counter or breakpoint, as long as the child lives.
 */
void ps__os_close_event(int fd, uint64_t id, bool is_copied);

static inline uint64_t ps__os_clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	ps__os.clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CLOCK_MONOTONIC. */
static inline uint64_t ps__os_now_ns(void)
{
	return ps__os_clock_ns(CLOCK_MONOTONIC);
}

/* Continues ps__os_read_retried after its first read(2) failed. errno must be that of the
 * failure. */
ssize_t ps__os_read_again(int fd, void *buffer, size_t size_bytes);

/*
 * Calls read(2), and repeats it if a signal interrupted it, or if it failed with ECHILD. ECHILD
 * means that a task was just inheriting the group of events, or giving it back. That state ends in
 * microseconds, or when that task runs again; the call waits up to 50 ms for it.
 */
static inline ssize_t ps__os_read_retried(int fd, void *buffer, size_t size_bytes)
{
	ssize_t length = ps__os.read(fd, buffer, size_bytes);

	return __builtin_expect(length < 0, 0) ? ps__os_read_again(fd, buffer, size_bytes) : length;
}

/* The real system's read(2), the default of ps__os.read. */
ssize_t ps__os_real_read(int fd, void *buffer, size_t size_bytes);

/* Fills buffer from fd up to its end or to size_bytes. Returns the number of bytes, or -errno. */
ssize_t ps__os_read_whole(int fd, char *buffer, size_t size_bytes);

/* Reads a small text file whole, NUL-terminated, without trailing newlines.
 * Returns its length, or -errno: -EFBIG if it doesn't fit. */
ssize_t ps__os_read_file(const char *path, char *buffer, size_t size_bytes);
/* Reads the first bytes of a file that may be long, NUL-terminated. Returns their number, or
 * -errno. */
ssize_t ps__os_read_head(const char *path, char *buffer, size_t size_bytes);

/* Reads a decimal number from a file. Returns 0, or -errno (-EINVAL: no number
 * there). */
int ps__os_read_long(const char *path, long *out);

/* Maps memory and faults it in at once, so that touching it later is no page fault in the user's
 * counts. Returns NULL with errno on failure. */
void *ps__os_pages_create(size_t size_bytes);
void ps__os_pages_destroy(void *pages, size_t size_bytes);

#endif

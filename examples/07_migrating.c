/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that is moved between CPUs: what did it do on which hardware thread?
 *
 *     cc -O2 07_migrating.c -o migrating $(pkg-config --cflags --libs perfsage) \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./migrating [PAGES]
 *
 * It touches PAGES fresh pages (default 1000), each of which is a page fault. Then it moves to
 * another CPU by sched_setaffinity, touches a hundredth of that there, and so on. Its counts are
 * read once, at the end. Two sets count at the same time. In the first table the kernel has split
 * the counts (exact): each CPU has its own. In the second, everything counted since the last
 * reading was assigned to the CPU seen at the reading (last-cpu): the total is right, the place is
 * not. If the program may use only one CPU, both tables have one line.
 */
#define _GNU_SOURCE 1 /* sched_setaffinity */
#include <perfsage.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENT     "page-faults"
#define MOST_CPUS 4
#define ROUNDS    2

static void check(int code, const char *call)
{
	if (code == PS_OK)
		return;
	fprintf(stderr, "%s: %s\n    %s\n", call, ps_strerror(code), ps_error_detail());
	if (code != PS_PARTIAL) /* then the other counts are right */
		exit(EXIT_FAILURE);
}

static void check_errno(int is_right, const char *call)
{
	if (is_right)
		return;
	perror(call);
	exit(EXIT_FAILURE);
}

/* Finds up to MOST_CPUS CPUs that this program may use. Returns their number. */
static size_t find_cpus(int *cpus)
{
	cpu_set_t mask;
	size_t count = 0;

	check_errno(sched_getaffinity(0, sizeof(mask), &mask) == 0, "sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE && count < MOST_CPUS; cpu++)
		if (CPU_ISSET((size_t)cpu, &mask))
			cpus[count++] = cpu;
	return count;
}

static void move_to(int cpu)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET((size_t)cpu, &mask);
	check_errno(sched_setaffinity(0, sizeof(mask), &mask) == 0, "sched_setaffinity");
}

static void touch(size_t pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, pages * page_bytes, PROT_READ | PROT_WRITE,
	                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check_errno(memory != MAP_FAILED, "mmap");
	/* With huge pages one fault would bring many pages. */
	madvise((void *)memory, pages * page_bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * page_bytes] = 1;
	munmap((void *)memory, pages * page_bytes);
}

/* The counted code: the first CPU gets most of the work, each other one a hundredth of it. */
static void wander(const int *cpus, size_t cpu_count, size_t pages)
{
	for (size_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < cpu_count; i++) {
			move_to(cpus[i]);
			touch(i == 0 ? pages : pages / 100 + 1);
		}
}

/* A set, and its own tree for its readings. */
struct view {
	struct ps_topology *topology;
	struct ps_eventset *set;
};

static struct view make_view(enum ps_attribution_mode mode)
{
	struct view view;

	check(ps_topology_load(&view.topology, NULL), "ps_topology_load");
	check(ps_eventset_create(&view.set), "ps_eventset_create");
	check(ps_eventset_add(view.set, EVENT), "ps_eventset_add");
	check(ps_eventset_set_attribution(view.set, mode), "ps_eventset_set_attribution");
	check(ps_eventset_reserve(view.set, 100), "ps_eventset_reserve");
	return view;
}

static void print_view(const struct view *view)
{
	const char *why;
	enum ps_attribution attribution = ps_eventset_attribution(view->set, &why);

	printf("%s%s%s\n", ps_attribution_name(attribution), *why ? ": " : "", why);
	check(ps_print(ps_topology_root(view->topology), stdout), "ps_print");
	printf("\n");
}

static void destroy_view(struct view *view)
{
	check(ps_eventset_destroy(view->set), "ps_eventset_destroy");
	ps_topology_destroy(view->topology);
}

int main(int argc, char **argv)
{
	long pages = argc > 1 ? atol(argv[1]) : 1000;
	int cpus[MOST_CPUS];
	size_t cpu_count = find_cpus(cpus);

	if (argc > 2 || pages < 1 || pages > 1000000) {
		fprintf(stderr, "usage: %s [PAGES]\n", argv[0]);
		return EXIT_FAILURE;
	}
	struct view split = make_view(PS_ATTRIBUTE_AUTO);
	struct view last = make_view(PS_ATTRIBUTE_LAST_CPU);

	check(ps_start(split.set), "ps_start");
	check(ps_start(last.set), "ps_start");
	wander(cpus, cpu_count, (size_t)pages);
	check(ps_stop(last.set, ps_topology_root(last.topology), NULL, NULL), "ps_stop");
	check(ps_stop(split.set, ps_topology_root(split.topology), NULL, NULL), "ps_stop");

	print_view(&split);
	print_view(&last);
	destroy_view(&split);
	destroy_view(&last);
	return EXIT_SUCCESS;
}

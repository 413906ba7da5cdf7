/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First touch: on which NUMA node does the memory of each array lie?
 *
 *     cc -O2 11_sampler.c -o sampler $(pkg-config --cflags --libs perfsage) -pthread \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./sampler [THREADS]
 *
 * Linux puts a page on the NUMA node of the hardware thread that touches it first. A team of
 * threads fills the matrix, each its own part; the vector is filled by the first thread alone,
 * which is a common mistake. Each thread has a sampler that writes down every page fault with its
 * address and CPU. The tree tells the NUMA node of a CPU. No privilege is needed.
 */
#include <linux/perf_event.h>
#include <perfsage.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_THREADS 64
#define MOST_NODES   64
#define PAGES        256 /* in each array */
#define RING_BYTES   (64 << 10)

struct array {
	const char *name;
	char *memory;
	unsigned touched[MOST_NODES]; /* by NUMA node */
};

struct team {
	struct ps_topology *topology;
	struct array matrix, vector;
	size_t page_bytes;
	int size;
	unsigned long long lost;
	pthread_mutex_t lock; /* protects the numbers */
};

struct member {
	struct team *team;
	int number;
	pthread_t thread;
};

static void check(int code, const char *call)
{
	if (code == PS_OK)
		return;
	fprintf(stderr, "%s: %s\n    %s\n", call, ps_strerror(code), ps_error_detail());
	if (code != PS_PARTIAL) /* then the other counts are right */
		exit(EXIT_FAILURE);
}

/* Returns a sampler that records every page fault of the calling thread, with address and CPU. */
static struct ps_sampler *open_sampler(void)
{
	struct ps_attr *attr = NULL;
	struct ps_sampler *sampler = NULL;

	check(ps_attr_create(&attr, "page-faults:u"), "ps_attr_create");
	check(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 1), "ps_attr_set");
	check(ps_attr_set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU),
	      "ps_attr_set");
	/* The records are read at the end, so no wake-up is needed. */
	check(ps_attr_set(attr, PS_ATTR_WAKEUP_WATERMARK, RING_BYTES / 2), "ps_attr_set");
	check(ps_sampler_create(&sampler, attr, 0, -1, RING_BYTES), "ps_sampler_create");
	ps_attr_destroy(attr);
	return sampler;
}

static void fill(const struct team *team, struct array *array, int part, int parts)
{
	size_t begin = (size_t)part * PAGES / (size_t)parts;
	size_t end = (size_t)(part + 1) * PAGES / (size_t)parts;

	for (size_t page = begin; page < end; page++)
		array->memory[page * team->page_bytes] = 1;
}

/* Returns the number of the CPU's NUMA node; 0 if the machine has none. */
static int find_node(const struct team *team, uint32_t cpu)
{
	struct ps_thread *thread = ps_topology_thread(team->topology, (int)cpu);
	const struct ps_component *node =
	    thread ? ps_component_ancestor(ps_thread_component(thread), PS_COMPONENT_NUMA, 1)
		   : NULL;

	return node ? ps_component_os_id(node) : 0;
}

static void note(struct team *team, struct array *array, const struct ps_record *record)
{
	uint64_t begin = (uint64_t)(uintptr_t)array->memory;
	int node = find_node(team, record->cpu);

	if (record->addr >= begin && record->addr < begin + PAGES * team->page_bytes && node >= 0 &&
	    node < MOST_NODES)
		array->touched[node]++;
}

static void take_records(struct team *team, struct ps_sampler *sampler)
{
	struct ps_record record;

	pthread_mutex_lock(&team->lock);
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		if (record.type != PS_RECORD_SAMPLE)
			continue;
		note(team, &team->matrix, &record);
		note(team, &team->vector, &record);
	}
	team->lost += ps_sampler_lost(sampler);
	pthread_mutex_unlock(&team->lock);
}

static void *work(void *context)
{
	struct member *member = context;
	struct team *team = member->team;
	struct ps_sampler *sampler = open_sampler();

	check(ps_sampler_start(sampler), "ps_sampler_start");
	fill(team, &team->matrix, member->number, team->size);
	if (member->number == 0)
		fill(team, &team->vector, 0, 1);
	check(ps_sampler_stop(sampler), "ps_sampler_stop");
	take_records(team, sampler);
	ps_sampler_destroy(sampler);
	return NULL;
}

static void create_array(const struct team *team, struct array *array, const char *name)
{
	array->name = name;
	array->memory = mmap(NULL, PAGES * team->page_bytes, PROT_READ | PROT_WRITE,
	                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (array->memory == MAP_FAILED) {
		perror("mmap");
		exit(EXIT_FAILURE);
	}
	/* With huge pages one fault would bring many pages. */
	madvise(array->memory, PAGES * team->page_bytes, MADV_NOHUGEPAGE);
}

static void print_array(const struct array *array)
{
	printf("%s:", array->name);
	for (int node = 0; node < MOST_NODES; node++) {
		if (array->touched[node])
			printf("  %u of %d pages on NUMA node %d", array->touched[node], PAGES,
			       node);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	static struct member members[MOST_THREADS];
	static struct team team = {.lock = PTHREAD_MUTEX_INITIALIZER};

	team.size = argc > 1 ? atoi(argv[1]) : 2;
	if (team.size < 1 || team.size > MOST_THREADS) {
		fprintf(stderr, "usage: %s [THREADS]\n", argv[0]);
		return EXIT_FAILURE;
	}
	team.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	check(ps_topology_load(&team.topology, NULL), "ps_topology_load");
	create_array(&team, &team.matrix, "matrix");
	create_array(&team, &team.vector, "vector");
	for (int i = 0; i < team.size; i++) {
		members[i] = (struct member){.team = &team, .number = i};
		if (pthread_create(&members[i].thread, NULL, work, &members[i]) != 0)
			return EXIT_FAILURE;
	}
	for (int i = 0; i < team.size; i++)
		pthread_join(members[i].thread, NULL);
	print_array(&team.matrix);
	print_array(&team.vector);
	if (team.lost)
		printf("%llu page faults were lost: the ring was full\n", team.lost);
	ps_topology_destroy(team.topology);
	return 0;
}

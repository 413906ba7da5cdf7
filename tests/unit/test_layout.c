/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a reading writes, byte by byte: all memory of the library is compared before and after it.
 * Two sets on one topology must not write into one cache line, nor into any line of the topology:
 * else threads that read at once would wait for each other. The allocator here is the worst one for
 * that: right behind each block it puts one of somebody else's.
 */
#include "base/os.h"
#include "support/scene.h"
#include "support/skip.h"
#include "support/unmarked.h"

#include <stdlib.h>

#define ARENA_BYTES ((size_t)1 << 20)
#define LINE_BYTES  ((size_t)128) /* two lines of 64 bytes: they are fetched in pairs */
#define MOST_BLOCKS 1024
#define STRANGER    ((size_t)16) /* bytes of a block of somebody else's */

enum owner {
	OWNER_NONE,
	OWNER_TOPOLOGY,
	OWNER_A,
	OWNER_B,
	OWNER_STRANGER
};

/* Memory that the library has: blocks of the arena, and mappings. */
static struct block {
	unsigned char *begin;
	size_t size_bytes;
	enum owner owner;
	unsigned char *before; /* what was in it */
} blocks[MOST_BLOCKS];
static size_t block_count;
static enum owner owner; /* of what is allocated now */
static _Alignas(4096) unsigned char arena[ARENA_BYTES];
static size_t arena_used;
static struct ps_hooks fake;

static void add_block(void *begin, size_t size_bytes, enum owner of)
{
	ck_assert_uint_lt(block_count, MOST_BLOCKS);
	blocks[block_count++] =
	    (struct block){.begin = begin, .size_bytes = size_bytes, .owner = of};
}

static void *allocate_packed(size_t size_bytes)
{
	void *memory = &arena[arena_used];

	size_bytes = (size_bytes + 15) & ~(size_t)15;
	ck_assert_uint_le(arena_used + size_bytes + STRANGER, ARENA_BYTES);
	arena_used += size_bytes;
	add_block(memory, size_bytes, owner);
	add_block(&arena[arena_used], STRANGER, OWNER_STRANGER);
	arena_used += STRANGER;
	return memory;
}

static void remove_block(const void *memory)
{
	for (size_t index = 0; index < block_count; index++) {
		if (blocks[index].begin == memory) {
			free(blocks[index].before);
			blocks[index] = blocks[--block_count];
			return;
		}
	}
	ck_abort_msg("%p is released, and was never allocated", memory);
}

/* Its memory isn't given out again: no other block must profit from a hole. */
static void release_packed(void *memory)
{
	remove_block(memory);
}

static void *record_mmap(void *address, size_t size_bytes, int protection, int flags, int fd,
                         off_t offset)
{
	void *memory = fake.mmap(address, size_bytes, protection, flags, fd, offset);

	if (memory != (void *)-1)
		add_block(memory, size_bytes, owner);
	return memory;
}

static int record_munmap(void *address, size_t size_bytes)
{
	remove_block(address);
	return fake.munmap(address, size_bytes);
}

static void setup(void)
{
	struct ps_hooks packed;

	owner = OWNER_TOPOLOGY;
	scene_setup();
	ps_topology_destroy(scene.topology);
	fake = packed = ps__os;
	packed.allocate = allocate_packed;
	packed.release = release_packed;
	packed.mmap = record_mmap;
	packed.munmap = record_munmap;
	check_ok(ps_hooks_set(&packed));
	check_ok(ps_topology_load_synthetic(&scene.topology, "pack:2 core:2 pu:1"));
	scene.root = ps_topology_root(scene.topology);
}

static void teardown(void)
{
	ps_topology_destroy(scene.topology);
	for (size_t index = 0; index < block_count; index++)
		ck_assert_int_eq((int)blocks[index].owner, OWNER_STRANGER);
	ck_assert_int_eq(ps_hooks_set(&fake), PS_OK);
	fake_remove();
}

static void take_snapshot(void)
{
	for (size_t index = 0; index < block_count; index++) {
		struct block *block = &blocks[index];

		free(block->before);
		block->before = malloc(block->size_bytes);
		ck_assert_ptr_nonnull(block->before);
		memcpy(block->before, block->begin, block->size_bytes);
	}
}

static const char *name_of(enum owner of)
{
	static const char *const names[] = {"nobody", "the topology", "set A", "set B",
	                                    "somebody else"};

	return names[of];
}

/* A block of another owner in the lines of a byte; NULL: there is none. */
static const struct block *find_neighbour(const unsigned char *byte, enum owner writer)
{
	uintptr_t begin = (uintptr_t)byte & ~(LINE_BYTES - 1);

	for (size_t index = 0; index < block_count; index++) {
		const struct block *other = &blocks[index];
		uintptr_t first = (uintptr_t)other->begin;

		if (other->owner != writer && first < begin + LINE_BYTES &&
		    first + other->size_bytes > begin)
			return other;
	}
	return NULL;
}

/* Returns how many bytes have changed since the snapshot: all of them in lines of the writer
 * alone. */
static size_t check_changes(enum owner writer)
{
	size_t changed = 0;

	for (size_t index = 0; index < block_count; index++) {
		const struct block *block = &blocks[index];

		if (!block->before || !memcmp(block->begin, block->before, block->size_bytes))
			continue;
		for (size_t place = 0; place < block->size_bytes; place++) {
			if (block->begin[place] == block->before[place])
				continue;
			changed++;
			ck_assert_msg(block->owner == writer,
			              "a reading of %s writes byte %zu of %zu in a block of %s",
			              name_of(writer), place, block->size_bytes,
			              name_of(block->owner));
			const struct block *other = find_neighbour(&block->begin[place], writer);
			ck_assert_msg(
			    !other,
			    "%s writes byte %zu of %zu in a block: %s has %zu bytes in its lines",
			    name_of(writer), place, block->size_bytes, name_of(other->owner),
			    other->size_bytes);
		}
	}
	return changed;
}

static struct ps_eventset *make_set(enum owner of)
{
	owner = of;
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);

	check_ok(ps_start(set));
	return set;
}

/* The calls' own: what they allocate belongs to the set that is read. */
static void read_set(struct ps_eventset *set, enum owner of, uint64_t *timestamp, bool accumulate)
{
	owner = of;
	fake_advance(PAGE_FAULTS, 1000003);
	fake_advance(MINOR_FAULTS, 70001);
	fake_run(1000000, 1000000);
	check_ok((accumulate ? ps_accum : ps_read)(set, scene.root, timestamp, NULL));
}

/* Readings of all kinds, by two sets in turn, on one CPU or two; each must write, and to itself
 * alone. */
static void check_turns(struct ps_eventset *const sets[2], int cpu_a, int cpu_b, int rounds)
{
	uint64_t old[2] = {0};

	for (int round = 0; round < rounds; round++) {
		enum owner writer = round % 2 ? OWNER_B : OWNER_A;
		struct ps_eventset *set = sets[round % 2];
		uint64_t timestamp = round / 2 % 5 == 4 ? old[round % 2] : 0;

		fake_set_cpu(round % 2 ? cpu_b : cpu_a);
		take_snapshot();
		read_set(set, writer, round / 2 % 5 == 3 ? NULL : &timestamp, round / 2 % 3 == 2);
		ck_assert_uint_gt(check_changes(writer), 0);
		if (round / 2 % 5 == 1)
			old[round % 2] = timestamp;
	}
}

static void check_two_sets(int cpu_a, int cpu_b)
{
	/* Made in turn, so that what belongs to one stands between what belongs to the other. */
	struct ps_eventset *sets[2] = {make_set(OWNER_A), make_set(OWNER_B)};

	/* The first reading on a hardware thread puts a log on it. The task of both sets visits
	 * both CPUs. */
	for (int round = 0; round < 4; round++) {
		fake_set_cpu(round % 2 ? cpu_b : cpu_a);
		read_set(sets[0], OWNER_A, NULL, false);
		read_set(sets[1], OWNER_B, NULL, false);
	}
	check_turns(sets, cpu_a, cpu_b, 400);
	ps_eventset_destroy(sets[0]);
	ps_eventset_destroy(sets[1]);
}

START_TEST(two_sets_on_two_cpus_write_no_line_of_each_other_or_of_the_tree)
{
	check_two_sets(0, 1);
}
END_TEST

START_TEST(two_sets_on_one_thread_component_write_no_line_of_each_other_or_of_the_tree)
{
	check_two_sets(2, 2);
}
END_TEST

START_TEST(looking_values_up_writes_nothing)
{
	struct ps_eventset *set = make_set(OWNER_A);
	struct ps_value value;
	uint64_t timestamp = 0;

	read_set(set, OWNER_A, &timestamp, false);
	for (int round = 0; round < 200; round++) {
		uint64_t other = 0;
		read_set(set, OWNER_A, &other, false);
	}
	struct ps_thread *thread = ps_topology_thread(scene.topology, 0);
	take_snapshot();
	check_ok(ps_thread_reading(thread, "page-faults", timestamp, &value));
	check_ok(ps_thread_reading(thread, "minor-faults", 0, &value));
	check_ok(ps_component_total(scene.root, "page-faults", &value));
	ck_assert_uint_eq(check_changes(OWNER_NONE), 0);
	ps_eventset_destroy(set);
}
END_TEST

/* The check itself: it must see a block in the lines of another owner's. */
START_TEST(blocks_that_share_a_line_are_noticed)
{
	owner = OWNER_A;
	unsigned char *one = ps__os_calloc(1, 16);
	owner = OWNER_B;
	unsigned char *other = ps__os_calloc(1, 16);
	unsigned char *apart = ps__os_calloc_apart(1, 16);

	ck_assert_ptr_eq(other, one + 16 + STRANGER);
	ck_assert_ptr_nonnull(find_neighbour(other, OWNER_B));
	ck_assert_ptr_nonnull(find_neighbour(one, OWNER_A));
	ck_assert_ptr_null(find_neighbour(apart, OWNER_B));
	ps__os_free(one);
	ps__os_free(other);
	ps__os_free_apart(apart);
}
END_TEST

/* The program's own variables, the library's among them: in a program without the fake kernel,
 * which has its own. */
extern unsigned char __data_start[], _end[];

__attribute__((no_sanitize("address"))) static size_t count_changes(volatile uint64_t *copy,
                                                                    bool store)
{
	/* Linkers align both ends. */
	const volatile uint64_t *now = (const volatile uint64_t *)(const void *)__data_start;
	size_t words = (size_t)(_end - __data_start) / sizeof *now;
	size_t changes = 0;

	for (size_t place = 0; place < words; place++) {
		changes += copy[place] != now[place];
		if (store)
			copy[place] = now[place];
	}
	return changes;
}

START_TEST(readings_write_no_variable_of_the_library_s)
{
	struct ps_topology *topology = NULL;
	struct ps_eventset *set = NULL;
	uint64_t *copy = calloc(1, (size_t)(_end - __data_start));

	if (PS_TEST_HAS_SANITIZER) {
		ps_test_skip("clang links a sanitizer's own variables into the program");
		free(copy);
		return;
	}
	ck_assert_ptr_nonnull(copy);
	check_ok(ps_hooks_set(NULL));
	check_ok(ps_topology_load_synthetic(&topology, "pu:2"));
	check_ok(ps_eventset_create(&set));
	int result = ps_eventset_add(set, "page-faults:u");
	if (result == PS_OK)
		result = ps_start(set);
	if (result != PS_OK)
		ps_test_skip(ps_error_detail());
	for (int round = 0; result == PS_OK && round < 200; round++) {
		uint64_t timestamp = 0;
		count_changes(copy, true);
		int one = ps_read(set, ps_topology_root(topology), &timestamp, NULL);
		int other = ps_accum(set, ps_topology_root(topology), &timestamp, NULL);
		size_t changes = count_changes(copy, false);
		ck_assert_int_eq(one, PS_OK);
		ck_assert_int_eq(other, PS_OK);
		/* The first one may settle what is found out once. */
		ck_assert_uint_eq(round ? changes : 0, 0);
	}
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
	free(copy);
}
END_TEST

START_TEST(memory_that_is_apart_shares_no_line)
{
	unsigned char *memory[32];

	for (size_t index = 0; index < 32; index++) {
		owner = index % 2 ? OWNER_A : OWNER_B;
		memory[index] = ps__os_calloc_apart(1, 1 + index * 13);
		ck_assert_uint_eq((uintptr_t)memory[index] % LINE_BYTES, 0);
	}
	for (size_t index = 0; index < 32; index++) {
		take_snapshot();
		memset(memory[index], 0xff, 1 + index * 13);
		ck_assert_uint_eq(check_changes(index % 2 ? OWNER_A : OWNER_B), 1 + index * 13);
	}
	for (size_t index = 0; index < 32; index++)
		ps__os_free_apart(memory[index]);
	ck_assert_ptr_null(ps__os_calloc_apart(1, SIZE_MAX - 64));
	ck_assert_ptr_null(ps__os_calloc_apart(SIZE_MAX / 2, 3));
	ps__os_free_apart(NULL);
}
END_TEST

static void setup_last_cpu(void)
{
	setup();
	scene.mode = PS_ATTRIBUTE_LAST_CPU;
}

static void add_case(Suite *suite, const char *name, void (*set_up)(void))
{
	TCase *tests = tcase_create(name);

	tcase_add_checked_fixture(tests, set_up, teardown);
	tcase_add_test(tests, two_sets_on_two_cpus_write_no_line_of_each_other_or_of_the_tree);
	tcase_add_test(tests,
	               two_sets_on_one_thread_component_write_no_line_of_each_other_or_of_the_tree);
	tcase_add_test(tests, looking_values_up_writes_nothing);
	tcase_add_test(tests, memory_that_is_apart_shares_no_line);
	suite_add_tcase(suite, tests);
}

int main(void)
{
	Suite *suite = suite_create("layout");

	add_case(suite, "exact", setup);
	add_case(suite, "last-cpu", setup_last_cpu);
	TCase *tests = tcase_create("itself");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, blocks_that_share_a_line_are_noticed);
	suite_add_tcase(suite, tests);
	tests = tcase_create("variables");
	tcase_add_test(tests, readings_write_no_variable_of_the_library_s);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}

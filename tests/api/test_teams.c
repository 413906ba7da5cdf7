/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of threads that change, as OpenMP's do: a smaller team ends threads, and a larger one after
 * it creates others. Each member touches so many fresh pages in each region. With a set for each
 * thread all of them are in the tree; with a set for each number in the team, which a new thread
 * would share with one that has ended, calls fail. A profile's regions need no sets. Real page
 * faults.
 */

#include "here.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENT   "page-faults:u"
#define PAGES   1000
#define LARGEST 4
/* What regions may count beside the pages: code and stacks that are met for the first time. */
#define OTHER_FAULTS 1000

static const int sizes[] = {4, 2, 4, 4};
#define REGIONS (sizeof sizes / sizeof sizes[0])

struct team {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *model;
	void (*region)(struct team *team, int number);
	/* The shown pattern: a set for each thread. */
	pthread_key_t own_set;
	/* The mistake: a set for each number. */
	struct ps_eventset *sets[LARGEST];
	uint64_t readings[LARGEST];
	/* Without any: what is done is a region. */
	struct ps_profile *profile;
	struct ps_region *work;
	_Atomic int errors;
	char detail[1024];
};

struct member {
	struct team *team;
	int number;
	pthread_t thread;
	bool is_there, is_to_end;
	sem_t begin, end;
};

/* Without a sanitizer's checks: they touch pages of their own. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) static void
touch(volatile unsigned char *at)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t page = 0; page < PAGES; page++)
		at[page * page_bytes] = 1;
}

static void work(void)
{
	size_t length_bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	void *pages =
	    mmap(NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		abort();
	madvise(pages, length_bytes, MADV_NOHUGEPAGE);
	touch(pages);
	munmap(pages, length_bytes);
}

static void note(struct team *team, int result)
{
	if (result == PS_OK)
		return;
	if (team->errors++ == 0)
		strncpy(team->detail, ps_error_detail(), sizeof team->detail - 1);
}

static struct ps_eventset *start_set(struct team *team)
{
	struct ps_eventset *set = NULL;

	note(team, ps_eventset_clone(&set, team->model));
	note(team, ps_start(set));
	return set;
}

/* As the manual shows it: the key's destructor ends the set when the thread ends. */
static void count_by_thread(struct team *team, int number)
{
	struct ps_eventset *set = pthread_getspecific(team->own_set);

	(void)number;
	if (!set) {
		set = start_set(team);
		pthread_setspecific(team->own_set, set);
	}
	note(team, ps_reset(set));
	work();
	note(team, ps_accum(set, team->root, NULL, NULL));
}

static void count_by_number(struct team *team, int number)
{
	if (!team->sets[number])
		team->sets[number] = start_set(team);
	work();
	note(team, ps_accum(team->sets[number], team->root, &team->readings[number], NULL));
}

static void count_by_region(struct team *team, int number)
{
	(void)number;
	note(team, ps_region_enter(team->work));
	work();
	note(team, ps_region_leave(team->work));
}

static void end_set(void *set)
{
	ps_eventset_destroy(set);
}

static void *serve(void *argument)
{
	struct member *member = argument;

	for (;;) {
		sem_wait(&member->begin);
		if (member->is_to_end)
			return NULL;
		member->team->region(member->team, member->number);
		sem_post(&member->end);
	}
}

static void hire(struct member *member)
{
	member->is_to_end = false;
	ck_assert_int_eq(pthread_create(&member->thread, NULL, serve, member), 0);
	member->is_there = true;
}

static void dismiss(struct member *member)
{
	member->is_to_end = true;
	sem_post(&member->begin);
	pthread_join(member->thread, NULL);
	member->is_there = false;
}

/* The first member is the caller. */
static void run_region(struct team *team, struct member *members, int size)
{
	for (int number = 1; number < LARGEST; number++) {
		if (number >= size && members[number].is_there)
			dismiss(&members[number]);
		if (number < size && !members[number].is_there)
			hire(&members[number]);
	}
	for (int number = 1; number < size; number++)
		sem_post(&members[number].begin);
	team->region(team, 0);
	for (int number = 1; number < size; number++)
		sem_wait(&members[number].end);
}

static void run_teams(struct team *team)
{
	struct member members[LARGEST];

	memset(members, 0, sizeof members);
	for (int number = 1; number < LARGEST; number++) {
		members[number] = (struct member){.team = team, .number = number};
		sem_init(&members[number].begin, 0, 0);
		sem_init(&members[number].end, 0, 0);
	}
	for (size_t region = 0; region < REGIONS; region++)
		run_region(team, members, sizes[region]);
	for (int number = 1; number < LARGEST; number++) {
		if (members[number].is_there)
			dismiss(&members[number]);
		sem_destroy(&members[number].begin);
		sem_destroy(&members[number].end);
	}
}

static void open_team(struct team *team, void (*region)(struct team *team, int number))
{
	memset(team, 0, sizeof *team);
	team->region = region;
	check_ok(ps_topology_load(&team->topology, NULL));
	team->root = ps_topology_root(team->topology);
	check_ok(ps_eventset_create(&team->model));
	check_ok(ps_eventset_add(team->model, EVENT));
	ck_assert_int_eq(pthread_key_create(&team->own_set, end_set), 0);
}

static void close_team(struct team *team)
{
	end_set(pthread_getspecific(team->own_set));
	pthread_key_delete(team->own_set);
	for (int number = 0; number < LARGEST; number++)
		ps_eventset_destroy(team->sets[number]);
	ps_eventset_destroy(team->model);
	ps_topology_destroy(team->topology);
}

static long long pages_of_all(void)
{
	long long pages = 0;

	for (size_t region = 0; region < REGIONS; region++)
		pages += (long long)sizes[region] * PAGES;
	return pages;
}

START_TEST(a_set_for_each_thread_counts_all_that_teams_do)
{
	struct team team;
	struct ps_value total = {0};

	if (!here_may_count(EVENT))
		return;
	open_team(&team, count_by_thread);
	run_teams(&team);
	ck_assert_msg(team.errors == 0, "%d errors: %s", team.errors, team.detail);
	check_ok(ps_component_total(team.root, EVENT, &total));
	ck_assert_int_ge(total.value, pages_of_all());
	if (!PS_TEST_HAS_SANITIZER)
		ck_assert_int_le(total.value, pages_of_all() + OTHER_FAULTS);
	close_team(&team);
}
END_TEST

/* The two regions of four after the one of two: their members 2 and 3 are new threads, with the
 * sets of ended ones. */
START_TEST(a_set_for_each_number_tells_that_its_thread_has_ended)
{
	struct team team;

	if (!here_may_count(EVENT))
		return;
	open_team(&team, count_by_number);
	run_teams(&team);
	ck_assert_int_eq(team.errors, 4);
	ck_assert_ptr_nonnull(strstr(team.detail, "has ended"));
	ck_assert_ptr_nonnull(strstr(team.detail, "ps_eventset_clone"));
	close_team(&team);
}
END_TEST

START_TEST(a_region_has_all_that_teams_do_in_it)
{
	const char *name = "work";
	struct team team;
	struct ps_paths *paths = NULL;
	struct ps_value value = {0};
	struct ps_visits visits = {.size = sizeof visits};
	long long members = 0;

	if (!here_may_count(EVENT))
		return;
	open_team(&team, count_by_region);
	check_ok(ps_profile_create(&team.profile, team.model, team.root));
	check_ok(ps_region_define(&team.work, team.profile, name));
	run_teams(&team);
	ck_assert_msg(team.errors == 0, "%d errors: %s", team.errors, team.detail);
	check_ok(ps_paths_create(&paths, team.profile));
	const struct ps_path *path = ps_path_find(ps_paths_root(paths), &name, 1);
	check_ok(ps_path_value(path, team.root, EVENT, PS_SHARE_EXCLUSIVE, &value));
	check_ok(ps_path_visits(path, &visits));
	for (size_t region = 0; region < REGIONS; region++)
		members += sizes[region];
	ck_assert_uint_eq(visits.count, (uint64_t)members);
	ck_assert_int_ge(value.value, pages_of_all());
	if (!PS_TEST_HAS_SANITIZER)
		ck_assert_int_le(value.value, pages_of_all() + OTHER_FAULTS);
	ps_paths_destroy(paths);
	ps_profile_destroy(team.profile);
	close_team(&team);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("teams");
	TCase *tests = tcase_create("teams");

	tcase_add_test(tests, a_set_for_each_thread_counts_all_that_teams_do);
	tcase_add_test(tests, a_set_for_each_number_tells_that_its_thread_has_ended);
	tcase_add_test(tests, a_region_has_all_that_teams_do_in_it);
	suite_add_tcase(suite, tests);
	return here_run(suite);
}

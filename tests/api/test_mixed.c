/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Software events whose leader is of another of the kernel's PMUs. Linux 6.18 leaves such an event
 * off until the task's next switch if it joins a leader that counts already, or is resumed. So the
 * counted task is one that is not switched: it computes all the time, on a CPU of its own.
 */
#include "wander.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 500

/* Shared by the test and the watched process. */
struct watch {
	_Atomic int turn; /* the process works when it is odd */
	long long pages, strays;
};

/* The scheduler's class of real time, where it is permitted, keeps others from the CPU. */
static void watch_keep_cpu(void)
{
	const struct sched_param param = {.sched_priority = 1};

	wander_move(wander_cpu(1));
	sched_setscheduler(0, SCHED_FIFO, &param);
}

static void watch_await(struct watch *watch, int turn)
{
	while (atomic_load(&watch->turn) != turn)
		;
}

static void watch_work(struct watch *watch)
{
	struct wander_work work;

	wander_create(&work, 2 * PAGES);
	wander_touch(&work, PAGES);
	watch_keep_cpu();
	atomic_store(&watch->turn, 1);
	watch_await(watch, 2);
	wander_settle(&work);
	wander_touch(&work, PAGES);
	watch->pages = PAGES;
	watch->strays = wander_strays(&work);
	atomic_store(&watch->turn, 3);
	watch_await(watch, 4);
	_exit(0);
}

/* Software events wait for no counter. */
static void check_counted(uint64_t timestamp)
{
	struct ps_value value;

	check_ok(ps_component_reading(here.root, WANDER_EVENT, timestamp, &value));
	ck_assert_msg(value.status == PS_STATUS_COUNTED,
	              "status %d, raw %llu, %llu ns of %llu ns on the hardware", (int)value.status,
	              (unsigned long long)value.raw, (unsigned long long)value.running_ns,
	              (unsigned long long)value.enabled_ns);
}

static const enum ps_attribution_mode modes[] = {PS_ATTRIBUTE_AUTO, PS_ATTRIBUTE_EXACT,
                                                 PS_ATTRIBUTE_TIME_SHARE, PS_ATTRIBUTE_LAST_CPU};

/* Another PMU's event leads in each. */
static const char *const leaders[] = {"task-clock:u", "cpu-clock:u"};

#define CASES ((int)(sizeof modes / sizeof *modes * 2))

/* _i: the leader, and the mode. */
START_TEST(a_process_that_is_not_switched_is_counted_from_the_start)
{
	struct ps_eventset *set = NULL;
	uint64_t timestamp = 0;
	struct watch *watch =
	    mmap(NULL, sizeof *watch, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!wander_is_possible())
		return;
	ck_assert(watch != MAP_FAILED);
	atomic_init(&watch->turn, 0);
	wander_move(wander_cpu(0));
	pid_t child = fork();
	if (child == 0)
		watch_work(watch);
	watch_await(watch, 1);
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, leaders[_i % 2]));
	check_ok(ps_eventset_add(set, WANDER_EVENT));
	check_ok(ps_eventset_set_attribution(set, modes[_i / 2]));
	check_ok(ps_eventset_attach_process(set, child));
	check_ok(ps_start(set));
	atomic_store(&watch->turn, 2);
	watch_await(watch, 3);
	int result = ps_read(set, here.root, &timestamp, NULL);
	atomic_store(&watch->turn, 4);
	waitpid(child, NULL, 0);
	check_ok(result);
	check_counted(timestamp);
	wander_check_count(here_sum(WANDER_EVENT, timestamp), watch->pages, watch->strays);
	ps_eventset_destroy(set);
	munmap(watch, sizeof *watch);
}
END_TEST

/* _i: the leader, and the mode. */
START_TEST(an_event_that_is_resumed_counts_at_once)
{
	struct ps_eventset *set = NULL;
	struct wander_work work;
	uint64_t timestamp = 0;

	if (!wander_is_possible())
		return;
	wander_create(&work, 4 * PAGES);
	wander_touch(&work, PAGES);
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, leaders[_i % 2]));
	check_ok(ps_eventset_add(set, WANDER_EVENT));
	check_ok(ps_eventset_set_attribution(set, here_modes[_i / 2]));
	check_ok(ps_eventset_reserve(set, 16));
	watch_keep_cpu();
	check_ok(ps_start(set));
	/* All code is in memory after it. */
	check_ok(ps_eventset_pause_event(set, 1));
	check_ok(ps_eventset_resume_event(set, 1));
	check_ok(ps_read(set, here.root, NULL, NULL));
	check_ok(ps_reset(set));
	wander_settle(&work);
	wander_touch(&work, PAGES);
	check_ok(ps_eventset_pause_event(set, 1));
	wander_touch(&work, PAGES);
	check_ok(ps_eventset_resume_event(set, 1));
	wander_touch(&work, PAGES);
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	wander_check_count(here_sum(WANDER_EVENT, timestamp), 2 * PAGES, wander_strays(&work));
	ps_eventset_destroy(set);
	wander_destroy(&work);
}
END_TEST

static void add_all(TCase *tests)
{
	tcase_add_checked_fixture(tests, here_setup, here_teardown);
	tcase_add_loop_test(tests, a_process_that_is_not_switched_is_counted_from_the_start, 0,
	                    CASES);
	tcase_add_loop_test(tests, an_event_that_is_resumed_counts_at_once, 0, 2 * HERE_MODES);
}

int main(void)
{
	return wander_run("mixed PMUs", add_all, NULL);
}

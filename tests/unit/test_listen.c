/* SPDX-License-Identifier: BSD-3-Clause */
/* The notes of marks are parsed, and never trusted: modules that a test makes up in its memory. */
#define PERFSAGE_NO_MARKS
#include "region/listen.h"
#include "region/notes.h"
#include "region/profile.h"
#include "support/scene.h"
#include "support/small.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A module: notes that are read only, then a slot that may be written. Addresses of the file begin
 * at 4096. */
static struct image {
	struct note {
		ElfW(Nhdr) head;
		char owner[12];
		int64_t distance;
	} notes[2];
	const struct ps_marks_listener *slots[2];
} image;
static ElfW(Phdr) segments[3];
static struct dl_phdr_info module;

#define BASE       4096
#define PLACE(of)  (BASE + offsetof(struct image, of))
#define THE_NOTE   (&image.notes[1])
#define NOTES_SIZE sizeof image.notes

static void make_module(void)
{
	memset(&image, 0, sizeof image);
	/* One of another owner comes before. */
	image.notes[0] = (struct note){{4, 16, 1}, "GNU", 0};
	image.notes[0].head.n_descsz = sizeof(struct note) - sizeof(ElfW(Nhdr)) - 4;
	image.notes[1] = (struct note){{9, 8, 1}, "perfsage", 0};
	THE_NOTE->distance = (int64_t)PLACE(slots[1]) - (int64_t)PLACE(notes[1].distance);
	segments[0] = (ElfW(Phdr)){
	    .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = PLACE(notes), .p_memsz = NOTES_SIZE};
	segments[1] = (ElfW(Phdr)){.p_type = PT_LOAD,
	                           .p_flags = PF_R | PF_W,
	                           .p_vaddr = PLACE(slots),
	                           .p_memsz = sizeof image.slots};
	segments[2] = (ElfW(Phdr)){.p_type = PT_NOTE,
	                           .p_flags = PF_R,
	                           .p_vaddr = PLACE(notes),
	                           .p_memsz = NOTES_SIZE,
	                           .p_align = 4};
	module = (struct dl_phdr_info){
	    .dlpi_addr = (ElfW(Addr)) & image - BASE, .dlpi_phdr = segments, .dlpi_phnum = 3};
}

START_TEST(the_note_names_the_slot)
{
	make_module();
	ck_assert_ptr_eq(ps__notes_slot(&module), &image.slots[1]);
}
END_TEST

/* Each of these makes the note one that must not be followed. */
static void spoil(int kind)
{
	switch (kind) {
	case 0: /* it is no note of marks */
		THE_NOTE->head.n_type = 2;
		break;
	case 1:
		THE_NOTE->owner[0] = 'P';
		break;
	case 2:
		THE_NOTE->head.n_descsz = 4;
		break;
	case 3: /* sizes that lead out of the segment */
		THE_NOTE->head.n_namesz = UINT32_MAX;
		break;
	case 4:
		THE_NOTE->head.n_descsz = UINT32_MAX;
		break;
	case 5:
		image.notes[0].head.n_descsz = UINT32_MAX - 3;
		break;
	case 6:
		segments[2].p_memsz = NOTES_SIZE - 1;
		break;
	case 7: /* the segment isn't loaded, or not whole */
		segments[2].p_vaddr -= 4;
		break;
	case 8:
		segments[2].p_memsz = UINT64_MAX;
		break;
	case 9: /* notes of another form */
		segments[2].p_align = 8;
		break;
	case 10: /* slots that are none */
		THE_NOTE->distance += 4;
		break;
	case 11:
		THE_NOTE->distance += 8;
		break;
	case 12:
		THE_NOTE->distance = -8;
		break;
	case 13:
		THE_NOTE->distance = INT64_MIN;
		break;
	case 14:
		segments[1].p_flags = PF_R;
		break;
	default:
		segments[1].p_memsz = 15;
	}
}

START_TEST(a_note_that_leads_astray_is_not_followed)
{
	make_module();
	spoil(_i);
	ck_assert_ptr_null(ps__notes_slot(&module));
}
END_TEST

/* The suite itself has no marks. */
START_TEST(a_program_without_marks_has_no_slot)
{
	static const struct ps_marks_listener listener = {.size = sizeof listener};
	const struct ps_marks_listener *slot = NULL;

	ck_assert_ptr_null(ps__listen_current());
	ck_assert_uint_eq(ps__listen_set(&listener), 0);
	ck_assert_ptr_eq(ps__listen_current(), &listener);
	ps_marks_announce(&slot);
	ck_assert_ptr_eq(slot, &listener);
	ps_marks_announce(NULL);
	ck_assert_uint_eq(ps__listen_set(NULL), 0);
	slot = NULL;
	ps_marks_announce(&slot);
	ck_assert_ptr_null(slot);
}
END_TEST

static volatile sig_atomic_t signals, inside;

static void look_inside(int number)
{
	(void)number;
	signals++;
	inside += ps__own.is_inside;
}

/* A handler may end the process: the report, which is made then, needs the thread's regions. */
START_TEST(a_handler_never_finds_its_thread_in_the_announcement_of_a_module)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};

	signal(SIGALRM, look_inside);
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals < 50)
		ps_marks_announce(NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	ck_assert_int_eq(inside, 0);
}
END_TEST

static const struct ps_marks_listener changing = {.size = sizeof changing};
static _Atomic bool is_over;

/* Without the pauses it runs alone for seconds under valgrind, which runs one thread at a time. */
static void *change_listener(void *unused)
{
	const struct timespec pause = {.tv_nsec = 1000};

	(void)unused;
	while (!atomic_load(&is_over)) {
		for (int i = 0; i < 100; i++) {
			ps__listen_set(&changing);
			ps__listen_set(NULL);
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* The child has no thread that would release the lock. */
START_TEST(a_fork_while_another_thread_is_in_a_call_leaves_a_free_lock)
{
	pthread_t thread;
	int forks = ps_test_size(200, 20);

	/* ThreadSanitizer's pthread_once waits for ever in a child that was forked meanwhile. */
	ps__listen_current();
	atomic_store(&is_over, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, change_listener, NULL), 0);
	for (int i = 0; i < forks; i++) {
		int ends[2];
		char told = 0;
		ck_assert_int_eq(pipe(ends), 0);
		pid_t child = fork();
		if (child == 0) {
			alarm(20);
			ps__listen_current();
			_exit(write(ends[1], "y", 1) != 1);
		}
		close(ends[1]);
		/* Not by its status, which valgrind chooses if anything is leaked anywhere. */
		ck_assert_int_eq(read(ends[0], &told, 1), 1);
		close(ends[0]);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("listen");
	TCase *tests = scene_case(suite, "listen");

	tcase_add_test(tests, the_note_names_the_slot);
	tcase_add_loop_test(tests, a_note_that_leads_astray_is_not_followed, 0, 16);
	tcase_add_test(tests, a_program_without_marks_has_no_slot);
	tcase_add_test(tests, a_handler_never_finds_its_thread_in_the_announcement_of_a_module);
	tcase_add_test(tests, a_fork_while_another_thread_is_in_a_call_leaves_a_free_lock);
	return scene_run(suite);
}

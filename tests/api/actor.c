/* SPDX-License-Identifier: BSD-3-Clause */
#include "actor.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct actor actor_start(void (*act)(int orders, int answers))
{
	int orders[2], answers[2];
	struct actor actor;

	ck_assert_int_eq(pipe2(orders, O_CLOEXEC) + pipe2(answers, O_CLOEXEC), 0);
	actor.pid = fork();
	ck_assert_int_ge(actor.pid, 0);
	if (actor.pid == 0) {
		close(orders[1]);
		close(answers[0]);
		act(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	actor.orders = orders[1];
	actor.answers = answers[0];
	return actor;
}

long long actor_tell(const struct actor *actor, char order)
{
	long long answer = -1;

	ck_assert_int_eq(write(actor->orders, &order, 1), 1);
	ck_assert_int_eq(read(actor->answers, &answer, sizeof answer), sizeof answer);
	return answer;
}

static bool is_asleep(pid_t pid, const char *tid)
{
	char path[320], line[512];

	snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, tid);
	FILE *stream = fopen(path, "re");
	if (!stream)
		return true; /* it has ended */
	bool is_read = fgets(line, sizeof line, stream);
	fclose(stream);
	return !is_read || strrchr(line, ')')[2] == 'S';
}

static bool are_all_asleep(pid_t pid)
{
	char path[64];
	bool are_asleep = true;
	const struct dirent *entry = NULL;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	ck_assert_ptr_nonnull(tasks);
	while (are_asleep && (entry = readdir(tasks)))
		are_asleep = entry->d_name[0] == '.' || is_asleep(pid, entry->d_name);
	closedir(tasks);
	return are_asleep;
}

void actor_await(const struct actor *actor)
{
	while (!are_all_asleep(actor->pid))
		usleep(1000);
}

void actor_end(struct actor *actor)
{
	close(actor->orders);
	close(actor->answers);
	ck_assert_int_eq(waitpid(actor->pid, NULL, 0), actor->pid);
}

long long actor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void *run_worker(void *context)
{
	struct worker *worker = context;

	worker->tid = gettid();
	for (int round = 0; round < 3; round++) {
		sem_post(&worker->done);
		sem_wait(&worker->go);
		wander_settle(&worker->work);
		wander_touch(&worker->work, 100);
		worker->strays += wander_strays(&worker->work);
	}
	sem_post(&worker->done);
	return NULL;
}

void worker_start(struct worker *worker)
{
	worker->strays = 0;
	wander_create(&worker->work, 300);
	sem_init(&worker->go, 0, 0);
	sem_init(&worker->done, 0, 0);
	ck_assert_int_eq(pthread_create(&worker->thread, NULL, run_worker, worker), 0);
	sem_wait(&worker->done);
}

void worker_do_round(struct worker *worker)
{
	sem_post(&worker->go);
	sem_wait(&worker->done);
}

void worker_end(struct worker *worker)
{
	pthread_join(worker->thread, NULL);
	wander_destroy(&worker->work);
}

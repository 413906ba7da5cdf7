/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event loop: snapshots at its steps, and the intervals chosen afterwards.
 *
 *     cc -O2 10_event_loop.c -o event_loop $(pkg-config --cflags --libs perfsage) -pthread
 *     ./event_loop [REQUESTS]
 *
 * A server waits, accepts connections, and does what they ask for: so many units of the kinds A, B
 * and C of work. One event set counts its thread. Four snapshots are taken in the loop, and what is
 * between any two of them is known: what accepting costs, what a request costs, and what happens
 * while the server waits. From the requests follows what one unit of each kind costs: 3, 5 and 7
 * page faults, which is what is programmed below.
 */
#include <perfsage.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define KINDS       3
#define MOST_UNITS  10
#define CONNECTIONS 4

static const int pages_of_unit[KINDS] = {3, 5, 7};

/* What a client asks for. */
struct request {
	unsigned char units[KINDS];
};

struct interval {
	const char *what;
	unsigned count;
	long long faults;
};

struct server {
	struct ps_eventset *set;
	/* At the steps of the loop */
	struct ps_snapshot *woken, *begun, *accepted, *finished;
	struct interval waiting, accepting, working;
	double *work, *cost; /* of each request */
	size_t requests, done;
	char *memory;
	size_t page_bytes, memory_bytes;
	int listener, epoll;
};

static void check(int code, const char *call)
{
	if (code == PS_OK)
		return;
	fprintf(stderr, "%s: %s\n    %s\n", call, ps_strerror(code), ps_error_detail());
	exit(EXIT_FAILURE);
}

static void require(int good, const char *call)
{
	if (good)
		return;
	perror(call);
	exit(EXIT_FAILURE);
}

/* Each page that is touched is a page fault; then it is given back. */
static void do_work(struct server *server, const struct request *request)
{
	size_t pages = 0;

	for (int kind = 0; kind < KINDS; kind++)
		pages += (size_t)(request->units[kind] * pages_of_unit[kind]);
	for (size_t page = 0; page < pages; page++)
		((volatile char *)server->memory)[page * server->page_bytes] = 1;
	require(pages == 0 ||
	            madvise(server->memory, pages * server->page_bytes, MADV_DONTNEED) == 0,
	        "madvise");
}

static void add_interval(struct server *server, struct interval *interval,
                         const struct ps_snapshot *from, const struct ps_snapshot *to)
{
	struct ps_value faults;

	check(ps_snapshot_difference(server->set, from, to, NULL, &faults, 1),
	      "ps_snapshot_difference");
	interval->count++;
	interval->faults += faults.value;
}

static void accept_one(struct server *server)
{
	struct epoll_event event = {.events = EPOLLIN};

	event.data.fd = accept(server->listener, NULL, NULL);
	require(event.data.fd >= 0, "accept");
	check(ps_snapshot_take(server->set, &server->accepted), "ps_snapshot_take");
	require(epoll_ctl(server->epoll, EPOLL_CTL_ADD, event.data.fd, &event) == 0, "epoll_ctl");
	add_interval(server, &server->accepting, server->begun, server->accepted);
}

/* A client that has closed its end has no more requests. */
static void handle(struct server *server, int fd)
{
	struct request request;
	long long before = server->working.faults;

	if (read(fd, &request, sizeof request) != sizeof request) {
		close(fd);
		return;
	}
	do_work(server, &request);
	check(ps_snapshot_take(server->set, &server->finished), "ps_snapshot_take");
	add_interval(server, &server->working, server->begun, server->finished);
	for (int kind = 0; kind < KINDS; kind++)
		server->work[server->done * KINDS + (size_t)kind] = request.units[kind];
	server->cost[server->done++] = (double)(server->working.faults - before);
}

static void serve(struct server *server)
{
	struct epoll_event events[8];

	check(ps_snapshot_take(server->set, &server->finished), "ps_snapshot_take");
	while (server->done < server->requests) {
		int count = epoll_wait(server->epoll, events, 8, -1);
		require(count > 0, "epoll_wait");
		check(ps_snapshot_take(server->set, &server->woken), "ps_snapshot_take");
		/* From the end of one round to the beginning of the next */
		add_interval(server, &server->waiting, server->finished, server->woken);
		for (int index = 0; index < count && server->done < server->requests; index++) {
			check(ps_snapshot_take(server->set, &server->begun), "ps_snapshot_take");
			if (events[index].data.fd == server->listener)
				accept_one(server);
			else
				handle(server, events[index].data.fd);
		}
		check(ps_snapshot_take(server->set, &server->finished), "ps_snapshot_take");
	}
}

/* The clients, one after the other in a thread that isn't counted. */
static void *run_clients(void *context)
{
	struct server *server = context;
	struct sockaddr_un address;
	socklen_t size = sizeof address;
	int clients[CONNECTIONS];
	unsigned random = 1;

	require(getsockname(server->listener, (struct sockaddr *)&address, &size) == 0,
	        "getsockname");
	for (int client = 0; client < CONNECTIONS; client++) {
		clients[client] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		require(connect(clients[client], (struct sockaddr *)&address, size) == 0,
		        "connect");
	}
	for (size_t index = 0; index < server->requests; index++) {
		struct request request;
		for (int kind = 0; kind < KINDS; kind++) {
			random = random * 1103515245 + 12345;
			request.units[kind] = (unsigned char)((random >> 16) % MOST_UNITS);
		}
		require(write(clients[index % CONNECTIONS], &request, sizeof request) ==
		            sizeof request,
		        "write");
	}
	return NULL;
}

/* An address of the kernel's choice, without a file. */
static void open_server(struct server *server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct epoll_event event = {.events = EPOLLIN};

	server->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	require(bind(server->listener, (struct sockaddr *)&address, sizeof(sa_family_t)) == 0 &&
	            listen(server->listener, CONNECTIONS) == 0,
	        "bind");
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	event.data.fd = server->listener;
	require(epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->listener, &event) == 0,
	        "epoll_ctl");
	server->work = calloc(server->requests * KINDS, sizeof *server->work);
	server->cost = calloc(server->requests, sizeof *server->cost);
	server->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	server->memory_bytes = server->page_bytes * MOST_UNITS * (3 + 5 + 7);
	server->memory = mmap(NULL, server->memory_bytes, PROT_READ | PROT_WRITE,
	                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(server->work && server->cost && server->memory != MAP_FAILED, "memory");
	check(ps_eventset_create(&server->set), "ps_eventset_create");
	check(ps_eventset_add(server->set, "page-faults"), "ps_eventset_add");
	check(ps_start(server->set), "ps_start");
}

static void print_interval(const struct interval *interval)
{
	printf("%-20s %5u times, %8.2f page faults each\n", interval->what, interval->count,
	       interval->count ? (double)interval->faults / interval->count : 0.0);
}

/* No "-0.000". */
static double shown(double value)
{
	return value > -0.0005 && value < 0.0005 ? 0 : value;
}

static void print_unit_costs(const struct server *server)
{
	struct ps_unit_cost costs[KINDS];
	const struct ps_unit_cost_options options = {.size = sizeof options,
	                                             .flags = PS_UNIT_COST_CONSTANT};
	struct ps_unit_cost_fit fit = {.size = sizeof fit};

	check(ps_unit_cost_with(server->work, server->cost, server->done, KINDS, &options, costs,
	                        &fit),
	      "ps_unit_cost_with");
	for (int kind = 0; kind < KINDS; kind++)
		printf("one unit of %c        %.3f page faults, 95 %% within %.3f to %.3f\n",
		       'A' + kind, shown(costs[kind].value), shown(costs[kind].low),
		       shown(costs[kind].high));
	printf("and each request     %.3f\n", shown(fit.constant.value));
}

int main(int argc, char **argv)
{
	struct server server = {.waiting = {.what = "waiting"},
	                        .accepting = {.what = "accepting"},
	                        .working = {.what = "a request"}};
	pthread_t clients;
	int requests = argc > 1 ? atoi(argv[1]) : 400;

	if (requests < 10 || requests > 1000000) {
		fprintf(stderr, "usage: %s [REQUESTS], 10 to 1000000\n", argv[0]);
		return EXIT_FAILURE;
	}
	server.requests = (size_t)requests;
	open_server(&server);
	require(pthread_create(&clients, NULL, run_clients, &server) == 0, "pthread_create");
	serve(&server);
	pthread_join(clients, NULL);
	print_interval(&server.waiting);
	print_interval(&server.accepting);
	print_interval(&server.working);
	print_unit_costs(&server);
	ps_snapshot_destroy(server.woken);
	ps_snapshot_destroy(server.begun);
	ps_snapshot_destroy(server.accepted);
	ps_snapshot_destroy(server.finished);
	ps_eventset_destroy(server.set);
	munmap(server.memory, server.memory_bytes);
	free(server.work);
	free(server.cost);
	return EXIT_SUCCESS;
}

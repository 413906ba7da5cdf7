/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event loop: snapshots at its steps, and the intervals chosen afterwards.
 *
 *     cc -O2 10_event_loop.c -o event_loop $(pkg-config --cflags --libs perfsage) -pthread \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./event_loop [REQUESTS] [FILE]
 *
 * A server waits, accepts connections, and does what they ask for: so many units of the kinds A, B
 * and C of work. One event set counts its thread. Four snapshots are taken in the loop, and what is
 * between any two of them is known: what accepting costs, what a request costs, and what happens
 * while the server waits. From the requests follows what one unit of each kind costs: 3, 5 and 7
 * page faults, which is what is programmed below.
 *
 * With FILE the same points go into a log, a record for each event of epoll. It can be asked
 * afterwards:
 *
 *     what does the last event of a round cost, before the server waits again?
 *     perfsage log intervals FILE --from begun --to finished --where last=1
 *     what happens while it waits?
 *     perfsage log intervals FILE --from previous:finished --to woken
 *     what does each kind of event cost, and accept(2) alone?
 *     perfsage log intervals FILE --from begun --to finished --group event
 *     perfsage log intervals FILE --from begun --to accepted
 *     what does a unit of work cost?
 *     perfsage log cost FILE --work A,B,C --of page-faults --from begun --where event=request
 */
#include <math.h>
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

/* The points of a record, and its fields: units of A, B and C come first. */
enum {
	WOKEN,
	BEGUN,
	ACCEPTED,
	FINISHED,
	POINTS
};
enum {
	EVENT = KINDS,
	READY, /* number of events in this round */
	LAST,  /* 1: the last event of the round */
	FIELDS
};

static const int pages_of_unit[KINDS] = {3, 5, 7};

/* A client's request. */
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
	struct ps_snapshot *at[POINTS]; /* the latest one of each point */
	struct ps_topology *topology;
	struct ps_log *log;
	struct ps_log_stream *stream; /* NULL: no log */
	struct interval waiting, accepting, working;
	double *work, *cost; /* for each request */
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
	if (code != PS_PARTIAL) /* then the other counts are right */
		exit(EXIT_FAILURE);
}

static void require(int good, const char *call)
{
	if (good)
		return;
	perror(call);
	exit(EXIT_FAILURE);
}

/* Touches pages, each of which is a page fault, and gives them back. */
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

static void take(struct server *server, unsigned point)
{
	check(ps_snapshot_take(server->set, &server->at[point]), "ps_snapshot_take");
	if (server->stream)
		check(ps_log_take(server->stream, point), "ps_log_take");
}

/* Points that weren't taken and fields that weren't set keep the values of the previous record. */
static void write_record(struct server *server, const char *event, int ready, int is_last)
{
	if (!server->stream)
		return;
	check(ps_log_set_text(server->stream, EVENT, event), "ps_log_set_text");
	check(ps_log_set_integer(server->stream, READY, ready), "ps_log_set_integer");
	check(ps_log_set_integer(server->stream, LAST, is_last), "ps_log_set_integer");
	check(ps_log_write(server->stream), "ps_log_write");
}

static void add_interval(struct server *server, struct interval *interval, int from, int to)
{
	struct ps_value faults;

	check(
	    ps_snapshot_difference(server->set, server->at[from], server->at[to], NULL, &faults, 1),
	    "ps_snapshot_difference");
	interval->count++;
	interval->faults += faults.value;
}

static void accept_one(struct server *server)
{
	struct epoll_event event = {.events = EPOLLIN};

	event.data.fd = accept(server->listener, NULL, NULL);
	take(server, ACCEPTED);
	require(event.data.fd >= 0, "accept");
	require(epoll_ctl(server->epoll, EPOLL_CTL_ADD, event.data.fd, &event) == 0, "epoll_ctl");
	add_interval(server, &server->accepting, BEGUN, ACCEPTED);
}

/* Handles a request. Returns 0 if the client has closed its end and sends no more. */
static int handle(struct server *server, int fd)
{
	struct request request;

	if (read(fd, &request, sizeof request) != sizeof request) {
		close(fd);
		return 0;
	}
	do_work(server, &request);
	for (int kind = 0; kind < KINDS; kind++) {
		server->work[server->done * KINDS + (size_t)kind] = request.units[kind];
		if (server->stream)
			check(
			    ps_log_set_integer(server->stream, (unsigned)kind, request.units[kind]),
			    "ps_log_set_integer");
	}
	return 1;
}

static void serve_one(struct server *server, int fd, int ready, int is_last)
{
	long long before = server->working.faults;
	const char *event = "accept";

	take(server, BEGUN);
	if (fd == server->listener)
		accept_one(server);
	else
		event = handle(server, fd) ? "request" : "close";
	take(server, FINISHED);
	write_record(server, event, ready, is_last);
	if (strcmp(event, "request") != 0)
		return;
	add_interval(server, &server->working, BEGUN, FINISHED);
	server->cost[server->done++] = (double)(server->working.faults - before);
}

static void serve(struct server *server)
{
	struct epoll_event events[8];

	take(server, FINISHED);
	while (server->done < server->requests) {
		int count = epoll_wait(server->epoll, events, 8, -1);
		take(server, WOKEN);
		require(count > 0, "epoll_wait");
		/* From the end of one round to the beginning of the next */
		add_interval(server, &server->waiting, FINISHED, WOKEN);
		for (int index = 0; index < count && server->done < server->requests; index++)
			serve_one(server, events[index].data.fd, count, index == count - 1);
	}
}

/* Runs the clients, one after the other, in a thread that isn't counted. */
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

/* Listens at an address that the kernel chooses, without a file. */
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

static void open_log(struct server *server, const char *path)
{
	static const char *const points[POINTS] = {"woken", "begun", "accepted", "finished"};
	static const struct ps_log_field fields[FIELDS] = {
	    {"A", PS_LOG_INTEGER},  {"B", PS_LOG_INTEGER},     {"C", PS_LOG_INTEGER},
	    {"event", PS_LOG_TEXT}, {"ready", PS_LOG_INTEGER}, {"last", PS_LOG_INTEGER}};
	const struct ps_log_type type = {.size = sizeof type,
	                                 .name = "event",
	                                 .points = points,
	                                 .point_count = POINTS,
	                                 .fields = fields,
	                                 .field_count = FIELDS};
	const struct ps_log_options options = {.size = sizeof options, .flags = PS_LOG_REPLACE};

	check(ps_topology_load(&server->topology, NULL), "ps_topology_load");
	check(ps_log_create(&server->log, path, ps_topology_root(server->topology), &options),
	      "ps_log_create");
	check(ps_log_stream_create(&server->stream, server->log, server->set, &type),
	      "ps_log_stream_create");
}

static void close_server(struct server *server)
{
	ps_log_stream_destroy(server->stream);
	ps_log_destroy(server->log);
	for (int point = 0; point < POINTS; point++)
		ps_snapshot_destroy(server->at[point]);
	ps_eventset_destroy(server->set);
	ps_topology_destroy(server->topology);
	munmap(server->memory, server->memory_bytes);
	free(server->work);
	free(server->cost);
}

static void print_interval(const struct interval *interval)
{
	printf("%-20s %5u times, %8.2f page faults each\n", interval->what, interval->count,
	       interval->count ? (double)interval->faults / interval->count : 0.0);
}

/* Avoids "-0.000". */
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
	for (int kind = 0; kind < KINDS; kind++) {
		printf("one unit of %c        ", 'A' + kind);
		/* The requests don't tell apart the cost of this kind of work. */
		if (isnan(costs[kind].value))
			printf("not known\n");
		else
			printf("%.3f page faults, 95 %% within %.3f to %.3f\n",
			       shown(costs[kind].value), shown(costs[kind].low),
			       shown(costs[kind].high));
	}
	if (isnan(fit.constant.value))
		printf("and each request     not known\n");
	else
		printf("and each request     %.3f\n", shown(fit.constant.value));
}

int main(int argc, char **argv)
{
	struct server server = {.waiting = {.what = "waiting"},
	                        .accepting = {.what = "accepting"},
	                        .working = {.what = "a request"}};
	const char *path = NULL;
	pthread_t clients;
	int requests = 400;

	for (int index = 1; index < argc; index++) {
		if (strspn(argv[index], "0123456789") == strlen(argv[index]))
			requests = atoi(argv[index]);
		else
			path = argv[index];
	}
	if (argc > 3 || requests < 10 || requests > 1000000) {
		fprintf(stderr, "usage: %s [REQUESTS] [FILE], 10 to 1000000 requests\n", argv[0]);
		return EXIT_FAILURE;
	}
	server.requests = (size_t)requests;
	open_server(&server);
	if (path)
		open_log(&server, path);
	require(pthread_create(&clients, NULL, run_clients, &server) == 0, "pthread_create");
	serve(&server);
	pthread_join(clients, NULL);
	print_interval(&server.waiting);
	print_interval(&server.accepting);
	print_interval(&server.working);
	print_unit_costs(&server);
	close_server(&server);
	return EXIT_SUCCESS;
}

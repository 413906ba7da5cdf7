/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which groups are read in user space. The permission is requested when events are opened,
 * and their pages are mapped. Called by perf_open.c. If anything is missing, this is no failure:
 * the reason is noted, and read(2) is used.
 */
#include "arch/arch.h"
#include "backend/perf_user.h"
#include "base/advice.h"
#include "base/list.h"
#include "event/pmu.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ONLINE "/sys/devices/system/cpu/online"

/* The kernel's default, if it can't be read. */
#define USUAL_MLOCK_KB 516

/* Pages take at most the lockable memory divided by this. The rest is left to rings. */
#define SHARE_OF_RINGS 2

/* Pages that are mapped in this process. Written when sets are opened and closed, never in a
 * reading. */
static _Atomic size_t mapped_pages;

/* Notes the reason, unless there is one already: the first reason is shown. */
static void say_why(struct ps__perf *perf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say_why(struct ps__perf *perf, const char *format, ...)
{
	va_list arguments;

	if (perf->base.why_path[0])
		return;
	va_start(arguments, format);
	vsnprintf(perf->base.why_path, sizeof perf->base.why_path, format, arguments);
	va_end(arguments);
}

static bool is_allowed(const struct ps__perf *perf)
{
	return perf->base.why_path[0] == '\0';
}

/* What is known of the cores' PMUs. */
struct core_pmus {
	size_t count;
	/* its config1 has the bits that ask for being read in user space */
	struct ps__event event;
};

static int look_at_pmu(const char *name, void *context)
{
	static const struct ps__term term = {.name = "rdpmc", .name_length = 5};
	struct core_pmus *cores = context;
	struct ps__pmu_query query = {.name = name};
	struct ps__format format;
	char text[64];

	if (ps__pmu_find(&query.pmu, name, strlen(name), name) != PS_OK || !query.pmu.is_core)
		return 0;
	cores->count++;
	if (ps__pmu_read(text, sizeof text, &query, "format", &term, "") == PS_OK &&
	    ps__format_parse(text, &format))
		ps__format_apply(&format, 1, &cores->event);
	return 0;
}

/* Returns the first event that is, or isn't, the cores'; NULL: there are none. */
static const struct ps__event *first_event(const struct ps__perf *perf, bool is_cores)
{
	for (size_t index = 0; index < perf->event_count; index++) {
		const struct ps__event *event = &perf->events[index];
		if ((event->klass == PS__EVENT_CLASS_CORE) == is_cores && !event->unsupported)
			return event;
	}
	return NULL;
}

static const char *user_kind_of(const struct ps__event *event)
{
	return event->klass == PS__EVENT_CLASS_SOFTWARE ? "is counted by the kernel's software"
	                                                : "is not counted by the cores' PMU";
}

/* Refuses targets other than the caller. Only the thread itself can read its counters, and only if
 * no children inherit them, because the kernel adds children's counts. */
static void check_target(struct ps__perf *perf)
{
	static const char by_itself[] = "a thread can only read its own counters in user space";

	switch (perf->target.kind) {
	case PS__TARGET_SELF:
		return;
	case PS__TARGET_TID:
		say_why(perf, "the set is attached to thread %d: %s", (int)perf->target.tid,
		        by_itself);
		return;
	case PS__TARGET_PROCESS:
		say_why(perf, "the set is attached to process %d, and inherited by its threads: %s",
		        (int)perf->target.tid, by_itself);
		return;
	case PS__TARGET_CPU:
		say_why(perf, "the set is attached to CPU %d: %s", perf->target.cpu, by_itself);
		return;
	case PS__TARGET_CPUS:
		say_why(perf, "a BPF program reads the set's counters: %s", by_itself);
		return;
	case PS__TARGET_CGROUP:
		say_why(perf, "the set is attached to a control group: %s", by_itself);
		return;
	}
}

static void check_setting(struct ps__perf *perf)
{
	long setting;

	if (!*PS__ARCH_COUNTERS_SETTING) {
		say_why(perf, "perfsage can't read the counters of this kind of CPU in user space");
		return;
	}
	int error = -ps__os_read_long(PS__ARCH_COUNTERS_SETTING, &setting);
	if (error)
		say_why(perf, "the kernel doesn't offer it: %s: %s", PS__ARCH_COUNTERS_SETTING,
		        strerror(error));
	else if (setting == 0)
		say_why(
		    perf,
		    "the kernel forbids it: %s is 0; an administrator permits it by echo 1 > %s",
		    PS__ARCH_COUNTERS_SETTING, PS__ARCH_COUNTERS_SETTING);
	else if (ps__arch_is_valgrind())
		say_why(perf, "the program runs under valgrind, which knows no instruction that "
		              "reads a counter");
}

void ps__perf_user_prepare(struct ps__perf *perf)
{
	struct core_pmus cores = {0};

	perf->base.read_path = PS_READ_PATH_SYSCALL;
	perf->base.why_path[0] = '\0';
	if (!first_event(perf, true)) {
		const struct ps__event *other = first_event(perf, false);
		if (other)
			say_why(perf, "'%s' %s", other->name, user_kind_of(other));
		else
			say_why(perf, "no event of the set can be counted here");
		return;
	}
	check_target(perf);
	if (is_allowed(perf))
		check_setting(perf);
	if (!is_allowed(perf))
		return;
	ps__pmu_for_each(look_at_pmu, &cores);
	/* A thread that is moved between reading the page and reading the counter could find no
	 * such counter on the new CPU, and be killed. */
	if (cores.count > 1)
		say_why(perf,
		        "this machine has %zu kinds of cores: a thread that is moved from one to "
		        "another in the midst of reading would be killed",
		        cores.count);
	else
		perf->user_config1 = cores.event.attr.config1;
}

/* Returns the number of pages that the sets of this process may map. */
static size_t count_permitted(size_t page_bytes)
{
	long mlock_kb;
	char online[4096];
	size_t cpus = 0;

	if (ps__os_read_long(PS__MLOCK_FILE, &mlock_kb) < 0 || mlock_kb < 0)
		mlock_kb = USUAL_MLOCK_KB;
	if (ps__os_read_file(ONLINE, online, sizeof online) > 0)
		cpus = ps__list_count(online);
	return (size_t)mlock_kb * 1024 / page_bytes * (cpus ? cpus : 1) / SHARE_OF_RINGS;
}

/* True if the mapped page permits reads in user space, and has all that is needed. If not, notes
 * why. */
static bool is_readable(struct ps__perf *perf, const struct perf_event_mmap_page *page,
                        const char *name)
{
	if (!page->cap_user_rdpmc)
		say_why(perf,
		        "'%s': the kernel doesn't permit it for this event (cap_user_rdpmc is 0)",
		        name);
	else if (!page->cap_user_time)
		say_why(perf,
		        "'%s': the kernel doesn't tell how ticks become nanoseconds (cap_user_time "
		        "is 0), as on virtual machines",
		        name);
	else if (page->pmc_width < 1 || page->pmc_width > 64)
		say_why(perf, "'%s': the kernel tells of a counter of %u bits", name,
		        (unsigned)page->pmc_width);
	else
		return true;
	return false;
}

static bool map_member(struct ps__perf *perf, struct ps__member *member, size_t page_bytes)
{
	const char *name = perf->events[member->event].name;
	struct perf_event_mmap_page *page =
	    ps__os.mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, member->fd, 0);

	if (page == MAP_FAILED) {
		say_why(perf, "'%s': its page can't be mapped: %s%s", name, strerror(errno),
		        errno == EPERM ? ": " PS__ADVICE_LOCKED_MEMORY : "");
		return false;
	}
	member->page = page;
	atomic_fetch_add_explicit(&mapped_pages, 1, memory_order_relaxed);
	if (!is_readable(perf, page, name))
		return false;
	/* All counters that an event may use have the same width. */
	member->shift = 64u - page->pmc_width;
	return true;
}

static void begin_user_reads(struct ps__group *group)
{
	group->user.leader_lock = PS__NO_LOCK;
	group->is_user_read = true;
	group->end = group->members + group->count;
}

void ps__perf_user_adopt(struct ps__perf *perf, struct ps__group *group,
                         struct perf_event_mmap_page *page)
{
	if (!is_allowed(perf) || !is_readable(perf, page, perf->events[0].name))
		return;
	group->members[0].page = page;
	group->members[0].shift = 64u - page->pmc_width;
	begin_user_reads(group);
}

/* Maps the pages of all members, or of none. */
static bool map_group(struct ps__perf *perf, struct ps__group *group, size_t page_bytes)
{
	for (size_t place = 0; place < group->count; place++) {
		const struct ps__event *event = &perf->events[group->members[place].event];
		if (event->klass != PS__EVENT_CLASS_CORE) {
			say_why(perf, "'%s' %s, and shares its group with '%s'", event->name,
			        user_kind_of(event), perf->events[group->members[0].event].name);
			return false;
		}
	}
	for (size_t place = 0; place < group->count; place++) {
		if (!map_member(perf, &group->members[place], page_bytes)) {
			ps__perf_user_unmap(group, false);
			return false;
		}
	}
	begin_user_reads(group);
	return true;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t user_count_members(const struct ps__perf *perf)
{
	size_t count = 0;

	for (size_t group = 0; group < perf->base.groups; group++)
		count += perf->instances[0].groups[group].count;
	return count * perf->base.instances;
}

/* Maps a group in all instances. Groups are the same in every instance: if one can't be read in
 * user space, the others aren't tried. */
static bool map_everywhere(struct ps__perf *perf, size_t group, size_t page_bytes)
{
	for (size_t instance = 0; instance < perf->base.instances; instance++) {
		if (!map_group(perf, &perf->instances[instance].groups[group], page_bytes))
			return false;
	}
	return true;
}

void ps__perf_user_map(struct ps__perf *perf)
{
	size_t page_bytes = page_size();
	size_t members = user_count_members(perf);
	size_t mapped = 0;

	if (!is_allowed(perf))
		return;
	size_t taken = atomic_load_explicit(&mapped_pages, memory_order_relaxed);
	if (taken + members > count_permitted(page_bytes)) {
		say_why(perf,
		        "%zu pages would be mapped, beside %zu that are: that is more than half of "
		        "what " PS__MLOCK_FILE " permits",
		        members, taken);
		return;
	}
	for (size_t group = 0; group < perf->base.groups; group++)
		mapped += map_everywhere(perf, group, page_bytes);
	if (mapped == perf->base.groups)
		perf->base.read_path = PS_READ_PATH_USER;
}

void ps__perf_user_unmap(struct ps__group *group, bool abandon)
{
	for (size_t place = 0; place < group->count; place++) {
		struct ps__member *member = &group->members[place];
		if (!member->page)
			continue;
		if (!abandon)
			ps__os.munmap(member->page, page_size());
		member->page = NULL;
		atomic_fetch_sub_explicit(&mapped_pages, 1, memory_order_relaxed);
	}
	group->is_user_read = false;
}

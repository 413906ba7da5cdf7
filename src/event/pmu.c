/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the PMUs of sysfs and reads their files. Called by the look-ups of
 * pmu/.../ and of bare aliases. */
#include "event/pmu.h"

#include "base/os.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define ROOT "/sys/bus/event_source/devices"

/* Room for the longest path below ROOT: the kernel has no longer names. */
#define PATH_BYTES (sizeof ROOT + 3 * (NAME_MAX + 1) + 16)

static bool pmu_is_absent(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

/* True if it can be the name of a file, and doesn't begin with a point. */
static bool pmu_is_file_name(const char *name, size_t length)
{
	if (length == 0 || length > NAME_MAX || name[0] == '.')
		return false;
	for (size_t i = 0; i < length; i++) {
		if (name[i] == '/' || isspace((unsigned char)name[i]) ||
		    iscntrl((unsigned char)name[i]))
			return false;
	}
	return true;
}

/* Tells whether a PMU is a core's. Most machines have one core PMU, "cpu". If
 * there are several, each has a file "cpus". Returns 0, or an errno. */
static int pmu_find_is_core(const char *name, bool *out)
{
	static const char *const known[] = {"cpu", "cpu_core", "cpu_atom", "cpum_cf"};
	char path[PATH_BYTES];

	*out = true;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!strcmp(name, known[i]))
			return 0;
	}
	snprintf(path, sizeof path, ROOT "/%s/cpus", name);
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return ps__os.close(fd) < 0 ? errno : 0;
	*out = false;
	return pmu_is_absent(errno) ? 0 : errno;
}

ssize_t ps__pmu_read_cpus(const char *pmu, char *buffer, size_t size_bytes)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof path, ROOT "/%s/cpus", pmu);
	return ps__os_read_file(path, buffer, size_bytes);
}

int ps__pmu_find(struct ps__pmu *out, const char *name, size_t length, const char *event_name)
{
	char path[PATH_BYTES];
	struct ps__pmu pmu;
	long type;

	if (!pmu_is_file_name(name, length))
		return PS__NOT_HERE;
	snprintf(pmu.name, sizeof pmu.name, "%.*s", (int)length, name);
	snprintf(path, sizeof path, ROOT "/%s/type", pmu.name);
	int error = -ps__os_read_long(path, &type);
	if (pmu_is_absent(error))
		return PS__NOT_HERE;
	if (!error && (type < 0 || type > UINT32_MAX))
		error = EINVAL;
	if (!error)
		error = pmu_find_is_core(pmu.name, &pmu.is_core);
	if (error)
		return ps__event_fail_file(event_name, path, error);
	pmu.type = (uint32_t)type;
	*out = pmu;
	return PS_OK;
}

int ps__pmu_for_each(ps__name_visit *visit, void *context)
{
	return ps__os.list(ROOT, visit, context);
}

/* The search for the PMU of a type. */
struct type_search {
	uint32_t type;
	const char *event_name;
	struct ps__pmu *out;
	int result; /* PS__NOT_HERE until it is found */
};

static int pmu_match_type(const char *name, void *context)
{
	struct type_search *search = context;
	struct ps__pmu pmu;
	int result = ps__pmu_find(&pmu, name, strlen(name), search->event_name);

	if (result == PS__NOT_HERE || (result == PS_OK && pmu.type != search->type))
		return 0;
	search->result = result;
	if (result == PS_OK)
		*search->out = pmu;
	return 1;
}

int ps__pmu_find_type(struct ps__pmu *out, uint32_t type, const char *event_name)
{
	struct type_search search = {
	    .type = type, .event_name = event_name, .out = out, .result = PS__NOT_HERE};

	if (ps__pmu_for_each(pmu_match_type, &search) < 0 && errno != ENOENT)
		return ps__event_fail_file(event_name, "the list of PMUs", errno);
	return search.result;
}

struct core_count {
	size_t count;
	int error;
};

static int pmu_count_core(const char *name, void *context)
{
	struct core_count *cores = context;
	bool is_core;

	cores->error = pmu_find_is_core(name, &is_core);
	cores->count += is_core;
	return cores->error != 0;
}

int ps__pmu_core_count(size_t *out)
{
	struct core_count cores = {0, 0};

	if (ps__pmu_for_each(pmu_count_core, &cores) < 0 && errno != ENOENT)
		return errno;
	if (!cores.error)
		*out = cores.count;
	return cores.error;
}

static bool pmu_ends_with(const char *text, size_t length, const char *suffix)
{
	size_t suffix_length = strlen(suffix);

	return length > suffix_length &&
	       !memcmp(text + length - suffix_length, suffix, suffix_length);
}

/* True for files in events/ that describe an alias and are no events
 * themselves. */
static bool pmu_is_about_alias(const char *name, size_t length)
{
	return pmu_ends_with(name, length, ".unit") || pmu_ends_with(name, length, ".scale") ||
	       pmu_ends_with(name, length, ".per-pkg") || pmu_ends_with(name, length, ".snapshot");
}

struct alias_visit {
	ps__name_visit *visit;
	void *context;
};

static int pmu_visit_alias(const char *name, void *context)
{
	struct alias_visit *alias = context;

	return pmu_is_about_alias(name, strlen(name)) ? 0 : alias->visit(name, alias->context);
}

int ps__pmu_for_each_alias(const char *pmu, ps__name_visit *visit, void *context)
{
	char path[PATH_BYTES];
	struct alias_visit alias = {visit, context};

	snprintf(path, sizeof path, ROOT "/%s/events", pmu);
	return ps__os.list(path, pmu_visit_alias, &alias);
}

int ps__pmu_for_each_format(const char *pmu, ps__name_visit *visit, void *context)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof path, ROOT "/%s/format", pmu);
	return ps__os.list(path, visit, context);
}

int ps__pmu_read(char *buffer, size_t size_bytes, const struct ps__pmu_query *query,
                 const char *folder, const struct ps__term *name, const char *suffix)
{
	char path[PATH_BYTES];
	size_t length = (size_t)name->name_length;

	if (!pmu_is_file_name(name->name, length) || pmu_is_about_alias(name->name, length))
		return PS__NOT_HERE;
	snprintf(path, sizeof path, ROOT "/%s/%s/%.*s%s", query->pmu.name, folder,
	         name->name_length, name->name, suffix);
	ssize_t got = ps__os_read_file(path, buffer, size_bytes);
	if (got >= 0)
		return PS_OK;
	return pmu_is_absent((int)-got) ? PS__NOT_HERE
	                                : ps__event_fail_file(query->name, path, (int)-got);
}

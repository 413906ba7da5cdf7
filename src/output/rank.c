/* SPDX-License-Identifier: BSD-3-Clause */
/* Expands the patterns in file names, and finds the rank that MPI gave the process. */
#include "output/rank.h"

#include "base/error.h"
#include "base/os.h"
#include "output/buffer.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

const char *ps__rank_host(void)
{
	static struct utsname names;

	if (!*names.nodename && uname(&names) < 0)
		return "localhost";
	return names.nodename;
}

/* SLURM_PROCID is last: a Slurm batch script sets it even if another MPI starts the ranks. */
static const char *const rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                             "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};

#define RANK_VARIABLES (sizeof rank_variables / sizeof rank_variables[0])

/* Returns the name of the variable with the rank; NULL if there is none. */
static const char *rank_find_variable(void)
{
	for (size_t index = 0; index < RANK_VARIABLES; index++) {
		const char *rank = getenv(rank_variables[index]);
		if (rank && *rank && strspn(rank, "0123456789") == strlen(rank))
			return rank_variables[index];
	}
	return NULL;
}

const char *ps__rank_number(void)
{
	const char *variable = rank_find_variable();

	return variable ? getenv(variable) : NULL;
}

size_t ps__rank_fields(struct ps_export_field fields[PS__RANK_FIELDS])
{
	const char *rank = ps__rank_number();

	if (!rank)
		return 0;
	fields[0] = (struct ps_export_field){.name = "rank", .number = strtod(rank, NULL)};
	fields[1] = (struct ps_export_field){.name = "host", .text = ps__rank_host()};
	return PS__RANK_FIELDS;
}

/* A pattern that is being expanded. */
struct rank_name {
	const char *option;
	bool is_pattern; /* the result is a pattern, in which %p and %% stay */
	struct ps__buffer text;
};

static void rank_add_plain(struct rank_name *name, const char *plain)
{
	for (; *plain; plain++)
		ps__buffer_add(&name->text, "%s%c", name->is_pattern && *plain == '%' ? "%" : "",
		               *plain);
}

static int rank_add_number(struct rank_name *out)
{
	const char *rank = ps__rank_number();
	struct ps__buffer variables = {0};

	if (rank) {
		rank_add_plain(out, rank);
		return PS_OK;
	}
	for (size_t index = 0; index < RANK_VARIABLES; index++)
		ps__buffer_add(&variables, "%s%s",
		               index == 0                    ? ""
		               : index == RANK_VARIABLES - 1 ? " nor "
		                                             : ", ",
		               rank_variables[index]);
	int result = ps__fail(PS_EINVAL,
	                      "%s: %%r is the MPI rank, and it is not known here: neither %s is a "
	                      "number in the environment",
	                      out->option, ps__buffer_text(&variables));
	ps__buffer_clear(&variables);
	return result;
}

/* Fails because a variable isn't set. If the name looks like a rank's, the error recommends %r. */
static int rank_fail_unset(const struct rank_name *out, const char *name)
{
	const char *variable = rank_find_variable();
	bool is_of_rank = strstr(name, "RANK") || strstr(name, "PROCID");

	if (!variable || !is_of_rank)
		return ps__fail(
		    PS_EINVAL, "%s: %%q{%s}: there is no environment variable of this name%s",
		    out->option, name, is_of_rank ? "; %r is the rank under each MPI" : "");
	return ps__fail(PS_EINVAL,
	                "%s: %%q{%s}: there is no environment variable of this name; the MPI rank "
	                "is in %s here, and %%r is the rank under each MPI",
	                out->option, name, variable);
}

/* Adds the value of "{VARIABLE}" at *at, and moves *at behind it. */
static int rank_add_variable(struct rank_name *out, const char **at)
{
	char name[256];
	size_t length = **at == '{' ? strcspn(*at + 1, "}") : 0;

	if (length == 0 || (*at)[1 + length] != '}' || length >= sizeof name)
		return ps__fail(PS_EINVAL,
		                "%s: %%q is followed by a variable in braces: %%q{SLURM_JOB_ID}",
		                out->option);
	memcpy(name, *at + 1, length);
	name[length] = '\0';
	*at += length + 2;
	const char *value = getenv(name);
	if (!value)
		return rank_fail_unset(out, name);
	rank_add_plain(out, value);
	return PS_OK;
}

/* Adds the replacement of the letter at *at, and moves *at behind it. */
static int rank_add_letter(struct rank_name *out, const char **at)
{
	char letter = *(*at)++;

	switch (letter) {
	case '%':
		rank_add_plain(out, "%");
		return PS_OK;
	case 'h':
		rank_add_plain(out, ps__rank_host());
		return PS_OK;
	case 'p':
		if (out->is_pattern)
			ps__buffer_add(&out->text, "%%p");
		else
			ps__buffer_add(&out->text, "%d", (int)getpid());
		return PS_OK;
	case 'q':
		return rank_add_variable(out, at);
	case 'r':
		return rank_add_number(out);
	default:
		return ps__fail(
		    PS_EINVAL,
		    "%s: there is no %%%.*s in a file's name: there are %%r (the MPI rank), "
		    "%%h (the host), %%p (the process), %%q{VARIABLE} (of the environment) and "
		    "%%%% (a per cent sign)",
		    out->option, letter ? 1 : 0, &letter);
	}
}

static int rank_add_pattern(struct rank_name *out, const char *pattern)
{
	int result = PS_OK;

	while (result == PS_OK && *pattern) {
		size_t plain = strcspn(pattern, "%");
		ps__buffer_add(&out->text, "%.*s", (int)plain, pattern);
		pattern += plain;
		if (*pattern && pattern++)
			result = rank_add_letter(out, &pattern);
	}
	return result;
}

/* Copies the text into *out if the result is PS_OK. Frees the text in any case. */
static int rank_take(struct rank_name *name, int result, char **out)
{
	bool has_text = result == PS_OK && !name->text.failed;
	char *copy = has_text ? ps__os_strdup(ps__buffer_text(&name->text)) : NULL;

	ps__buffer_clear(&name->text);
	if (result != PS_OK)
		return result;
	if (!copy)
		return ps__fail_memory("the name of a file");
	*out = copy;
	return PS_OK;
}

int ps__rank_expand(const char *option, const char *pattern, char **out)
{
	struct rank_name name = {.option = option};

	return rank_take(&name, rank_add_pattern(&name, pattern), out);
}

int ps__rank_settle(const char *option, const char *pattern, char **out)
{
	struct rank_name name = {.option = option, .is_pattern = true}, whole = name;
	char here[PATH_MAX];
	int result = rank_add_pattern(&name, pattern);

	if (*ps__buffer_text(&name.text) != '/' && getcwd(here, sizeof here)) {
		rank_add_plain(&whole, here);
		rank_add_plain(&whole, "/");
	}
	ps__buffer_add(&whole.text, "%s", ps__buffer_text(&name.text));
	whole.text.failed |= name.text.failed;
	ps__buffer_clear(&name.text);
	return rank_take(&whole, result, out);
}

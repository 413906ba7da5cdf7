/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of many runs this is: the patterns in names of files, and the rank that MPI gave it. */
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

const char *ps__rank_number(void)
{
	/* Slurm's is last: a batch script has it, too, beside that of another MPI. */
	static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
	                                        "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};

	for (size_t index = 0; index < sizeof variables / sizeof variables[0]; index++) {
		const char *rank = getenv(variables[index]);
		if (rank && *rank && strspn(rank, "0123456789") == strlen(rank))
			return rank;
	}
	return NULL;
}

/* A pattern that is expanded, and the values for it. */
struct rank_name {
	const char *option;
	bool is_pattern; /* the result is a pattern, too: %p and %% stay in it */
	struct ps__buffer text;
};

static void rank_add_plain(struct rank_name *name, const char *plain)
{
	for (; *plain; plain++)
		ps__buffer_add(&name->text, "%s%c", name->is_pattern && *plain == '%' ? "%" : "",
		               *plain);
}

/* "{VARIABLE}" at *at: its value, and *at behind it. */
static int rank_add_variable(struct rank_name *out, const char **at)
{
	char name[256];
	size_t length = **at == '{' ? strcspn(*at + 1, "}") : 0;

	if (length == 0 || (*at)[1 + length] != '}' || length >= sizeof name)
		return ps__fail(PS_EINVAL,
		                "%s: %%q is followed by a variable in braces: %%q{PMI_RANK}",
		                out->option);
	memcpy(name, *at + 1, length);
	name[length] = '\0';
	*at += length + 2;
	const char *value = getenv(name);
	if (!value)
		return ps__fail(PS_EINVAL,
		                "%s: %%q{%s}: there is no environment variable of this name",
		                out->option, name);
	rank_add_plain(out, value);
	return PS_OK;
}

/* Adds what stands for the letter at *at, and moves *at behind it. */
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
	default:
		return ps__fail(
		    PS_EINVAL,
		    "%s: there is no %%%.*s in a file's name: there are %%p (the process), %%h "
		    "(the host), %%q{VARIABLE} (of the environment) and %%%% (a per cent sign)",
		    out->option, letter ? 1 : 0, &letter);
	}
}

static int rank_add_pattern(struct rank_name *out, const char *pattern)
{
	int result = PS_OK;

	while (*pattern && result == PS_OK) {
		size_t plain = strcspn(pattern, "%");
		ps__buffer_add(&out->text, "%.*s", (int)plain, pattern);
		pattern += plain;
		if (*pattern && pattern++)
			result = rank_add_letter(out, &pattern);
	}
	return result;
}

/* The text goes, whatever the result. */
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

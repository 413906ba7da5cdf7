/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of many runs this is: the patterns in names of files, and the rank that MPI gave it. */
#include "output/rank.h"

#include "base/error.h"
#include "base/os.h"
#include "output/buffer.h"

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

/* "{VARIABLE}" at *at: its value, and *at behind it. */
static int rank_add_variable(const char *option, const char **at, struct ps__buffer *out)
{
	char name[256];
	size_t length = **at == '{' ? strcspn(*at + 1, "}") : 0;

	if (length == 0 || (*at)[1 + length] != '}' || length >= sizeof name)
		return ps__fail(PS_EINVAL,
		                "%s: %%q is followed by a variable in braces: %%q{PMI_RANK}",
		                option);
	memcpy(name, *at + 1, length);
	name[length] = '\0';
	*at += length + 2;
	const char *value = getenv(name);
	if (!value)
		return ps__fail(PS_EINVAL,
		                "%s: %%q{%s}: there is no environment variable of this name",
		                option, name);
	ps__buffer_add(out, "%s", value);
	return PS_OK;
}

/* Adds what stands for the letter at *at, and moves *at behind it. */
static int rank_add_letter(const char *option, const char **at, struct ps__buffer *out)
{
	char letter = *(*at)++;

	switch (letter) {
	case '%':
		ps__buffer_add(out, "%%");
		return PS_OK;
	case 'h':
		ps__buffer_add(out, "%s", ps__rank_host());
		return PS_OK;
	case 'p':
		ps__buffer_add(out, "%d", (int)getpid());
		return PS_OK;
	case 'q':
		return rank_add_variable(option, at, out);
	default:
		return ps__fail(
		    PS_EINVAL,
		    "%s: there is no %%%.*s in a file's name: there are %%p (the process), %%h "
		    "(the host), %%q{VARIABLE} (of the environment) and %%%% (a per cent sign)",
		    option, letter ? 1 : 0, &letter);
	}
}

int ps__rank_expand(const char *option, const char *pattern, char **out)
{
	struct ps__buffer name = {0};
	const char *at = pattern;
	int result = PS_OK;

	while (*at && result == PS_OK) {
		size_t plain = strcspn(at, "%");
		ps__buffer_add(&name, "%.*s", (int)plain, at);
		at += plain;
		if (*at && at++)
			result = rank_add_letter(option, &at, &name);
	}
	char *copy = result == PS_OK && !name.failed ? ps__os_strdup(ps__buffer_text(&name)) : NULL;
	ps__buffer_clear(&name);
	if (result != PS_OK)
		return result;
	if (!copy)
		return ps__fail_memory("the name of a file");
	*out = copy;
	return PS_OK;
}

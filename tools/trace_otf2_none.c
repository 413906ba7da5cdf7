/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces trace_otf2.c in a build without OTF2. */
#include "tools/terminal.h"
#include "tools/trace_file.h"

int tool_otf2_open(struct ps__trace **out, const char *path)
{
	(void)out, (void)path;
	return tool_complain("this perfsage was built without OTF2 (Debian: libotf2-trace-dev): "
	                     "--format perfetto needs no library");
}

bool tool_otf2_has_failed(const struct ps__trace *trace)
{
	(void)trace;
	return true;
}

int tool_otf2_close(struct ps__trace *trace, bool is_whole)
{
	(void)trace, (void)is_whole;
	return -1;
}

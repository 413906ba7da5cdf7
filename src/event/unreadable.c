/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports a file of sysfs or tracefs that can't be read while a name is looked
 * up, with a code and a sentence for each errno. */
#include "base/advice.h"
#include "base/error.h"
#include "event/lookup.h"

#include <errno.h>
#include <string.h>

bool ps__event_is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

int ps__event_fail_file(const char *name, const char *path, int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
		return ps__fail(PS_ECOUNT,
		                "event '%s': no file descriptor is left to read %s "
		                "(%s): " PS__ADVICE_DESCRIPTORS ", or close files",
		                name, path, strerror(error));
	case ENOMEM:
		return ps__fail(PS_ENOMEM, "event '%s': out of memory in reading %s", name, path);
	case EACCES:
	case EPERM:
		return ps__fail(PS_EPERM,
		                "event '%s': %s may not be read (%s): ask the administrator for "
		                "read access to it",
		                name, path, strerror(error));
	case EFBIG:
	case EINVAL:
		return ps__fail(PS_ESYS,
		                "event '%s': the content of %s is not what the kernel documents",
		                name, path);
	default:
		return ps__fail(PS_ESYS, "event '%s': reading %s failed: %s", name, path,
		                strerror(error));
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ps_session_stop, and the pipe with which it wakes the reader. The program may have closed the
 * pipe's ends, and opened files of its own under their numbers. The session must not write, read or
 * close these files. So it recognizes its pipe by the inode. It uses no eventfd, because an eventfd
 * has no inode of its own.
 */
#include "sample/session.h"

#include "base/error.h"
#include "base/os.h"

#include <fcntl.h>
#include <string.h>

static bool is_own(const struct ps__session_stop *stop, int end)
{
	return stop->ends[end] >= 0 && ps__file_id_is(stop->ends[end], &stop->id);
}

int ps__session_fail_closed(void)
{
	return ps__fail(PS_ECLOST, "the program has closed a descriptor of a session");
}

int ps__session_open_stop(struct ps_session *session)
{
	struct ps__session_stop *stop = &session->stop;
	struct ps__file_id id;
	int ends[2];

	if (ps__os.wake.pipe(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		if (errno == EMFILE)
			return ps__fail(PS_ECOUNT, "a session's pipe: %s: raise ulimit -n",
			                strerror(errno));
		return ps__fail(errno == ENFILE ? PS_ECOUNT : PS_ESYS, "a session's pipe: %s",
		                strerror(errno));
	}
	if (!ps__file_id_of(ends[0], &id)) {
		int error = errno;
		ps__os.close(ends[0]);
		ps__os.close(ends[1]);
		return ps__fail(PS_ESYS, "a session's pipe: fstat: %s", strerror(error));
	}
	*stop = (struct ps__session_stop){.ends = {ends[0], ends[1]}, .id = id};
	return PS_OK;
}

int ps__session_take_stop(const struct ps_session *session, short revents)
{
	const struct ps__session_stop *stop = &session->stop;
	char byte;

	/* If a descriptor is another file of the program now, it might never wake the reader.
	 * POLLHUP: the other end is closed. */
	if (revents & (POLLNVAL | POLLHUP) || !is_own(stop, 0) || !is_own(stop, 1))
		return ps__session_fail_closed();
	if (!revents)
		return PS_OK;
	return ps__os.read(stop->ends[0], &byte, 1) == 1 ? PS_ENOTRUN : PS_OK;
}

void ps__session_close_stop(struct ps_session *session)
{
	for (int end = 0; end < 2; end++) {
		if (is_own(&session->stop, end))
			ps__os.close(session->stop.ends[end]);
	}
}

int ps_session_stop(struct ps_session *session)
{
	int result = ps__session_refuse(session, "ps_session_stop");
	int error = errno;

	if (result != PS_OK)
		return result;
	if (!is_own(&session->stop, 1))
		return ps__session_fail_closed();
	/* The write fails only if thousands of stops were not taken yet. */
	(void)!ps__os.wake.write(session->stop.ends[1], "", 1);
	errno = error;
	return PS_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Small text files of procfs and sysfs, read whole through the seam. */
#include "base/os.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* Fills buffer from fd up to its end or to size_bytes. Returns the number of bytes, or -errno. */
static ssize_t read_whole(int fd, char *buffer, size_t size_bytes)
{
	size_t length = 0;

	while (length < size_bytes) {
		ssize_t got = ps__os_read_retried(fd, buffer + length, size_bytes - length);
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	return (ssize_t)length;
}

ssize_t ps__os_read_file(const char *path, char *buffer, size_t size_bytes)
{
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	ssize_t length = read_whole(fd, buffer, size_bytes);
	ps__os.close(fd);
	if (length < 0)
		return length;
	if ((size_t)length == size_bytes)
		return -EFBIG;
	while (length > 0 && isspace((unsigned char)buffer[length - 1]))
		length--;
	buffer[length] = '\0';
	return length;
}

int ps__os_read_long(const char *path, long *out)
{
	char text[64];
	char *end;
	ssize_t length = ps__os_read_file(path, text, sizeof text);

	if (length < 0)
		return (int)length;
	errno = 0;
	long number = strtol(text, &end, 10);
	if (errno || end == text || *end)
		return -EINVAL;
	*out = number;
	return 0;
}

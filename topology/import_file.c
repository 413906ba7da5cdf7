/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the bytes of an XML file once, because the child process that tries the file and the caller
 * must see the same bytes. The file is the user's and not the kernel's, so it isn't read through
 * the OS seam.
 */
#include "base/error.h"
#include "base/os.h"
#include "topology/import.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)64 * 1024)
#define LIMIT_BYTES \
	((size_t)64 * 1024 * 1024) /* hwloc's files of the largest machines have some megabytes */

struct buffer {
	char *bytes;
	size_t used_bytes;
	size_t size_bytes;
};

static int file_grow(struct buffer *buffer, const char *path)
{
	size_t size_bytes = buffer->size_bytes ? 2 * buffer->size_bytes : FIRST_BYTES;

	if (size_bytes > LIMIT_BYTES)
		return ps__fail(PS_EINVAL, "the file %s is larger than %zu bytes: not a topology",
		                path, LIMIT_BYTES);
	char *bytes = ps__os_calloc(size_bytes, 1);
	if (!bytes)
		return ps__fail_memory("the XML file");
	if (buffer->bytes)
		memcpy(bytes, buffer->bytes, buffer->used_bytes);
	ps__os_free(buffer->bytes);
	buffer->bytes = bytes;
	buffer->size_bytes = size_bytes;
	return PS_OK;
}

/* Reads once, and always leaves room for the closing NUL. Sets *end at the file's end. */
static int file_read_more(struct buffer *buffer, int fd, const char *path, bool *end)
{
	int code = PS_OK;

	if (buffer->used_bytes + 1 >= buffer->size_bytes)
		code = file_grow(buffer, path);
	if (code < 0)
		return code;
	ssize_t got = read(fd, buffer->bytes + buffer->used_bytes,
	                   buffer->size_bytes - buffer->used_bytes - 1);
	if (got < 0 && errno != EINTR)
		return ps__fail(PS_ESYS, "the topology file %s can't be read: read: %s", path,
		                strerror(errno));
	*end = got == 0;
	buffer->used_bytes += got > 0 ? (size_t)got : 0;
	return PS_OK;
}

int ps__import_read_file(char **out, size_t *size_bytes, const char *path)
{
	struct buffer buffer = {0};
	bool end = false;
	int code = PS_OK;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ps__fail(PS_ESYS, "the topology file %s can't be read: open: %s", path,
		                strerror(errno));
	while (!end && code == PS_OK)
		code = file_read_more(&buffer, fd, path, &end);
	close(fd);
	if (code < 0) {
		ps__os_free(buffer.bytes);
		return code;
	}
	buffer.bytes[buffer.used_bytes] = '\0';
	*out = buffer.bytes;
	*size_bytes = buffer.used_bytes;
	return PS_OK;
}

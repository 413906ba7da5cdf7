/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the kernel's description of its own types (BTF), to find the offset of a struct's member.
 * The format has a header, then all types, one after the other, and a block of strings with the
 * names. The length of a type depends on its kind.
 */
#include "backend/bpf.h"
#include "base/error.h"
#include "base/os.h"
#include "event/event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <string.h>

/* Current descriptions have some megabytes. */
#define MOST_BYTES ((size_t)256 << 20)

/* Deepest nesting of structs without a name. */
#define MOST_DEPTH 4

/* Kinds that the oldest supported headers lack. */
#define KIND_DECL_TAG 17
#define KIND_ENUM64   19
#define KINDS         20

struct block {
	const unsigned char *bytes;
	size_t size_bytes;
};

struct blocks {
	struct block types, names;
};

/* False if the bytes are beyond the end. */
static bool btf_copy(struct block block, size_t at, void *out, size_t size_bytes)
{
	if (at > block.size_bytes || block.size_bytes - at < size_bytes)
		return false;
	memcpy(out, block.bytes + at, size_bytes);
	return true;
}

static bool is_name(const struct blocks *blocks, size_t at, const char *name)
{
	size_t length = strlen(name) + 1;

	return at <= blocks->names.size_bytes && blocks->names.size_bytes - at >= length &&
	       memcmp(blocks->names.bytes + at, name, length) == 0;
}

/* Returns the size of what follows a type: a fixed part, and a part for each of its members. */
static size_t size_behind(const struct btf_type *type)
{
	static const size_t fixed[KINDS] = {[BTF_KIND_INT] = sizeof(uint32_t),
	                                    [BTF_KIND_ARRAY] = sizeof(struct btf_array),
	                                    [BTF_KIND_VAR] = sizeof(struct btf_var),
	                                    [KIND_DECL_TAG] = sizeof(uint32_t)};
	static const size_t parts[KINDS] = {[BTF_KIND_STRUCT] = sizeof(struct btf_member),
	                                    [BTF_KIND_UNION] = sizeof(struct btf_member),
	                                    [BTF_KIND_ENUM] = sizeof(struct btf_enum),
	                                    [BTF_KIND_FUNC_PROTO] = sizeof(struct btf_param),
	                                    [BTF_KIND_DATASEC] = sizeof(struct btf_var_secinfo),
	                                    [KIND_ENUM64] = 3 * sizeof(uint32_t)};
	uint32_t kind = BTF_INFO_KIND(type->info);

	return kind < KINDS ? fixed[kind] + BTF_INFO_VLEN(type->info) * parts[kind] : SIZE_MAX;
}

static bool is_composed(const struct btf_type *type)
{
	return BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT ||
	       BTF_INFO_KIND(type->info) == BTF_KIND_UNION;
}

/* Returns the offset of a type, found by its number, or of a struct, found by its name if name
 * isn't NULL. SIZE_MAX: there is none. */
static size_t find_type(const struct blocks *blocks, uint32_t number, const char *name)
{
	struct btf_type type;
	size_t at = 0;

	for (uint32_t next = 1; btf_copy(blocks->types, at, &type, sizeof type); next++) {
		size_t behind = size_behind(&type);
		if (name ? BTF_INFO_KIND(type.info) == BTF_KIND_STRUCT &&
		               is_name(blocks, type.name_off, name)
		         : next == number)
			return at;
		if (behind > blocks->types.size_bytes)
			break;
		at += sizeof type + behind;
	}
	return SIZE_MAX;
}

/* Returns a member's offset in bytes, or -1. Members of a struct without a name belong to the
 * struct around it. */
static long find_member(const struct blocks *blocks, size_t at, const char *name, int depth)
{
	struct btf_type type;
	struct btf_member member;

	if (depth > MOST_DEPTH || !btf_copy(blocks->types, at, &type, sizeof type) ||
	    !is_composed(&type))
		return -1;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(type.info); i++) {
		if (!btf_copy(blocks->types, at + sizeof type + i * sizeof member, &member,
		              sizeof member))
			return -1;
		uint32_t bits = BTF_INFO_KFLAG(type.info) ? BTF_MEMBER_BIT_OFFSET(member.offset)
		                                          : member.offset;
		if (is_name(blocks, member.name_off, name))
			return (long)(bits / 8);
		if (!is_name(blocks, member.name_off, ""))
			continue;
		long inner =
		    find_member(blocks, find_type(blocks, member.type, NULL), name, depth + 1);
		if (inner >= 0)
			return (long)(bits / 8) + inner;
	}
	return -1;
}

static bool find_block(struct block whole, const struct btf_header *header, uint32_t at,
                       uint32_t length, struct block *out)
{
	size_t begin = (size_t)header->hdr_len + at;

	if (begin > whole.size_bytes || whole.size_bytes - begin < length)
		return false;
	*out = (struct block){whole.bytes + begin, length};
	return true;
}

long ps__btf_offset(const void *btf, size_t size_bytes, const char *type, const char *member)
{
	struct block whole = {btf, size_bytes};
	struct blocks blocks;
	struct btf_header header;

	if (!btf_copy(whole, 0, &header, sizeof header) || header.magic != BTF_MAGIC ||
	    !find_block(whole, &header, header.type_off, header.type_len, &blocks.types) ||
	    !find_block(whole, &header, header.str_off, header.str_len, &blocks.names))
		return -1;
	return find_member(&blocks, find_type(&blocks, 0, type), member, 0);
}

/* Reads as many bytes as the header tells. NULL, with an errno, on failure. Doesn't use malloc: the
 * program would keep the megabytes, and its forks would copy them. */
static unsigned char *read_btf(int fd, size_t *size_bytes)
{
	struct btf_header header = {0};
	ssize_t length = ps__os_read_whole(fd, (char *)&header, sizeof header);
	size_t types_end = (size_t)header.hdr_len + header.type_off + header.type_len;
	size_t names_end = (size_t)header.hdr_len + header.str_off + header.str_len;

	*size_bytes = types_end > names_end ? types_end : names_end;
	errno = length < 0 ? (int)-length : EPROTO;
	if (length < (ssize_t)sizeof header || *size_bytes < sizeof header ||
	    *size_bytes > MOST_BYTES)
		return NULL;
	unsigned char *bytes = ps__os_pages_create(*size_bytes);
	if (!bytes)
		return NULL;
	memcpy(bytes, &header, sizeof header);
	length = ps__os_read_whole(fd, (char *)bytes + sizeof header, *size_bytes - sizeof header);
	if (length >= 0)
		return bytes;
	ps__os_pages_destroy(bytes, *size_bytes);
	errno = (int)-length;
	return NULL;
}

int ps__btf_find_offset(const char *type, const char *member, size_t *offset)
{
	int fd = ps__os.open(PS__BTF_FILE, O_RDONLY | O_CLOEXEC);
	size_t size_bytes = 0;
	unsigned char *bytes = fd >= 0 ? read_btf(fd, &size_bytes) : NULL;
	int error = errno;

	if (fd >= 0)
		ps__os.close(fd);
	if (!bytes && ps__event_is_shortage(error))
		return ps__bpf_explain(BPF_PROG_LOAD, PS__BTF_FILE, error);
	if (!bytes)
		return ps__fail(
		    PS_ENOSUPP,
		    "attribution by BPF needs the kernel's description of its own types, "
		    "and %s can't be read (%s): build the kernel with "
		    "CONFIG_DEBUG_INFO_BTF",
		    PS__BTF_FILE, strerror(error));
	long found = ps__btf_offset(bytes, size_bytes, type, member);
	ps__os_pages_destroy(bytes, size_bytes);
	if (found < 0)
		return ps__fail(PS_ENOSUPP,
		                "attribution by BPF: %s tells of no member '%s' of struct %s",
		                PS__BTF_FILE, member, type);
	*offset = (size_t)found;
	return PS_OK;
}

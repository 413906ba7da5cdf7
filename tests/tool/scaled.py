# SPDX-License-Identifier: BSD-3-Clause
"""scaled.py FROM TO: copies a log, whose first event then counts in units of 3 J. By doc/log-format.md, independently of
the library: no event of that kind can be counted on all machines."""
import struct
import sys

MASK = (1 << 64) - 1


def fold(plain, weighted):
    turned = (weighted << 23 | weighted >> 41) & MASK
    mixed = (plain ^ turned) * 0x9E3779B97F4A7C15 & MASK
    return mixed ^ mixed >> 32


def check(words, plain=1, weighted=1):
    for word in words:
        plain = (plain + word) & MASK
        weighted = (weighted + plain) & MASK
    return fold(plain, weighted)


def words_of(data):
    return struct.unpack("<%dQ" % (len(data) // 8), data)


def scale(block):
    """Changes a block in its place: the description, and all checks."""
    length, = struct.unpack_from("<Q", block, 32)
    described = bytes(block[64:64 + length])
    changed = described.replace(b"\t1\t-\t-\tpage-faults\n", b"\t3\tJ\t-\tpage-faults\n")
    assert changed != described
    block[64:64 + length] = changed
    own = check(words_of(bytes(block[:40])) + words_of(changed))
    struct.pack_into("<Q", block, 40, own)
    first, = struct.unpack_from("<Q", block, 24)
    at = 64 + length
    while at < len(block):
        head, = struct.unpack_from("<Q", block, at)
        count = head & 0xFFFF
        if count == 0:
            break
        lower = head & 0xFFFFFFFF
        rest = words_of(bytes(block[at + 8:at + 8 * count]))
        record = check((lower,) + rest, own, first + 1) & 0xFFFFFFFF
        struct.pack_into("<Q", block, at, lower | record << 32)
        at += 8 * count


with open(sys.argv[1], "rb") as stream:
    log = bytearray(stream.read())
size, _, first_block = struct.unpack_from("<QQQ", log, 16)
for at in range(first_block, len(log), size):
    if not any(log[at:at + 8]):
        continue
    block = log[at:at + size]
    scale(block)
    log[at:at + len(block)] = block
with open(sys.argv[2], "wb") as stream:
    stream.write(log)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records: what the kernel writes into an event's ring, and perf into its files. Each type is
 * parsed into one struct; perf_event_open(2) explains the types and fields.
 */
#ifndef PERFSAGE_RECORD_H
#define PERFSAGE_RECORD_H

#include <perfsage/visibility.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The types of records, as in the kernel's headers up to Linux 6.19. */
enum ps_record_type {
	PS_RECORD_MMAP = 1,
	PS_RECORD_LOST = 2,
	PS_RECORD_COMM = 3,
	PS_RECORD_EXIT = 4,
	PS_RECORD_THROTTLE = 5,
	PS_RECORD_UNTHROTTLE = 6,
	PS_RECORD_FORK = 7,
	PS_RECORD_READ = 8,
	PS_RECORD_SAMPLE = 9,
	PS_RECORD_MMAP2 = 10,
	PS_RECORD_AUX = 11,
	PS_RECORD_ITRACE_START = 12,
	PS_RECORD_LOST_SAMPLES = 13,
	PS_RECORD_SWITCH = 14,
	PS_RECORD_SWITCH_CPU_WIDE = 15,
	PS_RECORD_NAMESPACES = 16,
	PS_RECORD_KSYMBOL = 17,
	PS_RECORD_BPF_EVENT = 18,
	PS_RECORD_CGROUP = 19,
	PS_RECORD_TEXT_POKE = 20,
	PS_RECORD_AUX_OUTPUT_HW_ID = 21,
	PS_RECORD_CALLCHAIN_DEFERRED = 22
};

/** Tells which members of a record are present; ps_record.has is an OR of these. Bits 0 to 24 are
 * the kernel's PERF_SAMPLE_ bits. A member whose bit is not set is 0. */
enum ps_record_has {
	PS_RECORD_HAS_IP = 1 << 0,
	PS_RECORD_HAS_TID = 1 << 1, /* pid and tid */
	PS_RECORD_HAS_TIME = 1 << 2,
	PS_RECORD_HAS_ADDR = 1 << 3,
	PS_RECORD_HAS_READ = 1 << 4, /* sample.counts */
	PS_RECORD_HAS_CALLCHAIN = 1 << 5,
	PS_RECORD_HAS_ID = 1 << 6,
	PS_RECORD_HAS_CPU = 1 << 7,
	PS_RECORD_HAS_PERIOD = 1 << 8,
	PS_RECORD_HAS_STREAM_ID = 1 << 9,
	PS_RECORD_HAS_RAW = 1 << 10,
	PS_RECORD_HAS_BRANCH_STACK = 1 << 11,
	PS_RECORD_HAS_REGS_USER = 1 << 12,
	PS_RECORD_HAS_STACK_USER = 1 << 13,
	PS_RECORD_HAS_WEIGHT = 1 << 14,
	PS_RECORD_HAS_DATA_SRC = 1 << 15,
	PS_RECORD_HAS_IDENTIFIER = 1 << 16, /* the record has id, as with HAS_ID */
	PS_RECORD_HAS_TRANSACTION = 1 << 17,
	PS_RECORD_HAS_REGS_INTR = 1 << 18,
	PS_RECORD_HAS_PHYS_ADDR = 1 << 19,
	PS_RECORD_HAS_AUX = 1 << 20, /* sample.aux: bytes of the AUX area in a sample */
	PS_RECORD_HAS_CGROUP = 1 << 21,
	PS_RECORD_HAS_DATA_PAGE_SIZE = 1 << 22,
	PS_RECORD_HAS_CODE_PAGE_SIZE = 1 << 23,
	PS_RECORD_HAS_WEIGHT_STRUCT = 1 << 24, /* sample.weight, as three numbers */
	PS_RECORD_HAS_BODY = 1 << 25,          /* the members of its type: `body` */
	PS_RECORD_HAS_TEXT = 1 << 26,
	PS_RECORD_HAS_INODE = 1 << 27,        /* body.mapping: device and inode */
	PS_RECORD_HAS_BUILD_ID = 1 << 28,     /* body.mapping.build_id */
	PS_RECORD_HAS_BRANCH_INDEX = 1 << 29, /* sample.branches.index; not set if the kernel had no
	                                         branch stack for the sample */
	PS_RECORD_HAS_SAMPLE_ID = 1 << 30     /* sample_id */
};

/** Bytes within the record; at is NULL if there are none. */
struct ps_record_bytes {
	const void *at;
	size_t size; /* bytes */
};

/** 64-bit numbers within the record, as they were written: ps_record_word reads them. */
struct ps_record_words {
	const void *at;
	size_t count;
};

/** The counts in a sample or a READ record; ps_record_count reads them. */
struct ps_record_counts {
	uint64_t read_format; /* PERF_FORMAT_ bits: which of the numbers are there */
	uint64_t enabled_ns;
	uint64_t running_ns;
	const void *at;
	size_t count; /* number of the group's events; 1 without a group */
};

/** One of the counts. */
struct ps_record_count {
	uint64_t value;
	uint64_t id;   /* 0 without PERF_FORMAT_ID */
	uint64_t lost; /* 0 without PERF_FORMAT_LOST */
};

/** A branch stack, the newest branch first; ps_record_branch reads it. */
struct ps_record_branches {
	uint64_t index; /* of the newest branch in the hardware's stack; all bits set: unknown */
	const void *at;
	size_t count;
	struct ps_record_words counters; /* one for each branch, or none */
};

/** One taken branch. */
struct ps_record_branch {
	uint64_t from;
	uint64_t to;
	/* Bits, from the lowest: mispredicted, predicted, in a transaction, abort; 16 bits: cycles
	 * since the branch before; 4: type; 2: speculation; 4: new type; 3: privilege */
	uint64_t flags;
	uint32_t cycles; /* from flags; 0: unknown */
	uint32_t type;   /* from flags: the kernel's PERF_BR_ numbers */
};

/** Registers; ps_record_register reads them. */
struct ps_record_registers {
	uint64_t abi;  /* PERF_SAMPLE_REGS_ABI_; 0: there are no registers, and values is empty */
	uint64_t mask; /* which registers, by the kernel's numbers (asm/perf_regs.h) */
	struct ps_record_words values; /* in the order of the mask's bits */
};

/** The fields of samples. Three other types use one of them each: READ uses counts, CGROUP uses
 * cgroup, and CALLCHAIN_DEFERRED uses callchain. */
struct ps_record_sample {
	struct ps_record_counts counts;
	struct ps_record_words callchain;
	struct ps_record_bytes raw;
	struct ps_record_branches branches;
	struct ps_record_registers user_registers, interrupt_registers;
	struct ps_record_bytes user_stack;
	uint64_t user_stack_used; /* number of bytes of user_stack that the kernel filled */
	struct ps_record_bytes aux;
	uint64_t weight; /* with WEIGHT_STRUCT three numbers: the lowest 32 bits, the next 16, and
	                    the top 16 */
	uint64_t data_src, transaction, phys_addr, cgroup;
	uint64_t data_page_size, code_page_size; /* bytes */
};

/** The task, time, event and CPU that the kernel adds to each record except samples
 * (sample_id_all). */
struct ps_record_sample_id {
	uint64_t has; /* of enum ps_record_has: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER */
	uint32_t pid, tid, cpu;
	uint64_t time, id, stream_id;
};

/** A mapping of a program: MMAP, MMAP2. The address is in addr, the file's name in text. */
struct ps_record_mapping {
	uint64_t length; /* bytes */
	uint64_t offset; /* in the file, bytes */
	uint64_t inode, inode_generation;
	uint32_t device_major, device_minor;
	uint32_t protection, flags; /* those of mmap(2); only in MMAP2 */
	struct ps_record_bytes build_id;
};

/** FORK, EXIT: the parent. SWITCH_CPU_WIDE: the next task, or the previous one. */
struct ps_record_task {
	uint32_t pid, tid;
};

/** AUX: new bytes in the AUX area. */
struct ps_record_aux {
	uint64_t offset, size, flags; /* size in bytes */
};

/** KSYMBOL: kernel code. The address is in addr, the name in text. */
struct ps_record_symbol {
	uint32_t length; /* bytes */
	uint16_t type, flags;
};

/** BPF_EVENT: a BPF program was loaded, or unloaded. */
struct ps_record_bpf {
	uint16_t type, flags;
	uint32_t id;
	struct ps_record_bytes tag;
};

/** TEXT_POKE: the kernel's code at addr was changed. */
struct ps_record_poke {
	struct ps_record_bytes before, after;
};

/** The members that only some types have. */
union ps_record_body {
	struct ps_record_mapping mapping; /* MMAP, MMAP2 */
	struct ps_record_task other;      /* FORK, EXIT, SWITCH_CPU_WIDE */
	uint64_t lost; /* number of lost records (LOST), or lost samples (LOST_SAMPLES) */
	struct ps_record_aux aux; /* AUX */
	/* NAMESPACES: two words for each namespace, device and inode, in the kernel's order */
	struct ps_record_words namespaces;
	struct ps_record_symbol symbol; /* KSYMBOL */
	struct ps_record_bpf bpf;       /* BPF_EVENT */
	struct ps_record_poke poke;     /* TEXT_POKE */
	uint64_t hw_id;                 /* AUX_OUTPUT_HW_ID */
	uint64_t cookie; /* CALLCHAIN_DEFERRED: the samples that it completes have this number */
};

/**
 * A record. Its pointers lead into the bytes that were parsed, and are valid as long as these
 * bytes.
 *
 * pid, tid, time and id are those of the record itself: MMAP names the task that mapped, FORK the
 * new task. If the record itself has no such value, the value is that of its sample_id.
 */
struct ps_record {
	uint32_t type; /* of enum ps_record_type, or of a type that the library doesn't know */
	uint16_t misc; /* the kernel's PERF_RECORD_MISC_ bits */
	uint16_t is_swapped;
	const void *bytes; /* the whole record, with its header */
	size_t size;       /* bytes; the next record begins there */
	uint64_t has;      /* of enum ps_record_has */
	uint32_t pid, tid, cpu;
	uint64_t time; /* nanoseconds of the event's clock */
	uint64_t ip, addr, period, id, stream_id;
	const char *text; /* a file's name (MMAP, MMAP2), a command (COMM), a symbol (KSYMBOL), a
	                     path (CGROUP): ends with a NUL */
	size_t text_length;
	struct ps_record_sample sample;
	struct ps_record_sample_id sample_id;
	union ps_record_body body; /* with HAS_BODY; see its members for the types */
};

/** The fields of perf_event_attr that a parser must know of the event. */
struct ps_record_config {
	size_t size; /* sizeof(struct ps_record_config), set by the caller */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint64_t sample_regs_intr;
	int sample_id_all;
	int is_swapped; /* not 0: written by a machine of the other byte order */
	/* Nanoseconds that are added, modulo 2^64, to all times. In a time namespace: the time that
	 * the namespace adds to the event's clock. 0: times are as in the record */
	uint64_t time_shift_ns;
};

/**
 * Parses one record. Each length and number is checked against the record's end.
 *
 * A record of an unknown type gives type, misc, is_swapped, bytes and size. If the type is the
 * kernel's (below 64), the record also gives its sample_id, if it has one.
 *
 * config - the fields that the event was opened with
 * bytes - where the record begins; need not be aligned
 * size - bytes that may be read there
 * out - receives the record; untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; config's size is wrong; the record is damaged, or was not
 *       written with this config: ps_record_size tells where the next record begins
 *   PS_EBUF - the bytes end before the record does
 *   PS_ENOSUPP - config asks for fields that this library doesn't know
 *
 * Any thread; async-signal-safe unless it fails. Cost: some loads and stores; allocates nothing.
 */
PS_PUBLIC int ps_record_parse(const struct ps_record_config *config, const void *bytes, size_t size,
                              struct ps_record *out);

/**
 * The size of the record that begins at bytes, as its header gives it. With this size the caller
 * can skip a damaged record.
 *
 * config - for the byte order
 * size - bytes that may be read there
 *
 * Returns bytes; 0 if an argument is NULL, or if there is no whole record there.
 */
PS_PUBLIC size_t ps_record_size(const struct ps_record_config *config, const void *bytes,
                                size_t size);

/** The kernel's name of a type: "MMAP2", "SAMPLE", ...; "unknown" for any other number. */
PS_PUBLIC const char *ps_record_type_name(uint32_t type);

/**
 * One of the record's 64-bit numbers: of the callchain, of namespaces, of a branch's counters.
 *
 * record - not NULL; parsed by ps_record_parse
 * words - a member of that record
 * index - below words->count; else the call returns 0
 */
PS_PUBLIC uint64_t ps_record_word(const struct ps_record *record,
                                  const struct ps_record_words *words, size_t index);

/**
 * One of the record's counts.
 *
 * index - below record->sample.counts.count: the events of a group, the leader first
 * out - untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOEVST - there is no such count
 */
PS_PUBLIC int ps_record_count(const struct ps_record *record, size_t index,
                              struct ps_record_count *out);

/**
 * One of the record's branches.
 *
 * index - below record->sample.branches.count; 0 is the newest
 * out - untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOEVST - there is no such branch
 */
PS_PUBLIC int ps_record_branch(const struct ps_record *record, size_t index,
                               struct ps_record_branch *out);

/**
 * A register's value.
 *
 * record - not NULL; parsed by ps_record_parse
 * registers - its sample.user_registers or sample.interrupt_registers
 * number - the kernel's number of the register: asm/perf_regs.h
 * out - untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOEVST - the record has no such register
 */
PS_PUBLIC int ps_record_register(const struct ps_record *record,
                                 const struct ps_record_registers *registers, unsigned number,
                                 uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif

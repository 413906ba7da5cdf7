/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-or-later */
/*
 * Writes the two BPF programs, one instruction at a time, so that no compiler for BPF and no
 * library is needed. Some kernel functions that they call may only be called by programs with a
 * GPL-compatible licence: see LICENCE in bpf_open.c.
 *
 * A call keeps the registers r6 to r9, but no others. Places on the stack are named below.
 */
#include "backend/bpf.h"

#include <sched.h>

#define WORD_BYTES   ((int)sizeof(uint64_t))
#define TRACE_WORD_1 WORD_BYTES /* in the arguments of a tracepoint's program */

/* Offsets from the end of the stack. */
#define KEY_AT    (-8)
#define FAILED_AT (-16)
#define VALUE_AT  (-48) /* a struct bpf_perf_event_value */

static void emit_instruction(struct ps__bpf_code *code, unsigned operation, unsigned to,
                             unsigned from, int offset, int number)
{
	if (code->list)
		code->list[code->count] = (struct bpf_insn){.code = (uint8_t)operation,
		                                            .dst_reg = to & 0xf,
		                                            .src_reg = from & 0xf,
		                                            .off = (int16_t)offset,
		                                            .imm = number};
	code->count++;
}

static void emit_copy(struct ps__bpf_code *code, unsigned to, unsigned from)
{
	emit_instruction(code, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void emit_number(struct ps__bpf_code *code, unsigned to, int number)
{
	emit_instruction(code, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, number);
}

/* Emits an operation on two registers; the next function, on a register and a number. */
static void emit_sum(struct ps__bpf_code *code, unsigned operation, unsigned to, unsigned from)
{
	emit_instruction(code, BPF_ALU64 | operation | BPF_X, to, from, 0, 0);
}

static void emit_change(struct ps__bpf_code *code, unsigned operation, unsigned to, int number)
{
	emit_instruction(code, BPF_ALU64 | operation | BPF_K, to, 0, 0, number);
}

static void emit_load(struct ps__bpf_code *code, unsigned to, unsigned base, int offset)
{
	emit_instruction(code, BPF_LDX | BPF_MEM | BPF_DW, to, base, offset, 0);
}

static void emit_store(struct ps__bpf_code *code, unsigned base, int offset, unsigned from)
{
	emit_instruction(code, BPF_STX | BPF_MEM | BPF_DW, base, from, offset, 0);
}

static void emit_call(struct ps__bpf_code *code, int function)
{
	emit_instruction(code, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

static void emit_exit(struct ps__bpf_code *code)
{
	emit_number(code, BPF_REG_0, 0);
	emit_instruction(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Emits a jump over the following instructions, taken if the comparison of the register with the
 * number is true. emit_landing sets where it ends. */
static size_t emit_skip_if(struct ps__bpf_code *code, unsigned comparison, unsigned what,
                           int number)
{
	emit_instruction(code, BPF_JMP | comparison | BPF_K, what, 0, 0, number);
	return code->count - 1;
}

static size_t emit_skip(struct ps__bpf_code *code)
{
	emit_instruction(code, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	return code->count - 1;
}

static void emit_landing(struct ps__bpf_code *code, size_t jump)
{
	if (code->list)
		code->list[jump].off = (int16_t)(code->count - jump - 1);
}

static void emit_map(struct ps__bpf_code *code, unsigned to, int map_fd)
{
	emit_instruction(code, BPF_LD | BPF_DW | BPF_IMM, to, BPF_PSEUDO_MAP_FD, 0, map_fd);
	emit_instruction(code, 0, 0, 0, 0, 0);
}

/* Sets r0 to the address of the map's value for the key in r1; without one the program ends. */
static void emit_look_up(struct ps__bpf_code *code, int map_fd)
{
	emit_instruction(code, BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_1, KEY_AT, 0);
	emit_map(code, BPF_REG_1, map_fd);
	emit_copy(code, BPF_REG_2, BPF_REG_10);
	emit_change(code, BPF_ADD, BPF_REG_2, KEY_AT);
	emit_call(code, BPF_FUNC_map_lookup_elem);
	size_t jump = emit_skip_if(code, BPF_JNE, BPF_REG_0, 0);
	emit_exit(code);
	emit_landing(code, jump);
}

/* Sets r0 to the address of the byte for the pid in r1. Overwrites r9. */
static void emit_find_byte(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel)
{
	emit_copy(code, BPF_REG_9, BPF_REG_1);
	emit_change(code, BPF_AND, BPF_REG_9, PS__BPF_BYTES - 1);
	emit_change(code, BPF_RSH, BPF_REG_1, PS__BPF_BYTES_LOG);
	emit_look_up(code, kernel->pids.fd);
	emit_sum(code, BPF_ADD, BPF_REG_0, BPF_REG_9);
}

/* Sets r9 to 0 unless the current task belongs to the process. */
static void emit_is_counted(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel)
{
	emit_call(code, BPF_FUNC_get_current_pid_tgid);
	emit_change(code, BPF_RSH, BPF_REG_0, 32);
	emit_copy(code, BPF_REG_1, BPF_REG_0);
	emit_find_byte(code, kernel);
	emit_instruction(code, BPF_LDX | BPF_MEM | BPF_B, BPF_REG_9, BPF_REG_0, 0, 0);
}

/* Handles one of an event's three numbers: stores it as known, and adds what it grew by to the sum,
 * if the register `whose` isn't 0. */
static void emit_number_of_event(struct ps__bpf_code *code, size_t event, int number,
                                 unsigned whose)
{
	int known = ((int)ps__bpf_known_word(event) + number) * WORD_BYTES;
	int sum = ((int)ps__bpf_sum_word(event) + number) * WORD_BYTES;

	emit_load(code, BPF_REG_1, BPF_REG_10, VALUE_AT + number * WORD_BYTES);
	emit_load(code, BPF_REG_2, BPF_REG_8, known);
	emit_store(code, BPF_REG_8, known, BPF_REG_1);
	size_t jump = emit_skip_if(code, BPF_JEQ, whose, 0);
	emit_sum(code, BPF_SUB, BPF_REG_1, BPF_REG_2);
	emit_load(code, BPF_REG_2, BPF_REG_8, sum);
	emit_sum(code, BPF_ADD, BPF_REG_2, BPF_REG_1);
	emit_store(code, BPF_REG_8, sum, BPF_REG_2);
	emit_landing(code, jump);
}

/* Reads an event. If is_late, the kernel counts a context switch only after the program has run, so
 * what the count grew by belongs to the task that left before. The times belong to the current
 * task, as for other events. */
static void emit_event(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel, size_t event,
                       bool is_late)
{
	emit_map(code, BPF_REG_1, kernel->events.fd);
	emit_copy(code, BPF_REG_2, BPF_REG_7);
	emit_change(code, BPF_ADD, BPF_REG_2, (int)event);
	emit_copy(code, BPF_REG_3, BPF_REG_10);
	emit_change(code, BPF_ADD, BPF_REG_3, VALUE_AT);
	emit_number(code, BPF_REG_4, (int)sizeof(struct bpf_perf_event_value));
	emit_call(code, BPF_FUNC_perf_event_read_value);
	size_t good = emit_skip_if(code, BPF_JEQ, BPF_REG_0, 0);
	emit_instruction(code, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, FAILED_AT, 1);
	size_t next = emit_skip(code);
	emit_landing(code, good);
	if (is_late)
		emit_load(code, BPF_REG_3, BPF_REG_8, PS__BPF_LEFT * WORD_BYTES);
	emit_number_of_event(code, event, 0, is_late ? BPF_REG_3 : BPF_REG_9);
	emit_number_of_event(code, event, 1, BPF_REG_9);
	emit_number_of_event(code, event, 2, BPF_REG_9);
	emit_landing(code, next);
}

static void emit_copy_word(struct ps__bpf_code *code, size_t word)
{
	int offset = (int)word * WORD_BYTES;

	emit_load(code, BPF_REG_1, BPF_REG_8, offset);
	emit_store(code, BPF_REG_0, offset, BPF_REG_1);
}

/* Copies the words that a reading needs to the CPU's copy. */
static void emit_copy_words(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel)
{
	emit_call(code, BPF_FUNC_get_smp_processor_id);
	emit_copy(code, BPF_REG_1, BPF_REG_0);
	emit_change(code, BPF_ADD, BPF_REG_1, (int)ps__bpf_copy_key(kernel->cpu_limit, 0));
	emit_look_up(code, kernel->sums.fd);
	emit_copy_word(code, ps__bpf_known_word(0) + 1);
	for (size_t event = 0; event < kernel->event_count; event++) {
		for (size_t number = 0; number < 3; number++)
			emit_copy_word(code, ps__bpf_sum_word(event) + number);
	}
}

/* Counts a failure for the reader if an event couldn't be read, whatever task runs: a later read
 * then has what several tasks counted, and a late event may be that of the task that left. */
static void emit_tell_failure(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel)
{
	emit_load(code, BPF_REG_1, BPF_REG_10, FAILED_AT);
	size_t jump = emit_skip_if(code, BPF_JEQ, BPF_REG_1, 0);
	emit_number(code, BPF_REG_1, (int)ps__bpf_failed_key(kernel->cpu_limit));
	emit_look_up(code, kernel->sums.fd);
	emit_number(code, BPF_REG_1, 1);
	emit_instruction(code, BPF_STX | BPF_XADD | BPF_DW, BPF_REG_0, BPF_REG_1,
	                 PS__BPF_FAILED * WORD_BYTES, 0);
	emit_landing(code, jump);
	emit_exit(code);
}

/* Registers: r6: the tracepoint's second word, 0 for a reading; r7: index of the CPU's first event;
 * r8: address of its words; r9: not 0 if the current task belongs to the process. */
void ps__bpf_write_switch(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel,
                          const bool *is_late)
{
	emit_load(code, BPF_REG_6, BPF_REG_1, TRACE_WORD_1);
	emit_instruction(code, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, FAILED_AT, 0);
	emit_call(code, BPF_FUNC_get_smp_processor_id);
	emit_copy(code, BPF_REG_7, BPF_REG_0);
	emit_copy(code, BPF_REG_1, BPF_REG_0);
	emit_look_up(code, kernel->sums.fd);
	emit_copy(code, BPF_REG_8, BPF_REG_0);
	emit_is_counted(code, kernel);
	emit_change(code, BPF_MUL, BPF_REG_7, (int)kernel->event_count);
	for (size_t event = 0; event < kernel->event_count; event++)
		emit_event(code, kernel, event, is_late[event]);
	size_t is_reading = emit_skip_if(code, BPF_JEQ, BPF_REG_6, 0);
	emit_store(code, BPF_REG_8, PS__BPF_LEFT * WORD_BYTES, BPF_REG_9);
	size_t is_switch = emit_skip(code);
	emit_landing(code, is_reading);
	emit_copy_words(code, kernel);
	emit_landing(code, is_switch);
	emit_tell_failure(code, kernel);
}

/* Marks a new process as counted if its creator is. The byte of a process that has ended needn't be
 * cleared: when the pid is used again, this program sets the byte anew. */
void ps__bpf_write_child(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel,
                         size_t pid_offset)
{
	emit_load(code, BPF_REG_7, BPF_REG_1, 0); /* the new task's task_struct */
	emit_load(code, BPF_REG_1, BPF_REG_1, TRACE_WORD_1);
	size_t is_thread = emit_skip_if(code, BPF_JSET, BPF_REG_1, CLONE_THREAD);
	emit_is_counted(code, kernel);
	emit_copy(code, BPF_REG_8, BPF_REG_9);
	emit_copy(code, BPF_REG_1, BPF_REG_10);
	emit_change(code, BPF_ADD, BPF_REG_1, VALUE_AT);
	emit_number(code, BPF_REG_2, (int)sizeof(pid_t));
	emit_copy(code, BPF_REG_3, BPF_REG_7);
	emit_change(code, BPF_ADD, BPF_REG_3, (int)pid_offset);
	emit_call(code, BPF_FUNC_probe_read_kernel);
	size_t is_read = emit_skip_if(code, BPF_JEQ, BPF_REG_0, 0);
	emit_exit(code);
	emit_landing(code, is_read);
	emit_instruction(code, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_1, BPF_REG_10, VALUE_AT, 0);
	emit_find_byte(code, kernel);
	emit_instruction(code, BPF_STX | BPF_MEM | BPF_B, BPF_REG_0, BPF_REG_8, 0, 0);
	emit_landing(code, is_thread);
	emit_exit(code);
}

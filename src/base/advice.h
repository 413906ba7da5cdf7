/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of advice for a user or an administrator. Errors and the diagnosis use the same words. The
 * sentence around a piece says why.
 */
#ifndef PS_BASE_ADVICE_H
#define PS_BASE_ADVICE_H

#define PS__PARANOID_FILE "/proc/sys/kernel/perf_event_paranoid"
#define PS__MLOCK_FILE    "/proc/sys/kernel/perf_event_mlock_kb"

#define PS__ADVICE_LEVEL      "sysctl kernel.perf_event_paranoid=%ld" /* as root */
#define PS__ADVICE_PROGRAM    "PROGRAM" /* the program that opens the events */
#define PS__ADVICE_CAPABILITY "setcap cap_perfmon+ep " PS__ADVICE_PROGRAM         /* as root */
#define PS__ADVICE_BPF        "setcap cap_bpf,cap_perfmon+ep " PS__ADVICE_PROGRAM /* as root */
/* Format of a command that sets a sysctl at each boot, as root. Arguments: the sysctl's name, its
 * value, its name again. */
#define PS__ADVICE_LASTING       "echo 'kernel.%s = %ld' > /etc/sysctl.d/99-%s.conf"
#define PS__ADVICE_DESCRIPTORS   "raise the limit with ulimit -n" /* EMFILE */
#define PS__ADVICE_FILES         "raise fs.file-max"              /* ENFILE */
#define PS__ADVICE_LOCKED_MEMORY "raise kernel.perf_event_mlock_kb or ulimit -l"
/* Arguments of docker run and podman run. */
#define PS__ADVICE_CONTAINER "--cap-add PERFMON"
#define PS__ADVICE_PROFILE   "--security-opt seccomp=PROFILE"

#endif

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares formulas with those of the Linux kernel. Run by hand, because the kernel's files are not part of perfsage.

usage: tests/scripts/formulas.py libperfsage.so FOLDER
       tests/scripts/formulas.py libperfsage.so perf

FOLDER is tools/perf/pmu-events/arch of the kernel's source (Debian: linux-source). Each metric expression there must be
taken, and give what the evaluator below gives for the same made-up counts. The evaluator shares nothing with the library's.

With "perf" the rates that perf stat shows are held against the library's metrics of the counts that it shows: of software
events that it counts, and of hardware events whose counts are made up. perf_metrics.py holds formulas against perf stat -M.
"""
import ctypes
import json
import math
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

TOKEN = re.compile(r"\s*(#?(?:\\[-,=]|[0-9A-Za-z_.:@?])+|[-+*/%|^&<>(),])")
NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|[0-9]*\.?[0-9]+)(?:e-?[0-9]+)?$")
STRENGTH = {"|": 1, "^": 2, "&": 3, "<": 4, ">": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}


ROUNDS = 4  # of made-up counts; from the second one on a quarter of them is 0
made_up = 0


def number_of(name):
    """A count for a name: the same here and for the library."""
    value = 7 + made_up
    for byte in name.encode():
        value = (value * 33 + byte) % 999983
    return 0.0 if made_up and value % 4 == 0 else float(value % 5000)


class Evaluator:
    """By the strength of operators, straight from the tokens."""

    def __init__(self, text):
        self.tokens, at = [], 0
        text = text.rstrip()
        while at < len(text):
            match = TOKEN.match(text, at)
            # 1e-5 is one number, although a '-' ends a name.
            if match and re.fullmatch(r"[0-9.]+e", match[1]):
                match = re.compile(r"\s*([0-9.]+e-?[0-9]+)").match(text, at)
            if not match:
                raise ValueError(f"no token at {text[at:]!r}")
            self.tokens.append(match[1])
            at = match.end()
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, token):
        if self.next() != token:
            raise ValueError(f"{token} expected")

    def whole(self):
        value = self.choice()
        if self.peek() is not None:
            raise ValueError(f"{self.peek()} is too much")
        return value

    def choice(self):
        value = self.operations(1)
        if self.peek() != "if":
            return value
        self.next()
        condition = self.operations(1)
        self.take("else")
        other = self.choice()
        if math.isnan(condition):
            return math.nan
        return value if condition else other

    def operations(self, least):
        left = self.operand()
        while self.peek() in STRENGTH and STRENGTH[self.peek()] >= least:
            operator = self.next()
            left = self.compute(operator, left, self.operations(STRENGTH[operator] + 1))
        return left

    @staticmethod
    def compute(operator, left, right):
        if math.isnan(left) or math.isnan(right):
            return math.nan
        if operator in "/%" and right == 0:
            return math.nan
        return {"+": lambda: left + right, "-": lambda: left - right, "*": lambda: left * right,
                "/": lambda: left / right, "%": lambda: math.fmod(int(left), int(right)),
                "<": lambda: float(left < right), ">": lambda: float(left > right),
                "|": lambda: float(int(left) | int(right)), "&": lambda: float(int(left) & int(right)),
                "^": lambda: float(int(left) ^ int(right))}[operator]()

    def operand(self):
        token = self.next()
        if token == "(":
            value = self.choice()
            self.take(")")
            return value
        if token == "-":
            return -self.operand()
        if NUMBER.match(token):
            return float(token)
        if self.peek() == "(":
            return self.call(token)
        return number_of(token.replace("\\", "").replace("@", "/"))

    def call(self, name):
        self.take("(")
        if name not in ("min", "max", "d_ratio"):
            argument = self.next().replace("\\", "").replace("@", "/")
            self.take(")")
            return number_of(f"{name}({argument})")
        one = self.choice()
        self.take(",")
        other = self.choice()
        self.take(")")
        if math.isnan(one) or math.isnan(other):
            return math.nan
        if name == "d_ratio":
            return one / other if other else 0.0
        return min(one, other) if name == "min" else max(one, other)


class Metric(ctypes.Structure):
    _fields_ = [("value", ctypes.c_double), ("timestamp", ctypes.c_uint64), ("status", ctypes.c_int),
                ("attribution", ctypes.c_int), ("flags", ctypes.c_uint32)]


LOOK_UP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_double),
                           ctypes.c_void_p)


@LOOK_UP
def look_up(_context, name, number, _value):
    number[0] = number_of(name.decode())
    return 0


def of_library(library, text, numbers=look_up):
    """The library's value, or the sentence that says why there is none."""
    formula, out = ctypes.c_void_p(), Metric()
    if library.ps_formula_create(ctypes.byref(formula), text.encode()) != 0:
        return library.ps_error_detail().decode()
    library.ps_formula_evaluate(formula, numbers, None, ctypes.byref(out))
    library.ps_formula_destroy(formula)
    return out.value


def is_same(one, other):
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return abs(one - other) <= 1e-12 * max(abs(one), abs(other))


def of_counts(library, metric, counts):
    """The library's metric of these counts: symbol -> number."""
    library.ps_metric_formula.restype = ctypes.c_char_p

    @LOOK_UP
    def look_up_count(_context, name, number, _value):
        number[0] = counts[name.decode()]
        return 0

    return of_library(library, library.ps_metric_formula(metric.encode()).decode(), look_up_count)


def compare_rates(library):
    """perf has these rates of software events on every machine; three digits behind the point are shown."""
    metrics = {"page-faults": ("page-fault-rate", "faults"), "context-switches": ("context-switch-rate", "switches"),
               "cpu-migrations": ("cpu-migration-rate", "migrations")}
    events = ",".join(["task-clock", *metrics])
    lines = subprocess.run(["perf", "stat", "-x;", "-e", events, "--", "sh", "-c", "ls -lR /usr/share/doc > /dev/null"],
                           stderr=subprocess.PIPE, text=True, check=True).stderr.splitlines()
    for count_text, _, event, time_ns, _, rate, unit in (line.split(";")[:7] for line in lines):
        if event not in metrics:
            continue
        metric, symbol = metrics[event]
        counts = {symbol: float(count_text), "time": float(time_ns)}
        scale = {"K/sec": 1e3, "M/sec": 1e6, "G/sec": 1e9}.get(unit, 1)
        yield metric, counts, of_counts(library, metric, counts) / scale, float(rate), 0.00051


def cache(number, is_miss):
    """The kernel's type and number of an event of loads from a cache."""
    return 3, number | is_miss << 16


PERF_RECORD_STAT = 76
HARDWARE_ROUNDS = 20
HARDWARE = {"time": (1, 1), "cycles": (0, 0), "instructions": (0, 1), "references": (0, 2), "cache misses": (0, 3), "branches": (0, 4),
            "branch misses": (0, 5), "frontend": (0, 7), "backend": (0, 8), "l1d_loads": cache(0, 0), "l1d_misses": cache(0, 1),
            "l1i_loads": cache(1, 0), "l1i_misses": cache(1, 1), "last_loads": cache(2, 0), "last_misses": cache(2, 1),
            "data_loads": cache(3, 0), "data_misses": cache(3, 1), "code_loads": cache(4, 0), "code_misses": cache(4, 1)}
# For each metric: the event on whose line perf shows it, the two events it is computed from, and perf's rounding error.
OF_HARDWARE = {"IPC": ("instructions", "instructions", "cycles", 0.0051), "GHz": ("cycles", "cycles", "time", 0.00051),
               "branch-miss-ratio": ("branch misses", "branch misses", "branches", 0.0051),
               "cache-miss-ratio": ("cache misses", "cache misses", "references", 0.0051),
               "frontend-stalls": ("frontend", "frontend", "cycles", 0.0051), "backend-stalls": ("backend", "backend", "cycles", 0.0051),
               "L1d-miss-ratio": ("l1d_misses", "l1d_misses", "l1d_loads", 0.0051),
               "L1i-miss-ratio": ("l1i_misses", "l1i_misses", "l1i_loads", 0.0051),
               "LLC-miss-ratio": ("last_misses", "last_misses", "last_loads", 0.0051),
               "dTLB-miss-ratio": ("data_misses", "data_misses", "data_loads", 0.0051),
               "iTLB-miss-ratio": ("code_misses", "code_misses", "code_loads", 0.0051)}


def symbol_of(event):
    """The name in the formula: these metrics call theirs just misses."""
    return event.split()[-1]


def write_counts(recorded, path, counts):
    """Writes a file of perf stat record again: its events are those of HARDWARE, with these counts."""
    data = bytearray(recorded)
    _, attr_bytes, attrs, _, records, record_bytes = struct.unpack_from("<6Q", data, 8)
    names = {}
    for index, (name, (kind, config)) in enumerate(HARDWARE.items()):
        at = attrs + index * attr_bytes
        struct.pack_into("<I", data, at, kind)
        struct.pack_into("<Q", data, at + 8, config)
        ids, = struct.unpack_from("<Q", data, at + attr_bytes - 16)
        names[struct.unpack_from("<Q", data, ids)[0]] = name
    at = records
    while at < records + record_bytes:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == PERF_RECORD_STAT:
            event, = struct.unpack_from("<Q", data, at + 8)
            struct.pack_into("<Q", data, at + 24, counts[names[event]])
        at += size
    path.write_bytes(data)


def compare_hardware(library):
    """perf shows these rates of hardware events also where there are none: of a file of its own with made-up counts."""
    events = ",".join(["task-clock"] + ["page-faults"] * (len(HARDWARE) - 1))
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "perf.data")
        subprocess.run(["perf", "stat", "record", "-o", path, "-e", events, "true"], stderr=subprocess.DEVNULL, check=True)
        recorded = path.read_bytes()
        for _ in range(HARDWARE_ROUNDS):
            counts = {name: draw.randrange(10 ** 5, 10 ** 7) for name in HARDWARE}
            write_counts(recorded, path, counts)
            shown = subprocess.run(["perf", "stat", "report", "-i", path], stderr=subprocess.PIPE, text=True, check=True).stderr
            rates = dict(re.findall(r"^ *(\d+) +page-faults(?::u)? +# +([\d.]+)", shown, re.MULTILINE))
            for metric, (line, part, whole, error) in OF_HARDWARE.items():
                symbols = {symbol_of(part): float(counts[part]), symbol_of(whole): float(counts[whole])}
                yield metric, symbols, of_counts(library, metric, symbols), float(rates[str(counts[line])]), error


def check_perf(library):
    count, wrong = 0, 0
    for compare in compare_rates, compare_hardware:
        for metric, counts, ours, theirs, error in compare(library):
            count += 1
            if abs(ours - theirs) > error:
                wrong += 1
                print(f"differs: {metric} of {counts}: {ours} is not {theirs}")
    print(f"{count} rates of perf stat, {wrong} differ")
    return 1 if wrong or count < 3 + HARDWARE_ROUNDS * len(OF_HARDWARE) else 0


def load(path):
    library = ctypes.CDLL(path)
    library.ps_error_detail.restype = ctypes.c_char_p
    library.ps_formula_create.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.ps_formula_evaluate.argtypes = [ctypes.c_void_p, LOOK_UP, ctypes.c_void_p, ctypes.c_void_p]
    library.ps_formula_destroy.argtypes = [ctypes.c_void_p]
    return library


def main():
    library = load(sys.argv[1])
    if sys.argv[2] == "perf":
        return check_perf(library)
    global made_up
    machines, count, refused, wrong, unknown = set(), 0, 0, 0, 0
    for path in sorted(pathlib.Path(sys.argv[2]).rglob("*.json")):
        for event in json.loads(path.read_text()):
            text = event.get("MetricExpr") if isinstance(event, dict) else None
            if not text:
                continue
            machines.add("/".join(path.relative_to(sys.argv[2]).parts[:-1]))
            count += 1
            for made_up in range(ROUNDS):
                ours, theirs = of_library(library, text), Evaluator(text).whole()
                unknown += math.isnan(theirs)
                if isinstance(ours, str):
                    refused += 1
                    print(f"refused: {path}: {text}: {ours}")
                    break
                if not is_same(ours, theirs):
                    wrong += 1
                    print(f"differs: {path}: {text}: {ours} is not {theirs}")
    print(f"{count} formulas of {len(machines)} machines ({', '.join(sorted({m.split('/')[0] for m in machines}))}): "
          f"{refused} refused; of {ROUNDS} rounds of counts each {wrong} differ, {unknown} give no number, as a divisor is 0")
    return 1 if refused or wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())

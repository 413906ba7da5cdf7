#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares formulas with perf stat -M. Run by hand, as root, on any x86 machine with perf.

usage: tests/scripts/perf_metrics.py libperfsage.so FOLDER [MACHINE...]

FOLDER is tools/perf/pmu-events/arch of the source that perf was built from (Debian: linux-source). perf is told that it runs
on each MACHINE of FOLDER/x86, of all by default. It finds the machine's PMUs in a folder that only this script and perf see.
perf_metrics.c makes up the counts. For each metric, the number that perf shows is held against the library's value of the
formula in FOLDER, for the counts that perf shows.
"""
import collections
import concurrent.futures
import ctypes
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # keeps the source's folder clean
import formulas

DEVICES = "/sys/bus/event_source/devices"
SMT = "/sys/devices/system/cpu/smt/active"
CLONE_NEWNS = 0x20000
WORKERS = 4 * os.cpu_count()  # perf mostly waits

# For each round: options of perf stat, and whether SMT is on. perf_metrics.c has zeros from the third round on.
ROUNDS = [([], False), (["-a"], True), (["-a"], False), ([], True)]

# A metric's outcome is the first of these that occurs in any of its rounds.
OUTCOMES = {"differs": "differ", "same": "are the same", "no number": "have no number, as a divisor is 0 in each round",
            "unknown": "need a number of the machine that the library doesn't know",
            "mixed": "are of two kinds of cores, whose formulas perf mixes", "other": "are not in perf's tables, or differ there",
            "refused": "are refused by perf"}

FORMAT = {"event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "any": "config:21", "inv": "config:23"}
CORE_FORMAT = {**FORMAT, "cmask": "config:24-31", "in_tx": "config:32", "in_tx_cp": "config:33", "offcore_rsp": "config1:0-63",
               "ldlat": "config1:0-15", "frontend": "config1:0-23"}
CORE_EVENTS = {"slots": "event=0x00,umask=0x4", "topdown-retiring": "event=0x00,umask=0x80",
               "topdown-bad-spec": "event=0x00,umask=0x81", "topdown-fe-bound": "event=0x00,umask=0x82",
               "topdown-be-bound": "event=0x00,umask=0x83", "topdown-heavy-ops": "event=0x00,umask=0x84",
               "topdown-br-mispredict": "event=0x00,umask=0x85", "topdown-fetch-lat": "event=0x00,umask=0x86",
               "topdown-mem-bound": "event=0x00,umask=0x87"}
# Masks are as wide as those of the widest uncore PMU; the filters' positions don't matter.
UNCORE_FORMAT = {**FORMAT, "umask": "config:8-15,32-55", "thresh": "config:24-31", "occ_sel": "config:14-15",
                 "filter_nid": "config1:0-7", "filter_opc": "config1:20-28", "filter_tid": "config1:0-7",
                 "filter_state": "config1:18-22", "filter_band0": "config1:0-7", "ch_mask": "config1:0-7",
                 "fc_mask": "config1:8-10"}
MEMORY_EVENTS = {"cas_count_read": "event=0x04,umask=0x03", "cas_count_write": "event=0x04,umask=0x0c"}
STATES = {"cstate_core": (1, 3, 6, 7), "cstate_pkg": (2, 3, 6, 7, 8, 9, 10)}
MSR_EVENTS = {"tsc": "event=0x00", "aperf": "event=0x01", "mperf": "event=0x02"}
CORES = ("cpu_core", "cpu_atom")
PMU_OF_UNIT = {"CBO": "uncore_cbox_0", "SBO": "uncore_sbox_0", "QPI LL": "uncore_qpi_0", "UPI LL": "uncore_upi_0",
               "L3PMC": "amd_l3", "DFPMC": "amd_df", "ARB": "uncore_arb"}


def write_pmu(folder, name, kind, formats, events=None, mask="cpumask"):
    """Writes the files that perf reads of a PMU in sysfs."""
    files = {"type": str(kind)} | ({mask: "0"} if mask else {})
    files |= {f"format/{term}": bits for term, bits in formats.items()}
    files |= {f"events/{event}": terms for event, terms in (events or {}).items()}
    for path, text in files.items():
        file = folder / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")


def write_devices(folder, units):
    """The PMUs of a machine whose events are of these units."""
    for device in folder.iterdir():
        if not device.is_symlink():
            shutil.rmtree(device)
    if units.isdisjoint(CORES):
        write_pmu(folder, "cpu", 4, CORE_FORMAT, CORE_EVENTS, None)
    else:
        write_pmu(folder, "cpu_core", 4, CORE_FORMAT, CORE_EVENTS, "cpus")
        write_pmu(folder, "cpu_atom", 10, CORE_FORMAT, None, "cpus")
    write_pmu(folder, "msr", 9, {"event": "config:0-63"}, MSR_EVENTS, None)
    for kind, (name, states) in enumerate(STATES.items(), 20):
        write_pmu(folder, name, kind, {"event": "config:0-63"}, {f"c{state}-residency": f"event={state}" for state in states})
    write_pmu(folder, "uncore_imc_0", 30, UNCORE_FORMAT, MEMORY_EVENTS)
    for kind, unit in enumerate(sorted(units.difference(CORES, ["iMC"])), 31):
        write_pmu(folder, PMU_OF_UNIT.get(unit, f"uncore_{unit.lower()}_0"), kind, UNCORE_FORMAT)


def enter_namespace(folder):
    """From here on this process and those that it starts see the folder's PMUs and its answer about SMT."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        sys.exit(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "--bind", folder / "devices", DEVICES], check=True)
    subprocess.run(["mount", "--bind", folder / "smt", SMT], check=True)


def cpuid_of(pattern):
    """A CPU that a regular expression of the kernel's mapfile.csv matches, with a stepping."""
    text = re.sub(r"\(([^|)]*)[^)]*\)", r"\1", pattern).replace("[[:xdigit:]]+", "31")
    text = re.sub(r"\[(.)[^]]*\]", r"\1", text)
    return text if text.count("-") == 3 else text + "-4"


def read_machines(folder):
    """Machine -> its CPU."""
    machines = {}
    for line in (folder / "mapfile.csv").read_text().splitlines()[1:]:
        pattern, _, machine, _ = line.split(",")
        machines.setdefault(machine, cpuid_of(pattern))
    return machines


class Machine:
    """What FOLDER has of a machine. Names are in lower case, as perf doesn't distinguish."""

    def __init__(self, folder):
        self.units, self.scales, self.metrics = set(), {}, collections.defaultdict(dict)
        for path in sorted(folder.glob("*.json")):
            for entry in json.loads(path.read_text()):
                self.units.update([entry["Unit"]] if "Unit" in entry else [])
                if "EventName" in entry:
                    self.scales[entry["EventName"].lower()] = scale_of(entry)[0]
                if "MetricExpr" in entry and "MetricName" in entry:
                    core = entry["Unit"] if entry.get("Unit") in CORES else ""
                    self.metrics[entry["MetricName"].lower()].setdefault(core, entry)


def scale_of(entry):
    """100 and "%", if the entry's unit is "100%": perf multiplies by the number."""
    number, unit = re.match(r"([\d.]+(?:[eE][-+]?\d+)?)?(.*)", entry.get("ScaleUnit", "")).groups()
    return float(number or 1), unit


def shown_name(entry):
    """As perf shows the metric: with its unit, and cut."""
    name = entry["MetricName"]
    return f"{scale_of(entry)[1]}  {name}"[:63] if "ScaleUnit" in entry else name


class Shown:
    """What perf stat printed: a count for each event, and the numbers of each metric."""

    def __init__(self, text, machine, numbers):
        self.counts, self.values = dict(numbers), collections.defaultdict(list)
        self.is_refused = bool(re.search(r"event syntax error|Cannot find metric|<not counted>|<not supported>", text))
        self.is_mixed = "events in group from different hybrid PMUs" in text
        for count, event in re.findall(r'"counter-value" : "([\d.]+)".*?"event" : "([^"]*)"', text):
            event = event.lower()
            # perf truncates a scaled count, and divides it by the scale; times are in seconds.
            self.counts[event] = math.floor(float(count)) / machine.scales.get(event, 1)
            self.counts[event] *= 1e-9 if event.endswith("_time") else 1
            # The number of PMUs that count the event.
            self.counts[f"source_count({event})"] = 1.0
        for value, name in re.findall(r'"metric-value" : (\S+), "metric-unit" : "([^"]*)"', text):
            self.values[name].append(float(value))

    def of(self, name):
        """The numbers of a metric. perf shows no name if it can't compute the metric, as a divisor is 0."""
        return self.values.get(name) or [math.nan for _ in self.values[""]]


def of_library(library, machine, shown, entry, missing):
    """The library's value of a metric, or a sentence. missing receives the names that perf shows no number of."""
    core = entry["Unit"] if entry.get("Unit") in CORES else ""

    @formulas.LOOK_UP
    def look_up(_context, name, number, _value):
        name = name.decode().lower()
        number[0] = shown.counts.get(f"{core}/{name}/", shown.counts.get(name, math.nan))
        if math.isnan(number[0]) and name in machine.metrics:
            others = machine.metrics[name]
            number[0] = of_library(library, machine, shown, others.get(core) or next(iter(others.values())), missing)
        elif math.isnan(number[0]):
            missing.add(name)
        return 0

    return formulas.of_library(library, entry["MetricExpr"], look_up)


def is_same(one, other):
    """perf shows six digits behind the point."""
    return math.isnan(one) and math.isnan(other) or abs(one - other) <= 0.51e-6 + 1e-12 * abs(other)


def order(value):
    return math.isnan(value), value


def compare(library, machine, shown, name):
    """A key of OUTCOMES, and what a complaint shows."""
    if shown.is_refused:
        return "refused", None
    if shown.is_mixed:
        return "mixed", None
    missing, entries = set(), machine.metrics[name].values()
    ours = [of_library(library, machine, shown, entry, missing) for entry in entries]
    theirs = [value for text in dict.fromkeys(map(shown_name, entries)) for value in shown.of(text)]
    if any(isinstance(value, str) for value in ours):
        return "differs", (ours, theirs)
    ours = [value * scale_of(entry)[0] for value, entry in zip(ours, entries)]
    if any(event.startswith("#") for event in missing):
        return "unknown", missing
    # perf uses the first metric with a name, of any kind of core.
    if missing and not machine.units.isdisjoint(CORES):
        return "mixed", None
    if missing or len(ours) != len(theirs) or not all(map(is_same, sorted(ours, key=order), sorted(theirs, key=order))):
        return "differs", (ours, theirs, missing)
    return ("no number" if all(map(math.isnan, ours)) else "same"), None


def numbers_of_topology(library):
    """This machine's numbers, as the library gives them to formulas."""
    topology, events, formula, out = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), formulas.Metric()
    library.ps_topology_root.restype = ctypes.c_void_p
    for function in library.ps_topology_root, library.ps_topology_destroy, library.ps_eventset_destroy:
        function.argtypes = [ctypes.c_void_p]
    library.ps_formula_value.argtypes = [ctypes.c_void_p] * 5
    if library.ps_topology_load(ctypes.byref(topology), None) != 0 or library.ps_eventset_create(ctypes.byref(events)) != 0:
        sys.exit(library.ps_error_detail().decode())
    root, numbers, no_values = library.ps_topology_root(topology), {}, (ctypes.c_uint64 * 1)()
    for name in "#num_cpus", "#num_cores", "#num_dies", "#num_packages":
        library.ps_formula_create(ctypes.byref(formula), name.encode())
        library.ps_formula_value(formula, events, no_values, root, ctypes.byref(out))
        library.ps_formula_destroy(formula)
        numbers[name] = out.value
    library.ps_eventset_destroy(events)
    library.ps_topology_destroy(topology)
    return numbers


class Perf:
    """perf stat as it would be on another machine. Its folder has what this process and perf see in place of sysfs."""

    def __init__(self, folder):
        self.folder, self.shim = folder, folder / "made_up.so"
        (folder / "devices").mkdir()
        for name in "software", "tracepoint", "breakpoint":
            (folder / "devices" / name).symlink_to(pathlib.Path(DEVICES, name).resolve())
        (folder / "smt").write_text("0\n")
        source = pathlib.Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.shim, source, "-ldl"], check=True)
        enter_namespace(folder)

    def run(self, cpuid, arguments, made_up=0):
        environment = {**os.environ, "PERF_CPUID": cpuid, "LD_PRELOAD": str(self.shim), "MADE_UP": str(made_up),
                       "LC_ALL": "C"}
        return subprocess.run(["perf", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
                              check=False).stdout

    def show(self, cpuid, names):
        """For each round: its index, and what perf prints of each metric."""
        for index, (options, is_smt_on) in enumerate(ROUNDS):
            (self.folder / "smt").write_text(f"{int(is_smt_on)}\n")
            commands = [["stat", "-j", "-M", name, *options, "--", "true"] for name in names]
            with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
                yield index, list(pool.map(lambda command: self.run(cpuid, command, index), commands))


def tick_hz_of(perf, machine, cpuid):
    """{} or the frequency of the time stamp counter that perf assumes: 0, for example, if the processor isn't Intel's. Ours may be
    another one, as perf rounds it."""
    for name, entries in machine.metrics.items():
        if any("#system_tsc_freq" in entry["MetricExpr"].lower() for entry in entries.values()):
            text = perf.run(cpuid, ["stat", "-vv", "-M", name, "--", "true"])
            return {"#system_tsc_freq": float(number) for number in re.findall(r"#system_tsc_freq = ([\d.]+)", text, re.I)}
    return {}


def outcomes_of(library, perf, machine, cpuid, numbers):
    """The outcomes of each metric in all rounds."""
    write_devices(perf.folder / "devices", machine.units)
    listed = perf.run(cpuid, ["list", "--details", "metrics"])
    outcomes = {}
    for name, entries in machine.metrics.items():
        # perf doesn't list metrics that belong to an event.
        is_there = all("EventName" in entry or f"[{entry['MetricExpr']}]" in listed for entry in entries.values())
        outcomes[name] = set() if is_there else {"other"}
    numbers = numbers | tick_hz_of(perf, machine, cpuid)
    asked = {name: next(iter(machine.metrics[name].values()))["MetricName"] for name, known in outcomes.items() if not known}
    for index, texts in perf.show(cpuid, asked.values()):
        options, is_smt_on = ROUNDS[index]
        here = {**numbers, "#smt_on": float(is_smt_on), "#core_wide": float("-a" in options)}
        for name, text in zip(asked, texts):
            outcome, seen = compare(library, machine, Shown(text, machine, here), name)
            outcomes[name].add(outcome)
            if outcome == "differs":
                print(f"differs: {name} in round {index}: {seen}")
    return outcomes


def main():
    library = formulas.load(sys.argv[1])
    arch = pathlib.Path(sys.argv[2], "x86")
    cpuids, count = read_machines(arch), collections.Counter()
    numbers = numbers_of_topology(library)
    with tempfile.TemporaryDirectory() as folder:
        perf = Perf(pathlib.Path(folder))
        for name in sys.argv[3:] or cpuids:
            outcomes = outcomes_of(library, perf, Machine(arch / name), cpuids[name], numbers)
            words = collections.Counter(next(word for word in OUTCOMES if word in found) for found in outcomes.values())
            print(f"{name}: {', '.join(f'{number} {word}' for word, number in words.items()) or 'no metrics'}")
            count += words
            count["machines"] += bool(words)
    print(", ".join(f"{count[word]} {meaning}" for word, meaning in OUTCOMES.items()))
    compared = count["same"] + count["differs"]
    print(f"{compared} metrics of {count['machines']} machines, {count['differs']} differ, {count['refused']} that perf refuses")
    return 1 if count["differs"] or not compared else 0


if __name__ == "__main__":
    sys.exit(main())

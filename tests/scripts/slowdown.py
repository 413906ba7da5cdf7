#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How much perfsage timeline slows down what it observes, beside perf sched record: run by hand, as root, on a quiet machine.

usage: tests/scripts/slowdown.py tools/perfsage tests/tool/moves [PAIRS]

Two threads switch 10,000 times a second. Each pair is a run alone and a run that is observed, in either order. The ratio of
a pair is of the time by the clock, or of the threads' own time, which other programs disturb less. With a real-time priority
(chrt) nothing else runs on their CPU.
"""
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

PER_SECOND = 10000
SECONDS = 0.5


def run(command):
    """The time by the clock and the threads' own, in ns."""
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    found = json.loads(out[out.index(b'{"clocks"'):].splitlines()[0])
    return found["wall_ns"], sum(on_ns for _, on_ns in found["clocks"])


def steps_for(moves):
    """So many steps between two rounds make PER_SECOND switches a second. A round has two switches."""
    wanted_ns = 2e9 / PER_SECOND
    rounds, few, many = 500, 1000, 200000
    low, high = (min(run(moves + [str(rounds), str(steps)])[1] for _ in range(5)) / rounds for steps in (few, many))
    return round(few + (many - few) * (wanted_ns - low) / (high - low))


def main():
    perfsage, pairs = sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 40
    moves = ["chrt", "-f", "1", sys.argv[2], "switches"]
    rounds = round(SECONDS * PER_SECOND / 2)
    work = moves + [str(rounds), str(steps_for(moves))]
    with tempfile.TemporaryDirectory() as folder:
        data, text = pathlib.Path(folder, "data"), pathlib.Path(folder, "json")
        observers = {"perfsage timeline": [perfsage, "timeline", "--json", "-o", text],
                     "perf sched record": ["perf", "sched", "record", "-o", data]}
        ratios = {name: ([], []) for name in observers}
        alone_ns, holes = [], 0
        for _ in range(pairs):
            for name, observer in random.sample(sorted(observers.items()), 2):
                times = {is_observed: run((observer if is_observed else []) + work) for is_observed in random.sample((0, 1), 2)}
                alone_ns.append(times[0][0])
                for kind in 0, 1:
                    ratios[name][kind].append(times[1][kind] / times[0][kind])
                if observer[0] == perfsage:
                    holes += len(json.loads(text.read_text())["holes"])
    print(f"{2e9 * rounds / statistics.median(alone_ns):.0f} switches a second; {pairs} pairs; {holes} holes of the timeline")
    for name, kinds in ratios.items():
        for kind, values in zip(("by the clock", "the threads' own time"), kinds):
            low, median, high = statistics.quantiles(values, n=4)
            print(f"{name}, {kind}: {median:.4f} times, quartiles {low:.4f} and {high:.4f}")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks JSON files against a schema: validate.py SCHEMA FILE... Supports the features of JSON Schema that
share/*.schema.json use, and refuses a schema with others. Also checks what a schema can't express: that each total is the
sum of the Threads below it, and each region's inclusive count the sum of the paths below it. Prints a line for each error."""
import json
import sys

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}
KNOWN = {"$schema", "$comment", "title", "description", "$defs", "$ref", "type", "enum", "const", "required",
         "properties", "additionalProperties", "items", "minimum", "maximum", "oneOf"}


def check_object(value, schema, root, path):
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{path}: has no \"{name}\""
    for name, member in value.items():
        rule = properties.get(name, schema.get("additionalProperties", True))
        if rule is False:
            yield f"{path}: \"{name}\" is not in the schema"
        elif rule is not True:
            yield from check(member, rule, root, f"{path}.{name}")


def check(value, schema, root, path="$"):
    unknown = set(schema) - KNOWN
    if unknown:
        raise SystemExit(f"the schema uses {sorted(unknown)}, which this program doesn't know")
    if "$ref" in schema:
        yield from check(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, path)
        return
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(TYPES[t](value) for t in types):
        yield f"{path}: {value!r:.60} is not of type {types}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r:.60} is none of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{path}: {value!r:.60} is not {schema['const']!r}"
    if TYPES["number"](value):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            yield f"{path}: {value} is out of range"
    if "oneOf" in schema:
        fitting = sum(not list(check(value, choice, root, path)) for choice in schema["oneOf"])
        if fitting != 1:
            yield f"{path}: fits {fitting} of the {len(schema['oneOf'])} forms that there are, not one"
    if isinstance(value, dict):
        yield from check_object(value, schema, root, path)
    if isinstance(value, list) and "items" in schema:
        for index, member in enumerate(value):
            yield from check(member, schema["items"], root, f"{path}[{index}]")


def threads_below(component):
    if component["type"] == "Thread":
        yield component
    for child in component["children"]:
        yield from threads_below(child)


def counts(component):
    return {v["event"]: v["count"] for v in component["values"]}


def check_sums(document, component):
    scopes = {e["event"]: e["scope"] for e in document["events"]}
    if component["type"] == "NUMA node" or not list(threads_below(component)):
        return
    for event, count in counts(component).items():
        below = [counts(t).get(event, 0) for t in threads_below(component)]
        if scopes[event] == "thread" and count is not None and None not in below and sum(below) != count:
            yield f"{component['name']}: {event} is {count}, but its Threads have {sum(below)}"
    for child in component["children"]:
        yield from check_sums(document, child)


def check_paths(document):
    paths = document["regions"]
    events = {e["event"] for e in document["events"]}
    for path in paths:
        for share in ("exclusive", "inclusive"):
            if set(path[share]) != events:
                yield f"{path['path']}: {share} has not all events"
        depth = len(path["path"])
        below = [p for p in paths if p["path"][:depth] == path["path"]]
        for event, count in path["inclusive"].items():
            parts = [p["exclusive"][event] for p in below]
            if count is not None and None not in parts and sum(parts) != count:
                yield f"{path['path']}: {event} is {count}, but the paths below have {sum(parts)}"
        if path["visits_counted"] > path["visits"]:
            yield f"{path['path']}: more visits were counted than there were"
        times = path["times"]
        # If no visit was counted, the time belongs to the parent path.
        wall_ns = [p["times"]["wall_ns"] or 0 for p in below]
        if times["wall_ns"] is not None and sum(wall_ns) != times["wall_ns"] + times["inside_ns"]:
            yield f"{path['path']}: the times of the paths below differ from inside_ns"
        for kind in {p["type"] for p in path["parts"]}:
            for event, count in path["exclusive"].items():
                parts = [p["exclusive"][event] for p in path["parts"] if p["type"] == kind]
                if count is not None and None not in parts and sum(parts) > count:
                    yield f"{path['path']}: {event} is {count}, but its parts by {kind} have {sum(parts)}"


def check_times(document):
    for index, task in enumerate(document["tasks"]):
        kinds = [task[kind + "_ns"] for kind in ("on", "waiting", "runnable", "off", "unknown")]
        if sum(kinds) != task["wall_ns"] or task["end_ns"] - task["begin_ns"] != task["wall_ns"]:
            yield f"tasks[{index}]: its times add up to {sum(kinds)}, not to {task['wall_ns']}"
        if sum(part["on_ns"] for part in task["hardware_threads"]) != task["on_ns"]:
            yield f"tasks[{index}]: on_ns is not the sum of its hardware threads"
    for cpu in document["hardware_threads"]:
        parts = [p for t in document["tasks"] for p in t["hardware_threads"] if p["cpu"] == cpu["cpu"]]
        if (sum(p["on_ns"] for p in parts), len(parts)) != (cpu["on_ns"], cpu["tasks"]):
            yield f"CPU {cpu['cpu']}: on_ns or tasks are not those of the tasks"
    if sum(m["count"] for m in document["migrations"]) != sum(t["migrations"] for t in document["tasks"]):
        yield "migrations are not those of the tasks"


def check_placement(document):
    placement = document["placement"]
    for task in placement["tasks"]:
        if sum(cpu["run_ns"] for cpu in task["cpus"]) != task["run_ns"]:
            yield f"task {task['tid']}: its hardware threads don't add up to run_ns"
        if task["run_ns"] + task["waited_ns"] > task["end_ns"] - task["begin_ns"]:
            yield f"task {task['tid']}: it ran for longer than it was there"
    for sharing in placement["shared_while_idle"]:
        for part in sharing["tasks"] + (sharing["idle"] or []):
            if part["ns"] > sharing["ns"]:
                yield f"{sharing['type']} {sharing['id']}: a part is longer than the whole"


def refuse(name):
    raise ValueError(f"{name} is no JSON")


def no_twice(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"a name occurs twice in {names}")
    return dict(pairs)


def complaints(schema, path):
    with open(path, encoding="utf-8", newline="") as file:
        try:
            document = json.load(file, parse_constant=refuse, object_pairs_hook=no_twice)
        except ValueError as error:
            return [str(error)]
    found = list(check(document, schema, schema))
    if found:
        return found
    if "tree" in document:
        return list(check_sums(document, document["tree"]))
    if "placement" in document:
        return list(check_placement(document))
    return list(check_paths(document) if "regions" in document else check_times(document))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    for path in sys.argv[2:]:
        for complaint in complaints(schema, path):
            print(f"{path}: {complaint}")


main()

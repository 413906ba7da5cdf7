# SPDX-License-Identifier: BSD-3-Clause
"""Reads a trace of Perfetto's protocol buffers and checks it; prints what is in it, as JSON.

Each field must be in the published schema, with the schema's type: the part of it that perfsage uses is below (perfetto's
protos/perfetto/trace/: trace.proto, trace_packet.proto, track_event/*.proto). Then: tracks are declared before they are
used, slices are closed in the order in which they were opened, no track's time goes back.
"""
import json
import struct
import sys

# name of the message: {number: (name, type)}; a type is a message's name, or one of the schema's scalars.
SCHEMA = {
    "Trace": {1: ("packet", "TracePacket")},
    "TracePacket": {
        8: ("timestamp", "uint64"),
        10: ("trusted_packet_sequence_id", "uint32"),
        11: ("track_event", "TrackEvent"),
        13: ("sequence_flags", "uint32"),
        60: ("track_descriptor", "TrackDescriptor"),
    },
    "TrackDescriptor": {
        1: ("uuid", "uint64"),
        2: ("name", "string"),
        3: ("process", "ProcessDescriptor"),
        4: ("thread", "ThreadDescriptor"),
        5: ("parent_uuid", "uint64"),
        8: ("counter", "CounterDescriptor"),
    },
    "ProcessDescriptor": {1: ("pid", "int32"), 6: ("process_name", "string")},
    "ThreadDescriptor": {1: ("pid", "int32"), 2: ("tid", "int32"), 5: ("thread_name", "string")},
    "CounterDescriptor": {3: ("unit", "enum")},
    "TrackEvent": {
        4: ("debug_annotations", "DebugAnnotation"),
        9: ("type", "enum"),
        11: ("track_uuid", "uint64"),
        23: ("name", "string"),
        30: ("counter_value", "int64"),
        44: ("double_counter_value", "double"),
    },
    "DebugAnnotation": {
        4: ("int_value", "int64"),
        5: ("double_value", "double"),
        6: ("string_value", "string"),
        10: ("name", "string"),
    },
}
REPEATED = ("packet", "debug_annotations")
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            assert shift <= 70 and number < 1 << 64, "a varint is too long"
            return number, at


def scalar(kind, wire, data, at):
    if kind == "double":
        assert wire == 1, "a double is no fixed64"
        return struct.unpack_from("<d", data, at)[0], at + 8
    assert wire == 0, f"{kind} has the wire type {wire}"
    number, at = varint(data, at)
    if kind in ("int32", "int64"):
        number -= (number >> 63) << 64
        assert kind != "int32" or -(1 << 31) <= number < 1 << 31, "an int32 is too large"
    assert kind != "uint32" or number < 1 << 32, "a uint32 is too large"
    return number, at


def message(kind, data):
    out = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        assert key >> 3 in SCHEMA[kind], f"{kind} has no field {key >> 3}"
        name, type_ = SCHEMA[kind][key >> 3]
        if type_ in SCHEMA or type_ == "string":
            assert key & 7 == 2, f"{name} has no length"
            length, at = varint(data, at)
            assert at + length <= len(data), f"{name} is cut"
            piece = data[at : at + length]
            value = piece.decode() if type_ == "string" else message(type_, piece)
            at += length
        else:
            value, at = scalar(type_, key & 7, data, at)
        if name in REPEATED:
            out.setdefault(name, []).append(value)
        else:
            assert name not in out, f"{name} is there twice"
            out[name] = value
    return out


def add_track(tracks, track):
    assert track["uuid"] not in tracks, "a track is there twice"
    assert track.get("parent_uuid", track["uuid"]) in tracks or "parent_uuid" not in track, "a parent comes later"
    parent = tracks.get(track.get("parent_uuid"))
    own = track.get("name") or track.get("process", {}).get("process_name") or track["thread"]["thread_name"]
    kind = next((key for key in ("process", "thread", "counter") if key in track), "group")
    assert "thread" not in track or parent["pid"] == track["thread"]["pid"], "a thread is not below its process"
    tracks[track["uuid"]] = {
        "path": (parent["path"] if parent else []) + [own],
        "kind": kind,
        "pid": track.get("process", {}).get("pid"),
        "slices": [],
        "marks": [],
        "values": [],
        "open": [],
        "last": 0,
    }


def annotations(event):
    out = {}
    for annotation in event.get("debug_annotations", []):
        values = [value for key, value in annotation.items() if key != "name"]
        assert len(values) == 1 and annotation["name"] not in out, f"not one value: {annotation}"
        out[annotation["name"]] = values[0]
    return out


def add_event(tracks, time, event):
    track = tracks[event["track_uuid"]]
    assert time >= track["last"], "a track's time goes back"
    track["last"] = time
    assert (event["type"] == COUNTER) == (track["kind"] == "counter"), "an event is on a track of another kind"
    if event["type"] == BEGIN:
        track["open"].append({"name": event["name"], "begin": time, "arguments": annotations(event)})
    elif event["type"] == END:
        slice_ = track["open"].pop()
        slice_["end"] = time
        slice_["depth"] = len(track["open"])
        track["slices"].append(slice_)
    elif event["type"] == INSTANT:
        track["marks"].append({"name": event["name"], "time": time, "arguments": annotations(event)})
    else:
        values = [event[key] for key in ("counter_value", "double_counter_value") if key in event]
        assert event["type"] == COUNTER and len(values) == 1, f"no counter's event: {event}"
        track["values"].append([time, values[0]])


def read(data):
    tracks = {}
    for index, packet in enumerate(message("Trace", data).get("packet", [])):
        assert packet["trusted_packet_sequence_id"] == 1, "a packet is of another sequence"
        assert packet.get("sequence_flags", 0) == (index == 0), "the first packet alone depends on none"
        if "track_descriptor" in packet:
            add_track(tracks, packet["track_descriptor"])
        else:
            add_event(tracks, packet["timestamp"], packet["track_event"])
    for track in tracks.values():
        assert not track.pop("open"), f"a slice of {track['path']} has no end"
        del track["last"], track["pid"]
    return {"tracks": list(tracks.values())}


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        json.dump(read(file.read()), sys.stdout)

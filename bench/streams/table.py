#!/usr/bin/env python3
"""table.py SAMPLES: the tables of docs/benchmarks/streams.md, from the samples of bench/streams/compare."""
import collections
import json
import statistics
import sys

samples = collections.defaultdict(list)
with open(sys.argv[1]) as lines:
    for line in lines:
        sample = json.loads(line)
        if "way" in sample:
            how = sample.get("load", "pixels"), sample.get("ends", "")
            way = "replicas" if sample.get("replicas", 1) > 1 else sample["way"]
            samples[way, sample["width"], sample["height"], *how].append(sample)


def median(way, size, field, load="pixels", ends=""):
    found = [s[field] for s in samples[way, *size, load, ends] if field in s]
    return statistics.median(found) if found else None


sizes = [(640, 480), (1920, 1080)]
print("| size | Rondo, frames/s | 2 blurs | copies | loop, 1 thread | FFmpeg | GStreamer | Rondo to the better of these two | goal |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
for size in sizes:
    rondo = median("rondo", size, "frames_per_s")
    cells = [f"{size[0]}x{size[1]}"]
    for way in ("rondo", "replicas", "copies", "loop", "FFmpeg", "GStreamer"):
        rate = median(way, size, "frames_per_s")
        cells.append(f"{rate:.0f}" if rate else "not installed")
    peers = [r for r in (median(w, size, "frames_per_s") for w in ("FFmpeg", "GStreamer")) if r]
    ratio = rondo / max(peers) if peers else None
    cells.append(f"{ratio:.1f}" if ratio else "")
    if size[0] == 1920:
        met = rondo >= 240 and (ratio or 0) >= 1.5
        cells.append("240 frames/s and 1.5 times: " + ("met" if met else "**missed**"))
    else:
        cells.append("")
    print("| " + " | ".join(cells) + " |")

print("\n| size | processor time of a frame: Rondo | loop | latency at 60 frames/s, p50 | goal |")
print("| --- | --- | --- | --- | --- |")
for size in sizes:
    loop = median("loop", size, "cpu_ms_per_frame")
    latency = median("paced", size, "p50_latency_us") / 1000
    print(
        f"| {size[0]}x{size[1]} | {median('rondo', size, 'cpu_ms_per_frame'):.2f} ms | {loop:.2f} ms | {latency:.2f} ms "
        f"| two times the stages' own time, {2 * loop:.2f} ms: {'met' if latency <= 2 * loop else '**missed**'} |"
    )

bare = median("bare", (16, 16), "cpu_ms_per_frame") * 1000 / 5
print(
    f"\nWhat the runtime itself costs: {bare:.2f} us of processor time per stage and frame, with five stages that do nothing "
    f"(goal: below 3 us, {'met' if bare < 3 else '**missed**'})."
)

print("""
## Negotiated and naive

The same five stages, connected in two manners. *Negotiated*: frames stay on the device where the stages work, and are copied only where
a source or a sink works elsewhere. *Naive*: after each stage the frame goes to the host, and back to the device for the next one, with
memory allocated for each frame on both sides. The device is `emulated`, and its bus is modelled: a copy takes at least 10 us and its
bytes at 12 GB/s, as `runtime/streams/plan/graph_plan.hpp` assumes for PCI Express 3.0 with 16 lanes, and in each direction one copy follows the other.
On `cpu`, naive is *copies* of the table above.

*8 bytes* are stages that read and write 8 bytes of a frame: the part of the runtime, the copies and the bus alone. *All pixels* are the
stages above, whose pixels are computed by the host's cores, because the device is emulated, so their time is the same in both manners and hides
the rest. A GPU computes faster, so its ratio would lie between the two.
""")
print("| size | source, sink | copies per frame: negotiated, naive | 8 bytes, frames/s: negotiated | naive | times | all pixels: negotiated | naive | times | goal: 4 times |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
rows = [
    ("device, device", "negotiated", "naive", "device"),
    ("device, host", "negotiated", "naive", "mixed"),
    ("host, host", "negotiated", "naive", "host"),
    ("on `cpu`", "rondo", "copies", ""),
]
for size in sizes:
    for label, fast, slow, ends in rows:
        copies = [median(way, size, "copies_per_frame", "transport", ends) for way in (fast, slow)]
        cells = [f"{size[0]}x{size[1]}", label, f"{copies[0]:.0f}, {copies[1]:.0f}"]
        verdicts = []
        for load, name in (("transport", "8 bytes"), ("pixels", "all pixels")):
            rates = [median(way, size, "frames_per_s", load, ends) for way in (fast, slow)]
            cells += [f"{rates[0]:.0f}", f"{rates[1]:.0f}", f"{rates[0] / rates[1]:.1f}"]
            verdicts.append(f"{name} {'met' if rates[0] >= 4 * rates[1] else '**missed**'}")
        cells.append(", ".join(verdicts) if ends else "")
        print("| " + " | ".join(cells) + " |")
spent = {size: median("naive", size, "us_per_copy", "transport", "device") for size in sizes}
print(
    "\nIf only the bus limits both, the ratio is that of the copies in its busier direction: 4 to 1 with the sink on the host, and 3 to 1 "
    "with both ends there. If the cores do, which make the copies here, it is that of all copies: 7 to 1, and 3 to 1. Copies took "
    + " and ".join(f"{us:.0f} us at {size[0]}x{size[1]}" for size, us in spent.items())
    + " in the naive graph without ends on the host. The model says 48 and 269 us for one alone; the rest is waiting for the bus, and for "
    "a core."
)

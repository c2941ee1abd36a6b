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
            samples[sample["way"], sample["width"], sample["height"]].append(sample)


def median(way, size, field):
    found = [s[field] for s in samples[way, *size] if field in s]
    return statistics.median(found) if found else None


sizes = [(640, 480), (1920, 1080)]
print("| size | Rondo, frames/s | copies | loop, 1 thread | FFmpeg | GStreamer | Rondo to the better of these two | goal |")
print("| --- | --- | --- | --- | --- | --- | --- | --- |")
for size in sizes:
    rondo = median("rondo", size, "frames_per_s")
    cells = [f"{size[0]}x{size[1]}"]
    for way in ("rondo", "copies", "loop", "FFmpeg", "GStreamer"):
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

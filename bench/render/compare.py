#!/usr/bin/env python3
"""bench/render/compare.py BUILD RESULTS [ROUNDS]: what the overlay renderer takes for a frame, beside cairo, AGG, OpenCV and
Skia, and beside itself without tiles; called by tools/bench --render.

Each round draws each scene of bench/render/*.ini in all ways in turn. Prints the page docs/benchmarks/render.md, with medians over
the rounds, and writes one JSON line per sample to RESULTS. Skia is npm's @napi-rs/canvas; without npm it is left out, and the
page says so.
"""
import collections
import json
import os
import shutil
import statistics
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build, results = os.path.abspath(sys.argv[1]), sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
program, here = f"{build}/bench/render/bench_render", f"{root}/bench/render"
shell = f"source {root}/tools/lib/common.sh; source {root}/bench/provenance.sh; provenance 'tools/bench --render'"
known = json.loads(subprocess.check_output(["bash", "-c", shell]))

FRAMES, OF_PEERS, NAIVE = 200, 20, 2
# Scene: what it is, its goal in ms on two threads, and the peers that draw it.
SCENES = {
    "points_1000": ("graph of 1,000 points, k = 5", 0.5, []),
    "points_5000": ("graph of 5,000 points, k = 5", 2, []),
    "curves_1000": ("1,000 curves of 50 points", 1, ["cairo", "agg", "skia"]),
    "lines_500": ("500 lines", 4, ["cairo", "agg", "opencv", "skia"]),
    "boxes_100": ("100 boxes", 2, ["cairo", "agg", "opencv", "skia"]),
    "boxes_1000": ("1,000 boxes", 8, ["cairo", "agg", "opencv", "skia"]),
    "composite_8_bits": ("a layer of 8 bits, a tenth of it", 2, []),
    "composite_floats": ("the same of 16-bit floats", 2, []),
    "composite_overlay": ("the same, blended as overlay", 2, []),
    "frame": ("whole frame: 100 points, their links as lines, 100 boxes", 11, []),
}
COVERED = {"tenth_covered": ("upper tenth", 100), "all_covered": ("everywhere", 10)}


def install_skia():
    """Its folder, or nothing."""
    folder = f"{build}/bench/render/skia"
    if not (shutil.which("npm") and shutil.which("node")):
        return None
    shutil.copytree(f"{here}/skia", folder, dirs_exist_ok=True)
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return folder if subprocess.run(["npm", "ci"], check=False, **quiet).returncode == 0 else None


samples = collections.defaultdict(list)


def keep(line, log):
    sample = json.loads(line)
    key = sample["scene"], sample["by"], sample["threads"], sample["window"], sample["height"]
    samples[key].append(sample)
    log.write(json.dumps(sample) + "\n")


def draw(scene, by, frames, log, *options):
    words = [program, "--scene", f"{here}/{scene}.ini", "--by", by, "--frames", str(frames), *options]
    keep(subprocess.check_output(words), log)


def draw_by_skia(folder, scene, frames, log):
    shapes = subprocess.check_output([program, "--scene", f"{here}/{scene}.ini", "--shapes"])
    keep(subprocess.check_output(["node", "draw.mjs", scene, str(frames)], input=shapes, cwd=folder), log)


def median(scene, by, field="ms", threads=1, window=1, height=2160):
    found = [s[field] for s in samples[scene, by, threads, window, height]]
    return statistics.median(found) if found else None


skia = install_skia()
with open(results, "w", encoding="utf-8") as log:
    log.write(json.dumps(known) + "\n")
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        for scene, (_, _, peers) in SCENES.items():
            draw(scene, "rondo", FRAMES, log)
            draw(scene, "rondo", FRAMES, log, "--teams", "1")
            for peer in peers:
                if peer != "skia":
                    draw(scene, peer, OF_PEERS, log)
                elif skia:
                    draw_by_skia(skia, scene, OF_PEERS, log)
        draw("frame", "rondo", FRAMES, log, "--window", "3")
        draw("frame", "rondo", FRAMES, log, "--width", "7680", "--height", "4320")
        for scene in COVERED:
            draw(scene, "rondo", FRAMES, log)
            draw(scene, "naive", NAIVE, log)

machine, load = known["machine"], os.getloadavg()[0]
print(f"""# The overlay renderer, and what others take

Graphs, lines, curves and boxes over a picture of 3840x2160, in I420, as a graph of stages on `cpu`: a source that writes no pixels, the stages
that draw, and a sink. One frame is under way at a time, on two teams, so this is the time from frame to frame, with everything that the
runtime does. Rondo draws into the video's own format. The peers draw on one thread, as they know no other way, on a picture of 32 bits a pixel (OpenCV: 24), with
anti-aliasing, what the files in `bench/render/` describe; converting their pictures is not counted. Boxes are filled at a quarter, with a stroke
and rounded corners; OpenCV's lines are opaque, and its boxes are blended region by region.

{known["date"][:10]}, {machine["cores"]} cores of {machine["cpu"]}, load {load:.2f} at the end; {known["compiler"]};
commit {known["commit"]}. Command: `tools/bench --render`. Medians of {rounds} rounds, each the median of {FRAMES} frames ({OF_PEERS} of the peers).
Samples: `bench/results/render.jsonl`. Not yet measured on a GPU.
""")
print("| scene | tiles touched | Rondo, ms | on 1 thread | cairo | AGG | OpenCV | Skia | cairo to Rondo | goal, ms |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
for scene, (what, goal, peers) in SCENES.items():
    mine = median(scene, "rondo", threads=2)
    share = samples[scene, "rondo", 2, 1, 2160][0]["touched"]
    cells = [what, f"{100 * share:.0f} %" if share else "", f"{mine:.2f}", f"{median(scene, 'rondo'):.2f}"]
    for peer in "cairo", "agg", "opencv", "skia":
        time = median(scene, peer)
        cells.append(f"{time:.1f}" if time else "not installed" if peer in peers else "")
    cairo = median(scene, "cairo")
    cells += [f"{cairo / mine:.1f}" if cairo else "", f"{goal}: " + ("met" if mine <= goal else "**missed**")]
    print("| " + " | ".join(cells) + " |")
pace = statistics.median(s["ms"] for s in samples["frame", "rondo", 2, 3, 2160])
print(f"""
With three frames under way a whole frame comes every {pace:.2f} ms. At 7680x4320 it takes {median("frame", "rondo", threads=2, height=4320):.2f} ms.

What missed its goal, or only just met it: the points of curves were to be computed in 1 ms, and here they are drawn, too. Of boxes, half of the time goes to blocks of
16x2 pixels at their edges, where a stroke of 3 pixels is computed for all 16, and a quarter to reading and writing the picture. Two teams are
{median("boxes_100", "rondo") / median("boxes_100", "rondo", threads=2):.1f} times as fast as one: the steps between counting and drawing are one team's. Of the graph of 5,000 points, a quarter is one team's: sorting points into cells,
and finding the last picture's links by their ids. A layer that is blended as overlay computes: what is below it is brought to light, too, and both
sides of the mode's formula are worked out.

## What tiles are worth

*Naive*: each block of 16x2 pixels of the picture tests every line, on two threads, in the same vectorised loops.

| lines | tiles touched | Rondo, ms | naive, ms | times | goal |
| --- | --- | --- | --- | --- | --- |""")
for scene, (where, goal) in COVERED.items():
    mine, naive = median(scene, "rondo", threads=2), median(scene, "naive", threads=2)
    share = samples[scene, "rondo", 2, 1, 2160][0]["touched"]
    verdict = "met" if naive / mine >= goal else "**missed**"
    print(f"| {where} | {100 * share:.0f} % | {mine:.2f} | {naive:.0f} | {naive / mine:.0f} | {goal}: {verdict} |")

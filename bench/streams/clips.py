#!/usr/bin/env python3
"""bench/streams/clips.py BUILD RESULTS [ROUNDS]: what `rondo stream` takes for whole clips, beside `ffmpeg` doing the same;
called by tools/bench --clips.

Each round runs both in turn: decode, blur, draw a number, encode with x264, with the same settings. Prints the page
docs/benchmarks/clips.md, with medians over the rounds, and writes one JSON line per sample to RESULTS. Clips are made by
ffmpeg from its test picture. A ratio compares two samples of one round.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
rondo, results = os.path.abspath(f"{sys.argv[1]}/tools/rondo/rondo"), sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 9
shell = f"source {root}/tools/lib/common.sh; source {root}/bench/provenance.sh; provenance 'tools/bench --clips'"
known = json.loads(subprocess.check_output(["bash", "-c", shell]))

SETTINGS = {"preset": "veryfast", "quality": 20, "key_every": 250, "threads": 2}


def run(words, folder):
    """Wall time and processor time in seconds, and the most memory in MiB."""
    begun = time.monotonic()
    child = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"bench/streams/clips.py: failed: {' '.join(words)}")
    return {
        "seconds": time.monotonic() - begun,
        "processor": used.ru_utime + used.ru_stime,
        "mib": used.ru_maxrss / 1024,
    }


def ffmpeg(folder, *words):
    run(["ffmpeg", "-v", "error", "-y", *words], folder)


def graph(folder, name, source, sound=False, **sink):
    stages = [
        {"name": "in", "stage": "file_source", "options": {"file": source}},
        {"name": "soft", "stage": "blur", "options": {"sigma": 2}},
        {"name": "text", "stage": "text", "options": {"text": "{tick}", "size": 48, "x": 16, "y": 16}},
        {"name": "out", "stage": "file_sink", "options": {"file": "rondo.mp4", **SETTINGS, **sink}},
    ]
    pairs = zip(stages, stages[1:])
    connections = [{"from": a["name"], "to": b["name"]} for a, b in pairs]
    if sound:
        connections.append({"from": "in.sound", "to": "out.sound"})
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump({"runtime": {"device": "cpu"}, "stages": stages, "connections": connections}, file)
    return [rondo, "stream", name, "--quiet"]


def beside(source):
    """What ffmpeg is to do."""
    return [
        *["ffmpeg", "-v", "error", "-y", "-threads", "2", "-i", source],
        *["-vf", "gblur=sigma=2,drawtext=text='%{n}':fontsize=48:x=16:y=16"],
        *["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-g", "250", "-threads", "2", "ffmpeg.mp4"],
    ]


def median(samples, key):
    return statistics.median(s[key] for s in samples)


def ratio(above, below, key):
    return statistics.median(a[key] / b[key] for a, b in zip(above, below))


with tempfile.TemporaryDirectory() as folder:
    for name, size, seconds in ("hd.mp4", "1920x1080", 5), ("uhd.mp4", "3840x2160", 2):
        ffmpeg(folder, "-f", "lavfi", "-i", f"testsrc2=size={size}:rate=30:duration={seconds}", "-c:v", "libx264",
               "-preset", "veryfast", "-pix_fmt", "yuv420p", name)
    ffmpeg(folder, "-i", "hd.mp4", "-f", "lavfi", "-i", "sine=440:duration=5", "-c:v", "copy", "-c:a", "aac", "heard.mp4")
    low = graph(folder, "low.json", "uhd.mp4", low_memory=True)
    cases = {
        "1080p": {"rondo": graph(folder, "hd.json", "hd.mp4"), "ffmpeg": beside("hd.mp4")},
        "2160p": {"rondo": graph(folder, "uhd.json", "uhd.mp4"), "ffmpeg": beside("uhd.mp4"), "low memory": low},
        "sound": {"with": graph(folder, "with.json", "heard.mp4", sound=True),
                  "without": graph(folder, "without.json", "heard.mp4")},
    }
    taken = {case: {who: [] for who in ways} for case, ways in cases.items()}
    with open(results, "w", encoding="utf-8") as lines:
        lines.write(json.dumps(known) + "\n")
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
            for case, ways in cases.items():
                for who, words in ways.items():
                    sample = run(words, folder)
                    sample["bytes"] = os.path.getsize(
                        os.path.join(folder, "ffmpeg.mp4" if who == "ffmpeg" else "rondo.mp4"))
                    taken[case][who].append(sample)
                    lines.write(json.dumps({"round": number, "case": case, "who": who, **sample}) + "\n")

print(f"""# Whole clips beside ffmpeg

`rondo stream` and `ffmpeg` do the same in turn: decode a clip of H.264, blur it (sigma 2), draw a number on each picture, and encode it with
x264 (veryfast, quality 20, a key picture in 250, 2 threads). The clips are made from FFmpeg's test picture: 150 pictures of 1080p, 60 of
2160p. Medians of {rounds} rounds; a ratio compares two samples of one round.

{known["date"][:10]}, {known["machine"]["cores"]} cores of {known["machine"]["cpu"]}; {known["compiler"]}; commit {known["commit"]}.
Command: `tools/bench --clips`. Samples: `bench/results/clips.jsonl`.

| clip | | seconds | of the processor | MiB at most | size of the file, KiB |
| --- | --- | --- | --- | --- | --- |""")
for case, title in ("1080p", "1080p"), ("2160p", "2160p"):
    for who, samples in taken[case].items():
        called = {"low memory": "rondo, `low_memory`"}.get(who, who)
        print(f"| {title} | {called} | {median(samples, 'seconds'):.2f} | {median(samples, 'processor'):.2f} | "
              f"{median(samples, 'mib'):.0f} | {median(samples, 'bytes') / 1024:.0f} |")
hd, uhd, heard = taken["1080p"], taken["2160p"], taken["sound"]
more = statistics.median(r["mib"] - f["mib"] for r, f in zip(uhd["rondo"], uhd["ffmpeg"]))
cost = 100 * (ratio(heard["with"], heard["without"], "processor") - 1)
print(f"""
- 1080p: {ratio(hd["ffmpeg"], hd["rondo"], "seconds"):.2f} times ffmpeg's rate (aim 1.1), with {ratio(hd["rondo"], hd["ffmpeg"], "processor"):.2f} of its processor time (aim 0.9).
- 2160p: {abs(more):.0f} MiB {"more" if more > 0 else "less"} than ffmpeg (aim: at most 100 more). `low_memory` takes {median(uhd["rondo"], "mib") - median(uhd["low memory"], "mib"):.0f} MiB less than without it, and makes a file {ratio(uhd["low memory"], uhd["rondo"], "bytes"):.2f} times as large.
- The 1080p clip with sound (AAC, passed on as it is): {cost:+.1f} % of processor time (aim: at most 1 %).""")

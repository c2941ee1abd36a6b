#!/usr/bin/env python3
"""bench/changes.py LABEL=COMMIT...: what each of these commits changed, measured in one run.

Builds bench_actors of each commit under build/changes, runs them in turn, one seed after the other, and writes
docs/benchmarks/changes.md with the samples in bench/results/changes.jsonl. The part of that page that is written by hand stays. The
commits are those of one history, oldest first. Close other programs first. Takes up to three minutes for each commit to build, and one to
measure.
"""

import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = 5
# Where code happens to lie makes the same source up to a tenth faster or slower; this is no change.
ALIGNED = "-falign-functions=64 -falign-loops=32"
# Case, peer, and what the page calls them. A commit without a case has no figure.
WORK = [
    ("ping_pong_one_team", "rondo", "ping-pong, one team"),
    ("ring actors=1000", "rondo one team", "ring of 1,000 actors"),
    ("ping_pong_two_threads", "rondo pinned", "ping-pong, two threads, pinned"),
    ("ping_pong_two_threads", "rondo pooled", "the same, pooled"),
    ("fan_in payload_bytes=64 producers=1", "rondo pinned", "fan-in, pinned"),
    ("fan_in payload_bytes=64 producers=1", "rondo pooled", "the same, pooled"),
    ("fan_in payload_bytes=64 producers=1", "rondo pinned, batches of 64", "batches of 64, pinned"),
    ("fan_in payload_bytes=64 producers=1", "rondo pooled, batches of 64", "the same, pooled"),
    ("ask_hot", "rondo pinned, polling", "ask from outside, p50"),
    ("ask_hot", "ReaderWriterQueue, polling", "a bare queue for comparison"),
    ("urgent_behind_backlog backlog=500000 work_us=1", "rondo", "urgent behind 500,000, p99"),
    ("spawn actors=100000", "rondo", "spawn 100,000"),
    ("spawn actors=100000", "rondo, launch_many", "the same by launch_many"),
]
BY_HAND = "## Tried and rejected\n"  # from this heading on, the page is not written here
MEASURED = {"ask_hot": ("round_trip_ns", "p50"), "urgent_behind_backlog": ("urgent_latency_ns", "p99")}


def run(*command, **how):
    return subprocess.run(command, check=True, cwd=ROOT, **how)


def build(commit):
    """The bench program of a commit."""
    tree = ROOT / "build/changes" / commit
    if not tree.exists():
        run("git", "worktree", "add", "--detach", tree, commit, stdout=subprocess.DEVNULL)
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")
    configure = ["cmake", "--preset", "bench", "-DRONDO_CUDA=off", f"-DCMAKE_CXX_FLAGS={ALIGNED}"]
    configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    subprocess.run(configure, check=True, cwd=tree, env=environment, stdout=subprocess.DEVNULL)
    subprocess.run(
        ["ninja", "-C", tree / "build/bench", "bench_actors"], check=True, env=environment, stdout=subprocess.DEVNULL
    )
    return tree / "build/bench/bench/bench_actors"


def samples(program, seed, output):
    """The results of one run of all the work."""
    words = [w for case in sorted({c for c, _, _ in WORK}) for w in ("--case", case)]
    words += [w for peer in sorted({p for _, p, _ in WORK}) for w in ("--peer", peer)]
    output.unlink(missing_ok=True)
    run(
        program, "--exact", *words, "--rounds", "3", "--seconds", "0.1", "--seed", str(seed), "--json", output,
        stdout=subprocess.DEVNULL,
    )
    return [json.loads(line) for line in output.read_text().splitlines()]


def name_of(result):
    parameters = result["parameters"]
    return " ".join([result["case"], *(f"{k}={v}" for k, v in parameters.items())])


def figure(result):
    """The figure of a result, and whether less of it is better."""
    metric, part = MEASURED.get(result["case"], (result["headline"], "p50"))
    return result[metric][part], metric.endswith("_ns")


def page(labels, results):
    """docs/benchmarks/changes.md."""
    found = collections.defaultdict(list)
    less = {}
    for r in results:
        key = name_of(r), r["peer"], r["change"]
        if r["distance"] == "near":
            value, less[key[:2]] = figure(r)
            found[key].append(value)
    first, machine = results[0], results[0]["machine"]
    lines = [
        "# What each change brought",
        "",
        "Up to the last part, this page is written by `bench/changes.py`. The bench programs of these commits did the same work in the",
        f"same run, in turn. Medians of {SEEDS} runs of 3 samples each, near. The first column is the figure of the oldest commit;",
        "the others say how many times as fast the next commit is as the one before it, and the last one as the first. Samples:",
        "`bench/results/changes.jsonl`.",
        "",
        f"- machine: {machine['cpu']}, {machine['cores']} cores, {machine['kernel']}",
        f"- compiler: {first['compiler']}, flags `{first['build_flags']}`",
        f"- date: {first['date']}",
        "- command: `bench/changes.py " + " ".join(f"'{l}={c}'" for l, c in labels) + "`",
        "",
        "| work | " + " | ".join(f"{l} ({c[:7]})" for l, c in labels) + " | in all |",
        "| --- |" + " --- |" * (len(labels) + 1),
    ]
    for case, peer, text in WORK:
        at = [found.get((case, peer, l)) for l, _ in labels]
        at = [statistics.median(v) if v else None for v in at]
        down = less.get((case, peer), False)
        ratio = lambda a, b: None if a is None or b is None else (a / b if down else b / a)
        cells = ["" if at[0] is None else f"{at[0] / 1e3:.3g} us" if down else f"{at[0] / 1e6:.3g} M/s"]
        cells += ["" if (r := ratio(a, b)) is None else f"{r:.2f}" for a, b in zip(at, at[1:])]
        whole = ratio(at[0], at[-1])
        last = "" if at[-1] is None else f"{at[-1] / 1e3:.3g} us" if down else f"{at[-1] / 1e6:.3g} M/s"
        cells.append(last if whole is None else f"{whole:.2f}: {last}")
        lines.append(f"| {text} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    labels = [tuple(word.rsplit("=", 1)) for word in sys.argv[1:]]
    if len(labels) < 2 or any(len(l) != 2 for l in labels):
        sys.exit(__doc__.strip())
    programs = {}
    for number, (label, commit) in enumerate(labels, 1):
        print(f"bench/changes.py: building {commit}, {number} of {len(labels)}", flush=True)
        programs[label] = build(commit)
    results = []
    for seed in range(1, SEEDS + 1):
        print(f"bench/changes.py: run {seed} of {SEEDS}", flush=True)
        for label, program in programs.items():
            for r in samples(program, seed, ROOT / "build/changes/samples.jsonl"):
                results.append(dict(r, change=label))
    kept = ROOT / "bench/results/changes.jsonl"
    kept.write_text("".join(json.dumps(r) + "\n" for r in results))
    target = ROOT / "docs/benchmarks/changes.md"
    _, heading, by_hand = target.read_text().partition(BY_HAND)
    target.write_text(page(labels, results) + "\n" + heading + by_hand)


main()

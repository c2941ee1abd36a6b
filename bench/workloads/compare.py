#!/usr/bin/env python3
"""bench/workloads/compare.py BUILD RESULTS [ROUNDS]: what the workloads of `rondo run` do in a second, beside plain loops and CAF; called by
tools/bench --workloads.

Each round runs each workload in all ways in turn. Prints the page docs/benchmarks/workloads.md, with medians over the rounds, and
writes one JSON line per sample to RESULTS.
"""
import collections
import json
import os
import statistics
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build, results = os.path.abspath(sys.argv[1]), sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
program = f"{build}/bench/workloads/bench_workloads"
shell = f"source {root}/tools/lib/common.sh; source {root}/bench/provenance.sh; provenance 'tools/bench --workloads'"
known = json.loads(subprocess.check_output(["bash", "-c", shell]))

GRAPH, READINGS, AGENTS = "scale=20,factor=16,seed=1", "sensors=1000,readings=10000,seed=1", "1000000"
# What, its size, readings of a message, goals: millions of items a second, and the part of the loop's rate; what
# PyDotCompute publishes of its own programs, in millions.
WORKLOADS = [
    ("pagerank", "PageRank, parts as actors", GRAPH, 1000, 100, 0.7, "1.0 on its CPU, 1.7 on its GPU"),
    ("vertices", "PageRank, vertices as actors", GRAPH, 1000, 8, None, ""),
    ("anomaly", "anomalies, 1,000 readings a message", READINGS, 1000, 20, 0.5, "0.505"),
    ("anomaly", "anomalies, 500", READINGS, 500, 20, 0.5, "0.231"),
    ("anomaly", "anomalies, 100", READINGS, 100, 20, 0.5, "0.053"),
    ("anomaly", "anomalies, one by one", READINGS, 1, 5, None, ""),
    ("agents", "a million agents", AGENTS, 1000, 5, None, ""),
]
samples = collections.defaultdict(list)


def measure(what, size, batch, by, threads, log):
    words = [program, what, "--by", by, "--size", size, "--batch", str(batch), "--threads", str(threads)]
    sample = json.loads(subprocess.check_output(words))
    log.write(json.dumps(sample) + "\n")
    samples[what, batch, by, threads].append(sample)


def rate(what, batch, by, threads):
    found = [s["count"] / s["seconds"] / 1e6 for s in samples[what, batch, by, threads]]
    return statistics.median(found) if found else None


with open(results, "w", encoding="utf-8") as log:
    log.write(json.dumps(known) + "\n")
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        for what, _, size, batch, _, _, _ in WORKLOADS:
            if what == "vertices" and number >= 2:  # each of its rankings sends hundreds of millions of messages
                continue
            for threads in 1, 2:
                measure(what, size, batch, "rondo", threads, log)
                if batch == 1000 and what != "vertices" and (what != "agents" or threads == 1):
                    measure(what, size, batch, "loop", threads, log)
                if what in ("pagerank", "anomaly") and batch != 1 and threads == 2:
                    measure(what, size, batch, "caf", threads, log)
for key, found in samples.items():
    others = {s["result"] for k, all_of in samples.items() if k[0] == key[0] for s in all_of}
    if len(others) != 1:
        sys.exit(f"{key[0]}: not everybody has found the same: {', '.join(sorted(others))}")

machine, load = known["machine"], os.getloadavg()[0]
print(f"""# Workloads, and what plain loops and CAF do

The programs of `rondo run` on `cpu` ([examples](../examples.md)), in millions of items a second: links that a round of PageRank follows (a graph
of RMAT, scale 20, factor 16), readings that are judged (1,000 sensors, windows of 10,000), agents that are moved (they see their neighbours by
cells). *Loop*: the same work without actors, messages or a runtime, on as many threads; the vertices are split so that each thread has as many
links. *CAF*: the same actors; its mailboxes have no bound, so one by one was left out. All of them find the same. Reading or generating the input is not counted.

PyDotCompute's figures are those that it publishes, of other machines; its actors are Python's.

{known["date"][:10]}, {machine["cores"]} cores of {machine["cpu"]}, load {load:.2f} at the end; {known["compiler"]};
commit {known["commit"]}. Command: `tools/bench --workloads`. Medians of {rounds} rounds, of vertices {min(rounds, 2)}.
Samples: `bench/results/workloads.jsonl`. Not yet measured on a GPU.
""")
print("| workload | 2 teams | 1 team | loop, 2 threads | loop, 1 thread | of the loop | CAF | PyDotCompute | goal |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")


def text_of(figure):
    return "" if figure is None else f"{figure:.1f}" if figure < 100 else f"{figure:.0f}"


for what, words, _, batch, goal, part, published in WORKLOADS:
    mine, loop = rate(what, batch, "rondo", 2), rate(what, 1000, "loop", 2)
    share = mine / loop if loop else None
    met = mine >= goal and (part is None or share >= part)
    wanted = f"{goal}" + (f" and {part} of the loop" if part else "") + (": met" if met else ": **missed**")
    cells = [words, text_of(mine), text_of(rate(what, batch, "rondo", 1)), text_of(loop),
             text_of(rate(what, 1000, "loop", 1)), "" if share is None else f"{share:.2f}",
             text_of(rate(what, batch, "caf", 2)), published, wanted]
    print("| " + " | ".join(cells) + " |")

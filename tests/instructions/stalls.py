#!/usr/bin/env python3
"""stalls.py VALGRIND PROGRAM: finds loads that need the bytes of two recent stores, which make a processor wait.

Prints a line for each that comes with every message of a case, with its source and those of the stores. The exit status is 1 if
there is one in kernels/. PROGRAM is linked without -pie, so that its addresses are those of its debug information.
"""

import collections
import subprocess
import sys
import tempfile

TIMES = 50  # messages of each case
RECENT = 100  # instructions; older stores have reached the cache


def traced(valgrind, program):
    """Each access to memory as (kind, address, bytes, number of the instruction, its address)."""
    with tempfile.NamedTemporaryFile("r") as log:
        command = [valgrind, "--tool=lackey", "--trace-mem=yes", f"--log-file={log.name}", program, str(TIMES)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        instruction, at = 0, ""
        for line in log:
            kind, rest = line[:2], line[3:]
            if kind == "I ":
                instruction, at = instruction + 1, rest.split(",")[0].strip()
            elif kind in (" L", " S", " M"):
                address, size = rest.split(",")
                yield kind[1], int(address, 16), int(size), instruction, at


def stalls(accesses):
    """How often each (load, its stores) came by."""
    last = {}  # the latest store of each byte
    found = collections.Counter()
    for kind, address, size, instruction, at in accesses:
        memory = range(address, address + size)
        if kind in "LM":
            stores = {last.get(byte, (-RECENT,)) for byte in memory}
            recent = {store for store in stores if instruction - store[0] < RECENT}
            if recent and len(stores) > 1:
                found[(at, *sorted({store[1] for store in recent}))] += 1
        if kind in "SM":
            for byte in memory:
                last[byte] = instruction, at
    return found


if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
often = [places for places, times in stalls(traced(*sys.argv[1:])).items() if times >= TIMES * 9 // 10]
failed = False
for places in often:
    lines = subprocess.run(
        ["addr2line", "-e", sys.argv[2], *places], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    load, *stores = (line.split(" ")[0] for line in lines)
    failed = failed or "/kernels/" in load
    print(f"the load at {load} waits for the stores at {', '.join(stores)}")
print("no load waits" if not often else "")
sys.exit(failed)

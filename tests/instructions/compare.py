#!/usr/bin/env python3
"""compare.py VALGRIND PROGRAM BUDGET: counts PROGRAM's instructions per message, and compares them with the file BUDGET.

Prints a line per case. The exit status is 1 if a case needs more than its limit allows, or if the two name different cases.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

TIMES = 1000  # messages, or launches, of each case
ROOM = 1.03  # compilers differ


def counts(valgrind, program):
    """The instructions of each case for one message."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        subprocess.run(
            [valgrind, "--tool=callgrind", "--quiet", f"--callgrind-out-file={out}", program],
            check=True,
        )
        found = {}
        for file in pathlib.Path(folder).glob("out.*"):
            text = file.read_text()
            name = re.search(r"^desc: Trigger: Client Request: (\w+)$", text, re.M)
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
            if name:
                found[name[1]] = round(int(total[1]) / TIMES)
        return found


def limits(budget):
    """The limit of each case in the file."""
    lines = (line.split() for line in pathlib.Path(budget).read_text().splitlines())
    return {line[0]: int(line[1]) for line in lines if line and not line[0].startswith("#")}


if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
found, allowed = counts(*sys.argv[1:3]), limits(sys.argv[3])
failed = False
for case in sorted(found.keys() | allowed.keys()):
    if case not in found or case not in allowed:
        verdict = "is not in the budget" if case in found else "was not counted"
    elif found[case] > allowed[case] * ROOM:
        verdict = "is too many: mend it, or raise the limit and say why in the commit"
    elif found[case] * ROOM < allowed[case]:
        verdict = "is fewer: lower the limit"
    else:
        verdict = ""
    failed = failed or verdict != ""
    print(f"{case:8}{found.get(case, '?'):>8} instructions, limit {allowed.get(case, '?')}  {verdict}".rstrip())
sys.exit(failed)

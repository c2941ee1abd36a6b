#!/usr/bin/env python3
"""growth.py VALGRIND PROGRAM FEW MANY: counts PROGRAM's instructions for one of FEW and for one of MANY, such as actors.

Prints a line per case. The exit status is 1 if one of MANY needs more than twice the instructions of one of FEW in a case, each
time of three: threads that wait beside it are counted, too, and do more when the machine is busy. A search is there every time.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

MOST = 2  # growth


def counts(valgrind, program, number):
    """The instructions of each case for one."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        subprocess.run(
            [valgrind, "--tool=callgrind", "--quiet", "--instr-atstart=no", "--collect-jumps=no",
             f"--callgrind-out-file={out}", program, str(number)],
            check=True,
        )
        found = {}
        for file in pathlib.Path(folder).glob("out.*"):
            text = file.read_text(errors="replace")
            name = re.search(r"^desc: Trigger: Client Request: (\w+)_\d+$", text, re.M)
            total = re.search(r"^totals: (\d+)", text, re.M)
            if name and total:
                found[name[1]] = int(total[1]) / number
        return found


if len(sys.argv) != 5:
    sys.exit(__doc__.strip())
valgrind, program = sys.argv[1:3]
few, many = (counts(valgrind, program, int(number)) for number in sys.argv[3:])
for _ in range(2):
    if few.keys() == many.keys() and any(many[case] > MOST * few[case] for case in few):
        again = counts(valgrind, program, int(sys.argv[4]))
        many = {case: min(most, again.get(case, most)) for case, most in many.items()}
failed = few.keys() != many.keys() or not few
for case in few:
    growth = many[case] / few[case]
    verdict = "  grows: look for a search through all others" if growth > MOST else ""
    failed = failed or growth > MOST
    print(f"{case:16}{few[case]:>12.0f}{many[case]:>12.0f}  x {growth:.2f}{verdict}")
sys.exit(failed)

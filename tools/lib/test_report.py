#!/usr/bin/env python3
"""tools/lib/test_report.py FILE.xml...: summarises a run of ctest from the files of its --output-junit.

Prints the ten slowest tests, the skipped ones by cause, of each failed one the lines that say why, and last "tests: N passed,
N failed, N skipped". A test is named PRESET/NAME, where the file lies in build/PRESET. The exit status is 1 if a test failed, a file is missing, or no test ran.
"""

import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
    print(__doc__.strip())
    sys.exit(0 if len(sys.argv) == 2 else 2)

# Where the reason begins in a test's output: of Catch2, the sanitizers, CMake, Python and the shell.
REASON = re.compile(r"FAILED:|Sanitizer|runtime error:|Error|error:|Traceback|due to a fatal|\*\*\*")
MOST_LINES = 20


def why(output):
    lines = [line.rstrip()[:200] for line in output.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if REASON.search(line)), None)
    # Without a known reason, the last lines are the best guess. Catch2 names the case before it.
    begin = max(0, len(lines) - MOST_LINES) if first is None else max(0, first - 4)
    return lines[begin:begin + MOST_LINES]


passed, failed, times = 0, {}, []
skipped = collections.defaultdict(list)
for path in map(pathlib.Path, sys.argv[1:]):
    if not path.is_file():
        failed[f"{path}: no such file; its tests did not run"] = []
        continue
    try:
        cases = xml.parse(path).getroot().iter("testcase")
    except xml.ParseError as e:
        failed[f"{path}: cannot be parsed ({e}); ctest was stopped while writing it"] = []
        continue
    for case in cases:
        name = f"{path.parent.name}/{case.get('name')}"
        times.append((float(case.get("time", 0)), name))
        if case.get("status") == "run":
            passed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            said = re.search(r"skipped: *(.+)", case.findtext("system-out") or "")
            message = case.find("skipped").get("message", "") if case.find("skipped") is not None else ""
            skipped[said.group(1).strip() if said else message or "no reason given"].append(name)
        else:
            failed[name] = why(case.findtext("system-out") or "")

print("slowest tests:")
for seconds, name in sorted(times, reverse=True)[:10]:
    print(f"  {seconds:7.1f} s  {name}")
for cause, names in sorted(skipped.items()):
    print(f"skipped {len(names)}, for {cause}: {', '.join(sorted(names))}")
for name, reason in failed.items():
    print(f"failed: {name}")
    for line in reason:
        print(f"    {line}")
print(f"tests: {passed} passed, {len(failed)} failed, {sum(map(len, skipped.values()))} skipped")
sys.exit(1 if failed or not passed else 0)

#!/usr/bin/env python3
"""SECURITY.md: every threat names a test that exists, every guard a threat, and no test a threat that is not there.

usage: security.py SECURITY.md TEST_DIR

A row is `| ID | threat | guard or - | tests |`; the tests are files below the repository, each with `:text` that must occur in it. A row with a
guard names a unit test first: test/mutate.sh runs it. A test cites a row as "threat ID".
"""
import os
import re
import sys


def check_row(root, cells, guards, problems):
    number, threat, guard, tests = cells
    names = re.findall(r"`([^`]+)`", tests)
    if not threat or not names:
        problems.append(f"{number}: no threat or no test named")
    for name in names:
        file, _, text = name.partition(":")
        full = os.path.join(root, file)
        if not os.path.exists(full):
            problems.append(f"{number}: {file} does not exist")
        elif text and text not in open(full, encoding="utf-8", errors="replace").read():
            problems.append(f"{number}: {file} does not hold {text!r}")
    if guard == "-":
        return
    if guard.strip("`") not in guards:
        problems.append(f"{number}: no guard is named {guard}")
    if names and not re.match(r"test/unit/[a-z]+_test\.c:", names[0]):
        problems.append(f"{number}: the first test of a guard is a unit test's function")


def citations(tests):
    for folder, _, files in os.walk(tests):
        for file in files:
            if file.endswith((".c", ".py", ".sh", ".case")):
                full = os.path.join(folder, file)
                for cited in re.findall(r"\bthreat ([A-Z]+-\d+)", open(full, encoding="utf-8", errors="replace").read()):
                    yield full, cited


def main():
    path, tests = sys.argv[1:3]
    root = os.path.dirname(os.path.abspath(path))
    guards = set(re.findall(r"^X\((\w+),", open(os.path.join(root, "lib/base/guards.def"), encoding="utf-8").read(), re.M))
    problems, ids, named = [], set(), set()
    for line in open(path, encoding="utf-8"):
        cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
        if not re.match(r"\| [A-Z]+-\d+ \|", line):
            continue
        if len(cells) != 4 or cells[0] in ids:
            problems.append(f"{cells[0]}: not four cells, or twice")
            continue
        ids.add(cells[0])
        named.add(cells[2].strip("`"))
        check_row(root, cells, guards, problems)
    problems += [f"{g}: a guard without a threat" for g in sorted(guards - named)]
    problems += [f"{file}: {cited} is no threat" for file, cited in citations(tests) if cited not in ids]
    if len(ids) < 120:
        problems.append(f"{path}: {len(ids)} threats")
    print("\n".join(problems) if problems else f"security: {len(ids)} threats, each with its test; {len(guards)} guards")
    sys.exit(1 if problems else 0)


main()

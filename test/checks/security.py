#!/usr/bin/env python3
"""SECURITY.md: every claim names a test that exists.

usage: security.py SECURITY.md TEST_DIR

A claim is a table row `| claim | test |`; the test column names files below the test folder (or bindings/), each with `:text` that must occur in it.
"""
import os
import re
import sys


def main():
    path, tests = sys.argv[1:3]
    root = os.path.dirname(os.path.abspath(path))
    problems, rows = [], 0
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
            if not line.startswith("| ") or len(cells) != 2 or cells[1] in ("test", "proved by"):
                continue
            rows += 1
            names = re.findall(r"`([^`]+)`", cells[1])
            if not names:
                problems.append(f"{path}:{number}: no test named")
            for name in names:
                file, _, text = name.partition(":")
                full = os.path.join(root, file)
                if not os.path.exists(full):
                    problems.append(f"{path}:{number}: {file} does not exist")
                elif text and text not in open(full, encoding="utf-8", errors="replace").read():
                    problems.append(f"{path}:{number}: {file} does not hold {text!r}")
    if rows == 0:
        problems.append(path + ": no claims")
    print("\n".join(problems) if problems else f"security: {rows} claims, each with its test")
    sys.exit(1 if problems else 0)


main()

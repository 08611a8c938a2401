#!/usr/bin/env python3
"""The longest shell scripts of this system: each parses, and its print parses to the same tree; what `bash -n` rejects, so do we.

usage: scripts.py PATH-OF-reprint [COUNT]
The list is made at run time, by the first line of every file under /usr/bin, /usr/sbin, /usr/share, /usr/lib and /etc.
"""
import os
import re
import subprocess
import sys

ROOTS = ("/usr/bin", "/usr/sbin", "/usr/share", "/usr/lib", "/etc")
SHEBANG = re.compile(rb"^#! ?/(usr/)?bin/(env )?(ba|da)?sh\b")


def scripts(count):
    found = {}
    for root in ROOTS:
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    if not os.path.isfile(path) or os.path.islink(path):
                        continue
                    with open(path, "rb") as f:
                        if SHEBANG.match(f.read(40)):
                            found[os.path.realpath(path)] = os.path.getsize(path)
                except OSError:
                    continue
    return sorted(found, key=lambda path: (-found[path], path))[:count]


def bash_says(path):
    """The messages of `bash -n`, without the file's name; an extglob pattern is one from the first line on, as we are told to parse."""
    done = subprocess.run(["bash", "-O", "extglob", "-n", path], capture_output=True, check=False)
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    return "\n".join(line[len(path) + 2:] for line in lines if ": warning: " not in line) if done.returncode else ""


def main():
    reprint, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
    good = bad = 0
    for path in scripts(count):
        done = subprocess.run([reprint, path], capture_output=True, text=True, errors="replace", check=False)
        theirs, ours = bash_says(path), done.stdout.strip()
        if ours == (f"error {path}: {theirs}" if theirs else f"same {path}"):
            good += 1
        else:
            bad += 1
            print(f"{ours}\n  bash -n: {theirs or 'accepts it'}")
    print(f"{good} passed, {bad} failed")
    sys.exit(1 if bad or not good else 0)


main()

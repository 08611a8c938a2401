#!/usr/bin/env python3
"""The toolbox's figures, one JSON object a line: each command in the VFS against the original in a directory of tmpfs or disk.

usage: tools.py PATH-OF-libshell [NAME...]
The same script runs in libshell and in bash: it makes 20 MB of data or a tree of 1,000 files, and times the command alone by the shell's
clock. Medians of interleaved rounds.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 5
DATA = "seq 3000000 | head -c 20000000 >f; "
TREE = "mkdir t; for d in 0 1 2 3 4 5 6 7 8 9; do mkdir t/$d; for i in {0..99}; do echo \"$d $i some text of a file\" >t/$d/$i; done; done; "

# name, preparation, command, what it must beat the original by
WORK = [
    ("md5sum", DATA, "md5sum f", 1.0), ("sha1sum", DATA, "sha1sum f", 3.0), ("sha256sum", DATA, "sha256sum f", 3.0), ("gzip", DATA, "gzip -6 -c f", 1.0),
    ("base64", DATA, "base64 f", 1.5), ("od", DATA, "od f", 1.5), ("tar_create", TREE, "tar cf a.tar t", 3.0),
    ("tar_extract", TREE + "tar cf a.tar t; mkdir x; ", "tar xf a.tar -C x", 3.0), ("ls_lR", TREE, "ls -lR t", 5.0), ("du", TREE, "du t", 5.0),
    ("cp_r", TREE, "cp -r t u", 20.0),
]


def microseconds(shell, prepare, command):
    script = "%s %s >/dev/null; rm -rf u x/*; s=${EPOCHREALTIME/./}; %s >/dev/null; e=${EPOCHREALTIME/./}; echo $((e - s))" % (prepare, command, command)
    directory = tempfile.mkdtemp(dir="/dev/shm")
    try:
        done = subprocess.run(shell + ["-c", script], cwd=directory, stdout=subprocess.PIPE, text=True, check=True)
        return int(done.stdout)
    finally:
        shutil.rmtree(directory)


def main():
    ours = [os.path.abspath(sys.argv[1])]
    for name, prepare, command, target in WORK:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        times = [(microseconds(ours, prepare, command), microseconds(["bash"], prepare, command)) for _ in range(ROUNDS)]
        mine, theirs = (statistics.median(column) for column in zip(*times))
        ratio = theirs / max(mine, 1)
        print(json.dumps({"name": "tools." + name, "value": round(mine / 1e3, 3), "unit": "ms", "against": command.split()[0], "ratio": round(ratio, 2), "target": target, "ok": ratio >= target}), flush=True)


main()

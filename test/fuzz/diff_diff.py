#!/usr/bin/env python3
"""diff_diff: diff against GNU's on random pairs of files, and patch on what it prints.

usage: diff_diff.py LIBSHELL [--pairs N] [--seed S] [--keep DIR]

Files are made in a scratch directory; one script then compares every pair under many options, once in bash with the real tools and once in
libshell over a copy of the directory. The outputs must be the same bytes. Each unified diff is given to patch, whose result must be the
second file. Prints the number of comparisons and the first differences; status 1 when there are any.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

STYLES = ["-u", "", "-c", "-e", "-n", "-f", "-y", "-U1", "-C0", "-D X", "-y -W 30 -t", "-y --left-column", "-u -T", "-u -p", "-q", "-d -u", "--color=always -u"]
RULES = ["", "", "-w", "-b", "-B", "-i", "-Z", "-E", "-B -w", "-I ^a", "--strip-trailing-cr", "-b -B", "-B -Z", "-E -Z", "-a", "--horizon-lines=2", "-H"]


def line(r, words):
    kind = r.random()
    text = " ".join(r.choice(words) for _ in range(r.randint(0, 2)))
    if kind < 0.1:
        text += r.choice([" ", "\t", "\r", "  "])
    elif kind < 0.2:
        text = r.choice([" ", "\t", "    "]) + text
    elif kind < 0.25:
        text = text.upper()
    return text + "\n"


def edit(r, lines, words):
    out = list(lines)
    for _ in range(r.randint(0, 1 + len(lines) // r.choice([2, 5, 10]))):
        at = r.randint(0, len(out))
        kind = r.randint(0, 4)
        if kind == 0:
            out[at:at] = [line(r, words) for _ in range(r.randint(1, 4))]
        elif kind == 1:
            del out[at:at + r.randint(1, 4)]
        elif kind == 2 and out:
            out[at:at + 1] = [line(r, words)]
        elif kind == 3 and out:
            start = r.randint(0, len(out))
            out[at:at] = out[start:start + r.randint(1, 6)]
        elif out:
            i = r.randrange(len(out))
            out[i] = out[i].replace(" ", r.choice(["  ", "", "\t"]))
    return out


def text_of(r, lines):
    data = "".join(lines)
    if data and r.random() < 0.15:
        data = data[:-1]
    return data


def pair(r):
    words = ["abcdefghijklmnopqrstuvwxyz"[i] * r.randint(1, 3) for i in range(r.choice([2, 3, 6, 26]))]
    size = r.choice([3, 8, 8, 20, 20, 60, 200 if r.random() < 0.3 else 30])
    first = [line(r, words) for _ in range(r.randint(0, size))]
    second = edit(r, first, words) if r.random() < 0.85 else [line(r, words) for _ in range(r.randint(0, size))]
    return text_of(r, first), text_of(r, second)


def script(pairs, r, patch):
    lines = []
    for n in range(pairs):
        for _ in range(3):
            options = r.choice(STYLES) + " " + r.choice(RULES)
            lines.append(f"echo '== {n} {options}'; diff {options} --label a --label b {n}.a {n}.b 2>&1; echo \"? $?\"")
        lines.append(f"echo '== {n} cmp comm'; cmp {n}.a {n}.b 2>&1; comm {n}.a {n}.b 2>&1")
        if patch:
            form = r.choice(["-u", "-c", "", "-U1", "-U0", "-C1"])
            lines.append(f"diff {form} {n}.a {n}.b >p; cp {n}.a t; echo '== {n} patch {form}'; patch -s t p 2>&1; echo \"? $?\"; cmp t {n}.b; rm -f t t.orig t.rej")
            form = r.choice(["-u", "-c", "-U1"])
            lines.append(f"diff {form} {n}.a {n}.b >p; cp {(n + 1) % pairs if r.random() < .2 else n}.{r.choice('ab')} t; sed -i '{r.randint(1, 9)}{r.choice(['d', 'p', 's/a/b/'])}' t; "
                         f"echo '== {n} fuzz {form}'; patch {r.choice(['', '-R', '-N', '-f', '-t', '-F0', '-F3'])} t p 2>&1 </dev/null; echo \"? $?\"; cat t t.rej 2>/dev/null; rm -f t t.orig t.rej")
    return "\n".join(lines) + "\n"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("libshell")
    args.add_argument("--pairs", type=int, default=300)
    args.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    args.add_argument("--keep")
    args.add_argument("--no-patch", action="store_true")
    o = args.parse_args()
    r = random.Random(o.seed)
    work = o.keep or tempfile.mkdtemp()
    os.makedirs(work, exist_ok=True)
    for n in range(o.pairs):
        for name, text in zip("ab", pair(r)):
            with open(f"{work}/{n}.{name}", "w", newline="") as f:
                f.write(text)
    text = script(o.pairs, r, not o.no_patch)
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    copy = tempfile.mkdtemp()
    shutil.copytree(work, copy, dirs_exist_ok=True)
    real = subprocess.run(["bash", "-c", text] if len(text) < 100000 else ["bash", "-s"], input=text.encode() if len(text) >= 100000 else b"", cwd=copy, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    ours = subprocess.run([o.libshell, "--bind", f"{work}:/w", "--cwd", "/w", "--timeout", "300", "--limit", "output=1000000000", "--env", "LC_ALL=C.UTF-8", "--env", "TZ=UTC"], input=text.encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    a, b = real.split(b"== "), ours.split(b"== ")
    bad = [(x, y) for x, y in zip(a, b) if x != y]
    count = len(a) - 1
    print(f"seed {o.seed}: {count} comparisons, {len(bad) + abs(len(a) - len(b))} differ")
    for x, y in bad[:2]:
        sys.stdout.write("-- real\n" + x.decode(errors="replace")[:700] + "-- ours\n" + y.decode(errors="replace")[:700])
    shutil.rmtree(copy)
    if not o.keep:
        shutil.rmtree(work)
    return 1 if bad or len(a) != len(b) else 0


sys.exit(main())

#!/usr/bin/env python3
"""--help lists the options that are taken: each option that COMMANDS.md has for a command (its table, from which --help is printed) stands in
its --help, and is not refused as unknown.

usage: help.py ROOT LIBSHELL
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

UNKNOWN = re.compile(r"invalid option|unrecognized option|unknown option|illegal option|Unknown option", re.I)
ORIGINALS = {"xxd", "awk", "gawk"}  # their --help is the original's own text, not the table's
SHELL_WORDS = {"exec", "exit", "logout", "return", "break", "continue", "suspend", "bash", "sh"}


def tables(root):
    name, usage = None, False
    for line in pathlib.Path(root, "COMMANDS.md").read_text(encoding="utf-8").split("\n"):
        if line.startswith("# Names"):
            return
        if line.startswith("## "):
            name = line[3:]
        row = re.match(r"\| `(-[^`]*)` \|", line)
        if row and name:
            yield name, [w.strip() for w in row.group(1).split(", ")]


def word_of(option):
    """The option as typed, with a value where it wants one."""
    text = re.sub(r"\[.*\]$", "", option)
    if "=" in text:
        return [text.split("=")[0] + "=1"]
    return [text.split(" ")[0]] + (["1"] if " " in text else [])


def run(program, lines):
    with tempfile.NamedTemporaryFile("w") as f:
        f.write("\n".join(lines) + "\n")
        f.flush()
        return subprocess.run([program, "--timeout", "120", f.name], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)


def main():
    root, program = sys.argv[1:]
    script, wanted = [], []
    help_of = {}
    for name, options in tables(root):
        if name in SHELL_WORDS:
            continue
        help_of.setdefault(name, [])
        for option in options:
            help_of[name].append(re.split(r"[=\[ ]", option)[0])
            argv = [name] + (word_of(option) if name != "jq" else word_of(option)[0].split("="))
            wanted.append(argv)
            script.append("printf '\\n@%d\\n' >&2; (timeout 2 %s </dev/null >/dev/null)" % (len(wanted) - 1, " ".join(map(shlex.quote, argv))))
    done = run(program, script)
    bad = 0
    for part in done.stderr.split("\n@")[1:]:
        head, _, text = part.partition("\n")
        if head.isdigit() and UNKNOWN.search(text):
            bad += 1
            print("%s: %s" % (shlex.join(wanted[int(head)]), text.strip().split("\n")[0]))
    shown = {part.partition("\n")[0]: part for part in run(program, ["printf '\\n@%s\\n'; command %s --help" % (name, shlex.quote(name)) for name in help_of]).stdout.split("\n@")}
    for name, options in help_of.items():
        for option in options:
            if name not in ORIGINALS and not re.search(re.escape(option) + r"(?![\w-])", shown.get(name, "")):
                bad += 1
                print("%s --help does not list %s" % (name, option))
    print("%d options of %d commands, %d wrong" % (len(wanted), len(help_of), bad))
    sys.exit(1 if bad else 0)


main()

#!/usr/bin/env python3
"""Each option of curl's and wget's tables stands in a network case, by its letter or its name.

usage: curl_options.py ROOT      prints the options that no case has; status 1 when there are any
"""
import pathlib
import re
import sys

def rows(text):
    """(letter or "", name or "") of each row."""
    found = re.findall(r"""\b(?:ROW|FLAG|VALUE|REFUSED|REFUSED_VALUE|ACCEPTED)\((0|'.'), "([\w.-]+)\"""", text)
    found += re.findall(r"""^ *\{(0|'.'), (NULL|"[\w.-]+"), OPT_\w+""", text, re.M)
    return [("" if letter == "0" else letter.strip("'"), "" if name == "NULL" else name.strip('"')) for letter, name in found]


def commands(scripts, tool):
    """The words behind each call of the tool, up to what ends it."""
    return [re.split(r"[|;&\n]", part)[0] for script in scripts for part in re.split(r"\b%s(?= )" % tool, script)[1:]] + scripts


def used(letter, name, calls):
    long = re.compile(r"(^|[\s'\"\n])--(no-)?%s(?=[\s='\"\\]|$)" % re.escape(name)) if name else None
    bare = re.compile(r"^-?-?%s\b" % re.escape(name)) if name else None
    short = re.compile(r"(^|\s)-[A-Za-z0-9#:]*?%s" % re.escape(letter)) if letter else None
    return any((long and long.search(c)) or (short and short.search(c)) or (bare and bare.search(c)) for c in calls)


def main():
    root = pathlib.Path(sys.argv[1])
    scripts = []
    for path in sorted((root / "test/net").glob("*.case")):
        scripts += [line[2:] for line in path.read_text(errors="surrogateescape").split("\n") if line[:2] in ("$ ", "| ")]
    missing = []
    count = 0
    for tool in ("curl", "wget"):
        table = "".join(p.read_text() for p in sorted((root / "builtins/net" / tool).glob("options.c")))
        calls = commands([s for s in scripts if tool in s or not re.match(r"\w+ ", s)], tool)
        for letter, name in rows(table):
            count += 1
            if not used(letter, name, calls):
                missing.append(f"{tool}: {'-' + letter if letter else ''} {'--' + name if name else ''} has no case in test/net")
    print("\n".join(missing) or f"curl and wget: {count} options, each in a case")
    sys.exit(bool(missing))


main()

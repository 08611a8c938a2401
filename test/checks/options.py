"""Every option of every command is in a case: each that --help lists is given in a script of test/cases or test/net that runs the command.

usage: options.py ROOT LIBSHELL
"""
import re
import subprocess
import sys

from cases import scripts

# Commands of one table of options, which are one in all but name.
FAMILIES = [["ls", "dir", "vdir"], ["gzip", "gunzip", "zcat"], ["bzip2", "bunzip2", "bzcat"], ["xz", "unxz", "xzcat", "lzma", "unlzma", "lzcat"],
            ["zstd", "unzstd", "zstdcat"], ["grep", "egrep", "fgrep"], ["awk", "gawk"], ["chown", "chgrp"], ["base32", "base64", "basenc"],
            ["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"], ["dos2unix", "unix2dos"], ["hexdump", "hd"], ["bash", "sh"]]


def listed(program, name):
    """[(letters, long names)], one for each option."""
    text = subprocess.run([program, "-c", name + " --help"], capture_output=True, text=True, check=False).stdout
    found = []
    for line in text.split("\n"):
        m = re.match(r" {1,8}((?:-{1,2}[\w?@+.:-]+(?:\[?[ =][A-Z][^ ,]*\]?)?(?:, +)?)+)", line)
        if m and not re.search("version|licen[cs]e|--help|^  -h +", line): # those have no meaning to test but that they are there
            words = re.findall(r"(?<![\w-])-{1,2}[\w?@+.:-]*", m.group(1))
            found.append(([w[1:2] for w in words if re.fullmatch(r"-[^-]", w)], [w[2:] for w in words if w.startswith("--")], [w[1:] for w in words if re.fullmatch(r"-[^-].+", w)]))
    return found


def main():
    root, program = sys.argv[1:]
    names = subprocess.run([program, "--list-commands"], capture_output=True, text=True, check=True).stdout.split()
    whole = list(scripts(root))
    missing = 0
    for name in names:
        if any(name in f[1:] for f in FAMILIES):
            continue
        options = listed(program, name)
        family = next((f for f in FAMILIES if name in f), [name])
        calls = re.compile(r"(?<![\w./-])(?:" + "|".join(re.escape(n) for n in family) + r")(?![\w.-])")
        used = [set(w.strip("'\"") for w in re.split(r"[\s;|&()<>`=]+", s)) for s in whole if calls.search(s)]
        words = set().union(*used) if used else set()
        letters = set("".join(w[1:] for w in words if re.match(r"-[^-]", w)))
        longs = [w[2:] for w in words if w.startswith("--") and len(w) > 2]
        for short, long, single in options:
            if any(s in letters for s in short) or any("-" + s in words for s in single) or any(l.startswith(w) for l in long for w in longs if len(w) > 2) or any("-" + l in words for l in long):
                continue
            missing += 1
            print("%s: no case has %s" % (name, ", ".join(["-" + s for s in short + single] + ["--" + l for l in long])))
    print("%d commands, %d options without a case" % (len(names), missing))
    sys.exit(1 if missing else 0)


main()

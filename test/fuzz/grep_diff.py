#!/usr/bin/env python3
"""grep_diff: grep against GNU's on random patterns, options and texts; -o shows whether matches are leftmost and longest.

usage: grep_diff.py LIBSHELL [--runs N] [--seed S]
"""
from batch import main, quoted
from patterns import Pattern, line

def files(r):
    made = {}
    for n in range(8):
        text = "\n".join(line(r) for _ in range(r.randint(0, 25)))
        if r.random() < 0.85:
            text += "\n"
        made[f"f{n}"] = text.encode()
    made["f8"] = b"ab\xffcd\na\xc3\nabc\n\xe9\xa9b\xc3\xa9\n\xf0\x9f\x98\x80a\n"
    made["f9"] = b"aab\nb\0a\nabc\n\nbc\n"
    made["p0"] = b"a\nbc\n"
    made["p1"] = b""
    made["p2"] = b"\nabc\n"
    return made


def pattern(r, syntax, word, zero, plain):
    if syntax == "-F":
        return "".join(r.choice("aabbc") for _ in range(r.randint(0, 3))) + r.choice(["", "", "", "é", "A", " ", "_", ".", "\\"])
    if not plain and r.random() < 0.03: # what is broken, or odd
        return  "".join(r.choice(["(", ")", "\\(", "\\)", "[", "]", "*", "+", "?", "x" if syntax == "-E" else "{", "}", "\\{", "\\}", "|", "\\|", "^", "$", "a", "b", ",", "1", "\\", "[:alpha:]", "[[:foo:]]", "\\1", "[b-a]", "[a"]) for _ in range(r.randint(1, 6)))
    text = Pattern(r, syntax == "-E", anchors=not zero).whole()
    if word: # what GNU tries when a longest match is no word depends on the other patterns, and the empty match is not among it
        text = r.choice("abc") + r.choice(["", "*", "[ab]*", ".*b", "[^ ]", "b*c*", ".", "\\w*", "\\(a\\|bb\\)" if syntax == "-G" else "(a|bb)+"])
    return text


def test(r):
    syntax = r.choice(["-E", "-E", "-E", "-G", "-G", "-F"])
    words = ["grep", syntax]
    kind = r.random()
    if kind < 0.55:
        words.append("-o")
    if r.random() < 0.15:
        words.append("-i")
    for option, chance in (("-w", 0.12), ("-x", 0.08), ("-n", 0.12), ("-v", 0.08), ("-b", 0.1), ("-c", 0.08), ("-a", 0.15), ("-H", 0.05), ("-h", 0.03), ("-z", 0.02), ("-l", 0.02), ("-L", 0.02),
                           ("-q", 0.01), ("-s", 0.01), ("-T", 0.02), ("-Z", 0.01), ("-m1", 0.03), ("-m2", 0.03), ("-m0", 0.005), ("-A1", 0.04), ("-B1", 0.04), ("-C2", 0.03), ("-A0", 0.01), ("-1", 0.01),
                           ("--color=always", 0.08), ("--no-group-separator", 0.01), ("--group-separator=XX", 0.01), ("-I", 0.01), ("-U", 0.01), ("--binary-files=without-match", 0.01)):
        if r.random() < chance:
            words.append(option)
    word, zero = "-w" in words, "-z" in words
    plain = any(o in words for o in ("-w", "-x", "-i")) # GNU puts parentheses around the broken then
    count = 1 if word or r.random() < 0.85 else r.randint(2, 4)
    plain = plain or count > 1
    if count == 1 and r.random() < 0.9:
        words += ["-e", quoted(pattern(r, syntax, word, zero, plain))]
    elif r.random() < 0.1:
        words += ["-f", r.choice(["p0", "p1", "p2"])]
    elif r.random() < 0.5:
        words += ["-e", quoted("\n".join(pattern(r, syntax, word, zero, plain) for _ in range(count)))]
    else:
        for _ in range(count):
            words += ["-e", quoted(pattern(r, syntax, word, zero, plain))]
    words += [f"f{r.randint(0, 9) if r.random() < 0.15 else r.randint(0, 7)}" for _ in range(1 if r.random() < 0.9 else r.choice([0, 2, 3]))]
    text = " ".join(words)
    if not words[-1].startswith("f"):
        text += " <f1"
    return text


def same(script, real, ours):
    # Next to bytes that are no characters glibc sees word boundaries as if they were Latin-1.
    return (" f8" in script and any(a in script for a in ("\\b", "\\B", "\\<", "\\>"))) or b"exceeded PCRE's backtracking limit" in ours[1]


main("grep", files, test, same=same)

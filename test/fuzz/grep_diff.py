#!/usr/bin/env python3
"""grep_diff: grep against GNU's on random patterns, options and texts; -o shows whether matches are leftmost and longest.

usage: grep_diff.py LIBSHELL [--runs N] [--seed S]
"""
from batch import main, quoted

LETTERS = "aaabbbc"
ANCHORS = ("^", "$", "\\<", "\\>", "\\b", "\\B", "\\`", "\\'")


def line(r):
    kind = r.random()
    if kind < 0.08:
        return ""
    text = "".join(r.choice(LETTERS) for _ in range(r.randint(0, 8)))
    if kind < 0.35:
        text = text.replace("c", r.choice([" ", "_", "-", "é", "A", "B", "1", ".", "*", "ab", "É", "Éa", "+", "^", "$", "\t", "C ", "ß", "(", "\\", "["]))
    if 0.35 < kind < 0.6:
        text = " ".join("".join(r.choice(LETTERS + "AB_1") for _ in range(r.randint(1, 4))) for _ in range(r.randint(1, 4)))
    return text


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


class Pattern:
    """Leaves out what GNU's matchers do not agree about, or POSIX does not say: operators behind anchors, references into repeated groups and
    anchors in them."""

    def __init__(self, r, extended, anchors=True):
        self.r, self.ere, self.groups, self.anchors = r, extended, 0, anchors
        self.latest = 0
        self.named = [] # groups that a reference may name

    def op(self, c):
        return c if self.ere else "\\" + c

    def bracket(self):
        r = self.r
        inside = "".join(r.choice(["a", "b", "c", "a-c", "b-c", "[:alpha:]", "[:digit:]", "[:upper:]", "[:space:]", "_", "é", "A-C", ".", "*", "-", "[.a.]", "[=b=]", "\\", "[", "^", "$", "[:punct:]"])
                         for _ in range(r.randint(1, 3)))
        if inside.startswith("^"):
            inside = "a" + inside
        if "-" in inside[:-1] and "-" == inside[0]:
            inside = "-" + inside.replace("-", "")
        return "[" + r.choice(["", "", "^"]) + r.choice(["", "", "", "]"]) + inside + "]"

    def atom(self, depth):
        r = self.r
        kind = r.random()
        if kind < 0.5:
            return r.choice("aaabbbc")
        if kind < 0.58:
            return "."
        if kind < 0.66:
            return self.bracket()
        if kind < 0.72:
            return r.choice(["é", "A", " ", "_", "-", "\\.", "\\*", "\\\\", "1", "\\[", "/", "É", "ß", "ab", "\\]", "]", "}", ",", "\\^", "\\$", "#", "\\-", "\\/"])
        if kind < 0.78:
            return r.choice(["\\w", "\\W", "\\s", "\\S"] + ([] if depth else list(ANCHORS)))
        if kind < 0.81:
            return r.choice(["^", "$"]) if self.anchors and not depth else "c"
        if kind < 0.84 and self.named:
            return "\\%d" % r.choice(self.named)
        if depth == 0 and r.random() < 0.25: # one that may be named: a match of it is never empty
            self.groups += 1
            self.latest = self.groups if self.groups < 10 else 0
            return self.op("(") + r.choice(["a", "b", ".", "ab", "[ab]", "a" + self.op("|") + "b", "a*b", "\\w", "b" + self.op("+"), "a.b"]) + self.op(")")
        if depth < 3:
            self.groups += 1
            inner = self.alternatives(depth + 1)
            return self.op("(") + inner + self.op(")")
        return "b"

    def repeat(self):
        r = self.r
        kind = r.random()
        if kind < 0.35:
            return "*"
        if kind < 0.55:
            return self.op(r.choice("+?"))
        return self.op("{") + r.choice(["1", "2", "0", "1,2", "0,1", "2,", ",2", "0,", "1,3", ","]) + self.op("}")

    def piece(self, depth):
        text = self.atom(depth)
        group, self.latest = self.latest, 0
        if self.r.random() < 0.28 and text not in ANCHORS:
            text += self.repeat()
            if self.r.random() < 0.06:
                text += self.repeat()
        elif group:
            self.named.append(group)
        return text

    def branch(self, depth):
        if self.r.random() < 0.04:
            return ""
        return "".join(self.piece(depth) for _ in range(self.r.randint(1, 4 if depth < 2 else 2)))

    def alternatives(self, depth):
        text = self.branch(depth)
        while self.r.random() < (0.18 if depth == 0 else 0.4):
            if not depth:
                self.named = []
            text += self.op("|") + self.branch(depth)
        if not depth:
            self.named = []
        return text

    def whole(self):
        text = self.alternatives(0)
        if self.r.random() < 0.1:
            text = "^" + text
        if self.r.random() < 0.1:
            text += "$"
        return text


def pattern(r, syntax, word, zero):
    if syntax == "-F":
        return "".join(r.choice("aabbc") for _ in range(r.randint(0, 3))) + r.choice(["", "", "", "é", "A", " ", "_", ".", "\\"])
    if r.random() < 0.03: # what is broken, or odd
        return  "".join(r.choice(["(", ")", "\\(", "\\)", "[", "]", "*", "+", "?", "x" if syntax == "-E" else "{", "}", "\\{", "\\}", "|", "\\|", "^", "$", "a", "b", ",", "1", "\\", "[:alpha:]", "[[:foo:]]", "\\1", "[b-a]", "[a"]) for _ in range(r.randint(1, 6)))
    text = Pattern(r, syntax == "-E", anchors=not zero).whole()
    if word: # GNU does not take the empty match for a shorter one
        text = r.choice("abc") + ("(%s)" if syntax == "-E" else "\\(%s\\)") % text
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
    count = 1 if r.random() < 0.85 else r.randint(2, 4)
    if count == 1 and r.random() < 0.9:
        words += ["-e", quoted(pattern(r, syntax, word, zero))]
    elif r.random() < 0.1:
        words += ["-f", r.choice(["p0", "p1", "p2"])]
    elif r.random() < 0.5:
        words += ["-e", quoted("\n".join(pattern(r, syntax, word, zero) for _ in range(count)))]
    else:
        for _ in range(count):
            words += ["-e", quoted(pattern(r, syntax, word, zero))]
    words += [f"f{r.randint(0, 9) if r.random() < 0.15 else r.randint(0, 7)}" for _ in range(1 if r.random() < 0.9 else r.choice([0, 2, 3]))]
    text = " ".join(words)
    if not words[-1].startswith("f"):
        text += " <f1"
    return text


def same(script, real, ours):
    # Next to bytes that are no characters glibc sees word boundaries as if they were Latin-1.
    return (" f8" in script and any(a in script for a in ("\\b", "\\B", "\\<", "\\>"))) or b"exceeded PCRE's backtracking limit" in ours[1]


main("grep", files, test, same=same)

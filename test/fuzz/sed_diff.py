#!/usr/bin/env python3
"""sed_diff: sed against GNU's on random scripts: s with its flags, addresses of all kinds, most commands, blocks and jumps.

usage: sed_diff.py LIBSHELL [--runs N] [--seed S]
"""
import re

from batch import main, quoted
from patterns import Pattern, line


def files(r):
    made = {}
    for n in range(8):
        text = "\n".join(line(r) for _ in range(r.randint(0, 14)))
        if r.random() < 0.8:
            text += "\n"
        made[f"f{n}"] = text.encode()
    made["f8"] = b"ab\xffcd\na\xc3\nabc\n\xe9\xa9b\xc3\xa9\n\xf0\x9f\x98\x80a\n\tx\x01\x7f\\\n" + b"long line " * 12 + b"\n"
    made["f9"] = b"aab\0b\nabc\0\0c\na"
    made["r0"] = b"read\nthis\n"
    made["r1"] = b"no newline"
    return made


def simple(r, extended):
    """An expression whose groups are told alike by every matcher: in a row, not repeated, and without a choice in what they take."""
    text = ""
    for _ in range(r.randint(1, 3)):
        inside = r.choice(["a", "b", ".", "ab", "[ab]", "a*", "b*", "[^a]*", "\\w*", "a.", ".*", "x*", "[[:alpha:]]", "\\s*"])
        text += ("(%s)" if extended else "\\(%s\\)") % inside + r.choice(["", "", "a", "b", " ", ".", "x*"])
    return text


class Script:
    def __init__(self, r, extended, zero):
        self.r, self.ere, self.zero, self.labels = r, extended, zero, 0

    def pattern(self, delimiter="/"):
        if self.r.random() < 0.04:
            return ""
        if self.r.random() < 0.35:
            text = "".join(self.r.choice(["a", "b", "c", ".", "^", "$", "[ab]", "a*", "\\n", "\\t", "x*", "[^a]*", "\\x61", "\\o141", "\\d97", " "]) for _ in range(self.r.randint(1, 3)))
            text = text[:1] + text[1:].replace("^", "")
            if "$" in text[:-1]:
                text = text.replace("$", "c")
        else:
            text = Pattern(self.r, self.ere, anchors=False).whole() # (an anchor in the middle is read by GNU's two matchers in two ways)
        if delimiter != "/":
            return text.replace(delimiter, "b")
        return text.replace("\\/", "c").replace("/", "\\/")

    def replacement(self):
        r = self.r
        return "".join(r.choice(["x", "&", "[&]", "\\1", "\\2", "\\&", "\\n", "\\\n", "\\U", "\\L", "\\u", "\\l", "\\E", "é", "-", "<&>", "\\0", "\\t", "\\x41", "\\x26", "", "ab", "\\\\", "É", "\\/", "\\c[", "\\o101", "\\d065"])
                       for _ in range(r.randint(0, 4)))

    def number(self, most=9):
        return str(self.r.randint(1, most))

    def address(self):
        r, kind = self.r, self.r.random()
        if kind < 0.3:
            return self.number()
        if kind < 0.4:
            return "$"
        if kind < 0.5:
            return r.choice(["0~2", "1~2", "2~3", "0~4", "3~1", "2~0", "0~1"])
        if kind < 0.56:
            delimiter = r.choice([",", "|", "#", "%"])
            return "\\" + delimiter + self.pattern(delimiter) + delimiter + r.choice(["", "I"])
        return "/" + self.pattern() + "/" + r.choice(["", "", "", "I", "" if self.zero else "M"])

    def second(self):
        r = self.r
        return r.choice([self.address(), self.address(), "+" + str(r.randint(0, 3)), "~" + str(r.randint(0, 4)), "$", str(r.randint(0, 9))])

    def addresses(self):
        r, kind = self.r, self.r.random()
        if kind < 0.4:
            return ""
        if kind < 0.7:
            text = self.address()
        elif kind < 0.74:
            text = "0,/" + self.pattern() + "/"
        else:
            text = self.address() + r.choice([",", ",", ", "]) + self.second()
        return text + r.choice(["", "", "", "", "!", " ", " !", "! "])

    def substitution(self):
        r = self.r
        delimiter = r.choice(["/", "/", "/", "|", ",", "#"])
        text = self.replacement()
        if delimiter != "/":
            text = text.replace(delimiter, "").replace("\\/", "/")
        flags = "".join(r.choice(["", "", "g", "p", self.number(3), "I", "i", *([] if self.zero else ["M", "m"]), ""]) for _ in range(r.randint(0, 3)))
        if r.random() < 0.04:
            flags += "w /dev/stdout\n"
        pattern = self.pattern(delimiter)
        if "\\1" in text or "\\2" in text:
            pattern = simple(r, self.ere)
        return "s" + delimiter + pattern + delimiter + text + delimiter + flags

    def command(self, depth):
        r, kind = self.r, self.r.randrange(40)
        if kind < 14:
            return self.substitution()
        if kind < 26:
            return r.choice(["d", "p", "D", "P", "h", "H", "g", "G", "x", "n", "N", "=", "l", "l 20", "l 1", "l 0", "z", "F", "p;p", "n;d", "$!N", "N;P;D", "G;h", "x;p;x"])
        if kind == 26:
            return r.choice(["q", "Q", "q5", "Q 3", "q 1"])
        if kind < 30:
            text = r.choice(["text", "  lead", "a\\tb", "two\\\nlines", "\\  kept", "", "é", "back\\\\slash", "\\ttab", "x\\"])
            return r.choice("aic") + r.choice(["\\\n", " ", "", "\\"]) + text + "\n"
        if kind == 30:
            return r.choice(["y/abc/xyz/", "y/aé/éa/", "y/a\\nb/x\\ty/", "y,a/b,1\\,2,", "y/ab/b/", "y/abc/ABC/", "y/a\\\\b/123/", "y/é/e/"])
        if kind == 31:
            return r.choice(["r r0\n", "r r1\n", "R r0\n", "r none\n", "w /dev/stdout\n", "W /dev/stdout\n", "R r1\n"])
        if kind == 32:
            return r.choice(["b", "t", "T", "b e", "t e", "T e", "be;", "te\n"])
        if kind < 36 and depth < 2:
            return "{" + self.commands(depth + 1) + r.choice(["}", ";}", "\n}"])
        if kind == 36:
            return r.choice(["#c\n", ";", "}", "{", "u", "k", "s/a/b", "y/a/", "a", "5", ",p", "1,", "/a", "s/a/b/gg", "s/a/b/pp", "s/a/b/0", "s/a/b/23", "s/\\(/x/", "s/a/\\1/", "1!!p", ":", "b nolabel", "r", "w", "0p", "0,5p", "+1p",
                             "1,p", "q 1 2", "p p", "dp", "v 9.0", "v x", "v 4.2", "s/a*/x/2", "//p", "s//x/", "~2p", "y/a/b/g", "2,1p", "$!{$!N}", "}p", "l x", "=x", "s/[/x/", "s/a\\{2/x/", "\\n,p", "s,a\\,b,x,", "s/x/\\", "M,p", "1,2=", "i\\", "c\\"])
        return r.choice(["s/a/x/;ta", "/b/!s/a/x/", "s/./x/3", "$d", "1d", "$!d", "1~2d", "/a/,/b/d", "2q", "s/a*/x/g", "s/x*/-/g", "s/\\n/+/g", "H;$!d;x", "1h;1!H;$!d;g", "s/b*$/E/", "s/^/> /", "s/\\(a\\)\\(b\\)*/\\2\\1/", "s/\\b/|/g", "s/$/!/mg"])

    def commands(self, depth):
        r = self.r
        text = ""
        for i in range(r.randint(1, 4) if depth == 0 else r.randint(1, 2)):
            one = self.addresses() + self.command(depth)
            text += (r.choice([";", "\n", "; ", "\n "]) if i and not text.endswith("\n") else "") + one
        return text


def test(r):
    words = ["sed"]
    extended = r.random() < 0.5
    if extended:
        words.append(r.choice(["-E", "-r"]))
    if r.random() < 0.3:
        words.append("-n")
    zero = r.random() < 0.04
    for option, chance in (("-s", 0.06), ("--posix", 0.02), ("-u", 0.02), ("-l 30", 0.02), ("--sandbox", 0.02), ("--debug", 0.08)):
        if r.random() < chance:
            words.append(option)
    if zero:
        words.append("-z")
    s = Script(r, extended, zero)
    text = s.commands(0)
    if "--posix" in words: # /dev/stdout is a file then, with a buffer of its own
        text = text.replace("/dev/stdout", "out")
    if r.random() < 0.15:
        text += ("" if text.endswith("\n") else "\n") + ":e" + r.choice(["", "\n" + s.commands(0)])
    for part in ([text] if r.random() < 0.9 else text.split("\n")):
        words += ["-e", quoted(part)]
    if r.random() < 0.05:
        words.append("-i")
    names = [f"f{r.randint(0, 9) if r.random() < 0.15 else r.randint(0, 7)}" for _ in range(1 if r.random() < 0.85 else r.choice([0, 2, 3]))]
    if "-i" in words:
        return f"cp {names[0] if names else 'f1'} t; {' '.join(words)} t | head -c 20000; st=${{PIPESTATUS[0]}}; cat t; rm t; (exit $st)"
    return " ".join(words + names) + ("" if names else " <f1") + " | head -c 20000; st=${PIPESTATUS[0]}; (exit $st)"


def same(script, real, ours):
    # Next to bytes that are no characters glibc sees word boundaries as if they were Latin-1. What is between the bytes of one is also told differently.
    return " f8" in script or b"recursive escaping" in real[1]


main("sed", files, test, same=same)

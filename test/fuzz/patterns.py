"""patterns: random BRE and ERE, and lines of text that they have to do with, for grep_diff.py and sed_diff.py."""

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
            return r.choice(["\\w", "\\W", "\\s", "\\S"] + ([] if depth else [a for a in ANCHORS if self.anchors or a not in ("^", "$")]))
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

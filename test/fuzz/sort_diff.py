#!/usr/bin/env python3
"""sort_diff: sort against GNU's on random key specifications, options and texts: whole orders, -u, -s, -m, -c.

usage: sort_diff.py LIBSHELL [--runs N] [--seed S]
"""
from batch import main, quoted

# (Two NaNs are not among them: GNU sort compares what is in their bytes.)
WORDS = ["a", "b", "B", "A", "ab", "aB", "Ab", "10", "9", "1", "-1", "1.5", "01", "1e3", "2K", "1M", "3G", "1k", "JAN", "feb", "Mar", "dec", "x", "", " ", "a b", "1.10", "1.9", "v1.2.3", "v1.10", "a.txt", "a1.txt",
         "0x1f", "inf", "-inf", "1,000", "é", "É", "_", "-", "+5", "a-b", "~", ".5", "-.5", "1.", "--1", "10.25", "1E2", "\t", "é1", "a1b2", "a01", "a1", "a001", "file.tar.gz", "file-1.0~rc1", "1Ki", "0", "-0", "00", "%", "May 3"]


def text(r, separator):
    lines = []
    few = [r.choice(WORDS) for _ in range(r.randint(2, 12))]
    for _ in range(r.randint(0, 30)):
        fields = [r.choice(few if r.random() < 0.7 else WORDS) for _ in range(r.randint(1, 4))]
        line = separator.join(fields)
        if r.random() < 0.15:
            line = r.choice([" ", "  ", "\t"]) + line
        if r.random() < 0.1:
            line += " "
        lines.append(line)
        if r.random() < 0.1:
            lines.append(r.choice(lines))
    out = "\n".join(lines)
    return out + "\n" if out and r.random() < 0.9 else out


def files(r):
    made = {f"f{n}": text(r, r.choice([" ", " ", ":", ",", "\t", "  "])).encode() for n in range(8)}
    made["f8"] = b"b\xff\na\xc3\xa9\na\xc3\n\xf0\x9f\x98\x80\nb\0a\nb\0\n\n"
    made["f9"] = text(r, " ").replace("\n", "\0").encode()
    return made


def kind(r):
    one = r.choice(["", "", "n", "n", "g", "h", "M", "V", "R"]) if r.random() < 0.97 else r.choice(["ng", "nM", "hV", "nh", "gR"])
    more = "".join(r.choice(["", "", "r", "f", "d", "i", "b"]) for _ in range(2))
    return (one if one != "R" else "") + more


def position(r, end):
    field = r.randint(1, 4)
    char = r.choice(["", "", ".1", ".2", ".3", ".9", ".0" if end else ""])
    return f"{field}{char}"


def key(r):
    spec = position(r, False) + r.choice(["", kind(r)])
    if r.random() < 0.65:
        spec += "," + position(r, True) + kind(r)
    if r.random() < 0.01:
        spec = r.choice(["0", "1.0", "1,0", "x", "1x", "1,2x", ",2", "1.", "1.2.3", "-1", "1,", "99999999999999999999", "1,99999999999999999999n", "1 ", "1n,2 "])
    return "-k" + r.choice(["", " "]) + (quoted(spec) if " " in spec else spec)


def test(r):
    words = ["sort"]
    for option, chance in (("-u", 0.2), ("-s", 0.2), ("-r", 0.15), ("-n", 0.1), ("-g", 0.06), ("-h", 0.06), ("-M", 0.05), ("-V", 0.08), ("-f", 0.1), ("-d", 0.06), ("-i", 0.04), ("-b", 0.08), ("-z", 0.03), ("-m", 0.04),
                           ("-c", 0.06), ("-C", 0.03), ("--parallel=2", 0.01), ("-S 1M", 0.01), ("--sort=numeric", 0.01), ("--sort=version", 0.01), ("--reverse", 0.01), ("--batch-size=2", 0.01), ("-o /dev/stdout", 0.01)):
        if r.random() < chance:
            words.append(option)
    if r.random() < 0.35:
        words.append("-t" + r.choice([":", ",", "' '", "b", "1", "'\\0'" if r.random() < 0.1 else ":", "ab" if r.random() < 0.05 else ",", "a", "' '"]))
    for _ in range(r.choice([0, 1, 1, 1, 2, 3])):
        words.append(key(r))
    r.shuffle(words[1:])
    count = 1 if r.random() < 0.8 else r.randint(0, 3)
    if "-c" in words or "-C" in words:
        count = 1
    names = [f"f{r.randint(0, 9) if r.random() < 0.1 else r.randint(0, 7)}" for _ in range(count)]
    return " ".join(words + names) + ("" if names else " <f1")


if __name__ == "__main__":
    import sys
    env = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
    if "--c" in sys.argv: # the C locale
        sys.argv.remove("--c")
        env["LC_ALL"] = "C"
    main("sort", files, test, env=env)

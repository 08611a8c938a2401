#!/usr/bin/env python3
"""Generators of inputs, the same on every machine: gen.py log LINES > FILE; gen.py tree FILES DIR."""
import os
import random
import sys

WORDS = ("index login search cart item api user image static help about blog news data report export import admin tag feed price order stock").split()
AGENTS = ("Mozilla/5.0 (X11; Linux x86_64)", "curl/7.88.1", "Googlebot/2.1 (+http://www.google.com/bot.html)", "Mozilla/5.0 (Windows NT 10.0)")
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def log(lines, out):
    r = random.Random(7)
    for i in range(lines):
        ip = "%d.%d.%d.%d" % (r.randint(1, 30), r.randint(0, 255), r.randint(0, 255), r.randint(1, 254))
        path = "/" + "/".join(r.choice(WORDS) for _ in range(r.randint(1, 3))) + r.choice(["", ".html", ".png", "?q=" + r.choice(WORDS), "/%d" % r.randint(1, 9999)])
        status = r.choice([200] * 12 + [301, 302, 304, 404, 404, 500, 503])
        out.write('%s - %s [%02d/%s/2026:%02d:%02d:%02d +0000] "%s %s HTTP/1.1" %d %d "%s" "%s"\n' % (
            ip, r.choice(["-", "-", "ann", "bob"]), i % 28 + 1, MONTHS[i // 28 % 12], r.randint(0, 23), r.randint(0, 59), r.randint(0, 59),
            r.choice(["GET", "GET", "GET", "POST", "HEAD"]), path, status, r.randint(0, 99999), r.choice(["-", "http://example.com/" + r.choice(WORDS)]), r.choice(AGENTS)))


def tree(files, root):
    r = random.Random(11)
    kinds = [".c", ".h", ".py", ".txt", ".md", ".json", ".sh"]
    for i in range(files):
        folder = os.path.join(root, "mod%02d" % (i % 37), "sub%d" % (i % 5)) if i % 3 else os.path.join(root, "mod%02d" % (i % 37))
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, r.choice(WORDS) + str(i) + r.choice(kinds)), "w", encoding="utf-8", newline="\n") as f:
            for n in range(r.randint(3, 60)):
                line = " ".join(r.choice(WORDS) for _ in range(r.randint(0, 9)))
                f.write(r.choice(["", "    ", "\t"]) + line + r.choice(["", ";", " // TODO: " + r.choice(WORDS), " /* é ü */", ""]) + "\n")


def main():
    if sys.argv[1] == "log":
        log(int(sys.argv[2]), sys.stdout)
    else:
        tree(int(sys.argv[2]), sys.argv[3])


main()

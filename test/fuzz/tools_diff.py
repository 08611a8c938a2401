#!/usr/bin/env python3
"""tools_diff: the smaller tools against the originals on random options, values and files: what each prints, its messages and its status,
and for those that change files, what is there afterwards.

usage: tools_diff.py LIBSHELL [--runs N] [--seed S] [--only NAME]
"""
import sys

from batch import main, quoted

NUMBERS = ["0", "1", "2", "3", "5", "7", "8", "10", "16", "20", "100", "-1", "+2", "1k", "1K", "2b", "1M", "x", "", "1.5", "0x10", "010", "99999999999999999999", "-3", "1-", "3,5"]
SMALL = ["0", "1", "2", "3", "4", "5", "7", "8", "9", "12", "20", "30"]
LISTS = ["1", "2", "1,3", "2-", "-3", "1-2,4", "3-1", "0", "5,1", "1,", "-", "", "1--2", "x", "2-4,3-6", "1,1", "10-", "1-3,2", "1 3", "99999999999999999999-"]
CHARS = [",", ":", " ", "\\t", "a", "", "ab", "\\n", "\\0", "é", ";"]
FORMATS = ["%g", "%f", "%e", "%.2f", "%05.1f", "%5g", "%-5gx", "%a", "%d", "%", "%%", "a%gb", "%g%g", "%10.3e", "%+g", "% g", "%'g", "%#g", "%s", "x", "%G", "%E", "%5.f"]
TEXT_FILES = ["a", "b", "c", "d", "e", "t", "w", "n", "z", "u", "empty", "long", "bin", "s1", "s2", "nosuch", "-"]


def files(r):
    words = ["apple", "Banana", "cherry", "10", "9", "a b", "x,y,z", "é ü", "", " lead", "tab\there", "1,2,3", "a:b:c:d", "trail ", "A", "a", "-5", "3.25", "foo.", "Bar!"]
    lines = lambda n: "".join(r.choice(words) + "\n" for _ in range(n))
    made = {"a": lines(r.randint(1, 8)), "b": lines(r.randint(1, 30)), "c": lines(5)[:-1], "d": "".join(f"{r.randint(0, 9)} {r.choice(words)} {r.randint(0, 99)}\n" for _ in range(8)),
            "e": "a:1:x\nb:2:y\nc:3:z\nb:4\n::\n", "t": "a\tb\tc\n\tx\ty\n1\t\t3\n", "w": "The quick brown fox.  Jumps over\nthe lazy dog\n\n  an indented paragraph that goes on for quite a while and then some more words\n  its second line\n",
            "n": "".join(f"{r.randint(-1000, 100000)}\n" for _ in range(10)), "u": "a\na\nb\nA\nB\nb\n\n\nc\n", "long": "x" * 200 + "\n" + "word " * 60 + "\n", "empty": "",
            "s1": "a\nb\nc\ne\ng\n", "s2": "b\nc\nd\nf\ng\ng\n", "z": "one\0two\0three\0"}
    made = {k: v.encode() for k, v in made.items()}
    made["bin"] = bytes(r.randrange(256) for _ in range(r.randint(1, 80)))
    return made


# name: (options with values, operands, least, most)
N, S, L, C, F = NUMBERS, SMALL, LISTS, CHARS, FORMATS
TEXT = {
    "cat": (["-A", "-b", "-e", "-E", "-n", "-s", "-t", "-T", "-u", "-v"], 1, 3),
    "head": ([("-n", N), ("-c", N), "-q", "-v", "-z", "-3", "-5c"], 1, 2),
    "tail": ([("-n", N), ("-c", N), "-q", "-v", "-z", "-3", "+2", ("-n", ["+1", "+3", "-2", "+0"])], 1, 2),
    "cut": ([("-f", L), ("-b", L), ("-c", L), ("-d", C), "-s", "--complement", "-z", "-n", ("--output-delimiter=", C)], 1, 2),
    "paste": ([("-d", C + [",:", "\\\\", "\\x"]), "-s", "-z"], 1, 3),
    "comm": (["-1", "-2", "-3", "--check-order", "--nocheck-order", ("--output-delimiter=", C), "--total", "-z"], 2, 2),
    "join": ([("-1", S), ("-2", S), ("-j", S), ("-t", C), ("-a", ["1", "2", "3"]), ("-v", ["1", "2"]), ("-e", ["X", ""]), ("-o", ["0", "1.1", "1.1,2.2", "auto", "0,1.2,2.1", "3.1"]), "-i", "--header", "--nocheck-order", "--check-order", "-z"], 2, 2),
    "nl": ([("-b", ["a", "t", "n", "pB", "x"]), ("-n", ["ln", "rn", "rz", "xx"]), ("-w", S), ("-v", N), ("-i", N), ("-s", C), ("-l", S), "-p", ("-d", ["::", "x", ""]), ("-h", ["a"]), ("-f", ["t"])], 1, 2),
    "od": ([("-A", ["d", "o", "x", "n", "q"]), ("-t", ["x1", "o2", "d4", "c", "a", "u1z", "f4", "fD", "x1c", "d3", "z", "dL", "xS", "x8", "o1 "]), ("-j", N), ("-N", N), ("-w", S + ["3", "6"]), "-v", "-c", "-x", "-b", "-d", "-o", "-i", ("-S", S), "--endian=big"], 1, 2),
    "hexdump": (["-C", "-b", "-c", "-d", "-o", "-x", "-v", ("-n", S), ("-s", S), ("-e", ["'4/1 \"%02x \" \"\\n\"'", "'\"%_ax \" 8/1 \"%_p\" \"\\n\"'", "'1/2 \"%d\\n\"'"])], 1, 2),
    "xxd": ([("-c", S), ("-g", S), ("-l", S), ("-s", S), "-b", "-i", "-p", "-u", "-e", "-a", ("-o", S), "-C", "-E"], 1, 1),
    "wc": (["-l", "-w", "-c", "-m", "-L", "--total=always", "--total=never", "--total=only"], 1, 3),
    "uniq": (["-c", "-d", "-D", "-u", "-i", "-z", ("-f", S), ("-s", S), ("-w", S), "--group", "--all-repeated=prepend", "--group=both", "--all-repeated=separate"], 1, 1),
    "fold": ([("-w", S), "-b", "-s", "-4"], 1, 2),
    "fmt": ([("-w", S + ["40", "75"]), "-c", "-t", "-s", "-u", ("-g", S), ("-p", ["  ", "a", "#"]), "-20"], 1, 2),
    "expand": ([("-t", S + ["2,4", "1,+5", "3,/4", "4 8", "x", "8,2"]), "-i", "-3", "--tabs=4"], 1, 2),
    "unexpand": ([("-t", S + ["2,4", "x"]), "-a", "--first-only"], 1, 2),
    "tac": (["-b", "-r", ("-s", ["b", "\\n", "[ab]", "", "a\\nb"])], 1, 2),
    "rev": ([], 1, 2),
    "tsort": ([], 1, 1),
    "look": (["-d", "-f", ("-t", ["e", "p"])], 2, 2),
    "column": (["-t", ("-s", C), ("-o", ["|", " ", ""]), ("-c", S + ["80", "40"]), "-x", "-n", ("-N", ["A,B", "X", "A,B,C,D"]), ("-R", ["1", "2", "B", "0", "-1"]), ("-H", ["1", "2"]), "-e", "-J", "-d", ("-l", S), ("-O", ["2,1", "1"]), ("-T", ["1"]), ("-E", ["2"]), ("-W", ["2"]), "-L"], 1, 2),
    "base64": (["-d", "-i", ("-w", S + ["76"])], 1, 1),
    "base32": (["-d", "-i", ("-w", S)], 1, 1),
    "basenc": (["-d", "-i", ("-w", S), "--base64", "--base64url", "--base32", "--base32hex", "--base16", "--base2msbf", "--base2lsbf", "--z85"], 1, 1),
    "cksum": ([("-a", ["md5", "sha1", "sha256", "sha512", "blake2b", "sysv", "bsd", "crc", "sm3", "x"]), "--untagged", "--tag", "-l 128", "-z"], 1, 2),
    "sum": (["-r", "-s"], 1, 2),
    "md5sum": (["-b", "-t", "--tag", "-z", "-c", "--status", "--quiet", "--strict", "-w", "--ignore-missing"], 1, 2),
    "b2sum": ([("-l", S + ["16", "64", "512"]), "--tag", "-z", "-b"], 1, 2),
    "strings": ([("-n", S), ("-t", ["d", "o", "x", "q"]), "-a", "-f", "-o", ("-e", ["s", "S", "b", "l"]), "-w", "-3"], 1, 2),
    "pr": (["-t", "-2", "-3", "-a", "-d", "-n", "-m", ("-l", ["10", "20", "5", "66"]), ("-w", ["20", "40", "72"]), ("-h", ["head", ""]), ("-o", S), ("-s", C), ("-S", [":", ""]), ("-e", S), ("-i", S), "-F", "-T", "-J", "+2", ("-N", S), "-r", "-v"], 1, 2),
    "numfmt": ([("--to=", ["si", "iec", "iec-i", "none", "x"]), ("--from=", ["si", "iec", "auto", "none"]), ("--field", ["1", "2", "1-2", "-", "x"]), ("-d", C), ("--suffix", ["B", ""]), ("--padding", ["5", "-8", "0", "20"]), ("--format", ["%f", "%.2f", "%10f", "%'f", "%d", "x%fy", "%-8fz", "%08f"]), "--header", "--header=2", ("--invalid", ["fail", "warn", "ignore", "abort"]), ("--round", ["up", "down", "nearest", "from-zero", "towards-zero"]), ("--from-unit", S), ("--to-unit", S), "--grouping", "-z"], 0, 0),
    "csplit": (["-s", "-k", "-z", ("-f", ["y", "zz"]), ("-n", S), ("-b", ["%02x", "%d.q", "%s", "x"])], 1, 1),
    "split": (["-d", "-x", ("-a", S), ("-b", S + ["20", "1k"]), ("-l", S), ("-n", ["2", "l/3", "r/2", "1/2", "l/1/2", "r/1/3", "0", "x"]), ("-C", ["20", "5"]), "-e", ("-t", [",", "a", "ab"]), ("--additional-suffix", [".x", "a/b"]), "--numeric-suffixes=5", "--verbose"], 1, 1),
}
PLAIN = {
    "seq": ([("-f", F), ("-s", C), "-w"], ["0", "1", "5", "10", "-3", "0.5", "1e1", "2.50", "x", "", "3", "-0", "1.1", "08", "inf", "nan"], 0, 4),
    "factor": (["-h"], ["0", "1", "2", "12", "97", "-5", "x", "18446744073709551615", "340282366920938463463374607431768211456", "+7", " 8", "1e3", ""], 0, 3),
    "expr": ([], ["1", "2", "+", "-", "*", "/", "%", "(", ")", "=", "<", ">=", "|", "&", ":", "abc", "a.*", "\\(b\\)", "length", "substr", "index", "match", "", "0", "-5", "x", "99999999999999999999"], 0, 6),
    "basename": (["-a", ("-s", [".c", "", "x"]), "-z"], ["a/b.c", "/", "//", "a/", "", "b.c", ".c", "/x/y/", ".."], 0, 3),
    "dirname": (["-z"], ["a/b.c", "/", "//", "a/", "", "b", "/x/y/", "..", "a//b//", "--"], 0, 3),
    "printf": ([], ["%s\\n", "%d\\n", "%5s|%-5s|", "%x %o %X\\n", "%c", "%e\\n", "%q\\n", "%b\\n", "\\x41\\101\\u00e9", "%%", "%", "%z", "%.3d\\n", "%*d\\n", "a b", "1", "-7", "0x1f", "077", "'a", "\\n", "", "1.5", "x", "%5.2f\\n", "%i %u\\n"], 0, 5),
    "test": ([], ["-e", "-f", "-d", "-s", "-r", "-n", "-z", "!", "a", "b", "=", "!=", "-eq", "-lt", "-a", "-o", "(", ")", "", "1", "2", "nosuch", "empty", "-nt", "-ef", "<", "x"], 0, 5),
    "date": ([("-d", ["@0", "2024-02-29", "2024-02-29 12:34:56", "1 jan 2020", "2020-01-01 +1 month", "2021-03-04T05:06:07Z", "20240102 0304", "2020-12-31 23:59:60", "12/25/2021", "2022-01-31 1 month", "last monday 2020-01-01", "2020-02-30", "x", "", "2020-01-01 EST", "2020-W05", "@1.5", "2020-01-01 -3 days", "5pm 2020-01-01", "2020-01-01 00:00 +0530", "1970-01-01 UTC + 86400 seconds", "Thu, 01 Jan 1970 00:00:10 +0000", "2024-01-01 next friday", "2024-01-01 2 weeks ago", "2024-01-01 12:00 tomorrow"]), "-u", ("-I", ["", "s", "ns", "minutes", "x"]), "-R", ("--rfc-3339=", ["date", "seconds", "ns", "x"])],
             ["+%F %T", "+%s", "+%a %b %e", "+%j %U %V %W", "+%Y%m%dT%H%M%S", "+%-d %_d %^a %#Z", "+%N %3N", "+%::z %:z %z", "+%c", "+%x %X", "+%p %I %l", "+%G %g %C %y", "+%10Y %05d", "+%q%Z", "+%", "+%%", "+%E", "x"], 0, 1),
    "numfmt": (TEXT["numfmt"][0], ["1000", "1K", "1.5M", "1024", "-5", "x", "1Ki", "999999", "0.1", "123456789", "1 2", "5B", "", "1e3", "1G"], 1, 3),
    "readlink": (["-f", "-e", "-m", "-n", "-q", "-s", "-v", "-z"], ["l", "a", "nosuch", "dl", "loop", "dl/x", "a/", "", ".", "dir/../a", "nosuch/x", "l/"], 0, 3),
    "realpath": (["-e", "-m", "-L", "-P", "-q", "-s", "-z", ("--relative-to=", ["dir", ".", "nosuch", "/"]), ("--relative-base=", ["dir", "."])], ["l", "a", "nosuch", "dl", "loop", "dl/x", "a/", "", ".", "dir/../a", "nosuch/x"], 1, 3),
    "stat": ([("-c", ["%n %s", "%a %A %F", "%h %N", "%s%%%n", "%5s|%-5s|%05s", "%x", "%q", "%", "%f", "%u %g", "%.3s"]), ("--printf=", ["%n\\n", "%s\\t%n\\n", "\\x41\\n", "%a"]), "-L"], ["a", "l", "dir", "nosuch", "dl", "empty"], 1, 3),
    "du": (["-a", "-s", "-c", "--apparent-size", "-b", ("-d", S), "-S", "-l", "-0", "-h", "-k", ("--exclude=", ["x*", "dir"]), "--inodes", ("-t", ["1", "-1", "5k"])], ["dir", "a", ".", "nosuch", "dl"], 0, 2),
    "ls": (["-a", "-A", "-1", "-C", "-x", "-m", "-F", "-p", "-r", "-R", "-S", "-d", "-Q", "-b", "-q", "-N", "-L", "-H", "-s", "-v", "-X", "-U", "--group-directories-first", ("-w", S + ["40"]), ("-I", ["a*", "*"]), ("--quoting-style=", ["c", "shell", "shell-escape", "escape", "literal", "x"]), "--zero", "--color=always", "--file-type", "-k", "-h", "-T3"], ["a", "dir", ".", "nosuch", "l", "dl", "empty", "loop"], 0, 3),
}
MUTATE = {
    "cp": (["-r", "-a", "-p", "-f", "-n", "-u", "-l", "-s", "-L", "-P", "-H", "-d", "-v", "-T", "-b", "--parents", "-x", ("-t", ["dir", "nosuch"]), ("-S", [".bak"]), "--attributes-only", "--remove-destination", "--strip-trailing-slashes", "--backup=numbered"], 1, 3),
    "mv": (["-f", "-n", "-u", "-v", "-T", "-b", ("-t", ["dir", "nosuch"]), ("-S", ["~~"]), "--backup=numbered", "--strip-trailing-slashes"], 1, 3),
    "ln": (["-s", "-f", "-n", "-v", "-T", "-r", "-b", "-L", "-P", "-i", ("-t", ["dir", "nosuch"]), ("-S", [".o"])], 1, 3),
    "rm": (["-r", "-f", "-d", "-v", "-R", "--one-file-system", "--preserve-root", "-I"], 1, 3),
    "mkdir": (["-p", "-v", ("-m", ["700", "u=rwx", "a-w", "x", "1777", "+t"])], 1, 3),
    "rmdir": (["-p", "-v", "--ignore-fail-on-non-empty"], 1, 3),
    "touch": (["-c", "-a", "-m", "-h", ("-d", ["@0", "2020-01-01"]), ("-r", ["a", "nosuch"]), ("-t", ["202001010000", "x", "202001010000.30"])], 1, 3),
    "chmod": (["-v", "-c", "-f", "-R"], 2, 4),
    "truncate": ([("-s", ["0", "5", "+3", "-2", "<4", ">6", "%4", "/4", "x", "1K"]), "-c", ("-r", ["a", "nosuch"]), "-o"], 1, 2),
    "install": (["-d", "-D", "-p", "-v", "-b", "-T", "-C", ("-m", ["600", "x"]), ("-t", ["dir", "new"])], 1, 3),
    "link": ([], 1, 3), "unlink": ([], 1, 2), "sync": (["-d", "-f"], 0, 2),
    "shred": (["-u", "-n1", "-z", "-x"], 1, 1),
    "mktemp": (["-u", "-d", "-q"], 1, 1),
    "tee": (["-a", "-i", "-p"], 0, 2),
    "dd": ([], 1, 5),
}
NAMES = ["a", "b", "c", "dir", "dir/x", "dir/sub", "nosuch", "l", "dl", "new", "dir/new", "empty", "ro", "a/", "dir/", "new/", ".", "", "loop"]
SETUP = "chmod -R u+rwx t 2>/dev/null; rm -rf t; mkdir -p t/dir/sub t/ro; cd t; cp ../a ../b ../c ../empty .; cp a dir/x; echo q >dir/sub/q; ln -s a l; ln -s dir dl; ln -s loop loop; touch -d @1000 a dir/x; chmod 640 b"
AFTER = "find . -printf '%P %y %m %s %n %l\\n' | sed 's/^\\([^ ]*\\) d \\([0-9]*\\) [0-9]* [0-9]*/\\1 d \\2/' | sort; cat a b c new 2>/dev/null | cksum"
DD = ["if=a", "if=b", "of=new", "of=a", "bs=3", "bs=1k", "ibs=2", "obs=5", "count=2", "count=0", "skip=1", "seek=2", "conv=ucase", "conv=notrunc", "conv=swab", "conv=sync", "conv=block", "cbs=4", "conv=unblock", "conv=excl", "status=none", "status=noxfer", "iflag=count_bytes", "count=x", "bs=0", "conv=lcase,notrunc", "oflag=append", "iflag=skip_bytes", "x", "if=nosuch"]


def options(r, table):
    words = []
    for _ in range(r.choice([0, 1, 1, 1, 2, 2, 3, 4]) if table else 0):
        o = r.choice(table)
        if isinstance(o, str):
            words.append(o)
        elif o[0].endswith("="):
            words.append(o[0] + quoted(r.choice(o[1])))
        else:
            words.append(o[0] + r.choice(["", " "] if not o[0].startswith("--") else [" ", "="]) + quoted(r.choice(o[1])))
    return words


def operands(r, choices, least, most):
    return [quoted(r.choice(choices)) for _ in range(r.randint(least, most))]


def modes(r):
    return quoted(r.choice(["644", "u+x", "a=r", "go-w", "u=rwX,g=u", "x", "+x", "-w", "4755", "o+t", "u+s", "g=", "a+rX", "77777", "u-,o+r", "="]))


def test_of(name, r):
    if name in TEXT and not (name in PLAIN and r.random() < 0.8):
        table, least, most = TEXT[name]
        words = [name] + options(r, table)
        names = operands(r, TEXT_FILES, least, most)
        if name == "look":
            names = [r.choice(["a", "b", "A", "x", "''"]), r.choice(["s1", "s2", "u", "nosuch"])]
        if name == "csplit":
            names.append(r.choice(["3", "/b/", "'%b%'", "'{2}'", "2 '{*}'", "/a/+1", "/./ '{1}'", "0", "x", "99"]))
        line = " ".join(words + names) + (" <a" if r.random() < 0.5 else " <n")
        if name in ("split", "csplit"):
            return f"rm -rf t; mkdir t; (cd t; cp ../a ../b ../c ../d ../e ../t ../w ../n ../z ../u ../empty ../long ../bin ../s1 ../s2 .; mkdir o; {line}; st=$?; for f in x* y* z[0-9z]*; do [ -f $f ] && {{ echo == $f; cat $f; }}; done; exit $st)"
        return line
    if name in PLAIN:
        table, choices, least, most = PLAIN[name]
        line = " ".join([name] + (["-d '2021-07-04 15:06:07.123456789'"] if name == "date" else []) + options(r, table) + operands(r, choices, least, most))
        if name == "du": # in the order of the directory
            return f"({SETUP}; {line}) 2>&1 | sort"
        if name in ("readlink", "realpath", "stat", "du", "ls"):
            return f"({SETUP}; {line.replace('%x', '%n')}) 2>&1 | sed \"s,$PWD,/W,g\""
        return line + (" <n" if name == "numfmt" else "")
    table, least, most = MUTATE[name]
    names = operands(r, DD, least, most) if name == "dd" else operands(r, NAMES, least, most)
    if name == "chmod":
        names[0] = modes(r)
    if name == "mktemp":
        names = [r.choice(["XX", "fooXXXX", "dir/XXX", "nosuch/XXX", "aXXXb", "--suffix=.c fXXX", "-p dir XXX"])]
        return f"({SETUP}; {' '.join([name] + options(r, table) + names)} | sed 's/[A-Za-z0-9]*$//' | wc -l)"
    line = " ".join([name] + options(r, table) + names)
    if name == "dd":
        line = f"{{ {line}; }} 2>&1 <../d | grep -av copied" # how fast it was
    return f"({SETUP}; umask 022; {{ {line} <../d; echo status $?; }} 2>&1 | sort; {AFTER})"


NAMES_OF_ALL = sorted(set(TEXT) | set(PLAIN) | set(MUTATE))
only = None


def test(r):
    return test_of(only or r.choice(NAMES_OF_ALL), r)


if __name__ == "__main__":
    if "--only" in sys.argv:
        at = sys.argv.index("--only")
        only = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    main("tools", files, test)

#!/usr/bin/env python3
"""Random scripts, each run by bash and by libshell; what differs is made as small as it goes and printed.

usage: lang_diff.py [--seed N] [--count N] [--seconds N] [--runner PATH] [--keep FILE.case]

A script is grown from a grammar by a seeded generator: seed N always gives the same script, so a finding is repeated by its seed.
bash runs each script as the recorder of test/cases does (user agent, an empty /home/agent, a bare environment); libshell runs a whole
batch in test/cases/runner, whose case files carry what bash said. Must run as root. --keep appends the shrunk scripts as cases; --jobs N runs N generators side by side, each with seeds of its own.
"""
import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOME = "/home/agent"
ENV = {
    "HOME": HOME, "USER": "agent", "LOGNAME": "agent", "SHELL": "/bin/bash", "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC",
}
BATCH = 150


class Script:
    """One random script."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.functions = []
        self.depth = 0
        self.loops = 0

    def pick(self, *choices):
        return self.r.choice(choices)

    def chance(self, p):
        return self.r.random() < p

    # ---- words ----

    def name(self):
        return self.pick("x", "y", "z", "s", "n")

    def plain(self):
        return self.pick("a", "b", "foo", "abc", "1", "2", "10", "a.b", "x=y", "-n", "é", "A", "foo.txt", "aXbXc", "0", "-1", "a:b:c", "/u/v/w.c")

    def pattern(self):
        return self.pick("*", "?", "a*", "*b", "[a-c]", "[!a]", "?(a)b", "@(a|b)", "+([a-z])", "!(a)", "*.*", "[[:digit:]]", "\\*", '"*"', "X", "*/", "/*",
                         "${y}", '"$y"', "[^0-9]*", "a", "''", "*(b|c)")

    def arith(self, depth=0):
        if depth > 2 or self.chance(0.4):
            return self.pick("x", "n", "$n", "1", "2", "3", "10", "0x1f", "010", "${#x}", "a[1]", "-1", "7", "$#", "${n:-4}", "m[k]", "i")
        op = self.pick("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", "<", ">", "<=", ">=", "==", "!=", ",", "**")
        kind = self.r.randrange(10)
        if kind == 0:
            return "(%s)" % self.arith(depth + 1)
        if kind == 1:
            return "%s ? %s : %s" % (self.arith(depth + 1), self.arith(depth + 1), self.arith(depth + 1))
        if kind == 2:
            return "%s%s" % (self.pick("!", "~", "-", "+"), self.arith(depth + 1))
        if kind == 3:
            return self.pick("n++", "++n", "n--", "n+=2", "n=5", "a[2]=7", "x=n", "n*=3", "m[k]+=1")
        if op in ("<<", ">>", "**"):
            return "%s %s %s" % (self.arith(depth + 1), op, self.pick("1", "2", "3"))
        return "%s %s %s" % (self.arith(depth + 1), op, self.arith(depth + 1))

    def subject(self):
        return self.pick("x", "y", "z", "s", "n", "1", "2", "@", "*", "a[0]", "a[1]", "a[-1]", "a[@]", "a[*]", "m[k]", "m[@]", "u", "#", "?", "a", "10", "a[5]", "!p")

    def param(self, depth):
        s = self.subject()
        kind = self.r.randrange(16)
        word = self.word(depth + 1) if depth < 2 else self.plain()
        if kind < 4:
            return "${%s}" % s
        if kind < 6 and s not in ("#", "?"):
            return "${%s%s%s}" % (s, self.pick(":-", "-", ":+", "+"), word)
        if kind == 6 and s not in ("!p", "#", "?"):
            return "${#%s}" % s
        if kind == 7:
            return "${%s:%s}" % (s, self.pick("1", " -1", "0:1", "1:2", " -2:1", "n", "1:n", "2:-1", "0"))
        if kind == 8:
            return "${%s%s%s}" % (s, self.pick("#", "##", "%", "%%"), self.pattern())
        if kind == 9:
            return "${%s%s%s/%s}" % (s, self.pick("/", "//", "/#", "/%"), self.pattern().replace("/", "\\/"), self.pick("", "X", "&", "[&]", "\\&", "a b", "$y", '"$y"', "\\\\"))
        if kind == 10:
            return "${%s%s%s}" % (s, self.pick("^", "^^", ",", ",,"), self.pick("", "", "a", "[a-c]"))
        if kind == 11 and s not in ("#", "?"):
            return "${%s@%s}" % (s, self.pick("Q", "U", "u", "L", "E", "a", "K", "k", "A"))
        if kind == 12:
            return self.pick("${!p}", "${!a[@]}", "${!m[@]}", "${!x*}", "$#", "$?", "$-", "$*", "$@", "${!#}")
        return "$" + self.pick("x", "y", "z", "s", "n", "1", "2", "@", "*", "#", "a", "u")

    def expansion(self, depth):
        kind = self.r.randrange(10)
        if kind < 6 or depth > 2:
            return self.param(depth)
        if kind < 8:
            return "$((%s))" % self.arith()
        if kind == 8:
            return "$(%s)" % self.simple(depth + 1)
        return "`echo %s`" % self.plain()

    def word(self, depth=0):
        kind = self.r.randrange(14)
        if kind < 4:
            return self.plain()
        if kind < 6:
            return self.expansion(depth)
        if kind < 9:
            return '"%s"' % "".join(self.pick(self.plain(), self.expansion(depth), " ", "\\$", "'") for _ in range(self.r.randrange(1, 4)))
        if kind == 9:
            return "'%s'" % self.pick("a b", "$x", "", "*", "\\", '"')
        if kind == 10:
            return self.pick("$'a\\tb'", "$'\\x41\\n'", "\\a", "a\\ b", "~", "~/x", "''", '""', "\\*", "$'\\''")
        if kind == 11:
            return self.pick("{a,b}", "{1..3}", "x{,y}z", "{a..c}", "{3..1}", "{01..03}", "{$x,b}", "a{b,c}{d,e}", "{1..6..2}", "{a}", "{a,b")
        if kind == 12:
            return self.pick("*", "f?", "f*", "[ef]*", "d/*", "nomatch*", "*.txt", "f[12]")
        return self.plain() + self.expansion(depth)

    def words(self, most=3):
        return " ".join(self.word() for _ in range(self.r.randrange(0, most + 1)))

    # ---- commands ----

    def simple(self, depth=0):
        kind = self.r.randrange(26)
        if kind < 6:
            return "echo %s" % self.words()
        if kind < 10:
            return "printf '<%%s>' %s; echo" % self.words()
        if kind == 10:
            return self.pick(":", "true", "false", "(exit 3)")
        if kind == 11 and self.functions:
            return "%s %s" % (self.r.choice(self.functions), self.words(2))
        if kind == 12:
            return "set -- %s" % (self.words() or "a")
        if kind == 13:
            return self.pick("shift", "shift 2", "unset x", "unset 'a[1]'", "unset 'm[k]'", "unset y z", "unset a", "IFS=:", "IFS=' '", "unset IFS", "IFS=", "IFS=,x",
                             "shopt -s nullglob", "shopt -u nullglob", "shopt -s extglob", "set -f", "set +f", "shopt -s nocasematch", "cd d", "cd ..", "set -o pipefail")
        if kind == 14:
            return "read -r x y <<< %s" % self.word(1)
        if kind == 15:
            return "[ %s ]" % self.test()
        if kind == 16:
            return "[[ %s ]]" % self.cond()
        if kind == 17:
            return "((%s))" % self.arith()
        if kind == 18:
            return "declare -p %s" % self.pick("x", "a", "m", "n", "s", "y", "u")
        if kind == 19:
            return "eval %s" % self.pick("'echo $x'", '"echo $x"', "'x=$y'", "'echo \"$@\"'", "echo '$((n))'")
        if kind == 20:
            return "%s=%s %s" % (self.name(), self.word(1), self.pick("echo $x", "eval 'echo $x'", "true", "printenv x", "bash -c 'echo $x$y'", ":"))
        if kind == 21:
            return "let 'n=%s'; echo $n" % self.arith()
        if kind == 22:
            return "printf %s %s" % (self.pick("'%s-%s\\n'", "'%5s|\\n'", "'%d\\n'", "'%q\\n'", "'%b\\n'", "'%x %o\\n'", "'%.2s|\\n'", "'%-4s|\\n'", "'%c\\n'"), self.words(3))
        if kind == 23:
            return "mapfile -t a < <(printf '%%s\\n' %s)" % self.words(3)
        if kind == 24:
            return "local x=%s" % self.word(1) if self.depth_in_function else "export x=%s" % self.word(1)
        return self.assignment()

    depth_in_function = False

    def assignment(self):
        kind = self.r.randrange(12)
        if kind < 5:
            return "%s=%s" % (self.name(), self.word(1))
        if kind == 5:
            return "%s+=%s" % (self.name(), self.word(1))
        if kind == 6:
            return "a=(%s)" % self.words(4)
        if kind == 7:
            return "a[%s]=%s" % (self.pick("0", "1", "5", "n", "-1", "${#a[@]}"), self.word(1))
        if kind == 8:
            return "a+=(%s)" % self.words(2)
        if kind == 9:
            return "m[%s]=%s" % (self.pick("k", "$x", "a b", "'q'", "1"), self.word(1))
        if kind == 10:
            return "declare %s%s=%s" % (self.pick("", "-i ", "-u ", "-l ", "-x "), self.pick("s", "n"), self.word(1))
        return "n=$((%s))" % self.arith()

    def test(self):
        kind = self.r.randrange(5)
        if kind == 0:
            return "%s %s %s" % (self.word(2), self.pick("=", "!=", "==", "\\<"), self.word(2))
        if kind == 1:
            return "%s %s" % (self.pick("-n", "-z", "!", "-e", "-f", "-d"), self.word(2))
        if kind == 2:
            return '"$n" %s %s' % (self.pick("-eq", "-lt", "-gt", "-ne"), self.pick("1", "$#", "x", "3"))
        if kind == 3:
            return '"$x" = a -o -n "$y"'
        return self.word(2)

    def cond(self, depth=0):
        kind = self.r.randrange(9)
        if kind == 0 and depth < 2:
            return "%s %s %s" % (self.cond(depth + 1), self.pick("&&", "||"), self.cond(depth + 1))
        if kind == 1 and depth < 2:
            return "! %s" % self.cond(depth + 1)
        if kind == 2:
            return "%s =~ %s" % (self.param(1), self.pick("^a", "b+", "(a)(b)?", "[0-9]+", "^$", "a.c", "x|y", "$y", '"$y"', "\\.", "^[[:alpha:]]+$"))
        if kind < 5:
            return "%s %s %s" % (self.param(1), self.pick("==", "!=", "="), self.pattern())
        if kind == 5:
            return "%s -%s %s" % (self.pick("n", "$n", "1", "x"), self.pick("eq", "lt", "ge", "ne"), self.pick("1", "n", "$#"))
        if kind == 6:
            return "-%s %s" % (self.pick("n", "z", "e", "d", "v"), self.pick("x", "$x", '"$y"', "a", "d"))
        return "%s %s %s" % (self.param(1), self.pick("<", ">"), self.plain())

    def redirected(self, text):
        return "%s %s" % (text, self.pick("> f1", ">> f1", "2>&1", "2>/dev/null", "< f2", ">&2", "< nope", "<<< %s" % self.word(1), "3>&1 >&3", "&> f1", "> \"$x\""))

    def pipeline(self):
        tool = self.pick("cat", "tr a-z A-Z", "sort", "wc -l", "head -n 2", "cut -c1-3", "grep a", "cat -n", "sort -r", "uniq", "tail -n 1",
                         "while read -r l; do echo \"[$l]\"; done", "{ read x; echo \"$x\"; cat; }", "(cat; echo end)")
        return "%s | %s" % (self.group(), tool)

    def group(self):
        body = "; ".join(self.simple() for _ in range(self.r.randrange(1, 3)))
        return self.pick("{ %s; }", "( %s )", "{ %s; }") % body

    def heredoc(self):
        lines = [self.pick("text $x", "${y:-d} \"q\"", "$((n+1)) \\$x", "`echo bq`", "plain", "  ind ${a[@]}", "'$s'", "\\\\ \\a", "$(echo cs)") for _ in range(self.r.randrange(1, 4))]
        return "%s <<%s\n%s\nE" % (self.pick("cat", "while read -r l; do echo \"<$l>\"; done", "cat -n"), self.pick("E", "'E'", "\\E"), "\n".join(lines))

    def body(self, lines=2):
        return "\n".join(self.statement() for _ in range(self.r.randrange(1, lines + 1)))

    def compound(self):
        kind = self.r.randrange(11)
        if kind == 0:
            return "if %s; then\n%s\n%sfi" % (self.simple(), self.body(), "else\n%s\n" % self.body() if self.chance(0.5) else "")
        if kind == 1:
            self.loops += 1
            v = self.pick("x", "i", "y")
            text = "for %s in %s; do\n%s\n%sdone" % (v, self.words(3), self.body(), self.pick("", "", "[ \"$%s\" = b ] && break\n" % v, "continue\necho no\n"))
            self.loops -= 1
            return text
        if kind == 2:
            return "for ((i=%s; i<%s; i++)); do\n%s\ndone" % (self.pick("0", "1"), self.pick("2", "3"), self.body())
        if kind == 3:
            c = "w%d" % self.r.randrange(1000)
            return "%s=0\nwhile [ $((%s++)) -lt %s ]; do\n%s\ndone" % (c, c, self.pick("1", "2", "3"), self.body())
        if kind == 4:
            items = "\n".join("%s) %s %s" % ("|".join(self.pattern() for _ in range(self.r.randrange(1, 3))), self.simple(), self.pick(";;", ";;", ";&", ";;&"))
                              for _ in range(self.r.randrange(1, 4)))
            return "case %s in\n%s\nesac" % (self.word(1), items)
        if kind == 5:
            f = "f%d" % len(self.functions)
            was, self.depth_in_function = self.depth_in_function, True
            body = self.body(3)
            self.depth_in_function = was
            self.functions.append(f)
            return "%s() {\n%s\n%s}\n%s %s" % (f, body, self.pick("", "", "return 3\n", "return\n"), f, self.words(2))
        if kind == 6:
            return self.group()
        if kind == 7:
            return self.pipeline() + self.pick("", "; echo ${PIPESTATUS[@]}")
        if kind == 8:
            return self.heredoc()
        if kind == 9:
            return self.redirected(self.group())
        return "x=$(\n%s\n)" % self.body()

    def more(self):
        """What the rest of the language has, one construct each."""
        w, v = self.word(1), self.name()
        kind = self.r.randrange(40)
        if kind == 0:
            return "select i in %s; do echo \"$i $REPLY\"; break; done <<< %s" % (self.words(3), self.pick("1", "2", "x", "''"))
        if kind == 1:
            return "diff <(printf '%%s\\n' %s) <(printf '%%s\\n' %s)" % (self.words(2), self.words(2))
        if kind == 2:
            return "cat <(echo %s) - <<< %s" % (w, self.word(1))
        if kind == 3:
            return "coproc { read l; echo \"<$l>\"; }; echo %s >&${COPROC[1]}; read %s <&${COPROC[0]}; echo $%s; wait" % (w, v, v)
        if kind == 4:
            return "exec 3> f1; echo %s >&3; exec 3>&-; cat f1" % w
        if kind == 5:
            return "exec {fd}< <(echo %s); read -u $fd %s; exec {fd}<&-; echo $%s" % (w, v, v)
        if kind == 6:
            return "declare -n r=%s; r=%s; echo $%s ${!r}; unset -n r" % (self.pick("x", "y", "a[1]", "m[k]"), w, v)
        if kind == 7:
            return "printf -v %s %s %s; echo \"$%s\"" % (self.pick("x", "a[2]", "m[z]"), self.pick("'%s-'", "%d", "%q", "'%05.1f'", "%b", "%x"), self.words(2), v)
        if kind == 8:
            return "read %s x y <<< %s; echo \"$?:$x:$y\"" % (self.pick("-r", "-n 2", "-N 3", "-d b", "-a a", "-t 1", "-r -d ''", "-s", "-e"), w)
        if kind == 9:
            return "mapfile %s a <<< %s; declare -p a" % (self.pick("-t", "-n 1", "-s 1", "-O 2", "-d b", "-t -n 2", "-c 1 -C echo"), self.pick("$'1\\n2\\n3'", w))
        if kind == 10:
            return "(%s; %s); echo $?" % (self.simple(2), self.pick("exit 3", "exit", "return 2>/dev/null", "kill -TERM $BASHPID", "break"))
        if kind == 11:
            return "trap %s %s; %s; trap - %s" % ((self.pick("'echo T$?'", "'x=t'", "''"), self.pick("ERR", "DEBUG", "USR1", "RETURN", "EXIT"), self.simple(2)) +
                                                  (self.pick("ERR", "DEBUG", "USR1", "RETURN", "EXIT"),))
        if kind == 12:
            return "trap 'echo U' USR1; kill -USR1 $$; trap - USR1"
        if kind == 13:
            return "%s & wait $!; echo $?" % self.group()
        if kind == 14:
            return "while getopts ab:c o %s; do echo $o $OPTARG $OPTIND; done; OPTIND=1" % self.pick("-a -b x", "-ab", "-c -z", "-b", "-bx y", "-- -a", w)
        if kind == 15:
            return "pushd %s; popd; dirs" % self.pick("d", "nope", "..", "+0", "/")
        if kind == 16:
            return "set -o %s; %s; set +o %s" % ((lambda o: (o, self.simple(2), o))(self.pick("noglob", "noclobber", "pipefail", "errtrace", "functrace", "xtrace", "nounset")))
        if kind == 17:
            return "shopt -%s %s; %s" % (self.pick("s", "u"), self.pick("nullglob", "dotglob", "globstar", "extglob", "nocasematch", "nocaseglob", "lastpipe", "xpg_echo",
                                                                      "patsub_replacement", "inherit_errexit", "failglob", "localvar_inherit"), self.simple(2))
        if kind == 18:
            return "f9() { local %s; %s; declare -p %s 2>&1; }; f9 %s" % (self.pick("x", "x=1", "-a a", "-A m", "n=$1 x=$n", "-n r=x", "-i n=2+3", "-u s=ab", "-"),
                                                                       self.simple(2), self.name(), w)
        if kind == 19:
            return "declare -%s %s=%s; declare -p %s" % ((lambda k: (self.pick("i", "u", "l", "c", "x", "a", "A", "ix", "r", "n"), k, w, k))("v%d" % self.r.randrange(100)))
        if kind == 20:
            return "a=([%s]=%s %s [%s]=%s); declare -p a" % (self.pick("2", "n", "5"), w, self.word(1), self.pick("0", "-1", "7"), self.word(1))
        if kind == 21:
            return "m=([%s]=%s [%s]=%s); declare -p m; echo ${!m[@]}" % (self.pick("a", "$x", "'b c'"), w, self.pick("k", "1", "$s"), self.word(1))
        if kind == 22:
            return "echo %s" % self.pick("${!x@}", "${!v*}", '"${a[@]:1}"', '"${@:2}"', '"${*:1:2}"', "${a[@]/b/X}", '"${a[@]#b}"', "${#a[@]} ${#a[1]}", "${m[@]@Q}", "${a[*]^^}",
                                         "${@/o/0}", '"${a[@]@A}"', "${x@P}", "${!a[*]}", "${a[@]: -1}", "${-//[^hB]}", "${a[n-2]}", "${a[$((1))]}", "${m[\"k\"]}", "${#*}")
        if kind == 23:
            return "caller; f8() { caller 0; echo ${FUNCNAME[@]} ${BASH_LINENO[@]} $LINENO; }; f8"
        if kind == 24:
            return "type -t %s; command -v %s" % (self.pick("if", "echo", "ls", "f0", "nope", "[["), self.pick("if", "echo", "ls", "f0", "nope"))
        if kind == 25:
            return "hash -r; alias q=%s; alias q; unalias q" % w
        if kind == 26:
            return "cat <<-E\n\tt $x\n\t\t%s\n\tE" % self.pick("a", "$n", "'b'", "$(echo c)")
        if kind == 27:
            return "cat <<A <<B\n%s\nA\n%s\nB" % (self.pick("a", "$x"), self.pick("b", "$y"))
        if kind == 28:
            return "if ! %s; then echo not; elif %s; then echo else; fi" % (self.simple(2), self.simple(2))
        if kind == 29:
            return "until ((n++ > %s)); do %s; done" % (self.pick("2", "4", "n"), self.simple(2))
        if kind == 30:
            return "for ((i=%s; i<%s; i+=%s)); do %s; continue; done" % (self.pick("0", "n", ""), self.pick("3", "n", "2"), self.pick("1", "2"), self.simple(2))
        if kind == 31:
            return "%s |& cat" % self.group()
        if kind == 32:
            return "[[ %s && ( %s || ! %s ) ]]; echo $?" % (self.cond(2), self.cond(2), self.cond(2))
        if kind == 33:
            return "[[ %s =~ %s ]] && declare -p BASH_REMATCH" % (self.param(1), self.pick("(.)(.*)", "^(a|b)+", "[[:space:]]", "(x)?y?", "\\.", "$y"))
        if kind == 34:
            return "test %s %s %s; echo $?" % (self.word(2), self.pick("-eq", "-a", "-o", "=", "-nt", "-ef", ">"), self.word(2))
        if kind == 35:
            return "echo $((%s)) $[%s]" % (self.arith(), self.pick("n+1", "2*3", "x"))
        if kind == 36:
            return "readonly k%d=%s; k%d=2; echo no" % ((lambda k: (k, w, k))(self.r.randrange(50)))
        if kind == 37:
            return "unset -f f0; unset -v %s; echo ${%s-unset}" % (v, v)
        if kind == 38:
            return "let %s; echo $?" % " ".join("'%s'" % self.arith() for _ in range(self.r.randrange(1, 3)))
        return "IFS=%s; set -- %s; echo $# \"$*\"; unset IFS" % (self.pick(":", "','", "' :'", "x"), self.words(3))

    def statement(self):
        self.depth += 1
        kind = self.r.randrange(20)
        if self.depth <= 4 and self.chance(0.2):
            text = self.more()
        elif self.depth > 4 or kind < 10:
            text = self.simple()
        elif kind < 13:
            text = "%s %s %s" % (self.simple().replace("; ", " && "), self.pick("&&", "||"), self.simple())
        elif kind == 13:
            text = self.redirected(self.simple().replace("; echo", ""))
        elif kind == 14:
            text = "! %s" % self.simple()
        else:
            text = self.compound()
        self.depth -= 1
        return text

    def text(self):
        head = "x=%s y=%s s='a b' n=3 p=x; a=(1 'b c' 3); declare -A m=([k]=v [q]=1)\nmkdir d; touch f1 f2 d/g; set -- one 'two 2' three" % (
            self.pick("abc", "'a b'", "aXbXc", "a/b/c.d", "''", "5"), self.pick("b", "'*'", "a", "'x y'", "1"))
        if self.chance(0.15):
            head += "\nset -%s" % self.pick("e", "u", "x", "eu", "f", "a", "C")
        if self.chance(0.1):
            head += "\ntrap '%s' %s" % (self.pick("echo trap $?", "echo t; false", "x=trapped"), self.pick("EXIT", "ERR", "DEBUG", "RETURN"))
        lines = [self.statement() for _ in range(self.r.randrange(2, 8))]
        return "\n".join([head] + lines + ["echo status $? $x \"$*\""])


# ---- running ----


def enter_namespace():
    """A mount and host name space of its own with an empty home; then on as the user the scripts run as, so that starting one is cheap."""
    if os.environ.get("LANG_DIFF_INSIDE") != "1":
        if os.geteuid() != 0:
            sys.exit("lang_diff: must run as root")
        os.environ["LANG_DIFF_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--uts", sys.executable] + sys.argv)
    subprocess.run(["hostname", "libshell"], check=False)
    os.makedirs(HOME, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "uid=1000,gid=1000", "tmpfs", HOME], check=True)
    os.setgroups([])
    os.setgid(1000)
    os.setuid(1000)
    os.umask(0o022)
    os.chdir(HOME)


def empty_home():
    os.chmod(HOME, 0o755)
    with os.scandir(HOME) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)


def expired(*_):
    raise TimeoutError


class Captured:
    """Where bash's output goes: two files without names, used again for every script."""

    def __init__(self):
        self.out, self.err, self.null = os.memfd_create("out"), os.memfd_create("err"), os.open("/dev/null", os.O_RDONLY)

    def take(self, fd):
        data = os.pread(fd, 1 << 24, 0)
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        return data


def run_bash(script, captured=[]):  # noqa: B006 (made once, when it is first needed)
    """(stdout, stderr, status), or None when it takes too long."""
    if not captured:
        captured.append(Captured())
        signal.signal(signal.SIGALRM, expired)
    c = captured[0]
    empty_home()
    actions = [(os.POSIX_SPAWN_DUP2, c.null, 0), (os.POSIX_SPAWN_DUP2, c.out, 1), (os.POSIX_SPAWN_DUP2, c.err, 2)]
    pid = os.posix_spawn("/bin/bash", ["bash", "-c", "--", script], ENV, file_actions=actions, setpgroup=0, setsigdef=[signal.SIGPIPE])
    signal.setitimer(signal.ITIMER_REAL, 5)
    try:
        _, status = os.waitpid(pid, 0)
    except TimeoutError:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        status = None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    out, err = c.take(c.out), c.take(c.err)
    if status is None:
        return None
    code = os.waitstatus_to_exitcode(status)
    return out, err, code if code >= 0 else 128 - code


def escaped(mark, data):
    if not data:
        return []
    parts = data.split(b"\n")
    ended = parts[-1] == b""
    if ended:
        parts.pop()
    out = []
    for i, part in enumerate(parts):
        text = "".join("\\\\" if b == 92 else chr(b) if 32 <= b < 127 else "\\x%02x" % b for b in part)
        out.append(mark + ("/ " if i == len(parts) - 1 and not ended else "\\ ") + text)
    return out


def case_text(title, script, result):
    out, err, status = result
    return "\n".join(["# " + title] + ["$ " + line if line else "$" for line in script.split("\n")] + escaped(">", out) + escaped("!", err) + ["? %d" % status, "", ""])


class Differ:
    def __init__(self, runner):
        self.runner = runner
        self.file = tempfile.mktemp(suffix=".case")

    def run(self, cases):
        """The indices of the (script, result) pairs that differ, and the runner's words about each."""
        lines, starts, at = [], {}, 1
        for i, (script, result) in enumerate(cases):
            text = case_text("s", script, result)
            starts[at + 1] = i
            lines.append(text)
            at += text.count("\n")
        with open(self.file, "w", encoding="utf-8", newline="\n") as f:
            f.write("".join(lines))
        try:
            done = subprocess.run([self.runner, self.file], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
            report, crashed = done.stdout.decode("utf-8", "replace"), done.returncode not in (0, 1)
        except subprocess.TimeoutExpired:
            report, crashed = "", True
        if crashed:
            if len(cases) == 1:
                return {0: "crashed or hangs"}
            half = len(cases) // 2
            found = self.run(cases[:half])
            found.update({k + half: v for k, v in self.run(cases[half:]).items()})
            return found
        found = {}
        for m in re.finditer(r"^%s:(\d+):.*\n((?:    .*\n)*)" % re.escape(self.file), report, re.M):
            if int(m.group(1)) in starts:
                found[starts[int(m.group(1))]] = m.group(2)
        return found

    def differs(self, script, syntax_ok):
        result = run_bash(script)
        if result is None or (not syntax_ok and b"-c: line" in result[1]) or b"BASHOPTS=" in result[0] or run_bash(script) != result:
            return None
        found = self.run([(script, result)])
        return (result, found[0]) if found else None


def shrink(differ, script, deadline):
    syntax_ok = b"-c: line" in (run_bash(script) or (b"", b"", 0))[1]

    def reduce(parts, join):
        size = max(1, len(parts) // 2)
        while size >= 1:
            i = 0
            while i < len(parts) and time.time() < deadline:
                trial = parts[:i] + parts[i + size:]
                if trial and differ.differs(join(trial), syntax_ok):
                    parts = trial
                else:
                    i += size
            if size == 1:
                break
            size //= 2
        return parts

    script = "\n".join(reduce(script.split("\n"), "\n".join))
    script = "".join(reduce(re.split(r"(;|&&|\|\||\n)", script), "".join))
    return "".join(reduce(re.split(r"(\s|[\"'{}()])", script), "".join))


def enter_namespace_of(args):
    """With --jobs, N processes, each in a namespace of its own."""
    if args.jobs > 1 and os.environ.get("LANG_DIFF_INSIDE") != "1":
        children = []
        for i in range(args.jobs):
            argv = [sys.executable] + sys.argv + ["--jobs", "1", "--seed", str(args.seed + i * 10**7), "--count", str(args.count // args.jobs)]
            children.append(subprocess.Popen(argv))
        sys.exit(max(c.wait() for c in children))
    enter_namespace()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=10**9)
    ap.add_argument("--seconds", type=float, default=60)
    ap.add_argument("--runner", default="build/release/test/runner")
    ap.add_argument("--keep")
    ap.add_argument("--jobs", type=int, default=1)
    ap.add_argument("--shrink", type=float, default=6, help="seconds for making a finding small")
    ap.add_argument("--show", action="store_true", help="print the script of --seed and stop")
    args = ap.parse_args()
    if args.show:
        print(Script(args.seed).text())
        return
    runner = os.path.abspath(args.runner)
    kept = open(args.keep, "a", encoding="utf-8") if args.keep else None
    enter_namespace_of(args)
    differ = Differ(runner)
    end, done, found = time.time() + args.seconds, 0, 0
    while time.time() < end and done < args.count:
        batch, seeds = [], []
        for seed in range(args.seed + done, args.seed + done + min(BATCH, args.count - done)):
            script = Script(seed).text()
            result = run_bash(script)
            if result is not None:
                batch.append((script, result))
                seeds.append(seed)
        done += BATCH
        for i in differ.run(batch):
            first = differ.differs(batch[i][0], True)
            if not first: # bash's own output varies
                continue
            found += 1
            small = shrink(differ, batch[i][0], time.time() + args.shrink)
            result, report = differ.differs(small, True) or first
            print("seed %d:\n%s\n%s" % (seeds[i], small, report), flush=True)
            if kept:
                kept.write(case_text("found by random scripts", small, result))
                kept.flush()
    print("%d scripts, %d differ" % (done, found))
    empty_home()
    sys.exit(1 if found else 0)


main()

"""The grammar that lang_diff.py grows its random scripts from.

Every name of GRAMMAR stands for a list of texts; in a text {{name}} stands for one of that name's texts, chosen anew each time. A text that begins
with a number and a blank counts that many times; {{id}} is a number of this text's own. When a script has grown deep, a name's texts come from LEAVES, or else from the texts without a {{name}} in them.
"""
import random
import re

# Left out on purpose:
#   $PPID, ulimit's limits, times       the process's own
#   sh                                  dash on this system, here bash in POSIX mode
#   bind, fc, history                   refused: there is no terminal
#   words like ~:x$y and ${Z..b}        bash takes all up to a slash for the user's name, and a ` that {Z..b} makes for an opening one
#   set -k before declare and export    they list what a shell has of its own
#   kill as a subshell's last command   whether its EXIT trap runs depends on when the signal comes
#   cd .. from the home                 above it the machines differ
#   a pipe's reader that reads nothing  whether the writer finds it gone (141) is a race: the differ takes 141 for 0
#   CHLD traps                          how many a group of subshells gives
#   > >(cat), running what <( ) names   nothing orders their output; what the kernel says of it
GRAMMAR = {
    # What stands for one line or more of a script.
    "statement": [
        "9 {{simple}}", "3 {{simple}} {{and}} {{simple}}", "2 {{simple}} {{redirection}}", "! {{simple}}", "5 {{compound}}", "4 {{feature}}", "2 {{builtin}}", "{{tool}}", "{{shell}}", "{{error}}",
    ],
    "and": ["&&", "||"],
    "body": ["3 {{statement}}", "2 {{statement}}\n{{statement}}", "{{statement}}\n{{statement}}\n{{statement}}"],
    "simples": ["{{simple}}", "{{simple}}; {{simple}}", "{{simple}} && {{simple}}"],

    "simple": [
        "7 echo {{words}}", "5 printf '<%s>' {{words}}; echo", ":", "true", "false", "(exit 3)", "2 {{function}} {{words}}", "set -- {{words}}", "set -- {{word}} {{word}} {{word}}",
        "2 {{state}}", "read -r x y <<< {{word}}", "[ {{test}} ]", "[[ {{cond}} ]]", "(({{arith}}))", "declare -p {{variable}}", "eval {{quotedsimple}}", "{{name}}={{word}} {{user}}",
        "let 'n={{arith}}'; echo $n", "printf {{format}} {{words}}", "mapfile -t a < <(printf '%s\\n' {{words}})", "export {{name}}={{word}}", "7 {{assignment}}",
    ],
    "function": ["f0", "f1", "f2"],
    "quotedsimple": ["'echo $x'", '"echo $x"', "'x=$y'", "'echo \"$@\"'", "echo '$((n))'", "'{{plain}}={{plain}}'", "'false || echo $?'", "'return 3'", "'for i in 1 2; do echo $i; done'"],
    "user": ["echo $x", "eval 'echo $x'", "true", "printenv x", "bash -c 'echo $x$y'", ":", "f0", "export y", "read z <<< $x", "local q", "IFS=: read x y <<< a:b", "declare -p x"],
    "format": ["'%s-%s\\n'", "'%5s|\\n'", "'%d\\n'", "'%q\\n'", "'%b\\n'", "'%x %o\\n'", "'%.2s|\\n'", "'%-4s|\\n'", "'%c\\n'", "'%05d|%+d\\n'", "'%*d|\\n'", "'%u %X\\n'", "'%#x %#o\\n'", "'%e %g\\n'",
               "'%8.3f|\\n'", "'%-*s|\\n'", "'%i%%\\n'", "'%(%Y)T\\n'", "'%Q\\n'", "'%.3q\\n'", "'\\x41\\101\\u00e9\\n'", "'%s %d %s\\n'", "'%.*s|\\n'", "'%a\\n'", "'[%10b]\\n'", "-- '%s\\n'", "'\\c%s'", "'%5%\\n'"],
    "state": [
        "shift", "shift 2", "shift 9", "unset x", "unset 'a[1]'", "unset 'm[k]'", "unset y z", "unset a", "IFS=:", "IFS=' '", "unset IFS", "IFS=", "IFS=,x", "shopt -s nullglob", "shopt -u nullglob", "shopt -s extglob",
        "set -f", "set +f", "shopt -s nocasematch", "cd d", "cd d/..", "cd", "cd -", "set -o pipefail", "GLOBIGNORE=f1", "unset GLOBIGNORE", "LC_ALL=C", "LC_ALL=C.UTF-8", "umask 077", "OPTIND=1", "PS4='> '", "unset -f f0",
        "unset 'a[@]'", "unset 'a[-1]'", "unset m", "set -a", "set +o posix", "readonly x", "hash -r",
    ],

    # Words and what is in them.
    "name": ["x", "y", "z", "s", "n"],
    "variable": ["x", "a", "m", "n", "s", "y", "u", "z", "r"],
    "plain": ["a", "b", "foo", "abc", "1", "2", "10", "a.b", "x=y", "-n", "é", "A", "foo.txt", "aXbXc", "0", "-1", "a:b:c", "/u/v/w.c", "=", "a]b", "08", "Ünï", "%s", "!", "]", "{}", "a=~:~", "=~", "-", "--", "#c", "a#b"],
    "word": [
        "8 {{plain}}", "8 {{expansion}}", '6 "{{inner}}"', '3 "{{inner}}{{inner}}"', '2 "{{inner}} {{inner}}{{inner}}"', "2 '{{single}}'", "2 {{escape}}", "2 {{braces}}", "2 {{glob}}", "3 {{plain}}{{expansion}}",
        "{{expansion}}{{expansion}}", "{{plain}}'{{single}}'\"{{inner}}\"",
    ],
    "inner": ["3 {{plain}}", "6 {{expansion}}", " ", "\\$", "'", "\\\"", "\\\\", "\\a", "*", "~", "{a,b}", "é", "!", "\\\n"],
    "single": ["a b", "$x", "", "*", "\\", '"', "`", "$(x)", "\n", "  a  b ", "\t"],
    "escape": ["$'a\\tb'", "$'\\x41\\n'", "\\a", "a\\ b", "~", "~/x", "''", '""', "\\*", "$'\\''", "$\"a b\"", "~agent", "~+", "~-", "~nobodyhere", "~:x", "$'\\u00e9\\101\\cA\\e'", "\\\\", "a\\\nb", "$'\\xff'", "\\~", "\\\"", "$'a\\0b'"],
    "braces": ["{a,b}", "{1..3}", "x{,y}z", "{a..c}", "{3..1}", "{01..03}", "{$x,b}", "a{b,c}{d,e}", "{1..6..2}", "{a}", "{a,b", "{a,{b,c}d}", "{c..a}", "{-2..2}", "{1..10..0}", "{a..e..2}", "{1..x}", "${x}{a,b}", "{a,b}$x", "{\"a b\",c}",
               "{a\\,b,c}", "{,}", "{x,$(echo y),`echo z`}", "{001..3}", "{5..1..2}", "{1..2}{a..b}", "{},a}", "{a,b}}", "{{plain},{{plain}}}", "\"{a,b}\"", "{1.2}", "{9..-3..-4}"],
    "glob": ["*", "f?", "f*", "[ef]*", "d/*", "nomatch*", "*.txt", "f[12]", "*/", ".*", "f[!1]", "?(f)1", "f@(1|2)", "!(f1)", "+(f|1)", "**", "**/g", "[[:alpha:]]*", "*[[:digit:]]", "f[1-2]", "[a", "f\\*", "f'*'", "\"f\"*", "d/[g]", "f[]1]",
             "*\\1", "./f*", "/nodir*/x", "[^f]", "f[[:digit:]x]", "$x*", "*$y"],
    "words": ["", "2 {{word}}", "3 {{word}} {{word}}", "2 {{word}} {{word}} {{word}}"],
    "expansion": ["12 {{param}}", "4 $(({{arith}}))", "2 $({{simple}})", "`echo {{plain}}`", "$(< f1)", "$[{{arith}}]", "$(echo $(echo {{word}}))", "`echo \\`echo {{plain}}\\` \\$x`", "$(cat << E\n{{heretext}}\nE\n)"],
    "param": [
        "6 ${{{subject}}}", "5 ${{{subject}}{{default}}{{word}}}", "2 ${#{{subject}}}", "3 ${{{subject}}:{{slice}}}", "3 ${{{subject}}{{strip}}{{pattern}}}", "3 ${{{subject}}{{replace}}{{pattern}}/{{with}}}", "2 ${{{subject}}{{case}}}",
        "2 ${{{subject}}@{{transform}}}", "2 {{special}}", "6 ${{shortname}}", "${{{subject}}?{{plain}}}", "${!{{subject}}}", "${!{{subject}}{{default}}{{plain}}}", "${{{subject}}{{replace}}{{pattern}}}",
        "${!p{{strip}}{{pattern}}}", "${!p:{{slice}}}",
    ],
    "shortname": ["x", "y", "z", "s", "n", "1", "2", "@", "*", "#", "a", "u", "?", "_", "-", "3"],
    "subject": ["x", "y", "z", "s", "n", "1", "2", "@", "*", "a[0]", "a[1]", "a[-1]", "a[@]", "a[*]", "m[k]", "m[@]", "m[*]", "u", "#", "?", "a", "10", "a[5]", "a[n]", "m[$x]", "m", "a[$n]", "a[-9]", "r", "b[1]", "3"],
    "default": [":-", "-", ":+", "+", ":=", "="],
    "strip": ["#", "##", "%", "%%"],
    "replace": ["/", "//", "/#", "/%"],
    "case": ["^", "^^", ",", ",,", "^a", "^^[a-c]", ",,[A-Z]", "~", "~~", "^?", ",,X"],
    "transform": ["Q", "U", "u", "L", "E", "a", "K", "k", "A", "P", "z"],
    "special": ["${!p}", "${!a[@]}", "${!m[@]}", "${!x*}", "$#", "$-", "$*", "$@", "${!#}", "${#@}", "$LINENO", "$BASH_SUBSHELL", "${FUNCNAME[0]}", "${BASH_LINENO[@]}", "${BASH_SOURCE[0]}", "$BASH_COMMAND", "${PIPESTATUS[@]}",
                "$OPTIND", "${DIRSTACK[@]}", "$SHLVL", "$UID", "${GROUPS[0]}", "$HOSTNAME", "$OSTYPE", "$REPLY", "$IFS", "$PWD", "$OLDPWD", "$BASH", "${BASH_VERSINFO[0]}", "${!p@}", "${!a@}", "$0", "$_", "${@:0:1}", "$HOME"],
    "slice": ["1", " -1", "0:1", "1:2", " -2:1", "n", "1:n", "2:-1", "0", "0:0", "9", "n-1:n", "$#", "(1)", "0:-9", "-1", "a[1]", "1?2:3", " -9"],
    "pattern": ["*", "?", "a*", "*b", "[a-c]", "[!a]", "?(a)b", "@(a|b)", "+([a-z])", "!(a)", "*.*", "[[:digit:]]", "\\*", '"*"', "X", "*\\/", "\\/*", "${y}", '"$y"', "[^0-9]*", "a", "''", "*(b|c)", "[[:upper:][:space:]]", "[a", "*([!b])",
                "é", "[é]", "?*", "\\a", "[]a]", "[a\\]b]", "a|b", "!(*b)", "@(a*(b)c|d)", "[[=a=]]", "[b-a]", "[\\!a]", "*' '*", "[[.a.]]", "+(?)", "[!\"a\"]", "~"],
    "with": ["", "X", "&", "[&]", "\\&", "a b", "$y", '"$y"', "\\\\", "'&'", '"&"', "\\/", "$x$x", "${y/a/&}", "~", "\\\\&", "*"],

    "arith": [
        "4 {{number}}", "3 {{number}} {{op}} {{number}}", "2 {{arith}} {{op}} {{arith}}", "({{arith}})", "{{arith}} ? {{arith}} : {{arith}}", "{{unary}}{{arith}}", "2 {{number}} {{shift}} {{small}}", "2 {{effect}}",
        "{{arith}}, {{arith}}",
    ],
    "number": ["x", "n", "$n", "1", "2", "3", "10", "0x1f", "010", "${#x}", "a[1]", "-1", "7", "$#", "${n:-4}", "m[k]", "i", "16#ff", "2#101", "36#z", "64#@_", "a[n]", "a[-1]", "08", "a[$n]", "m[$x]", "9223372036854775807", "'1'", "\"2\"", "1$n", "$((1+n))",
               "a[n-1]", "u", "3#5", "1#0", "$x", "s", "$(echo 2)"],
    "op": ["+", "-", "*", "/", "%", "&", "|", "^", "&&", "||", "<", ">", "<=", ">=", "==", "!=", "+", "-"],
    "unary": ["!", "~", "-", "+", "- -", "!!", "++", "--"],
    "shift": ["<<", ">>", "**"],
    "small": ["1", "2", "3", "n", "0", "-1", "64"],
    "effect": ["n++", "++n", "n--", "n+=2", "n=5", "a[2]=7", "x=n", "n*=3", "m[k]+=1", "n<<=1", "n>>=1", "n&=6", "n|=1", "n^=3", "n%=4", "n/=2", "a[n]++", "--a[0]", "n=m[k]=2", "n-=1", "n = x = 2", "a[n++]+=n", "n=", "1=2", "n+", "1 2", "n**=2", "b[3]=1"],

    "assignment": [
        "5 {{name}}={{word}}", "{{name}}+={{word}}", "a=({{words}})", "a=({{word}} {{word}} {{word}})", "a[{{index}}]={{word}}", "a+=({{words}})", "m[{{key}}]={{word}}", "declare {{attribute}}{{name}}={{word}}", "n=$(({{arith}}))",
        "x=$y y=$x", "m+=([{{key}}]={{word}})", "a[{{index}}]+={{word}}", "m[{{key}}]+={{word}}", "a=([{{index}}]={{word}} {{word}})", "x=(1 2)", "x= y=", "a+=([{{index}}]+={{word}})", "m=({{word}} {{word}})", "b=(\"${a[@]}\")", "z=(${x} \"$y\")",
    ],
    "index": ["0", "1", "5", "n", "-1", "${#a[@]}", "n+1", "$n", "", "x", "-9", "08", "1+", "$((n))", "@", "n=2"],
    "key": ["k", "$x", "a b", "'q'", "1", "\"$y\"", "é", "@", "*", "]", "", "'a]b'", "$(echo k)", "\\$x", "~", "a=b", "\"\""],
    "attribute": ["", "-i ", "-u ", "-l ", "-x ", "-r ", "-a ", "-A ", "-n ", "-c ", "-ix ", "+i ", "-t ", "-lu ", "-g ", "-ai ", "+x ", "-I "],

    "test": ["2 {{word}} {{compare}} {{word}}", "2 {{unarytest}} {{word}}", '"$n" {{numeric}} {{number}}', '"$x" = a -o -n "$y"', "{{word}}", "! {{word}} = {{word}}", "\\( {{word}} \\)", "-n {{word}} -a -z {{word}}", "", "{{words}}", "( {{word}} )", "-v {{subject}}", "{{word}} {{numeric}} {{word}}"],
    "compare": ["=", "!=", "==", "\\<", "\\>", "-nt", "-ot", "-ef", "<"],
    "unarytest": ["-n", "-z", "!", "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-p", "-S", "-b", "-c", "-g", "-k", "-u", "-G", "-O", "-N", "-t", "-o", "-v", "-R", "-a", "-q"],
    "numeric": ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"],
    "cond": [
        "{{cond}} && {{cond}}", "{{cond}} || {{cond}}", "! {{cond}}", "( {{cond}} )", "2 {{param}} =~ {{regex}}", "4 {{param}} {{match}} {{pattern}}", "2 {{number}} {{numeric}} {{number}}", "3 {{unarytest}} {{condword}}", "{{param}} {{order}} {{plain}}",
        "{{word}} == {{word}}", "{{word}}", "-v {{subject}}", "{{param}} =~ \"{{inner}}\"", "{{word}} -ef {{word}}", "$x = \"$x\"",
    ],
    "match": ["==", "!=", "="],
    "order": ["<", ">", "-nt", "-ot"],
    "condword": ["x", "$x", '"$y"', "a", "d", "f1", "{{word}}"],
    "regex": ["^a", "b+", "(a)(b)?", "[0-9]+", "^$", "a.c", "x|y", "$y", '"$y"', "\\.", "^[[:alpha:]]+$", "(.)(.*)", "a{1,2}", "[", "a\\.b", "(", "^(a|b)*$", "\\$", "'a.'b", "[[:space:]]", "()", "(x(y)?)*", "^.{2}", "é", "\\bfoo", "*a", "[]a]", "[a\"]\"]"],

    # Compound commands.
    "compound": [
        "2 if {{simples}}; then\n{{body}}\nfi", "2 if {{simples}}; then\n{{body}}\nelse\n{{body}}\nfi", "if {{simple}}; then {{simple}}; elif {{simple}}; then {{simple}}; else {{simple}}; fi",
        "3 for {{loopname}} in {{words}}; do\n{{body}}\n{{jump}}done", "for {{loopname}} do {{simple}}; done", "for ((i{{id}}={{small}}; i{{id}}<3; i{{id}}++)); do\n{{body}}\n{{jump}}done", "for ((;;)); do {{simple}}; break; done",
        "3 case {{word}} in\n{{item}}\nesac", "case {{word}} in\n{{item}}\n{{item}}\n{{item}}\nesac", "4 f{{digit}}() {\n{{local}}{{body}}\n{{return}}}\nf{{digit}} {{words}}", "function f{{digit}} { {{local}}{{simple}}; } {{redirection}}\nf{{digit}} {{words}}",
        "f{{digit}}() ( {{simple}}; {{simple}} )\nf{{digit}}", "3 {{group}}", "3 {{pipeline}}", "3 {{heredoc}}", "2 {{group}} {{redirection}}", "2 {{name}}=$(\n{{body}}\n)", "c{{id}}=0\nwhile [ $((c{{id}}++)) -lt {{times}} ]; do\n{{body}}\n{{jump}}done",
        "c{{id}}=0; until ((c{{id}}++ > 2)); do\n{{body}}\n{{jump}}done", "select i in {{words}}; do echo \"$i $REPLY\"; break; done <<< {{choice}}", "while read -r l; do {{simple}}; done <<< {{word}}", "printf '%s\\n' {{words}} | while read -r x; do {{simple}}; done",
        "for i in 1 2; do for j in a b; do {{simple}}; {{jump2}}; done; done", "time -p true 2> /dev/null", "! { {{simple}}; }", "(({{arith}})) && {{simple}} || {{simple}}", "f{{digit}}() if {{simple}}; then {{simple}}; fi\nf{{digit}} a",
    ],
    "loopname": ["x", "i", "y", "z", "a"],
    "jump": ["", "", "", "break\n", "continue\necho no\n", "[ \"$i\" = b ] && break\n", "break 2\n", "continue 2\n", "break 0\n", "{{simple}} || continue\n"],
    "jump2": ["break", "continue", "break 2", "continue 2", ":", "[ $i = $j ] || continue 2", "break 9"],
    "digit": ["0", "1", "2"],
    "times": ["1", "2", "3"],
    "local": ["", "", "local x=$1\n", "local -a a=(9 8)\n", "local -A m=([z]=1)\n", "local -i n=2+3\n", "local -n r=x\n", "local -\nset -f\n", "local x y=$x\n", "local IFS=:\n", "declare -g z=$1\n", "local x; unset x\n", "local -u s=$1\n", "shift\n", "local -r k=1\n"],
    "return": ["", "", "return 3\n", "return\n", "{{simple}}; return\n", "return $n\n", "return -1\n", "return x\n"],
    "item": ["{{pattern}}) {{simple}} {{caseend}}", "{{pattern}}|{{pattern}}) {{simple}} {{caseend}}", "({{pattern}}) {{caseend}}", "\"{{inner}}\") {{simple}} {{caseend}}", "*) {{simple}};;"],
    "caseend": [";;", ";;", ";&", ";;&"],
    "group": ["2 { {{simple}}; }", "2 { {{simple}}; {{simple}}; }", "( {{simple}} )", "( {{simple}}; {{simple}} )", "( ( {{simple}} ) )", "{ ( {{simple}} ); {{simple}}; }"],
    "pipeline": ["4 {{group}} | {{stage}}", "{{simple}} | {{stage}}", "{{group}} | {{stage}} | {{stage}}; echo ${PIPESTATUS[@]}", "{{group}} |& {{stage}}", "! {{group}} | {{stage}}", "{{group}} | {{stage}}; echo $? ${PIPESTATUS[@]}", "{{simple}} | {{group}}"],
    "stage": ["cat", "tr a-z A-Z", "sort", "wc -l", "head -n 2", "cut -c1-3", "grep a", "cat -n", "sort -r", "uniq", "tail -n 1", "while read -r l; do echo \"[$l]\"; done", "{ read x; echo \"$x\"; cat; }", "(cat; echo end)", "sed 's/a/<&>/g'",
              "awk '{ print NR, $1, NF }'", "tee f1", "mapfile a", "rev", "tac", "nl", "fold -w 3", "paste - -", "xargs -n 1 echo", "wc -c", "tr -d '\\n'", "grep -c .", "sed -n '$p'", "sort -u | uniq -c", "od -An -c", "read y"],
    "heredoc": ["2 {{reader}} <<E\n{{heretext}}\nE", "{{reader}} <<E\n{{heretext}}\n{{heretext}}\nE", "{{reader}} <<'E'\n{{heretext}}\nE", "{{reader}} <<\\E\n{{heretext}}\nE", "cat <<-E\n\t{{heretext}}\n\t\t{{heretext}}\n\tE", "cat <<A <<B\n{{heretext}}\nA\n{{heretext}}\nB",
                "cat <<E | {{stage}}\n{{heretext}}\nE", "{{simple}} <<E && {{simple}}\n{{heretext}}\nE", "x=$(cat <<E\n{{heretext}}\nE\n); echo \"$x\"", "f1() { cat; } <<E\n{{heretext}}\nE\nf1", "cat <<\"E 1\"\n{{heretext}}\nE 1", "if true; then cat <<E; fi\n{{heretext}}\nE",
                "{{reader}} <<E 3<<G 0<&3\n{{heretext}}\nE\n{{heretext}}\nG"],
    "reader": ["cat", "while read -r l; do echo \"<$l>\"; done", "cat -n", "{ read x; echo $x; cat; }", "mapfile a; declare -p a", "read x y; echo $x $y", "wc -l"],
    "heretext": ["text $x", "${y:-d} \"q\"", "$((n+1)) \\$x", "`echo bq`", "plain", "  ind ${a[@]}", "'$s'", "\\\\ \\a", "$(echo cs)", "{{expansion}}", "\"{{param}}\"", "a\\\nb", "${x-'q'}", "${x+\"q\"}", "$'x'", "\\`", "{a,b} * ~", "", "$(cat <<F\nin\nF\n)"],
    "redirection": ["2 > f1", ">> f1", "2 2>&1", "2 2>/dev/null", "< f2", ">&2", "< nope", "<<< {{word}}", "3>&1 >&3", "&> f1", "> \"$x\"", "> $x", ">| f1", "<> f1", "&>> f1", "2>&1 > f1", "> f1 2>&1", "{fd}> f1", "3<&0 <&3-", ">&-", "2>&-", "<&-", "> /dev/null", "> d",
                    "< f1 > f1", "> nodir/x", "4>&7", "> {f1,f2}", "> f*", "< <(echo p)", "1>&2 2>&1", ">& f1", "< $u", "3< f2 4<&3-", "> $(echo f1)", "9> f1 >&9", "2>&1 >&2", "<<< '' <<< {{word}}"],
    "choice": ["1", "2", "x", "''", "$'\\n1'", "9", "0"],

    # One construct each of what the rest of the language has.
    "feature": [
        "diff <(printf '%s\\n' {{words}}) <(printf '%s\\n' {{words}})", "cat <(echo {{word}}) - <<< {{word}}", "coproc { read l; echo \"<$l>\"; }; echo {{word}} >&${COPROC[1]}; read {{name}} <&${COPROC[0]}; echo $x; wait", "coproc C { cat; }; exec {C[1]}>&-; cat <&${C[0]}; wait",
        "exec 3> f1; echo {{word}} >&3; exec 3>&-; cat f1", "exec {fd}< <(echo {{word}}); read -u $fd {{name}}; exec {fd}<&-; echo $x", "declare -n r={{target}}; r={{word}}; echo $x ${!r}; unset -n r", "declare -n r={{target}}; echo $r ${r[0]} ${#r}; r+={{plain}}; declare -p r {{name}}; unset -n r",
        "printf -v {{assignable}} {{format}} {{words}}; echo \"$x\"", "read {{readoption}} x y <<< {{word}}; echo \"$?:$x:$y\"", "mapfile {{mapoption}} a <<< {{lines}}; declare -p a", "({{simple}}; {{leave}}); echo $?", "({{simple}}; {{leave}})", "trap {{action}} {{event}}; {{simple}}; trap - {{event}}",
        "trap {{action}} {{event}}\n{{statement}}\ntrap - {{event}}", "trap 'echo U' USR1; kill -USR1 $$; trap - USR1", "{{group}} & wait $!; echo $?", "while getopts {{optstring}} o {{optwords}}; do echo $o $OPTARG $OPTIND; done; OPTIND=1", "set -o {{option}}; {{simple}}; set +o {{option}}",
        "set -o {{option}}\n{{statement}}\nset +o {{option}}", "shopt -s {{shopt}}; {{simple}}", "shopt -s {{shopt}}\n{{statement}}\nshopt -u {{shopt}}", "f9() { {{local}}{{simple}}; declare -p {{variable}} 2>&1; }; f9 {{word}}", "declare -{{letter}} v1={{word}}; declare -p v1; v1+={{plain}}; echo $v1",
        "a=([{{index}}]={{word}} {{word}} [{{index}}]={{word}}); declare -p a", "m=([{{key}}]={{word}} [{{key}}]={{word}}); declare -p m; echo ${!m[@]}", "echo {{vector}}", "f8() { caller 0; caller; echo ${FUNCNAME[@]} ${BASH_LINENO[@]} $LINENO; }; f8", "if ! {{simple}}; then echo not; elif {{simple}}; then echo else; fi",
        "[[ {{cond}} && ( {{cond}} || ! {{cond}} ) ]]; echo $?", "[[ {{param}} =~ {{regex}} ]] && declare -p BASH_REMATCH", "readonly k1={{word}}; k1=2; echo no", "let {{letwords}}; echo $?", "IFS={{separator}}; set -- {{words}}; echo $# \"$*\"; unset IFS", "IFS={{separator}}; read x y z <<< {{word}}; echo \"[$x][$y][$z]\"; unset IFS",
        "f7() { local x=in; f6; echo $x; }; f6() { echo $x; x=set; {{state}}; }; f7; echo $x", "f5() { local -n ref=$1; ref+={{word}}; ref[1]=z; }; f5 {{target}}; declare -p x a", "RANDOM=42; echo $((RANDOM % 7)) $RANDOM", "SECONDS=5; echo $SECONDS", "echo ${BASH_VERSINFO[0]} $BASH_SUBSHELL $( echo $BASH_SUBSHELL )",
        "set -e; {{simple}}; {{simple}}", "set -u; {{simple}}; set +u", "set -e; f4() { {{simple}}; echo still; }; f4 || echo failed; f4; echo end", "set -eu -o pipefail; {{pipeline}}; set +eu +o pipefail", "(set -e; {{simple}}; echo reached); echo $?", "set -E; trap 'echo E$LINENO' ERR; f3() { {{simple}}; false; }; f3; trap - ERR",
        "set -T; trap 'echo D' DEBUG; f3() { :; }; f3; trap - DEBUG; set +T", "(trap 'echo bye $?' EXIT; {{simple}}; {{leave}})", "f3() { trap 'echo R' RETURN; {{simple}}; }; f3; trap - RETURN", "x={{word}}; case $x in {{pattern}}) echo m;; *) echo n;; esac", "x={{word}}; echo \"${x{{strip}}{{pattern}}}\" \"${x{{replace}}{{pattern}}/{{with}}}\"",
        "(echo a; echo b >&2) 2>&1 | {{stage}}", "echo {{word}} > f1; cat f1; cat < f1 | {{stage}}", "x=5; f3() { x=6 eval 'echo $x'; echo $x; }; x=7 f3; echo $x", "sleep 0.01 & wait; echo $?", "false & wait $!; echo $?", "(exit 4) & wait %1; echo $?", "(exit 5) & wait -n; echo $?", "for i in 1 2; do (exit $i) & done; wait; echo $?",
        "kill -l {{signal}}", "set -k; echo {{word}} {{name}}={{word}} q; set +k", "exec 5<<< {{word}}; cat <&5; exec 5<&-", "[ -t 0 ]; echo $?", "x=$(<f1); echo ${#x}", "\n\n{{simple}} # comment {{plain}}\n", "{{simple}} ;", "echo a \\\n  {{word}} \\\n  b", "{{simple}} &&\n{{simple}} ||\n{{simple}}", "shopt -s extdebug; f3() { echo ${BASH_ARGC[@]} ${BASH_ARGV[@]}; }; f3 {{words}}; shopt -u extdebug",
        "alias q='echo aliased'; shopt -s expand_aliases\nq {{word}}\nunalias q", "shopt -s lastpipe; echo {{word}} | read x; echo $x; shopt -u lastpipe", "coproc cat; kill $!; wait $!; echo $?", "BASH_XTRACEFD=1; set -x; {{simple}}; set +x", "PS4='+$LINENO '; set -x; {{simple}}; set +x", "command_not_found_handle() { echo nf $1; return 5; }; nosuch; echo $?",
    ],
    "target": ["x", "y", "a[1]", "m[k]", "a", "m", "u", "n", "1", "r"],
    "assignable": ["x", "a[2]", "m[z]", "a", "n", "1x", "a[n]", "m[$y]"],
    "readoption": ["-r", "-n 2", "-N 3", "-d b", "-a a", "-t 1", "-r -d ''", "-s", "-e", "-p p", "-u 0", "-n 0", "-r -n 1", "-N 1 -d b", "-a m", "-t 0", "-ra x", "-i z", "-z"],
    "mapoption": ["-t", "-n 1", "-s 1", "-O 2", "-d b", "-t -n 2", "-c 1 -C echo", "-tn0", "-O 1 -t", "-u 0", "-d ''", "-C 'echo cb' -c 2 -t", "-n x", "-s 9"],
    "lines": ["$'1\\n2\\n3'", "{{word}}", "$'a\\n\\nb'", "''"],
    "leave": ["exit 3", "exit", "return 2>/dev/null", "kill -TERM $BASHPID", "break", "exit x", "exit 300", "false", "exit $n", "return 2", "exit 1 2"],
    "action": ["'echo T$?'", "'x=t'", "''", "'echo $BASH_COMMAND'", "'echo L$LINENO'", "'return 4'", "'{{quiet}}'", "'exit 6'", "\"echo $x\"", "'false'", "f0"],
    "quiet": ["n=1", "echo q", ":", "set -- t", "shift"],
    "event": ["ERR", "DEBUG", "USR1", "RETURN", "EXIT", "0", "INT TERM", "SIGUSR2", "nosig"],
    "optstring": ["ab:c", ":ab:c", "a:", "ab", "''", ":", "a::b", "+a", "-a"],
    "optwords": ["-a -b x", "-ab", "-c -z", "-b", "-bx y", "-- -a", "{{word}}", "-abx -c", "-a - -b", "", "-b '' -a", "+a", "-?", "-:"],
    "option": ["noglob", "noclobber", "pipefail", "errtrace", "functrace", "xtrace", "nounset", "errexit", "allexport", "braceexpand", "keyword", "posix", "physical", "verbose", "onecmd2", "hashall", "monitor", "privileged2", "notify"],
    "shopt": ["nullglob", "dotglob", "globstar", "extglob", "nocasematch", "nocaseglob", "lastpipe", "xpg_echo", "patsub_replacement", "inherit_errexit", "failglob", "localvar_inherit", "localvar_unset", "globasciiranges", "assoc_expand_once", "shift_verbose", "sourcepath",
              "extquote", "cdable_vars", "autocd", "globskipdots", "varredir_close", "noexpand_translation", "extdebug", "compat44", "compat50", "gnu_errfmt", "nosuchopt", "execfail", "expand_aliases", "cmdhist", "promptvars", "cdspell"],
    "letter": ["i", "u", "l", "c", "x", "a", "A", "ix", "r", "n", "t", "iu", "lx", "ai", "au", "Ai", "ar"],
    "vector": ["${!x@}", "${!v*}", '"${a[@]:1}"', '"${@:2}"', '"${*:1:2}"', "${a[@]/b/X}", '"${a[@]#b}"', "${#a[@]} ${#a[1]}", "${m[@]@Q}", "${a[*]^^}", "${@/o/0}", '"${a[@]@A}"', "${x@P}", "${!a[*]}", "${a[@]: -1}", "${a[n-2]}", "${a[$((1))]}", "${m[\"k\"]}", "${#*}", '"${a[@]@K}"', '"${m[@]@k}"',
               '"${a[*]:0:2}"', '"${@:0}"', '"${@: -1}"', "${a[@]+set}", "${a[@]:-none}", '"x${a[@]}y"', '"x$@y$*"', "${@%?}", '"${m[@]/%?/!}"', "${*@U}", '"${a[@]@Q}"', "${a[@]@a}", "${@@Q}", '"${!m[@]}"', '"$@$@"', "${a[@]/#/p}", "${a[@]/%/s}", '"${a[*]@L}"', "${!2}", "${!a[0]}"],
    "letwords": ["'{{arith}}'", "'{{arith}}' '{{arith}}'", "n=1 m[k]=2", ""],
    "separator": [":", "','", "' :'", "x", "''", "$'\\n'", "é", "a", "'\\'", "$' \\t'", "'*'"],
    "signal": ["9", "TERM", "15", "SIGINT", "130", "x", "0", "64", "RTMIN", "128"],

    # Builtins, with options of every kind.
    "builtin": [
        "pushd {{place}}; popd; dirs", "pushd {{place}} > /dev/null; dirs -v; dirs -l; dirs -p; dirs +1; popd -n; dirs -c", "pushd; pushd d; pushd +1; popd +0; dirs", "cd {{cdoption}} {{place}}; echo $? $PWD; cd ~", "pwd {{pwdoption}}", "type {{typeoption}} {{command}}", "command {{commandoption}} {{command}}", "builtin {{builtinname}} {{words}}",
        "hash cat; hash {{command}} 2>&1; hash -t cat; hash -d cat; hash -r", "alias q={{word}}; alias q; unalias q", "alias q=1; alias -p; unalias -a; alias q", "unset {{unsetoption}} {{variable}}; echo ${x-unset}", "declare {{declareoption}} {{declared}}", "typeset -f f0; declare -F f0", "declare -f f1", "export {{exportoption}} x; declare -p x",
        "readonly {{readonlyoption}}", "set -o | grep {{setgrep}}", "shopt {{shoptoption}} {{shopt}}", "shopt -o {{option}}; shopt -po {{option}}", "shopt -qs nullglob; echo $?", "set {{setletter}} {{words}}; echo $# $-", "set +{{setletters}}; echo $-", "set -{{setletters}}; {{simple}}; set +{{setletters}}", "shift {{shiftcount}}; echo $? $#",
        "test {{test}}; echo $?", "[ {{test}}; echo $?", "echo {{echooption}} {{words}}", "umask {{umask}}; umask; umask -S; umask 022", "trap -p; trap {{action}} {{event}}; trap -p; trap - {{event}}", "trap -l | head -n 1", "times > /dev/null; echo $?", "enable -n echo; type -t echo; enable echo; type -t echo",
        "compgen {{compgen}}", "source {{sourced}} {{words}}; echo $?", "printf 'echo src $# $1 ${BASH_SOURCE[0]}\\n{{quiet}}\\n' > s; . ./s {{words}}; echo $#", "printf 'return 3\\necho no\\n' > s; . ./s; echo $?", "eval {{words}}; echo $?", "exec {{execargs}}; echo after $?", "(exec {{execargs}}); echo after $?", "jobs {{joboption}}; wait",
        "sleep 0.01 & jobs; wait", "sleep 0.02 & disown; jobs; echo $?", "wait {{waitargs}}; echo $?", "kill {{killargs}}; echo $?", "caller; caller 0; echo $?", "help -s {{builtinname}}", "history; fc -l; echo $?", "complete -p; echo $?", "logout; echo $?", "getopts {{optstring}} o {{optwords}}; echo $? $o $OPTARG $OPTIND", "let; echo $?",
        "read; echo $? $REPLY", "read -r {{words}} <<< 'a b'", "local x; echo $?", "return 3; echo $?", "break; continue; echo $?", "unalias nope; hash -x; pwd -x; cd a b; shift a b; echo $?", "mapfile -t < <(seq 3); echo ${MAPFILE[@]}", "printf", "printf %s; printf -v; printf '%y' 1; echo $?", "unset 1a; export 1a=2; declare 1a; readonly 1a; local 1a; echo $?",
        "declare -i n=5; n+=3; n+=x; echo $n", "export -f f0; bash -c 'f0 q'; export -nf f0", "export -n x; printenv x; echo $?", "declare -x q=1; printenv q; unset q", "command -v {{command}}; command -V {{command}}", "set -- -a b; set -; echo $-:$#", "disown nojob; fg; bg; echo $?", "unset -v x; unset -f x; unset -n x; echo $?", "dirs {{dirarg}}",
    ],
    "place": ["d", "nope", "..", "+0", "/", "-", "f1", "~", ".", "-n", "''", "+3", "d/../d", "-0"],
    "cdoption": ["", "", "-P", "-L", "-e", "--", "-z", "-@"],
    "pwdoption": ["", "-P", "-L", "x"],
    "typeoption": ["", "-t", "-a", "-p", "-P", "-f", "-at", "-z"],
    "command": ["if", "echo", "ls", "f0", "nope", "[[", "cat", "[", "time", "f1 echo", "./s", "d", "", "!", "{", "cd", "mapfile", "q"],
    "commandoption": ["", "-v", "-V", "-p", "-pv", "--", "-z"],
    "builtinname": ["echo", "true", "cd", "nope", "test", "[", "read", "printf", "export", "set", ":", "declare", "trap", "wait", "let", "hash", "bind", "complete", "mapfile"],
    "unsetoption": ["", "-v", "-f", "-n", "-fv", "-x"],
    "declareoption": ["-p", "-f", "-F", "-g", "-i", "-a", "-A", "-r", "-x", "-t", "-u", "-l", "-n", "+i", "+x", "+a", "+r", "-pi", "-z", "+A", "-fx"],
    "declared": ["x", "y", "a", "m", "n=3", "x=a b=c", "a=(1 2)", "'a[1]=2'", "nope", "x+=1", "m=([a]=b)", "\"$x\"", "1", "a+=(x)", "f0", "x=$y", "u", "a[5]=1"],
    "exportoption": ["", "-n", "-f", "-z", "--"],
    "readonlyoption": ["-a q=(1)", "-A q2=([a]=1)", "q3=1; q3=2", "-f f0", "-p | grep ' x='", "q4; declare -p q4", "x y"],
    "setgrep": ["errexit", "pipefail", "no", "posix"],
    "shoptoption": ["", "-p", "-q", "-s", "-u", "-su", "-z"],
    "setletter": ["-f", "-u", "-x", "+x", "-o", "+f", "-C", "-B", "+B", "--", "-z", "-fx", "-", "+"],
    "setletters": ["f", "u", "x", "e", "a", "C", "B", "h", "v", "E", "T", "m", "P", "fu", "b"],
    "shiftcount": ["", "0", "1", "2", "9", "-1", "x", "1x", "--", "$n"],
    "echooption": ["-n", "-e", "-E", "-ne", "-nE", "-z", "--", "-en", "-e '\\t\\x41\\0101\\c'", "-e '\\u00e9\\e\\\\'"],
    "umask": ["077", "u=rwx,g=,o=", "0", "999", "u+x", "a-w", "g=u", "x", "-p", "o-rwx,u=r"],
    "compgen": ["-W 'a ab b' a", "-v | grep '^[xyz]$'", "-A function", "-b | grep '^e'", "-k w", "-f f1", "-A nope", "-W \"$x\"", "-P p -S s -W 'a b'", "-X 'a*' -W 'a b'", "-e"],
    "sourced": ["nope", "", "f1", "d", "./f1", "/dev/null", "<(echo 'echo src $1')", "-z"],
    "execargs": ["echo {{word}}", "nope", "-a zero bash -c 'echo $0'", "-c env", "", "> f1", "d", "-z", "bash -c 'echo $x'", "./f1", "cat f1", "/nodir/x", "3>&1"],
    "joboption": ["", "-l x", "-p", "-r", "-s", "%1", "-x echo a", "-z"],
    "waitargs": ["", "1", "%1", "-n", "x", "99999", "-f", "-p v -n", "-z", "%%"],
    "killargs": ["-l", "-s", "-0 $$", "99999999", "x", "-9", "-l 1 2", "%1", "-s NOPE $$", "", "-l TERM", "-n 99 $$", "-L | head -n 1", "-TERM nojob"],
    "dirarg": ["", "+0", "+9", "-x", "-l -p", "x", "-v"],

    # Shells, scripts and tools.
    "shell": [
        "bash -c {{quotedsimple}} {{words}}", "bash -c 'echo $0 $# \"$@\"' {{words}}", "bash --posix -c '{{posix}}' {{words}}", "echo '{{posix}}' > s; bash s {{words}}", "printf '#!/bin/bash\\necho $0 $#\\n{{quiet}}\\n' > s; chmod +x s; ./s {{words}}", "printf '#!/bin/bash -e\\n{{posix}}\\n' > s; chmod +x s; ./s",
        "echo '{{posix}}' | bash", "echo '{{posix}}' | bash -s {{words}}", "bash -{{setletters}} -c '{{posix}}'; echo $?", "bash -o {{option}} -c '{{posix}}'; echo $?", "bash -O {{shopt}} -c 'echo f*'; echo $?", "bash nope; echo $?", "bash -n -c '{{posix}}'; echo $?", "bash --posix -c '{{posix}}'", "x={{word}} bash -c 'echo \"$x\"'",
        "bash -c 'kill $$'; echo $?", "bash -c 'exit 7'; echo $?", "env x={{word}} bash -c 'echo $x'", "printf '#!/usr/bin/env bash\\nexit 4\\n' > s; chmod +x s; ./s; echo $?", "echo 'echo plain $0' > s; chmod +x s; ./s; PATH=.:$PATH s; echo $?", "set -o posix; {{simple}}; set +o posix",
    ],
    "posix": ["echo $0 $x", "f() { echo $1; return 3; }; f a; echo $?", "x=1 :; echo $x", "echo $((1/0)); echo on", "readonly q=1; q=2; echo on", "set -e; false; echo no", "trap \"echo bye\" EXIT; exit 3", ". nope; echo on", "echo ${x?msg}; echo on", "shift 5; echo on", "echo a; (exit 3)", "nosuch; echo $?", "[[ a == a ]] && echo y",
              "unset x; set -u; echo $x; echo on", "for i in 1 2; do echo $i; done", "if; then", "echo a b | cat", "break; echo on", "export X=1; printenv X", "cd nope; echo $?", "type echo; command -v f", "local x; echo $?", "x=(1 2); echo ${x[1]}", "echo $BASHPID > /dev/null; echo $PPID > /dev/null", "case a in a) echo c;; esac", "echo ${#x} ${x:-d}", "eval \")\"; echo on", "exec nope; echo on"],
    "tool": [
        "seq {{seqargs}}", "printf '%s\\n' {{words}} | {{stage}} | {{stage}}", "ls {{lsargs}}", "cat f1 {{catargs}}", "basename {{word}} 2>&1", "dirname {{word}} 2>&1", "expr {{exprargs}}; echo $?", "mkdir -p e/f; rmdir e/f; ls e", "rm -f f1; ls", "cp f1 f3; mv f3 f4; ls f*", "ln -s f1 l; readlink l; [ -L l ]; echo $?",
        "find . -name '{{findname}}' | sort", "echo {{plain}} | sed 's/{{sedpattern}}/[&]/g'", "printf 'a 1\\nb 2\\n' | awk '{{awkprogram}}'", "printf '3\\n1\\n2\\n' | sort -n | head -n {{small}}", "echo {{word}} | tr a-c A-C", "echo {{plain}} | grep {{grepoption}} {{sedpattern}}; echo $?", "echo a,b,c | cut -d, -f{{field}}", "test -e f1 && echo yes",
        "env | grep '^x='", "printenv x y", "yes {{plain}} | head -n 2", "date -u -d @0 +%Y-%m-%d", "sleep 0", "timeout 1 true; echo $?", "true | xargs echo {{word}}", "printf '1\\n2\\n' | xargs -I{} echo '<{}>'", "echo {{plain}} | tee f3 | wc -c", "touch g1; [ g1 -nt f1 ]; ls g*", "comm -12 <(printf 'a\\nb\\n') <(printf 'b\\nc\\n')",
        "printf 'a b\\n' | while read p q; do echo $q $p; done", "head -c 3 <<< {{word}}", "printf 'x\\ty\\n' | expand | od -An -c", "join <(echo 1 a) <(echo 1 b)", "paste <(seq 2) <(seq 3 4)", "uniq -c <<< $'a\\na\\nb'", "realpath d/.. | tail -c 6", "mktemp -u XXXX > /dev/null; echo $?", "stat -c %s f1", "which cat nope; echo $?", "nproc > /dev/null", "id -un", "uname", "cmp f1 f2; echo $?",
    ],
    "seqargs": ["3", "2 4", "1 2 5", "3 1", "-w 8 10", "-s , 3", "1.5 3", "x", "3 -1 1"],
    "lsargs": ["", "-a", "d", "nope", "-1", "-d d", "f*", "-r"],
    "catargs": ["", "f2", "nope", "-", "-n", "d"],
    "exprargs": ["1 + 2", "$n \\* 2", "abc : 'a\\(.\\)'", "length $x", "5 / 0", "substr abc 2 1", "", "a = a", "index abc c", "1 \\< 2"],
    "findname": ["f*", "*", "g", "?1"],
    "sedpattern": ["a", "b*", "[0-9]", "^", "x", "o\\{1,2\\}", "."],
    "awkprogram": ["{ print $2 }", "END { print NR }", "$2 > 1", "{ s += $2 } END { print s }", "BEGIN { print length(\"abc\") }", "{ $1 = \"z\"; print }"],
    "grepoption": ["", "-c", "-v", "-o", "-q", "-E", "-n", "-i", "-x"],
    "field": ["1", "2", "2-", "1,3", "9", "0"],

    # What is wrong on purpose.
    "error": [
        "nosuch {{words}}", "./nosuch", "./d", "./f1", "echo ${x!}", "echo ${}", "echo $((", "echo $((1+))", "1x=2", "a b=c", "readonly ro=1; ro=2", "unset ro", "echo ${u:?}", "echo ${u?{{word}}}", "local q=1", "return", "echo $((1/0)); echo on", "((1/0)); echo $?", "let 1/0; echo $?", "declare -i n=1/0; echo $?", "a[1/0]=2; echo $?",
        "echo ${a[1/0]}", "echo ${x:1/0}", "[ 1 -eq a ]; echo $?", "[[ 1 -eq a/0 ]]; echo $?", "[ a b c d e ]; echo $?", "cd a b; echo $?", "x=(1 2) echo a", "echo ${!1x}", "declare -n q=q; echo $?", "eval 'echo )'; echo $?", "eval 'if'; echo $?", "eval 'for in'; echo $?", "eval '\"'; echo $?", "eval '$('; echo $?", "eval '${'; echo $?",
        "eval '[[ a'; echo $?", "eval '((1'; echo $?", "eval 'a=('; echo $?", "eval 'case a in'; echo $?", "eval 'f() {'; echo $?", "eval '<<<'; echo $?", "eval 'cat <'; echo $?", "eval '| a'; echo $?", "eval 'a &&'; echo $?", "eval 'a ;; b'; echo $?", "eval '{{token}} {{token}}'; echo $?", "eval '{{token}} {{token}} {{token}}'; echo $?", "eval 'echo {{token}} {{token}} {{token}}'; echo $?",
        "eval 'echo a {{token}}\n{{token}} {{token}}'; echo $?", "bash -c '{{token}} {{token}}'; echo $?", "bash -c '{{token}} {{token}} {{token}}'; echo $?", "printf '%s\\n' 'echo 1' '{{token}} {{token}}' > s; . ./s; echo $?", "printf '%s\\n' 'echo 1' '{{token}} {{token}}' 'echo 2' > s; bash s; echo $?",
    ],
    "token": ["if", "then", "fi", "for", "in", "do", "done", "while", "case", "esac", "(", ")", "{", "}", "|", "||", "&&", "&", ";", ";;", "<", ">", "<<", ">>", "a", "x=1", "$x", "\"", "[[", "]]", "((", "))", "!", "$(", "`", "function", "f()", "elif", "else", "until", "select", "time", "coproc", "a=(", "<(", ";&", "2>", "<&", "|&", "&>", "#", "\\", "${", "$((",
              "[", "]", "==", "=~", "echo"],
}

# A word that is a name of GRAMMAR with other texts once a script is deep.
LEAVES = {
    "statement": ["echo {{plain}}", "echo $x", ":", "false", "x={{plain}}", "set -- a b"],
    "simple": ["echo {{plain}}", "echo \"$@\"", "true", "false", "x={{plain}}", "printf '<%s>' \"${a[@]}\"", "echo $((n++))", "f0"],
    "simples": ["true", "false", "[ -n \"$x\" ]"],
    "body": ["echo $x", "x={{plain}}", "false"],
    "compound": ["{ echo {{plain}}; }", "( x={{plain}}; false )"],
    "group": ["{ echo {{plain}}; }", "( echo $x )"],
    "expansion": ["$x", "${y}", "\"$@\"", "$((n))"],
    "param": ["$x", "${y}", "${a[@]}", "$1"],
    "word": ["{{plain}}", "$x", "\"$y\"", "''"],
    "words": ["", "{{plain}}", "$x \"$@\""],
    "cond": ["$x == a*", "-n $x", "1 -lt n"],
    "test": ["-n \"$x\"", "a = b"],
    "arith": ["n", "1", "2", "x"],
    "heretext": ["text $x", "plain"],
    "with": ["X", "&", ""],
    "error": ["nosuch"], "feature": ["echo ${a[@]}"], "builtin": ["pwd"], "shell": ["bash -c :"], "tool": ["seq 2"], "pipeline": ["echo {{plain}} | cat"], "heredoc": ["cat <<E\n$x\nE"],
}

HEADS = ["abc", "'a b'", "aXbXc", "a/b/c.d", "''", "5", "é1"], ["b", "'*'", "a", "'x y'", "1", "'[a'", "'\\'"]
# Endless recursion is bash's own crash.
LIMITS = "FUNCNEST=12"
FIXTURE = "mkdir d; touch f1 f2 d/g; hash -r"
DEPTH = 11
DEEP = {"statement", "compound", "feature", "body"}


def weighted(texts):
    out = []
    for text in texts:
        m = re.match(r"(\d+) (?=.)", text)
        times, text = (int(m.group(1)), text[m.end():]) if m and int(m.group(1)) < 20 and "{{" in text else (1, text)
        out += [[part for part in re.split(r"\{\{(\w+)\}\}", text)]] * times
    return out


RULES = {name: weighted(texts) for name, texts in GRAMMAR.items()}
SHALLOW = {name: weighted(LEAVES[name]) if name in LEAVES else [t for t in texts if len(t) == 1] or texts for name, texts in RULES.items()}


class Script:
    """One random script."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def grow(self, name, depth):
        parts = self.r.choice((SHALLOW if depth > DEPTH else RULES)[name])
        own = str(self.r.randrange(10000)) if "id" in parts else ""
        return "".join(part if i % 2 == 0 else own if part == "id" else self.grow(part, depth + (3 if part in DEEP else 2)) for i, part in enumerate(parts))

    def broken(self, text):
        """The text with a few characters lost, doubled or changed places."""
        for _ in range(self.r.randrange(1, 3)):
            i = self.r.randrange(len(text))
            j = min(len(text), i + self.r.randrange(1, 4))
            text = self.r.choice([text[:i] + text[j:], text[:j] + text[i:], text[:i] + text[j:j + 2] + text[i:j] + text[j + 2:], text[:i] + self.r.choice("\"'`(){}[]<>|&;$\\ \n#") + text[i:]])
        return text

    def text(self):
        r = self.r
        head = "%s x=%s y=%s s='a b' n=3 p=x; a=(1 'b c' 3); declare -A m=([k]=v [q]=1)\n%s; set -- one 'two 2' three" % (LIMITS, r.choice(HEADS[0]), r.choice(HEADS[1]), FIXTURE)
        if r.random() < 0.15:
            head += "\nset -%s" % r.choice(["e", "u", "x", "eu", "f", "a", "C", "E", "T"])
        if r.random() < 0.1:
            head += "\ntrap '%s' %s" % (r.choice(["echo trap $?", "echo t; false", "x=trapped"]), r.choice(["EXIT", "ERR", "DEBUG", "RETURN"]))
        lines = [self.grow("statement", 0) for _ in range(r.randrange(2, 7))]
        if r.random() < 0.04:
            lines = [self.broken("\n".join(lines))]
        return "\n".join([head] + lines + ["echo status $? $x \"$*\""])

#!/usr/bin/env python3
"""The language's figures, one JSON object a line: libshell's time against bash's, and dash's where dash can run the script.

usage: lang.py PATH-OF-libshell [NAME...]
Medians of interleaved rounds; of each shell's time its start-up is taken off.
"""
import json
import statistics
import subprocess
import sys
import time

ROUNDS = 3

# name, script, what it must beat bash by, whether dash runs it
WORK = [
    ("while", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done", 10, True),
    ("cfor", "for ((i=0;i<500000;i++)); do :; done", 10, False),
    ("for_range", "for i in {1..500000}; do :; done", 10, False),
    ("fib", "fib() { if [ $1 -lt 2 ]; then r=$1; else fib $(($1-1)); local a=$r; fib $(($1-2)); r=$((a+r)); fi; }; fib 22", 10, True),
    ("fib_subst", "fib() { if [ $1 -lt 2 ]; then echo $1; else echo $(($(fib $(($1-1)))+$(fib $(($1-2))))); fi; }; fib 14 >/dev/null", 300, True),
    ("append_string", "for ((i=0;i<200000;i++)); do s+=x; done", 8, False),
    ("append_array", "for ((i=0;i<200000;i++)); do a+=(x); done", 8, False),
    ("set_element", "for ((i=0;i<200000;i++)); do a[i]=$i; done", 8, False),
    ("assoc_insert", "declare -A m; for ((i=0;i<200000;i++)); do m[k$i]=$i; done", 8, False),
    ("assoc_lookup", "declare -A m; for ((i=0;i<1000;i++)); do m[k$i]=$i; done; for ((i=0;i<200000;i++)); do x=${m[k$((i%1000))]}; done", 8, False),
    ("read_case", "seq 100000 | while read -r l; do case $l in *7) n=$((n+1)) ;; 5*) m=$l ;; esac; done", 8, True),
    ("read_regex", "seq 100000 | while read -r l; do [[ $l =~ ^([0-9])([0-9]*)$ ]] && x=${BASH_REMATCH[2]}; done", 8, False),
    ("read_replace", "seq 100000 | while read -r l; do x=${l//1/one}; done", 8, False),
    ("substitution", "i=0; while [ $i -lt 20000 ]; do x=$(echo x); i=$((i+1)); done", 500, True),
    ("pipe", "i=0; while [ $i -lt 20000 ]; do echo x | cat >/dev/null; i=$((i+1)); done", 1000, True),
    ("subshell", "i=0; while [ $i -lt 20000 ]; do (:); i=$((i+1)); done", 500, True),
    ("substitution_2000_vars", "for ((i=0;i<2000;i++)); do eval v$i=$i; done; i=0; while [ $i -lt 20000 ]; do x=$(echo x); i=$((i+1)); done", 500, False),
]


def script_of_lines(lines):
    block = [
        "f%d() {", "  local a=\"$1\" b=${2:-x}", "  if [ \"$a\" = \"$b\" ]; then", "    echo \"$a: $(echo $b | tr a-z A-Z)\" >> log.%d",
        "  elif [[ $a == *.txt && -n $b ]]; then", "    for i in 1 2 3; do echo $((i * 2 + %d)); done", "  fi", "  case $b in x) return 0 ;; y*) shift ;; esac",
        "  v%d=${a%%/*}; arr+=(\"$v%d\")", "}",
    ]
    out = []
    for n in range(lines // len(block)):
        out += [line.replace("%d", str(n)).replace("%%", "%") for line in block]
    return "\n".join(out) + "\n"


def run(argv, script=None):
    start = time.monotonic()
    subprocess.run(argv, input=script, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, text=True)
    return time.monotonic() - start


def median_less_start(argv, empty, rounds):
    return statistics.median(run(argv) for _ in range(rounds)) - statistics.median(run(empty) for _ in range(5))


def report(name, ours, bash, target, dash):
    line = {"name": "lang." + name, "value": round(ours * 1e3, 3), "unit": "ms", "against": "bash", "ratio": round(bash / max(ours, 1e-9), 2), "target": target,
            "ok": bash / max(ours, 1e-9) >= target}
    if dash is not None:
        line["dash_ratio"] = round(dash / max(ours, 1e-9), 2)
        line["ok"] = line["ok"] and dash > ours
    print(json.dumps(line), flush=True)


def main():
    shell, names = sys.argv[1], sys.argv[2:]
    empty = [shell, "-c", ":"]
    for name, script, target, dash_too in WORK:
        if names and name not in names:
            continue
        ours = median_less_start([shell, "-c", script], empty, ROUNDS)
        bash = median_less_start(["bash", "-c", script], ["bash", "-c", ":"], 1 if target >= 300 else ROUNDS)
        dash = median_less_start(["dash", "-c", script], ["dash", "-c", ":"], 1 if target >= 300 else ROUNDS) if dash_too else None
        report(name, ours, bash, target, dash)
    if not names or "parse" in names:
        path = "/tmp/libshell-bench-%d.sh" % time.monotonic_ns()
        text = script_of_lines(20000)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        bash = median_less_start(["bash", "-n", path], ["bash", "-c", ":"], 5)
        ours = median_less_start([shell, "-n", "-c", text], empty, 5) if len(text) < 120000 else None
        if ours is None: # longer than one argument may be
            times = []
            for _ in range(5):
                times.append(run([shell, "-n"], text))
            ours = statistics.median(times) - statistics.median(run(empty) for _ in range(5))
        report("parse", ours, bash, 5, None)
        subprocess.run(["rm", path], check=False)


main()

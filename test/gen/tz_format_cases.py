"""Prints test/unit/tz_format_cases.h: formats and what GNU date printed for them.

    python3 test/gen/tz_format_cases.py > test/unit/tz_format_cases.h
"""
import random
import subprocess

random.seed(2)
DIRECTIVES = "aAbBcCdDeFgGhHIjklmMnNpPqrRsStTuUVwWxXyYzZ%"
TIMES = [0, 951782400, 1709210096, -62135596800, 253402300800, 1230768000, 1262304000, -1, 1000000000, 1483142400, -30000000000]
cases = []
for d in DIRECTIVES:
    cases += [("%" + d, 1709210096), ("[%" + d + "]", -1)]
for _ in range(500):
    fmt = "%" + "".join(random.choice("-_0+^#") for _ in range(random.choice((0, 1, 1, 2))))
    fmt += random.choice(("", "", "1", "2", "5", "12")) + random.choice(("", "", "", "", "E", "O", ":", "::", ":::"))
    last = random.choice(DIRECTIVES + "z" * 6 + "LQ")
    # Modifiers where strftime has none, and widths on %% itself, print what gnulib's buffer arithmetic happens to give.
    if last != "%" and not (fmt[-1] in "EO" and last in "aqY"):
        cases.append((fmt + last, random.choice(TIMES)))
for fmt, at in cases:
    frac = ".012300000" if at >= 0 else ""
    stamp = str(at) + frac if at >= 0 else "%d.%09d" % (at, 0)
    if at < 0:
        fmt_has_n = "N" in fmt
        if fmt_has_n:
            continue
    env = {"LC_ALL": "C.UTF-8", "TZ": "UTC0"}
    out = subprocess.run(["/bin/date", "-u", "-d", "@" + stamp, "+" + fmt], env=env, capture_output=True)
    if out.returncode == 0:
        text = out.stdout.decode()[:-1].replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace('"', '\\"')
        print('{"%s", %d, "%s"},' % (fmt, at, text))

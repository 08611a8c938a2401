#!/usr/bin/env python3
"""Each function of include/shell.h is called by the Node addon, or left out here with a reason.

usage: node.py ROOT      prints what disagrees; status 1 when anything does
"""
import pathlib
import re
import sys

LEFT_OUT = {
    "shell_limits_init_sized": "the limits come whole, from index.js",
    "shell_changes": "shell_changes_full says the same and more",
    "shell_command": "every command is a machine: it must not hold up the run while JavaScript answers",
    "shell_call_input": "of blocking commands",
    "libshell_crypto": "opened by name, see on_component", "libshell_archive": "as libshell_crypto", "libshell_data": "as libshell_crypto",
    "libshell_net": "as libshell_crypto",
}


def main():
    root = pathlib.Path(sys.argv[1])
    header = set(re.findall(r"SHELL_API [^;(]*?\b((?:lib)?shell_\w+) *\(", (root / "include/shell.h").read_text()))
    code = "".join(path.read_text() for path in sorted((root / "bindings/node/src").glob("*.c")))
    called = {name for name in header if re.search(rf"\b{name.removesuffix('_sized')}\(", code)}
    problems = [f"{name}: neither called nor left out" for name in sorted(header - called - set(LEFT_OUT))]
    problems += [f"{name}: left out, and called" for name in sorted(called & set(LEFT_OUT))]
    problems += [f"{name}: left out, and not in the header" for name in sorted(set(LEFT_OUT) - header)]
    print("\n".join(problems) or f"node: {len(called)} functions called, {len(LEFT_OUT)} left out")
    sys.exit(bool(problems))


main()

#!/usr/bin/env python3
"""Layering: includes go one way, and only host_*.c name system headers that do system calls.

usage: layers.py ROOT      prints each violation; status 1 when there is one
"""
import os
import re
import sys

# A layer may include itself and those below it.
ALLOWED = {
    "include": set(),
    "lib/base": {"lib/base"},
    "vfs": {"lib/base", "vfs"},
    "lib/kernel": {"lib/base", "vfs", "lib/kernel"},
    "lib/lang": {"lib/base", "vfs", "lib/kernel", "lib/lang", "builtins/command.h"},
    "builtins": {"lib/base", "builtins"},
    "builtins/net": {"lib/base", "builtins", "builtins/net", "lib/kernel/http.h"},
    "lib/net": {"include", "lib/kernel/component.h", "lib/net"},
    "builtins/shell": {"lib/base", "builtins", "builtins/shell", "lib/lang/builtin.h"},
    "lib/crypto": {"include", "lib/kernel/component.h"},
    "lib/archive": {"include", "lib/kernel/component.h"},
    "lib/data": {"include", "lib/kernel/component.h"},
    "lib/api": {"include", "lib/base", "vfs", "lib/kernel", "lib/lang/lang.h", "lib/api", "builtins/registry.h", "builtins/command.h"},
    "bindings": {"include/shell.h", "bindings"},
}
# command.h and shared.h hand the kernel's process calls on to commands.
EXTRA = {"builtins/command.h": {"lib/kernel/kernel.h", "lib/kernel/component.h"}}
# Headers whose functions are system calls: for host_*.c alone.
SYSTEM = re.compile(r"<(sys/mman|sys/socket|sys/syscall|sys/random|sys/wait|sys/resource|unistd|fcntl|dirent|sys/ioctl|sys/uio|time|signal|poll|sys/epoll|netdb)\.h>")
# Types and constants without calls.
HARMLESS = {("lib/api", "<unistd.h>"), ("builtins/shell", "<signal.h>"), ("vfs", "<fcntl.h>")}
INCLUDE = re.compile(r'^\s*#\s*include\s+(".*?"|<.*?>)')


def layer_of(path):
    best = ""
    for name in ALLOWED:
        if path.startswith(name + "/") and len(name) > len(best):
            best = name
    return best


def resolve(root, file, target):
    for base in (os.path.dirname(file), "", "builtins", "include"):
        path = os.path.normpath(os.path.join(base, target))
        if os.path.exists(os.path.join(root, path)):
            return path
    return None


def check_file(root, file, problems):
    layer = layer_of(file)
    allowed = ALLOWED[layer] | EXTRA.get(file, set())
    with open(os.path.join(root, file), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            m = INCLUDE.match(line)
            if not m:
                continue
            target = m.group(1)
            if target.startswith("<"):
                host = os.path.basename(file).startswith("host")
                if SYSTEM.match(target) and not host and layer not in ("bindings", "lib/net") and (layer, target) not in HARMLESS:
                    problems.append(f"{file}:{number}: {target} belongs in a host_*.c")
                continue
            path = resolve(root, file, target[1:-1])
            if path is None:
                problems.append(f"{file}:{number}: {target} does not exist")
            elif path not in allowed and layer_of(path) not in allowed:
                problems.append(f"{file}:{number}: {layer} must not include {path}")


def main():
    root = sys.argv[1]
    problems = []
    for top in ("include", "lib", "vfs", "builtins", "bindings/cli"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    check_file(root, os.path.relpath(os.path.join(folder, name), root), problems)
    print("\n".join(problems) if problems else "layers: every include goes down")
    sys.exit(1 if problems else 0)


main()

#!/usr/bin/env python3
"""The allow list of imports: what each object of the library may take from outside.

usage: imports.py ROOT OBJECT_DIR ALLOW_FILE [--update]

Every symbol that an object leaves undefined and no other object of the library defines must stand in the allow file, for that object. Lines
are `symbol glob[,glob] reason`, the globs over source paths. Names that must never be there are refused even when listed.
"""
import fnmatch
import os
import subprocess
import sys

NEVER = """fork vfork clone execve execv execvp execl execle execlp execvpe fexecve posix_spawn posix_spawnp system popen dlopen dlmopen dlsym syscall
getenv secure_getenv environ abort exit _exit _Exit quick_exit signal sigaction umask chdir fchdir setlocale tzset localtime localtime_r mktime
iconv_open getpwnam getpwuid getpwnam_r getpwuid_r getgrnam getgrgid qsort qsort_r glob regcomp regexec stdout stderr printf puts putchar
perror strerror rand srand random strtok socket connect""".split()
# The stack protector and FORTIFY abort by themselves; sanitizers and coverage bring their own.
TOOLCHAIN = ("__stack_chk_fail", "__asan", "__ubsan", "__tsan", "__sanitizer", "__lsan", "_GLOBAL_OFFSET_TABLE_", "__gcov", "__llvm")


def read_objects(paths):
    """By path: what it defines for others, and what it leaves undefined. One nm for many objects."""
    table = {p: (set(), set()) for p in paths}
    for at in range(0, len(paths), 200):
        out = subprocess.run(["nm", "-A", "-P", "-g"] + paths[at:at + 200], capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            path, _, rest = line.partition(": ")
            name, kind = rest.split()[:2]
            table[path][kind in "Uvw"].add(name.split("@")[0])
    return table


def plain(name):
    """The function behind a FORTIFY wrapper."""
    if name.startswith("__isoc99_"):
        return name[9:]
    return name[2:-4] if name.startswith("__") and name.endswith("_chk") else name


def main():
    root, objects, allow_file = sys.argv[1:4]
    allow, problems, used = {}, [], set()
    with open(allow_file, encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line:
                name, globs = line.split(None, 2)[:2]
                allow.setdefault(name, []).extend(globs.split(","))
    paths = [os.path.join(d, n) for d, _, names in os.walk(objects) for n in names if n.endswith(".o")]
    if not paths:
        sys.exit("imports: no objects in " + objects)
    table = read_objects(paths)
    defined = set().union(*(has for has, _ in table.values()))
    for path in sorted(paths):
        source = os.path.relpath(path, objects)[:-2]
        for name in sorted(table[path][1] - defined):
            if name.startswith(TOOLCHAIN):
                continue
            base = plain(name)
            used.add(base)
            if base in NEVER:
                problems.append(f"{source}: {base} is never allowed")
            elif not any(fnmatch.fnmatch(source, g) for g in allow.get(base, [])):
                problems.append(f"{source}: {base} is not on the allow list for it")
    for name in sorted(set(allow) - used):
        problems.append(f"{name} is on the list and used by nobody")
    print("\n".join(problems) if problems else f"imports: {len(used)} symbols, all on the list")
    sys.exit(1 if problems else 0)


main()

#!/bin/sh
# The main job on real files: install what is missing, build, and run pipelines over a copy of this repository, from the command line and from Python.
set -eu
cd "$(dirname "$0")/.."
sh test/setup.sh build
cmake --preset release >/dev/null
cmake --build build/release --parallel "$(nproc)" --target shell libshell_cli >/dev/null
script='grep -rn "#include" lib builtins vfs | cut -d: -f3 | sort | uniq -c | sort -rn | head -n 5'

echo "== the command line, over a copy of this repository"
build/release/libshell --bind "$PWD:/workspace" -c "$script"

echo "== the same from Python"
PYTHONPATH=build/quickstart
rm -rf "$PYTHONPATH"
mkdir -p "$PYTHONPATH"
cp -r bindings/python/libshell "$PYTHONPATH/"
cp build/release/libshell.so "$PYTHONPATH/libshell/"
export PYTHONPATH
python3 - "$PWD" "$script" <<'PY'
import sys
import libshell

root, script = sys.argv[1:]
with libshell.Shell(binds=[libshell.Bind(root, "/workspace")]) as shell:
    print(shell.run(script).stdout, end="")
    shell.run("rm -rf /workspace/lib; echo changed > /workspace/README.md")
    print("changed in the shell:", len(shell.changes()), "paths; on the host: none")
PY

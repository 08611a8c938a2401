#!/bin/sh
# Builds what it needs and prints one JSON object a line.
# usage: sh test/bench/run.sh [GROUP...]     groups: core, or its parts construct, fork, run, stream, threads, net-open; start; python; lang; mcp; diff; net; node; text; jq; tools
set -eu
cd "$(dirname "$0")/../.."
sh test/setup.sh build
cmake --preset release >/dev/null
cmake --build build/release --parallel "$(nproc)" >/dev/null
[ $# = 0 ] && set -- core start python lang mcp diff net node tools
core=""
for group in "$@"; do
  case $group in
    start) python3 test/bench/start.py build/release/libshell ;;
    mcp) python3 test/bench/mcp.py build/release/libshell ;;
    lang) python3 test/bench/lang.py build/release/libshell ;;
    tools) python3 test/bench/tools.py build/release/libshell ;;
    diff) python3 test/bench/diff.py build/release/libshell ;;
    text) python3 test/bench/text.py build/release/libshell ;;
    jq) python3 test/bench/jq.py build/release/libshell ;;
    net) python3 test/bench/net.py build/release/libshell build/release/test/bench_net_server && core="$core net-open" ;;
    node) sh test/bench/node/run.sh build/release ;;
    python) python3 test/bench/python.py build/release/libshell.so ;;
    *) core="$core $group" ;;
  esac
done
# shellcheck disable=SC2086
[ -z "$core" ] || build/release/test/bench $core

"""MCP: a tools/call over pipes against a round trip through `cat`. One JSON object a line."""
import json
import os
import statistics
import subprocess
import sys
import time


def talker(argv):
    p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    into, out = p.stdin.fileno(), p.stdout.fileno()

    def ask(line):
        os.write(into, line)
        answer = b""
        while not answer.endswith(b"\n"):
            answer += os.read(out, 65536)
        return answer

    return p, ask


def per_call(ask, line, times):
    start = time.perf_counter()
    for _ in range(times):
        ask(line)
    return (time.perf_counter() - start) / times


def main():
    server, call = talker([os.path.abspath(sys.argv[1]), "--mcp"])
    pipe, echo = talker(["cat"])
    call(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize",
                     "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}}).encode() + b"\n")
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "shell", "arguments": {"command": "echo hi"}}}).encode() + b"\n"
    assert b'"stdout":"hi\\n"' in call(line)
    ours, theirs = [], []
    for _ in range(15):
        theirs.append(per_call(echo, b"x\n", 300))
        ours.append(per_call(call, line, 300))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    print(json.dumps({"name": "mcp.call", "value": round(statistics.median(ours) * 1e6, 1), "unit": "us", "against": "a round trip through cat", "ratio": round(ratio, 2),
                      "target": 60, "ok": ratio <= 60}), flush=True)
    for p in (server, pipe):
        p.stdin.close()
        p.wait()


main()

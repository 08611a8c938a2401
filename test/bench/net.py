"""Network: small requests and a large body against the real curl over a server on the loopback.

One JSON object a line. Figures are medians; ratios are of times or rates measured in turn.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SMALL, BIG, ROUNDS = 2000, 1 << 30, 7


def report(name, value, unit, against, ratio, target, good):
    print(json.dumps({"name": name, "value": value, "unit": unit, "against": against, "ratio": ratio, "target": target, "ok": good}), flush=True)


def timed(argv, wanted):
    start = time.perf_counter()
    out = subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout
    taken = time.perf_counter() - start
    assert len(out) == wanted if isinstance(wanted, int) else out == wanted, out[:200]
    return taken


def in_turn(ours, theirs, wanted, rounds):
    pairs = [(timed(theirs, wanted), timed(ours, wanted)) for _ in range(rounds)]
    return statistics.median(b for _, b in pairs), statistics.median(a / b for a, b in pairs)


def peak(argv):
    """Peak resident bytes of a command."""
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    assert status == 0
    return usage.ru_maxrss * 1024


def small(cli, port):
    url = f"http://127.0.0.1:{port}/small"
    real = ["curl", "-s", f"{url}?[1-{SMALL}]"]
    allowed = [cli, "--allow-private-url", f"http://127.0.0.1:{port}", "-c"]
    for name, script in [("net.small", f"curl -s '{url}?[1-{SMALL}]'"), ("net.small-commands", f"for ((i = 1; i <= {SMALL}; i++)); do curl -s '{url}?'$i; done")]:
        taken, ratio = in_turn(allowed + [script], real, 6 * SMALL, ROUNDS)
        report(name, round(taken / SMALL * 1e6, 1), "us", f"curl given all {SMALL}", round(ratio, 2), 1.0, ratio >= 1.0)


def big(cli, port, folder):
    url = f"http://127.0.0.1:{port}/big/{BIG}"
    script = f"curl -s {url} | wc -c"
    real = ["sh", "-c", script]
    plain = [cli, "--allow-private-url", f"http://127.0.0.1:{port}", "--limit", "download=0", "-c", script]
    config = os.path.join(folder, "config.toml")
    with open(config, "w") as f:
        f.write(f'[[cred]]\nurl = "http://127.0.0.1:{port}"\napi_key = "s3cr3t-T0ken/0123456789"\n')
    secret = plain[:1] + ["--config", config] + plain[1:]
    for name, ours, target in [("net.big", plain, 0.8), ("net.big-credential", secret, 0.6)]:
        taken, ratio = in_turn(ours, real, b"%d\n" % BIG, 5)
        report(name, round(BIG / taken / 1e6), "MB/s", "curl | wc -c", round(ratio, 2), target, ratio >= target)
    for name, ours in [("net.big-memory", plain), ("net.big-credential-memory", secret)]:
        half, whole = (peak(ours[:-1] + [script.replace(str(BIG), str(n))]) for n in (BIG // 16, BIG))
        report(name, round(whole / 1e6, 1), "MB", "a sixteenth of the body", round(whole / half, 2), 1.1, whole <= half * 1.1)


def main():
    cli, server = map(os.path.abspath, sys.argv[1:])
    p = subprocess.Popen([server], stdout=subprocess.PIPE, text=True)
    try:
        port = int(p.stdout.readline())
        small(cli, port)
        with tempfile.TemporaryDirectory() as folder:
            big(cli, port, folder)
    finally:
        p.kill()
        p.wait()


main()

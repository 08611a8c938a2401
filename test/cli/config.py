"""Configuration files: what a good one does, and the exact message about a bad one. usage: config.py LIBSHELL; ends with "N passed, N failed"."""
import os
import subprocess
import sys
import tempfile


def blocks(path):
    found = []
    for line in open(path, encoding="utf-8"):
        if line.startswith("= "):
            found.append({"title": line[2:].strip(), "lines": [], "error": [], "script": None, "output": []})
        elif not found:
            continue
        elif line.startswith("> "):
            found[-1]["error"].append(line[2:])
        elif line.startswith("$ "):
            found[-1]["script"] = line[2:].rstrip("\n")
        elif line.startswith("< ") and found[-1]["script"] is not None:
            found[-1]["output"].append(line[2:])
        elif not found[-1]["error"] and found[-1]["script"] is None:
            found[-1]["lines"].append(line)
    return found


def check(cli, folder, block):
    name = os.path.join(folder, "c.toml")
    text = "".join(block["lines"])
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    run = subprocess.run([cli, "--config", name, "-c", block["script"] or ":"], capture_output=True, env={"HOME": "/root"}, timeout=60)
    error = run.stderr.decode().replace(name, "FILE")
    if block["script"] is None:
        return run.returncode == 2 and error == "".join(block["error"]), (run.returncode, error)
    output = run.stdout.decode()
    wanted = "".join(block["output"])
    return output.strip("\n") == wanted.strip("\n ") and not error.startswith("libshell: FILE"), (output, error)


def main():
    cli = os.path.abspath(sys.argv[1])
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for block in blocks(os.path.join(os.path.dirname(os.path.abspath(__file__)), "config.txt")):
            good, got = check(cli, folder, block)
            passed += good
            failed += not good
            if not good:
                print(f"{block['title']}: got {got!r}, wanted {block['error'] or block['output']!r}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())

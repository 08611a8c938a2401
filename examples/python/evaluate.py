"""An evaluation harness: many small tasks, each in a shell of its own from one image, over a few threads. Prints shells a second.

usage: python evaluate.py [TASKS [THREADS]]"""
import os
import sys
import threading
import time

import libshell

TASKS = [
    ("count the lines of all texts", "cat *.txt | wc -l", lambda out, sh: out.strip() == "30"),
    ("largest number", "sort -n numbers.txt | tail -n 1", lambda out, sh: out.strip() == "10"),
    ("rename", "mv numbers.txt n.txt && ls", lambda out, sh: "n.txt" in out and not sh.exists("numbers.txt")),
    ("sum", "awk '{ s += $1 } END { print s }' numbers.txt", lambda out, sh: out.strip() == "55"),
    ("a wrong answer", "echo 41", lambda out, sh: out.strip() == "42"),
]


def prepare() -> libshell.Image:
    with libshell.Shell() as sh:
        sh.run("seq 10 > numbers.txt; seq 10 | tac > reversed.txt; yes x | head -n 10 > xs.txt")
        return sh.image()


def evaluate(image: libshell.Image, count: int, threads: int) -> int:
    passed, lock, numbers = [0], threading.Lock(), iter(range(count))

    def work() -> None:
        good = 0
        while True:
            with lock:
                i = next(numbers, None)
            if i is None:
                break
            _name, script, check = TASKS[i % len(TASKS)]
            with libshell.Shell(image=image) as sh:
                good += check(sh.run(script).stdout, sh)
        with lock:
            passed[0] += good
    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return passed[0]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else len(os.sched_getaffinity(0))
    image, start = prepare(), time.perf_counter()
    passed = evaluate(image, count, threads)
    seconds = time.perf_counter() - start
    print(f"{passed} of {count} passed, {count / seconds:.0f} shells a second on {threads} threads")


if __name__ == "__main__":
    main()

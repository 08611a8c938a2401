"""The threads that runs wait on: grown on demand, one a run, kept for a while when idle. asyncio's default executor would let a few blocked runs
hold up everybody's."""
from __future__ import annotations

import atexit
import os
import threading
from collections import deque

IDLE_SECONDS = 5.0


class Pool:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: deque = deque()
        self.busy: set = set()

    def submit(self, work) -> None:
        """Calls work() on a thread that does nothing else meanwhile. work raises nothing; work.stop(), if it has one, is called at exit."""
        with self._lock:
            worker = self._idle.pop() if self._idle else None
            self.busy.add(work)
        if worker is None:
            threading.Thread(target=self._serve, args=([work],), name="libshell", daemon=True).start()
            return
        inbox, wake = worker
        inbox.append(work)
        wake.release()

    def _serve(self, inbox) -> None:
        wake = threading.Semaphore(0)
        worker = (inbox, wake)
        while True:
            work = inbox.pop()
            try:
                work()
            finally:
                with self._lock:
                    self.busy.discard(work)
                    self._idle.append(worker)
                work = None
            if not wake.acquire(timeout=IDLE_SECONDS):
                with self._lock:
                    if worker in self._idle:
                        self._idle.remove(worker)
                        return
                wake.acquire()  # taken at the last moment

    def stop(self) -> None:
        """At exit: what runs is cancelled, so that no thread is inside a shell when the interpreter goes."""
        import time
        end = time.monotonic() + 2
        while self.busy and time.monotonic() < end:
            for work in list(self.busy):
                getattr(work, "stop", int)()
            time.sleep(0.002)


pool = Pool()


def _after_fork() -> None:
    global pool
    pool = Pool()  # the threads are the parent's


os.register_at_fork(after_in_child=_after_fork)
atexit.register(lambda: pool.stop())


def submit(work) -> None:
    pool.submit(work)

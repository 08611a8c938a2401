"""What arrived at the servers against what the guard approved.

The raw server and nghttpd log every request line with the connection it came on; the audit of the run names every request that was allowed and
the partition whose connections it may use (policy, credential, private class, verification; the shell is the run's one). Each line that arrived
must have been approved, once, and all lines of a connection be of one partition; the key of a credential arrives exactly where its partition says so.
"""
import json
import os
import re

KEY = "a-key-that-only-the-kernel-knows"


def shown(method, scheme, host, target):
    """As the audit spells it: of the query's values nothing."""
    path, mark, query = target.partition("?")
    names = [p.partition("=")[0] + p.partition("=")[1] for p in query.split("&")] if mark else []
    return f"{method} {scheme}://{host.lower()}{path}" + (mark + "&".join(names) if mark else "")


class Log:
    """A file that grows; what came since it was read last."""
    def __init__(self, path):
        self.path, self.at, self.rest = path, 0, ""

    def lines(self):
        with open(self.path, encoding="latin-1") as f:
            f.seek(self.at)
            text = self.rest + f.read()
            self.at = f.tell()
        lines = text.split("\n")
        self.rest = lines.pop()
        return lines


class Raw(Log):
    def requests(self):
        for line in self.lines():
            yield tuple(json.loads(line))


class Two(Log):
    """nghttpd -v: one header a line, connections and streams numbered."""
    def __init__(self, path, name):
        super().__init__(path)
        self.name, self.open = name, {}

    def requests(self):
        for line in self.lines():
            m = re.match(r"\[id=(\d+)\] \[ *[\d.]+\] recv (?:\(stream_id=(\d+)\) (\S+): (.*)|HEADERS frame .*stream_id=(\d+)>)$", line)
            if not m:
                continue
            if m[5]:
                head = self.open.pop((m[1], m[5]), None)
                if head and ":method" in head:
                    yield (f"{self.name} {m[1]}", shown(head[":method"], head[":scheme"], head[":authority"], head[":path"]), head.get("x-key") == KEY)
            else:
                self.open.setdefault((m[1], m[2]), {})[m[3]] = m[4]


def approved(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            e = json.loads(line)
            if e["event"] == "request" and e["detail"] == "allowed":
                yield e["subject"], e["partition"]


class Comparison:
    def __init__(self, logs):
        self.logs, self.arrived, self.connections, self.before = logs, 0, 0, []

    def after(self, audit):
        """Of one run: a list of what is wrong. A request of the run before it that was given up may come late."""
        wrong, open_, on = [], list(approved(audit)) if os.path.exists(audit) else [], {}
        for connection, request, keyed in [r for log in self.logs for r in log.requests()]:
            self.arrived += 1
            fits = [i for i, (subject, _) in enumerate(open_) if subject == request]
            if fits:
                _, partition = open_.pop(fits[0])
                on.setdefault(connection, set()).add(partition)
                if keyed != ("credential 0" not in partition):
                    wrong.append(f"{request}: approved for {partition}, and the key {'came' if keyed else 'did not come'}")
            elif request in self.before:
                self.before.remove(request)
            else:
                wrong.append(f"{request}: arrived without approval")
        self.connections += len(on)
        self.before = [subject for subject, _ in open_]
        wrong += [f"connection {c} is shared by {', '.join(sorted(p))}" for c, p in on.items() if len(p) > 1]
        return wrong

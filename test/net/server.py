"""A server for the network cases: HTTP/1.1 over raw sockets on the loopback, with and without TLS, so that every byte is ours.

usage: server.py DIRECTORY   prints "HTTP_PORT HTTPS_PORT OTHER_PORT"; its certificate authority is DIRECTORY/ca.pem; ends with its parent
Each request that comes is a line of DIRECTORY/requests (see requests.py), written before it is answered.
"""
import base64
import gzip
import itertools
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
import zlib

from requests import KEY, shown


def respond(conn, status, headers, body, close=False, chunked=False):
    lines = ["HTTP/1.1 " + status] + headers
    if chunked:
        lines.append("Transfer-Encoding: chunked")
        body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in chunks(body)) + b"0\r\n\r\n"
    elif body is not None:
        lines.append("Content-Length: %d" % len(body))
    if close:
        lines.append("Connection: close")
    conn.sendall("\r\n".join(lines + ["", ""]).encode("latin-1") + (body or b""))
    return not close


def chunks(body):
    return [body[i:i + 7] for i in range(0, len(body), 7)]


def echo(conn, method, target, head, body):
    return respond(conn, "200 OK", ["Content-Type: text/plain"], head.encode("latin-1") + body)


def redirect(conn, method, target, head, body):
    code, _, where = target[len("/redirect/"):].partition("?")
    names = {"301": "Moved Permanently", "302": "Found", "303": "See Other", "307": "Temporary Redirect", "308": "Permanent Redirect"}
    return respond(conn, code + " " + names.get(code, "X"), ["Location: " + where], b"moved\n")


def status(conn, method, target, head, body):
    code = target.split("/")[2].split("?")[0]
    names = {"404": "Not Found", "500": "Internal Server Error", "401": "Unauthorized", "503": "Service Unavailable", "204": "No Content", "400": "Bad Request", "403": "Forbidden"}
    return respond(conn, code + " " + names.get(code, "X"), [], None if code == "204" else ("status %s\n" % code).encode())


FLAKY = {}


def flaky(conn, method, target, head, body):
    FLAKY[target] = FLAKY.get(target, 0) + 1
    if FLAKY[target] % 3:
        return respond(conn, "503 Service Unavailable", [], b"later\n")
    return respond(conn, "200 OK", [], b"at last\n")


def drop(conn, method, target, head, body):
    kind = target.split("/")[2]
    if kind == "short":
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this\n")
    elif kind == "reset":
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    elif kind == "garbage":
        conn.sendall(b"this is not HTTP\r\n\r\n")
    elif kind == "header":
        conn.sendall(b"HTTP/1.1 200 OK\r\nX-Unfinished")
    elif kind == "chunk":
        conn.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n")
    return False


def encoded(conn, method, target, head, body):
    kind = target.split("/")[2]
    text = b"a text that was encoded\n" * 4
    data = {"gzip": gzip.compress(text, mtime=0), "deflate": zlib.compress(text), "bad": b"not gzip at all"}[kind]
    return respond(conn, "200 OK", ["Content-Encoding: " + ("gzip" if kind == "bad" else kind)], data)


def auth(conn, method, target, head, body):
    wanted = "Authorization: Basic " + base64.b64encode(b"user:pass").decode()
    if wanted in head:
        return respond(conn, "200 OK", [], b"welcome\n")
    return respond(conn, "401 Unauthorized", ['WWW-Authenticate: Basic realm="here"'], b"who?\n")


def cookies(conn, method, target, head, body):
    return respond(conn, "200 OK", ["Set-Cookie: a=1; Path=/", "Set-Cookie: b=2; Path=/cookies; HttpOnly", "Set-Cookie: gone=x; Max-Age=0"], b"cookies\n")


def ranged(conn, method, target, head, body):
    text = b"0123456789abcdefghij"
    for line in head.split("\r\n"):
        if line.lower().startswith("range: bytes="):
            first, _, last = line.split("=")[1].partition("-")
            a = int(first) if first else len(text) - int(last)
            b = int(last) if first and last else len(text) - 1
            if a >= len(text):
                return respond(conn, "416 Range Not Satisfiable", ["Content-Range: bytes */20"], b"")
            return respond(conn, "206 Partial Content", ["Content-Range: bytes %d-%d/20" % (a, b)], text[a:b + 1])
    return respond(conn, "200 OK", ["Accept-Ranges: bytes"], text)


def large(conn, method, target, head, body):
    size = int(target.split("/")[2])
    conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
    block = bytes(range(256)) * 4096
    while size:
        n = min(size, len(block))
        conn.sendall(block[:n])
        size -= n
    return True


def slow(conn, method, target, head, body):
    conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nfirst half")
    time.sleep(5)
    return False


def named(conn, method, target, head, body):
    kind = target.split("/")[2] if target.count("/") > 1 else ""
    value = {"plain": "attachment; filename=report.txt", "quoted": 'attachment; filename="a b.txt"', "path": "attachment; filename=../../etc/evil", "dot": "attachment; filename=.hidden"}.get(kind, "attachment")
    return respond(conn, "200 OK", ["Content-Disposition: " + value, "Last-Modified: Sat, 02 Jan 2021 03:04:05 GMT"], b"named\n")


def keyed(conn, method, target, head, body):
    return respond(conn, "200 OK", [], b"%s with a key\n" % method.encode())


def count(conn, method, target, head, body):
    return respond(conn, "200 OK", [], b"%s %d %d\n" % (method.encode(), len(body), zlib.crc32(body)))


ROUTES = {"/keyed": keyed, "/echo": echo, "/count": count, "/redirect/": redirect, "/status/": status, "/flaky/": flaky, "/drop/": drop, "/encoded/": encoded, "/auth": auth, "/cookies": cookies, "/range": ranged,
          "/large/": large, "/slow": slow, "/named": named,
          "/hello": lambda c, m, t, h, b: respond(c, "200 OK", ["Content-Type: text/plain", "Last-Modified: Sat, 02 Jan 2021 03:04:05 GMT", "ETag: \"e1\""], None if m == "HEAD" else b"hello\n"),
          "/chunked": lambda c, m, t, h, b: respond(c, "200 OK", ["Content-Type: text/plain"], b"a body that comes in chunks\n", chunked=True),
          "/close": lambda c, m, t, h, b: respond(c, "200 OK", [], b"goodbye\n", close=True),
          "/empty": lambda c, m, t, h, b: respond(c, "200 OK", [], b""),
          "/json": lambda c, m, t, h, b: respond(c, "200 OK", ["Content-Type: application/json"], b'{"a": [1, 2], "b": "x"}\n'),
          "/headers": lambda c, m, t, h, b: respond(c, "200 OK", ["X-One: 1", "x-two: 2", "X-One: again"], b"body\n")}


def body_of(reader, head):
    fields = {k.strip().lower(): v.strip() for k, _, v in (l.partition(":") for l in head.split("\r\n")[1:])}
    if fields.get("transfer-encoding", "").lower() == "chunked":
        body = b""
        while True:
            size = int(reader.readline().split(b";")[0], 16)
            body += reader.read(size)
            reader.readline()
            if not size:
                return body
    return reader.read(int(fields.get("content-length", 0)))


def read_head(reader):
    head = b""
    while True:
        line = reader.readline()
        if not line:
            return None
        head += line
        if line == b"\r\n":
            return head.decode("latin-1")


NUMBERS = itertools.count(1)
LOG = []


def note(number, scheme, method, target, head):
    fields = {k.strip().lower(): v.strip() for k, _, v in (l.partition(":") for l in head.split("\r\n")[1:])}
    line = json.dumps([f"raw {number}", shown(method, scheme, fields.get("host", "?"), target), fields.get("x-key") == KEY])
    os.write(LOG[0], (line + "\n").encode("latin-1", "replace"))


def connection(conn):
    number, scheme = next(NUMBERS), "https" if isinstance(conn, ssl.SSLSocket) else "http"
    reader = conn.makefile("rb")
    try:
        while True:
            head = read_head(reader)
            if head is None:
                break
            method, target = (head.split(" ") + ["?"])[:2]
            note(number, scheme, method, target, head)
            if "expect: 100-continue" in head.lower():
                conn.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = body_of(reader, head)
            for prefix, route in ROUTES.items():
                if target.startswith(prefix):
                    keep = route(conn, method, target, head, body)
                    break
            else:
                keep = respond(conn, "404 Not Found", [], b"nothing here\n")
            if not keep:
                break
    except (OSError, ValueError):
        pass
    finally:
        conn.close()


def serve(listener, context):
    while True:
        conn, _ = listener.accept()
        threading.Thread(target=start, args=(conn, context), daemon=True).start()


def start(conn, context):
    try:
        connection(context.wrap_socket(conn, server_side=True) if context else conn)
    except (OSError, ssl.SSLError):
        conn.close()


def certificates(folder):
    """A certificate authority and a certificate for localhost and 127.0.0.1, made anew."""
    run = lambda *args: subprocess.run(["openssl", *args], check=True, cwd=folder, capture_output=True)
    run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test authority", "-days", "30")
    run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    with open(os.path.join(folder, "names"), "w", encoding="ascii") as f:
        f.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    run("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names", "-out", "server.pem", "-days", "30")


def main():
    folder = sys.argv[1]
    certificates(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, "server.pem"), os.path.join(folder, "server.key"))
    LOG.append(os.open(os.path.join(folder, "requests"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644))
    ports = []
    for tls in (None, context, None):
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        ports.append(listener.getsockname()[1])
        threading.Thread(target=serve, args=(listener, tls), daemon=True).start()
    print(*ports, flush=True)
    sys.stdin.read()


main()

"""TOML for Pythons without tomllib: what a configuration file holds. Tables, arrays of tables, dotted and quoted keys, strings of all four kinds,
integers, floats, booleans, arrays and inline tables; no dates."""
from __future__ import annotations

import re

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NUMBER = re.compile(r"0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+|[+-]?(inf|nan|[0-9][0-9_]*(\.[0-9_]+)?([eE][+-]?[0-9_]+)?)")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


class TOMLDecodeError(ValueError):
    pass


class _Reader:
    def __init__(self, text: str):
        self.text, self.at, self.depth = text.replace("\r\n", "\n"), 0, 0

    def fail(self, what: str):
        raise TOMLDecodeError(f"{what} (at line {self.text.count(chr(10), 0, self.at) + 1})")

    def look(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def take(self, text: str) -> bool:
        found = self.look(text)
        self.at += len(text) if found else 0
        return found

    def need(self, text: str) -> None:
        if not self.take(text):
            self.fail(f"expected {text!r}")

    def space(self, lines: bool = False) -> None:
        while self.at < len(self.text):
            c = self.text[self.at]
            if c in " \t" or (lines and c == "\n"):
                self.at += 1
            elif c == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def end_of_line(self) -> None:
        self.space()
        if self.at < len(self.text):
            self.need("\n")

    def key(self) -> list:
        parts = []
        while True:
            self.space()
            if self.look('"') or self.look("'"):
                parts.append(self.string())
            else:
                m = _BARE.match(self.text, self.at) or self.fail("expected a key")
                self.at = m.end()
                parts.append(m.group())
            self.space()
            if not self.take("."):
                return parts

    def string(self) -> str:
        quote = self.text[self.at]
        if self.take(quote * 3):
            self.take("\n")
            return self.characters(quote * 3, quote == '"', True)
        self.at += 1
        return self.characters(quote, quote == '"', False)

    def characters(self, end: str, escapes: bool, lines: bool) -> str:
        out = []
        while not self.take(end):
            if self.at >= len(self.text) or (self.look("\n") and not lines):
                self.fail("a string without an end")
            c = self.text[self.at]
            self.at += 1
            out.append(self.escape(lines) if c == "\\" and escapes else c)
        while len(end) == 3 and self.take(end[0]):  # quotes before the closing ones
            out.append(end[0])
        return "".join(out)

    def escape(self, lines: bool) -> str:
        c = self.text[self.at:self.at + 1]
        self.at += 1
        if c in _ESCAPES and c:
            return _ESCAPES[c]
        if c and c in "uU":
            digits = self.text[self.at:self.at + (4 if c == "u" else 8)]
            if re.fullmatch(r"[0-9a-fA-F]{4}|[0-9a-fA-F]{8}", digits) and int(digits, 16) < 0x110000:
                self.at += len(digits)
                return chr(int(digits, 16))
        if lines and c and c in " \t\n":
            self.at -= 1
            if re.match(r"[ \t]*\n", self.text[self.at:]):
                self.at += len(re.match(r"\s*", self.text[self.at:]).group())
                return ""
        self.fail("a bad escape")

    def value(self):
        self.depth += 1
        if self.depth > 100:
            self.fail("nested too deeply")
        try:
            return self._value()
        finally:
            self.depth -= 1

    def _value(self):
        if self.look('"') or self.look("'"):
            return self.string()
        for word, value in (("true", True), ("false", False)):
            if self.take(word):
                return value
        if self.take("["):
            return self.array()
        if self.take("{"):
            return self.inline()
        m = _NUMBER.match(self.text, self.at)
        if not m or not m.group():
            self.fail("expected a value")
        self.at = m.end()
        text = m.group().replace("_", "")
        if re.search(r"[.eE]|inf|nan", text) and not text.lstrip("+-").startswith("0x"):
            return float(text)
        if re.match(r"[+-]?0[0-9]", text):
            self.fail("a number with a leading zero")
        return int(text, 0)

    def array(self) -> list:
        out = []
        while True:
            self.space(True)
            if self.take("]"):
                return out
            out.append(self.value())
            self.space(True)
            if not self.take(","):
                self.need("]")
                return out

    def inline(self) -> dict:
        out: dict = {}
        self.space()
        while not self.take("}"):
            self.pair(out)
            self.space()
            if not self.take(","):
                self.need("}")
                return out
        return out

    def pair(self, table: dict) -> None:
        *path, last = self.key()
        self.need("=")
        self.space()
        value = self.value()
        for name in path:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                self.fail(f"{name} is no table")
        if last in table:
            self.fail(f"{last} is there twice")
        table[last] = value

    def descend(self, root: dict, path: list) -> dict:
        for name in path:
            root = root.setdefault(name, {})
            if isinstance(root, list) and root:
                root = root[-1]
            if not isinstance(root, dict):
                self.fail(f"{name} is no table")
        return root

    def header(self, root: dict, seen: set) -> dict:
        many = self.take("[")
        path = self.key()
        self.need("]]" if many else "]")
        parent = self.descend(root, path[:-1])
        if many:
            tables = parent.setdefault(path[-1], [])
            if not isinstance(tables, list):
                self.fail(f"{path[-1]} is no list of tables")
            tables.append({})
            return tables[-1]
        table = parent.setdefault(path[-1], {})
        mark = (id(parent), path[-1])
        if mark in seen or not isinstance(table, dict):
            self.fail(f"{'.'.join(path)} is there twice")
        seen.add(mark)
        return table

    def document(self) -> dict:
        root: dict = {}
        table, seen = root, set()
        while True:
            self.space(True)
            if self.at >= len(self.text):
                return root
            if self.take("["):
                table = self.header(root, seen)
            else:
                self.pair(table)
            self.end_of_line()


def loads(text: str) -> dict:
    return _Reader(text).document()

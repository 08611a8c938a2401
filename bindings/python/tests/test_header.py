"""The binding, include/shell.h and the version script agree: each function is bound, or left out with a reason; structs have the header's fields."""
import ctypes
import re
import unittest
from pathlib import Path

from libshell import _native, _structs

ROOT = Path(__file__).resolve().parents[3]
HEADER = ROOT / "include" / "shell.h"


def text_of(path):
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


@unittest.skipUnless(HEADER.exists(), "not in the source tree")
class Header(unittest.TestCase):
    def setUp(self):
        self.header = text_of(HEADER)
        self.functions = {m.group(2): (m.group(1), m.group(3)) for m in re.finditer(r"SHELL_API ([^;(]*?)\b(\w+)\(([^;]*)\);", self.header)}

    def test_each_function_is_bound_or_left_out(self):
        self.assertGreater(len(self.functions), 60)
        bound, left = set(_native.SIGNATURES), set(_native.LEFT_OUT)
        self.assertEqual(bound & left, set())
        self.assertEqual(bound | left, set(self.functions))
        for name in bound:
            self.assertTrue(getattr(_native.lib, name))
        for reason in _native.LEFT_OUT.values():
            self.assertGreater(len(reason), 10)

    def test_the_version_script_exports_them(self):
        patterns = re.findall(r"(\S+);", text_of(ROOT / "lib" / "api" / "libshell.map").split("local:")[0].replace("global:", ""))
        for name in self.functions:
            if name not in ("libshell_crypto", "libshell_archive", "libshell_data", "libshell_net"):  # each in its component
                self.assertTrue(any(re.fullmatch(p.replace("*", ".*"), name) for p in patterns), name)

    @staticmethod
    def letter(declaration):
        d = declaration.strip()
        if "*" in d or "(" in d or re.match(r"(shell_\w+_(fn|event)|shell_lazy_fn)\b", d):
            return "s" if re.match(r"const char \*\w*$", d) else "p"
        for word, letter in (("uint64_t", "Q"), ("int64_t", "q"), ("uint32_t", "u"), ("int32_t", "i"), ("shell_err", "i"), ("void", "-")):
            if re.match(rf"(const )?{word}\b", d):
                return letter
        return "p"

    def test_signatures(self):
        for name, signature in _native.SIGNATURES.items():
            result, arguments = self.functions[name]
            parts = [] if arguments.strip() == "void" else re.split(r",(?![^(]*\))", arguments)
            wanted = self.letter(result.strip() + (" " if "*" not in result else "")) + "".join(map(self.letter, parts))
            self.assertEqual(len(signature), len(wanted), name)
            for ours, theirs in zip(signature, wanted):
                self.assertIn(ours, {"s": "sp"}.get(theirs, theirs), f"{name}: {signature} {wanted}")

    def fields(self, struct):
        (body,) = re.findall(r"typedef struct \{([^}]*)\} %s;" % struct, self.header)
        out = []
        for declaration in filter(None, (d.strip() for d in body.split(";"))):
            pointer = re.match(r".*?\(\*(\w+)\)\(", declaration, re.S)
            if pointer:
                out.append(pointer.group(1))
                continue
            for i, part in enumerate(declaration.split(",")):
                out.append(re.findall(r"(\w+)(?:\[\d+\])?$", part.strip())[0])
        return out

    def test_structs(self):
        kinds = {"shell_limits": _structs.Limits, "shell_bind": _structs.Bind, "shell_options": _native.Options, "shell_run_opts": _native.RunOptions,
                 "shell_result": _native.Result, "shell_stat_info": _structs.StatInfo, "shell_dirent": _structs.Dirent,
                 "shell_change_info": _structs.Change, "shell_url_rule": _structs.UrlRule, "shell_credential": _structs.Credential,
                 "shell_net": _structs.Net, "shell_transfer": _structs.Transfer, "shell_file_rule": _structs.FileRule, "shell_question": _structs.Question,
                 "shell_policy": _structs.Policy, "shell_audit": _structs.Audit, "shell_image_dir": _structs.ImageDir,
                 "shell_format_opts": _structs.FormatOptions, "shell_mount_ops": _structs.MountOps}
        for name, kind in kinds.items():
            self.assertEqual([field[0] for field in kind._fields_], self.fields(name), name)
        self.assertEqual(ctypes.sizeof(_native.Result), 104)  # what output_from unpacks

    def test_error_codes(self):
        (body,) = re.findall(r"enum \{\s*(SHELL_OK = 0,.*?)\};", self.header, re.S)
        for name, value in re.findall(r"SHELL_(\w+) = (-?\d+)", body):
            self.assertEqual(getattr(_native, name), int(value), name)


if __name__ == "__main__":
    unittest.main()

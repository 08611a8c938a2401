"""The examples of the source tree, and the README's, do what they say."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import libshell

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "python"


@unittest.skipUnless(EXAMPLES.exists(), "not in the source tree")
class Examples(unittest.TestCase):
    def run_one(self, *arguments, cwd=None):
        environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(libshell.__file__))}
        done = subprocess.run([sys.executable, "-B", *map(str, arguments)], capture_output=True, text=True, env=environment, cwd=cwd)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_agent(self):
        out = self.run_one(EXAMPLES / "agent.py")
        self.assertIn("bob@example.org\nada@example.org\n", out)
        self.assertIn("exit 127", out)
        self.assertIn("refused by policy", out)
        self.assertTrue(out.endswith("added /home/agent/people.csv 20\n"), out)

    def test_sandbox(self):
        out = self.run_one(EXAMPLES / "sandbox.py")
        self.assertIn("0 '1\\n2\\n3\\n'  []\n0 '45\\n'  []\n127 '' fortran: no interpreter", out)
        self.assertIn("0 ''  ['sorted.txt']\n", out)
        self.assertIn("StreamChunk(data='1\\n', stream_type='stdout')", out)

    def test_evaluate(self):
        self.assertRegex(self.run_one(EXAMPLES / "evaluate.py"), r"^8000 of 10000 passed, \d+ shells a second on \d+ threads\n$")

    def test_readme(self):
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
        self.assertGreater(len(blocks), 1)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "src").mkdir()
            Path(folder, "src", "a.c").write_text("TODO\n")
            for block in blocks:
                self.run_one("-c", block, cwd=folder)


if __name__ == "__main__":
    unittest.main()

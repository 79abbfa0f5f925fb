"""Every Python block of the pages that say how something is done runs, in the order of its page."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = [*sorted((DOCS / "howto").glob("*.md")), *(DOCS / name for name in ("index.md", "install.md", "messages.md", "formats.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def program(page):
    """The blocks of a page as one program; each keeps its line numbers, so that an error names the line of the page."""
    text, lines = page.read_text(), []
    for match in BLOCK.finditer(text):
        lines += [""] * (text.count("\n", 0, match.start(1)) - len(lines)) + match[1].splitlines()
    return "\n".join(lines)


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=lambda p: p.stem)
def test_page(page, tmp_path):
    script = tmp_path / (page.stem + ".py")
    script.write_text(program(page))
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr

"""What the pages say to type works: Python runs, commands of `tribo` end well, C++ compiles."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if page.parent.name != "tutorials"]  # made from programs that test_tutorials.py runs


def blocks(page, language):
    return re.finditer(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def program(page, language):
    """The blocks of a page as one program; each keeps its line numbers, so that an error names the line of the page."""
    text, lines = page.read_text(), []
    for match in blocks(page, language):
        lines += [""] * (text.count("\n", 0, match.start(1)) - len(lines)) + match[1].splitlines()
    return "\n".join(lines)


def commands(page):
    lines = [line.split("#")[0] for match in blocks(page, "") for line in match[1].splitlines()]
    return [line.split() for line in lines if line.startswith("tribo ")]


def run(words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", [p for p in PAGES if program(p, "python") or commands(p)], ids=lambda p: p.stem)
def test_page(page, tmp_path):
    if program(page, "python"):  # first: it may write the files that the commands read
        script = tmp_path / (page.stem + ".py")
        script.write_text(program(page, "python"))
        run([sys.executable, str(script)], tmp_path)
    for words in commands(page):
        run([os.environ["TRIBO_COMMAND"], *words[1:]], tmp_path)


@pytest.mark.parametrize("page", [p for p in PAGES if program(p, "cpp")], ids=lambda p: p.stem)
def test_cpp(page, tmp_path):
    """Against the public headers. That they are enough of a program to link is what tests/consumer shows."""
    eigen = next(pathlib.Path(sys.prefix).glob("lib/python*/site-packages/cmeel.prefix/include/eigen3"))
    source = tmp_path / (page.stem + ".cpp")
    source.write_text(program(page, "cpp"))
    run([shutil.which("g++") or "c++", "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}", f"-I{eigen}", str(source)], tmp_path)

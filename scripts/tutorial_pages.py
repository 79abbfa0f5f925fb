"""Makes the pages docs/tutorials/ from the programs of tutorials/, with what they print: python scripts/tutorial_pages.py [NAME ...]"""

import ast
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "tutorials"


def title(script: pathlib.Path) -> str:
    return script.stem[3:].replace("_", " ").capitalize().replace("urdf", "URDF").replace("expo", "Expo")


def doc(script: pathlib.Path) -> list[str]:
    """Paragraphs of its docstring, less the command."""
    text = ast.get_docstring(ast.parse(script.read_text())) or ""
    return [p.strip() for p in text.split("\n\n") if not p.strip().startswith("python ")]


def code(script: pathlib.Path) -> str:
    """The program behind its docstring."""
    tree = ast.parse(script.read_text())
    return "\n".join(script.read_text().splitlines()[tree.body[0].end_lineno:]).strip()


def page(script: pathlib.Path, printed: str) -> str:
    name = script.relative_to(ROOT)
    return (f"# {title(script)}\n" + "\n\n".join(doc(script)) + f"\n\n```python\n{code(script)}\n```\n\nIt prints:\n\n```\n{printed.strip()}\n```\n\n"
            f"The program: [{name}](../../{name}). It asserts what it says; a test runs it.\n")


def main() -> None:
    PAGES.mkdir(exist_ok=True)
    scripts = sorted((ROOT / "tutorials").glob("*.py"))
    for script in scripts:
        if len(sys.argv) > 1 and script.stem not in sys.argv[1:]:
            continue
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
        (PAGES / f"{script.stem}.md").write_text(page(script, done.stdout))
    rows = "".join(f"| [{title(s)}]({s.stem}.md) | {doc(s)[0].split(': ', 1)[-1]} |\n" for s in scripts)
    (PAGES / "index.md").write_text("# Tutorials\nPrograms of a page each, made into pages by `scripts/tutorial_pages.py`.\n\n| | |\n|---|---|\n" + rows)


main()

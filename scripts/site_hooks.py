"""Hooks of mkdocs: pages of docs/ link to files of the repository; each such file, or folder, becomes a page of the site."""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
LIVE = ROOT / "build" / "live"  # runs that play on the site, by scripts/docs
LINK = re.compile(r"(\]\()([^)\s:#]+)(#[^)\s]*)?(\))")
CODE = re.compile(r"`[^`\n]+`")  # GitHub wants a bar escaped in the code of a table, mkdocs does not
LIST = re.compile(r"^((?!- |1\. |#)\S.*)\n(?=- |1\. )", re.MULTILINE)  # after a line of text: mkdocs wants an empty line between, GitHub does not
FENCED = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
KINDS = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".toml": "toml", ".xml": "xml", ".txt": "text", ".json": "json", ".cmake": "cmake"}


def outside(page: str, link: str) -> str | None:
    """The path in the repository that a link of a page leads to, where that is not a page or file of docs/."""
    target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    inside = target.startswith("docs/") and (ROOT / target).is_file()
    return None if inside or not (ROOT / target).exists() else target


def source_page(target: str) -> str:
    return f"source/{target.rstrip('/')}.md"


def content(target: str) -> str:
    path = ROOT / target
    if path.is_dir():
        names = sorted(p.name for p in path.iterdir() if p.is_file() and p.suffix in {*KINDS, ".md"})
        shown = [f"- [{name}]({path.name}/{name}.md)" if target.split("/")[0] != "docs" else f"- [{name}](../../{target[5:]}/{name})" for name in names]
        return f"# {target}\n\n" + "\n".join(shown) + "\n"
    fence = "~~~~"
    return f"# {target}\n\n{fence}{KINDS.get(path.suffix, 'text')}\n{path.read_text()}\n{fence}\n"


def on_files(files: Files, config: Any) -> Files:
    wanted: set[str] = set()
    for file in files.documentation_pages():
        for match in LINK.finditer(Path(file.abs_src_path or "").read_text()):
            target = outside(file.src_uri, match[2])
            if target is not None:
                wanted.add(target)
    for target in sorted(wanted):
        folder = ROOT / target
        if folder.is_dir() and not target.startswith("docs/"):
            wanted |= {f"{target}/{p.name}" for p in folder.iterdir() if p.is_file() and p.suffix in {*KINDS, ".md"}}
    for target in sorted(wanted):
        files.append(File.generated(config, source_page(target), content=content(target)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    if page.file.src_uri.startswith("source/"):
        return markdown

    def to_page(match: re.Match[str]) -> str:
        target = outside(page.file.src_uri, match[2])
        if target is None:
            return match[0]
        return match[1] + posixpath.relpath(source_page(target), posixpath.dirname(page.file.src_uri) or ".") + match[4]

    parts = FENCED.split(CODE.sub(lambda match: match[0].replace("\\|", "|"), LINK.sub(to_page, markdown)))
    return "".join(part if part.startswith("```") else LIST.sub(r"\1\n\n", part) for part in parts)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """In the gallery, a link to each run that plays."""
    if page.file.src_uri != "gallery.md":
        return html
    names = {path.stem for path in LIVE.glob("*.html")}
    def linked(match: re.Match[str]) -> str:
        name = match[1]
        return f'{match[0]} <a href="live/{name}.html#play">play it here</a>' if name in names else match[0]

    return re.sub(r"<strong>([\w-]+)</strong>", linked, html)


def on_post_build(config: Any) -> None:
    if LIVE.is_dir():
        shutil.copytree(LIVE, Path(config["site_dir"]) / "live", dirs_exist_ok=True)

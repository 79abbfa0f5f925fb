"""Links of the pages lead somewhere: relative links, their anchors, the files that pages name in backticks, and functions
that are named behind a link to their file."""

import re
from pathlib import Path

from sources import ROOT, files, finish, place

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`((?:src|include|docs|tests|scripts|scenes|experiments|apps|python|tutorials|benchmarks|examples|cmake|requirements)/[\w./-]+)`")
HEADING = re.compile(r"^#+ +(.*)$")
FUNCTION = re.compile(r"\]\(([^)\s]+\.[ch]pp)\), `([\w:]+)`")
FENCE = re.compile(r"^\s*```")


def prose(path: Path) -> list[tuple[int, str]]:
    """Lines outside of fenced code, with their numbers."""
    lines, fenced = [], False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            lines.append((number, line))
    return lines


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page; #L12 is a line of any file."""
    found: set[str] = set()
    for _, line in prose(path):
        match = HEADING.match(line)
        if not match:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        count = 1
        unique = slug
        while unique in found:
            unique, count = f"{slug}-{count}", count + 1
        found.add(unique)
    return found


def wrong(path: Path, link: str) -> str | None:
    """What is wrong with a link of a page; None where it leads somewhere."""
    if re.match(r"[a-z]+:", link):
        return None
    target, _, anchor = link.partition("#")
    file = (path.parent / target).resolve() if target else path
    if not file.exists():
        return "there is no such file"
    if not file.is_relative_to(ROOT):
        return "leads out of the repository"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return f"{file.relative_to(ROOT)} has no heading #{anchor}"
    return None


def main() -> None:
    offences: list[str] = []
    checked = 0
    for path in files([".", "docs", "tests", "experiments", "examples", "tutorials", ".github"], {".md"}):
        for number, line in prose(path):
            for link in LINK.findall(line):
                checked += 1
                reason = wrong(path, link)
                if reason:
                    offences.append(f"{place(path, number)}: ({link}): {reason}")
            for link, function in FUNCTION.findall(line):
                checked += 1
                file = path.parent / link
                if file.exists() and not re.search(rf"\b{function.split('::')[-1]}\(", file.read_text()):
                    offences.append(f"{place(path, number)}: {link} has no function {function}")
            if path.name == "CHANGELOG.md":  # it names what was
                continue
            for name in NAMED.findall(line):
                checked += 1
                if not (ROOT / name.rstrip(".")).exists():
                    offences.append(f"{place(path, number)}: `{name}`: there is no such file")
    finish("links", offences, checked)


main()

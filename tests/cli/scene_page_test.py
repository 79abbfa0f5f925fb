"""docs/scene.md and docs/options.md name every key that the scene readers ask for, and no other. ROOT is that of the repository."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
asked = r'\b(?:number|integer|flag|text|choice|vec3|numbers|texts|inner|tables|value|has|given|find_body|by_joint|per_joint|read_gain)' \
        r'\((?:[a-z_]+, )?"([a-z_]+)"'
looped = r'for \(const char\* key : \{([^}]*)\}\)'  # keys that are asked for in a loop
files = {"q", "v", "dt", "states", "controls", "gains"}  # arrays of motion files
keys = set()
for path in sorted((root / "src/scene").glob("scene*.cpp")):
    text = path.read_text()
    keys |= set(re.findall(asked, text))
    for group in re.findall(looped, text):
        keys |= set(re.findall(r'"([a-z_]+)"', group))
keys -= files - {"dt"}

page = (root / "docs/scene.md").read_text() + (root / "docs/options.md").read_text()
missing = sorted(k for k in keys if not re.search(rf"(?<![a-z_]){k}(?![a-z_])", page))
spans = {w for span in re.findall(r"`([^`]*)`", page) for w in re.findall(r"^[a-z_]+$", span)}
quoted = set()
for path in [*(root / "src").rglob("*.cpp"), *(root / "src").rglob("*.hpp")]:
    quoted |= set(re.findall(r'"([a-z_]+)"', path.read_text()))
unknown = sorted(spans - keys - quoted)
if not keys or missing or unknown:
    sys.exit(f"docs/scene.md and docs/options.md lack {missing}; nothing reads {unknown}")
print(f"docs/scene.md: {len(keys)} keys")

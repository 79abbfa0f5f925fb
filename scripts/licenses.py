#!/usr/bin/env python3
"""licenses.py OUT --site FOLDER: writes the licence of each library that a wheel of tribo holds into OUT, a file each.

They come with the packages that were built against: from the metadata of the wheels in FOLDER and in this interpreter's
environment, from the copyright files of Debian's packages, or else from the head of a header.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import re
import sys
from pathlib import Path

# Library: its wheel or Debian package, and a header whose first comment is the licence or names it.
WHEELS = {
    "assimp": ("cmeel-assimp", "assimp/Importer.hpp"),
    "boost": ("cmeel-boost", "boost/version.hpp"),
    "coal": ("libcoal", "coal/fwd.hh"),
    "console_bridge": ("cmeel-console-bridge", "console_bridge/console.h"),
    "eigen": ("cmeel-eigen", "eigen3/Eigen/Core"),
    "mujoco": ("mujoco-core", "mujoco/mujoco.h"),
    "nanobind": ("nanobind", "nanobind/nanobind.h"),
    "octomap": ("cmeel-octomap", "octomap/octomap.h"),
    "pinocchio": ("libpinocchio", "pinocchio/fwd.hpp"),
    "qhull": ("cmeel-qhull", "libqhull_r/libqhull_r.h"),
    "tinyxml2": ("cmeel-tinyxml2", "tinyxml2.h"),
    "urdfdom": ("cmeel-urdfdom", "urdfdom/urdf_parser/urdf_parser.h"),
    "zlib": ("cmeel-zlib", "zlib.h"),
}
DEBIAN = {
    "cli11": ("libcli11-dev", "CLI/CLI.hpp"),
    "nlohmann-json": ("nlohmann-json3-dev", "nlohmann/json.hpp"),
    "tomlplusplus": ("libtomlplusplus-dev", "toml++/toml.h"),
}
COMMON = Path("/usr/share/common-licenses")  # of Debian
# Libraries that a library holds in turn, where its wheel does not say so, and where their terms stand.
INSIDE = {
    "assimp": """
It holds in turn, under the terms above (BSD-3-Clause):
  pstdint.h and Hash.h, 2004-2008 Paul Hsieh; MDCNormalTable.h, 2002 Randy Reddig & seaw0lf
  poly2tri, 2009-2010 Poly2Tri Contributors; rapidjson, 2002 JSON.org, 2006-2013 Alexander Chemeris,
  2015 THL A29 Limited, a Tencent company, and Milo Yip (partly MIT)
under its first two conditions (BSD-2-Clause): the arithmetic codec of Open3DGC, 2004 Amir Said & William A. Pearlman
under the MIT licence, which stands in nlohmann-json.txt (Expat):
  m3d.h, 2019 bzt; openddlparser, 2014-2020 Kim Kulling; pugixml, 2006-2022 Arseny Kapoulkine
  Open3DGC, 2013 Khaled Mammou, Advanced Micro Devices, Inc.
under the Apache License 2.0, which stands in mujoco.txt: draco, 2016-2020 The Draco Authors
under the Boost Software License 1.0, https://www.boost.org/LICENSE_1_0.txt: clipper, 2010-2011 Angus Johnson
in the public domain: cencode, zip
""",
}


def first_comment(header: Path) -> str:
    """The comment that a header begins with, without its comment signs; the first that speaks of a licence."""
    text = header.read_text(errors="replace")
    for found in re.finditer(r"/\*(.*?)\*/|((?:^[ \t]*//[^\n]*\n)+)", text[:20000], re.DOTALL | re.MULTILINE):
        lines = [re.sub(r"^\s*(//#?|\*)+ ?", "", line).rstrip() for line in (found[1] or found[2]).splitlines()]
        comment = "\n".join(lines).strip(" \n*-")
        if re.search(r"licen[cs]e|copyright|permission", comment, re.IGNORECASE):
            return comment
    return ""


def of_wheel(package: str, header: str, site: Path) -> str:
    found = next(iter(importlib.metadata.distributions(name=package, path=[str(site), *sys.path])), None)
    if found is None:
        return ""
    urls = dict(line.split(", ", 1) for line in found.metadata.get_all("Project-URL") or [] if ", " in line)
    url = urls.get("Upstream") or found.metadata["Home-page"]
    files = [found.locate_file(file) for file in found.files or [] if "dist-info/licenses/" in str(file)]
    parts = [Path(str(file)).read_text(errors="replace") for file in sorted(files, key=str)]
    head = site / "cmeel.prefix/include" / header
    if not parts and head.is_file():
        parts = [first_comment(head)]
    if parts and "Mozilla" in parts[0] and (COMMON / "MPL-2.0").is_file():
        parts.append((COMMON / "MPL-2.0").read_text())
    return "\n\n".join([f"{package} {found.version}" + (f", source: {url}" if url else ""), *parts]) if any(parts) else ""


def of_debian(package: str, header: str) -> str:
    copyright_file = Path("/usr/share/doc") / package / "copyright"
    if copyright_file.is_file():
        return copyright_file.read_text(errors="replace")
    heads = (root / header for root in (Path("/usr/local/include"), Path("/usr/include")))
    return next((first_comment(head) for head in heads if head.is_file()), "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--site", type=Path, required=True, help="the folder of the wheels, which holds cmeel.prefix")
    options = parser.parse_args()
    texts = {name: of_wheel(*source, options.site) for name, source in WHEELS.items()}
    texts |= {name: of_debian(*source) for name, source in DEBIAN.items()}
    missing = sorted(name for name, text in texts.items() if not text.strip())
    if missing:
        sys.exit(f"licenses: no licence was found of {', '.join(missing)}")
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (options.out / f"{name}.txt").write_text(text.rstrip() + "\n" + INSIDE.get(name, ""))
    print(f"-- licences of {len(texts)} libraries in {options.out}")


if __name__ == "__main__":
    main()

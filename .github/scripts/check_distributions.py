"""Check the sdist and the wheel in a folder before they are published: names, version, contents.

    python .github/scripts/check_distributions.py dist [v0.2.0]

A tag, where it is given, has to be the version of both files.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).parents[2]
IN_SDIST = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "Makefile",
    "conftest.py",
    "tests/facts.py",
)
LARGEST_WHEEL = 6_000_000  # bytes: the package is text


def names_in(file: Path) -> set[str]:
    """Paths inside a distribution; an sdist's are relative to its only folder."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            return set(archive.namelist())
    with tarfile.open(file) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}


def version_of(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return str(message_from_bytes(archive.read(metadata))["Version"])


def package_files() -> set[str]:
    source = ROOT / "src" / "eslabon"
    files = (p for p in source.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {f"eslabon/{p.relative_to(source).as_posix()}" for p in files}


def complaints(folder: Path, tag: str | None = None) -> list[str]:
    """All that is wrong with the distributions in a folder, a sentence each."""
    wheels, sdists = list(folder.glob("*.whl")), list(folder.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        return [
            f"{folder} has {len(wheels)} wheels and {len(sdists)} sdists; it must have one of each."
        ]
    (wheel,), (sdist,) = wheels, sdists
    version, in_wheel, in_sdist = version_of(wheel), names_in(wheel), names_in(sdist)
    strangers = {
        n for n in in_wheel if not n.startswith(("eslabon/", f"eslabon-{version}.dist-info/"))
    }
    wanted = {f"src/{name}" for name in package_files()} | set(IN_SDIST)
    found = [f"the wheel has no {name}." for name in sorted(package_files() - in_wheel)]
    found += [f"the sdist has no {name}." for name in sorted(wanted - in_sdist)]
    found += [f"the wheel has {name}, which is not of the package." for name in sorted(strangers)]
    if not wheel.name.endswith("-py3-none-any.whl"):
        found.append(f"{wheel.name} is not a pure Python wheel.")
    if sdist.name != f"eslabon-{version}.tar.gz":
        found.append(f"the sdist is {sdist.name}, the wheel's version {version}.")
    if wheel.stat().st_size > LARGEST_WHEEL:
        found.append(
            f"the wheel has {wheel.stat().st_size} bytes; at most {LARGEST_WHEEL} are expected."
        )
    if tag is not None and tag != f"v{version}":
        found.append(f"the tag is {tag}, the version {version}; they must agree.")
    return found


if __name__ == "__main__":
    wrong = complaints(Path(sys.argv[1]), *sys.argv[2:3])
    print("\n".join(wrong) or "The distributions are complete.")
    sys.exit(bool(wrong))

"""Count the C files of a folder that are read as loop nests, and why others are not.

    python -m benchmarks.public_c FOLDER [INCLUDED]

The folder may hold any repositories, such as UCLA-VAST/AutoSA and MatthiasJReisinger/PolyBenchC-4.2.1
(whose folder ``utilities`` is the one to include from). Files without ``#pragma scop`` do not count.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

from ithaca.files.errors import InputError
from ithaca.files.inclusions import including
from ithaca.plugins.recurrences.workloads.c.nests import c_nests
from ithaca.workloads.library import KINDS

PRAGMA = re.compile(r"^\s*#pragma scop\b", re.MULTILINE)


def kind_of(path: Path) -> str:
    """The kind that a file is read as. Raises `InputError` if it is not."""
    for kind in KINDS.values():
        if kind.takes(str(path)):
            kind.find(str(path), {})
            return "recurrences"
    count = len(c_nests(path))
    return "one nest" if count == 1 else "several nests"


def main(folder: Path, *included: str) -> None:
    """Print the table."""
    read, refused = defaultdict[str, list[Path]](list), dict[Path, str]()
    for path in sorted(folder.rglob("*.c")):
        if PRAGMA.search(path.read_text(errors="replace")):
            with including(included or None):
                try:
                    read[kind_of(path)].append(path)
                except InputError as error:
                    refused[path] = str(error).removeprefix(str(path))
    total = sum(map(len, read.values()))
    print(f"{total + len(refused)} files with #pragma scop, {total} of them read")
    for kind, paths in read.items():
        print(f"{kind}: {', '.join(str(path.relative_to(folder)) for path in paths)}")
    for path, why in refused.items():
        print(f"refused: {path.relative_to(folder)}{why}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

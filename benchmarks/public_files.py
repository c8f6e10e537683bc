"""Count the files of a folder by kind, and what is read of them:
``python -m benchmarks.public_files FOLDER``.

The folder may hold any repositories, such as Accelergy-Project/timeloop-accelergy-exercises (of 2022
and 2024), NVlabs/timeloop and Accelergy-Project/timeloopfe. One file may be of several kinds. Files
that only Accelergy writes (an architecture of ``local`` alone) are none of Timeloop's. Templates take
in files of the repository that they are in (a folder in FOLDER). Networks are
told by what they hold: models of ONNX with products or convolutions (those of FINN, QONNX and Brevitas by
their domains), Keras models in archives, HDF5 and JSON, topologies of SCALE-Sim, networks of MAESTRO, workloads of ZigZag and Stream. Nothing
is fetched.

``python -m benchmarks.public_files --runs FOLDER`` compares every run of Timeloop (``X.stats.txt``
beside ``X.map.txt``) with the model, figure by figure, where its input files stand beside it or in
the folders ``arch`` and ``prob`` above.

What the tool's own front end says of each file that is refused here stands in
``public_files_refused.csv``, found by timeloopfe 5603893 (of a problem, together with a stub of an
architecture), and by SCALE-Sim's own reader. The last column is the share that is read of what the front end reads; a refused file
that is not in the list counts as read by it.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.inclusions import including
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.exports.timeloop.comparison import compared
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.constraint_entries import SECTIONS, entries_of
from ithaca.plugins.hierarchies.formulations.mapper_files import (
    mapper_objectives,
    read_mapper_files,
)
from ithaca.plugins.hierarchies.formulations.points import load_points
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.problem_files import read_problem

#: Fields at the left edge of a text that cannot be read, by kind.
KINDS = {
    "architecture": ("architecture", "arch"),
    "problem": ("problem",),
    "constraints": SECTIONS,
    "mapper": ("mapper",),
}


def _entries(path: Path) -> None:
    document = load_timeloop(path)
    entries_of({name: document[name] for name in SECTIONS if name in document}, path, [])


def _mapper(path: Path) -> None:
    mapper_objectives(load_timeloop(path)["mapper"], f"{path}: mapper")


READERS: dict[str, Callable[[Path], Any]] = {
    "architecture": read_architecture,
    "problem": read_problem,
    "constraints": _entries,
    "mapper": _mapper,
}


def kinds(path: Path) -> list[str]:
    """The kinds of input that a file is."""
    try:
        document = load_timeloop(path)
    except InputError:
        text = path.read_text(errors="replace")
        fields = set(re.findall(r"^([A-Za-z_]+) *:", text, re.M))
    else:
        fields = set(document) if isinstance(document, dict) else set()
        tree = document.get("architecture") if fields else None
        if isinstance(tree, dict) and "local" in tree and not {"subtree", "nodes"} & tree.keys():
            fields -= {"architecture"}
    return [kind for kind, names in KINDS.items() if fields & {*names}]


def front_end() -> dict[tuple[str, str], str]:
    """Answers of the front end on files that are refused here, by kind and path in a repository."""
    with Path(__file__).with_name("public_files_refused.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return {(kind, path.partition("/")[2]): says for kind, path, _, says, _ in rows}


def said(kind: str, path: Path, listed: dict[tuple[str, str], str]) -> str:
    """The front end's answer on one file."""
    inside = ("/".join(path.parts[start:]) for start in range(len(path.parts)))
    return next((listed[kind, each] for each in inside if (kind, each) in listed), "not listed")


#: Operators of ONNX that multiply matrices or windows.
PRODUCTS = ("Conv", "MatMul", "Gemm", "Einsum")


def network_kind(path: Path) -> str:
    """The kind of network that a file holds; empty of others."""
    ending = path.suffix.lower()
    if ending == ".onnx":
        import onnx

        if path.read_bytes()[:24] == b"version https://git-lfs.":  # its content is elsewhere
            return ""
        model = onnx.load(path, load_external_data=False)
        nodes = [*model.graph.node, *(node for each in model.functions for node in each.node)]
        if not any(name in node.op_type for node in nodes for name in PRODUCTS):
            return ""
        domains = {node.domain for node in nodes}
        return (
            "ONNX of FINN, QONNX" if any(re.search("finn|brevitas", d) for d in domains) else "ONNX"
        )
    if ending == ".keras" or (ending == ".h5" and b'{"class_name": "' in path.read_bytes()):
        return "Keras"
    if ending not in (".m", ".csv", ".yaml", ".yml", ".json"):
        return ""
    text = path.read_text(errors="replace")
    if ending == ".json":
        model = re.search(r'"class_name": *"(Sequential|Functional|Model)"', text)
        return "Keras" if model and '"layers"' in text else ""
    if ending == ".m":
        return "MAESTRO" if re.search(r"^\s*Layer\b", text, re.M) else ""
    if ending == ".csv":
        head = text.partition("\n")[0].lower().replace(" ", "")
        topology = "ifmapheight" in head or head.startswith(("layer,m,n,k", "layername,m,n,k"))
        return "SCALE-Sim" if topology and "order" not in head else ""
    if ending in (".yaml", ".yml") and re.search(r"^ +equation *:", text, re.M):
        return (
            "ZigZag, Stream"
            if text.lstrip().startswith(("- id", "#")) and "loop_dims" in text
            else ""
        )
    return ""


def read_network(path: Path) -> None:
    """Read a network; letters of a template are 8."""
    letters = dict[str, int]()
    while True:
        try:
            find_network(str(path), letters)
        except InputError as error:
            letter = re.search(r"or its size: -s (\w+)=8$", str(error))
            if letter is None or letter[1] in letters:
                raise
            letters[letter[1]] = 8
        else:
            return


def networks(folder: Path) -> None:
    """Count networks by kind, and print those that are refused; beside them those that the tool
    refuses, too."""
    counts: Counter[tuple[str, bool]] = Counter()
    theirs: Counter[str] = Counter()
    listed = front_end()
    reasons: list[str] = []
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        if not (kind := network_kind(path)):
            continue
        try:
            read_network(path)
        except InputError as error:
            says = said(kind, path, listed)
            reasons.append(f"{kind}: {error}\n      tool: {says}")
            theirs[kind] += says.startswith("refused")
            counts[kind, False] += 1
        else:
            counts[kind, True] += 1
    print(f"{'':22}{'files':>7}{'read':>7}{'refused':>9}{'by the tool':>13}{'of the rest':>13}")
    for kind in sorted({kind for kind, _ in counts}):
        read, refused = counts[kind, True], counts[kind, False]
        share = f"{100 * read / max(read + refused - theirs[kind], 1):.1f} %"
        print(f"{kind:22}{read + refused:7}{read:7}{refused:9}{theirs[kind]:13}{share:>13}")
    print("\n".join(reasons))


def inputs_of(stats: Path) -> list[list[Path]]:
    """Input files of a run, as far as they stand near it: what the tool wrote down, or the first
    architecture with every problem."""
    beside = [*stats.parent.glob("parsed-processed-input.yaml"), *stats.parent.glob("*.ERT.yaml")]
    if any(each.name.startswith("parsed") for each in beside):
        return [beside]
    own = {each: kinds(each) for each in sorted(stats.parent.glob("*.yaml"))}
    if {"architecture", "problem"} <= {kind for known in own.values() for kind in known}:
        # as they were given to the tool, but for the mapping
        return [[each for each in own if not each.name.startswith(("mapping", "timeloop-"))]]
    tables = [*stats.parent.glob("*.ERT.yaml")]
    for above in stats.parents[:3]:
        parts = [sorted((above / name).rglob("*.yaml")) for name in ("arch", "prob")]
        machines = [each for each in parts[0] if "architecture" in kinds(each)]
        problems = [each for each in parts[1] if "problem" in kinds(each)]
        if machines and problems:
            return [[machines[0], each, *tables] for each in problems]
    return []


def runs(folder: Path) -> None:
    """Compare public runs of Timeloop with the model."""
    counts: Counter[str] = Counter()
    for stats in sorted(folder.rglob("*.stats.txt")):
        drawn = stats.with_name(stats.name.replace(".stats.txt", ".map.txt"))
        outcome = "no input files"
        for files in inputs_of(stats) if drawn.is_file() else []:
            try:
                files_read = read_mapper_files(files)
                (point,) = load_points(drawn, files_read.architecture, files_read.nest)
                own = compared(point, stats)
            except InputError as error:
                outcome = f"refused: {error}"
                continue
            outcome = "equal" if not own.different else f"differs: {own.failure}"
            break
        counts[outcome.partition(":")[0]] += 1
        if outcome != "equal":
            print(f"{stats}\n    {outcome}")
    print(", ".join(f"{number} {what}" for what, number in counts.items()))


def _refusal(read: Callable[[Path], Any], path: Path) -> InputError | None:
    """The reason why a file cannot be read; None where it can."""
    try:
        read(path)
    except InputError as error:
        return error
    return None


def main(folder: Path) -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    theirs: Counter[str] = Counter()
    listed = front_end()
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".yaml", ".yml", ".jinja2") or not path.is_file():
            continue
        repository = folder / path.relative_to(folder).parts[0]
        with including(repository if repository.is_dir() else None):
            known = {kind: _refusal(READERS[kind], path) for kind in kinds(path)}
        for kind, error in known.items():
            if error is not None:
                counts[kind, False] += 1
                says = said(kind, path, listed)
                theirs[kind] += says.startswith("refused")
                reason = re.sub(r"\[\d+\]", "[…]", str(error).removeprefix(str(path)))
                reasons[kind, reason.lstrip(": ")[:160]].append(f"{path}\n      front end: {says}")
            else:
                counts[kind, True] += 1
    print(f"{'':35}{'refused by':>26}{'read of what':>14}")
    print(f"{'kind':14}{'files':>7}{'read':>7}{'refused':>9}{'read':>9}", end="")
    print(f"{'the front end':>15}{'it reads':>14}")
    for kind in KINDS:
        read, refused = counts[kind, True], counts[kind, False]
        shares = [
            f"{100 * read / max(of, 1):.1f} %"
            for of in (read + refused, read + refused - theirs[kind])
        ]
        print(f"{kind:14}{read + refused:7}{read:7}{refused:9}{shares[0]:>9}", end="")
        print(f"{theirs[kind]:15}{shares[1]:>14}")
    for (kind, reason), paths in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print("\n    ".join([f"\n{len(paths)} × {kind}: {reason}", *paths]))


if __name__ == "__main__":
    if sys.argv[1] == "--runs":
        runs(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
        networks(Path(sys.argv[1]))

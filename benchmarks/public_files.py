"""Count the files of a folder by kind, and what is read of them:
``python -m benchmarks.public_files FOLDER``.

The folder may hold any repositories, such as Accelergy-Project/timeloop-accelergy-exercises (of 2022
and 2024), NVlabs/timeloop and Accelergy-Project/timeloopfe. One file may be of several kinds. Files
that only Accelergy writes (an architecture of ``local`` alone) are none of Timeloop's. Templates take
in files of the repository that they are in (a folder in FOLDER). Networks are
told by what they hold: models of ONNX with products or convolutions (those of FINN, QONNX and Brevitas by
their domains), Keras models in archives, HDF5 and JSON, topologies of SCALE-Sim, networks of MAESTRO, workloads of ZigZag and Stream. Nothing
is fetched.

``python -m benchmarks.public_files --runs FOLDER [EVERY]`` compares every run, or each EVERYth, of Timeloop (``X.stats.txt``,
its mapping in ``X.map.txt`` or in itself) with the model, figure by figure, where its input files
stand beside it or in a folder above. Runs of which only figures of the machine differ are of other
inputs: those that stand there were changed since.

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
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice, product
from operator import itemgetter
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.inclusions import including
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.exports.timeloop.comparison import compared
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.constraint_entries import SECTIONS, entries_of
from ithaca.plugins.hierarchies.formulations.mapper_files import (
    mapper_objectives,
    read_mapper_files,
)
from ithaca.plugins.hierarchies.formulations.points import load_points
from ithaca.plugins.hierarchies.formulations.statistics_files import Statistics, read_statistics
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.problem_files import read_problem

#: Fields at the left edge of a text that cannot be read, by kind.
KINDS = {
    "architecture": ("architecture", "arch"),
    "problem": ("problem",),
    "constraints": SECTIONS,
    "mapper": ("mapper",),
}

#: Fields of the inputs of a run that it needs, and all that its figures depend on.
_NEEDED = {"architecture", "problem"}
_GIVEN = {*_NEEDED, "sparse_optimizations"}


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
            letter = re.search(r"size: -s (\S+)=8\b", str(error))
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


#: Names of folders that hold inputs, and of files that are outputs or the mapping.
_INPUTS = re.compile("arch|accel|hw|hardware|prob|work|layer|spec|input|ert|spars", re.IGNORECASE)
_OUTPUTS = re.compile("mapping|timeloop-(?!.*ERT.yaml)|.*summary|.*flattened|.*ART")

_SPARSE = re.compile("^(sparse_optimizations) *:", re.M)

#: What runs with sparse tensors print.
_ACTUAL = "Actual Computes"

#: Most sets of input files of a run that are tried.
TRIED = 60


@cache
def _around(folder: Path) -> dict[Path, list[str]]:
    """Input files in a folder, and in those inside it that are named as such, with their kinds."""
    inside = (each for each in folder.iterdir() if each.is_dir() and _INPUTS.search(each.name))
    files = [*folder.glob("*.yaml"), *(file for each in inside for file in each.rglob("*.yaml"))]
    known = [each for each in sorted(files) if not _OUTPUTS.match(each.name)]
    return {
        each: [*kinds(each), *_SPARSE.findall(each.read_text(errors="replace"))] for each in known
    }


def inputs_of(stats: Path, root: Path) -> Iterator[list[Path]]:
    """Sets of input files that a run may be of: what the tool wrote down, what stands in one folder
    with both, or architectures and problems of the nearest folders that have them, first those
    that the path of the run names."""
    if parsed := [*stats.parent.glob("parsed-processed-input.yaml")]:
        yield [*parsed, *stats.parent.glob("*.ERT.yaml")]
        return
    parts: dict[str, list[Path]] = {each: [] for each in sorted(_GIVEN)}
    for above in [each for each in stats.parents if each.is_relative_to(root)]:
        own = {each: known for each, known in _around(above).items() if each.parent == above}
        if {kind for known in own.values() for kind in known} >= _NEEDED:
            tables = [each for each in own if each.name.endswith("ERT.yaml")]  # of a sweep
            yield [each for each in own if each in tables or {*own[each]} & _GIVEN]
            return
        for kind, files in parts.items():
            files += [each for each in _around(above) if not files and kind in _around(above)[each]]
        if all(parts[kind] for kind in _NEEDED):
            break
    tables = [*stats.parent.glob("*.ERT.yaml"), *stats.parent.parent.glob("ERT.yaml")]
    named = [each for each in parts["problem"] if re.search(rf"\b{each.stem}\b", str(stats))]
    sparse = [[each] for each in parts["sparse_optimizations"] if _ACTUAL in stats.read_text()]
    sets = product(parts["architecture"], named or parts["problem"], sparse or [[]])
    yield from ([*pair, *also, *tables] for *pair, also in islice(sets, TRIED))


def runs(folder: Path, every: int = 1) -> None:
    """Compare public runs of Timeloop with the model, or each of some: how many are equal,
    counted in which manner, one off where the tool rounds quotients of doubles, or differ."""
    counts: Counter[str] = Counter()
    for stats in sorted(folder.rglob("*.stats.txt"))[::every]:
        outcome = _outcome(stats, folder)
        kind, _, words = outcome.partition(":")
        manner = re.search(r"figures, (.*) counted as", words)
        counts[f"{kind} ({manner[1]})" if manner else kind] += 1
        if kind != "equal":
            print(f"{stats}\n    {outcome}")
    print("\n".join(f"{number:6} {what}" for what, number in counts.most_common()))


def _outcome(stats: Path, root: Path) -> str:
    """Outcome of the comparison of a run, with the inputs of which the fewest figures differ:
    those first whose machine is the run's."""
    drawn = stats.with_name(stats.name.replace(".stats.txt", ".map.txt"))
    theirs = read_statistics(stats)
    best, outcome = None, "no input files"
    tried = list[tuple[int, Architecture, LoopNest]]()
    for files in inputs_of(stats, root):
        try:
            architecture, nest = _inputs(tuple(files))
        except InputError as error:
            outcome = f"refused: {error}"
        else:
            tried.append((_unlike(architecture, theirs), architecture, nest))
    for _, architecture, nest in sorted(tried, key=itemgetter(0)):
        try:
            (point,) = load_points(drawn if drawn.is_file() else stats, architecture, nest)
            own = compared(point, stats)
        except InputError as error:
            outcome = outcome if best is not None else f"refused: {error}"
            continue
        if best is None or len(own.different) < best:
            best = len(own.different)
            changed = [each for each in own.different if _MACHINE.fullmatch(each[1])]
            near = all(abs(a.value - b.value) <= max(1, a.step) for _, _, a, b in own.different)
            kind = "of other inputs" if changed else "one off" if near else "differs"
            kind = kind if best else "equal"
            first = ", ".join(map(str, (changed or own.different)[0])) if best else ""
            outcome = f"{kind}: {own.summary}{', such as ' * bool(first)}{first}"
        if not own.different:
            break
    return outcome


#: Figures of a machine, which no mapping changes.
_MACHINE = re.compile(
    "(Data storage s|Effective (data storage )?s|S)ize|Instances|Word bits|"
    "(Read|Write|Shared) bandwidth|Cluster size|(Data b|B)lock size"
)


def _unlike(architecture: Architecture, theirs: Statistics) -> int:
    """The number of levels that have another size, or other numbers, than a run's."""
    unlike = 0
    for level in architecture.levels:
        for name, own in (("Size", level.words), ("Instances", level.instances)):
            figure = theirs.get((level.name, name))
            unlike += figure is not None and own is not None and figure.value != own
    return unlike


@cache
def _inputs(files: tuple[Path, ...]) -> tuple[Architecture, LoopNest]:
    both = read_mapper_files(files)
    return both.architecture, both.nest


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
        runs(Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    else:
        main(Path(sys.argv[1]))
        networks(Path(sys.argv[1]))

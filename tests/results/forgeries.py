"""Small results of every kind, as files, and every change of one place of a file; what such a
change may say without being a false claim."""

import copy
import json
import re
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import ithaca
from ithaca.solver.engines import Method, engine
from ithaca.solver.options import SolveOptions
from tests.plugins.codesign.studies.spaces import small_space
from tests.studies.network.test_fused import FOLLOWING

#: What a file asks: of another question the answer is checked against that, and may hold. Names of
#: platforms are such, too.
QUESTION = (
    r"^(workloads?|limits|platform|edition|technology|space|architecture|problem|objectives?|objective\.expression)$|"
    r"^(workloads?|limits|platform|technology|space(?!.*unit$)|architecture|problem|objectives)\.|^(dtype|partition)\b|"
    r"^(points\.\d+\.)?question\.|^(tile|intrinsic|statement)\b|"
    r"^simulation\.(machine|memory)\.|^network\.name$"
)

#: What a file says of its question that no figure depends on: `verify` repeats it as not checked.
WORDS = (
    r"^network\.(parameters|omissions|parts)\b|^layers\.\d+\.(name|folded|sources)\b|"
    r"^space\.(quantities|costs)\.\w+\.unit$"
)

#: How a search went, which no other search repeats.
RECORDS = (
    r"^simulation\.values\.error$|\b(nodes|seconds|method|unfinished|designs_solved|designs_known|termination)$|^complete$|\btrace\b|"
    r"^counts\.(boxes|excluded|evaluated|layers)$"
)

#: What may be left out: less is stated then.
OMITTED = (
    r"\.(trace|termination|ties_broken|marginal|unit|folded)$|^network\.(parameters\b|parts$)|"
    r"^(unrestricted|open|simulation\.values)$"
)

#: Networks claim that no layer's configuration is better, not which of equals it is: another with
#: the same metrics is true.
EQUALS = r"^layers\.\d+\.best\.tiling\."

#: Claims that are true, though others were proven: that a shortfall is a lower bound, that not all
#: equals were compared, and bounds of what is open, if they hold.
WEAKER = r"shortfalls\.\d+\.proven$|^points\..*\.ties_broken$"
BOUNDS = r"^open\.\d+\.lower_bounds\.\d+$|^certificate\.lower_bound$"

#: Bounds of designs that lose: any that holds is true, whichever was proven.
LOSERS = r"^layers\.(\d+)\.designs\.(\d+)\.certificate\.lower_bound$"

MM = {"i": 4, "j": 4, "k": 4}
LIMITS = {"dsp": 40, "bram18k": 100}


def _network(folder, **asked):
    """Two layers of which one follows the other."""
    (folder / "following.yaml").write_text(FOLLOWING)
    limits = {} if "arch" in asked else {"dsp": 40, "bram18k": 400}
    return ithaca.network(
        folder / "following.yaml", layers=["mm"], limit=limits, divisors_only=True, **asked
    )


def _several(folder):
    """Two networks of one layer each, of which one runs three times."""
    for name, size in (("one", 4), ("two", 6)):
        layer = f"{{op: kernel, name: a, kernel: mm, sizes: {{i: {size}, j: 2, k: 4}}}}"
        (folder / f"{name}.yaml").write_text(f"name: {name}\nlayers:\n  - {layer}\n")
    names = [f"{folder / 'one.yaml'}:3", folder / "two.yaml"]
    return ithaca.network(names, limit=LIMITS, divisors_only=True, dataflow="i,j")


#: How a small result of every kind is made.
KINDS = {
    "optimal": lambda folder: ithaca.solve(
        "mm", **MM, limit=LIMITS, divisors_only=True, dataflow="i,j"
    ),
    "infeasible": lambda folder: ithaca.solve(
        "mm", **MM, limit=LIMITS | {"dsp": 4}, divisors_only=True, dataflow="i,j"
    ),
    "gap": lambda folder: ithaca.solve(
        "mm", i=8, j=8, k=8, limit=LIMITS, dataflow="i,j", gap=0.5, method="exact"
    ),
    "mapping": lambda folder: ithaca.map("mm", **MM, arch="simple", divisors_only=True),
    "layers": lambda folder: _network(folder),
    "layers fused": lambda folder: _network(folder, fuse=True, objective="off_chip_words"),
    "layers of one dataflow": lambda folder: _network(folder, mode="shared-dataflow"),
    "layers on two arrays": lambda folder: _network(
        folder, mode="multi-array", arrays=2, minimise="slowest"
    ),
    "layers of several networks": lambda folder: _several(folder),
    "layers mapped and fused": lambda folder: _network(
        folder, arch="simple", fuse=True, objective="energy"
    ),
    "accelerator": lambda folder: ithaca.codesign(small_space(folder), limit={"area": 4}),
    "no accelerator": lambda folder: ithaca.codesign(small_space(folder), limit={"area": 1.2}),
    "accelerators cut short": lambda folder: ithaca.codesign(small_space(folder), time_limit=1e-9),
    "accelerators to a gap": lambda folder: ithaca.codesign(small_space(folder), gap=0.5),
    "front of accelerators": lambda folder: ithaca.codesign(
        small_space(folder), objectives="energy,latency"
    ),
    "front": lambda folder: ithaca.pareto(
        "mm", **MM, limit=LIMITS, divisors_only=True, dataflow="i,j", objectives="latency,dsp"
    ),
    "front of mappings": lambda folder: ithaca.pareto(
        "mm", **MM, arch="simple", divisors_only=True, objectives="latency,energy"
    ),
    "study": lambda folder: ithaca.whatif(
        "mm",
        **MM,
        limit={"bram18k": 100},
        divisors_only=True,
        dataflow="i,j",
        vary={"dsp": [4, 20]},
        marginal=10,
    ),
    "matches": lambda folder: ithaca.match("mm", **MM),
    "for autosa": lambda folder: ithaca.solve(
        "mm", i=16, j=16, k=16, limit=LIMITS, dataflow="i,j", target="autosa"
    ),
    "layers for autosa": lambda folder: _network(
        folder, objective="off_chip_words", edition="exact", target="autosa"
    ),
    "layers that share tiles": lambda folder: _network(
        folder, arch="simple", edition="uneven", fuse=True, objective="energy"
    ),
    "simulation": lambda folder: ithaca.simulate(
        ithaca.solve("mm", **MM, limit=LIMITS, dataflow="i,j"), check_values=True
    ),
    "no mapping": lambda folder: ithaca.map(
        "mm", **MM, arch="simple", divisors_only=True, limit={"energy": 10}
    ),
}


#: Kinds that are made in less than a second.
QUICK = tuple(
    kind
    for kind in KINDS
    if kind not in ("layers on two arrays", "layers that share tiles", "matches", "simulation")
)


@cache
def losers(kind):
    """The optimum of each design of a network's file that loses, by its layer and place."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file.json"
        path.write_text(written(kind))
        layers = ithaca.load(path).layers
    return {
        (n, place): engine(Method.ENUMERATION)(design.problem, SolveOptions()).value
        for n, layer in enumerate(layers)
        for place, design in enumerate(layer.designs)
        if design.certificate.beaten
    }


def holds(kind, place, value):
    """Whether a bound of a design that loses is one."""
    at = re.search(LOSERS, place)
    least = at and kind in KINDS and losers(kind).get((int(at[1]), int(at[2])))
    return isinstance(least, Fraction) and value not in (None, DROPPED) and value <= least


@cache
def written(kind):
    """The text of a file of a kind, which is made once."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file.json"
        KINDS[kind](Path(folder)).save(path)
        return path.read_text()


def document_of(kind):
    """The document of a file of a kind."""
    return json.loads(written(kind))


def leaves(value, steps=()):
    """Paths to all values that hold no others."""
    if isinstance(value, dict | list) and value:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*steps, key))
    elif not isinstance(value, dict | list):
        yield steps


def holders(value, kind, steps=()):
    """Paths to all objects, or to all lists."""
    if isinstance(value, kind):
        yield steps
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from holders(inner, kind, (*steps, key))


def at(document, steps):
    for step in steps:
        document = document[step]
    return document


def others(value):
    """Other values in the place of one."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value - 1, value + 1]
    if isinstance(value, float):
        return [value * 1.1 or 1.0, value * 0.9 or 0.5]
    return (
        [1]
        if value is None
        else [word for word in (f"{value}x", "optimal", "feasible", "A", "dsp") if word != value]
    )


#: A change that drops a key, or adds one.
DROPPED, ADDED = "dropped", "added"

#: Changes of a list, and what may be so: names of layers say which is which, and a shortfall or a
#: box that is open is none more for being stated twice.
SHORTER, REPEATED, REVERSED = "shorter", "repeated", "reversed"
LISTS = {
    SHORTER: r"^open$",
    REPEATED: r"\bshortfalls$|^open$",
    REVERSED: r"^layers$|^restriction\.dataflow$",
}


def rearranged(values):
    """Changes of a list."""
    yield from ((SHORTER, values[1:]), (SHORTER, values[:-1]), (REPEATED, [*values, values[-1]]))
    if values[::-1] != values:
        yield REVERSED, values[::-1]


def forgeries(document):
    """Every change of one place: where, what it is now, and the document."""
    for steps in leaves(document):
        for value in others(at(document, steps)):
            forged = copy.deepcopy(document)
            at(forged, steps[:-1])[steps[-1]] = value
            yield ".".join(map(str, steps)), value, forged
    for steps in filter(partial(at, document), holders(document, list)):
        for value, changed in rearranged(at(document, steps)):
            forged = copy.deepcopy(document)
            at(forged, steps[:-1])[steps[-1]] = copy.deepcopy(changed)
            yield ".".join(map(str, steps)), value, forged
    for steps in holders(document, dict):
        for key in at(document, steps):
            forged = copy.deepcopy(document)
            del at(forged, steps)[key]
            yield ".".join(map(str, (*steps, key))), DROPPED, forged
        forged = copy.deepcopy(document)
        at(forged, steps)["other"] = 1
        yield ".".join(map(str, (*steps, "other"))), ADDED, forged


def no_claim(kind, place, value):
    """Whether a file may say this, too."""
    if (
        re.search(QUESTION, place)
        or re.search(RECORDS, place)
        or (value != DROPPED and re.search(EQUALS, place))
        or holds(kind, place, value)
    ):
        return True
    if value in LISTS:
        known = (LISTS[value], WORDS)
        return any(re.search(each, place) for each in known) or no_claim(kind, f"{place}.0", ADDED)
    if value == DROPPED:
        return bool(re.search(OMITTED, place))
    return (
        bool(re.search(WEAKER, place))
        if value is False
        else kind == "accelerators cut short" and bool(re.search(BOUNDS, place))
    )


def unsaid(place, value):
    """The words of `verify` on a change of words that no figure depends on."""
    if not re.search(WORDS, place):
        return ""
    return place.rpartition(".")[2] if value == ADDED else str(value)

"""Small chains of nests, and the least of all shared loops, storage nodes, groups and mappings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from math import inf, prod
from typing import Any

import numpy as np

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.problem import read_objective
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from ithaca.workloads.nest import LoopNest
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.placed import Placed, model_of, primes

#: Chains of nests, with the loops that some of them may share: their names by nest, + where a nest
#: has none and computes the same again.
CHAINS = (
    (("T[m][n] += A[m][k] * B[k][n]", "C[m][p] += T[m][n] * W[n][p]"), ("mm", "nn", "+p")),
    (("T[m][n] += A[m][k] * B[k][n]", "C[m] += T[m][n] * W[n]"), ("mm", "nn")),
    (("T[b][m] += A[b][k] * B[b][k][m]", "C[b] += T[b][m] * W[m]"), ("bb", "mm")),
    (("T[m][p] += A[m][p+r] * B[r]", "C[n][p] += T[m][p] * W[m][n]"), ("mm", "pp", "+n")),
    (
        (
            "T[m][n] += A[m][k] * B[k][n]",
            "U[m][p] += T[m][n] * W[n][p]",
            "C[m] += U[m][p] * V[p]",
        ),
        ("mmm", "nn-", "+pp"),
    ),
    (
        (
            "T[m] += A[m][k] * B[k]",
            "U[n] += T[m] * V[m][n]",
            "C[p] += U[n] * W[n][p]",
        ),
        ("mm-", "+nn", "++p"),
    ),
    (
        (
            "T[m][n] += A[m][k] * B[k][n]",
            "U[m] += T[m][n] * V[n]",
            "X[p] += U[m] * W[m][p]",
            "C[q] += X[p] * Y[p][q]",
        ),
        ("mmm-", "nn--", "++pp", "+++q"),
    ),
)

#: Chains with windows, and of every loop that moves what the next nest reads with its loops: that
#: nest's loop, its stride and the window's loop. Loops of turns have upper-case names.
WINDOWS = (
    (("T[p] += A[p][k] * B[k]", "C[q] += T[q+r] * W[r]"), ("pq",), {"p": ("q", 1, "r")}),
    (
        ("T[m][p] += A[m][p+t] * B[m][t]", "C[n][q] += T[m][q+r] * W[n][m][r]"),
        ("mm", "pq", "+n"),
        {"p": ("q", 1, "r")},
    ),
    (
        ("T[m][p] += A[k][p] * B[m][k]", "C[q] += T[m][2*q+r] * W[m][r]"),
        ("mm", "pq"),
        {"p": ("q", 2, "r")},
    ),
    (
        (
            "T[m][p] += A[k][p] * B[m][k]",
            "U[m][q] += T[m][q+r] * V[m][r]",
            "C[n][q] += U[m][q] * W[n][m]",
        ),
        ("mmm", "pq-", "pqq", "++n"),
        {"p": ("q", 1, "r")},
    ),
    (
        ("T[p] += A[p][k] * B[k]", "U[q] += T[q+r] * V[r]", "C[x] += U[x+y] * W[y]"),
        ("pq-", "pqx"),
        {"p": ("q", 1, "r"), "q": ("x", 1, "y")},
    ),
)


@dataclass
class Chain:
    """Nests, each of which reads what the one before writes."""

    nests: tuple[LoopNest, ...]
    architecture: Architecture
    shared: tuple[str, ...]
    options: MappingOptions
    objective: str
    homes: tuple[int, ...] = ()
    """By nest, the level at which it passes on what it writes."""
    windows: Mapping[str, tuple[str, int, str]] = field(default_factory=dict)
    known: dict[Any, Any] = field(default_factory=dict)

    def ends_once(self, own):
        """Whether some turns of a shared loop have halos."""
        return any(d in self.windows and d != own.rstrip("-")[-1] for d in own if d.isalpha())

    def in_turns(self, number, trips):
        """A nest that writes tiles with their halos, and again what does not change."""
        key = "turns", number, tuple(trips)
        if key not in self.known:
            self.known[key] = self._in_turns(number, trips)
        return self.known[key]

    def _in_turns(self, number, trips):
        nest, sizes = self.nests[number], dict(self.nests[number].sizes)
        written, read = str(nest.output), [list(access) for access in nest.inputs]
        read = [list(map(str, ranks)) for ranks in read]
        for c, (own, n) in enumerate(zip(self.shared, trips, strict=True)):
            loop, last = own[number], len(own.rstrip("-")) - 1
            if n == 1 or loop == "-" or (loop != "+" and not self.ends_once(own[number:])):
                continue
            name = "abcdefgh"[c].upper()
            sizes[name] = n
            written = written.replace("[", f"[{name}][", 1)
            if loop == "+":
                continue
            width = step = self.nests[last].sizes[own[last]] // n
            for at in reversed(range(number, last)):
                if own[at] in self.windows:
                    _, stride, window = self.windows[own[at]]
                    reads = self.nests[at + 1].sizes[window]
                    width, step = stride * (width - 1) + reads, stride * step
            sizes[loop] = width
            for access, ranks in zip(nest.inputs, read, strict=True):
                for at, rank in enumerate(access):
                    if rank.coefficient(loop):
                        ranks[at] += f"+{rank.coefficient(loop) * step}*{name}"
        texts = (
            access.tensor + "".join(f"[{rank}]" for rank in ranks)
            for access, ranks in zip(nest.inputs, read, strict=True)
        )
        return nest_of(f"{written} += {' * '.join(texts)}", sizes)

    def passed(self, number):
        """The tensors that a nest takes or leaves as tiles."""
        nest = self.nests[number]
        read = [nest.inputs[0].tensor] if number else []
        return read + ([nest.output.tensor] if number + 1 < len(self.nests) else [])

    def home(self, number, tensor):
        """The level of a tensor between shared loops."""
        if tensor not in self.passed(number):
            return 1
        return self.homes[number - (number and tensor == self.nests[number].inputs[0].tensor)]

    @property
    def rooms(self):
        """Words of the levels inside the outermost, of which there is one."""
        levels = (each for each in self.architecture.levels[1:] if each.instances == 1)
        return tuple(inf if each.words is None else each.words for each in levels)

    def beside(self, held, number, tensor, words):
        """Words by level, with those of a tensor that stays."""
        place = self.home(number, tensor) - 1
        return tuple(own + words * (place == at) for at, own in enumerate(held))


def fitted_to(nest, architecture):
    """The architecture without tensors that a nest does not have."""
    own = {access.tensor for access in nest.accesses}
    levels = (
        each if each.keeps is None else replace(each, keeps=each.keeps & own)
        for each in architecture.levels
    )
    return replace(architecture, levels=tuple(levels))


@dataclass
class Rows:
    """All mappings of a nest, given what lies outside of its own loops."""

    values: Any
    """Their objectives."""
    used: Any
    """Words of the levels that tiles may be passed on at."""


def names_of(chain, number):
    """Names of all loops that may be shared, in a nest; those of turns have names of their own."""
    return [
        name.upper() if own[number] == "+" or chain.ends_once(own[number:]) else own[number]
        for own, name in zip(chain.shared, "abcdefgh", strict=False)
    ]


def rows_of(
    chain,
    number,
    between,
    trips,
):
    """All places of all further prime factors in all orders of further nodes, given the trips
    around nodes between shared loops, and those around all others."""
    nest, passed = chain.in_turns(number, trips), chain.passed(number)
    names = names_of(chain, number)
    architecture = fitted_to(nest, chain.architecture)
    tensors = [a.tensor for a in nest.accesses]
    homes = {t: chain.home(number, t) for t in passed}
    levels = tuple(
        replace(each, keeps=each.kept(tensors) - {t for t in passed if 0 < place < homes[t]})
        for place, each in enumerate(architecture.levels)
    )
    architecture = replace(architecture, levels=levels).retaining([(t, 1) for t in passed], tensors)
    design = UnevenDesign(chain.nests[number], architecture, chain.options)
    between = (*between, *((t, tuple(trips)) for t in passed if t not in dict(between)))
    first = [(homes.get(t, 1), t) for t, _ in between]
    outer = dict(zip(names, trips, strict=True))
    cells = [(d, p) for d, n in nest.extents for p in primes(n // outer.get(d, 1))]
    meshes = [
        place
        for place in range(len(architecture.levels))
        if architecture.inner_mesh(place) is not None
    ]
    fixed = {}
    before = (1,) * len(names)
    for gap, (_, around) in enumerate([*between, ("", tuple(trips))]):
        for name, now, then in zip(names, before, around, strict=True):
            fixed[gap, name] = then // now
        before = around
    values, used = [], []
    single = [each.name for each in levels[1:] if each.instances == 1]
    rest = [node for node in design.nodes if node not in first]
    for order in permutations(rest):
        if any(
            one[0] > other[0] and (one[1] == other[1] or chain.options.nodes_by_level)
            for at, one in enumerate(order)
            for other in order[at + 1 :]
        ):
            continue
        nodes, begin = (*first, *order), len(first)
        gaps = range(begin, len(nodes) + 1)
        spots = [*gaps, *(("lane", place) for place in meshes)]
        rows = np.array(list(product(range(len(spots)), repeat=len(cells)))).T
        many = len(spots) ** len(cells)
        rows = rows.reshape(len(cells), many)

        def trips_at(spot, loop, rows=rows, many=many):
            own = [
                np.where(row == spot, p, 1)
                for row, (d, p) in zip(rows, cells, strict=True)
                if d == loop
            ]
            return prod(own, start=np.ones(many, int))

        temporal = {(gap, d): trips_at(n, d) for n, gap in enumerate(gaps) for d in nest.loops}
        for (gap, d), n in fixed.items():
            temporal[gap, d] = temporal.get((gap, d), np.ones(many, int)) * n
        lanes = {
            (place, "x", d): trips_at(len(gaps) + n, d)
            for n, place in enumerate(meshes)
            for d in nest.loops
        }
        model = model_of(architecture, nest, Placed(nodes, temporal, lanes), NUMPY)
        fits = np.ones(many, bool)
        for rule in model.rules():
            if rule.level not in single:
                fits &= np.broadcast_to(rule.used <= rule.bound, (many,))
        whole = [
            model.used(place)
            + sum(
                words_of(chain, number, t, dict(between)[t]) - 1
                for t in passed
                if homes[t] == place
            )
            for place, _ in enumerate(single, start=1)
        ]
        expression = read_objective(chain.objective, "objective", None).expression
        metrics = {name: model.metric(name) for name in expression.symbols}
        own = np.broadcast_to(expression.evaluate(metrics, NUMPY), (many,))
        values.append(np.where(fits, own, inf))
        used.append(np.array([np.broadcast_to(words, (many,)) for words in whole]))
    return Rows(np.concatenate(values), np.concatenate(used, axis=1))


def words_of(chain, number, tensor, trips):
    """Words of what a nest takes or leaves in turns of some shared loops."""
    at = number if tensor == chain.nests[number].output.tensor else number - 1
    return tile_of(chain, at, tensor, trips, trips)


def tile_of(chain, number, tensor, trips, whole):
    """Words of what a tensor has inside of some of the shared loops."""
    key = "words", number, tensor, trips, whole
    if key not in chain.known:
        chain.known[key] = _tile_of(chain, number, tensor, trips, whole)
    return int(chain.known[key])


def _tile_of(chain, number, tensor, trips, whole):
    nest = chain.in_turns(number, whole)
    outer = dict(zip(names_of(chain, number), trips, strict=True))
    access = next(each for each in nest.accesses if each.tensor == tensor)
    return prod(
        1 + sum(rank.coefficient(d) * (nest.sizes[d] // outer.get(d, 1) - 1) for d in rank.loops)
        for rank in access
    )


def least_of(chain):
    """The least of all homes, shared loops, storage nodes between these, groups and mappings."""
    numbers, architecture = range(len(chain.nests)), chain.architecture
    ones = (1,) * len(chain.shared)
    outside = dict.fromkeys(numbers, ())
    nothing = dict.fromkeys(numbers, (0.0,) * len(chain.rooms))
    able = [
        [
            place
            for place, each in enumerate(architecture.levels)
            if place
            and each.instances == 1
            and (each.keeps is None or nest.output.tensor in each.keeps)
        ]
        for nest in chain.nests[:-1]
    ]
    return min(
        least_within(replace(chain, homes=homes, known={}), numbers, ones, outside, nothing)
        for homes in product(*able)
    )


def least_within(chain, numbers, outer, nodes, beside):
    """The least cost of nests that take turns inside of some loops and nodes, beside other
    words."""
    first, last = numbers[0], numbers[-1]
    rooms = np.array(chain.rooms)
    if first == last:
        key = first, nodes[first], outer
        if key not in chain.known:
            chain.known[key] = rows_of(chain, *key)
        left = (*key, beside[first])
        if left not in chain.known:
            rows = chain.known[key]
            fits = (rows.used <= (rooms - beside[first])[:, None]).all(axis=0)
            chain.known[left] = float(np.where(fits, rows.values, inf).min())
        return float(chain.known[left])
    cells = [
        (number, p)
        for number, own in enumerate(chain.shared)
        if own[first] != "-"
        and own[last].isalpha()
        and (not chain.ends_once(own) or (own.rstrip("-")[last + 1 :] == "" and outer[number] == 1))
        and not any(
            n > 1
            and other != own
            and (chain.ends_once(other) or chain.ends_once(own))
            and any(one == two != "+" and one != "-" for one, two in zip(own, other, strict=True))
            for other, n in zip(chain.shared, outer, strict=True)
        )
        for p in primes(chain.nests[last].sizes[own[last]] // outer[number])
    ]
    able = [
        (number, access.tensor)
        for number in numbers
        for access in chain.nests[number].accesses
        if access.tensor not in (*chain.passed(number), *dict(nodes[number]))
    ]
    best, inner = inf, len(numbers) < len(chain.nests)
    for order in (o for size in range(len(able) + 1) for o in permutations(able, size)):
        last_gap = len(order)
        for places in product(range(last_gap + 2), repeat=len(cells)):
            if last_gap not in places and (order or inner):
                continue  # as if the last node were inside, or the group none

            def around(gap, places=places):
                return tuple(
                    n
                    * prod(
                        p
                        for (c, p), at in zip(cells, places, strict=True)
                        if c == own and at <= gap
                    )
                    for own, n in enumerate(outer)
                )

            more = {n: nodes[n] for n in numbers}
            held = {n: beside[n] for n in numbers}
            for gap, (at, tensor) in enumerate(order):
                more[at] = (*more[at], (tensor, around(gap)))
                words = tile_of(chain, at, tensor, around(gap), around(last_gap))
                held = {
                    n: own if n == at else chain.beside(own, at, tensor, words)
                    for n, own in held.items()
                }
            if any((rooms < own).any() for own in held.values()):
                continue
            for cuts in product((False, True), repeat=len(numbers) - 1):
                if any(cuts):
                    turns = turns_of(numbers, cuts)
                    parts = (
                        turn(chain, own, around(last_gap), more, held, numbers) for own in turns
                    )
                    best = min(best, sum(parts))
    return best


def turns_of(numbers, cuts):
    """Nests that take turns, by after which of them the next ones come."""
    ends = [n + 1 for n, cut in zip(numbers, cuts, strict=False) if cut]
    pairs = zip((numbers[0], *ends), (*ends, numbers[-1] + 1), strict=True)
    return [range(begin, end) for begin, end in pairs]


def turn(
    chain,
    numbers,
    trips,
    nodes,
    beside,
    outside,
):
    """The least of some of the nests that take turns."""
    own, held = dict(nodes), dict(beside)
    ends = ((numbers[0], True, outside[0]), (numbers[-1], False, outside[-1]))
    for number, takes, end in ends:
        if number != end:
            nest = chain.nests[number]
            tensor = (nest.inputs[0] if takes else nest.output).tensor
            own[number] = (*own[number], (tensor, trips))
            words = words_of(chain, number, tensor, trips)
            held = {
                n: known if n == number else chain.beside(known, number, tensor, words)
                for n, known in held.items()
            }
    return least_within(chain, numbers, trips, own, held)

"""Chains of layers, drawn at random, whose plans can all be enumerated."""

from dataclasses import replace
from fractions import Fraction

from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.placed import level, primes
from tests.studies.network.all_tiles import CHAINS, WINDOWS, Chain


def random_chain(rng):
    """A small chain, on levels whose capacities bind."""
    while True:
        statements, shared = rng.choice(CHAINS)
        loops = sorted({c for text in statements for c in text if c.islower()})
        sizes = {loop: rng.choice((1, 2, 2, 3, 4)) for loop in loops}
        counts = {d: len(primes(n)) for d, n in sizes.items()}
        moving = sum(counts[own.rstrip("-")[-1]] for own in shared)
        own = [{d: n for d, n in sizes.items() if d in text} for text in statements]
        if not all(max(each.values()) > 1 for each in own):
            continue
        common = [own.strip("+-")[0] for own in shared if len(own.strip("+-")) > 1]
        if not any(counts[d] for d in common):
            continue  # layers that share no loop pass no tiles on, whatever one of them repeats
        if 1 <= moving <= 3 and 3 <= sum(counts.values()) <= 5:
            break
    nests = [nest_of(text, loops) for text, loops in zip(statements, own, strict=True)]
    levels = [
        level("DRAM", None, rng.choice((20, 200)), rng.choice((None, 1, 3))),
        level("Buffer", rng.choice((4, 5, 6, 8, 10)), rng.randint(1, 9), None),
    ]
    if rng.random() < 0.3:
        made = level("RF", rng.choice((2, 3, 5)), 1, None, rng.choice((1, 2)), 1)
        tensors = sorted({a.tensor for nest in nests for a in nest.accesses})
        keeps = frozenset(rng.sample(tensors, 1))
        levels.append(replace(made, keeps=keeps))
    x = levels[-1].mesh_x * rng.choice((1, 2))
    architecture = Architecture("drawn", tuple(levels), Compute("mac", x, x, 1, Fraction(1)))
    options = MappingOptions(True, nodes_by_level=rng.random() < 0.3)
    objective = rng.choice(("energy", "energy", "latency"))
    return Chain(tuple(nests), architecture, shared, options, objective)


def window_chain(rng):
    """A small chain of which some windows overlap."""
    while True:
        statements, shared, windows = rng.choice(WINDOWS)
        loops = sorted({c for text in statements for c in text if c.islower()})
        sizes = {loop: rng.choice((1, 2, 2, 3, 4)) for loop in loops}
        for loop, (moves, stride, window) in reversed(windows.items()):
            sizes[moves] = max(sizes[moves], 2)
            sizes[window] = max(sizes[window], 2, stride)
            sizes[loop] = stride * (sizes[moves] - 1) + sizes[window]
        cells = sum(len(primes(n)) for n in sizes.values())
        own = [{d: n for d, n in sizes.items() if d in text} for text in statements]
        if (
            all(max(each.values()) > 1 for each in own)
            and 3 <= cells <= 7
            and max(sizes.values()) < 9
            and sum(len(primes(sizes[each.rstrip("-")[-1]])) for each in shared) <= 4
        ):
            break
    nests = [nest_of(text, each) for text, each in zip(statements, own, strict=True)]
    levels = (
        level("DRAM", None, rng.choice((20, 200)), rng.choice((None, 1, 3))),
        level("Buffer", rng.choice((5, 6, 7, 8, 10)), rng.randint(1, 2), None),
    )
    x = rng.choice((1, 2))
    architecture = Architecture("drawn", levels, Compute("mac", x, x, 1, Fraction(1)))
    options = MappingOptions(True, nodes_by_level=rng.random() < 0.3)
    objective = rng.choice(("energy", "energy", "latency"))
    return Chain(tuple(nests), architecture, shared, options, objective, windows=windows)


def three_products(rng):
    """Three small products, of which two often share more loops than all do."""
    statements, shared = CHAINS[4]
    sizes = dict.fromkeys("mnkp", 4)
    while sum(len(primes(n)) for n in sizes.values()) > 6:
        m, n, k, p = (rng.choice(each) for each in ((2, 4, 4), (2, 4), (1, 2), (2, 3, 4)))
        sizes = {"m": m, "n": n, "k": k, "p": p}
    nests = [nest_of(text, {d: n for d, n in sizes.items() if d in text}) for text in statements]
    levels = (
        level("DRAM", None, rng.choice((20, 200)), rng.choice((None, 1, 3))),
        level("Buffer", rng.choice((6, 8, 9, 10, 12, 14)), rng.randint(1, 4), None),
    )
    x = rng.choice((1, 2))
    architecture = Architecture("drawn", levels, Compute("mac", x, x, 1, Fraction(1)))
    options = MappingOptions(True, nodes_by_level=rng.random() < 0.3)
    objective = rng.choice(("energy", "energy", "latency"))
    return Chain(tuple(nests), architecture, shared, options, objective)


def thin_products(rng):
    """Two products of which the first adds up little: to compute tiles again may pay."""
    statements, shared = CHAINS[0]
    while True:
        sizes = {d: rng.choice((3, 5, 7)) for d in "mnp"} | {"k": rng.choice((1, 1, 2))}
        if sum(len(primes(sizes[d])) for d in "mnp") == 3:
            break
    nests = [nest_of(text, {d: n for d, n in sizes.items() if d in text}) for text in statements]
    levels = (
        level("DRAM", None, rng.choice((50, 200)), rng.choice((None, None, 1))),
        level("Buffer", rng.choice((5, 6, 7, 8)), 1, None),
    )
    architecture = Architecture("drawn", levels, Compute("mac", 1, 1, 1, Fraction(1)))
    options = MappingOptions(True, nodes_by_level=rng.random() < 0.3)
    objective = rng.choice(("energy", "energy", "latency"))
    return Chain(tuple(nests), architecture, shared, options, objective)


def inner_buffers(rng):
    """A small chain of products on two buffers, at both of which tiles may be passed on."""
    while True:
        statements, shared = rng.choice((*CHAINS[:1] * 3, CHAINS[4]))
        sizes = {d: rng.choice((1, 2, 2, 3, 4)) for d in "mnkp"}
        counts = [len(primes(n)) for n in sizes.values()]
        own = [{d: n for d, n in sizes.items() if d in text} for text in statements]
        if sum(counts) == 3 and sum(counts[:2]) and min(max(each.values()) for each in own) > 1:
            break
    nests = [nest_of(text, each) for text, each in zip(statements, own, strict=True)]
    tensors = sorted({a.tensor for nest in nests for a in nest.accesses})
    passed = {nest.output.tensor for nest in nests[:-1]}
    kept = passed | {*rng.sample(tensors, rng.choice((0, 0, 1)))}
    levels = (
        level("DRAM", None, rng.choice((20, 200)), rng.choice((None, 1, 3))),
        level("Buffer", rng.choice((4, 5, 6, 8, 10)), rng.randint(2, 9), None),
        replace(level("Inner", rng.choice((2, 2, 3, 4)), 1, None), keeps=frozenset(kept)),
    )
    x = rng.choice((1, 1, 2))
    architecture = Architecture("drawn", levels, Compute("mac", x, x, 1, Fraction(1)))
    options = MappingOptions(True, nodes_by_level=rng.random() < 0.5)
    objective = rng.choice(("energy", "energy", "latency"))
    return Chain(tuple(nests), architecture, shared, options, objective)

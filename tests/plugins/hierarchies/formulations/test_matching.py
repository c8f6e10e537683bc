"""Matches against HASCO's published cases, against brute force over leaves, and against running the
calls."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.plugins.hierarchies.formulations import matching_model
from ithaca.plugins.hierarchies.formulations.intrinsics import INTRINSICS, find_intrinsic
from ithaca.plugins.hierarchies.formulations.matching import (
    Computation,
    MatchingRule,
    computation,
    stages,
    without,
)
from ithaca.plugins.hierarchies.formulations.matching_model import matches
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.library import workload
from tests.refusals import refusals

GEMM, GEMV, CONV2D = (find_intrinsic(name) for name in ("gemm", "gemv", "conv2d"))


def convolution(window=3):
    """The convolution of HASCO's examples."""
    sizes = {"k": 64, "c": 64, "x": 56, "y": 56, "r": window, "s": window}
    return computation(statement_nest("C[k,x,y] += a[c,x+r,y+s] * b[k,c,r,s]", sizes))


def bound(found):
    """The loops bound by each match, as one word in alphabetical order."""
    assert len({match.loops for match in found}) == len(found)
    return {"".join(sorted(match.loops)) for match in found}


# -- published cases -------------------------------------------------------------------


def test_convolution_on_a_matrix_product_has_nine_leaves_of_which_four_are_chosen():
    assert comb(len(convolution().leaves), len(GEMM.leaves)) == 126


def test_convolution_on_a_matrix_product_has_the_six_published_choices():
    """k; x or y; c, r or s."""
    found = matches(convolution(), GEMM, MatchingRule.PUBLISHED)
    assert bound(found) == {"".join(sorted(("k", *pair))) for pair in product("xy", "crs")}


def test_of_the_six_the_rule_applied_to_sums_too_leaves_four():
    """r with x and s with y are added in one subscript, the matrix product's loops are not."""
    found = matches(convolution(), GEMM)
    assert bound(found) == {"ckx", "cky", "ksx", "kry"}
    broken = {
        "".join(sorted(m.loops)): m.broken
        for m in matches(convolution(), GEMM, MatchingRule.PUBLISHED)
        if m.broken
    }
    assert broken == {
        "krx": "x and r are added in a's subscript x+r",
        "ksy": "y and s are added in a's subscript y+s",
    }
    assert not any(match.broken for match in found)


def mttkrp():
    sizes = dict.fromkeys("ijkl", 64)
    return computation(statement_nest("D[i,j] += A[i,k,l] * B[l,j] * C[k,j]", sizes))


def test_a_matrix_product_matches_the_first_stage_of_mttkrp_alone_and_matrix_times_vector_both():
    first, second = stages(mttkrp(), 2)
    assert str(first) == "T1[i][j][k] += A[i][k][l] * B[l][j]"
    assert str(second) == "D[i][j] += T1[i][j][k] * C[k][j]"
    assert {match.computation for match in matches(mttkrp(), GEMM)} == {first}
    assert bound(matches(mttkrp(), GEMM)) == {"ijl", "jkl"}
    assert {match.computation for match in matches(mttkrp(), GEMV)} == {first, second}


def test_a_product_of_three_factors_matches_an_intrinsic_of_three_as_a_whole():
    own = find_intrinsic("o[a,b] += x[a,c,d] * y[d,b] * z[c,b]", dict.fromkeys("abcd", 4))
    (match,) = matches(mttkrp(), own)
    assert (match.computation, dict(match.binding)) == (
        mttkrp(),
        {"a": "i", "b": "j", "c": "k", "d": "l"},
    )


def test_a_tensor_times_a_matrix_has_two_choices_of_64_calls_and_one_of_them_reads_the_tensor_in_one_run():
    """HASCO measured 3.26 between them: calls and work are the same, not where the words of a call
    are."""
    ttm = computation(statement_nest("C[i,j,k] += A[i,j,l] * B[l,k]", dict.fromkeys("ijkl", 64)))
    better, worse = matches(ttm, find_intrinsic("gemm", dict.fromkeys("ijk", 64)))
    assert (set(better.loops), set(worse.loops)) == (set("jkl"), set("ikl"))
    assert (better.whole.calls, worse.whole.calls) == (64, 64)
    assert (better.runs, worse.runs) == (3, 64 + 1 + 64)


@pytest.mark.parametrize(
    ("window", "share"), [(3, Fraction(0)), (5, Fraction(11, 36)), (7, Fraction(32, 81))]
)
def test_larger_windows_on_a_window_of_three_waste_the_published_share(window, share):
    (match,) = matches(
        convolution(window), find_intrinsic("conv2d", {"k": 16, "c": 16, "x": 8, "y": 8})
    )
    assert match.whole.redundant == share
    assert match.padded["r"] == -(-window // 3) * 3
    assert {5: "30.56", 7: "39.51"}.get(window, "0.00") == f"{100 * float(share):.2f}"


def test_the_published_listing_makes_32_calls_a_sub_problem_and_has_16128_of_these():
    outer = find_intrinsic("gemm", {"i": 16, "j": 16, "k": 1})
    match = next(m for m in matches(convolution(), outer) if set(m.loops) == set("kxc"))
    tiling = match.tiled({"k": 32, "x": 32, "c": 8})
    assert (tiling.calls_each, tiling.subproblems) == (32, 16_128)
    assert (
        tiling.calls == 64 // 16 * 4 * 56 * 64 * 9
    )  # along x 2 calls of 32, 2 of the 24 that are left
    assert tiling.redundant == match.whole.redundant == 1 - Fraction(56, 64)


def test_a_depthwise_convolution_has_only_partial_matches_with_a_matrix_product():
    depthwise = computation(workload("depthwise_conv2d"))
    assert not matches(depthwise, GEMM)
    found = matches(depthwise, GEMM, partial=True)
    assert {(match.loops, match.idle) for match in found} == {
        (("r", "q"), (("j", 16),)),
        (("c", "p"), (("j", 16),)),
    }
    assert found[0].operations == 16**3
    assert matches(convolution(), GEMM, partial=True) == matches(convolution(), GEMM)


def test_too_many_matches_are_refused(monkeypatch):
    monkeypatch.setattr(matching_model, "MOST", 100)
    letters = "abcde"
    nest = statement_nest(
        f"C[{','.join(letters)}] += A[{','.join(letters)},z] * B[z]",
        dict.fromkeys(letters + "z", 2),
    )
    own = find_intrinsic(
        f"o[{','.join(letters)}] += p[{','.join(letters)},z] * q[z]",
        dict.fromkeys(letters + "z", 2),
    )
    with pytest.raises(InputError, match="more than 100 matches"):
        matches(computation(nest), own)


# -- intrinsics ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sizes", "line"),
    refusals("formulations-matching", "what_is_no_intrinsic_is_refused"),
)
def test_what_is_no_intrinsic_is_refused(text, sizes, line):
    with pytest.raises(InputError) as error:
        find_intrinsic(text, sizes)
    assert line in str(error.value)


def test_intrinsics_match_themselves():
    for name in INTRINSICS:
        (match,) = matches(find_intrinsic(name), find_intrinsic(name))
        assert match.whole.calls == 1
        assert match.loops == match.intrinsic.loops


# -- random computations and intrinsics -------------------------------------------------


@st.composite
def products(draw, names, *, factors=2):
    """A small product whose subscripts are loops, sums of loops, and multiples."""
    loops = draw(st.lists(st.sampled_from(names), min_size=1, max_size=len(names), unique=True))
    subscript = st.lists(
        st.tuples(st.sampled_from(loops), st.sampled_from((1, 1, 1, 2))), min_size=1, max_size=2
    )
    inputs = []
    for tensor in "ABC"[:factors]:
        chosen = draw(st.lists(subscript, min_size=0, max_size=3))
        inputs.append(
            Access(
                tensor,
                tuple(Affine(tuple(dict(terms).items())) for terms in chosen) or (Affine(()),),
            )
        )
    used = [loop for loop in loops if any(access.indexed_by(loop) for access in inputs)]
    assume(used)
    kept = [loop for loop in used if draw(st.booleans())]
    output = Access("Z", tuple(Affine(((loop, 1),)) for loop in kept) or (Affine(()),))
    return Computation(
        "random", output, tuple(inputs), tuple((loop, draw(st.integers(1, 4))) for loop in used)
    )


@st.composite
def pairs(draw):
    """A computation, and what is left of it without some loops: other names, inputs and subscripts
    in another order."""
    whole = draw(products("ijkl"))
    if draw(st.integers(0, 3)) == 0:
        return whole, draw(products("xyz"))
    kept = draw(st.lists(st.sampled_from(whole.loops), min_size=1, max_size=3, unique=True))
    names = dict(zip(kept, draw(st.permutations("xyz")), strict=False))

    def access(given, tensor):
        subscripts = [
            Affine(tuple((names[loop], c) for loop, c in s.terms if loop in kept)) for s in given
        ]
        return Access(tensor, tuple(draw(st.permutations(subscripts))))

    inputs = [
        access(given, tensor)
        for given, tensor in zip(draw(st.permutations(whole.inputs)), "AB", strict=True)
    ]
    extents = tuple((names[loop], draw(st.integers(1, 3))) for loop in kept)
    return whole, Computation("drawn", access(whole.output, "Z"), tuple(inputs), extents)


def meet(first, second):
    if first.load == second.load:
        return "+" if first.dimension == second.dimension else "load"
    return "×"


def by_hand(whole, intrinsic, rule):
    """Every choice of leaves that keeps the rules, as the loops that it binds."""
    ours, theirs = intrinsic.leaves, whole.leaves
    for chosen in permutations(range(len(theirs)), len(ours)):
        pairs = [(ours[n], theirs[k]) for n, k in enumerate(chosen)]
        if any(
            (a.loop == b.loop) != (x.loop == y.loop) for (a, x), (b, y) in combinations(pairs, 2)
        ):
            continue
        binding = {leaf.loop: image.loop for leaf, image in pairs}
        if any(leaf.loop in binding.values() for k, leaf in enumerate(theirs) if k not in chosen):
            continue
        if any(
            (i in loops_of(intrinsic.output)) != (t in loops_of(whole.output))
            for i, t in binding.items()
        ):
            continue
        alike = {"+": "load"} if rule is MatchingRule.PUBLISHED else {}
        ways = [(meet(a, b), meet(x, y), a, x, b, y) for (a, x), (b, y) in combinations(pairs, 2)]
        if any(alike.get(u, u) != alike.get(v, v) for u, v, *_ in ways):
            continue
        if rule is MatchingRule.CONSISTENT and any(
            u == "+"
            and Fraction(x.coefficient, a.coefficient) != Fraction(y.coefficient, b.coefficient)
            for u, _, a, x, b, y in ways
        ):
            continue
        yield tuple(binding[loop] for loop in intrinsic.loops)


def loops_of(access):
    return {loop for subscript in access for loop in subscript.loops}


@given(pairs(), st.sampled_from(MatchingRule))
def test_matches_are_those_of_brute_force(pair, rule):
    """Over every choice of leaves; those that an exchange of names in the intrinsic makes of one
    are one."""
    whole, intrinsic = pair
    assume(len(whole.leaves) <= 7 and len(intrinsic.leaves) <= 5)
    own = [
        loops
        for loops in by_hand(intrinsic, intrinsic, MatchingRule.CONSISTENT)
        if all(
            intrinsic.sizes[loop] == n
            for loop, n in zip(loops, intrinsic.sizes.values(), strict=True)
        )
    ]
    expected = set(by_hand(whole, intrinsic, rule))
    found = [
        {tuple(match.binding[name] for name in names) for names in own}
        for match in matches(whole, intrinsic, rule)
    ]
    assert {loops for orbit in found for loops in orbit} == expected
    assert sum(map(len, found)) == len(expected)


def element(access, values):
    return tuple(s.constant + sum(c * values[loop] for loop, c in s.terms) for s in access)


def iterations(sizes):
    for values in product(*map(range, sizes.values())):
        yield dict(zip(sizes, values, strict=True))


def word(tensor, at):
    """A value for an element."""
    return hash((tensor, *at)) % 1009


@given(pairs(), st.booleans())
def test_calls_compute_what_the_computation_does(pair, partial):
    """Each call sees nothing but its operands, gathered element by element: these must be well
    defined."""
    whole, intrinsic = pair
    assume(prod(whole.sizes.values()) <= 200)
    expected = {}
    for values in iterations(whole.sizes):
        at = element(whole.output, values)
        expected[at] = expected.get(at, 0) + prod(
            word(n, element(a, values)) for n, a in enumerate(whole.inputs)
        )
    for match in matches(whole, intrinsic, partial=partial):
        called = match.intrinsic
        assert called == without(intrinsic, [loop for loop, _ in match.idle])
        found = {}
        calls = 0
        starts = {loop: -(-n // match.spans.get(loop, 1)) for loop, n in whole.sizes.items()}
        for start in iterations(starts):
            calls += 1
            operands = [{} for _ in called.inputs]
            result = {}
            sums = {}
            for inner in iterations(called.sizes):
                values = {loop: start[loop] * match.spans.get(loop, 1) for loop in whole.loops}
                for index, loop in match.binding.items():
                    values[loop] += inner[index]
                if any(values[loop] >= n for loop, n in whole.sizes.items()):
                    continue  # padding: zeros
                for n, access in enumerate(called.inputs):
                    image = element(whole.inputs[match.loads[n]], values)
                    assert operands[n].setdefault(element(access, inner), image) == image
                at = element(called.output, inner)
                assert result.setdefault(at, element(whole.output, values)) == element(
                    whole.output, values
                )
                factors = [
                    word(match.loads[n], operands[n][element(a, inner)])
                    for n, a in enumerate(called.inputs)
                ]
                sums[at] = sums.get(at, 0) + prod(factors)
            for at, total in sums.items():
                found[result[at]] = found.get(result[at], 0) + total
        assert found == expected
        assert calls == match.whole.calls

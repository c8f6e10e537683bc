"""Short answers: at most 20 lines, and what they leave out is said."""

from dataclasses import replace

import pytest

import ithaca
from ithaca.results.short import MOST, lines, short
from ithaca.results.view import Fact, tabled
from ithaca.solver.certificate import Status, Termination
from tests.command_line import refused, succeed

MM = ("mm", "-s", "i=8,j=8,k=8", "--limit", "dsp=80", "--divisors-only")
NEST = "A[a,b,c,d,e] += B[a,b,c,f] * C[f,d,e]"
NESTS = {"a": 2, "b": 2, "c": 2, "d": 2, "e": 2, "f": 2}


def test_a_solve_fits_a_screen_and_says_how_to_see_all():
    brief, whole = (
        succeed("solve", *MM, *more).stdout.splitlines() for more in ((), ("--verbose",))
    )
    assert len(brief) <= MOST < len(whole)
    assert brief[-1] == f"more       all {len(whole)} lines: --verbose"
    assert brief[0] == whole[0]
    timed = {line for line in brief if line.startswith("objective")}
    assert {*brief[:-1]} - timed <= {*whole}


@pytest.mark.parametrize(
    ("function", "words", "sizes"),
    [
        (ithaca.solve, {"workload": NEST, "dataflow": "a,d"}, NESTS),
        (ithaca.map, {"workload": "mm", "arch": "eyeriss"}, {"i": 4, "j": 4, "k": 4}),
        (ithaca.map, {"workload": NEST, "arch": "simba-like"}, NESTS),
    ],
)
def test_deep_nests_fit_a_screen_too(function, words, sizes):
    answer = function(words.pop("workload"), **words, divisors_only=True, **sizes)
    assert sum(map(lines, short(answer.view))) <= MOST < sum(map(lines, answer.view))


def test_other_designs_are_named_with_what_they_take_more():
    answer = ithaca.solve("mm", i=8, j=8, k=8, limit={"dsp": 80}, divisors_only=True)
    values = {
        s.design: s.value
        for s in sorted(answer.designs, key=lambda s: s.value)
        if s is not answer.best
    }
    (others,) = [b.text for b in answer.view if isinstance(b, Fact) and b.term == "others"]
    first = next(iter(values))
    more = values[first] / answer.value - 1
    assert others.startswith(f"{first} {values[first]} ({float(more):+.1%}); ")
    assert others.endswith(f"; {len(values) - 3} more")
    (bound,) = [b.text for b in answer.view if isinstance(b, Fact) and b.term == "bound"]
    least = min(s.certificate.lower_bound for s in answer.designs)
    assert least == answer.value
    assert bound == f"{least} of all {len(answer.designs)} designs: none is below"


def test_tables_are_cut_by_what_is_too_much():
    table = tabled([[("x", str(n)), ("y", "0")] for n in range(40)], ("x",), plain=True)
    brief = short((Fact("a", "b"), table, Fact("c", "d")))
    assert sum(map(lines, brief)) == MOST
    assert [type(block) for block in brief] == [Fact, type(table), str, Fact, Fact]
    assert brief[1].rows == table.rows[:14]
    assert brief[2] == "… 26 more rows"
    assert brief[-1].text == f"all {2 + 42} lines: --verbose"


def test_verbose_answers_are_no_documents():
    line = refused("solve", *MM, "--verbose", "--json")
    what = "--verbose cannot be given with --json, which prints one document"
    assert line == f"ithaca: {what}; allowed: one of them\n"


def test_a_gap_that_grows_by_other_designs_is_explained():
    answer = ithaca.solve("mm", i=24, j=24, k=24, dataflow="i,j", divisors_only=True)
    other = ithaca.solve("mm", i=24, j=24, k=24, dataflow="i,k", divisors_only=True).best
    value, bound = answer.value, answer.value / 2
    open_ = replace(
        other.certificate,
        status=Status.FEASIBLE,
        lower_bound=bound,
        termination=Termination.TIME_LIMIT,
    )
    both = replace(answer, designs=(answer.best, replace(other, certificate=open_)))
    assert both.best is answer.best
    texts = [block.text for block in both.view if isinstance(block, Fact)]
    assert "over all the gap is 50.00%, of this design 0.00%" in texts
    higher = replace(open_, lower_bound=value)
    settled = replace(answer, designs=(answer.best, replace(other, certificate=higher)))
    assert not [b for b in settled.view if isinstance(b, Fact) and "over all" in b.text]

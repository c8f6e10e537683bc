"""The layout of pages: sections that take the whole width, and the sentence that is said at once."""

from ithaca.exports.report.blocks import Section, Statements, wide_sections
from ithaca.exports.report.page import binding
from ithaca.results.view import Loops, Table


def test_no_section_stands_beside_nothing():
    table = Table("many", tuple(f"column {n}" for n in range(12)), (("1",) * 12,))
    wide, plain = (table,), ("Words.",)
    blocks = {"a": plain, "b": wide, "c": plain, "d": plain, "e": wide, "f": plain}
    sections = [Section(name, name, content) for name, content in blocks.items()]
    assert wide_sections(sections) == {"a", "b", "e", "f"}


def test_long_lines_and_many_statements_take_the_whole_width():
    few, many = (Statements((("term", ("text",)),) * n) for n in (6, 7))
    for block, wide in ((few, False), (many, True), (Loops(("for i in 2",)), True)):
        assert Section("a", "A", (block,)).wide is wide


def test_what_a_single_point_is_worth_is_said_at_once():
    best, worth = "Best: latency 9 (optimal).", "Worth of limits: 10 % more dsp buys nothing."
    assert binding([best, worth]) == f"{best} {worth}"
    assert binding([best, worth, worth]) == best


def test_boards_are_said_by_speed_and_price():
    fastest = "Fastest: platform u250, 128,000 runs a second."
    cheapest = "Cheapest for its speed: platform zcu102, 0.02 for 1 run a second."
    statements = ["Best: latency 9 at platform u250 (optimal).", fastest, cheapest]
    assert binding(statements) == f"{fastest} {cheapest}"
    assert binding(statements[:1]) == statements[0]
    assert binding(["Study: nothing."]) == ""


def test_what_binds_at_the_best_point_is_said_of_all_that_are_known():
    fastest = "Fastest: platform u250, also platform u55c, 128,000 runs a second."
    bounds = "Bound by: platform u55c: A 60.0 %; platform u250: PEs 54.9 %, B 45.1 % of the cycles."
    assert binding([bounds, fastest]) == f"{fastest} Bound by: PEs 54.9 %, B 45.1 % of the cycles."
    best = "Best: latency 9 at dsp_limit 400 (optimal)."
    worths = [
        f"Worth of limits: dsp_limit = {n}: 10 % more dsp lowers it by {n} %." for n in (40, 400)
    ]
    assert binding([best, *worths]) == f"{best} Worth of limits: 10 % more dsp lowers it by 400 %."
    alone = "Bound by: PEs 54.9 % of the cycles."
    assert binding(["Best: latency 9 (optimal).", alone]) == f"Best: latency 9 (optimal). {alone}"


def test_the_ends_of_a_front_of_three_are_said_at_once():
    ends = ["Least latency: 9, with dsp 5.", "Least dsp: 1, with latency 90."]
    assert binding(["Front: three.", *ends]) == " ".join(ends)

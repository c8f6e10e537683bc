"""However narrow the terminal is, no figure of a table is cut."""

import random
import re
from collections import Counter
from io import StringIO

import pytest
from rich.cells import cell_len

from ithaca.commands import display
from ithaca.commands.display import DISPENSABLE, PrintedTable
from ithaca.results.view import tabled
from tests.command_line import succeed

#: Wider than any table.
WIDE = 10_000

#: What says which columns are missing.
LEFT_OUT = re.compile(r"left out in \d+ columns: (.*) \(--json has all\)")


def figures(text):
    """The figures of a text, such as 4,524,673 or 8.25."""
    return Counter(re.findall(r"\d(?:[\d.,]*\d)?", text))


def printed(text, width):
    """The output of a terminal of a width for a line of text or a table."""
    output = StringIO()
    display._Output(file=output, width=width, color_system=None, highlight=False).print(text)
    return output.getvalue()


def missing(shown):
    """Headings of the columns that a table says it leaves out."""
    said = LEFT_OUT.search(" ".join(shown.split()))
    return [] if said is None else said[1].split(", ")


def fits(text, width, where=""):
    """Assert that a terminal of a width shows every figure whole, but those of columns that it says
    it leaves out."""
    shown = printed(text, width)
    assert all(cell_len(line.rstrip()) <= width for line in shown.splitlines()), f"{where}\n{shown}"
    wide = figures(printed(text, WIDE))
    if isinstance(text, PrintedTable):
        for column in text.columns:
            if column.heading in missing(shown):
                wide -= figures(" ".join((column.heading, *column.cells)))
        assert set(missing(shown)) <= set(DISPENSABLE)
    else:  # of texts, formulas without a space may be wider than a narrow terminal
        wide -= figures(" ".join(word for word in str(text).split() if len(word) > width))
    assert not wide - figures(shown), f"{where}, {width} columns\n{shown}"


def test_figures_that_are_cut_are_noticed():
    assert figures("4,524,673 of 8.25, 3 GB/s.") == Counter(["4,524,673", "8.25", "3"])
    with pytest.raises(AssertionError):
        fits(
            PrintedTable(tabled([[("latency", "123,456,789,012,345,678,901,234,567,890")]], ())), 20
        )


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_tables_of_any_shape_fit(width):
    chance = random.Random(width)
    headings = [
        "design",
        "objective",
        "status of it all",
        *DISPENSABLE,
        "bram18k",
        "off_chip_words",
    ]
    for _ in range(60):
        names = chance.sample(headings, chance.randint(1, len(headings)))
        rows = [
            [
                (name, chance.choice(["[i,j] C", "not proven to be the best", "–", "x" * 37]))
                if name in ("design", "status of it all")
                else (name, f"{10 ** chance.randint(0, 15) * 7 + 3:,}")
                for name in names
            ]
            for _ in range(chance.randint(1, 3))
        ]
        title, plain = chance.choice(["", "all of them"]), chance.random() < 0.5
        table = tabled(rows, ("design", "status of it all"), title, plain=plain)
        fits(PrintedTable(table), width)


def test_columns_may_be_empty():
    for width in (40, 12):
        fits(PrintedTable(tabled([[("", ""), ("", "8"), ("a", "")]], ("",))), width)


def test_columns_go_before_rows_are_turned():
    row = [("design", "[i,j] C"), ("latency", "123,456,789"), ("dsp", "8,320"), ("ms", "0.25")]
    table = PrintedTable(tabled([[*row, ("bram18k", "3,434"), ("seconds", "1.50")]], ("design",)))
    assert ["┃" in printed(table, width) for width in (60, 59)] == [True, False]
    dropped = {width: missing(printed(table, width)) for width in (46, 45, 38, 37, 33)}
    both = ["seconds", "ms"]
    assert dropped == {46: [], 45: ["seconds"], 38: ["seconds"], 37: both, 33: both}
    assert printed(table, 32).splitlines() == [
        "design   [i,j] C", "latency  123,456,789", "dsp      8,320", "ms       0.25",
        "bram18k  3,434", "seconds  1.50", "",
    ]  # fmt: skip


@pytest.mark.parametrize(("columns", "left_out"), [("80", 2), ("", 0), ("200", 0)])
def test_a_command_fits_the_columns_that_are_stated(columns, left_out):
    words = ("solve", "mm", "-s", "i=8,j=8,k=8", "--gap", "0.5", "--verbose")
    shown = succeed(*words, env={"COLUMNS": columns}).stdout
    assert len(missing(shown)) == left_out
    table = shown[shown.index("all designs") :].splitlines()
    assert max(map(len, table)) <= int(columns or display.WIDTH)

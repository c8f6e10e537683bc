"""Every public function has an example, and prints what the example shows."""

import doctest
import inspect

import pytest

import ithaca

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def functions():
    """The public functions by name; `ithaca.refine` is a package with the function in it."""
    objects = {name: getattr(ithaca, name) for name in ithaca.__all__}
    objects["refine"] = ithaca.refine.refine
    return {name: each for name, each in objects.items() if inspect.isroutine(each)}


#: Functions whose examples need tools that not everybody has, or files of another program.
SKIPPED = {"build", "calibrate", "estimate", "timeloop_mapper"}


@pytest.mark.parametrize("name", sorted(functions()))
def test_the_example_prints_what_it_shows(name, tmp_path, monkeypatch):
    from fractions import Fraction

    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(functions()[name])
    test = doctest.DocTestParser().get_doctest(
        text, {"ithaca": ithaca, "Fraction": Fraction}, name, None, 0
    )
    assert test.examples
    skipped = any(doctest.SKIP in example.options for example in test.examples)
    assert skipped is (name in SKIPPED)
    lines = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=lines.append)
    assert not lines, "".join(lines)

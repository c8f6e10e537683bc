"""Every public function, class and method has an example, and prints what the example shows."""

import doctest
import inspect
from fractions import Fraction

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


#: Methods that a network's parts and arrays need among themselves.
INNER = {"NetworkResult.of_part", "NetworkResult.shares_taken"}


def methods():
    """The public classes and their methods by name, each that is inherited once."""
    classes = {n: o for n in ithaca.__all__ if inspect.isclass(o := getattr(ithaca, n))}
    documented = dict(classes)
    for kind in classes.values():
        for name in filter(lambda name: not name.startswith("_"), dir(kind)):
            each = inspect.getattr_static(kind, name)
            own = inspect.unwrap(getattr(each, "__func__", each))
            if inspect.isfunction(own) and own.__module__.startswith("ithaca."):
                documented[own.__qualname__] = own
    return {name: each for name, each in documented.items() if name not in INNER}


def check_example(name, object_):
    """Run the example of an object; whether it needs what not everybody has."""
    names = {"ithaca": ithaca, "Fraction": Fraction}
    text = inspect.getdoc(object_)
    test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    assert test.examples
    lines = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=lines.append)
    assert not lines, "".join(lines)
    return any(doctest.SKIP in example.options for example in test.examples)


@pytest.mark.parametrize("name", sorted(functions()))
def test_the_example_prints_what_it_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert check_example(name, functions()[name]) is (name in SKIPPED)


@pytest.mark.ci
@pytest.mark.parametrize("name", sorted(methods()))
def test_the_example_of_a_class_or_method_prints_what_it_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert check_example(name, methods()[name]) is (name == "Build")

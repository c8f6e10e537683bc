"""A fingerprint of problems: equal for equal problems, in every process and session."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

from ithaca import __version__
from ithaca.formulations.algebra.expression import ONE, Expression
from ithaca.formulations.problem import Objective, Problem
from ithaca.studies.scale import metric_form

#: Counted up when answers of equal problems change for a reason that the problem does not show:
#: the rules of the design space.
SPACE_VERSION = 1


def fingerprint(problems: Sequence[Problem]) -> str:
    """Hash everything the best configuration over some designs, one problem each, depends on, in 64 hexadecimal digits.

    That is the nest with its extents, the data type, limits, objective, technology and options of
    the design space; each derived array; and the cost model, as the expressions it yields for the
    metrics that objective and limits speak of, and for the constraints that hold in any case.
    """
    document = [__version__, SPACE_VERSION, [(_canonical(p), _model(p)) for p in problems]]
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _model(problem: Problem) -> Any:
    """What the cost model says of a problem."""
    names = problem.objective.expression.symbols.union(*(limit.expression.symbols for limit in problem.limits))
    bare = replace(problem, limits=(), objective=Objective("1", ONE))
    return _canonical([bare.symbolic(), {name: metric_form(problem, name) for name in sorted(names)}])


def _canonical(value: Any) -> Any:
    """A value as JSON that does not depend on hashing or identity."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Fraction | Expression):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value):
        return {f.name: _canonical(getattr(value, f.name)) for f in fields(value) if f.compare}
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(str(_canonical(item)) for item in value)
    if isinstance(value, Sequence):
        return [_canonical(item) for item in value]
    raise TypeError(f"no canonical form of {type(value).__name__}")

"""Space files: hardware spaces as data, Ithaca's own and a user's (``docs/hardware-spaces.md``),
YAML or JSON documents.

How YAML is read stands in `ithaca.files.yaml_documents`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import create_model

from ithaca.files.beside import beside
from ithaca.files.documents import find_document, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, quoted, refuse
from ithaca.files.numbers import json_number, json_ready, number
from ithaca.files.reading import packaged_names
from ithaca.formulations.algebra.domains import Guard, positive_within
from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.parsing import FUNCTIONS, expression_text, parse_expression
from ithaca.formulations.design import Metric
from ithaca.formulations.documents import Document
from ithaca.formulations.hardware.accelerator import Accelerator
from ithaca.formulations.hardware.kind import AcceleratorKind, Figure
from ithaca.formulations.problem import read_objective
from ithaca.formulations.region import TRIED, Region
from ithaca.formulations.space import Link, Relation
from ithaca.plugins.codesign.formulations.documents import (
    MAX_BYTES,
    MAX_DEPTH,
    AccelergyDocument,
    CostDocument,
    FigureDocument,
    SpaceDocument,
)
from ithaca.plugins.codesign.formulations.feasibility import contradiction
from ithaca.plugins.codesign.formulations.kinds import ACCELERATORS, unnamed_accelerators
from ithaca.plugins.codesign.formulations.regressions import UNITS, regressions
from ithaca.plugins.codesign.formulations.space import HardwareSpace

_PACKAGE = "ithaca.plugins.codesign.formulations.spaces"


def space_names() -> tuple[str, ...]:
    """Names of the spaces that come with Ithaca."""
    return packaged_names(_PACKAGE)


def find_space(text: str) -> HardwareSpace:
    """A hardware space by its name, or of a file.

    Raises `InputError`, one line that names the field, its value and what is allowed, if there is
    none, or it is empty.
    """
    tags = [tag for kind in ACCELERATORS.values() for tag in kind.tags]
    document, where = find_document("space", text, _PACKAGE, MAX_BYTES, tags=tags, depth=MAX_DEPTH)
    return read_space(document, where)


def space_model(family: str) -> type[Document]:
    """The model of space files of a family."""
    bases: Any = (SpaceDocument, ACCELERATORS[family].document)
    model: type[Document] = create_model("SpaceDocument", __base__=bases)
    return model


def read_space(document: Any, where: object) -> HardwareSpace:
    """The space of a document; ``where`` begins error lines, and relative paths."""
    family = document.get("family") if isinstance(document, dict) else None
    if family is not None and (not isinstance(family, str) or family not in ACCELERATORS):
        raise refuse(where, f"family is {quoted(family)}{among(family, ACCELERATORS)}")
    family = family or unnamed_accelerators()
    with errors_at(where):
        read = validated(space_model(family), document, where)
        space = _space(read, ACCELERATORS[family], where)
        if rules := contradiction(space):
            texts = " and ".join(quoted(rule.text) for rule in rules)
            raise InputError(
                f"rules: no accelerator keeps {texts}; allowed: rules that some accelerator keeps"
            )
    return space


def _space(read: Any, kind: AcceleratorKind, where: object) -> HardwareSpace:
    quantities = []
    for name, stated in read.quantities.items():
        if name in FUNCTIONS:
            raise InputError(
                f"quantities has {quoted(name)}, the name of a function; allowed: other names"
            )
        try:
            quantities.append(stated.quantity(name))
        except InputError as error:
            raise InputError(f"quantities.{name} {error}") from None
    box = Region(tuple(quantities))
    rules = tuple(_rule(text, box, f"rules[{place}]") for place, text in enumerate(read.rules))
    accelerator = kind.read(read, where)
    stated = read.figures
    tables = {name: _figure(table, box, f"tables.{name}") for name, table in read.tables.items()}
    for place, files in enumerate(read.accelergy):
        at = f"accelergy[{place}]"
        stated = _joined(
            stated,
            _measured(
                files, files.ert, lambda path: kind.energies(accelerator, path), where, f"{at}.ert"
            ),
        )
        measured = _measured(
            files, files.art, lambda path: kind.areas(accelerator, path), where, f"{at}.art"
        )
        tables = _joined(
            tables,
            {f"{part}.area": _figure(area, box, f"{at}.art") for part, area in measured.items()},
        )
    names = [quantity.name for quantity in quantities]
    for table in tables:
        if table in names:
            raise InputError(
                f"tables has {quoted(table)}, the name of a quantity; allowed: other names"
            )
    for figure in stated:
        if figure not in accelerator.trends:
            raise InputError(f"figures.{figure} is unknown{among(figure, accelerator.trends)}")
    _check(tables, box, rules, None)  # what follows is calculated of them
    own = {name: _figure(one, box, f"figures.{name}", tables) for name, one in stated.items()}
    _check_choices(accelerator, own, box)
    accelerator, figures = kind.completed(accelerator, own)
    _check(figures, box, rules, partial(kind.check, accelerator))
    costs, units = {}, {}
    named, known = {**tables, **figures}, dict[str, Expression]()
    if read.technology is not None:
        formulas = {
            name: Symbol(name) if figure.table else figure.expression
            for name, figure in figures.items()
        }
        known = regressions(
            read.technology,
            kind.sized(accelerator, formulas),
            lambda text, at: _size(text, box, at, named),
        )
    for name, cost in (read.costs or {name: CostDocument(of=name) for name in known}).items():
        costs[name] = _figure(cost, box, f"costs.{name}", named, known)
        units[name] = Metric(name, cost.unit or UNITS.get(cost.of, ""), "of the hardware")
        if name in accelerator.metrics:
            raise InputError(
                f"costs.{name} is a metric of layers; allowed: other names than "
                f"{', '.join(accelerator.metrics)}"
            )
    _check(costs, box, rules, None)
    kind.check_ranges(accelerator, {name: figure.range(box) for name, figure in figures.items()})
    metrics = [*accelerator.metrics, *costs]
    if read.objective is not None:
        read_objective(read.objective, "objective", metrics)
    for name in read.limits:
        parse_expression(name, where=f"limits.{name}", allowed=metrics)
    defaults = (
        read.description,
        read.source,
        tuple(read.workloads),
        read.objective,
        dict(read.limits),
    )
    return HardwareSpace(
        read.name, box.quantities, accelerator, figures, rules, costs, units, *defaults
    )


def _check_choices(accelerator: Accelerator, figures: Mapping[str, Figure], box: Region) -> None:
    """Refuse names of a choice that are others than those that the figure counts."""
    for figure, own in figures.items():
        known = accelerator.names(figure)
        for quantity in box.quantities if known else ():
            names = tuple(label.replace("_", "-") for label in quantity.labels)
            counted = tuple(name.replace("_", "-") for name in known[: len(names)])
            if names and own == Figure(Symbol(quantity.name)) and names != counted:
                raise InputError(
                    f"quantities.{quantity.name}.choices are {', '.join(quantity.labels)}; "
                    f"allowed: the first of {', '.join(known)}, in this order, as "
                    f"figures.{figure} counts them"
                )


def _rule(text: str, box: Region, where: str) -> Link:
    parts = re.split(r"(<=|>=|=|\bdivides\b)", text)
    if len(parts) != 3:
        raise InputError(
            f"{where} is {quoted(text)}; allowed: two expressions with "
            "<=, >=, = or divides between them"
        )
    left, right = (_expression(part.strip(), box, where) for part in (parts[0], parts[2]))
    if parts[1] == ">=":
        left, right = right, left
    relation = {"=": Relation.EQUAL, "divides": Relation.DIVIDES}.get(parts[1], Relation.AT_MOST)
    return Link(left, relation, right, text)


def _joined(some: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The union of two mappings, whose names differ. Raises `InputError` if two do not."""
    if twice := min(some.keys() & more.keys(), default=None):
        raise InputError(f"{twice} is given twice; allowed: once (see parts of accelergy)")
    return {**some, **more}


def _measured(
    read: AccelergyDocument,
    files: Mapping[str, str],
    measure: Callable[[Path], Mapping[str, Fraction]],
    where: object,
    at: str,
) -> dict[str, FigureDocument]:
    """Energies and areas of parts in files, by the values of an expression."""
    tables: dict[str, dict[str, Fraction]] = {}
    for key, name in files.items():
        for figure, value in measure(beside(Path(str(where)), name)).items():
            if read.parts is None or figure.partition(".")[0] in read.parts:
                tables.setdefault(figure, {})[key] = value
    for part in read.parts or () if files else ():
        if not any(figure.partition(".")[0] == part for figure in tables):
            raise InputError(
                f"{at} says nothing of {quoted(part)}; allowed in parts: "
                "those that files have tables of"
            )
    return {figure: FigureDocument(of=read.of, table=table) for figure, table in tables.items()}


def _figure(
    read: FigureDocument,
    box: Region,
    where: str,
    named: Mapping[str, Figure] | None = None,
    known: Mapping[str, Expression] | None = None,
) -> Figure:
    """A figure over quantities, others that are ``named``, and what is ``known`` of all of them."""
    expression = _expression(read.of, box, where, named, known)
    others = _others(expression, named)
    if not read.table:
        return Figure(expression, others=others)
    if box.combinations(Figure(expression, others=others).symbols) is None:
        raise InputError(
            f"{where}.of is of too many accelerators for a table; "
            f"allowed: at most {TRIED} combinations"
        )
    quantity = next(
        (quantity for quantity in box.quantities if expression == Symbol(quantity.name)), None
    )
    labels = {label: place for place, label in enumerate(quantity.labels if quantity else (), 1)}
    table = []
    for key, value in read.table.items():
        if key not in labels and not re.fullmatch(r"[0-9]+(\.[0-9]+)?", key):
            raise InputError(f"{where}.table has {quoted(key)}{among(key, labels or ['numbers'])}")
        table.append((Fraction(labels.get(key, key)), value))
    return Figure(expression, tuple(table), others)


def _others(
    expression: Expression, named: Mapping[str, Figure] | None
) -> tuple[tuple[str, Figure], ...]:
    return tuple((name, one) for name, one in (named or {}).items() if name in expression.symbols)


def _expression(
    text: str,
    box: Region,
    where: str,
    named: Mapping[str, Figure] | None = None,
    known: Mapping[str, Expression] | None = None,
) -> Expression:
    """An expression over quantities, figures that are ``named``, and what is ``known`` of these; it
    divides by nothing that may be 0."""
    names = {*(q.name for q in box.quantities), *(named or {}), *(known or {})}
    under: list[Expression] = []
    expression = parse_expression(text, where=where, allowed=names, under=under)

    def reach(divisor: Expression) -> Interval:
        return Figure(divisor, others=_others(divisor, named)).range(box)

    def safe(divisor: Expression) -> bool:
        spans = {name: one.range(box) for name, one in _others(divisor, named)}
        return positive_within(box.intervals | spans, divisor)

    guard = Guard(reach, safe)
    guard.check((divisor.substitute(known or {}) for divisor in under), where)
    return guard(expression.substitute(known or {}), where)


def _size(text: str, box: Region, where: str, named: Mapping[str, Figure]) -> Expression:
    """An expression that is nowhere negative."""
    size = _expression(text, box, where, named)
    if (low := Figure(size, others=_others(size, named)).range(box).low) < 0:
        raise InputError(
            f"{where} is {quoted(text)}, which may be {number(low)}; allowed: what is not negative"
        )
    return size


def _check(
    figures: Mapping[str, Figure],
    box: Region,
    rules: tuple[Link, ...],
    check: Callable[[str, Fraction], None] | None,
) -> None:
    """Refuse figures that some accelerator cannot have: no entry in a table, a value that is not
    allowed."""
    for name, figure in figures.items():
        options = box.combinations(figure.symbols)
        corners = [dict(box.corner(high=high)) for high in (False, True)]
        for values in corners if options is None else options:
            place = ", ".join(
                f"{q.name}={q.label(int(values[q.name]))}"
                for q in box.quantities
                if q.name in values
            )
            try:
                number = figure.at(values)
            except KeyError as missing:
                keys = ", ".join(f"{float(key):g}" for key, _ in figure.table)
                raise InputError(
                    f"{name} has no entry for {missing.args[0]} ({place}); "
                    f"allowed by its table: {keys}"
                ) from None
            if check is not None and all(
                rule.allows(values) for rule in rules if rule.symbols <= values.keys()
            ):
                try:
                    check(name, number)
                except InputError as error:
                    raise InputError(f"{error} ({place})") from None


def space_fields(space: HardwareSpace) -> dict[str, Any]:
    """A space as a document that `read_space` takes back, without names of files."""
    family = space.accelerator.family

    def figure(own: Figure) -> dict[str, Any]:
        table = {str(json_number(key)): json_number(value) for key, value in own.table}
        return {"of": expression_text(own.expression)} | ({"table": table} if table else {})

    quantities: dict[str, dict[str, Any]] = {}
    for q in space.quantities:
        own = {"values": list(q.values)}
        if q.labels and len(q.values) == len(q.labels):
            own = {}
        quantities[q.name] = own | ({"choices": list(q.labels)} if q.labels else {})
        quantities[q.name] |= {"unit": q.unit} if q.unit else {}
    tables: dict[str, Any] = {}

    def collect(others: Iterable[tuple[str, Figure]]) -> None:
        for name, other in others:
            if name not in space.figures:
                tables[name] = figure(other)
            collect(other.others)

    for stated in (*space.figures.values(), *space.costs.values()):
        collect(stated.others)
    parts: dict[str, Any] = {
        "description": space.description,
        "source": space.source,
        "quantities": quantities,
        "tables": tables,
        "figures": {
            name: figure(stated)
            for name, stated in space.figures.items()
            if stated.expression != Symbol(name)  # a quantity that is one by itself
        },
        "rules": [rule.text for rule in space.rules],
        "costs": {
            name: figure(stated) | {"unit": space.units[name].unit}
            for name, stated in space.costs.items()
        },
        "workloads": list(space.workloads),
        "objective": space.objective,
        "limits": json_ready(space.limits),
    }
    return {
        "name": space.name,
        "family": family,
        **ACCELERATORS[family].fields(space.accelerator),
        **{name: part for name, part in parts.items() if part},
    }
